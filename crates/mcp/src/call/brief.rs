//! Brief calls: executed on the thread that talks to the client.
//!
//! Handing a call to another thread and its answer back can take longer than a short edit. So if the session's calls are short,
//! the next one is tried on this thread, with a token that gives up before anything slow: waiting for another process or an
//! editor, or searching for text that has no exact match. A call that gave up has written nothing, and is executed again on its
//! own thread, where it can be waited for and cancelled.
//!
//! Meanwhile, nothing is read from the client, so the attempt itself must be short: the file must be small, and the session's
//! last call must have been short, which rules out disks that are slow to flush.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use slipstitch::Workspace;
use slipstitch::core::cancel::CancelToken;
use slipstitch::core::engine::Planned;
use slipstitch::core::report::Report;

use super::{Call, Executed, execute};
use crate::approval::approver::CallApprover;
use crate::server_state::Clients;
use crate::session::internal_failure;

/// The largest file that a brief call may edit.
const MAX_FILE_BYTES: u64 = 2 << 20;

impl Call {
    /// Executes the call on this thread; `None` if it may be slow, in which case nothing was done.
    pub(super) fn try_here(
        &self,
        workspace: &Arc<Workspace>,
        planned: &Planned,
    ) -> Option<Result<Executed, Box<Report>>> {
        let is_short = || workspace.only_file_len(planned).is_some_and(|len| len <= MAX_FILE_BYTES);
        if self.server.clients != Clients::Single
            || self.server.stopping.is_cancelled()
            || !self.session.last_call_time.is_short()
            || !is_short()
        {
            return None;
        }
        let started = Instant::now();
        let token = CancelToken::brief();
        let mut approver = CallApprover::new(self.caller.cancelled.clone(), None);
        let model = self.caller.model.as_deref();
        let run = || execute(workspace, planned.clone(), &mut approver, &token, model);
        let executed = catch_unwind(AssertUnwindSafe(run));
        self.session.last_call_time.note(started.elapsed());
        match executed {
            Ok(_) if token.is_cancelled() => None,
            Ok(executed) => Some(Ok(executed)),
            // If nothing was written, the call is repeated on another thread, which reports the panic.
            Err(_) if token.cancel() => None,
            Err(_) => Some(Err(internal_failure("the call panicked"))),
        }
    }
}
