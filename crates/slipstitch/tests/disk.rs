//! The disk workspace on real files.

#[path = "disk/concurrency.rs"]
mod concurrency;
#[path = "disk/denied.rs"]
mod denied;
#[path = "disk/in_place.rs"]
mod in_place;
#[path = "disk/publish.rs"]
mod publish;
#[path = "disk/read.rs"]
mod read;
#[path = "disk/rig.rs"]
mod rig;
#[path = "disk/roots.rs"]
mod roots;
#[path = "disk/write.rs"]
mod write;
