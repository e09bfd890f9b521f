//! Which files a planned call touches, for the order of calls.

use std::path::Path;

use slipstitch::core::engine::{Planned, Touches};
use slipstitch::core::path::FilePath;

use super::file_access::{AccessKind, FileAccess, Scope};

/// The files that a planned call touches. Its paths are relative to `root` unless absolute.
pub(crate) fn touched_files(planned: &Planned, root: &Path) -> FileAccess {
    let kind = if planned.only_reads() { AccessKind::Read } else { AccessKind::Write };
    let scope = match planned.touches() {
        Touches::Nothing => Scope::NoFiles,
        Touches::Anything => Scope::AllFiles,
        Touches::Paths { paths, clipboards } => {
            let names = paths.iter().map(|path| path.as_ref().map_or("", FilePath::as_str));
            let mut scope = Scope::from_paths(names, root);
            if let Scope::Files(files) = &mut scope {
                files.clipboards = clipboards.into_iter().collect();
            }
            scope
        }
    };
    FileAccess { scope, kind }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use std::path::PathBuf;

    use serde_json::{Value, json};
    use slipstitch::Workspace;
    use slipstitch::dialects::builtin;

    use super::super::file_access::{FileSet, MAX_PATH_BYTES};
    use super::*;

    /// A folder with `a.txt`, a link to it, `sub` and a link to that.
    fn test_folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        std::fs::write(folder.path().join("a.txt"), "").unwrap();
        symlink("a.txt", folder.path().join("link")).unwrap();
        symlink("sub", folder.path().join("linked")).unwrap();
        folder
    }

    fn access(folder: &Path, dialect: &str, tool: &str, arguments: Value) -> FileAccess {
        let state = tempfile::tempdir().unwrap();
        let workspace = Workspace::builder(folder).state_dir(state.path().join("state")).open().unwrap();
        let dialect = builtin().find(dialect).unwrap();
        let planned = workspace.plan_for(dialect, dialect.tool(tool).unwrap(), arguments);
        touched_files(&planned, Path::new(workspace.root()))
    }

    /// What a call in `folder` touches: relative locations, or `["all files"]`.
    fn touched_in(folder: &Path, dialect: &str, tool: &str, arguments: Value) -> (AccessKind, Vec<String>) {
        let mut access = access(folder, dialect, tool, arguments);
        let mut names = match &mut access.scope {
            Scope::AllFiles => vec!["all files".to_owned()],
            Scope::NoFiles => Vec::new(),
            Scope::Files(files) => {
                let real = folder.canonicalize().unwrap();
                let name = |location: &PathBuf| {
                    let name = location.strip_prefix(&real).unwrap_or(location);
                    name.components().collect::<PathBuf>().display().to_string()
                };
                files.locations().iter().map(name).collect()
            }
        };
        names.sort();
        (access.kind, names)
    }

    #[test]
    fn files_are_recognized_however_they_are_named() {
        let folder = test_folder();
        let touched =
            |dialect: &str, tool: &str, arguments| touched_in(folder.path(), dialect, tool, arguments);
        let write =
            |names: &[&str]| (AccessKind::Write, names.iter().map(|name| (*name).to_owned()).collect());
        let edit = |path: &str| json!({"path": path, "old_text": "x", "new_text": "y"});
        let absolute = folder.path().join("link").display().to_string();
        for path in ["a.txt", "./a.txt", "link", &absolute] {
            assert_eq!(touched("native", "edit_file", edit(path)), write(&["a.txt"]), "{path}");
        }
        // The engine refuses these, so they need no ordering.
        for path in ["sub/../a.txt", "linked/../a.txt", "../a.txt"] {
            assert_eq!(touched("native", "edit_file", edit(path)), write(&[]), "{path}");
        }
        for path in ["linked/new/b", "sub/./new//b"] {
            assert_eq!(touched("native", "edit_file", edit(path)), write(&["sub/new/b"]), "{path}");
        }
        let read = touched("native", "read_file", json!({"path": "link"}));
        assert_eq!(read, (AccessKind::Read, vec!["a.txt".into()]));
        assert_eq!(touched("claude", "Write", json!({"file_path": "b", "content": ""})), write(&["b"]));
        let view = json!({"command": "view", "path": "link"});
        assert_eq!(touched("claude", "str_replace_based_edit_tool", view).0, AccessKind::Read);
        let patch =
            "--- a/x/one\n+++ b/x/one\n@@ -1 +1 @@\n-a\n+b\n--- a/two\n+++ b/two\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(touched("native", "patch", json!({"patch": patch})), write(&["two", "x/one"]));
        assert_eq!(touched("native", "patch", json!({"patch": "no patch"})), write(&[]));
        assert_eq!(touched("native", "undo_edit", json!({})), write(&["all files"]));
        let nothing = (AccessKind::Read, Vec::new());
        assert_eq!(touched("phoenix", "request_mode_upgrade", json!({})), nothing);
        assert_eq!(touched("agent-q", "list_directory", json!({})), (AccessKind::Read, vec!["".to_owned()]));
    }

    #[test]
    fn calls_that_share_a_clipboard_overlap() {
        let folder = test_folder();
        let files = |path: &str, clipboards: Value| -> FileSet {
            let mut patch = json!({"operation": "replace", "oldText": "x", "newText": "y"});
            patch.as_object_mut().unwrap().extend(clipboards.as_object().unwrap().clone());
            let call = json!({"path": path, "patches": [patch]});
            match access(folder.path(), "phoenix", "patch", call).scope {
                Scope::Files(files) => files,
                other => panic!("{other:?}"),
            }
        };
        let mut cut = files("a.txt", json!({"toClipboard": "c"}));
        for (mut other, overlaps) in [
            (files("b", json!({"fromClipboard": "c"})), true),
            (files("b", json!({"toClipboard": "c"})), true),
            (files("b", json!({"fromClipboard": "d"})), false),
            (files("b", json!({})), false),
            (files("link", json!({})), true),
        ] {
            assert_eq!(cut.overlaps(&mut other), overlaps, "{other:?}");
        }
    }

    #[test]
    fn an_undo_command_may_touch_all_files() {
        let folder = test_folder();
        let undo = json!({"command": "undo_edit", "path": "a.txt"});
        let touched = touched_in(folder.path(), "claude", "str_replace_based_edit_tool", undo);
        assert_eq!(touched, (AccessKind::Write, vec!["all files".to_owned()]));
    }

    #[test]
    fn a_call_may_touch_all_files_before_it_is_planned() {
        let native = builtin().find("native").unwrap();
        let (read, edit) = (native.tool("read_file").unwrap(), native.tool("edit_file").unwrap());
        let (read, edit) = (FileAccess::unknown(read), FileAccess::unknown(edit));
        assert!(matches!(read, FileAccess { scope: Scope::AllFiles, kind: AccessKind::Read }));
        assert!(matches!(edit, FileAccess { scope: Scope::AllFiles, kind: AccessKind::Write }));
    }

    #[test]
    fn overlong_paths_are_ignored() {
        let folder = test_folder();
        let read = |path: &str| touched_in(folder.path(), "native", "read_file", json!({"path": path})).1;
        assert_eq!(read(&"a/".repeat(1_000_000)), [""; 0]);
        let deep = "a/".repeat(MAX_PATH_BYTES / 2 - 1) + "b";
        assert_eq!(read(&deep), [deep.as_str()]);
        assert_eq!(read("a\0b"), [""; 0]);
    }
}
