//! The traits through which the engine reaches the world, and implementations in memory.

pub mod approver;
pub mod journal;
pub mod memory;
pub mod workspace;

pub use approver::Approver;
pub use journal::Journal;
pub use workspace::Workspace;
