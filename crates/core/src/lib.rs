//! The pure editing pipeline.
pub mod change;
pub mod journal;
pub mod path;
pub mod plan;
pub mod snapshot;
pub mod workspace;
