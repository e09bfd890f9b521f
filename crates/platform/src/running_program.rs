use std::path::PathBuf;

/// A running program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningProgram {
    /// The number of its process.
    pub pid: i32,
    /// Its command line, the program first.
    pub arguments: Vec<String>,
    /// Its working folder, if the system tells.
    pub folder: Option<PathBuf>,
    /// The home folder in its environment, if the system shows it.
    pub home: Option<PathBuf>,
    /// The sockets with a path on which it waits for connections.
    pub sockets: Vec<PathBuf>,
    /// The TCP ports on which it listens; empty if `sockets` is not.
    pub ports: Vec<u16>,
}
