//! The duration of a session's last call.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The longest time of a short call.
const MAX_TIME: Duration = Duration::from_millis(5);

/// How long the last call of a session took.
#[derive(Debug)]
pub(crate) struct CallTime(AtomicU64);

impl Default for CallTime {
    /// No call has been made yet.
    fn default() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }
}

impl CallTime {
    pub(crate) fn note(&self, time: Duration) {
        self.0.store(u64::try_from(time.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Whether the last call was short.
    pub(crate) fn is_short(&self) -> bool {
        u128::from(self.0.load(Ordering::Relaxed)) <= MAX_TIME.as_micros()
    }
}
