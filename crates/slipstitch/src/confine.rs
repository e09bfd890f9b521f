//! Confines the process with Landlock, as a second line of defence.
//!
//! Edits stay beneath the roots because of how files are opened. With Landlock, the kernel also prevents a bug
//! there, or in a library, from writing outside the roots and the state folder or reading other files.

pub use slipstitch_platform::confine::{ConfineError, Confinement, confine, landlock_version};
