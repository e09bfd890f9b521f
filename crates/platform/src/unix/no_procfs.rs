//! What a Unix does not tell that has no `/proc`.

pub use crate::not_linux::process::*;

/// Whether a process with this number runs. When it was started is not known.
pub fn is_running_since(pid: i32, _time: i64) -> bool {
    super::process::exists(pid)
}
