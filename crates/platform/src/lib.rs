//! What differs between operating systems. No other crate of Slipstitch has code for one system only; a test checks that.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`files`] | files in a folder that is held open: opening, creating, renaming, removing, flushing |
//! | [`info`] | what a file is, and which one |
//! | [`attributes`] | owner, permission bits and extended attributes |
//! | [`private`] | files and folders for this user only |
//! | [`problem`] | what an error of the system means |
//! | [`names`] | which names and paths are the same, and which are not allowed |
//! | [`process`] | limits, processor time, other processes, the user |
//! | [`confine`] | confinement by the kernel |
//! | [`local_socket`], [`terminal`], [`desktop`], [`stop_signal`] | sockets, hidden input, notifications and editors, signals |
//!
//! Each system has a folder: `linux`, `macos`, `windows`. `unix` is what Linux and macOS have in common, `portable` what is left
//! where nothing else is known about a Unix, and `not_linux` has the answers of all systems that lack what only Linux has. With
//! the feature `portable`, Linux uses the fallback as well, so that the tests of the library can run against it. A function's
//! promise is documented where it is written for Unix or Linux; the others say where they promise less.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(any(feature = "portable", not(target_os = "linux")))]
mod not_linux;
#[cfg(all(unix, any(feature = "portable", not(any(target_os = "linux", target_os = "macos")))))]
mod portable;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

mod confinement;
mod file_info;
mod problems;
mod running_program;

/// Files in a folder that is held open. None of these functions follows a symlink at the name it is given.
pub mod files {
    pub use crate::file_info::Readers;
    #[cfg(all(target_os = "linux", not(feature = "portable")))]
    pub use crate::linux::files::*;
    #[cfg(all(target_os = "macos", not(feature = "portable")))]
    pub use crate::macos::files::*;
    #[cfg(all(unix, any(feature = "portable", not(any(target_os = "linux", target_os = "macos")))))]
    pub use crate::portable::files::*;
    #[cfg(unix)]
    pub use crate::unix::files::*;
    #[cfg(windows)]
    pub use crate::windows::files::*;
}

/// What a file is, and which one.
pub mod info {
    pub use crate::file_info::{FileInfo, FileKind};
    #[cfg(unix)]
    pub use crate::unix::info::*;
    #[cfg(windows)]
    pub use crate::windows::info::*;
}

/// Owner, permission bits and extended attributes of open files and folders.
pub mod attributes {
    #[cfg(target_os = "linux")]
    pub use crate::linux::attributes::*;
    #[cfg(target_os = "macos")]
    pub use crate::macos::attributes::*;
    #[cfg(all(unix, not(any(target_os = "linux", target_os = "macos"))))]
    pub use crate::portable::attributes::*;
    #[cfg(unix)]
    pub use crate::unix::attributes::*;
    #[cfg(windows)]
    pub use crate::windows::attributes::*;
}

/// Files and folders for this user only, and where they are.
pub mod private {
    pub use crate::file_info::Exposure;
    #[cfg(target_os = "macos")]
    pub use crate::macos::private::*;
    #[cfg(unix)]
    pub use crate::unix::private::*;
    #[cfg(windows)]
    pub use crate::windows::private::*;
}

/// What an error of the system means.
pub mod problem {
    pub use crate::problems::Problem;
    #[cfg(unix)]
    pub use crate::unix::problem::*;
    #[cfg(windows)]
    pub use crate::windows::problem::*;
}

/// Which names and paths are the same.
pub mod names {
    #[cfg(target_os = "macos")]
    pub use crate::macos::names::*;
    #[cfg(all(unix, not(target_os = "macos")))]
    pub use crate::unix::names::*;
    #[cfg(windows)]
    pub use crate::windows::names::*;
}

/// Limits, processor time, other processes, the user.
pub mod process {
    #[cfg(target_os = "linux")]
    pub use crate::linux::process::*;
    #[cfg(target_os = "linux")]
    pub use crate::linux::programs::*;
    #[cfg(target_os = "macos")]
    pub use crate::macos::process::*;
    #[cfg(all(unix, not(any(target_os = "linux", target_os = "macos"))))]
    pub use crate::portable::process::*;
    pub use crate::running_program::RunningProgram;
    #[cfg(unix)]
    pub use crate::unix::process::*;
    #[cfg(windows)]
    pub use crate::windows::process::*;
}

/// Confinement by the kernel, as a second line of defence.
pub mod confine {
    #[cfg(not(target_os = "linux"))]
    pub use crate::confinement::unsupported::*;
    pub use crate::confinement::{ConfineError, Confinement};
    #[cfg(target_os = "linux")]
    pub use crate::linux::confine::*;
}

/// Connections to servers on this machine that listen at a path.
pub mod local_socket {
    #[cfg(unix)]
    pub use crate::unix::local_socket::*;
    #[cfg(windows)]
    pub use crate::windows::local_socket::*;
}

/// The terminal of this process.
pub mod terminal {
    #[cfg(unix)]
    pub use crate::unix::terminal::*;
    #[cfg(windows)]
    pub use crate::windows::terminal::*;
}

/// Programs of the user's desktop.
pub mod desktop {
    #[cfg(target_os = "macos")]
    pub use crate::macos::desktop::*;
    #[cfg(unix)]
    pub use crate::unix::desktop::*;
    #[cfg(windows)]
    pub use crate::windows::desktop::*;
}

/// Signals that ask this process to stop.
#[cfg(feature = "signals")]
pub mod stop_signal {
    #[cfg(unix)]
    pub use crate::unix::stop_signal::*;
    #[cfg(windows)]
    pub use crate::windows::stop_signal::*;
}
