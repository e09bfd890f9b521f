//! What only Windows has.

pub(crate) mod attributes;
pub(crate) mod desktop;
pub(crate) mod files;
pub(crate) mod info;
pub(crate) mod local_socket;
pub(crate) mod names;
pub(crate) mod private;
pub(crate) mod problem;
pub(crate) mod process;
pub(crate) mod sharing;
#[cfg(feature = "signals")]
pub(crate) mod stop_signal;
pub(crate) mod terminal;
