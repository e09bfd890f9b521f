//! The requests that are being answered, by their ids. An id that is in use cannot be given to another request: rmcp would
//! send one of the two answers and lose the other.
//!
//! A request that the client takes back is in use too until its handler has ended: its answer could not be told from that
//! of another with the same id.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::ErrorData;
use rmcp::model::RequestId;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// How many requests of one client are in flight at once. Clients send many without waiting; none may fill the memory.
const MOST: usize = 16_384;

/// How much text they may have in all. One request alone may have more.
const MAX_TEXT: usize = 256 << 20;

/// The ids in use on one connection, or in one session over HTTP.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ids {
    requests: Arc<Mutex<Requests>>,
    tracker: TaskTracker,
}

#[derive(Debug, Default)]
struct Requests {
    asked: HashMap<RequestId, Asked>,
    /// How much text they have.
    text: usize,
}

/// A request that is being answered.
#[derive(Debug)]
struct Asked {
    cancelled: TakenBack,
    text: usize,
    _open: TaskTrackerToken,
}

/// Cancelled when the client takes a request back; it goes along with the request.
#[derive(Debug, Clone, Default)]
pub(crate) struct TakenBack(pub(crate) CancellationToken);

/// Whether someone waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awaited {
    Yes,
    No,
}

/// An id in use, until this is dropped.
#[derive(Debug)]
pub(crate) struct InUse {
    ids: Ids,
    id: RequestId,
}

impl Ids {
    /// Takes an id for a request of so many bytes that will be answered.
    pub(crate) fn take(&self, id: &RequestId, text: usize) -> Result<TakenBack, ErrorData> {
        let mut requests = self.lock();
        if requests.asked.contains_key(id) {
            let message = format!(
                "a request with the id `{id}` is still being answered; this one was not looked at. Send it with an id of its own."
            );
            return Err(ErrorData::invalid_request(message, None));
        }
        let count = requests.asked.len();
        if count >= MOST || (count > 0 && requests.text + text > MAX_TEXT) {
            let message = format!(
                "there are too many requests in flight: {count} with {} bytes; this one was not looked at. Send it again when others are answered.",
                requests.text
            );
            return Err(ErrorData::invalid_request(message, None));
        }
        let cancelled = TakenBack::default();
        requests.text += text;
        let asked = Asked { cancelled: cancelled.clone(), text, _open: self.tracker.token() };
        requests.asked.insert(id.clone(), asked);
        Ok(cancelled)
    }

    /// The same for as long as the answer is held.
    pub(crate) fn hold(&self, id: &RequestId) -> Result<InUse, ErrorData> {
        // How much there is over HTTP is bounded by the connections.
        self.take(id, 0)?;
        Ok(InUse { ids: self.clone(), id: id.clone() })
    }

    /// The client takes a request back. Its id stays in use until the answer that nobody waits for is there.
    pub(crate) fn cancel(&self, id: &RequestId) {
        if let Some(asked) = self.lock().asked.get(id) {
            asked.cancelled.0.cancel();
        }
    }

    /// Takes back whatever is still being answered: there is nobody left to send it to.
    pub(crate) fn cancel_all(&self) {
        self.lock().asked.values().for_each(|asked| asked.cancelled.0.cancel());
    }

    /// The answer to a request is there.
    pub(crate) fn give_back(&self, id: &RequestId) -> Awaited {
        let mut requests = self.lock();
        let Some(asked) = requests.asked.remove(id) else { return Awaited::Yes };
        requests.text -= asked.text;
        if asked.cancelled.0.is_cancelled() { Awaited::No } else { Awaited::Yes }
    }

    /// Waits until no request is being answered. No more may come then.
    pub(crate) async fn all_given_back(&self) {
        self.tracker.close();
        self.tracker.wait().await;
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.ids.give_back(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_in_use_until_it_is_given_back() {
        let (ids, id) = (Ids::default(), RequestId::Number(7));
        let held = ids.hold(&id).unwrap();
        let refused = ids.take(&id, 1).unwrap_err();
        assert!(refused.message.contains("`7`") && refused.message.contains("id of its own"), "{refused}");
        assert!(ids.take(&RequestId::String("7".into()), 1).is_ok(), "a text is another id");
        drop(held);
        assert!(ids.take(&id, 1).is_ok());
        assert_eq!(ids.give_back(&id), Awaited::Yes);
        assert!(ids.take(&id, 1).is_ok());
    }

    #[test]
    fn a_request_that_was_taken_back_is_in_use_until_it_has_ended() {
        let (ids, id) = (Ids::default(), RequestId::Number(7));
        let cancelled = ids.take(&id, 1).unwrap();
        ids.cancel(&id);
        assert!(cancelled.0.is_cancelled());
        assert!(ids.take(&id, 1).is_err());
        assert_eq!(ids.give_back(&id), Awaited::No);
        assert!(!ids.take(&id, 1).unwrap().0.is_cancelled());
    }

    #[test]
    fn requests_in_flight_are_bounded_in_number_and_in_text() {
        let id = |at: usize| RequestId::Number(at as i64);
        let ids = Ids::default();
        (0..MOST).for_each(|at| assert!(ids.take(&id(at), 0).is_ok()));
        let refused = ids.take(&id(MOST), 0).unwrap_err();
        assert!(refused.message.contains("too many requests in flight"), "{refused}");
        ids.give_back(&id(3));
        assert!(ids.take(&id(MOST), 0).is_ok());
        let ids = Ids::default();
        assert!(ids.take(&id(0), MAX_TEXT + 1).is_ok(), "one alone may have more");
        assert!(ids.take(&id(1), 1).is_err());
        ids.give_back(&id(0));
        assert!(ids.take(&id(1), MAX_TEXT).is_ok() && ids.take(&id(2), 1).is_err());
    }
}
