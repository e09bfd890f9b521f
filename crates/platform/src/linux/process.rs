use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::unix::process::exists;

/// A text that is another one after each start of the system; empty if the system does not tell.
pub fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

/// Where the system says how long a thread has computed.
#[derive(Debug, Clone)]
pub struct ThreadStatistics(Arc<Path>);

thread_local! {
    static OWN: Option<ThreadStatistics> = fs::read_link("/proc/thread-self")
        .ok()
        .map(|own| ThreadStatistics(Path::new("/proc").join(own).join("schedstat").into()));
}

impl ThreadStatistics {
    /// Those of the current thread, to be read by others too; `None` if the system has none.
    pub fn of_this_thread() -> Option<Self> {
        OWN.with(Clone::clone)
    }

    /// How long the thread has computed.
    pub fn cpu_time(&self) -> Option<Duration> {
        // The first number is the time on a processor, in nanoseconds.
        let text = fs::read_to_string(&self.0).ok()?;
        text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    }
}

/// How much later than a moment a process may seem to have started. Both times are rounded to seconds.
const MAX_CLOCK_ERROR_SECONDS: i64 = 2;

/// Whether a process runs, and ran at that time (in seconds since 1970) already: ids are reused.
pub fn is_running_since(pid: i32, time: i64) -> bool {
    if !exists(pid) {
        return false;
    }
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => match (parse_stat(&stat), boot_time()) {
            (Some((b'Z' | b'X', _)), _) => false,
            (Some((_, ticks)), Some(boot)) => {
                let started = boot + ticks / clock_ticks_per_second();
                started <= time + MAX_CLOCK_ERROR_SECONDS
            }
            _ => true,
        },
        // It cannot be looked at.
        Err(_) => true,
    }
}

/// A process's state and start time, in ticks since the boot.
fn parse_stat(stat: &str) -> Option<(u8, i64)> {
    // The second field is the program's name, which may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    Some((state, fields.nth(18)?.parse().ok()?))
}

/// When the system was started, in seconds since 1970.
fn boot_time() -> Option<i64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}

fn clock_ticks_per_second() -> i64 {
    i64::try_from(rustix::param::clock_ticks_per_second()).unwrap_or(100).max(1)
}
