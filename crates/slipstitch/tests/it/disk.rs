//! The disk workspace, on real files. Tests of symlinks, permission bits and owners run on Unix only.

mod concurrency;
#[cfg(unix)]
mod denied;
#[cfg(unix)]
mod in_place;
mod publish;
mod read;
mod roots;
mod write;
