//! The state folder, with the journal and the locks: outside the roots, private to the user.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use slipstitch_platform::files;
use slipstitch_platform::private::{self, Exposure};

/// The environment variable with the path of the state folder.
pub const ENV_VAR: &str = "SLIPSTITCH_STATE_DIR";

/// Why the state folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// No folder is set, and there is no home folder.
    #[error("there is no home folder for the state folder, and neither `--state-dir` nor `{ENV_VAR}` is set")]
    NoHome,
    /// The folder is inside a root, where edits could change the journal.
    #[error("the state folder `{}` is inside the root `{}`, where edits could change it", folder.display(), root.display())]
    InsideRoot {
        /// The folder.
        folder: PathBuf,
        /// The root.
        root: PathBuf,
    },
    /// The folder exists, and others have access to it.
    #[error(
        "the state folder `{}` is accessible to other users (mode {mode:04o})",
        folder.display()
    )]
    NotPrivate {
        /// The folder.
        folder: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The folder exists and belongs to another user.
    #[error(
        "the state folder `{}` belongs to another user (uid {owner})",
        folder.display()
    )]
    NotOwned {
        /// The folder.
        folder: PathBuf,
        /// The user it belongs to.
        owner: u32,
    },
    /// The folder cannot be created or read.
    #[error("cannot use the state folder `{}`: {source}", folder.display())]
    Io {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The state folder: `explicit`, else the value of [`ENV_VAR`], else `slipstitch` in the folder that the system has for it.
///
/// It is created if it is missing, readable only by its owner. A folder that exists must be like that already: its
/// permissions are never changed. It must not be inside any of `roots`.
pub fn folder(explicit: Option<&Path>, roots: &[&Path]) -> Result<PathBuf, StateError> {
    let chosen =
        choose(explicit, std::env::var_os(ENV_VAR), || Some(private::state_folder()?.join("slipstitch")))?;
    create(&chosen, roots)
}

/// The folder for locks inside the state folder.
pub fn locks(state_dir: &Path) -> PathBuf {
    state_dir.join("locks")
}

fn choose(
    explicit: Option<&Path>,
    from_env: Option<OsString>,
    xdg: impl FnOnce() -> Option<PathBuf>,
) -> Result<PathBuf, StateError> {
    let named = explicit.map(Path::to_owned).or_else(|| from_env.map(PathBuf::from));
    named.filter(|path| !path.as_os_str().is_empty()).or_else(xdg).ok_or(StateError::NoHome)
}

fn create(folder: &Path, roots: &[&Path]) -> Result<PathBuf, StateError> {
    let failed = |source| StateError::Io { folder: folder.into(), source };
    let roots: Vec<PathBuf> =
        roots.iter().map(|root| files::real_path(root).unwrap_or_else(|_| root.into())).collect();
    let outside = |real: PathBuf| match roots.iter().find(|root| real.starts_with(root)) {
        Some(root) => Err(StateError::InsideRoot { folder: real, root: root.clone() }),
        None => Ok(real),
    };
    // Checked before it is created, so that a refusal leaves no folder in the root; and after, in case the
    // path was changed meanwhile.
    outside(resolve(&std::path::absolute(folder).map_err(failed)?))?;
    private::create_folder(folder).map_err(failed)?;
    let real = outside(files::real_path(folder).map_err(failed)?)?;
    match private::exposure(&real).map_err(failed)? {
        Exposure::None => Ok(real),
        Exposure::OtherOwner(owner) => Err(StateError::NotOwned { folder: real, owner }),
        Exposure::Others(mode) => Err(StateError::NotPrivate { folder: real, mode }),
    }
}

/// How many dangling symlinks are followed, one leading to the next.
const MAX_DANGLING_LINKS: usize = 8;

/// Resolves the symlinks in the part of `path` that exists, and those whose target is missing.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    resolve_from_end(path).unwrap_or_else(|| resolve_links(path, MAX_DANGLING_LINKS))
}

/// The usual cases, in few system calls: the path exists, or its end is missing. `None` for all others.
fn resolve_from_end(path: &Path) -> Option<PathBuf> {
    if !path.is_absolute() || path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let mut existing = path;
    let mut missing = Vec::new();
    loop {
        match files::real_path(existing) {
            Ok(mut real) => {
                if let Some(first) = missing.last() {
                    // A dangling symlink leads elsewhere.
                    let is_missing = matches!(real.join(first).symlink_metadata(),
                        Err(error) if error.kind() == io::ErrorKind::NotFound);
                    if !is_missing {
                        return None;
                    }
                }
                real.extend(missing.iter().rev());
                return Some(real);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                missing.push(existing.file_name()?);
                existing = existing.parent()?;
            }
            Err(_) => return None,
        }
    }
}

fn resolve_links(path: &Path, max_dangling: usize) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut real, part| {
        if part == Component::ParentDir {
            real.pop();
            return real;
        }
        real.push(part);
        if let Ok(found) = files::real_path(&real) {
            return found;
        }
        // What is created through a dangling symlink is created at its target.
        match (real.read_link(), max_dangling.checked_sub(1)) {
            (Ok(target), Some(rest)) => {
                real.pop();
                resolve_links(&real.join(target), rest)
            }
            _ => real,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(unix)]
    use std::fs::Permissions;
    #[cfg(unix)]
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

    #[cfg(unix)]
    #[test]
    fn dangling_symlinks_are_resolved() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        symlink("second", top.join("first")).unwrap();
        symlink(top.join("missing"), top.join("second")).unwrap();
        symlink("loop", top.join("loop")).unwrap();
        assert_eq!(resolve(&top.join("first/x")), top.join("missing/x"));
        assert_eq!(resolve(&top.join("loop/x")), top.join("loop/x"));
    }

    #[cfg(unix)]
    #[test]
    fn both_ways_to_resolve_a_path_agree() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        std::fs::write(top.join("a/file"), "").unwrap();
        symlink("a", top.join("link")).unwrap();
        symlink(top.join("gone/x"), top.join("a/dangling")).unwrap();
        let paths = [
            "a/b",
            "a/b/c/d",
            "link/b",
            "link/b/new",
            "a/file",
            "a/file/x",
            "a/dangling",
            "a/dangling/y",
            "",
        ];
        for path in paths.map(|path| top.join(path)) {
            assert_eq!(resolve(&path), resolve_links(&path, MAX_DANGLING_LINKS), "{}", path.display());
        }
        assert_eq!(resolve_from_end(&top.join("link/b/new")), Some(top.join("a/b/new")));
        assert_eq!(resolve_from_end(&top.join("a/dangling")), None);
    }

    #[test]
    fn the_option_precedes_the_variable_and_the_default() {
        let xdg = || Some(PathBuf::from("/xdg"));
        let choice = |explicit: Option<&str>, from_env: Option<&str>| {
            choose(explicit.map(Path::new), from_env.map(Into::into), xdg).unwrap()
        };
        assert_eq!(choice(Some("/flag"), Some("/variable")), Path::new("/flag"));
        assert_eq!(choice(None, Some("/variable")), Path::new("/variable"));
        assert_eq!(choice(None, Some("")), Path::new("/xdg"));
        assert_eq!(choice(None, None), Path::new("/xdg"));
        assert!(matches!(choose(None, None, || None), Err(StateError::NoHome)));
    }

    #[test]
    fn is_created_for_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir(&root).unwrap();
        let created = create(&folder.path().join("a/state"), &[&root]).unwrap();
        #[cfg(unix)]
        assert_eq!(created.metadata().unwrap().mode() & 0o7777, 0o700);
        assert_eq!(create(&created, &[&root]).unwrap(), created);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_can_use_is_refused_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (root, shared) = (folder.path().join("root"), folder.path().join("shared"));
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir(&shared).unwrap();
        for mode in [0o755, 0o750, 0o701, 0o1777, 0o2770] {
            std::fs::set_permissions(&shared, Permissions::from_mode(mode)).unwrap();
            let error = create(&shared, &[&root]).unwrap_err();
            assert!(matches!(error, StateError::NotPrivate { .. }), "{error}");
            assert!(error.to_string().contains(&format!("{mode:04o}")), "{error}");
            assert_eq!(shared.metadata().unwrap().mode() & 0o7777, mode, "its mode is not changed");
        }
        std::fs::set_permissions(&shared, Permissions::from_mode(0o700)).unwrap();
        assert!(create(&shared, &[&root]).is_ok());
        if chown(&shared, Some(4321), None).is_ok() {
            let error = create(&shared, &[&root]).unwrap_err();
            assert!(error.to_string().contains("belongs to another user (uid 4321)"), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn is_refused_inside_a_root() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir(&root).unwrap();
        symlink(&root, folder.path().join("link")).unwrap();
        for state in ["root", "root/.state", "root/a/b", "link/state", "no/../root/state", "no/../link/x"] {
            for roots in [&[root.as_path()][..], &[Path::new("/nowhere"), &root]] {
                let refused = create(&folder.path().join(state), roots);
                assert!(matches!(refused, Err(StateError::InsideRoot { .. })), "{state}: {refused:?}");
            }
        }
        assert_eq!(std::fs::read_dir(&root).unwrap().count(), 0, "no folder is left behind");
        assert!(create(&folder.path().join("rooted"), &[&root]).is_ok(), "a common prefix is no parent");
    }

    #[test]
    fn a_file_instead_of_the_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("state"), "").unwrap();
        let refused = create(&folder.path().join("state"), &[&folder.path().join("root")]);
        assert!(matches!(refused, Err(StateError::Io { .. })));
    }
}
