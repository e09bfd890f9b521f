//! Where a running Emacs server listens.
//!
//! The places are those where `emacsclient` looks. They are looked at here first, so that without a server nothing
//! is started at all.

use std::env;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The name of a server that was given none.
const SERVER: &str = "server";

/// What the places depend on.
struct Surroundings {
    /// `EMACS_SOCKET_NAME`.
    socket_name: Option<String>,
    /// `XDG_RUNTIME_DIR`.
    runtime: Option<PathBuf>,
    /// `TMPDIR`.
    temporary: Option<PathBuf>,
    /// Whom this process belongs to.
    user: u32,
}

/// The socket of the server called `server`, or of the one that the environment names; `None` if none is there
/// that belongs to this user.
pub(crate) fn find(server: Option<&str>) -> Option<PathBuf> {
    let folder = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let here = Surroundings {
        socket_name: env::var("EMACS_SOCKET_NAME").ok().filter(|name| !name.is_empty()),
        runtime: folder("XDG_RUNTIME_DIR"),
        temporary: folder("TMPDIR"),
        user: rustix::process::geteuid().as_raw(),
    };
    places(server, &here).into_iter().find(|path| is_socket_of(path, here.user))
}

/// Where the socket may be, likeliest first. A name with a slash is a path.
fn places(server: Option<&str>, here: &Surroundings) -> Vec<PathBuf> {
    let name = server.or(here.socket_name.as_deref()).unwrap_or(SERVER);
    if name.contains('/') {
        return vec![name.into()];
    }
    let user = here.user;
    let runtime = here.runtime.clone().unwrap_or_else(|| format!("/run/user/{user}").into());
    let temporary = here.temporary.clone().unwrap_or_else(|| "/tmp".into());
    vec![runtime.join("emacs").join(name), temporary.join(format!("emacs{user}")).join(name)]
}

/// Whether a socket is there that belongs to `user`: what others put in a shared folder is no server of ours.
fn is_socket_of(path: &Path, user: u32) -> bool {
    fs::metadata(path).is_ok_and(|found| found.file_type().is_socket() && found.uid() == user)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(socket_name: Option<&str>, runtime: Option<&str>, temporary: Option<&str>) -> Surroundings {
        Surroundings {
            socket_name: socket_name.map(str::to_owned),
            runtime: runtime.map(PathBuf::from),
            temporary: temporary.map(PathBuf::from),
            user: 7,
        }
    }

    fn listed(server: Option<&str>, here: &Surroundings) -> Vec<String> {
        places(server, here).iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn the_places_are_those_of_emacsclient() {
        assert_eq!(listed(None, &here(None, None, None)), ["/run/user/7/emacs/server", "/tmp/emacs7/server"]);
        assert_eq!(
            listed(None, &here(None, Some("/r"), Some("/t"))),
            ["/r/emacs/server", "/t/emacs7/server"]
        );
    }

    #[test]
    fn the_setting_goes_before_the_environment() {
        let named = here(Some("work"), Some("/r"), None);
        assert_eq!(listed(None, &named), ["/r/emacs/work", "/tmp/emacs7/work"]);
        assert_eq!(listed(Some("home"), &named), ["/r/emacs/home", "/tmp/emacs7/home"]);
        assert_eq!(listed(Some("/s/x"), &named), ["/s/x"]);
    }

    #[test]
    fn only_a_socket_of_this_user_counts() {
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
