//! A root full of traps, next to a folder that no tool may touch.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use tempfile::TempDir;

use crate::scratch;

/// Occurs in every file outside the root and in the name of one; no response may contain it.
pub(super) const CANARY: &str = "CANARY";

/// The first line of every file, inside and outside, so that edits have something to match.
pub(super) const FIRST_LINE: &str = "line one";

/// Lengths of symlink chains that end outside the root: shorter and longer than the system follows.
const CHAINS: [usize; 3] = [2, 20, 45];

/// Symlinks in the root. `{O}` is the folder outside, `{R}` the root, `{F}` and `{D}` file descriptors of an open file and
/// folder outside.
const LINKS: &[(&str, &str)] = &[
    ("abs-file", "{O}/secret.txt"),
    ("abs-folder", "{O}"),
    ("abs-inner", "{O}/folder"),
    ("abs-double", "//{O}"),
    ("rel-file", "../outside/secret.txt"),
    ("rel-folder", "../outside"),
    ("rel-trail", "../outside/"),
    ("rel-dot", "../outside/."),
    ("rel-back", "sub/../../outside"),
    ("sub/rel-file", "../../outside/secret.txt"),
    ("sub/rel-folder", "../../outside"),
    ("up", ".."),
    ("up-twice", "../.."),
    ("up-dot", "./.."),
    ("sub/up", "../.."),
    ("slash", "/"),
    ("own-up", "{R}/../outside"),
    ("own-up-file", "{R}/../outside/secret.txt"),
    ("own-sub-up", "{R}/sub/../../outside"),
    ("own-dots", "{R}/./../outside/./secret.txt"),
    ("proc-root", "/proc/self/root"),
    ("proc-root-out", "/proc/self/root{O}"),
    ("proc-cwd", "/proc/self/cwd"),
    ("proc-fd", "/proc/self/fd/{F}"),
    ("proc-fd-folder", "/proc/self/fd/{D}"),
    ("proc-thread", "/proc/thread-self/root{O}"),
    ("proc-task", "/proc/self/task/../root{O}"),
    ("proc-one", "/proc/1/root{O}"),
    ("proc-exe", "/proc/self/exe"),
    ("proc-environ", "/proc/self/environ"),
    ("proc-mem", "/proc/self/mem"),
    ("dev-null", "/dev/null"),
    ("dev-zero", "/dev/zero"),
    ("dev-fd", "/dev/fd/{F}"),
    ("dev-stdin", "/dev/stdin"),
    ("etc", "/etc"),
    ("passwd", "/etc/passwd"),
    ("dangling", "../outside/none"),
    ("dangling-abs", "{O}/none"),
    ("dangling-deep", "../outside/none/deeper"),
    ("loop", "loop"),
    ("loop-a", "loop-b"),
    ("loop-b", "loop-a"),
    ("loop-in", "loop-in/x"),
    ("by-link", "rel-folder/secret.txt"),
    ("by-up", "up/outside/secret.txt"),
    ("to-pipe", "pipe"),
    ("git-folder", ".git"),
    ("git-config", ".git/config"),
    ("git-hooks", ".git/hooks"),
    ("git-absolute", "{R}/.git"),
    ("sub/git", "../.git"),
    ("git-twice", "git-folder/hooks"),
    ("bare-hooks", "mirror/hooks"),
];

/// The root, the folder outside, and open file descriptors that `/proc` exposes.
#[derive(Debug)]
pub(super) struct Sandbox {
    folder: TempDir,
    /// Names of all symlinks, and of the first link of each chain.
    pub(super) links: Vec<String>,
    /// Descriptors of a file and a folder outside.
    pub(super) descriptors: (i32, i32),
    _open: (File, File),
}

impl Sandbox {
    pub(super) fn new() -> io::Result<Self> {
        let folder = scratch::create_in_memory()?;
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        fs::create_dir_all(outside.join("folder"))?;
        let secret = format!("{FIRST_LINE}\n{CANARY} of a file\nline three\n");
        fs::write(outside.join("secret.txt"), &secret)?;
        fs::write(outside.join("folder/inner.txt"), &secret)?;
        fs::write(outside.join(format!("{CANARY}-name.txt")), &secret)?;
        // Has a hard link inside the root: reading it there is no escape, so it has no canary; writing would be one.
        fs::write(outside.join("hard.txt"), format!("{FIRST_LINE}\nshared\nline three\n"))?;
        let open = (File::open(outside.join("secret.txt"))?, File::open(&outside)?);
        let descriptors = (open.0.as_raw_fd(), open.1.as_raw_fd());
        let mut sandbox = Self { folder, links: Vec::new(), descriptors, _open: open };
        sandbox.create_traps(&root, &outside)?;
        Ok(sandbox)
    }

    fn create_traps(&mut self, root: &Path, outside: &Path) -> io::Result<()> {
        for folder in ["sub/deep", ".git/hooks", "mirror/hooks", "mirror/objects", "mirror/refs"] {
            fs::create_dir_all(root.join(folder))?;
        }
        for file in
            ["plain.txt", "sub/plain.txt", ".git/config", "mirror/HEAD", "mirror/config", "move-me.txt"]
        {
            fs::write(root.join(file), plain_text())?;
        }
        let cell = serde_json::json!({"cell_type": "code", "source": [FIRST_LINE]});
        fs::write(root.join("sub/plain.ipynb"), serde_json::json!({"cells": [cell]}).to_string())?;
        fs::hard_link(outside.join("hard.txt"), root.join("hard.txt"))?;
        mknodat(CWD, root.join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        // The socket file remains after the listener is closed.
        drop(UnixListener::bind(root.join("socket"))?);
        // Needs root; without it the device is not part of the attack.
        let _ = mknodat(
            CWD,
            root.join("zero"),
            FileType::CharacterDevice,
            Mode::RUSR | Mode::WUSR,
            makedev(1, 5),
        );
        let (file, folder) = self.descriptors;
        for (name, target) in LINKS {
            let target = target
                .replace("{O}", &outside.to_string_lossy())
                .replace("{R}", &root.to_string_lossy())
                .replace("{F}", &file.to_string())
                .replace("{D}", &folder.to_string());
            symlink(target, root.join(name))?;
            self.links.push((*name).to_owned());
        }
        for length in CHAINS {
            self.create_chain(root, length)?;
        }
        Ok(())
    }

    /// Creates a chain of symlinks whose last one leads outside.
    fn create_chain(&mut self, root: &Path, length: usize) -> io::Result<()> {
        for at in 1..length {
            symlink(format!("chain-{length}-{}", at + 1), root.join(format!("chain-{length}-{at}")))?;
        }
        symlink("../outside", root.join(format!("chain-{length}-{length}")))?;
        self.links.push(format!("chain-{length}-1"));
        Ok(())
    }

    pub(super) fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    pub(super) fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    pub(super) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// Restores what a move used up: the moved file, and the free name that it was moved to.
    pub(super) fn restore_moved_file(&self) -> Result<(), String> {
        let (moved, target) = (self.root().join("move-me.txt"), self.root().join("moved.txt"));
        let _ = fs::remove_file(target);
        if moved.exists() {
            return Ok(());
        }
        fs::write(moved, plain_text()).map_err(|error| error.to_string())
    }

    /// Everything that no attack may change: the folder outside, and the protected ones inside. `mirror` is a bare
    /// repository, which no name tells.
    pub(super) fn snapshot_forbidden(&self) -> io::Result<Snapshot> {
        let mut snapshot = Snapshot::new();
        add_to_snapshot(&self.outside(), &mut snapshot)?;
        add_to_snapshot(&self.root().join(".git"), &mut snapshot)?;
        add_to_snapshot(&self.root().join("mirror"), &mut snapshot)?;
        Ok(snapshot)
    }
}

/// The content of an ordinary file in the root.
fn plain_text() -> String {
    format!("{FIRST_LINE}\nline two\nline three\n")
}

/// Paths with inode, mode, number of links, modification time in seconds and nanoseconds, and content.
pub(super) type Snapshot = BTreeMap<PathBuf, (u64, u32, u64, i64, i64, Vec<u8>)>;

/// Adds everything beneath a folder to a snapshot.
pub(super) fn add_to_snapshot(folder: &Path, snapshot: &mut Snapshot) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let found = fs::symlink_metadata(&path)?;
        let bytes = if found.is_file() { fs::read(&path)? } else { Vec::new() };
        if found.is_dir() {
            add_to_snapshot(&path, snapshot)?;
        }
        let (seconds, nanoseconds) = (found.mtime(), found.mtime_nsec());
        snapshot.insert(path, (found.ino(), found.mode(), found.nlink(), seconds, nanoseconds, bytes));
    }
    Ok(())
}
