//! What only macOS has.

pub(crate) mod attributes;
pub(crate) mod desktop;
#[cfg(not(feature = "portable"))]
pub(crate) mod files;
pub(crate) mod names;
pub(crate) mod private;
pub(crate) mod process;
