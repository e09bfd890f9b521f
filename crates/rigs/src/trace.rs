//! System calls of a program: which there are, and what happens if one of them fails or is the last.

use std::collections::HashMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Command;

use crate::bench::{Answer, Bench};

/// One system call of a program.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// Its name, such as `openat`.
    pub(crate) name: String,
    /// The how manieth of that name it is, from 1.
    pub(crate) ordinal: usize,
    /// As the trace shows it.
    pub(crate) text: String,
}

/// Calls that can leave something on the disk, or keep something from it.
const EFFECTS: &[&str] = &[
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

/// What disturbed copies of a large file are counted as. Files that are written in place are copied by the same call, for
/// another reason.
pub(crate) const COPIES: &str = "of these at the kernel's copy of a large file";

/// Calls about the process itself and its memory.
const INTERNAL: &[&str] = &[
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

impl Call {
    /// Whether it can have an effect on the disk.
    pub(crate) fn has_effect(&self) -> bool {
        EFFECTS.contains(&self.name.as_str())
    }

    /// Whether the kernel copies from file to file.
    pub(crate) fn is_copy(&self) -> bool {
        self.name == "copy_file_range"
    }

    /// Whether it is about files and can fail for a reason that lies with them.
    pub(crate) fn is_about_files(&self) -> bool {
        // To give a lock back fails for no such reason, and a lock that stays is waited for, ten seconds each time.
        let gives_back = self.name == "fcntl" && self.text.contains("F_UNLCK");
        !INTERNAL.contains(&self.name.as_str()) && !self.is_answer() && !gives_back
    }

    /// Whether it is part of telling the answer.
    fn is_answer(&self) -> bool {
        let first = self.text.split_once('(').map_or("", |(_, rest)| rest);
        ["1<", "2<", "1,", "2,"].iter().any(|stream| first.starts_with(stream))
    }

    /// Whether it waits for a file beneath `folder` to be on the disk.
    pub(crate) fn syncs_beneath(&self, folder: &str) -> bool {
        ["fsync", "fdatasync"].contains(&self.name.as_str()) && self.text.contains(folder)
    }

    /// Its name and number, for faults.
    pub(crate) fn label(&self) -> String {
        format!("{}#{}", self.name, self.ordinal)
    }
}

/// What is done to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Injection {
    /// The process is killed when it comes to it.
    Kill,
    /// It fails with this error and does nothing.
    Error(&'static str),
}

/// Whether calls can be traced here; if not, why.
pub(crate) fn available() -> Result<(), String> {
    let tried = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).output();
    match tried {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("strace does not work here: {}", Answer::from(output).brief())),
        Err(error) => Err(format!("strace is not installed (package `strace`): {error}")),
    }
}

/// The calls that the operation makes, from the first that touches root or state.
pub(crate) fn calls(bench: &Bench) -> Result<Vec<Call>, String> {
    bench.reset()?;
    let trace = bench.spare("trace");
    let own = ["strace", "-f", "-y", "-qq", "-s", "200", "-o"].map(PathBuf::from);
    let words: Vec<PathBuf> = own.into_iter().chain([trace.clone()]).chain(bench.call()).collect();
    let output = bench.command(&words).output().map_err(|error| format!("strace cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(format!("the traced run failed: {}", Answer::from(output).brief()));
    }
    let text = fs::read(&trace).map_err(|error| format!("the trace cannot be read: {error}"))?;
    let folder = bench.root();
    let folder = folder.parent().unwrap_or(&folder).to_string_lossy().into_owned();
    let calls = parse(&String::from_utf8_lossy(&text));
    // The first call is the start of the program, which names both as arguments.
    let from =
        calls.iter().skip(1).position(|call| call.text.contains(&folder)).ok_or("the trace shows no file")?;
    Ok(calls.into_iter().skip(from + 1).collect())
}

/// The calls of the first process or thread in a trace.
fn parse(text: &str) -> Vec<Call> {
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
        calls.push(Call { name: name.into(), ordinal: *count, text: rest.into() });
    }
    calls
}

/// How a disturbed run ended.
#[derive(Debug)]
pub(crate) struct Disturbed {
    /// What it answered until then.
    pub(crate) answer: Answer,
    /// Whether it was killed.
    pub(crate) killed: bool,
}

/// Runs the operation from its start with something done to one call.
pub(crate) fn disturb(bench: &Bench, call: &Call, injection: Injection) -> Result<Disturbed, String> {
    bench.reset()?;
    let what = match injection {
        Injection::Kill => "signal=KILL".to_owned(),
        Injection::Error(error) => format!("error={error}"),
    };
    let own = [
        "strace".to_owned(),
        "-f".into(),
        "-qq".into(),
        "-o".into(),
        "/dev/null".into(),
        "-e".into(),
        format!("trace={}", call.name),
        "-e".into(),
        format!("inject={}:{what}:when={}", call.name, call.ordinal),
    ];
    let words: Vec<PathBuf> = own.into_iter().map(PathBuf::from).chain(bench.call()).collect();
    let output = bench.command(&words).output().map_err(|error| format!("strace cannot be run: {error}"))?;
    let killed = output.status.signal() == Some(9);
    Ok(Disturbed { answer: output.into(), killed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_numbered_by_name() {
        let text = "7 openat(3</x>, \"a\") = 4\n7  read(4</x/a>, \"b\", 9) = 1\n8 openat(5) = 6\n\
                    7 openat(3</x>, \"b\") = 5\n7 write(1<pipe:[1]>, \"z\", 1) = 1\n7 +++ exited with 0 +++\n";
        let calls = parse(text);
        let labels: Vec<String> = calls.iter().map(Call::label).collect();
        assert_eq!(labels, ["openat#1", "read#1", "openat#2", "write#1"]);
        assert!(calls[0].is_about_files() && !calls[3].is_about_files());
    }
}
