//! Runs the program and does something exactly when it reaches a certain system call, however slow the machine is.

use std::collections::HashMap;

use nix::errno::Errno;
use nix::libc;
use nix::unistd::Pid;
use slipstitch_rigs::tracer::{self, Interference};

use super::fixture::Fixture;

/// The system calls at which tests step in.
pub(crate) const COPY_FILE_RANGE: i64 = libc::SYS_copy_file_range;
pub(crate) const LINKAT: i64 = libc::SYS_linkat;
pub(crate) const RENAMEAT2: i64 = libc::SYS_renameat2;

/// Whether to act before or after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Before,
    After,
}

/// Whether `renameat2` takes flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RenameFlags {
    Supported,
    /// Every call fails with EINVAL, as on old network file systems.
    Unsupported,
}

/// Something to do at the call of a kind with this number, from 1.
pub(crate) struct Step<'a> {
    pub(crate) when: When,
    pub(crate) call: i64,
    pub(crate) number: usize,
    pub(crate) act: Box<dyn FnMut() + 'a>,
}

impl<'a> Step<'a> {
    pub(crate) fn new(when: When, call: i64, number: usize, act: impl FnMut() + 'a) -> Self {
        Self { when, call, number, act: Box::new(act) }
    }
}

/// How a run ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) printed: String,
}

/// Runs the program and takes each step at its call. Fails if a call is never reached.
pub(crate) fn run(fixture: &Fixture, flags: RenameFlags, steps: Vec<Step<'_>>, args: &[&str]) -> Ended {
    let mut stepping = Stepping { flags, steps, counts: HashMap::new(), current: (-1, 0) };
    let code = tracer::run(&mut fixture.command_under(&tracer::WRAPPER, args), &mut stepping).unwrap();
    let printed = fixture.printed();
    let missed: Vec<(i64, usize)> = stepping.steps.iter().map(|step| (step.call, step.number)).collect();
    assert!(missed.is_empty(), "calls that were never made: {missed:?}; {printed}");
    Ended { code, printed }
}

struct Stepping<'a> {
    flags: RenameFlags,
    /// Those that were not taken yet.
    steps: Vec<Step<'a>>,
    counts: HashMap<i64, usize>,
    /// The call that the program is in, and its number.
    current: (i64, usize),
}

impl Stepping<'_> {
    fn take_steps(&mut self, when: When) {
        let (call, number) = self.current;
        let mut taken =
            self.steps.extract_if(.., |step| (step.when, step.call, step.number) == (when, call, number));
        taken.by_ref().for_each(|mut step| (step.act)());
    }

    fn fails(&self) -> bool {
        self.flags == RenameFlags::Unsupported && self.current.0 == RENAMEAT2
    }
}

impl Interference for Stepping<'_> {
    fn enter(&mut self, process: Pid) -> Result<(), Errno> {
        let call = tracer::system_call(process)?;
        let count = self.counts.entry(call).or_default();
        *count += 1;
        self.current = (call, *count);
        self.take_steps(When::Before);
        if self.fails() { tracer::begin_failure(process) } else { Ok(()) }
    }

    fn exit(&mut self, process: Pid) -> Result<(), Errno> {
        if self.fails() {
            tracer::finish_failure(process, Errno::EINVAL)?;
        }
        self.take_steps(When::After);
        Ok(())
    }
}
