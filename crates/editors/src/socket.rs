//! Finds the socket of a running Emacs server.
//!
//! The candidate paths are those of `emacsclient`. Checking them here avoids starting `emacsclient` when there is no server.

use std::env;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The default name of a server.
const DEFAULT_SERVER: &str = "server";

/// What the candidate paths depend on.
struct Environment {
    /// `EMACS_SOCKET_NAME`.
    socket_name: Option<String>,
    /// `XDG_RUNTIME_DIR`.
    runtime: Option<PathBuf>,
    /// `TMPDIR`.
    temporary: Option<PathBuf>,
    /// Effective user id.
    user: u32,
}

/// The socket of the server `server`, or of the one that the environment names; `None` if there is no such socket that
/// belongs to this user.
pub(crate) fn find(server: Option<&str>) -> Option<PathBuf> {
    let folder = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let environment = Environment {
        socket_name: env::var("EMACS_SOCKET_NAME").ok().filter(|name| !name.is_empty()),
        runtime: folder("XDG_RUNTIME_DIR"),
        temporary: folder("TMPDIR"),
        user: rustix::process::geteuid().as_raw(),
    };
    candidate_paths(server, &environment).into_iter().find(|path| is_socket_of(path, environment.user))
}

/// Where the socket may be, most likely first. A name with a slash is a path.
fn candidate_paths(server: Option<&str>, environment: &Environment) -> Vec<PathBuf> {
    let name = server.or(environment.socket_name.as_deref()).unwrap_or(DEFAULT_SERVER);
    if name.contains('/') {
        return vec![name.into()];
    }
    let user = environment.user;
    let runtime = environment.runtime.clone().unwrap_or_else(|| format!("/run/user/{user}").into());
    let temporary = environment.temporary.clone().unwrap_or_else(|| "/tmp".into());
    vec![runtime.join("emacs").join(name), temporary.join(format!("emacs{user}")).join(name)]
}

/// Whether the path is a socket that belongs to `user`. Anyone can create sockets in a shared folder such as `/tmp`.
fn is_socket_of(path: &Path, user: u32) -> bool {
    fs::metadata(path).is_ok_and(|found| found.file_type().is_socket() && found.uid() == user)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(socket_name: Option<&str>, runtime: Option<&str>, temporary: Option<&str>) -> Environment {
        Environment {
            socket_name: socket_name.map(str::to_owned),
            runtime: runtime.map(PathBuf::from),
            temporary: temporary.map(PathBuf::from),
            user: 7,
        }
    }

    fn list(server: Option<&str>, environment: &Environment) -> Vec<String> {
        candidate_paths(server, environment).iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn candidates_match_emacsclient() {
        assert_eq!(
            list(None, &environment(None, None, None)),
            ["/run/user/7/emacs/server", "/tmp/emacs7/server"]
        );
        assert_eq!(
            list(None, &environment(None, Some("/r"), Some("/t"))),
            ["/r/emacs/server", "/t/emacs7/server"]
        );
    }

    #[test]
    fn setting_takes_precedence_over_environment() {
        let named = environment(Some("work"), Some("/r"), None);
        assert_eq!(list(None, &named), ["/r/emacs/work", "/tmp/emacs7/work"]);
        assert_eq!(list(Some("home"), &named), ["/r/emacs/home", "/tmp/emacs7/home"]);
        assert_eq!(list(Some("/s/x"), &named), ["/s/x"]);
    }

    #[test]
    fn ignores_files_and_sockets_of_other_users() {
        let folder = tempfile::tempdir().unwrap();
        let (file, socket) = (folder.path().join("file"), folder.path().join("socket"));
        fs::write(&file, "").unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let user = rustix::process::geteuid().as_raw();
        assert!(is_socket_of(&socket, user));
        assert!(!is_socket_of(&socket, user + 1));
        assert!(!is_socket_of(&file, user));
        assert!(!is_socket_of(&folder.path().join("missing"), user));
    }
}
