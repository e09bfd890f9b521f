//! The request state of the stateless protocol, which ties a filled form to the question that it answers.
//!
//! The server hands it to the client, which could alter it, keep it, or send it twice. So it is sealed with a key that only
//! this process has, bound to the session and the call, contains the digest of the change in question, expires, and can be
//! used once.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};

use crate::random;

/// How many questions can be open at once.
const MAX_OPEN: usize = 10_000;

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Subject {
    /// A proposal in the journal, by its number, with the digest of its effects.
    Change { proposal: u64, digest: String },
    /// Write access. The reason is included so that the form can be shown again.
    Mode { reason: String },
}

#[derive(Serialize, Deserialize)]
struct Contents {
    subject: Subject,
    nonce: String,
}

/// Why a request state is rejected.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum RequestStateError {
    #[error("the request state was not issued by this server for this call")]
    Invalid,
    #[error("the request state has already been used")]
    AlreadyUsed,
    #[error("the request state has expired")]
    Expired(Subject),
}

/// Issues and redeems the request states of one server process.
pub(crate) struct RequestStates {
    codec: RequestStateCodec,
    /// When each open question expires, by nonce.
    open: Mutex<HashMap<String, Instant>>,
    lifetime: Duration,
}

impl RequestStates {
    pub(crate) fn new(lifetime: Duration) -> io::Result<Self> {
        let key = random::bytes::<32>()?;
        let codec = RequestStateCodec::try_new(key.to_vec()).map_err(io::Error::other)?;
        Ok(Self { codec, open: Mutex::default(), lifetime })
    }

    /// A state for a question, which can only be redeemed with the same `binding`.
    pub(crate) fn issue(&self, subject: Subject, binding: &[u8]) -> io::Result<String> {
        let nonce = random::hex::<16>()?;
        let contents = Contents { subject, nonce: nonce.clone() };
        let options = SealOptions::new().associated_data(binding);
        let state = self.codec.seal_json_with(&contents, &options).map_err(io::Error::other)?;
        let mut open = self.lock();
        if open.len() >= MAX_OPEN {
            // Drop those that expired long ago; if none did, the oldest.
            let now = Instant::now();
            open.retain(|_, expiry| *expiry + self.lifetime > now);
            if open.len() >= MAX_OPEN
                && let Some(oldest) =
                    open.iter().min_by_key(|(_, expiry)| **expiry).map(|(nonce, _)| nonce.clone())
            {
                open.remove(&oldest);
            }
        }
        open.insert(nonce, Instant::now() + self.lifetime);
        Ok(state)
    }

    /// The subject of a state that was issued with the same `binding`, and how long ago that was. Each state can be
    /// redeemed once.
    pub(crate) fn redeem(
        &self,
        state: &str,
        binding: &[u8],
    ) -> Result<(Subject, Duration), RequestStateError> {
        let contents: Contents =
            self.codec.open_json_with(state, binding).map_err(|_| RequestStateError::Invalid)?;
        let expiry = self.lock().remove(&contents.nonce);
        let now = Instant::now();
        match expiry {
            None => Err(RequestStateError::AlreadyUsed),
            Some(expiry) if expiry < now => Err(RequestStateError::Expired(contents.subject)),
            Some(expiry) => Ok((contents.subject, self.lifetime.saturating_sub(expiry - now))),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for RequestStates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RequestStates").finish_non_exhaustive()
    }
}

/// Hashes a part with its length, so that the boundaries between parts count.
pub(crate) fn hash_part(hasher: &mut blake3::Hasher, part: &str) {
    hasher.update(&(part.len() as u64).to_le_bytes());
    hasher.update(part.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redeem(states: &RequestStates, state: &str, binding: &[u8]) -> Result<Subject, RequestStateError> {
        states.redeem(state, binding).map(|(subject, _)| subject)
    }

    fn subject() -> Subject {
        Subject::Change { proposal: 3, digest: "d".into() }
    }

    #[test]
    fn a_state_can_be_used_once() {
        let states = RequestStates::new(Duration::from_secs(60)).unwrap();
        let state = states.issue(subject(), b"call").unwrap();
        assert_eq!(redeem(&states, &state, b"call"), Ok(subject()));
        assert_eq!(redeem(&states, &state, b"call"), Err(RequestStateError::AlreadyUsed));
    }

    #[test]
    fn a_state_from_another_call_or_server_or_altered_is_invalid() {
        let states = RequestStates::new(Duration::from_secs(60)).unwrap();
        let other_server = RequestStates::new(Duration::from_secs(60)).unwrap();
        let invalid = Err(RequestStateError::Invalid);
        let state = states.issue(subject(), b"call").unwrap();
        assert_eq!(redeem(&states, &state, b"another"), invalid);
        assert_eq!(redeem(&other_server, &state, b"call"), invalid);
        assert_eq!(redeem(&states, "rs1.abc.def", b"call"), invalid);
        for at in [5, state.len() / 2, state.len() - 2] {
            let mut bytes = state.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(redeem(&states, &String::from_utf8(bytes).unwrap(), b"call"), invalid);
        }
        assert_eq!(redeem(&states, &state, b"call"), Ok(subject()), "failed attempts do not use it up");
    }

    #[test]
    fn an_expired_state_still_names_its_subject() {
        let states = RequestStates::new(Duration::ZERO).unwrap();
        let state = states.issue(subject(), b"call").unwrap();
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(redeem(&states, &state, b"call"), Err(RequestStateError::Expired(subject())));
        assert_eq!(redeem(&states, &state, b"call"), Err(RequestStateError::AlreadyUsed));
    }

    #[test]
    fn open_questions_are_bounded() {
        let states = RequestStates::new(Duration::ZERO).unwrap();
        for _ in 0..MAX_OPEN + 10 {
            states.issue(Subject::Mode { reason: String::new() }, b"").unwrap();
        }
        assert!(states.lock().len() <= MAX_OPEN);
    }
}
