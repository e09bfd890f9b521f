pub use crate::unix::no_procfs::*;
