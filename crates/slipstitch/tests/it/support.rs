//! Set-up that the tests share.

use slipstitch_core::hint::HintPhrases;
use std::collections::BTreeMap;
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use slipstitch::{Builder, DiskWorkspace, Fsync, SqliteJournal, Workspace};
use slipstitch_core::change::{Base, FileChange, PathChange};
use slipstitch_core::engine::Engine;
use slipstitch_core::outcome::Status;
use slipstitch_core::path::FilePath;
use slipstitch_core::plan::ChangeId;
use slipstitch_core::plan::{EditPlan, Plan};
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::journal::{Aftereffects, ChangeKind, FileRecord, Journal, Origin, Record};
use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};
use slipstitch_core::ports::workspace::{ReadResult, Workspace as _, WorkspaceError, Written};
use slipstitch_core::report::Report;
use slipstitch_core::text::{ContentHash, EncodingRule};
use slipstitch_core::text::{Span, Splices};

/// How a file is replaced: the fallback cannot exchange two names.
#[cfg(unix)]
pub(crate) const REPLACED: &str = if cfg!(feature = "portable") { "rename" } else { "exchange" };

/// A temporary folder with a root, a folder outside it, a state folder and the user's settings.
pub(crate) struct TestFolder(tempfile::TempDir);

impl TestFolder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        fs::write(folder.path().join("config.toml"), "").unwrap();
        Self(folder)
    }

    /// A path beneath the root.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.0.path().join("root").join(path)
    }

    pub(crate) fn outside(&self, path: &str) -> PathBuf {
        self.0.path().join("outside").join(path)
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.0.path().join("config.toml")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.0.path().join("state")
    }

    /// Writes a file, with its folders.
    pub(crate) fn put(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    pub(crate) fn put_with_mode(&self, path: &str, text: &str, mode: u32) {
        self.put(path, text);
        self.set_mode(path, mode);
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    pub(crate) fn mode(&self, path: &str) -> u32 {
        mode_of(&fs::metadata(self.at(path)).unwrap().permissions())
    }

    pub(crate) fn set_mode(&self, path: &str, mode: u32) {
        let mut permissions = fs::metadata(self.at(path)).unwrap().permissions();
        set_mode_of(&mut permissions, mode);
        fs::set_permissions(self.at(path), permissions).unwrap();
    }

    /// Every file and folder beneath the root, so that no leftover goes unnoticed. Folders end with `/`.
    pub(crate) fn listing(&self) -> Vec<String> {
        list_recursively(&self.at(""))
    }

    /// Every file beneath the root with its content and mode.
    pub(crate) fn files(&self) -> BTreeMap<String, (String, u32)> {
        let files = read_tree(&self.at("")).into_iter();
        files
            .map(|(path, text)| (path.clone(), (String::from_utf8(text).unwrap(), self.mode(&path))))
            .collect()
    }

    /// A builder with the state folder and the settings of this folder.
    pub(crate) fn builder(&self) -> Builder {
        Workspace::builder(self.at("")).state_dir(self.state()).config(self.config()).fsync(Fsync::Off)
    }

    /// Opens the workspace as a session.
    pub(crate) fn open_session(&self, session: &str) -> Workspace {
        self.builder().session(session).open().unwrap()
    }

    /// Opens the journal's database, behind the workspace's back.
    pub(crate) fn database(&self) -> rusqlite::Connection {
        open_database(&self.state())
    }
}

#[cfg(unix)]
fn mode_of(permissions: &fs::Permissions) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(permissions) & 0o7777
}

#[cfg(unix)]
fn set_mode_of(permissions: &mut fs::Permissions, mode: u32) {
    std::os::unix::fs::PermissionsExt::set_mode(permissions, mode);
}

/// Windows knows only whether a file is read-only.
#[cfg(windows)]
fn mode_of(permissions: &fs::Permissions) -> u32 {
    if permissions.readonly() { 0o444 } else { 0o644 }
}

#[cfg(windows)]
fn set_mode_of(permissions: &mut fs::Permissions, mode: u32) {
    permissions.set_readonly(mode & 0o200 == 0);
}

/// The mode that a file has after [`TestFolder::set_mode`].
pub(crate) fn kept_mode(mode: u32) -> u32 {
    match (cfg!(windows), mode & 0o200) {
        (false, _) => mode,
        (true, 0) => 0o444,
        (true, _) => 0o644,
    }
}

/// A root with a disk workspace.
pub(crate) struct TestDisk {
    folder: TestFolder,
    pub(crate) disk: DiskWorkspace,
}

impl Deref for TestDisk {
    type Target = TestFolder;

    fn deref(&self) -> &TestFolder {
        &self.folder
    }
}

impl TestDisk {
    pub(crate) fn new() -> Self {
        let folder = TestFolder::new();
        let disk = open_disk(&folder);
        Self { folder, disk }
    }

    /// The folder with the locks, and with the backups of files that are written in place.
    pub(crate) fn locks(&self) -> PathBuf {
        self.folder.0.path().join("locks")
    }

    /// Opens the root again, as another process would.
    pub(crate) fn reopen(&self) -> DiskWorkspace {
        open_disk(&self.folder)
    }

    pub(crate) fn read(&self, path: &str) -> Result<ReadResult, WorkspaceError> {
        self.disk.read(&file(path))
    }

    pub(crate) fn commit(&self, changes: &[FileChange]) -> Result<Vec<Written>, WorkspaceError> {
        self.disk.stage(changes)?.publish()
    }

    /// A change that replaces the whole text of a file.
    pub(crate) fn edit(&self, path: &str, text: &str) -> FileChange {
        edited(path, &self.text(path), text)
    }
}

fn open_disk(folder: &TestFolder) -> DiskWorkspace {
    DiskWorkspace::open(&folder.at(""), &folder.0.path().join("locks"), Fsync::On).unwrap()
}

/// A root with a workspace.
pub(crate) struct TestWorkspace {
    folder: TestFolder,
    pub(crate) workspace: Workspace,
}

impl Deref for TestWorkspace {
    type Target = TestFolder;

    fn deref(&self) -> &TestFolder {
        &self.folder
    }
}

impl TestWorkspace {
    pub(crate) fn new() -> Self {
        Self::open(TestFolder::new())
    }

    pub(crate) fn open(folder: TestFolder) -> Self {
        let workspace = folder.builder().open().unwrap();
        Self { folder, workspace }
    }

    /// Calls a tool of the native dialect.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Report {
        self.workspace.call("native", tool, arguments).report
    }

    pub(crate) fn patch(&self, patch: &str) -> Report {
        self.call("patch", json!({ "patch": patch }))
    }

    pub(crate) fn undo(&self) -> Report {
        self.call("undo_edit", json!({}))
    }
}

/// Replaces a text through the native dialect.
#[track_caller]
pub(crate) fn edit(workspace: &Workspace, path: &str, old: &str, new: &str) -> Report {
    let arguments = json!({"path": path, "old_text": old, "new_text": new});
    let report = workspace.call("native", "edit_file", arguments).report;
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    report
}

pub(crate) fn file(path: &str) -> FilePath {
    FilePath::from_record(path).unwrap()
}

pub(crate) fn content(seen: ReadResult) -> Vec<u8> {
    match seen {
        ReadResult::File(content) => content.bytes.to_vec(),
        ReadResult::Missing { .. } => panic!("the file is missing"),
    }
}

pub(crate) fn file_change(
    path: &str,
    base: Base,
    path_change: PathChange,
    splices: Splices,
    after: Option<ContentHash>,
) -> FileChange {
    FileChange {
        path: file(path),
        base,
        path_change,
        splices,
        after,
        mode: None,
        executable: None,
        restore: Default::default(),
        edits: Vec::new(),
        notes: Vec::new(),
        totals: None,
    }
}

pub(crate) fn edited(path: &str, before: &str, after: &str) -> FileChange {
    let splices = Splices::one(before.len(), Span::new(0, before.len()), after);
    let hash = ContentHash::of(after.as_bytes());
    file_change(
        path,
        Base::Content(ContentHash::of(before.as_bytes())),
        PathChange::Keep,
        splices,
        Some(hash),
    )
}

pub(crate) fn created(path: &str, text: &str) -> FileChange {
    let splices = Splices::one(0, Span::new(0, 0), text);
    file_change(path, Base::Absent, PathChange::Keep, splices, Some(ContentHash::of(text.as_bytes())))
}

pub(crate) fn removed(path: &str, before: &str) -> FileChange {
    let splices = Splices::one(before.len(), Span::new(0, before.len()), Vec::new());
    file_change(path, Base::Content(ContentHash::of(before.as_bytes())), PathChange::Delete, splices, None)
}

pub(crate) fn moved(path: &str, to: &str, before: &str, after: &str) -> FileChange {
    FileChange { path_change: PathChange::Move(file(to)), ..edited(path, before, after) }
}

pub(crate) fn origin(session: &str) -> Origin {
    Origin { session: session.into(), agent: None, dialect: "native".into(), tool: "test".into() }
}

/// Opens the journal of the root `/root`.
pub(crate) fn open_journal(state: &Path) -> SqliteJournal {
    SqliteJournal::open(state, "/root").unwrap().with_fsync(Fsync::Off)
}

/// Opens the journal's database, behind the journal's back.
pub(crate) fn open_database(state: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(state.join("journal.db")).unwrap()
}

/// A record of a change by the session `s` of the program `agent`.
pub(crate) fn record(kind: ChangeKind, files: Vec<FileRecord>) -> Record {
    Record {
        intent: None,
        origin: Origin { agent: Some("agent".into()), ..origin("s") },
        kind,
        description: Some("why".into()),
        labels: None,
        approval: "auto".into(),
        files,
        diff: "--- a\n+++ b\n".into(),
    }
}

/// Records a change and marks it as done.
pub(crate) fn record_done(journal: &SqliteJournal, record: &Record) -> ChangeId {
    let id = journal.begin(record).unwrap();
    journal.seal(id, &Aftereffects::default()).unwrap();
    id
}

/// Runs a plan on files in memory.
pub(crate) fn run_in_memory(files: &MemoryWorkspace, plan: EditPlan, encoding: EncodingRule) -> Report {
    let journal = MemoryJournal::default();
    let engine = Engine::new(files, &journal).encoding(encoding).session("test");
    engine.execute(&Plan::Edit(plan), origin("test"), HintPhrases::ALL, &mut Auto)
}

/// Files by path.
pub(crate) type Tree = BTreeMap<String, Vec<u8>>;

pub(crate) fn write_tree(folder: &Path, tree: &Tree) {
    for (name, text) in tree {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// The files beneath a folder.
pub(crate) fn read_tree(folder: &Path) -> Tree {
    let names = list_recursively(folder).into_iter().filter(|name| !name.ends_with('/'));
    names.map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect()
}

/// The sorted paths of everything beneath a folder. Folders end with `/`.
fn list_recursively(folder: &Path) -> Vec<String> {
    let mut list = Vec::new();
    let mut queue = vec![String::new()];
    while let Some(prefix) = queue.pop() {
        for entry in fs::read_dir(folder.join(&prefix)).unwrap() {
            let entry = entry.unwrap();
            let mut name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                name.push('/');
                queue.push(name.clone());
            }
            list.push(name);
        }
    }
    list.sort();
    list
}

/// Runs a program in `folder` with `input` as its standard input.
pub(crate) fn run_program(folder: &Path, program: &str, arguments: &[&str], input: &[u8]) -> Output {
    use std::io::Write;
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program} must be installed for this test: {error}"));
    let mut pipe = child.stdin.take().unwrap();
    // On a thread, because the program may write output before it has read all of its input.
    std::thread::scope(|scope| {
        let writer = scope.spawn(move || pipe.write_all(input));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        output
    })
}

/// Runs a program that must succeed.
#[track_caller]
pub(crate) fn run_successfully(folder: &Path, program: &str, arguments: &[&str], input: &[u8]) {
    let output = run_program(folder, program, arguments, input);
    assert!(
        output.status.success(),
        "{program} failed:\n{}{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
        String::from_utf8_lossy(input),
    );
}

/// A reviewer where no passphrase is set.
pub(crate) fn ada(workspace: &Workspace) -> slipstitch::Reviewer {
    workspace.reviewer("ada", None).unwrap()
}
