//! A root with an outside, and changes in one line.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use slipstitch::{DiskWorkspace, Fsync};
use slipstitch_core::change::{Base, Fate, FileChange};
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::{ReadResult, Workspace, WorkspaceError, Written};
use slipstitch_core::text::ContentHash;
use slipstitch_core::text::{Span, Splices};

/// `root/` and `outside/`, side by side.
pub(crate) struct Rig {
    folder: tempfile::TempDir,
    pub(crate) disk: DiskWorkspace,
}

impl Rig {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        let disk = open(&folder.path().join("root"), &folder.path().join("locks"));
        Self { folder, disk }
    }

    pub(crate) fn again(&self) -> DiskWorkspace {
        open(&self.at(""), &self.folder.path().join("locks"))
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join("root").join(path)
    }

    pub(crate) fn outside(&self, path: &str) -> PathBuf {
        self.folder.path().join("outside").join(path)
    }

    pub(crate) fn put(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    pub(crate) fn mode(&self, path: &str) -> u32 {
        fs::metadata(self.at(path)).unwrap().permissions().mode() & 0o7777
    }

    pub(crate) fn set_mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.at(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    /// Everything beneath the root, so that nothing left behind goes unseen.
    pub(crate) fn listing(&self) -> Vec<String> {
        let mut list = Vec::new();
        walk(&self.at(""), "", &mut list);
        list.sort();
        list
    }

    pub(crate) fn read(&self, path: &str) -> Result<ReadResult, WorkspaceError> {
        self.disk.read(&file(path))
    }

    pub(crate) fn commit(&self, changes: &[FileChange]) -> Result<Vec<Written>, WorkspaceError> {
        self.disk.stage(changes)?.publish()
    }

    /// Replaces a file's whole text.
    pub(crate) fn edit(&self, path: &str, text: &str) -> FileChange {
        edited(path, &self.text(path), text)
    }
}

fn open(root: &Path, locks: &Path) -> DiskWorkspace {
    DiskWorkspace::open(root, locks, Fsync::On).unwrap()
}

fn walk(folder: &Path, prefix: &str, list: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            walk(&entry.path(), &format!("{name}/"), list);
            list.push(format!("{name}/"));
        } else {
            list.push(name);
        }
    }
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

fn change(path: &str, base: Base, fate: Fate, splices: Splices, after: Option<ContentHash>) -> FileChange {
    FileChange {
        path: file(path),
        base,
        fate,
        splices,
        after,
        mode: None,
        executable: None,
        edits: Vec::new(),
        notes: Vec::new(),
        totals: None,
    }
}

pub(crate) fn edited(path: &str, before: &str, after: &str) -> FileChange {
    let splices = Splices::one(before.len(), Span::new(0, before.len()), after.into());
    let hash = ContentHash::of(after.as_bytes());
    change(path, Base::Content(ContentHash::of(before.as_bytes())), Fate::Keep, splices, Some(hash))
}

pub(crate) fn created(path: &str, text: &str) -> FileChange {
    let splices = Splices::one(0, Span::new(0, 0), text.into());
    change(path, Base::Absent, Fate::Keep, splices, Some(ContentHash::of(text.as_bytes())))
}

pub(crate) fn removed(path: &str, before: &str) -> FileChange {
    let splices = Splices::one(before.len(), Span::new(0, before.len()), Vec::new());
    change(path, Base::Content(ContentHash::of(before.as_bytes())), Fate::Delete, splices, None)
}

pub(crate) fn moved(path: &str, to: &str, before: &str, after: &str) -> FileChange {
    FileChange { fate: Fate::Move(file(to)), ..edited(path, before, after) }
}
