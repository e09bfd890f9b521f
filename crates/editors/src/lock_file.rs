//! Emacs' lock files: a symlink `.#name` beside each file that has unsaved changes in a buffer.
//!
//! Its target is `USER@HOST.PID:BOOT`, the owner of the changes. It shows unsaved changes in an Emacs that has no server or does
//! not answer. On file systems without symlinks, it is a file with that text.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use slipstitch_platform::files;
use slipstitch_platform::process::{host_name, is_running_since};

/// Maximum size of a lock that is a regular file.
const MAX_LOCK_BYTES: u64 = 512;

/// Who has unsaved changes of a file, according to its lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lock {
    /// The lock file's name.
    pub(crate) name: String,
    owner: Owner,
    pub(crate) state: LockState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Owner {
    user: String,
    host: String,
    pid: i32,
}

/// Whether the owner of a lock still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LockState {
    /// It runs on this machine.
    Live,
    /// It is on another machine, or in another container, so it cannot be checked.
    Elsewhere,
    /// It no longer runs.
    Stale,
}

impl Lock {
    /// How messages name the owner.
    pub(crate) fn describe_owner(&self) -> String {
        let Owner { user, host, pid } = &self.owner;
        match self.state {
            LockState::Elsewhere => format!("Emacs on the machine `{host}` (process {pid} of {user})"),
            LockState::Live | LockState::Stale => format!("Emacs (process {pid} of {user})"),
        }
    }
}

/// The lock of a file, if there is one.
pub(crate) fn find(file: &Path) -> Option<Lock> {
    let name = format!(".#{}", file.file_name()?.to_str()?);
    let path = file.with_file_name(&name);
    let found = fs::symlink_metadata(&path).ok()?;
    let text = match found.file_type() {
        kind if kind.is_symlink() => fs::read_link(&path).ok()?.to_str()?.to_owned(),
        kind if kind.is_file() && found.len() <= MAX_LOCK_BYTES => fs::read_to_string(&path).ok()?,
        _ => return None,
    };
    let owner = parse_owner(text.trim_end())?;
    let state = judge(&owner, &host_name(), seconds(&found));
    Some(Lock { name, owner, state })
}

/// Folders with symlinks resolved, each once: the files of a change mostly share them.
#[derive(Debug, Default)]
pub(crate) struct RealFolders(HashMap<PathBuf, Option<PathBuf>>);

impl RealFolders {
    /// The file with symlinks resolved: that is where Emacs puts the lock. A file that does not exist yet is in its real
    /// folder.
    pub(crate) fn real_path(&mut self, file: &Path) -> Option<PathBuf> {
        if fs::symlink_metadata(file).is_ok_and(|found| found.is_symlink())
            && let Ok(real) = fs::canonicalize(file)
        {
            return Some(real);
        }
        let folder = file.parent()?;
        if !self.0.contains_key(folder) {
            self.0.insert(folder.to_owned(), files::real_path(folder).ok());
        }
        Some(self.0.get(folder)?.as_ref()?.join(file.file_name()?))
    }
}

/// Parses `USER@HOST.PID`, with `:BOOT` after it or not.
fn parse_owner(text: &str) -> Option<Owner> {
    let (user, rest) = text.rsplit_once('@')?;
    let (host, numbers) = rest.rsplit_once('.')?;
    // On macOS, the colon is written as a private character, because file names cannot contain it.
    let (pid, boot) = numbers.split_once([':', '\u{f022}']).unwrap_or((numbers, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let pid = pid.parse().ok().filter(|pid| *pid > 0)?;
    (!host.is_empty() && is_number(boot)).then(|| Owner { user: user.into(), host: host.into(), pid })
}

fn judge(owner: &Owner, host: &str, locked_at: i64) -> LockState {
    // Emacs may use the name with or without its domain.
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    if owner.host != host && short(&owner.host) != short(host) {
        return LockState::Elsewhere;
    }
    match is_running_since(owner.pid, locked_at) {
        true => LockState::Live,
        false => LockState::Stale,
    }
}

/// When a file was last written, in seconds since 1970.
fn seconds(found: &fs::Metadata) -> i64 {
    let since = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    fn lock(target: &str) -> Option<Lock> {
        let folder = tempfile::tempdir().unwrap();
        symlink(target, folder.path().join(".#a.txt")).unwrap();
        find(&folder.path().join("a.txt"))
    }

    fn state(target: &str) -> Option<LockState> {
        lock(target).map(|lock| lock.state)
    }

    #[test]
    fn owners_are_parsed() {
        let owner = |user: &str, host: &str, pid| Some(Owner { user: user.into(), host: host.into(), pid });
        assert_eq!(parse_owner("ada@box.12:1700000000"), owner("ada", "box", 12));
        assert_eq!(parse_owner("a@b@box.local.12"), owner("a@b", "box.local", 12));
        assert_eq!(parse_owner("ada@box.12\u{f022}5"), owner("ada", "box", 12));
        for other in ["", "a.txt", "ada@box", "ada@box.x", "ada@box.-3", "ada@box.12:", "@.1"] {
            assert_eq!(parse_owner(other), None, "{other}");
        }
    }

    #[test]
    fn a_lock_of_a_running_process_is_live() {
        let (host, pid) = (host_name(), std::process::id());
        assert_eq!(state(&format!("ada@{host}.{pid}:1")), Some(LockState::Live));
        assert_eq!(state(&format!("ada@{host}.example.org.{pid}:1")), Some(LockState::Live));
        let found = lock(&format!("ada@{host}.{pid}:1")).unwrap();
        assert_eq!(
            (found.name.as_str(), found.describe_owner()),
            (".#a.txt", format!("Emacs (process {pid} of ada)"))
        );
    }

    #[test]
    fn a_lock_of_another_machine_cannot_be_checked() {
        let found = lock("ada@elsewhere-42.7:1").unwrap();
        assert_eq!(found.state, LockState::Elsewhere);
        assert!(found.describe_owner().contains("`elsewhere-42`"));
    }

    #[test]
    fn a_lock_of_a_process_that_ended_is_stale_also_before_it_is_reaped() {
        let mut child = Command::new("true").spawn().unwrap();
        let target = format!("ada@{}.{}:1", host_name(), child.id());
        let stat = format!("/proc/{}/stat", child.id());
        while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
            std::thread::yield_now();
        }
        assert_eq!(state(&target), Some(LockState::Stale));
        child.wait().unwrap();
        assert_eq!(state(&target), Some(LockState::Stale));
    }

    #[test]
    fn a_process_that_is_younger_than_the_lock_is_another_one() {
        let pid = i32::try_from(std::process::id()).unwrap();
        assert!(is_running_since(pid, i64::MAX / 2));
        assert!(!is_running_since(pid, 0));
    }

    #[test]
    fn other_files_with_such_names_are_no_locks() {
        assert_eq!(state("a.txt"), None);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        assert_eq!(find(&file), None);
        fs::write(folder.path().join(".#a.txt"), "old text\n").unwrap();
        assert_eq!(find(&file), None);
        fs::write(folder.path().join(".#a.txt"), format!("ada@{}.{}:1", host_name(), std::process::id()))
            .unwrap();
        assert_eq!(find(&file).map(|lock| lock.state), Some(LockState::Live));
    }
}
