//! Determines from a call's arguments which files it touches, before it runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use slipstitch::Workspace;
use slipstitch::core::dialect::{Dialect, Tool};
use slipstitch::core::path::RootName;
use slipstitch::core::plan::{EditPlan, Operation, Plan};
use slipstitch::core::settings::Settings;
use slipstitch::dialects::builtin;

use super::file_access::{AccessKind, FileAccess, Scope};

/// The fields in which tools name their file.
const PATH_FIELDS: &[&str] = &["path", "file_path", "filePath"];

/// The fields that contain or name a patch, whose text may name more files than the call's path field.
const PATCH_FIELDS: &[&str] = &["patch", "diff", "input", "diff_file"];

/// The dialects whose tools move text between files through clipboards. Which clipboards a call uses is only in its plan.
const CLIPBOARD_DIALECTS: &[&str] = &["phoenix"];

/// What is known about the session's root when a call arrives.
#[derive(Debug, Clone)]
pub(crate) enum RootState {
    Open(Arc<Workspace>),
    /// The workspace will be opened in this folder.
    Folder(PathBuf),
    Unknown,
}

impl RootState {
    /// The folder that relative paths start from.
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Open(workspace) => Some(Path::new(workspace.root())),
            Self::Folder(folder) => Some(folder),
            Self::Unknown => None,
        }
    }

    /// The plan of a call; `None` if it does not parse.
    fn parse(&self, dialect: &Dialect, tool: &Tool, arguments: Value) -> Option<Plan> {
        let plan = match self {
            Self::Open(workspace) => {
                dialect.parse(tool, arguments, workspace.root_names(), workspace.settings())
            }
            Self::Folder(folder) => {
                let names = [RootName::first(folder.to_string_lossy())];
                dialect.parse(tool, arguments, &names, &Settings::default())
            }
            Self::Unknown => dialect.parse(tool, arguments, &[], &Settings::default()),
        };
        plan.ok()
    }
}

/// The files that a call touches, as far as its arguments show; all files if they do not.
pub(crate) fn touched_files(
    dialect: &Dialect,
    tool: &Tool,
    arguments: &Value,
    root: &RootState,
) -> FileAccess {
    let is_read_tool = tool.effect.leaves_files();
    // A tool with several commands may be used to read.
    let is_read = is_read_tool || arguments["command"] == "view";
    let access = |scope| {
        let kind = if is_read { AccessKind::Read } else { AccessKind::Write };
        FileAccess { scope, kind }
    };
    // An undo may touch any file, whatever path the call names.
    if arguments["command"] == "undo_edit" {
        return access(Scope::AllFiles);
    }
    let has_patch = PATCH_FIELDS.iter().any(|name| arguments.get(name).is_some());
    let may_use_clipboards = !is_read && CLIPBOARD_DIALECTS.contains(&dialect.name);
    if !has_patch
        && !may_use_clipboards
        && let Some(path) = path_argument(arguments)
    {
        let scope = root.path().map(|root| Scope::from_paths([path].into_iter(), root));
        return access(scope.unwrap_or(Scope::AllFiles));
    }
    match (root.parse(dialect, tool, arguments.clone()), root.path()) {
        (Some(Plan::Edit(plan)), Some(root)) => access(plan_scope(&plan, root)),
        (Some(Plan::List(folder)), Some(root)) => {
            let folder = folder.as_ref().map_or("", |folder| folder.as_str());
            access(Scope::from_paths([folder].into_iter(), root))
        }
        (Some(Plan::List(_)), None) => access(Scope::AllFiles),
        // The engine will fail to parse it too, and write nothing.
        (None, _) if matches!(root, RootState::Open(_)) => access(Scope::NoFiles),
        _ if is_read_tool => access(Scope::NoFiles),
        _ => access(Scope::AllFiles),
    }
}

/// The files that a plan names, the targets of its moves, and its clipboards.
fn plan_scope(plan: &EditPlan, root: &Path) -> Scope {
    let targets = plan.files.iter().flat_map(|file| &file.operations).filter_map(|op| match op {
        Operation::Move { to, .. } => Some(to),
        _ => None,
    });
    let paths = plan.files.iter().map(|file| &file.path).chain(targets);
    let mut scope = Scope::from_paths(paths.map(|path| path.as_str()), root);
    if let Scope::Files(files) = &mut scope {
        let used = plan.clips.uses.values().flat_map(|clip| [&clip.to, &clip.from]);
        files.clipboards = used.flatten().cloned().collect();
    }
    scope
}

fn path_argument(arguments: &Value) -> Option<&str> {
    PATH_FIELDS.iter().find_map(|field| arguments.get(field)?.as_str())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;

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

    fn access(dialect: &str, tool: &str, arguments: &Value, root: &RootState) -> FileAccess {
        let dialect = builtin().find(dialect).unwrap();
        touched_files(dialect, dialect.tool(tool).unwrap(), arguments, root)
    }

    /// What a call in `folder` touches: relative locations, or `["all files"]`.
    fn touched_in(folder: &Path, dialect: &str, tool: &str, arguments: Value) -> (AccessKind, Vec<String>) {
        let mut access = access(dialect, tool, &arguments, &RootState::Folder(folder.to_owned()));
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
        for path in ["a.txt", "./a.txt", "link", "sub/../a.txt", "linked/../a.txt", &absolute] {
            assert_eq!(touched("native", "edit_file", edit(path)), write(&["a.txt"]), "{path}");
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
        assert_eq!(touched("native", "patch", json!({"patch": "no patch"})), write(&["all files"]));
        assert_eq!(touched("native", "undo_edit", json!({})), write(&["all files"]));
        let nothing = (AccessKind::Read, Vec::new());
        assert_eq!(touched("phoenix", "request_mode_upgrade", json!({})), nothing);
        assert_eq!(touched("agent-q", "list_directory", json!({})), (AccessKind::Read, vec!["".to_owned()]));
    }

    #[test]
    fn calls_that_share_a_clipboard_overlap() {
        let folder = test_folder();
        let root = RootState::Folder(folder.path().to_owned());
        let files = |path: &str, clipboards: Value| -> FileSet {
            let mut patch = json!({"operation": "replace", "oldText": "x", "newText": "y"});
            patch.as_object_mut().unwrap().extend(clipboards.as_object().unwrap().clone());
            let call = json!({"path": path, "patches": [patch]});
            match access("phoenix", "patch", &call, &root).scope {
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
    fn every_dialect_with_clipboards_is_in_the_list() {
        for dialect in slipstitch::dialects::BUILTIN {
            let has_clipboards =
                dialect.tools.iter().any(|tool| (tool.schema)().to_string().contains("Clipboard"));
            assert_eq!(has_clipboards, CLIPBOARD_DIALECTS.contains(&dialect.name), "{}", dialect.name);
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
    fn a_call_that_does_not_parse_in_an_open_workspace_touches_no_files() {
        let (folder, state) = (test_folder(), tempfile::tempdir().unwrap());
        let workspace = Workspace::builder(folder.path()).state_dir(state.path());
        let root = RootState::Open(Arc::new(workspace.open().unwrap()));
        let scope = |tool: &str, arguments: Value| access("native", tool, &arguments, &root).scope;
        assert!(matches!(scope("patch", json!({"patch": "no patch"})), Scope::NoFiles));
        assert!(matches!(scope("undo_edit", json!({})), Scope::AllFiles));
    }

    #[test]
    fn a_call_may_touch_all_files_while_the_root_is_unknown() {
        let touched = |tool: &str, arguments: Value| access("native", tool, &arguments, &RootState::Unknown);
        let (read, write) =
            (touched("read_file", json!({"path": "a"})), touched("edit_file", json!({"path": "a"})));
        assert!(matches!(read, FileAccess { scope: Scope::AllFiles, kind: AccessKind::Read }));
        assert!(matches!(write, FileAccess { scope: Scope::AllFiles, kind: AccessKind::Write }));
        let patch = json!({"patch": "--- a/one\n+++ b/one\n@@ -1 +1 @@\n-a\n+b\n"});
        assert!(matches!(touched("patch", patch).scope, Scope::AllFiles));
    }

    #[test]
    fn overlong_paths_are_ignored() {
        let folder = test_folder();
        let read = |path: &str| touched_in(folder.path(), "native", "read_file", json!({"path": path})).1;
        assert_eq!(read(&"a/".repeat(1_000_000)), [""; 0]);
        let deep = "a/".repeat(MAX_PATH_BYTES / 2 - 1) + "b";
        assert_eq!(read(&deep), [deep.as_str()]);
        assert_eq!(read("a\0b"), ["a\0b"]);
    }
}
