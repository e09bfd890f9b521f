//! Lists the system calls of a run with `strace`, and makes one of them fail or kills the process there.

use std::collections::HashMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use crate::testbed::{RunOutput, Testbed};

/// One system call of a run.
#[derive(Debug, Clone)]
pub(crate) struct Syscall {
    /// Name, such as `openat`.
    pub(crate) name: String,
    /// Its number among the calls of that name, from 1.
    pub(crate) ordinal: usize,
    /// The line of the trace.
    pub(crate) text: String,
}

/// Calls that can leave something on disk or keep it from getting there.
const WITH_EFFECT: &[&str] = &[
    "chmod",
    "copy_file_range",
    "fallocate",
    "fchmod",
    "fchown",
    "fdatasync",
    "flock",
    "fsetxattr",
    "fsync",
    "ftruncate",
    "ioctl",
    "link",
    "linkat",
    "mkdir",
    "mkdirat",
    "open",
    "openat",
    "openat2",
    "pwrite64",
    "rename",
    "renameat",
    "renameat2",
    "rmdir",
    "symlinkat",
    "unlink",
    "unlinkat",
    "utimensat",
    "write",
];

/// Calls about the process and its memory, not about files.
const PROCESS_INTERNAL: &[&str] = &[
    "brk",
    "mmap",
    "munmap",
    "mprotect",
    "mremap",
    "madvise",
    "getpid",
    "gettid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getrandom",
    "sigaltstack",
    "rt_sigaction",
    "rt_sigprocmask",
    "exit_group",
    "exit",
    "futex",
    "sched_yield",
    "sched_getaffinity",
    "clock_nanosleep",
    "prlimit64",
    "poll",
    "getcwd",
    "clone3",
    "rseq",
    "set_robust_list",
    "close",
];

/// Counter for injections into the copy of a huge file. Copies in other operations do not count: files that are
/// written in place are copied by the same system call for another reason.
pub(crate) const HUGE_COPIES: &str = "injected into the copy of a huge file";

/// A write of this many bytes is part of a copy.
pub(crate) const MIN_COPY_BYTES: u64 = 64 << 10;

impl Syscall {
    /// Whether it can have an effect on the disk.
    pub(crate) fn has_effect(&self) -> bool {
        WITH_EFFECT.contains(&self.name.as_str())
    }

    /// Whether it adds or removes a name.
    pub(crate) fn changes_names(&self) -> bool {
        const NAME_CALLS: &[&str] = &[
            "link",
            "linkat",
            "mkdir",
            "mkdirat",
            "rename",
            "renameat",
            "renameat2",
            "rmdir",
            "unlink",
            "unlinkat",
        ];
        NAME_CALLS.contains(&self.name.as_str())
    }

    /// Whether it copies a block of a file: by the kernel, or with a large write.
    pub(crate) fn is_copy(&self) -> bool {
        let written =
            || self.text.rsplit_once("= ").and_then(|(_, result)| result.trim().parse::<u64>().ok());
        match self.name.as_str() {
            "copy_file_range" => true,
            "write" | "pwrite64" => written().is_some_and(|bytes| bytes >= MIN_COPY_BYTES),
            _ => false,
        }
    }

    /// Whether it can fail for a reason that lies in the files.
    pub(crate) fn is_about_files(&self) -> bool {
        // Unlocking does not fail for such a reason, and every injected failure leaves a lock that costs ten seconds.
        let unlocks = self.name == "fcntl" && self.text.contains("F_UNLCK");
        !PROCESS_INTERNAL.contains(&self.name.as_str()) && !self.uses_standard_stream() && !unlocks
    }

    /// Whether its first argument is stdout or stderr.
    fn uses_standard_stream(&self) -> bool {
        let args = self.text.split_once('(').map_or("", |(_, args)| args);
        ["1<", "2<", "1,", "2,"].iter().any(|stream| args.starts_with(stream))
    }

    /// Whether it syncs a file or folder beneath `folder`.
    pub(crate) fn syncs_beneath(&self, folder: &str) -> bool {
        ["fsync", "fdatasync"].contains(&self.name.as_str()) && self.text.contains(folder)
    }

    /// Name and number, for reports.
    pub(crate) fn label(&self) -> String {
        format!("{}#{}", self.name, self.ordinal)
    }
}

/// What is done to a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Injection {
    /// The process is killed when it makes the call.
    Kill,
    /// The call fails with this error and has no effect.
    Error(&'static str),
}

/// Checks that `strace` works here.
pub(crate) fn check_strace() -> Result<(), String> {
    match Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("strace does not work here: {}", RunOutput::from(output).summarize())),
        Err(error) => Err(format!("cannot run strace (Debian package `strace`): {error}")),
    }
}

/// The system calls of the operation's main thread, from the first that touches root or state.
pub(crate) fn list(testbed: &Testbed) -> Result<Vec<Syscall>, String> {
    testbed.reset()?;
    let trace = testbed.spare_path("trace");
    let strace = ["strace", "-f", "-y", "-qq", "-s", "200"].into_iter();
    let injection = testbed.rename_flags_injection().map(|injection| ["-e", "trace=all", "-e", injection]);
    let words = strace.chain(injection.into_iter().flatten()).chain(["-o"]).map(Into::into);
    let output = testbed.operation_under(words.chain([trace.clone()])).output();
    let output = output.map_err(|error| format!("cannot run strace: {error}"))?;
    if !output.status.success() {
        return Err(format!("the traced run failed: {}", RunOutput::from(output).summarize()));
    }
    let text = fs::read(&trace).map_err(|error| format!("cannot read the trace: {error}"))?;
    let folder = testbed.root();
    let folder = folder.parent().unwrap_or(&folder).to_string_lossy().into_owned();
    let calls = parse_trace(&String::from_utf8_lossy(&text));
    // The first call is `execve`, whose arguments name both folders.
    let from = calls.iter().skip(1).position(|call| call.text.contains(&folder));
    let from = from.ok_or("the traced run touched no file")?;
    Ok(calls.into_iter().skip(from + 1).collect())
}

/// The calls of the first process or thread in a trace.
fn parse_trace(text: &str) -> Vec<Syscall> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut main = None;
    let mut calls = Vec::new();
    for line in text.lines() {
        let Some((id, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        let name = rest.split('(').next().unwrap_or("");
        let is_call = rest.contains('(') && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !is_call || *main.get_or_insert(id) != id {
            continue;
        }
        let count = counts.entry(name).or_default();
        *count += 1;
        calls.push(Syscall { name: name.into(), ordinal: *count, text: rest.into() });
    }
    calls
}

/// How a run with an injection ended.
#[derive(Debug)]
pub(crate) struct InjectedRun {
    pub(crate) output: RunOutput,
    /// Whether it was killed by `SIGKILL`.
    pub(crate) killed: bool,
}

/// Resets the testbed and runs the operation with an injection into one call.
pub(crate) fn run_with_injection(
    testbed: &Testbed,
    call: &Syscall,
    injection: Injection,
) -> Result<InjectedRun, String> {
    testbed.reset()?;
    let action = match injection {
        Injection::Kill => "signal=KILL".to_owned(),
        Injection::Error(error) => format!("error={error}"),
    };
    let trace = format!("trace={},renameat2", call.name);
    let inject = format!("inject={}:{action}:when={}", call.name, call.ordinal);
    let mut strace = vec!["strace", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
    strace.extend(testbed.rename_flags_injection().into_iter().flat_map(|injection| ["-e", injection]));
    let output = testbed.operation_under(strace).output();
    let output = output.map_err(|error| format!("cannot run strace: {error}"))?;
    let killed = output.status.signal() == Some(9);
    Ok(InjectedRun { output: output.into(), killed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_numbers_calls_by_name() {
        let text = "7 openat(3</x>, \"a\") = 4\n7  read(4</x/a>, \"b\", 9) = 1\n8 openat(5) = 6\n\
                    7 openat(3</x>, \"b\") = 5\n7 write(1<pipe:[1]>, \"z\", 1) = 1\n7 +++ exited with 0 +++\n";
        let calls = parse_trace(text);
        let labels: Vec<String> = calls.iter().map(Syscall::label).collect();
        assert_eq!(labels, ["openat#1", "read#1", "openat#2", "write#1"]);
        assert!(calls[0].is_about_files() && !calls[3].is_about_files());
    }
}
