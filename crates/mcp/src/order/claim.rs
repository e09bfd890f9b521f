//! What a call is about: which files, by the place where they really are.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use slipstitch::Workspace;
use slipstitch::core::dialect::{Dialect, Tool};
use slipstitch::core::path::RootName;
use slipstitch::core::plan::{EditPlan, Operation, Plan};
use slipstitch::core::settings::Settings;

/// The fields in which tools name the file that they are about.
const PATH_FIELDS: &[&str] = &["path", "file_path", "filePath"];

/// The dialects whose tools move text from file to file through clipboards. Which ones a call uses shows in its plan alone.
const WITH_CLIPBOARDS: &[&str] = &["phoenix"];

/// The longest path that a system takes. What is longer is refused, and what is refused needs no order.
const MAX_PATH: usize = 4_096;

/// What a call is about, and whether it may change that.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(super) about: About,
    pub(super) access: Access,
}

/// What a call is about.
#[derive(Debug)]
pub(super) enum About {
    Files(Files),
    Anything,
    Nothing,
}

/// Whether a call may change what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Look,
    Change,
}

/// The files of a call.
#[derive(Debug)]
pub(super) struct Files {
    /// In full, as the call names them.
    named: Vec<PathBuf>,
    /// Where they are, once someone has asked: a call that is alone need not know.
    places: Option<HashSet<PathBuf>>,
    /// The clipboards that the call fills or empties into a file.
    clipboards: HashSet<String>,
}

impl Files {
    pub(super) fn places(&mut self) -> &HashSet<PathBuf> {
        self.places.get_or_insert_with(|| self.named.iter().map(|path| place(path)).collect())
    }

    pub(super) fn meet(&mut self, other: &mut Self) -> bool {
        if !self.clipboards.is_disjoint(&other.clipboards) {
            return true;
        }
        let (few, many) = (self.places(), other.places());
        let (few, many) = if few.len() <= many.len() { (few, many) } else { (many, few) };
        if few.iter().any(|place| many.contains(place)) {
            return true;
        }
        // What a call names alone may be a folder, and the other about something in it.
        let mut few = few.iter();
        match (few.next(), few.next()) {
            (Some(one), None) => many.iter().any(|place| place.starts_with(one) || one.starts_with(place)),
            _ => false,
        }
    }
}

/// What is known of the folders when a call comes.
#[derive(Debug, Clone)]
pub(crate) enum Ground {
    Open(Arc<Workspace>),
    /// The workspace will be opened there.
    Folder(PathBuf),
    Unknown,
}

impl Ground {
    /// Where relative paths start.
    fn root(&self) -> Option<&Path> {
        match self {
            Self::Open(workspace) => Some(Path::new(workspace.root())),
            Self::Folder(folder) => Some(folder),
            Self::Unknown => None,
        }
    }

    /// The plan of a call, if it is one.
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

impl Claim {
    /// What a call is about, as far as that shows before its turn.
    pub(crate) fn of(dialect: &Dialect, tool: &Tool, arguments: &Value, ground: &Ground) -> Self {
        let reads = tool.effect.is_read_only();
        // A tool that does everything says what it does in this field.
        let looks = reads || arguments["command"] == "view";
        let access = if looks { Access::Look } else { Access::Change };
        let about = |about| Self { about, access };
        // What is taken back may be of any file, whatever is named beside it.
        if arguments["command"] == "undo_edit" {
            return about(About::Anything);
        }
        // The text of a patch may name more files than the field beside it.
        let patches =
            ["patch", "diff", "input", "diff_file"].iter().any(|name| arguments.get(name).is_some());
        let clipboards = !looks && WITH_CLIPBOARDS.contains(&dialect.name);
        if !patches
            && !clipboards
            && let Some(path) = named(arguments)
        {
            return about(ground.root().map_or(About::Anything, |root| files([path].into_iter(), root)));
        }
        match (ground.parse(dialect, tool, arguments.clone()), ground.root()) {
            (Some(Plan::Edit(plan)), Some(root)) => about(of_plan(&plan, root)),
            (Some(Plan::List(folder)), Some(root)) => {
                let folder = folder.as_ref().map_or("", |folder| folder.as_str());
                about(files([folder].into_iter(), root))
            }
            (Some(Plan::List(_)), None) => about(About::Anything),
            // The engine will read it in the same way, and write nothing.
            (None, _) if matches!(ground, Ground::Open(_)) => about(About::Nothing),
            _ if reads => about(About::Nothing),
            _ => about(About::Anything),
        }
    }
}

/// The files that a plan names, those that it moves files to, and its clipboards.
fn of_plan(plan: &EditPlan, root: &Path) -> About {
    let targets = plan.files.iter().flat_map(|file| &file.operations).filter_map(|op| match op {
        Operation::Move { to, .. } => Some(to),
        _ => None,
    });
    let paths = plan.files.iter().map(|file| &file.path).chain(targets);
    let mut about = files(paths.map(|path| path.as_str()), root);
    if let About::Files(files) = &mut about {
        let used = plan.clips.uses.values().flat_map(|clip| [&clip.to, &clip.from]);
        files.clipboards = used.flatten().cloned().collect();
    }
    about
}

fn named(arguments: &Value) -> Option<&str> {
    PATH_FIELDS.iter().find_map(|field| arguments.get(field)?.as_str())
}

fn files<'a>(paths: impl Iterator<Item = &'a str>, root: &Path) -> About {
    let named: Vec<PathBuf> =
        paths.filter(|path| path.len() <= MAX_PATH).map(|path| root.join(path)).collect();
    if named.is_empty() {
        About::Nothing
    } else {
        About::Files(Files { named, places: None, clipboards: HashSet::new() })
    }
}

/// Where a path really leads: symlinks are followed as far as there is something.
fn place(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let folders: Vec<&Path> = path.ancestors().collect();
    // Beneath a folder that is missing, everything is.
    let known = folders.partition_point(|folder| folder.canonicalize().is_err());
    let real = folders.get(known).and_then(|folder| Some((folder.canonicalize().ok()?, folder)));
    match real {
        Some((real, folder)) => real.join(path.strip_prefix(folder).unwrap_or(path)),
        None => path.to_owned(),
    }
}

#[cfg(test)]
impl Claim {
    pub(super) fn files(paths: &[&str], access: Access) -> Self {
        Self { about: files(paths.iter().copied(), Path::new("/nowhere")), access }
    }

    pub(super) fn anything(access: Access) -> Self {
        Self { about: About::Anything, access }
    }

    pub(super) fn nothing() -> Self {
        Self { about: About::Nothing, access: Access::Look }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use super::*;
    use slipstitch::dialects::builtin;

    /// `a.txt`, a link to it, and a linked folder.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        std::fs::write(folder.path().join("a.txt"), "").unwrap();
        symlink("a.txt", folder.path().join("link")).unwrap();
        symlink("sub", folder.path().join("linked")).unwrap();
        folder
    }

    /// What a call in that folder is about: names of files, or a word.
    fn about(at: &Path, dialect: &str, tool: &str, arguments: Value) -> (Access, Vec<String>) {
        let dialect = builtin().find(dialect).unwrap();
        let ground = Ground::Folder(at.to_owned());
        let mut claim = Claim::of(dialect, dialect.tool(tool).unwrap(), &arguments, &ground);
        let mut names = match &mut claim.about {
            About::Anything => vec!["anything".to_owned()],
            About::Nothing => Vec::new(),
            About::Files(files) => {
                let real = at.canonicalize().unwrap();
                let name = |place: &PathBuf| {
                    let name = place.strip_prefix(&real).unwrap_or(place);
                    name.components().collect::<PathBuf>().display().to_string()
                };
                files.places().iter().map(name).collect()
            }
        };
        names.sort();
        (claim.access, names)
    }

    #[test]
    fn the_files_of_a_call_are_seen_however_they_are_named() {
        let folder = folder();
        let of = |dialect: &str, tool: &str, arguments: Value| about(folder.path(), dialect, tool, arguments);
        let change = |names: &[&str]| (Access::Change, names.iter().map(|name| (*name).to_owned()).collect());
        let edit = |path: &str| json!({"path": path, "old_text": "x", "new_text": "y"});
        let full = folder.path().join("link").display().to_string();
        for path in ["a.txt", "./a.txt", "link", "sub/../a.txt", "linked/../a.txt", &full] {
            assert_eq!(of("native", "edit_file", edit(path)), change(&["a.txt"]), "{path}");
        }
        for path in ["linked/new/b", "sub/./new//b"] {
            assert_eq!(of("native", "edit_file", edit(path)), change(&["sub/new/b"]), "{path}");
        }
        assert_eq!(of("native", "read_file", json!({"path": "link"})), (Access::Look, vec!["a.txt".into()]));
        assert_eq!(of("claude", "Write", json!({"file_path": "b", "content": ""})), change(&["b"]));
        let view = json!({"command": "view", "path": "link"});
        assert_eq!(of("claude", "str_replace_based_edit_tool", view).0, Access::Look);
        let patch =
            "--- a/x/one\n+++ b/x/one\n@@ -1 +1 @@\n-a\n+b\n--- a/two\n+++ b/two\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(of("native", "patch", json!({"patch": patch})), change(&["two", "x/one"]));
        assert_eq!(of("native", "patch", json!({"patch": "no patch"})), change(&["anything"]));
        assert_eq!(of("native", "undo_edit", json!({})), change(&["anything"]));
        let nothing = (Access::Look, Vec::new());
        assert_eq!(of("phoenix", "request_mode_upgrade", json!({})), nothing);
        assert_eq!(of("agent-q", "list_directory", json!({})), (Access::Look, vec!["".to_owned()]));
    }

    #[test]
    fn whoever_shares_a_clipboard_meets() {
        let folder = folder();
        let dialect = builtin().find("phoenix").unwrap();
        let of = |path: &str, clips: Value| {
            let mut patch = json!({"operation": "replace", "oldText": "x", "newText": "y"});
            patch.as_object_mut().unwrap().extend(clips.as_object().unwrap().clone());
            let call = json!({"path": path, "patches": [patch]});
            let ground = Ground::Folder(folder.path().to_owned());
            match Claim::of(dialect, dialect.tool("patch").unwrap(), &call, &ground).about {
                About::Files(files) => files,
                other => panic!("{other:?}"),
            }
        };
        let mut cut = of("a.txt", json!({"toClipboard": "c"}));
        for (mut other, meets) in [
            (of("b", json!({"fromClipboard": "c"})), true),
            (of("b", json!({"toClipboard": "c"})), true),
            (of("b", json!({"fromClipboard": "d"})), false),
            (of("b", json!({})), false),
            (of("link", json!({})), true),
        ] {
            assert_eq!(cut.meet(&mut other), meets, "{other:?}");
        }
    }

    #[test]
    fn the_dialects_with_clipboards_are_known() {
        for dialect in slipstitch::dialects::BUILTIN {
            let has = dialect.tools.iter().any(|tool| (tool.schema)().to_string().contains("Clipboard"));
            assert_eq!(has, WITH_CLIPBOARDS.contains(&dialect.name), "{}", dialect.name);
        }
    }

    #[test]
    fn what_is_taken_back_may_be_any_file() {
        let folder = folder();
        let undo = json!({"command": "undo_edit", "path": "a.txt"});
        let claim = about(folder.path(), "claude", "str_replace_based_edit_tool", undo);
        assert_eq!(claim, (Access::Change, vec!["anything".to_owned()]));
    }

    #[test]
    fn what_cannot_be_read_as_a_plan_in_an_open_folder_stops_nobody() {
        let (folder, state) = (folder(), tempfile::tempdir().unwrap());
        let workspace = Workspace::builder(folder.path()).state_dir(state.path());
        let ground = Ground::Open(Arc::new(workspace.open().unwrap()));
        let dialect = builtin().find("native").unwrap();
        let of = |tool: &str, arguments: Value| {
            Claim::of(dialect, dialect.tool(tool).unwrap(), &arguments, &ground).about
        };
        assert!(matches!(of("patch", json!({"patch": "no patch"})), About::Nothing));
        assert!(matches!(of("undo_edit", json!({})), About::Anything));
    }

    #[test]
    fn where_the_folder_is_not_known_a_file_may_be_any() {
        let dialect = builtin().find("native").unwrap();
        let of = |tool: &str, arguments: Value| {
            Claim::of(dialect, dialect.tool(tool).unwrap(), &arguments, &Ground::Unknown)
        };
        let (look, change) = (of("read_file", json!({"path": "a"})), of("edit_file", json!({"path": "a"})));
        assert!(matches!(look, Claim { about: About::Anything, access: Access::Look }));
        assert!(matches!(change, Claim { about: About::Anything, access: Access::Change }));
        let patch = json!({"patch": "--- a/one\n+++ b/one\n@@ -1 +1 @@\n-a\n+b\n"});
        assert!(matches!(of("patch", patch).about, About::Anything));
    }

    #[test]
    fn paths_that_no_system_takes_cost_nothing() {
        let folder = folder();
        let long = "a/".repeat(1_000_000);
        assert_eq!(about(folder.path(), "native", "read_file", json!({"path": long})).1, [""; 0]);
        let deep = "a/".repeat(MAX_PATH / 2 - 1) + "b";
        assert_eq!(about(folder.path(), "native", "read_file", json!({"path": deep})).1, [deep]);
        let odd = about(folder.path(), "native", "read_file", json!({"path": "a\0b"})).1;
        assert_eq!(odd, ["a\0b"]);
    }
}
