//! Cancellation of a call.
//!
//! Stages and long searches check a [`CancelToken`]. The commit is the point of no return: right before the change is
//! journaled, the call and whoever cancels it race for the token, and exactly one of them wins. So a cancelled call has
//! written nothing, and a change that is being written is completed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The call may be cancelled.
const RUNNING: usize = usize::MAX;
/// The change is being written.
const WRITING: usize = usize::MAX - 1;
/// The call may be cancelled, and cancels itself before a slow step.
const BRIEF: usize = usize::MAX - 2;
/// The call was cancelled. Every number between this and [`BRIEF`] is the number of checks that are left.
const CANCELLED: usize = 0;

/// Says whether a call was cancelled. Clones are the same token.
#[derive(Debug, Clone)]
pub struct CancelToken(Arc<AtomicUsize>);

impl Default for CancelToken {
    /// A token that is not cancelled.
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(RUNNING)))
    }
}

impl CancelToken {
    /// A token that cancels itself after `checks` checks, for tests: unlike a timer, it stops a call at the same place each
    /// time.
    pub fn after_checks(checks: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(checks.min(BRIEF - 1))))
    }

    /// A token for an attempt on a thread that must not block: it cancels itself before the first step that may be slow, and
    /// the call is then executed again on another thread.
    pub fn brief() -> Self {
        Self(Arc::new(AtomicUsize::new(BRIEF)))
    }

    /// Call this before waiting for another process and before a search that may be slow. It cancels a [`brief`](Self::brief)
    /// token. Returns false if the call is cancelled.
    pub fn may_take_long(&self) -> bool {
        let end_brief = |state| (state == BRIEF).then_some(CANCELLED);
        match self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, end_brief) {
            Ok(_) => false,
            Err(_) => !self.is_cancelled(),
        }
    }

    /// Cancels the call. Returns false if that is too late: the change is being written.
    pub fn cancel(&self) -> bool {
        let cancel = |state| (state != WRITING).then_some(CANCELLED);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, cancel).is_ok()
    }

    /// Whether the call was cancelled.
    pub fn is_cancelled(&self) -> bool {
        match self.0.load(Ordering::Acquire) {
            RUNNING | WRITING | BRIEF => false,
            CANCELLED => true,
            _ => {
                let count =
                    |state| (!matches!(state, RUNNING | WRITING | BRIEF | CANCELLED)).then(|| state - 1);
                self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, count) == Ok(CANCELLED + 1)
            }
        }
    }

    /// Claims the right to write; from here on the call cannot be cancelled. Returns false if it was cancelled before.
    pub fn begin_writing(&self) -> bool {
        let begin = |state| (state != CANCELLED).then_some(WRITING);
        !self.is_cancelled() && self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, begin).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_the_cancellation_or_the_write_wins() {
        let token = CancelToken::default();
        assert!(!token.is_cancelled());
        assert!(token.clone().begin_writing());
        assert!(!token.cancel(), "too late");
        assert!(!token.is_cancelled());

        let token = CancelToken::default();
        assert!(token.cancel() && token.cancel());
        assert!(token.is_cancelled() && !token.begin_writing());
    }

    #[test]
    fn a_brief_attempt_is_cancelled_before_it_takes_long_unless_it_writes() {
        let token = CancelToken::brief();
        assert!(!token.is_cancelled());
        assert!(!token.may_take_long() && token.is_cancelled() && !token.begin_writing());
        let token = CancelToken::brief();
        assert!(token.begin_writing() && token.may_take_long() && !token.is_cancelled());
        let token = CancelToken::default();
        assert!(token.may_take_long() && !token.is_cancelled());
        assert!(token.cancel() && !token.may_take_long());
    }

    #[test]
    fn a_counting_token_is_cancelled_at_the_given_check() {
        let token = CancelToken::after_checks(2);
        assert!(!token.is_cancelled());
        assert!(token.is_cancelled() && token.is_cancelled());
        assert!(CancelToken::after_checks(0).is_cancelled());
        assert!(!CancelToken::after_checks(1).begin_writing());
        let token = CancelToken::after_checks(2);
        assert!(token.begin_writing() && !token.is_cancelled());
    }
}
