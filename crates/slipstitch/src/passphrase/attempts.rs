//! Counts wrong passphrases. After a few, further attempts are refused for a while, longer each time.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use slipstitch_platform::private::owner_only;

use super::PassphraseError;
use crate::private_files;

/// The file in the state folder: the number of wrong passphrases, and the time of the last in milliseconds since 1970.
pub const FILE: &str = "review.attempts";

/// The number of wrong passphrases before attempts are refused.
pub(super) const FREE: u32 = 5;
/// How long attempts are refused at first; doubles with each further wrong one.
const FIRST_WAIT: Duration = Duration::from_secs(30);
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);

/// An attempt that counts as wrong unless it succeeds. Other processes wait for its end.
#[derive(Debug)]
pub(super) struct Attempt {
    file: File,
}

/// Begins an attempt; refused if the last wrong ones are too recent.
pub(super) fn begin(state_dir: &Path) -> Result<Attempt, PassphraseError> {
    let path = state_dir.join(FILE);
    let failed = |source| PassphraseError::Io { path: path.clone(), source };
    let mut options = OpenOptions::new();
    let options = owner_only(options.read(true).write(true).create(true).truncate(false));
    let mut file = private_files::open(&path, options).map_err(failed)?;
    file.lock().map_err(failed)?;
    let (count, last) = read(&mut file).map_err(failed)?;
    let now = milliseconds();
    // A clock that was set back must not keep anybody out for longer than the wait.
    let passed = Duration::from_millis(now.saturating_sub(last.min(now)));
    let left = wait_after(count).saturating_sub(passed);
    if !left.is_zero() {
        return Err(PassphraseError::Locked { seconds: left.as_secs() + 1 });
    }
    write(&mut file, count.saturating_add(1), now).map_err(failed)?;
    Ok(Attempt { file })
}

impl Attempt {
    /// Forgets the wrong attempts before this one.
    pub(super) fn succeed(mut self) {
        // At worst the next attempt has to wait.
        let _ = write(&mut self.file, 0, 0);
    }
}

fn wait_after(count: u32) -> Duration {
    match count.checked_sub(FREE) {
        None => Duration::ZERO,
        Some(more) => (FIRST_WAIT * 2_u32.saturating_pow(more.min(10))).min(LONGEST_WAIT),
    }
}

/// The count and the time. A file that does not say is one without attempts.
fn read(file: &mut File) -> io::Result<(u32, u64)> {
    let mut text = String::new();
    file.take(100).read_to_string(&mut text)?;
    let mut parts = text.split_whitespace();
    let count = parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
    Ok((count, parts.next().and_then(|part| part.parse().ok()).unwrap_or(0)))
}

fn write(file: &mut File, count: u32, at: u64) -> io::Result<()> {
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(format!("{count} {at}\n").as_bytes())
}

fn milliseconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// Makes the last attempt older.
#[cfg(test)]
pub(super) fn backdate(state_dir: &Path, by: u64) {
    let mut file = OpenOptions::new().read(true).write(true).open(state_dir.join(FILE)).unwrap();
    let (count, at) = read(&mut file).unwrap();
    write(&mut file, count, at - by).unwrap();
}
