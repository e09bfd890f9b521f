//! What the stateless protocol hands to the client and gets back: which question an answer belongs to.
//!
//! The client could change it, keep it, or send it twice. So it is sealed with a key that only this process has, bound
//! to the session and the call, holds the digest of what was asked about, ends after a while, and counts once.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};

/// How many questions may be open at once.
const MAX_OPEN: usize = 10_000;

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Subject {
    /// A proposal in the journal, by its number, and the digest of what it would do.
    Change { proposal: u64, digest: String },
    /// Leave to write, and what for: whoever is asked again reads the same.
    Mode { reason: String },
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    subject: Subject,
    nonce: String,
}

/// Why a state is not taken.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum SealError {
    #[error("the request state is not one that this server made for this call")]
    Forged,
    #[error("the request state was used before")]
    Used,
    /// It was right once; it tells what it was about.
    #[error("the question has expired")]
    Expired(Subject),
}

/// The seal of one server process.
pub(crate) struct Seal {
    codec: RequestStateCodec,
    /// The questions that are open, and until when.
    open: Mutex<HashMap<String, Instant>>,
    lasts: Duration,
}

impl Seal {
    pub(crate) fn new(lasts: Duration) -> io::Result<Self> {
        let key = random::<32>()?;
        let codec = RequestStateCodec::try_new(key.to_vec()).map_err(io::Error::other)?;
        Ok(Self { codec, open: Mutex::default(), lasts })
    }

    /// Seals a question; `bound` is what its answer must come with.
    pub(crate) fn close(&self, subject: Subject, bound: &[u8]) -> io::Result<String> {
        let nonce = hex(&random::<16>()?);
        let sealed = Sealed { subject, nonce: nonce.clone() };
        let options = SealOptions::new().associated_data(bound);
        let text = self.codec.seal_json_with(&sealed, &options).map_err(io::Error::other)?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= MAX_OPEN {
            // Those long expired are of no use; if all are fresh, the oldest gives way.
            let now = Instant::now();
            open.retain(|_, until| *until + self.lasts > now);
            if open.len() >= MAX_OPEN
                && let Some(oldest) =
                    open.iter().min_by_key(|(_, until)| **until).map(|(nonce, _)| nonce.clone())
            {
                open.remove(&oldest);
            }
        }
        open.insert(nonce, Instant::now() + self.lasts);
        Ok(text)
    }

    /// Opens what came back, once.
    pub(crate) fn open(&self, text: &str, bound: &[u8]) -> Result<Subject, SealError> {
        let sealed: Sealed = self.codec.open_json_with(text, bound).map_err(|_| SealError::Forged)?;
        let until = self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&sealed.nonce);
        match until {
            None => Err(SealError::Used),
            Some(until) if until < Instant::now() => Err(SealError::Expired(sealed.subject)),
            Some(_) => Ok(sealed.subject),
        }
    }
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seal").finish_non_exhaustive()
    }
}

/// Bytes that nobody can guess.
pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject() -> Subject {
        Subject::Change { proposal: 3, digest: "d".into() }
    }

    #[test]
    fn a_state_counts_once() {
        let seal = Seal::new(Duration::from_secs(60)).unwrap();
        let state = seal.close(subject(), b"call").unwrap();
        assert_eq!(seal.open(&state, b"call"), Ok(subject()));
        assert_eq!(seal.open(&state, b"call"), Err(SealError::Used));
    }

    #[test]
    fn a_state_of_another_call_or_server_or_hand_is_forged() {
        let seal = Seal::new(Duration::from_secs(60)).unwrap();
        let other = Seal::new(Duration::from_secs(60)).unwrap();
        let state = seal.close(subject(), b"call").unwrap();
        assert_eq!(seal.open(&state, b"another"), Err(SealError::Forged));
        assert_eq!(other.open(&state, b"call"), Err(SealError::Forged));
        assert_eq!(seal.open("rs1.abc.def", b"call"), Err(SealError::Forged));
        for at in [5, state.len() / 2, state.len() - 2] {
            let mut bytes = state.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(seal.open(&String::from_utf8(bytes).unwrap(), b"call"), Err(SealError::Forged));
        }
        assert_eq!(seal.open(&state, b"call"), Ok(subject()), "trying did not use it up");
    }

    #[test]
    fn a_state_expires_and_tells_what_it_was_about() {
        let seal = Seal::new(Duration::ZERO).unwrap();
        let state = seal.close(subject(), b"call").unwrap();
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(seal.open(&state, b"call"), Err(SealError::Expired(subject())));
        assert_eq!(seal.open(&state, b"call"), Err(SealError::Used));
    }

    #[test]
    fn open_questions_are_bounded() {
        let seal = Seal::new(Duration::ZERO).unwrap();
        for _ in 0..MAX_OPEN + 10 {
            seal.close(Subject::Mode { reason: String::new() }, b"").unwrap();
        }
        assert!(seal.open.lock().unwrap().len() <= MAX_OPEN);
    }
}
