//! The requests that are being answered, by their ids. An id that is in use cannot be given to another request: rmcp would
//! send one of the two answers and lose the other.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::ErrorData;
use rmcp::model::RequestId;

/// The ids in use on one connection, or in one session over HTTP.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ids(Arc<Mutex<HashSet<RequestId>>>);

/// An id in use, until this is dropped.
#[derive(Debug)]
pub(crate) struct InUse {
    ids: Ids,
    id: RequestId,
}

impl Ids {
    /// Takes an id for a request that will be answered.
    pub(crate) fn take(&self, id: &RequestId) -> Result<(), ErrorData> {
        match self.lock().insert(id.clone()) {
            true => Ok(()),
            false => {
                let message = format!(
                    "a request with the id `{id}` is still being answered; this one was not looked at. Send it with an id of its own."
                );
                Err(ErrorData::invalid_request(message, None))
            }
        }
    }

    /// The same for as long as the answer is held.
    pub(crate) fn hold(&self, id: &RequestId) -> Result<InUse, ErrorData> {
        self.take(id)?;
        Ok(InUse { ids: self.clone(), id: id.clone() })
    }

    /// The request is answered, or nobody waits for the answer any more.
    pub(crate) fn give_back(&self, id: &RequestId) {
        self.lock().remove(id);
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        let refused = ids.take(&id).unwrap_err();
        assert!(refused.message.contains("`7`") && refused.message.contains("id of its own"), "{refused}");
        assert!(ids.take(&RequestId::String("7".into())).is_ok(), "a text is another id");
        drop(held);
        assert!(ids.take(&id).is_ok());
        ids.give_back(&id);
        assert!(ids.take(&id).is_ok());
    }
}
