use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, RawDir};
use rustix::io::Errno;

use crate::running_program::RunningProgram;

/// The programs of a user that run now and whose name passes a test. Empty if the system does not tell.
pub fn running_programs(user: u32, is_wanted: fn(&str) -> bool) -> Vec<RunningProgram> {
    let mut programs = Vec::new();
    let Ok(processes) =
        rustix::fs::open("/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
    else {
        return programs;
    };
    let mut buffer = [const { MaybeUninit::uninit() }; LIST_BYTES];
    let mut entries = RawDir::new(&processes, &mut buffer);
    while let Some(Ok(entry)) = entries.next() {
        let Some(pid) = entry.file_name().to_str().ok().and_then(|name| name.parse().ok()) else { continue };
        // Most processes are other programs, so checking one should be cheap.
        if !may_be_wanted(&processes, pid, is_wanted) {
            continue;
        }
        let process = Path::new("/proc").join(pid.to_string());
        if fs::metadata(&process).is_ok_and(|found| found.uid() == user)
            && has_wanted_name(&processes, pid, is_wanted)
        {
            programs.extend(read_program(pid, &process));
        }
    }
    programs
}

/// The longest path that the system returns.
const MAX_PATH: usize = 4096;

/// How much of the list of processes is read at once.
const LIST_BYTES: usize = 8192;

/// Programs that run other programs, so that their own name says nothing.
const RUNNERS: &[&str] = &["ld", "qemu", "rosetta"];

/// Whether a process may have a wanted name, judging by its executable. That takes one system call; looking up its name takes three.
fn may_be_wanted(processes: &OwnedFd, pid: i32, is_wanted: fn(&str) -> bool) -> bool {
    let mut target = [const { MaybeUninit::uninit() }; MAX_PATH];
    let read = in_process(pid, "exe", |path| rustix::fs::readlinkat_raw(processes, path, &mut target));
    match read {
        Ok((target, _)) => {
            let name = target.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            let name = name.strip_suffix(b" (deleted)").unwrap_or(name);
            std::str::from_utf8(name)
                .map_or(true, |name| is_wanted(name) || RUNNERS.iter().any(|runner| name.starts_with(runner)))
        }
        // A thread of the kernel, or a process that has ended.
        Err(Errno::NOENT) => false,
        // Mostly the processes of other users.
        Err(_) => true,
    }
}

fn has_wanted_name(processes: &OwnedFd, pid: i32, is_wanted: fn(&str) -> bool) -> bool {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let Ok(file) = in_process(pid, "comm", |path| rustix::fs::openat(processes, path, flags, Mode::empty()))
    else {
        return false;
    };
    // The system keeps 15 bytes of a name.
    let mut name = [0; 32];
    let Ok(read) = rustix::io::read(&file, &mut name) else { return false };
    std::str::from_utf8(&name[..read]).is_ok_and(|name| is_wanted(name.trim_end()))
}

/// Makes a system call with the path of a process's file. Does not allocate, because there may be hundreds of processes.
fn in_process<T>(pid: i32, name: &str, call: impl FnOnce(&[u8]) -> Result<T, Errno>) -> Result<T, Errno> {
    let mut path = [0; 32];
    let mut rest = &mut path[..];
    write!(rest, "{pid}/{name}").map_err(|_| Errno::NAMETOOLONG)?;
    let unused = rest.len();
    call(&path[..path.len() - unused])
}

/// `None` for a process that has ended or is about to.
fn read_program(pid: i32, process: &Path) -> Option<RunningProgram> {
    let command = fs::read(process.join("cmdline")).ok().filter(|command| !command.is_empty())?;
    let words = command.strip_suffix(b"\0").unwrap_or(&command).split(|byte| *byte == 0);
    let open = open_sockets(process);
    let sockets = listening_sockets(process, &open);
    // The port tables have a line for every connection, so they are read only if needed.
    let ports = if sockets.is_empty() { listening_ports(process, &open) } else { Vec::new() };
    Some(RunningProgram {
        pid,
        arguments: words.map(|word| String::from_utf8_lossy(word).into_owned()).collect(),
        folder: fs::read_link(process.join("cwd")).ok(),
        home: read_home(process),
        sockets,
        ports,
    })
}

/// `HOME` in the environment with which a process was started.
fn read_home(process: &Path) -> Option<PathBuf> {
    let environment = fs::read(process.join("environ")).ok()?;
    let home = environment.split(|byte| *byte == 0).find_map(|variable| variable.strip_prefix(b"HOME="))?;
    Some(Path::new(std::ffi::OsStr::from_bytes(home)).to_owned())
}

/// Set in the flags of a socket that waits for connections.
const ACCEPTS_CONNECTIONS: u32 = 0x1_0000;

/// The inode numbers of the sockets that a process has open, as in the kernel's tables.
fn open_sockets(process: &Path) -> HashSet<String> {
    let Ok(open) = fs::read_dir(process.join("fd")) else { return HashSet::new() };
    open.flatten()
        .filter_map(|file| {
            let target = fs::read_link(file.path()).ok()?;
            Some(target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
        })
        .collect()
}

fn listening_sockets(process: &Path, open: &HashSet<String>) -> Vec<PathBuf> {
    if open.is_empty() {
        return Vec::new();
    }
    let table = fs::read(process.join("net/unix")).unwrap_or_default();
    table.split(|byte| *byte == b'\n').filter_map(|line| parse_listening(line, open)).collect()
}

fn listening_ports(process: &Path, open: &HashSet<String>) -> Vec<u16> {
    if open.is_empty() {
        return Vec::new();
    }
    let tables =
        ["net/tcp", "net/tcp6"].map(|table| fs::read_to_string(process.join(table)).unwrap_or_default());
    tables
        .iter()
        .flat_map(|table| table.lines())
        .filter_map(|line| parse_listening_port(line, open))
        .collect()
}

/// The state of a TCP socket that waits for connections.
const LISTENING: &str = "0A";

/// The port in a line of the kernel's table, if the line is for a listening socket and the socket is one of these.
fn parse_listening_port(line: &str, inodes: &HashSet<String>) -> Option<u16> {
    // Number, local address, remote address, state, five more, inode.
    let fields: Vec<&str> = line.split_whitespace().take(10).collect();
    let is_listed = *fields.get(3)? == LISTENING && inodes.contains(*fields.get(9)?);
    let (_, port) = fields[1].rsplit_once(':').filter(|_| is_listed)?;
    u16::from_str_radix(port, 16).ok()
}

/// The path of a socket in a line of the kernel's table, if it listens and is one of these.
fn parse_listening(line: &[u8], inodes: &HashSet<String>) -> Option<PathBuf> {
    // Number, references, protocol, flags, type, state, inode, path. The path may have blanks.
    let mut rest = line;
    let mut fields = Vec::new();
    while fields.len() < 7 {
        rest = rest.trim_ascii_start();
        let end = rest.iter().position(|byte| *byte == b' ')?;
        fields.push(std::str::from_utf8(&rest[..end]).ok()?);
        rest = &rest[end..];
    }
    let path = rest.strip_prefix(b" ")?;
    let flags = u32::from_str_radix(fields[3], 16).ok()?;
    let is_listed = flags & ACCEPTS_CONNECTIONS != 0 && inodes.contains(fields[6]);
    // A name that starts with `@` is not in the file system.
    (is_listed && path.starts_with(b"/")).then(|| Path::new(std::ffi::OsStr::from_bytes(path)).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn finds_this_process_and_the_sockets_on_which_it_listens() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("with a blank");
        let _listener = UnixListener::bind(&path).unwrap();
        let user = crate::unix::process::user();
        let found = running_programs(user, |_| true);
        let own = found.iter().find(|program| program.pid as u32 == std::process::id()).unwrap();
        assert!(own.sockets.contains(&path), "{own:?}");
        assert_eq!(own.folder, std::env::current_dir().ok());
        assert_eq!(own.arguments, std::env::args().collect::<Vec<_>>());
        assert_eq!(own.home, std::env::var_os("HOME").map(PathBuf::from));
        assert_eq!(running_programs(user, |_| false), []);
        assert!(running_programs(user + 1, |_| true).iter().all(|other| other.pid != own.pid));
    }

    #[test]
    fn finds_the_ports_on_which_a_process_listens() {
        let process = Path::new("/proc/self");
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = std::net::TcpListener::bind(address) else { continue };
            let bound = listener.local_addr().unwrap();
            let connection = std::net::TcpStream::connect(bound).unwrap();
            let found = listening_ports(process, &open_sockets(process));
            assert!(found.contains(&bound.port()), "{found:?}");
            assert!(!found.contains(&connection.local_addr().unwrap().port()), "not what it is connected to");
        }
        let inodes = HashSet::from(["77".to_owned()]);
        let line = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77 1 0";
        assert_eq!(parse_listening_port(line, &inodes), Some(8080));
        assert_eq!(parse_listening_port(&line.replace(" 0A ", " 01 "), &inodes), None);
        assert_eq!(parse_listening_port(&line.replace(" 77 ", " 78 "), &inodes), None);
        assert_eq!(parse_listening_port("  sl  local_address rem_address   st", &inodes), None);
    }

    #[test]
    fn only_listening_sockets_with_a_path_count() {
        let inodes = HashSet::from(["77".to_owned()]);
        let parse = |line: &str| parse_listening(line.as_bytes(), &inodes);
        let line = "ffff8800: 00000002 00000000 00010000 0001 01 77 /run/a b";
        assert_eq!(parse(line), Some("/run/a b".into()));
        assert_eq!(parse(&line.replace("00010000", "00000000")), None);
        assert_eq!(parse(&line.replace(" 77 ", " 78 ")), None);
        assert_eq!(parse(&line.replace("/run", "@run")), None);
        assert_eq!(parse("Num       RefCount Protocol Flags    Type St Inode Path"), None);
    }
}
