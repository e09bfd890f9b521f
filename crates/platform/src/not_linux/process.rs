use std::time::Duration;

use crate::running_program::RunningProgram;

/// Empty: the system does not tell.
pub fn boot_id() -> String {
    String::new()
}

/// Empty: the system is not asked for other programs.
pub fn running_programs(_user: u32, _is_wanted: fn(&str) -> bool) -> Vec<RunningProgram> {
    Vec::new()
}

/// Where the system says how long a thread has computed: nowhere.
#[derive(Debug, Clone)]
pub struct ThreadStatistics(std::convert::Infallible);

impl ThreadStatistics {
    /// The system has none.
    pub fn of_this_thread() -> Option<Self> {
        None
    }

    /// How long the thread has computed.
    pub fn cpu_time(&self) -> Option<Duration> {
        match self.0 {}
    }
}
