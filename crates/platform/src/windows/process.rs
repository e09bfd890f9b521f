use std::process::{Child, Command};
use std::time::Duration;

use winsafe::{FILETIME, HPROCESS, HTHREAD};

pub use crate::not_linux::process::*;

/// Does nothing: there is no such limit.
pub fn raise_open_file_limit() {}

/// There is no such limit.
pub fn max_open_files() -> Option<u64> {
    None
}

/// How long this process has computed.
pub fn process_cpu_time() -> Duration {
    HPROCESS::GetCurrentProcess()
        .GetProcessTimes()
        .map_or(Duration::ZERO, |(_, _, kernel, user)| sum(kernel, user))
}

/// How long this thread has computed.
pub fn thread_cpu_time() -> Duration {
    HTHREAD::GetCurrentThread()
        .GetThreadTimes()
        .map_or(Duration::ZERO, |(_, _, kernel, user)| sum(kernel, user))
}

/// The times are in steps of 100 nanoseconds.
fn sum(kernel: FILETIME, user: FILETIME) -> Duration {
    Duration::from_nanos((u64::from(kernel) + u64::from(user)) * 100)
}

/// Users have no numbers here.
pub const ADMINISTRATOR: u32 = 0;

/// Users have no numbers.
pub fn user() -> u32 {
    0
}

/// The name of the user that this process runs as, as the environment says.
pub fn user_name() -> Option<String> {
    std::env::var("USERNAME").ok().filter(|name| !name.is_empty())
}

/// Never: what a process may do is found out by doing it.
pub fn is_privileged() -> bool {
    false
}

/// The name of this machine.
pub fn host_name() -> String {
    winsafe::GetComputerName().unwrap_or_default()
}

/// Whether a process with this number runs is not asked; a lock counts as held.
pub fn is_running_since(_pid: i32, _time: i64) -> bool {
    true
}

/// Does nothing: there are no groups.
pub fn own_group(_: &mut Command) {}

/// Ends a child, and not what it has started.
pub fn end_group(child: &mut Child) {
    let _ = child.kill();
}
