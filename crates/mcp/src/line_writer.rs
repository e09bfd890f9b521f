//! Writes messages to a client, one per line, and knows whether the client reads them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::TxJsonRpcMessage;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// Writes messages, one per line. Clones share the output.
#[derive(Debug)]
pub(crate) struct LineWriter<W>(Arc<Output<W>>);

#[derive(Debug)]
struct Output<W> {
    /// `None` once it is closed.
    writer: Mutex<Option<W>>,
    /// How many bytes the client's end has taken.
    taken: AtomicU64,
    /// Tracks the messages that are being written.
    unread: TaskTracker,
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
        let mut line = serde_json::to_vec(&message)?;
        line.push(b'\n');
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

    /// Waits until every message is written. Gives up, and ends all writes, when the client has read nothing for as long as
    /// `patience`.
    pub(crate) async fn finish(&self, patience: Duration) {
        let output = &*self.0;
        output.unread.close();
        let mut taken = output.taken.load(Ordering::Relaxed);
        while tokio::time::timeout(patience, output.unread.wait()).await.is_err() {
            let now = output.taken.load(Ordering::Relaxed);
            if now == taken {
                return output.hang_up.cancel();
            }
            taken = now;
        }
    }

    /// Closes the output, whether everything is written or not.
    pub(crate) async fn close(&self) {
        self.0.hang_up.cancel();
        self.0.writer.lock().await.take();
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
