//! Versions of files in Git: what is staged, and what the last commit has, also under a former name.
//!
//! Only the repository's files are read: no program is run, no hook or filter applies, and nothing is fetched or written. A
//! repository that is not understood, too large or too slow offers no versions.

pub(crate) mod config;
mod renames;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gix_hash::{Kind as HashKind, ObjectId, oid};
use gix_index::entry::{Mode, Stage};
use gix_object::bstr::{BStr, ByteSlice};
use gix_object::{CommitRefIter, Find, FindHeader, Kind, TreeRefIter};
use gix_ref::Target;
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::versions::{KnownVersion, VersionSource, Versions};
use slipstitch_platform::names;

use crate::os_path::text_to_path;

/// Larger versions of files are not read.
const MAX_BLOB_BYTES: u64 = 1 << 20;
/// Larger commits and trees are not read.
const MAX_NODE_BYTES: u64 = 8 << 20;
/// A larger index is not read.
const MAX_INDEX_BYTES: u64 = 64 << 20;
/// More memory than this is never used at once, whatever a file says about its size.
const MAX_ALLOCATION: usize = 64 << 20;
/// A larger file that names a Git folder is not read.
const MAX_POINTER_BYTES: u64 = 4 << 10;
/// A repository with larger settings is not read.
const MAX_CONFIG_BYTES: u64 = 1 << 20;
/// How many symbolic references are followed.
const MAX_REFERENCES: usize = 5;
/// How long a lookup may take by default.
const MAX_TIME: Duration = Duration::from_millis(200);

/// The versions of files beneath a root that Git knows. The root may be a part of a repository, or contain several.
#[derive(Debug, Clone)]
pub struct GitVersions {
    root: PathBuf,
    max_time: Duration,
}

impl GitVersions {
    /// The versions of files beneath `root`, with symlinks resolved. Reads nothing.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), max_time: MAX_TIME }
    }

    /// Stops a lookup after this time, instead of 200 ms. Checked between its steps.
    pub fn with_max_time(self, max_time: Duration) -> Self {
        Self { max_time, ..self }
    }
}

impl Versions for GitVersions {
    fn versions(&self, path: &FilePath, now: &[u8]) -> Vec<KnownVersion> {
        let mut found = Vec::new();
        let deadline = Deadline(Instant::now() + self.max_time);
        // What was found before the lookup failed is still right.
        let _ = find_versions(&self.root.join(text_to_path(path.as_str())), now, deadline, &mut found);
        found
    }
}

fn find_versions(file: &Path, now: &[u8], deadline: Deadline, found: &mut Vec<KnownVersion>) -> Option<()> {
    let repository = file.ancestors().skip(1).find_map(Repository::at)?;
    let path = names::to_text(file.strip_prefix(&repository.work_tree).ok()?)?;
    let lookup = Lookup::open(&repository, deadline)?;
    if !lookup.add_versions(&path, found) {
        let former = renames::former_name(&lookup, &path, now)?;
        lookup.add_versions(&former, found);
    }
    Some(())
}

/// What is read for one file.
struct Lookup<'r> {
    repository: &'r Repository,
    objects: Objects,
    /// What is staged; `None` if that cannot be read.
    index: Option<gix_index::File>,
    /// The last commit, if there is one.
    head: Option<ObjectId>,
    deadline: Deadline,
}

impl<'r> Lookup<'r> {
    fn open(repository: &'r Repository, deadline: Deadline) -> Option<Self> {
        let hash = repository.hash_kind()?;
        let objects = Objects::open(repository, hash, deadline)?;
        deadline.check()?;
        let (index, head) = (repository.index(hash), repository.head(hash));
        Some(Self { repository, objects, index, head, deadline })
    }

    /// Adds the staged version and the committed one. Returns whether the last commit has a file of this name.
    fn add_versions(&self, path: &str, found: &mut Vec<KnownVersion>) -> bool {
        let staged = self.index.as_ref().and_then(|index| staged(index, path));
        found.extend(staged.and_then(|id| self.objects.version(&id, VersionSource::Index)));
        let committed = self.head.and_then(|head| self.objects.committed(head, path));
        let is_new = committed.is_some() && committed != staged;
        found.extend(
            committed.filter(|_| is_new).and_then(|id| self.objects.version(&id, VersionSource::Head)),
        );
        committed.is_some()
    }
}

/// The staged content of a file that has no conflict.
fn staged(index: &gix_index::File, path: &str) -> Option<ObjectId> {
    let entry = index.entry_by_path_and_stage(BStr::new(path), Stage::Unconflicted)?;
    let is_file = [Mode::FILE, Mode::FILE_EXECUTABLE].contains(&entry.mode);
    is_file.then_some(entry.id)
}

/// When a lookup stops.
#[derive(Debug, Clone, Copy)]
struct Deadline(Instant);

impl Deadline {
    /// `None` if the time is up.
    fn check(self) -> Option<()> {
        (Instant::now() < self.0).then_some(())
    }
}

/// The folders of a repository.
#[derive(Debug)]
pub(crate) struct Repository {
    /// The folder whose files it has versions of.
    pub(crate) work_tree: PathBuf,
    /// The files of this work tree, such as its index.
    pub(crate) own: PathBuf,
    /// The files that all work trees share, such as the objects.
    pub(crate) common: PathBuf,
}

impl Repository {
    /// The repository whose work tree is a folder, if it is one.
    pub(crate) fn at(work_tree: &Path) -> Option<Self> {
        let dot_git = work_tree.join(".git");
        let own = match fs::metadata(&dot_git).ok()? {
            found if found.is_dir() => dot_git,
            // A linked work tree, or a submodule.
            _ => work_tree.join(read_pointer(&dot_git)?.strip_prefix("gitdir: ")?),
        };
        let common = match read_pointer(&own.join("commondir")) {
            Some(path) => own.join(path),
            None => own.clone(),
        };
        let is_repository = common.join("objects").is_dir() && own.join("HEAD").exists();
        is_repository.then(|| Self { work_tree: work_tree.to_owned(), own, common })
    }

    /// The repository in the folder `own`, no matter where its work tree is.
    pub(crate) fn with_folders(work_tree: PathBuf, own: PathBuf, common: Option<PathBuf>) -> Self {
        let common = common.or_else(|| Some(own.join(read_pointer(&own.join("commondir"))?)));
        let common = common.unwrap_or_else(|| own.clone());
        Self { work_tree, own, common }
    }

    /// The repository that a folder is itself, without a work tree. Its hooks run in that folder.
    pub(crate) fn bare(folder: &Path) -> Option<Self> {
        let is_repository =
            folder.join("HEAD").exists() && folder.join("objects").is_dir() && folder.join("refs").is_dir();
        let folder = || folder.to_owned();
        is_repository.then(|| Self { work_tree: folder(), own: folder(), common: folder() })
    }

    /// How objects are named; `None` if that is not known.
    fn hash_kind(&self) -> Option<HashKind> {
        let file = self.common.join("config");
        let mut kind = Some(HashKind::Sha1);
        let text = match fs::metadata(&file) {
            Ok(found) if found.is_file() && found.len() <= MAX_CONFIG_BYTES => fs::read(&file).ok()?,
            Ok(_) => return None,
            Err(_) => Vec::new(),
        };
        for setting in config::parse(&String::from_utf8_lossy(&text)) {
            if (setting.section.as_str(), setting.key.as_str()) == ("extensions", "objectformat") {
                kind = match setting.value.to_lowercase().as_str() {
                    "sha1" => Some(HashKind::Sha1),
                    "sha256" => Some(HashKind::Sha256),
                    _ => None,
                };
            }
        }
        kind
    }

    /// What is staged.
    fn index(&self, hash: HashKind) -> Option<gix_index::File> {
        let index = self.own.join("index");
        if fs::metadata(&index).ok()?.len() > MAX_INDEX_BYTES {
            return None;
        }
        let options = gix_index::decode::Options {
            thread_limit: Some(1),
            alloc_limit_bytes: Some(MAX_ALLOCATION),
            ..Default::default()
        };
        gix_index::File::at(index, hash, true, options).ok()
    }

    /// The last commit.
    fn head(&self, hash: HashKind) -> Option<ObjectId> {
        let references = if self.own == self.common {
            gix_ref::file::Store::at(self.own.clone(), hash)
        } else {
            gix_ref::file::Store::for_linked_worktree(self.own.clone(), self.common.clone(), hash)
        };
        let mut target = references.find("HEAD").ok()?.target;
        for _ in 0..MAX_REFERENCES {
            match target {
                Target::Object(id) => return Some(id),
                Target::Symbolic(name) => target = references.find(name.as_ref()).ok()?.target,
            }
        }
        None
    }
}

/// The line in a file that names a folder.
fn read_pointer(file: &Path) -> Option<String> {
    // Opening a pipe would wait for a writer.
    if !fs::metadata(file).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    fs::File::open(file).ok()?.take(MAX_POINTER_BYTES).read_to_string(&mut text).ok()?;
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}

/// The objects of a repository.
struct Objects {
    store: gix_odb::Handle,
    hash: HashKind,
    deadline: Deadline,
}

impl Objects {
    fn open(repository: &Repository, hash: HashKind, deadline: Deadline) -> Option<Self> {
        let options = gix_odb::store::init::Options {
            alloc_limit_bytes: Some(MAX_ALLOCATION),
            ..gix_odb::store::init::Options::default()
        };
        let folder = repository.common.join("objects");
        let mut store = gix_odb::at_opts(folder, hash, None, options).ok()?;
        // A partial clone lacks objects; looking again would not find them.
        store.refresh_never();
        Some(Self { store, hash, deadline })
    }

    /// The content of a file in a commit.
    fn committed(&self, commit: ObjectId, path: &str) -> Option<ObjectId> {
        let mut id = self.tree_of(commit)?;
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            let tree = self.read(&id, Kind::Tree, MAX_NODE_BYTES)?;
            let mut entries = TreeRefIter::from_bytes(&tree, self.hash).map_while(Result::ok);
            let entry = entries.find(|entry| entry.filename == name.as_bytes().as_bstr())?;
            let is_expected =
                if names.peek().is_some() { entry.mode.is_tree() } else { entry.mode.is_blob() };
            id = is_expected.then(|| entry.oid.to_owned())?;
        }
        Some(id)
    }

    /// The tree of a commit.
    fn tree_of(&self, commit: ObjectId) -> Option<ObjectId> {
        let commit = self.read(&commit, Kind::Commit, MAX_NODE_BYTES)?;
        CommitRefIter::from_bytes(&commit, self.hash).tree_id().ok()
    }

    fn version(&self, id: &oid, source: VersionSource) -> Option<KnownVersion> {
        let bytes = self.read(id, Kind::Blob, MAX_BLOB_BYTES)?;
        Some(KnownVersion { bytes, source })
    }

    fn read(&self, id: &oid, kind: Kind, max_bytes: u64) -> Option<Vec<u8>> {
        self.deadline.check()?;
        let header = self.store.try_header(id).ok()??;
        if header.kind != kind || header.size > max_bytes {
            return None;
        }
        let mut buffer = Vec::new();
        let found = self.store.try_find(id, &mut buffer).ok()??;
        Some(found.data.to_vec())
    }
}
