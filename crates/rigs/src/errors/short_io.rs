//! Short reads and writes: a system call may always transfer less than it was asked to.
//!
//! The program is traced, and each read, write and copy is changed to ask for a third of the bytes, so that the kernel
//! really transfers no more. A program that assumes the rest was transferred loses it.

use crate::Findings;
use crate::Scale;
use crate::testbed::Editor;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(super) fn run(_: Scale, _: Editor) -> Findings {
    let reason = "short reads and writes: implemented for Linux on x86-64 only";
    Findings { skipped: vec![reason.into()], ..Findings::default() }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(super) use traced::run;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod traced {
    use std::fs::{self, File};

    use nix::errno::Errno;
    use nix::libc;
    use nix::sys::ptrace;
    use nix::unistd::Pid;

    use super::super::what_was_reported;
    use super::{Editor, Findings, Scale};
    use crate::invariants::{self, Reported};
    use crate::operation::{LARGE, OPERATIONS, Operation};
    use crate::parallel;
    use crate::syscalls::MIN_COPY_BYTES;
    use crate::testbed::{RunOutput, Testbed};
    use crate::tracer::{self, Interference};

    /// Runs every operation with all of its reads and writes cut short.
    pub(in super::super) fn run(scale: Scale, editor: Editor) -> Findings {
        let operations: Vec<Operation> = match editor {
            Editor::Slipstitch => OPERATIONS.iter().copied().chain([LARGE]).collect(),
            Editor::WritesInPlace | Editor::IgnoresShortWrites => {
                OPERATIONS.iter().copied().filter(|operation| !operation.naive.is_empty()).collect()
            }
        };
        parallel::run_each(&operations, |&operation| {
            let mut findings = Findings::default();
            if let Err(failures) = run_operation(operation, scale, editor, &mut findings) {
                findings.fail_at(&format!("{}, short reads and writes", operation.name), failures);
            }
            findings
        })
    }

    fn run_operation(
        operation: Operation,
        scale: Scale,
        editor: Editor,
        findings: &mut Findings,
    ) -> Result<(), Vec<String>> {
        let single = |failure: String| vec![failure];
        let testbed = Testbed::with_editor(operation, scale, editor).map_err(single)?;
        testbed.reset().map_err(single)?;
        let (output, counts) = run_traced(&testbed).map_err(single)?;
        findings.count("operations with short reads and writes", 1u64);
        findings.count("reads and writes cut short", counts.all);
        let copies = if operation.is_huge() { counts.copies } else { 0 };
        findings.count("blocks of a huge file cut short", copies);
        match what_was_reported(&output).map_err(single)? {
            Reported::Success if editor == Editor::Slipstitch => {
                invariants::check(&testbed, Reported::Success).map(|_| ())
            }
            Reported::Success => {
                invariants::check_before_recovery(&testbed, Reported::Success).map_err(single)
            }
            // A short transfer is not an error.
            _ => Err(vec![format!("gave up: {}", output.summarize())]),
        }
    }

    /// Cuts reads and writes short, and counts them.
    #[derive(Default)]
    struct Cuts {
        all: usize,
        copies: usize,
        /// The call that the program is in, if it was cut short.
        current: Option<Length>,
    }

    impl Interference for Cuts {
        fn enter(&mut self, process: Pid) -> Result<(), Errno> {
            self.current = shorten(process)?;
            self.all += usize::from(self.current.is_some());
            self.copies += usize::from(self.current.as_ref().is_some_and(Length::is_copy));
            Ok(())
        }

        fn exit(&mut self, process: Pid) -> Result<(), Errno> {
            self.current.take().map_or(Ok(()), |length| restore(process, length))
        }
    }

    fn run_traced(testbed: &Testbed) -> Result<(RunOutput, Cuts), String> {
        let (stdout, stderr) = (testbed.spare_path("stdout"), testbed.spare_path("stderr"));
        let create =
            |path| File::create(path).map_err(|error| format!("cannot create a file for output: {error}"));
        let mut command = testbed.operation_under(tracer::WRAPPER);
        command.stdout(create(&stdout)?).stderr(create(&stderr)?);
        let mut cuts = Cuts::default();
        let code = tracer::run(&mut command, &mut cuts)?;
        let read =
            |path| fs::read_to_string(path).map_err(|error| format!("cannot read the output: {error}"));
        Ok((RunOutput { code, stdout: read(&stdout)?, stderr: read(&stderr)? }, cuts))
    }

    /// The number of bytes that a call originally asked for, by the argument that has it.
    #[derive(Clone, Copy)]
    enum Length {
        ThirdArg(u64),
        FifthArg(u64),
    }

    impl Length {
        /// Whether a block of a file is copied.
        fn is_copy(&self) -> bool {
            match self {
                Self::ThirdArg(bytes) => *bytes >= MIN_COPY_BYTES,
                Self::FifthArg(_) => true,
            }
        }
    }

    /// Makes the call ask for a third of the bytes; `None` if it transfers nothing that could be cut short.
    fn shorten(id: Pid) -> Result<Option<Length>, Errno> {
        let mut registers = ptrace::getregs(id)?;
        let number = i64::try_from(registers.orig_rax).unwrap_or(-1);
        let length = match number {
            libc::SYS_read | libc::SYS_write | libc::SYS_pread64 | libc::SYS_pwrite64 => {
                Length::ThirdArg(registers.rdx)
            }
            libc::SYS_copy_file_range => Length::FifthArg(registers.r8),
            _ => return Ok(None),
        };
        match length {
            Length::ThirdArg(bytes) | Length::FifthArg(bytes) if bytes < 2 => return Ok(None),
            Length::ThirdArg(bytes) => registers.rdx = (bytes / 3).max(1),
            Length::FifthArg(bytes) => registers.r8 = (bytes / 3).max(1),
        }
        ptrace::setregs(id, registers)?;
        Ok(Some(length))
    }

    /// Restores the argument: system calls preserve their argument registers, and the compiler relies on that.
    fn restore(id: Pid, length: Length) -> Result<(), Errno> {
        let mut registers = ptrace::getregs(id)?;
        match length {
            Length::ThirdArg(bytes) => registers.rdx = bytes,
            Length::FifthArg(bytes) => registers.r8 = bytes,
        }
        ptrace::setregs(id, registers)
    }
}
