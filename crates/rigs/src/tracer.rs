//! Runs a program and steps in at its system calls, without any dependence on time.

use std::process::{Child, Command};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{self, Signal};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// Arguments of `sh` that make it stop until it is traced, and then become the program that follows them.
pub const WRAPPER: [&str; 4] = ["sh", "-c", "kill -STOP $$; exec \"$@\"", "sh"];

/// A program that runs this long hangs: traced edits take milliseconds, on a busy machine seconds.
const HANG: Duration = Duration::from_secs(120);

/// Steps in at the system calls of a program.
pub trait Interference {
    /// Called before each system call, which is in the registers of the process.
    fn enter(&mut self, process: Pid) -> Result<(), Errno>;
    /// Called after each system call, before the program sees its result.
    fn exit(&mut self, process: Pid) -> Result<(), Errno>;
}

/// Starts a command that begins with [`WRAPPER`] and runs it to its end. Steps in at the system calls of its first thread,
/// from the first one of the program itself: those of the dynamic loader are left alone. Returns the exit code; `None` if
/// a signal ended it.
pub fn run(command: &mut Command, interference: &mut impl Interference) -> Result<Option<i32>, String> {
    let child = command.spawn().map_err(|error| format!("cannot run sh: {error}"))?;
    let process = process_id(&child).map_err(|error| error.to_string())?;
    let (ended, has_ended) = mpsc::channel::<()>();
    // Only this thread may wait for the traced process, so another one watches the clock.
    let watch = std::thread::spawn(move || {
        let is_hung = has_ended.recv_timeout(HANG) == Err(RecvTimeoutError::Timeout);
        is_hung && signal::kill(process, Signal::SIGKILL).is_ok()
    });
    let result = trace(process, interference);
    drop(ended);
    if watch.join().unwrap_or(false) {
        return Err(format!("the program had not ended after {} s and was killed", HANG.as_secs()));
    }
    result.map_err(|errno| format!("cannot trace the program: {errno}"))
}

fn process_id(child: &Child) -> Result<Pid, std::num::TryFromIntError> {
    i32::try_from(child.id()).map(Pid::from_raw)
}

fn trace(process: Pid, interference: &mut impl Interference) -> Result<Option<i32>, Errno> {
    waitpid(process, Some(WaitPidFlag::WUNTRACED))?;
    ptrace::attach(process)?;
    waitpid(process, None)?;
    ptrace::setoptions(
        process,
        Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_EXITKILL | Options::PTRACE_O_TRACEEXEC,
    )?;
    // The stop of the wrapper is a stop of the whole process, and it outlasts the attachment: a thread that the program
    // starts later would join it and never run. Only SIGCONT ends it.
    signal::kill(process, Signal::SIGCONT)?;
    let (mut is_entering, mut has_started) = (true, false);
    let mut signal_to_deliver = None;
    loop {
        ptrace::syscall(process, signal_to_deliver.take())?;
        match waitpid(process, None)? {
            WaitStatus::Exited(_, code) => return Ok(Some(code)),
            WaitStatus::Signaled(..) => return Ok(None),
            WaitStatus::PtraceSyscall(_) => {
                has_started = has_started || is_past_loader(process)?;
                match (has_started, is_entering) {
                    (false, _) => {}
                    (true, true) => interference.enter(process)?,
                    (true, false) => interference.exit(process)?,
                }
                is_entering = !is_entering;
            }
            // Left over from before the tracing.
            WaitStatus::Stopped(_, Signal::SIGSTOP | Signal::SIGCONT) => {}
            WaitStatus::Stopped(_, signal) => signal_to_deliver = Some(signal),
            _ => {}
        }
    }
}

/// Whether the program itself runs and no longer the dynamic loader. The first thing that the Rust runtime does and the
/// loader does not is to set up a signal stack.
fn is_past_loader(process: Pid) -> Result<bool, Errno> {
    Ok(system_call(process)? == libc::SYS_sigaltstack)
}

/// The number of the system call that a process is in.
pub fn system_call(process: Pid) -> Result<i64, Errno> {
    Ok(i64::try_from(ptrace::getregs(process)?.orig_rax).unwrap_or(-1))
}

/// Makes the system call that a process enters fail. [`finish_failure`] must follow when it returns.
pub fn begin_failure(process: Pid) -> Result<(), Errno> {
    let mut registers = ptrace::getregs(process)?;
    // There is no such call.
    registers.orig_rax = u64::MAX;
    ptrace::setregs(process, registers)
}

/// Sets the error of a system call that was made to fail.
pub fn finish_failure(process: Pid, error: Errno) -> Result<(), Errno> {
    let mut registers = ptrace::getregs(process)?;
    registers.rax = (-i64::from(error as i32)) as u64;
    ptrace::setregs(process, registers)
}
