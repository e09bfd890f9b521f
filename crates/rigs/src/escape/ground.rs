//! A root full of traps, and beside it a folder that nobody may look into.

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

/// What every file outside holds, and the name of one of them; no answer may hold it.
pub(super) const MARK: &str = "CANARY";

/// What the file outside says beside the mark, so that edits have something to find.
pub(super) const LINE: &str = "line one";

/// How many symlinks lead one to the next before the last leads out: fewer than the system follows, and more.
const CHAINS: [usize; 3] = [2, 20, 45];

/// Symlinks in the root. `{O}` is the folder outside, `{R}` the root, `{F}` and `{D}` open handles of a file and a
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
];

/// The root, what is beside it, and the handles that `/proc` can be asked for.
#[derive(Debug)]
pub(super) struct Ground {
    folder: TempDir,
    /// The names of all symlinks.
    pub(super) links: Vec<String>,
    /// The numbers of the open handles.
    pub(super) handles: (i32, i32),
    _open: (File, File),
}

impl Ground {
    pub(super) fn new() -> io::Result<Self> {
        let folder = scratch::folder()?;
        // Without symlinks in its name, so that only those of the rig are on the way.
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        fs::create_dir_all(outside.join("folder"))?;
        let secret = format!("{LINE}\n{MARK} of a file\nline three\n");
        fs::write(outside.join("secret.txt"), &secret)?;
        fs::write(outside.join("folder/inner.txt"), &secret)?;
        fs::write(outside.join(format!("{MARK}-name.txt")), &secret)?;
        // Reading it by its name inside is no escape, so it has no mark; writing would be one.
        fs::write(outside.join("hard.txt"), format!("{LINE}\nshared\nline three\n"))?;
        let open = (File::open(outside.join("secret.txt"))?, File::open(&outside)?);
        let handles = (open.0.as_raw_fd(), open.1.as_raw_fd());
        let mut ground = Self { folder, links: Vec::new(), handles, _open: open };
        ground.furnish(&root, &outside)?;
        Ok(ground)
    }

    fn furnish(&mut self, root: &Path, outside: &Path) -> io::Result<()> {
        for folder in ["sub/deep", ".git/hooks"] {
            fs::create_dir_all(root.join(folder))?;
        }
        for file in ["plain.txt", "sub/plain.txt", ".git/config", "move-me.txt"] {
            fs::write(root.join(file), format!("{LINE}\nline two\nline three\n"))?;
        }
        fs::hard_link(outside.join("hard.txt"), root.join("hard.txt"))?;
        mknodat(CWD, root.join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        // Bound and closed again: a name that is a socket stays.
        drop(UnixListener::bind(root.join("socket"))?);
        // Only a privileged process may make devices; without them fewer things can go wrong.
        let _ = mknodat(
            CWD,
            root.join("zero"),
            FileType::CharacterDevice,
            Mode::RUSR | Mode::WUSR,
            makedev(1, 5),
        );
        let (file, folder) = self.handles;
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
            self.chain(root, length)?;
        }
        Ok(())
    }

    /// Symlinks that lead one to the next, the last of them out.
    fn chain(&mut self, root: &Path, length: usize) -> io::Result<()> {
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

    /// Puts back what attacks use up: the file that is moved away, and the free name that one is moved to.
    pub(super) fn lay_out(&self) -> Result<(), String> {
        let (used, free) = (self.root().join("move-me.txt"), self.root().join("moved.txt"));
        let _ = fs::remove_file(free);
        if used.exists() {
            return Ok(());
        }
        let text = format!("{LINE}\nline two\nline three\n");
        fs::write(used, text).map_err(|error| error.to_string())
    }

    /// Everything that nobody may change: the folder outside, and the protected one inside.
    pub(super) fn untouchable(&self) -> io::Result<Picture> {
        let mut picture = Picture::new();
        picture_of(&self.outside(), &mut picture)?;
        picture_of(&self.root().join(".git"), &mut picture)?;
        Ok(picture)
    }
}

/// Paths with what stands there: number, mode, names, times, bytes.
pub(super) type Picture = BTreeMap<PathBuf, (u64, u32, u64, i64, i64, Vec<u8>)>;

/// Adds a folder and everything beneath it to a picture.
pub(super) fn picture_of(folder: &Path, picture: &mut Picture) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let found = fs::symlink_metadata(&path)?;
        let bytes = if found.is_file() { fs::read(&path)? } else { Vec::new() };
        if found.is_dir() {
            picture_of(&path, picture)?;
        }
        let times = (found.mtime(), found.mtime_nsec());
        picture.insert(path, (found.ino(), found.mode(), found.nlink(), times.0, times.1, bytes));
    }
    Ok(())
}
