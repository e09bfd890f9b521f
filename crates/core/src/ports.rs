//! The traits through which the engine reaches the outside world, and in-memory implementations of them.

pub mod approver;
pub mod journal;
pub mod memory;
pub mod versions;
pub mod workspace;

pub use approver::Approver;
pub use journal::Journal;
pub use workspace::Workspace;
