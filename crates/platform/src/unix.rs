//! What Linux, macOS and other Unixes have in common.

pub(crate) mod attributes;
pub(crate) mod desktop;
pub(crate) mod files;
pub(crate) mod info;
pub(crate) mod local_socket;
pub(crate) mod names;
#[cfg(not(target_os = "linux"))]
pub(crate) mod no_procfs;
pub(crate) mod private;
pub(crate) mod problem;
pub(crate) mod process;
#[cfg(feature = "signals")]
pub(crate) mod stop_signal;
pub(crate) mod terminal;
