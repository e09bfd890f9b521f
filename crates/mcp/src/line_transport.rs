//! A transport of one JSON-RPC message per line, over standard input and output.
//!
//! rmcp has such a transport too. This one answers malformed messages instead of ignoring them, and a client that starts
//! with one does not end the session.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetExtensions, GetMeta,
    ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::in_flight::{Delivery, Finished, InFlightRequests};
use crate::line_writer::LineWriter;
use crate::runtime::STOP_TIMEOUT;
use crate::server_state::ServerState;

/// The longest line that is read, in bytes: the most text that the engine accepts in one request, escaped, and some more.
pub const MAX_LINE: usize = 40 << 20;

/// How much of a line is read at once.
const BUFFER_SIZE: usize = 64 << 10;

/// How many error replies can wait for a client to read them. Then nothing more is read from the client.
const MAX_PENDING_ERRORS: usize = 256;

/// How long calls in flight may take to finish when the client has closed its end.
const CLIENT_CLOSED_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// How long a client that has closed its end may go without reading before its answers are dropped.
const UNREAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Like [`UNREAD_TIMEOUT`], once the server is asked to stop.
const UNREAD_GRACE: Duration = Duration::from_millis(50);

/// A transport of one JSON-RPC message per line.
pub struct LineTransport<R, W> {
    reader: BufReader<R>,
    writer: LineWriter<W>,
    line: Vec<u8>,
    /// Whether the rest of an overlong line is being skipped.
    skipping: bool,
    /// Whether the client has sent a request that starts a session.
    session_started: bool,
    /// The protocol versions that the server supports.
    versions: Cow<'static, [ProtocolVersion]>,
    /// One permit per error reply that the client has not read.
    error_permits: Arc<Semaphore>,
    in_flight: InFlightRequests,
    input: Input,
    closing: CancellationToken,
    stopping: CancellationToken,
}

/// Whether there is more to read.
#[derive(Debug, Clone, Copy)]
enum Input {
    Open,
    /// The client has closed its end. It gets its answers until this time.
    Ended(Instant),
    /// The server is stopping. Calls in flight may finish until this time.
    Stopped(Instant),
}

/// The reply to a malformed message, with the request's id if it has one.
type ErrorReply = (ErrorData, Option<RequestId>);

/// The result of reading a line.
enum ReadLine {
    Line,
    TooLong,
    End,
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Reads from `reader` and writes to `writer`. Cancels the server's `closing` token when the input ends.
    pub(crate) fn new(
        reader: R,
        writer: W,
        versions: Cow<'static, [ProtocolVersion]>,
        server: &ServerState,
    ) -> Self {
        Self {
            reader: BufReader::with_capacity(BUFFER_SIZE, reader),
            writer: LineWriter::new(writer),
            line: Vec::new(),
            skipping: false,
            session_started: false,
            versions,
            error_permits: Arc::new(Semaphore::new(MAX_PENDING_ERRORS)),
            in_flight: InFlightRequests::default(),
            input: Input::Open,
            closing: server.closing.clone(),
            stopping: server.stopping.clone(),
        }
    }

    /// Reads one line. Cancel-safe: what was read stays in `self`.
    async fn read_line(&mut self) -> ReadLine {
        loop {
            let available = match self.reader.fill_buf().await {
                Ok(available) if !available.is_empty() => available,
                // The last line need not have a newline.
                Ok(_) if !self.line.is_empty() => return ReadLine::Line,
                Ok(_) | Err(_) => return ReadLine::End,
            };
            let newline = memchr::memchr(b'\n', available);
            let taken = newline.map_or(available.len(), |at| at + 1);
            let too_long = self.line.len() + taken > MAX_LINE;
            if !self.skipping && !too_long {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.reader.consume(taken);
            match (self.skipping, newline) {
                (true, Some(_)) => self.skipping = false,
                (true, None) => {}
                (false, end) if too_long => {
                    self.line = Vec::new();
                    self.skipping = end.is_none();
                    return ReadLine::TooLong;
                }
                (false, Some(_)) => return ReadLine::Line,
                (false, None) => {}
            }
        }
    }

    /// Sends an error reply in the background: a client that does not read must not hold up reading.
    fn reply_with_error(&self, (error, id): ErrorReply, permit: Option<OwnedSemaphorePermit>) {
        let written = self.writer.write(ServerJsonRpcMessage::error(error, id));
        tokio::spawn(async move {
            // A client that is gone needs no reply.
            let _ = written.await;
            drop(permit);
        });
    }

    /// Whether rmcp treats a request as the start of a session. Before that, it answers requests but hangs up on anything
    /// else.
    fn starts_session(&self, request: &ClientRequest) -> bool {
        match request {
            ClientRequest::InitializeRequest(_) => true,
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
            other => {
                let meta = other.get_meta();
                meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                    && meta.protocol_version().is_some_and(|version| self.versions.contains(&version))
            }
        }
    }

    /// Parses the current line. `Ok(None)` if there is nothing for rmcp to handle.
    fn parse_line(&mut self) -> Result<Option<ClientJsonRpcMessage>, Box<ErrorReply>> {
        let line = self.line.trim_ascii();
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        if line.is_empty() {
            return Ok(None);
        }
        match serde_json::from_slice::<ClientJsonRpcMessage>(line) {
            Ok(ClientJsonRpcMessage::Request(mut request)) => {
                let registered = self.in_flight.register(&request.id, line.len());
                let handle = registered.map_err(|error| (error, Some(request.id.clone())))?;
                request.request.extensions_mut().insert(handle);
                if self.starts_session(&request.request) {
                    self.session_started = true;
                }
                Ok(Some(ClientJsonRpcMessage::Request(request)))
            }
            // It cannot refer to anything yet, and rmcp would hang up.
            Ok(_) if !self.session_started => Ok(None),
            Ok(message) => match cancelled_request(&message) {
                // rmcp would forget the request, and send its answer for the next one with the same id.
                Some(id) => {
                    self.in_flight.cancel(id);
                    Ok(None)
                }
                None => Ok(Some(message)),
            },
            Err(error) => malformed_message(line, &error).map_or(Ok(None), |reply| Err(reply.into())),
        }
    }
}

/// The id of the request that a message cancels.
fn cancelled_request(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ClientJsonRpcMessage::Notification(notification) => match &notification.notification {
            ClientNotification::CancelledNotification(cancelled) => cancelled.params.request_id.as_ref(),
            _ => None,
        },
        _ => None,
    }
}

/// The id of the request that a message answers.
fn answered_request(message: &TxJsonRpcMessage<RoleServer>) -> Option<&RequestId> {
    match message {
        ServerJsonRpcMessage::Response(response) => Some(&response.id),
        ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

/// The reply to a line that is not a valid message; `None` if it is a notification, which gets no reply.
fn malformed_message(line: &[u8], error: &serde_json::Error) -> Option<ErrorReply> {
    let value = match serde_json::from_slice::<Value>(line) {
        Ok(value) => value,
        Err(_) => {
            return Some((ErrorData::parse_error(format!("the line is not JSON: {error}"), None), None));
        }
    };
    if value.is_array() {
        let error = ErrorData::invalid_request("batches are not supported; send one message per line", None);
        return Some((error, None));
    }
    let id = serde_json::from_value::<RequestId>(value["id"].clone()).ok();
    if id.is_none() && value.get("id").is_none() && value["method"].is_string() && value["jsonrpc"] == "2.0" {
        return None;
    }
    if id.is_some()
        && value["method"].is_string()
        && value.get("params").is_some_and(|params| !params.is_object())
    {
        return Some((ErrorData::invalid_params("`params` must be an object", None), id));
    }
    let message = "the line is not a JSON-RPC 2.0 message: it needs `jsonrpc`, `method`, and an `id` that is a number or a string";
    Some((ErrorData::invalid_request(message, None), id))
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let finished = answered_request(&message).map(|id| self.in_flight.finish(id));
        let written = self.writer.write(message);
        async move {
            let result = match finished {
                Some(Finished { delivery: Delivery::Discard, .. }) => Ok(()),
                _ => written.await,
            };
            // Now there is room for another answer.
            drop(finished);
            result
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let stopping = self.stopping.clone();
        if let Input::Open = self.input {
            tokio::select! {
                biased;
                () = stopping.cancelled() => {}
                message = self.next_message() => match message {
                    Some(message) => return Some(message),
                    None => self.input = Input::Ended(Instant::now() + CLIENT_CLOSED_TIMEOUT),
                },
            }
        }
        if let Input::Ended(until) = self.input {
            self.closing.cancel();
            tokio::select! {
                () = self.wait_until_answered() => return None,
                () = tokio::time::sleep_until(until) => return None,
                () = stopping.cancelled() => {}
            }
        }
        let until = match self.input {
            Input::Stopped(until) => until,
            Input::Open | Input::Ended(_) => Instant::now() + STOP_TIMEOUT,
        };
        self.input = Input::Stopped(until);
        // Answers that arrive until then are still written, unless the client does not read.
        let _ = tokio::time::timeout_at(until, self.in_flight.wait_until_idle()).await;
        self.writer.finish(UNREAD_GRACE).await;
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.in_flight.cancel_all();
        self.writer.close().await;
        Ok(())
    }
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Waits until every request that was read is answered, and the answers are written if the client reads them.
    async fn wait_until_answered(&mut self) {
        tokio::select! {
            () = self.in_flight.wait_until_idle() => self.writer.finish(UNREAD_TIMEOUT).await,
            // Calls wait until there is room for their answers.
            () = self.writer.stalled(UNREAD_TIMEOUT) => {}
        }
    }

    /// If the client has sent more, waits until it has read enough. Still notices the end of its input. Cancel-safe.
    async fn wait_for_room(&mut self) {
        let is_between_lines = self.line.is_empty() && !self.skipping;
        if is_between_lines && self.reader.fill_buf().await.is_ok_and(|available| !available.is_empty()) {
            self.writer.wait_for_room().await;
        }
    }

    /// The next message for the server; `None` at the end of the input. Cancel-safe.
    async fn next_message(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // Acquired before reading, so that whatever is read can be replied to. The semaphore is never closed.
            let permit = self.error_permits.clone().acquire_owned().await.ok();
            self.wait_for_room().await;
            match self.read_line().await {
                ReadLine::Line => {
                    let message = self.parse_line();
                    self.line.clear();
                    if self.line.capacity() > BUFFER_SIZE {
                        self.line = Vec::new();
                    }
                    match message {
                        Ok(Some(message)) => return Some(message),
                        Ok(None) => {}
                        Err(reply) => self.reply_with_error(*reply, permit),
                    }
                }
                ReadLine::TooLong => {
                    let message = format!("the line is longer than {MAX_LINE} bytes and was ignored");
                    self.reply_with_error((ErrorData::invalid_request(message, None), None), permit);
                }
                ReadLine::End => return None,
            }
        }
    }
}
