//! What only Linux has.

pub(crate) mod attributes;
pub(crate) mod confine;
#[cfg(not(feature = "portable"))]
pub(crate) mod files;
pub(crate) mod process;
pub(crate) mod programs;
