//! Reading that can be cancelled between two blocks.

use std::io::{self, Read};

use slipstitch_core::cancel::CancelToken;

/// Why a cancelled read fails, for messages.
pub(super) const STOPPED: &str = "the process was asked to end; the next start goes on with it";

/// How much is read or copied between two checks, where that is not up to the reader: a few milliseconds' worth.
pub(super) const BLOCK: u64 = 1 << 20;

/// Fails if the token is cancelled.
///
/// The error is of a kind that no loop takes for the end of the content or repeats.
pub(super) fn check(cancel: Option<&CancelToken>) -> io::Result<()> {
    match cancel {
        Some(cancel) if cancel.is_cancelled() => Err(io::Error::other(STOPPED)),
        _ => Ok(()),
    }
}

/// A reader that fails once its token is cancelled.
#[derive(Debug)]
pub(super) struct Cancellable<'a, R> {
    from: R,
    cancel: Option<&'a CancelToken>,
}

impl<'a, R> Cancellable<'a, R> {
    pub(super) fn new(from: R, cancel: Option<&'a CancelToken>) -> Self {
        Self { from, cancel }
    }
}

impl<R: Read> Read for Cancellable<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        check(self.cancel)?;
        self.from.read(to)
    }
}
