//! Where the journal and the locks live: outside the root, closed to others.

use std::ffi::OsString;
use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use etcetera::BaseStrategy;
use etcetera::base_strategy::Xdg;

/// The variable that names the state folder.
pub const VARIABLE: &str = "SLIPSTITCH_STATE_DIR";

/// Why there is no folder for the state.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// No folder is named and there is no home folder to put it in.
    #[error(
        "there is no home folder to keep the state in, and neither `--state-dir` nor `{VARIABLE}` is set"
    )]
    NoHome,
    /// Whoever edits files in the root could edit the journal.
    #[error("the state folder `{}` is inside the root `{}`, where an edit could change it", folder.display(), root.display())]
    InsideRoot {
        /// The folder.
        folder: PathBuf,
        /// The root.
        root: PathBuf,
    },
    /// The folder cannot be made or looked at.
    #[error("the state folder `{}` cannot be used: {source}", folder.display())]
    Io {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The state folder for work beneath `root`: `explicit`, else what [`VARIABLE`] names, else
/// `slipstitch` in the XDG state folder. It is made if it is missing, open to its owner only.
pub fn folder(explicit: Option<&Path>, root: &Path) -> Result<PathBuf, StateError> {
    folder_outside(explicit, &[root])
}

/// The same for work beneath several roots: it is inside none of them.
pub fn folder_outside(explicit: Option<&Path>, roots: &[&Path]) -> Result<PathBuf, StateError> {
    let chosen = choose(explicit, std::env::var_os(VARIABLE), || {
        Some(Xdg::new().ok()?.state_dir()?.join("slipstitch"))
    })?;
    make(&chosen, roots)
}

/// The folder for locks in the state folder.
pub fn locks(state_dir: &Path) -> PathBuf {
    state_dir.join("locks")
}

fn choose(
    explicit: Option<&Path>,
    variable: Option<OsString>,
    xdg: impl FnOnce() -> Option<PathBuf>,
) -> Result<PathBuf, StateError> {
    let named = explicit.map(Path::to_owned).or_else(|| variable.map(PathBuf::from));
    named.filter(|path| !path.as_os_str().is_empty()).or_else(xdg).ok_or(StateError::NoHome)
}

fn make(folder: &Path, roots: &[&Path]) -> Result<PathBuf, StateError> {
    let failed = |source| StateError::Io { folder: folder.into(), source };
    let roots: Vec<PathBuf> =
        roots.iter().map(|root| root.canonicalize().unwrap_or_else(|_| root.into())).collect();
    let outside = |real: PathBuf| match roots.iter().find(|root| real.starts_with(root)) {
        Some(root) => Err(StateError::InsideRoot { folder: real, root: root.clone() }),
        None => Ok(real),
    };
    // Looked at before it is made, so that a refusal leaves no folder in the root; and after, for
    // what the look could not see.
    outside(resolve(&std::path::absolute(folder).map_err(failed)?))?;
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let found = std::fs::metadata(folder).map_err(failed)?.permissions();
    if found.mode() & 0o077 != 0 {
        std::fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(failed)?;
    }
    outside(folder.canonicalize().map_err(failed)?)
}

/// `path` without symlinks, as far as it is there; what is not there yet can be no symlink.
fn resolve(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut real, part| match part {
        Component::ParentDir => {
            real.pop();
            real
        }
        part => {
            real.push(part);
            real.canonicalize().unwrap_or(real)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, symlink};

    #[test]
    fn the_nearest_choice_wins() {
        let xdg = || Some(PathBuf::from("/xdg"));
        let choice = |explicit: Option<&str>, variable: Option<&str>| {
            choose(explicit.map(Path::new), variable.map(Into::into), xdg).unwrap()
        };
        assert_eq!(choice(Some("/flag"), Some("/variable")), Path::new("/flag"));
        assert_eq!(choice(None, Some("/variable")), Path::new("/variable"));
        assert_eq!(choice(None, Some("")), Path::new("/xdg"));
        assert_eq!(choice(None, None), Path::new("/xdg"));
        assert!(matches!(choose(None, None, || None), Err(StateError::NoHome)));
    }

    #[test]
    fn it_is_made_for_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir(&root).unwrap();
        let made = make(&folder.path().join("a/state"), &[&root]).unwrap();
        assert_eq!(made.metadata().unwrap().mode() & 0o7777, 0o700);
        assert_eq!(make(&made, &[&root]).unwrap(), made);
    }

    #[test]
    fn it_is_never_inside_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir(&root).unwrap();
        symlink(&root, folder.path().join("way")).unwrap();
        for state in ["root", "root/.state", "root/a/b", "way/state", "no/../root/state", "no/../way/x"] {
            for roots in [&[root.as_path()][..], &[Path::new("/nowhere"), &root]] {
                let refused = make(&folder.path().join(state), roots);
                assert!(matches!(refused, Err(StateError::InsideRoot { .. })), "{state}: {refused:?}");
            }
        }
        assert_eq!(std::fs::read_dir(&root).unwrap().count(), 0, "nothing is made on the way");
        assert!(make(&folder.path().join("rooted"), &[&root]).is_ok(), "names are compared whole");
    }

    #[test]
    fn a_file_in_its_place_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("state"), "").unwrap();
        let refused = make(&folder.path().join("state"), &[&folder.path().join("root")]);
        assert!(matches!(refused, Err(StateError::Io { .. })));
    }
}
