//! The requests of one client that are being processed, by id.
//!
//! An id in use cannot be used for a second request: rmcp would send one of the two answers and lose the other. That
//! includes a cancelled request until its handler has ended, because its answer would be taken for that of the second
//! one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::ErrorData;
use rmcp::model::RequestId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// How many requests of one client can be in flight. Clients send many without waiting; this bounds the memory they use.
const MAX_REQUESTS: usize = 16_384;

/// How many bytes those requests can have in total. A single request may have more.
const MAX_TOTAL_BYTES: usize = 256 << 20;

/// How many calls can run or have unread answers. An answer can be hundreds of kilobytes long.
const MAX_ANSWERS: usize = 256;

/// The requests in flight on one connection, or in one session over HTTP.
#[derive(Debug, Clone)]
pub(crate) struct InFlightRequests {
    requests: Arc<Mutex<Requests>>,
    tracker: TaskTracker,
    free_slots: Arc<Semaphore>,
}

impl Default for InFlightRequests {
    fn default() -> Self {
        let free_slots = Arc::new(Semaphore::new(MAX_ANSWERS));
        Self { requests: Arc::default(), tracker: TaskTracker::new(), free_slots }
    }
}

#[derive(Debug, Default)]
struct Requests {
    by_id: HashMap<RequestId, InFlightRequest>,
    total_bytes: usize,
}

#[derive(Debug)]
struct InFlightRequest {
    handle: RequestHandle,
    bytes: usize,
    _tracked: TaskTrackerToken,
}

/// What a request's handler needs to know about its client; travels with the request as an extension.
#[derive(Debug, Clone)]
pub(crate) struct RequestHandle {
    /// Cancelled when the client cancels the request.
    pub(crate) cancelled: CancellationToken,
    pub(crate) slot: AnswerSlot,
}

/// Room for an answer, held from the start of the call until the client has read the answer.
#[derive(Debug, Clone)]
pub(crate) struct AnswerSlot {
    free: Arc<Semaphore>,
    held: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

impl AnswerSlot {
    /// Waits until there is room. A client that sends calls without reading the answers blocks only itself.
    pub(crate) async fn acquire(&self) {
        // The semaphore is never closed.
        let slot = self.free.clone().acquire_owned().await.ok();
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = slot;
    }

    fn take(&self) -> Option<OwnedSemaphorePermit> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What to do with the answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    Send,
    /// The client has cancelled the request.
    Discard,
}

/// A request that has been answered.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) delivery: Delivery,
    /// Released when the client has read the answer.
    _slot: Option<OwnedSemaphorePermit>,
}

/// Keeps a request in flight until dropped.
#[derive(Debug)]
pub(crate) struct InFlightGuard {
    in_flight: InFlightRequests,
    id: RequestId,
}

impl InFlightRequests {
    /// Registers a request of `bytes` bytes until [`Self::finish`] is called for its id.
    pub(crate) fn register(&self, id: &RequestId, bytes: usize) -> Result<RequestHandle, ErrorData> {
        let mut requests = self.lock();
        if requests.by_id.contains_key(id) {
            let message = format!(
                "a request with the id `{id}` is still being processed, so this one was ignored. Send it again with a unique id."
            );
            return Err(ErrorData::invalid_request(message, None));
        }
        let count = requests.by_id.len();
        if count >= MAX_REQUESTS || (count > 0 && requests.total_bytes + bytes > MAX_TOTAL_BYTES) {
            let message = format!(
                "too many requests in flight ({count} with {} bytes), so this one was ignored. Send it again when others are answered.",
                requests.total_bytes
            );
            return Err(ErrorData::invalid_request(message, None));
        }
        let slot = AnswerSlot { free: self.free_slots.clone(), held: Arc::default() };
        let handle = RequestHandle { cancelled: CancellationToken::new(), slot };
        requests.total_bytes += bytes;
        let request = InFlightRequest { handle: handle.clone(), bytes, _tracked: self.tracker.token() };
        requests.by_id.insert(id.clone(), request);
        Ok(handle)
    }

    /// Registers a request until the guard is dropped.
    pub(crate) fn register_guarded(&self, id: &RequestId) -> Result<InFlightGuard, ErrorData> {
        // Over HTTP, the number of connections bounds the bytes.
        self.register(id, 0)?;
        Ok(InFlightGuard { in_flight: self.clone(), id: id.clone() })
    }

    /// Cancels a request. Its id stays in use until its handler has ended.
    pub(crate) fn cancel(&self, id: &RequestId) {
        if let Some(request) = self.lock().by_id.get(id) {
            request.handle.cancelled.cancel();
        }
    }

    /// Cancels all requests: the client is gone.
    pub(crate) fn cancel_all(&self) {
        self.lock().by_id.values().for_each(|request| request.handle.cancelled.cancel());
    }

    /// Removes a request that has been answered, and says what to do with the answer.
    pub(crate) fn finish(&self, id: &RequestId) -> Finished {
        let mut requests = self.lock();
        let Some(request) = requests.by_id.remove(id) else {
            return Finished { delivery: Delivery::Send, _slot: None };
        };
        requests.total_bytes -= request.bytes;
        let is_cancelled = request.handle.cancelled.is_cancelled();
        let delivery = if is_cancelled { Delivery::Discard } else { Delivery::Send };
        Finished { delivery, _slot: request.handle.slot.take() }
    }

    /// Waits until no request is in flight. No request may be registered afterwards.
    pub(crate) async fn wait_until_idle(&self) {
        self.tracker.close();
        self.tracker.wait().await;
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.in_flight.finish(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_in_use_until_its_request_finishes() {
        let (in_flight, id) = (InFlightRequests::default(), RequestId::Number(7));
        let guard = in_flight.register_guarded(&id).unwrap();
        let error = in_flight.register(&id, 1).unwrap_err();
        assert!(error.message.contains("`7`") && error.message.contains("unique id"), "{error}");
        assert!(in_flight.register(&RequestId::String("7".into()), 1).is_ok(), "a string is another id");
        drop(guard);
        assert!(in_flight.register(&id, 1).is_ok());
        assert_eq!(in_flight.finish(&id).delivery, Delivery::Send);
        assert!(in_flight.register(&id, 1).is_ok());
    }

    #[test]
    fn a_cancelled_request_stays_in_flight_until_it_finishes() {
        let (in_flight, id) = (InFlightRequests::default(), RequestId::Number(7));
        let handle = in_flight.register(&id, 1).unwrap();
        in_flight.cancel(&id);
        assert!(handle.cancelled.is_cancelled());
        assert!(in_flight.register(&id, 1).is_err());
        assert_eq!(in_flight.finish(&id).delivery, Delivery::Discard);
        assert!(!in_flight.register(&id, 1).unwrap().cancelled.is_cancelled());
    }

    #[test]
    fn requests_in_flight_are_bounded_by_count_and_bytes() {
        let id = |n: usize| RequestId::Number(n as i64);
        let in_flight = InFlightRequests::default();
        (0..MAX_REQUESTS).for_each(|n| assert!(in_flight.register(&id(n), 0).is_ok()));
        let error = in_flight.register(&id(MAX_REQUESTS), 0).unwrap_err();
        assert!(error.message.contains("too many requests in flight"), "{error}");
        in_flight.finish(&id(3));
        assert!(in_flight.register(&id(MAX_REQUESTS), 0).is_ok());
        let in_flight = InFlightRequests::default();
        assert!(in_flight.register(&id(0), MAX_TOTAL_BYTES + 1).is_ok(), "a single request may have more");
        assert!(in_flight.register(&id(1), 1).is_err());
        in_flight.finish(&id(0));
        assert!(
            in_flight.register(&id(1), MAX_TOTAL_BYTES).is_ok() && in_flight.register(&id(2), 1).is_err()
        );
    }
}
