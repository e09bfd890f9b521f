//! A file as it was read.
mod hash;
pub use hash::{BadVersion, ContentHash, VersionClaim};
