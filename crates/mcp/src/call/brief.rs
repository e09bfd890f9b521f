//! Brief calls: executed on the thread that talks to the client.
//!
//! Handing a call to another thread and its answer back can take longer than a short edit. So where calls are short, the next
//! one is tried at once, with a token that gives up before anything that may take long: waiting for another process or an
//! editor, or searching for a text that is not there. Then it has written nothing, and is executed again on a thread of its
//! own, where it can be cancelled and waited for.
//!
//! Nothing is read from the client meanwhile, so an attempt must not be long by itself either: the file must be short, and the
//! session's last call must have been, which none is where a flush of the disk takes its time.

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

/// How long a file may be.
const MAX_FILE_BYTES: u64 = 2 << 20;

impl Call {
    /// Executes the call on this thread; `None` if it may take long, and then it has done nothing.
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
            // If nothing was written, the other thread finds out again.
            Err(_) if token.cancel() => None,
            Err(_) => Some(Err(internal_failure("the call panicked"))),
        }
    }
}
