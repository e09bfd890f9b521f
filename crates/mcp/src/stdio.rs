//! Messages as lines, over standard input and output.
//!
//! rmcp has such a transport too. This one answers what is not a message instead of passing over it, and does not end when a
//! client starts with one.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetExtensions, GetMeta,
    ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::error::ServeError;
use crate::hub::{Hub, Link};
use crate::ids::{Awaited, Ids};
use crate::options::Options;
use crate::runtime::{self, FINISH_WITHIN};
use crate::server::Server;

/// The longest line that is read: the most text that the engine takes in one request, escaped, and room for the rest.
pub const MAX_LINE: usize = 40 << 20;

/// How much of a line is read at once.
const BUFFER: usize = 64 << 10;

/// How many refusals wait for a client to read them. With more, nothing is read from it either.
const REFUSALS: usize = 256;

/// How long calls in flight may take to finish when the client has closed its end.
const END_WITHIN: Duration = Duration::from_secs(10 * 60);

/// Serves one client over standard input and output, until it closes them or the process is asked to stop.
pub fn serve_stdio(options: Options) -> Result<(), ServeError> {
    runtime::run(async {
        let server = Server::on(Hub::new(options, Link::Own)?).map_err(ServeError::Start)?;
        let hub = server.hub().clone();
        runtime::cancel_on_signal(&hub.stopping)?;
        let (reader, writer) = rmcp::transport::io::stdio_pipes();
        let transport = server.transport(reader, writer);
        match server.serve(transport).await {
            Ok(running) => {
                // However it ended, the calls that are still in flight are waited for below.
                let _ = running.waiting().await;
            }
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {}
            Err(error) => return Err(ServeError::Start(io::Error::other(error))),
        }
        runtime::finish(&hub).await;
        Ok(())
    })
}

/// A transport of one JSON-RPC message per line.
pub struct LineTransport<R, W> {
    reader: BufReader<R>,
    writer: Arc<Mutex<Option<W>>>,
    line: Vec<u8>,
    /// The rest of a line that is too long is passed over.
    skipping: bool,
    opened: Opened,
    /// The versions of the protocol that the server speaks.
    versions: Cow<'static, [ProtocolVersion]>,
    refusals: Arc<Semaphore>,
    ids: Ids,
    /// The answers that are being written.
    writes: TaskTracker,
    input: Input,
    closing: CancellationToken,
    stopping: CancellationToken,
}

/// Whether there is more to read.
#[derive(Debug, Clone, Copy)]
enum Input {
    Open,
    /// The client has closed its end. It gets all answers, until this moment.
    Ended(Instant),
    /// The server stops: calls in flight are finished, until this moment.
    Stopped(Instant),
}

/// Whether a request of the client has opened the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opened {
    No,
    Yes,
}

/// What is answered to what is not a message, and to which request if that shows.
type Refusal = (ErrorData, Option<RequestId>);

/// What was read.
enum Read {
    Line,
    TooLong,
    End,
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Reads from `reader` and writes to `writer` for a server that speaks `versions`; it is told when there is nothing
    /// more to read.
    pub(crate) fn new(reader: R, writer: W, versions: Cow<'static, [ProtocolVersion]>, hub: &Hub) -> Self {
        Self {
            reader: BufReader::with_capacity(BUFFER, reader),
            writer: Arc::new(Mutex::new(Some(writer))),
            line: Vec::new(),
            skipping: false,
            opened: Opened::No,
            versions,
            refusals: Arc::new(Semaphore::new(REFUSALS)),
            ids: Ids::default(),
            writes: TaskTracker::new(),
            input: Input::Open,
            closing: hub.closing.clone(),
            stopping: hub.stopping.clone(),
        }
    }

    /// Reads one line. May be dropped at any time: what was read stays in `self`.
    async fn read_line(&mut self) -> Read {
        loop {
            let available = match self.reader.fill_buf().await {
                Ok(available) if !available.is_empty() => available,
                // The last line need not have a newline.
                Ok(_) if !self.line.is_empty() => return Read::Line,
                Ok(_) | Err(_) => return Read::End,
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
                    return Read::TooLong;
                }
                (false, Some(_)) => return Read::Line,
                (false, None) => {}
            }
        }
    }

    /// Answers what is not a message, beside the reading: a client that does not listen must not hold it up.
    fn refuse(&self, (error, id): Refusal, room: Option<OwnedSemaphorePermit>) {
        let written = write(self.writer.clone(), ServerJsonRpcMessage::error(error, id));
        self.writes.spawn(async move {
            // A client that is gone needs no answer.
            let _ = written.await;
            drop(room);
        });
    }

    /// Whether rmcp takes a request for the start of a session. Until one is, it answers requests and hangs up on all
    /// else.
    fn opens(&self, request: &ClientRequest) -> bool {
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

    /// The message of a line, if it is one for the server; else what is answered, if anything.
    fn message(&mut self) -> Result<Option<ClientJsonRpcMessage>, Box<Refusal>> {
        let line = self.line.trim_ascii();
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        if line.is_empty() {
            return Ok(None);
        }
        match serde_json::from_slice::<ClientJsonRpcMessage>(line) {
            Ok(ClientJsonRpcMessage::Request(mut asked)) => {
                let taken_back =
                    self.ids.take(&asked.id, line.len()).map_err(|error| (error, Some(asked.id.clone())))?;
                asked.request.extensions_mut().insert(taken_back);
                if self.opens(&asked.request) {
                    self.opened = Opened::Yes;
                }
                Ok(Some(ClientJsonRpcMessage::Request(asked)))
            }
            // There is nothing yet that it could be about, and rmcp would hang up.
            Ok(_) if self.opened == Opened::No => Ok(None),
            Ok(message) => match cancels(&message) {
                // rmcp would forget the request, and take its answer for that of the next one with this id.
                Some(id) => {
                    self.ids.cancel(id);
                    Ok(None)
                }
                None => Ok(Some(message)),
            },
            Err(error) => not_a_message(line, &error).map_or(Ok(None), |refusal| Err(refusal.into())),
        }
    }
}

/// The request that a message takes back.
fn cancels(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ClientJsonRpcMessage::Notification(said) => match &said.notification {
            ClientNotification::CancelledNotification(cancelled) => cancelled.params.request_id.as_ref(),
            _ => None,
        },
        _ => None,
    }
}

/// The request that a message answers.
fn answers(message: &TxJsonRpcMessage<RoleServer>) -> Option<&RequestId> {
    match message {
        ServerJsonRpcMessage::Response(answer) => Some(&answer.id),
        ServerJsonRpcMessage::Error(answer) => answer.id.as_ref(),
        _ => None,
    }
}

/// What is answered to a line that is not a message; nothing if it is a notification.
fn not_a_message(line: &[u8], error: &serde_json::Error) -> Option<Refusal> {
    let value = match serde_json::from_slice::<Value>(line) {
        Ok(value) => value,
        Err(_) => {
            return Some((ErrorData::parse_error(format!("the line is not JSON: {error}"), None), None));
        }
    };
    if value.is_array() {
        let error = ErrorData::invalid_request("batches are not taken; send one message per line", None);
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
    let message = "the line is not a JSON-RPC 2.0 message: it needs `jsonrpc`, `method`, and an `id` that is a number or a text";
    Some((ErrorData::invalid_request(message, None), id))
}

async fn write<W: AsyncWrite + Unpin>(
    writer: Arc<Mutex<Option<W>>>,
    message: TxJsonRpcMessage<RoleServer>,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    let mut writer = writer.lock().await;
    let writer = writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    writer.write_all(&line).await?;
    writer.flush().await
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
        let awaited = answers(&message).map_or(Awaited::Yes, |id| self.ids.give_back(id));
        let written = write(self.writer.clone(), message);
        let writing = self.writes.token();
        async move {
            let done = match awaited {
                Awaited::Yes => written.await,
                Awaited::No => Ok(()),
            };
            drop(writing);
            done
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let stopping = self.stopping.clone();
        if let Input::Open = self.input {
            tokio::select! {
                biased;
                () = stopping.cancelled() => {}
                message = self.next() => match message {
                    Some(message) => return Some(message),
                    None => self.input = Input::Ended(Instant::now() + END_WITHIN),
                },
            }
        }
        if let Input::Ended(until) = self.input {
            self.closing.cancel();
            tokio::select! {
                () = self.all_answered() => return None,
                () = tokio::time::sleep_until(until) => return None,
                () = stopping.cancelled() => {}
            }
        }
        let until = match self.input {
            Input::Stopped(until) => until,
            Input::Open | Input::Ended(_) => Instant::now() + FINISH_WITHIN,
        };
        self.input = Input::Stopped(until);
        // What is answered then is still written, unless the client does not read.
        let _ = tokio::time::timeout_at(until, self.ids.all_given_back()).await;
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.ids.cancel_all();
        self.writer.lock().await.take();
        Ok(())
    }
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Waits until every request that was read has its answer.
    async fn all_answered(&mut self) {
        self.ids.all_given_back().await;
        self.writes.close();
        self.writes.wait().await;
    }

    /// The next message for the server; nothing at the end. May be dropped at any time.
    async fn next(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // Before the reading: what is read can be answered. The semaphore is never closed.
            let room = self.refusals.clone().acquire_owned().await.ok();
            match self.read_line().await {
                Read::Line => {
                    let message = self.message();
                    self.line.clear();
                    if self.line.capacity() > BUFFER {
                        self.line = Vec::new();
                    }
                    match message {
                        Ok(Some(message)) => return Some(message),
                        Ok(None) => {}
                        Err(refusal) => self.refuse(*refusal, room),
                    }
                }
                Read::TooLong => {
                    let message = format!("the line is longer than {MAX_LINE} bytes; it was passed over");
                    self.refuse((ErrorData::invalid_request(message, None), None), room);
                }
                Read::End => return None,
            }
        }
    }
}
