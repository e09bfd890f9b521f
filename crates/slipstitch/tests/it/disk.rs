//! The disk workspace, on real files.

mod concurrency;
mod denied;
mod in_place;
mod publish;
mod read;
mod roots;
mod write;
