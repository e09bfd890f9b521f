//! How a host finds this program.

use std::ffi::OsStr;
use std::path::Path;

use crate::host::Host;
use crate::launch::PROGRAM_NAME;
use crate::target::Scope;

/// The program that a host should start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// A name to be found on the `PATH`, or a path.
    pub name: String,
    /// Whether it leads to this executable on this machine.
    pub is_found: bool,
}

impl Program {
    /// Finds the best name for the running executable: `slipstitch` if the `PATH` leads to it, else its full path, which
    /// desktop programs always get because they may have another `PATH`. A project's settings are shared with other
    /// machines, so they always get the plain name.
    pub fn locate(host: &Host, scope: &Scope) -> Self {
        let current = std::env::current_exe().and_then(|program| program.canonicalize()).ok();
        let path = std::env::var_os("PATH");
        let is_on_path = current.as_deref().is_none_or(|current| is_first_on_path(path.as_deref(), current));
        match (current, scope) {
            (Some(current), Scope::User) if !is_on_path || host.is_desktop => {
                Self { name: current.to_string_lossy().into_owned(), is_found: true }
            }
            _ => Self { name: PROGRAM_NAME.into(), is_found: is_on_path },
        }
    }
}

/// Whether the first `slipstitch` on `path` is this executable.
fn is_first_on_path(path: Option<&OsStr>, executable: &Path) -> bool {
    let folders = path.map(std::env::split_paths).into_iter().flatten();
    let mut programs = folders.filter_map(|folder| folder.join(PROGRAM_NAME).canonicalize().ok());
    programs.next().is_some_and(|program| program == executable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_program_on_the_path_counts() {
        let folder = tempfile::tempdir().unwrap();
        let create = |name: &str| {
            let program = folder.path().join(name).join(PROGRAM_NAME);
            std::fs::create_dir(program.parent().unwrap()).unwrap();
            std::fs::write(&program, "").unwrap();
            program.canonicalize().unwrap()
        };
        let (a, b) = (create("a"), create("b"));
        let path = std::env::join_paths([a.parent().unwrap(), b.parent().unwrap()]).unwrap();
        assert!(is_first_on_path(Some(&path), &a));
        assert!(!is_first_on_path(Some(&path), &b));
        assert!(!is_first_on_path(None, &a));
    }
}
