use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, setrlimit, test_kill_process};
use rustix::time::{ClockId, clock_gettime};

/// Raises the limit of open files as far as the system allows.
pub fn raise_open_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// How many files may be open at once; `None` if there is no limit.
pub fn max_open_files() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// How long this process has computed.
pub fn process_cpu_time() -> Duration {
    cpu_time(ClockId::ProcessCPUTime)
}

/// How long this thread has computed.
pub fn thread_cpu_time() -> Duration {
    cpu_time(ClockId::ThreadCPUTime)
}

fn cpu_time(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// The user who may do everything.
pub const ADMINISTRATOR: u32 = 0;

/// The number of the user that this process runs as.
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The name of the user that this process runs as, whatever the environment says; `None` if the system knows none.
pub fn user_name() -> Option<String> {
    let user = user();
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    name_in(&accounts, user).or_else(|| {
        // Accounts of a directory service are not in the file.
        let asked = Command::new("/usr/bin/id").arg("-un").stderr(Stdio::null()).output().ok()?;
        let name = String::from_utf8(asked.stdout).ok()?.trim().to_owned();
        Some(name).filter(|name| asked.status.success() && !name.is_empty())
    })
}

/// The home folder of the account that this process runs as, whatever the environment says; `None` if the system knows none.
pub fn account_home() -> Option<PathBuf> {
    let user = user();
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    home_in(&accounts, user).or_else(|| {
        // Accounts of a directory service are not in the file: `getent` prints such a line on Linux, `id` on macOS.
        let number = user.to_string();
        let commands: [(&str, &[&str]); 2] =
            [("/usr/bin/getent", &["passwd", &number]), ("/usr/bin/id", &["-P"])];
        commands.into_iter().find_map(|(program, arguments)| {
            let asked = Command::new(program).args(arguments).stderr(Stdio::null()).output().ok()?;
            home_in(&String::from_utf8(asked.stdout).ok()?, user)
        })
    })
}

/// The line of a user in a list of accounts, which has a line `name:password:number:…` for each.
fn account_in(accounts: &str, user: u32) -> Option<&str> {
    let number = user.to_string();
    accounts.lines().find(|line| line.split(':').nth(2) == Some(number.as_str()))
}

fn name_in(accounts: &str, user: u32) -> Option<String> {
    account_in(accounts, user)?.split(':').next().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// The home folder is the second to last field, no matter how many come before it.
fn home_in(accounts: &str, user: u32) -> Option<PathBuf> {
    let home = account_in(accounts, user)?.rsplit(':').nth(1).filter(|home| home.starts_with('/'))?;
    Some(PathBuf::from(home))
}

/// Whether this process may do everything.
pub fn is_privileged() -> bool {
    rustix::process::geteuid().is_root()
}

/// The name of this machine.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Whether there is a process with this number.
pub(crate) fn exists(pid: i32) -> bool {
    // Without permission to send it a signal, it exists all the same.
    Pid::from_raw(pid).is_some_and(|id| matches!(test_kill_process(id), Ok(()) | Err(Errno::PERM)))
}

/// Starts a command in a new process group, so that [`end_group`] also ends its children.
pub fn own_group(command: &mut Command) {
    command.process_group(0);
}

/// Ends a child and everything in its group.
pub fn end_group(child: &mut Child) {
    if let Ok(Some(group)) = i32::try_from(child.id()).map(Pid::from_raw) {
        // It may have ended already.
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_number() {
        let accounts = "root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\nbroken\n:x:7:7\n";
        assert_eq!(name_in(accounts, 1000).as_deref(), Some("ada"));
        assert_eq!(name_in(accounts, 0).as_deref(), Some("root"));
        assert_eq!(name_in(accounts, 7), None);
        assert_eq!(name_in(accounts, 100), None);
        assert_eq!(home_in(accounts, 1000), Some("/home/ada".into()));
        assert_eq!((home_in(accounts, 7), home_in(accounts, 100)), (None, None));
        let macos = "ada:********:501:20::0:0:Ada L:/Users/ada:/bin/zsh\n";
        assert_eq!(home_in(macos, 501), Some("/Users/ada".into()));
    }
}
