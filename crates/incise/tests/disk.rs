//! The disk workspace on real files.

#[path = "disk/concurrency.rs"]
mod concurrency;
#[path = "disk/denied.rs"]
mod denied;
#[path = "disk/publish.rs"]
mod publish;
#[path = "disk/read.rs"]
mod read;
#[path = "disk/rig.rs"]
mod rig;
#[path = "disk/write.rs"]
mod write;
