//! Writes messages to a client, one per line, and tracks whether the client reads them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::TxJsonRpcMessage;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// How many bytes may be unread before nothing more is read from the client.
const MAX_UNREAD_BYTES: usize = 16 << 20;

/// Writes messages, one per line. Clones share the output.
#[derive(Debug)]
pub(crate) struct LineWriter<W>(Arc<Output<W>>);

#[derive(Debug)]
struct Output<W> {
    /// `None` once it is closed.
    writer: Mutex<Option<W>>,
    /// How many bytes have been written to the client's end.
    taken: AtomicU64,
    /// Tracks the messages that are being written.
    unread: TaskTracker,
    unread_bytes: AtomicUsize,
    /// Notified when a message was written.
    written: Notify,
    /// Ends all writes.
    hang_up: CancellationToken,
}

impl<W> Clone for LineWriter<W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<W: AsyncWrite + Unpin> LineWriter<W> {
    pub(crate) fn new(writer: W) -> Self {
        Self(Arc::new(Output {
            writer: Mutex::new(Some(writer)),
            taken: AtomicU64::new(0),
            unread: TaskTracker::new(),
            unread_bytes: AtomicUsize::new(0),
            written: Notify::new(),
            hang_up: CancellationToken::new(),
        }))
    }

    /// Writes a message. It counts as unread from this call on, not only from when the result is awaited.
    pub(crate) fn write(
        &self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + use<W> {
        let (this, unread) = (self.clone(), self.0.unread.token());
        async move { this.write_tracked(message, unread).await }
    }

    async fn write_tracked(
        &self,
        message: TxJsonRpcMessage<RoleServer>,
        _unread: TaskTrackerToken,
    ) -> io::Result<()> {
        let line = to_line(message)?;
        let _unread_bytes = UnreadBytes::add(&self.0, line.len());
        tokio::select! {
            result = self.write_all(&line) => result,
            () = self.0.hang_up.cancelled() => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    async fn write_all(&self, mut rest: &[u8]) -> io::Result<()> {
        let mut writer = self.0.writer.lock().await;
        let writer = writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        while !rest.is_empty() {
            let taken = writer.write(rest).await?;
            if taken == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.0.taken.fetch_add(taken as u64, Ordering::Relaxed);
            rest = &rest[taken..];
        }
        writer.flush().await
    }

    /// Waits until every message is written. If the client reads nothing for `patience`, gives up and ends all writes.
    pub(crate) async fn finish(&self, patience: Duration) {
        self.0.unread.close();
        tokio::select! {
            () = self.0.unread.wait() => {}
            () = self.stalled(patience) => self.0.hang_up.cancel(),
        }
    }

    /// Completes once the client has read nothing for `patience` although there was something to read.
    pub(crate) async fn stalled(&self, patience: Duration) {
        let mut last = None;
        loop {
            let taken = self.0.taken.load(Ordering::Relaxed);
            let now = (!self.0.unread.is_empty()).then_some(taken);
            if now.is_some() && now == last {
                return;
            }
            last = now;
            tokio::time::sleep(patience).await;
        }
    }

    /// Waits until at most [`MAX_UNREAD_BYTES`] are unread.
    pub(crate) async fn wait_for_room(&self) {
        loop {
            let written = self.0.written.notified();
            if self.0.unread_bytes.load(Ordering::Relaxed) <= MAX_UNREAD_BYTES {
                return;
            }
            written.await;
        }
    }

    /// Closes the output, whether everything is written or not.
    pub(crate) async fn close(&self) {
        self.0.hang_up.cancel();
        self.0.writer.lock().await.take();
    }
}

fn to_line(message: TxJsonRpcMessage<RoleServer>) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    Ok(line)
}

/// Counts the bytes of a message as unread until it is dropped.
struct UnreadBytes<'a, W>(&'a Output<W>, usize);

impl<'a, W> UnreadBytes<'a, W> {
    fn add(output: &'a Output<W>, bytes: usize) -> Self {
        output.unread_bytes.fetch_add(bytes, Ordering::Relaxed);
        Self(output, bytes)
    }
}

impl<W> Drop for UnreadBytes<'_, W> {
    fn drop(&mut self) {
        self.0.unread_bytes.fetch_sub(self.1, Ordering::Relaxed);
        self.0.written.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::{ErrorData, ServerJsonRpcMessage};
    use tokio::io::AsyncReadExt;

    fn message(length: usize) -> ServerJsonRpcMessage {
        ServerJsonRpcMessage::error(ErrorData::internal_error("x".repeat(length), None), None)
    }

    #[tokio::test]
    async fn a_client_that_reads_slowly_gets_everything() {
        let (mut client, server) = tokio::io::duplex(64);
        let writer = LineWriter::new(server);
        let written = tokio::spawn(writer.write(message(1_000)));
        let read = tokio::spawn(async move {
            let (mut text, mut buffer) = (Vec::new(), [0; 40]);
            while let Ok(count @ 1..) = client.read(&mut buffer).await {
                text.extend_from_slice(&buffer[..count]);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            text
        });
        writer.finish(Duration::from_secs(10)).await;
        assert!(written.await.unwrap().is_ok());
        writer.close().await;
        assert!(read.await.unwrap().ends_with(b"}\n"));
    }

    #[tokio::test]
    async fn a_client_that_reads_nothing_is_given_up() {
        let (_client, server) = tokio::io::duplex(64);
        let writer = LineWriter::new(server);
        let written = [0, 1].map(|_| tokio::spawn(writer.write(message(1_000))));
        writer.finish(Duration::from_millis(20)).await;
        for written in written {
            assert_eq!(written.await.unwrap().unwrap_err().kind(), io::ErrorKind::NotConnected);
        }
        writer.close().await;
    }
}
