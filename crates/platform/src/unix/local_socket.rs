use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

/// A connection to a server that listens at a path.
pub type LocalStream = std::os::unix::net::UnixStream;

/// Connects without blocking: a busy server's queue of connections may be full. That is
/// [`WouldBlock`](io::ErrorKind::WouldBlock). The connection blocks as usual.
pub fn connect(path: &Path) -> io::Result<LocalStream> {
    let address = SocketAddrUnix::new(path)?;
    let socket = new_socket()?;
    match rustix::net::connect(&socket, &address) {
        Ok(()) => {}
        Err(Errno::AGAIN | Errno::INPROGRESS) => return Err(io::ErrorKind::WouldBlock.into()),
        Err(errno) => return Err(errno.into()),
    }
    let stream = LocalStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

#[cfg(not(target_os = "macos"))]
fn new_socket() -> io::Result<OwnedFd> {
    use rustix::net::SocketFlags;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?)
}

/// macOS has no flags for this; a child that is started in between inherits the socket, which it does not use.
#[cfg(target_os = "macos")]
fn new_socket() -> io::Result<OwnedFd> {
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    Ok(socket)
}
