//! Finds the Emacs servers of this user.
//!
//! A server listens on a socket, or on a TCP port that a server file names together with the key for it. The locations are those of
//! `emacsclient`, but every server found there counts, not only the one with the default name: any of them may have the file open.
//! So does the server of a running Emacs that has none there.

use std::collections::HashSet;
use std::env;
use std::fs;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use slipstitch_platform::info::{self, FileKind};
use slipstitch_platform::process::{self, RunningProgram};

use crate::running;

/// The default name of a server.
const DEFAULT_SERVER: &str = "server";

/// Maximum number of servers that are asked.
const MAX_SERVERS: usize = 32;

/// Maximum size of a server file, which has an address, a process id and a key.
const MAX_SERVER_FILE_BYTES: u64 = 4096;

/// Where servers are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLocations {
    /// Names of servers, or paths of sockets and server files, besides those that are found in the folders.
    pub names: Vec<String>,
    /// Folders with sockets.
    pub socket_folders: Vec<PathBuf>,
    /// Folders with server files. Beside each there may be one with lists of open files.
    pub file_folders: Vec<PathBuf>,
    /// The home folder. An Emacs with another one is named only if it seems to have a file open.
    pub home: Option<PathBuf>,
    /// The user who must own sockets and server files. Anyone can create sockets in a shared folder such as `/tmp`.
    pub user: u32,
    /// Whether servers are also looked for among the running processes.
    pub processes: Processes,
}

/// Whether servers are looked for among the running processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processes {
    /// Also search the running processes (Linux only).
    Searched,
    /// Look only in the usual places.
    Ignored,
}

/// The servers that were found, and the Emacs processes that have none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) servers: Vec<Server>,
    pub(crate) without_server: Vec<RunningProgram>,
}

/// A server that may be running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    /// The name of its socket or server file.
    pub(crate) name: String,
    /// Its socket or server file.
    pub(crate) path: PathBuf,
    pub(crate) address: Address,
    /// The process, for a server that was found by it, in none of the usual places.
    pub(crate) program: Option<RunningProgram>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Socket,
    Tcp {
        address: SocketAddr,
        key: String,
    },
    /// A server file that cannot be used, and why.
    Unusable(String),
}

impl Server {
    /// How messages name it.
    pub(crate) fn describe(&self) -> String {
        let tcp = if matches!(self.address, Address::Socket) { "" } else { " over TCP" };
        format!("Emacs (server `{}`{tcp})", self.name)
    }

    /// Whether this is the server of a process that listens on a TCP port: its server file names the process.
    fn is_tcp_of(&self, program: &RunningProgram) -> bool {
        let pid = program.pid.to_string();
        let names =
            |text: String| text.lines().next().is_some_and(|line| line.split(' ').nth(1) == Some(&pid));
        self.address != Address::Socket && fs::read_to_string(&self.path).is_ok_and(names)
    }
}

impl ServerLocations {
    /// The locations that the environment of this process says.
    pub fn of_process() -> Self {
        let user = process::user();
        let value = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let folder = |name| value(name).map(PathBuf::from);
        let home = folder("HOME");
        let in_home = |name: &str| home.as_ref().map(|home| home.join(name));
        let runtime = [folder("XDG_RUNTIME_DIR"), Some(format!("/run/user/{user}").into())];
        let temporary = [folder("TMPDIR"), Some("/tmp".into())];
        let config = [folder("XDG_CONFIG_HOME"), in_home(".config")];
        let sockets = runtime.into_iter().flatten().map(|runtime| runtime.join("emacs"));
        let older = temporary.into_iter().flatten().map(|folder| folder.join(format!("emacs{user}")));
        let files = config.into_iter().flatten().map(|config| config.join("emacs/server"));
        Self {
            names: [value("EMACS_SOCKET_NAME"), value("EMACS_SERVER_FILE")].into_iter().flatten().collect(),
            socket_folders: sockets.chain(older).collect(),
            file_folders: in_home(".emacs.d/server").into_iter().chain(files).collect(),
            home: home.clone(),
            user,
            processes: Processes::Searched,
        }
    }

    /// The folders in which an Emacs lists its open files.
    pub(crate) fn auto_save_lists(&self) -> Vec<PathBuf> {
        self.file_folders.iter().filter_map(|folder| Some(folder.parent()?.join("auto-save-list"))).collect()
    }

    /// The servers, those with a given name first, and the processes without one. `also` is one more name or path.
    pub(crate) fn search(&self, also: Option<&str>) -> Found {
        let mut seen = HashSet::new();
        let mut found = Found::default();
        for path in self.candidate_paths(also) {
            self.add_server(path, None, &mut seen, &mut found.servers);
        }
        if self.processes == Processes::Ignored {
            return found;
        }
        for program in running::find(self.user) {
            let is_known = |path: &PathBuf| info::at(path).is_ok_and(|info| seen.contains(&info.id()));
            // Its other sockets, if any, are for something else.
            if program.sockets.iter().any(is_known) || found.servers.iter().any(|one| one.is_tcp_of(&program))
            {
                continue;
            }
            let known = found.servers.len();
            for path in &program.sockets {
                self.add_server(path.clone(), Some(&program), &mut seen, &mut found.servers);
            }
            if found.servers.len() == known {
                found.without_server.push(program);
            }
        }
        found
    }

    /// Adds the server at a path, if there is one and it belongs to the user.
    fn add_server(
        &self,
        path: PathBuf,
        program: Option<&RunningProgram>,
        seen: &mut HashSet<(u64, u64)>,
        servers: &mut Vec<Server>,
    ) {
        if servers.len() == MAX_SERVERS {
            return;
        }
        let Ok(found) = info::at(&path) else { return };
        if found.owner != self.user || !seen.insert(found.id()) {
            return;
        }
        let address = match found.kind {
            FileKind::Socket => Address::Socket,
            FileKind::File => read_server_file(&path),
            _ => return,
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        servers.push(Server { name, path, address, program: program.cloned() });
    }

    /// Where there may be a socket or a server file. A name with a slash is a path.
    fn candidate_paths(&self, also: Option<&str>) -> Vec<PathBuf> {
        let names: Vec<&str> =
            also.into_iter().chain(self.names.iter().map(String::as_str)).chain([DEFAULT_SERVER]).collect();
        // Most of the folders do not exist, and then nothing in them has to be looked for.
        let folders = self.socket_folders.iter().chain(&self.file_folders);
        let folders: Vec<(&PathBuf, Vec<PathBuf>)> =
            folders.filter_map(|folder| Some((folder, list_existing(folder)?))).collect();
        let mut paths = Vec::new();
        for name in names {
            match name.contains('/') {
                true => paths.push(name.into()),
                false => paths.extend(folders.iter().map(|(folder, _)| folder.join(name))),
            }
        }
        for (_, mut found) in folders {
            found.sort();
            paths.append(&mut found);
        }
        paths
    }
}

/// What is in a folder, as far as that can be read; `None` if there is no such folder.
fn list_existing(folder: &Path) -> Option<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => Some(entries.flatten().map(|entry| entry.path()).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => Some(Vec::new()),
    }
}

fn read_server_file(path: &Path) -> Address {
    let mut text = String::new();
    let read =
        fs::File::open(path).and_then(|file| file.take(MAX_SERVER_FILE_BYTES).read_to_string(&mut text));
    if let Err(error) = read {
        return Address::Unusable(format!("its server file cannot be read: {error}"));
    }
    parse_server_file(&text)
}

/// Parses `ADDRESS:PORT PID`, a newline and the key.
fn parse_server_file(text: &str) -> Address {
    let mut lines = text.lines();
    let address = lines.next().and_then(|line| line.split(' ').next()?.parse::<SocketAddr>().ok());
    let key = lines.next().filter(|key| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic()));
    match (address, key) {
        // The key and the names of files are not sent to other machines.
        (Some(address), Some(_)) if !address.ip().is_loopback() => Address::Unusable(format!(
            "it listens on {}, which is not this machine's loopback address",
            address.ip()
        )),
        (Some(address), Some(key)) => Address::Tcp { address, key: key.into() },
        _ => Address::Unusable("its server file has no address and key".into()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    fn locations(folder: &Path) -> ServerLocations {
        ServerLocations {
            names: Vec::new(),
            socket_folders: vec![folder.join("run"), folder.join("tmp")],
            file_folders: vec![folder.join("files")],
            home: None,
            user: slipstitch_platform::process::user(),
            processes: Processes::Ignored,
        }
    }

    fn names(servers: &[Server]) -> Vec<String> {
        servers.iter().map(Server::describe).collect()
    }

    #[test]
    fn finds_sockets_and_server_files_of_this_user_in_all_places() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["run", "tmp", "files"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let listen = |name: &str| UnixListener::bind(folder.path().join(name)).unwrap();
        let _listeners = [listen("run/work"), listen("run/server"), listen("tmp/old"), listen("elsewhere")];
        fs::write(folder.path().join("run/not-a-socket"), "text").unwrap();
        fs::write(folder.path().join("files/tcp"), "127.0.0.1:9 77\nkey\n").unwrap();
        let locations = locations(folder.path());
        let found = locations.search(Some("work")).servers;
        assert_eq!(
            names(&found),
            [
                "Emacs (server `work`)",
                "Emacs (server `server`)",
                "Emacs (server `not-a-socket` over TCP)",
                "Emacs (server `old`)",
                "Emacs (server `tcp` over TCP)"
            ]
        );
        assert_eq!(
            found[4].address,
            Address::Tcp { address: "127.0.0.1:9".parse().unwrap(), key: "key".into() }
        );
        let elsewhere = folder.path().join("elsewhere").display().to_string();
        assert_eq!(locations.search(Some(&elsewhere)).servers[0].path, Path::new(&elsewhere));
        let other_user = ServerLocations { user: locations.user + 1, ..locations };
        assert_eq!(other_user.search(Some(&elsewhere)), Found::default());
    }

    #[test]
    fn a_server_under_two_names_is_asked_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("run")).unwrap();
        let _listener = UnixListener::bind(folder.path().join("run/a")).unwrap();
        std::os::unix::fs::symlink("a", folder.path().join("run/b")).unwrap();
        assert_eq!(locations(folder.path()).search(None).servers.len(), 1);
    }

    #[test]
    fn server_files_are_parsed_and_other_machines_are_not_used() {
        let tcp = |address: &str| Address::Tcp { address: address.parse().unwrap(), key: "k3y".into() };
        assert_eq!(parse_server_file("127.0.0.1:1234 55\nk3y"), tcp("127.0.0.1:1234"));
        assert_eq!(parse_server_file("[::1]:1234 55\nk3y\n"), tcp("[::1]:1234"));
        for bad in ["", "127.0.0.1:1234 55\n", "x 55\nk3y", "127.0.0.1:1234 55\nk -eval", "10.0.0.1:1 5\nk3y"]
        {
            assert!(matches!(parse_server_file(bad), Address::Unusable(_)), "{bad:?}");
        }
    }
}
