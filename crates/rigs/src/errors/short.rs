//! Reads and writes that do less than they were asked to, as a system call may at any time.
//!
//! The program is traced, and each read, write and copy is asked for a third of the bytes, so that the kernel really does
//! only that. A program that takes the rest for done loses it.

use crate::Outcome;
use crate::Scale;
use crate::bench::Editor;

/// Runs every kind with all its reads and writes cut short.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(super) fn run(_: Scale, _: Editor) -> Outcome {
    let reason = "short reads and writes: registers of a traced process are only known on Linux x86-64";
    Outcome { skipped: vec![reason.into()], ..Outcome::default() }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(super) use cut::run;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod cut {
    use std::fs::{self, File};
    use std::path::PathBuf;

    use nix::errno::Errno;
    use nix::libc;
    use nix::sys::ptrace::{self, Options};
    use nix::sys::signal::Signal;
    use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
    use nix::unistd::Pid;

    use super::super::told;
    use super::{Editor, Outcome, Scale};
    use crate::aftermath::{self, RenderInput};
    use crate::bench::{Answer, Bench};
    use crate::each;
    use crate::operation::{LARGE, OPERATIONS, Operation, naive};

    /// Waits until it is traced, then becomes the program.
    const SCRIPT: &str = "kill -STOP $$; exec \"$@\"";

    pub(in super::super) fn run(scale: Scale, editor: Editor) -> Outcome {
        let kinds: Vec<Operation> = match editor {
            Editor::Slipstitch => OPERATIONS.iter().copied().chain([LARGE]).collect(),
            Editor::Naive | Editor::Careless => {
                OPERATIONS.iter().copied().filter(|kind| !naive(kind).is_empty()).collect()
            }
        };
        each::of(&kinds, |&operation| {
            let mut outcome = Outcome::default();
            if let Err(faults) = one(operation, scale, editor, &mut outcome) {
                let told = faults.into_iter().map(|fault| format!("{}, cut short: {fault}", operation.name));
                told.for_each(|fault| outcome.fault(fault));
            }
            outcome
        })
    }

    fn one(
        operation: Operation,
        scale: Scale,
        editor: Editor,
        outcome: &mut Outcome,
    ) -> Result<(), Vec<String>> {
        let one = |fault: String| vec![fault];
        let bench = Bench::with_editor(operation, scale, editor).map_err(one)?;
        bench.reset().map_err(one)?;
        let (answer, cuts) = traced(&bench).map_err(one)?;
        outcome.count("operations with every read and write cut short", 1u64);
        outcome.count("reads and writes cut short", cuts.all);
        let copies = if operation.is_huge() { cuts.copies } else { 0 };
        outcome.count("of these the kernel's copy of a large file", copies);
        match told(&answer).map_err(one)? {
            RenderInput::Success if editor == Editor::Slipstitch => {
                aftermath::check(&bench, RenderInput::Success).map(|_| ())
            }
            RenderInput::Success => aftermath::check_files(&bench, RenderInput::Success).map_err(one),
            // A short write is no error.
            _ => Err(vec![format!("it gave up: {}", answer.brief())]),
        }
    }

    /// How many calls were cut short.
    #[derive(Default)]
    struct Cuts {
        all: usize,
        copies: usize,
    }

    fn traced(bench: &Bench) -> Result<(Answer, Cuts), String> {
        let own = ["sh", "-c", SCRIPT, "sh"].map(PathBuf::from);
        let words: Vec<PathBuf> = own.into_iter().chain(bench.call()).collect();
        let (out, err) = (bench.spare("out"), bench.spare("err"));
        let create = |path| File::create(path).map_err(|error| format!("no file for the answer: {error}"));
        let mut command = bench.command(&words);
        let child = command.stdout(create(&out)?).stderr(create(&err)?).spawn();
        let child = child.map_err(|error| format!("sh cannot be run: {error}"))?;
        let id = Pid::from_raw(i32::try_from(child.id()).map_err(|error| error.to_string())?);
        let (code, cuts) = follow(id).map_err(|errno| format!("the program cannot be traced: {errno}"))?;
        let text =
            |path| fs::read_to_string(path).map_err(|error| format!("the answer cannot be read: {error}"));
        Ok((Answer { code, out: text(&out)?, err: text(&err)? }, cuts))
    }

    /// Lets the process run, cutting short what it reads and writes. Answers with its exit code and how many calls were cut.
    fn follow(id: Pid) -> Result<(Option<i32>, Cuts), Errno> {
        waitpid(id, Some(WaitPidFlag::WUNTRACED))?;
        ptrace::attach(id)?;
        waitpid(id, None)?;
        ptrace::setoptions(
            id,
            Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_EXITKILL | Options::PTRACE_O_TRACEEXEC,
        )?;
        let mut cuts = Cuts::default();
        let mut cut = None;
        let mut entering = true;
        let mut started = false;
        let mut pass = None;
        loop {
            ptrace::syscall(id, pass.take())?;
            match waitpid(id, None)? {
                WaitStatus::Exited(_, code) => return Ok((Some(code), cuts)),
                WaitStatus::Signaled(..) => return Ok((None, cuts)),
                WaitStatus::PtraceSyscall(_) if entering => {
                    entering = false;
                    started = started || has_started(id)?;
                    cut = if started { shorten(id)? } else { None };
                    cuts.all += usize::from(cut.is_some());
                    cuts.copies += usize::from(matches!(cut, Some(Asked::Fifth(_))));
                }
                WaitStatus::PtraceSyscall(_) => {
                    entering = true;
                    if let Some(asked) = cut.take() {
                        restore(id, asked)?;
                    }
                }
                // The stops that came before the tracing are over.
                WaitStatus::Stopped(_, Signal::SIGSTOP | Signal::SIGCONT) => {}
                WaitStatus::Stopped(_, signal) => pass = Some(signal),
                _ => {}
            }
        }
    }

    /// Whether the program itself is at work: the loader before it gives up at a short read. The first thing that Rust's run
    /// time does and the loader does not is to set a stack for signals.
    fn has_started(id: Pid) -> Result<bool, Errno> {
        Ok(i64::try_from(ptrace::getregs(id)?.orig_rax) == Ok(libc::SYS_sigaltstack))
    }

    /// The bytes that were asked for, and where the number is.
    #[derive(Clone, Copy)]
    enum Asked {
        Third(u64),
        Fifth(u64),
    }

    /// Asks for a third of the bytes.
    fn shorten(id: Pid) -> Result<Option<Asked>, Errno> {
        let mut registers = ptrace::getregs(id)?;
        let number = i64::try_from(registers.orig_rax).unwrap_or(-1);
        let asked = match number {
            libc::SYS_read | libc::SYS_write | libc::SYS_pread64 | libc::SYS_pwrite64 => {
                Asked::Third(registers.rdx)
            }
            libc::SYS_copy_file_range => Asked::Fifth(registers.r8),
            _ => return Ok(None),
        };
        match asked {
            Asked::Third(bytes) | Asked::Fifth(bytes) if bytes < 2 => return Ok(None),
            Asked::Third(bytes) => registers.rdx = (bytes / 3).max(1),
            Asked::Fifth(bytes) => registers.r8 = (bytes / 3).max(1),
        }
        ptrace::setregs(id, registers)?;
        Ok(Some(asked))
    }

    /// Puts the number back: a system call leaves its arguments alone, and the program counts on that.
    fn restore(id: Pid, asked: Asked) -> Result<(), Errno> {
        let mut registers = ptrace::getregs(id)?;
        match asked {
            Asked::Third(bytes) => registers.rdx = bytes,
            Asked::Fifth(bytes) => registers.r8 = bytes,
        }
        ptrace::setregs(id, registers)
    }
}
