//! A client that sends and receives raw JSON-RPC lines.

use rmcp::ServiceExt;
use serde_json::{Value, json};
use slipstitch_mcp::{Options, Server};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

use crate::harness::TIMEOUT;

/// A client that sends and receives single lines.
pub(crate) struct RawClient {
    pub(crate) reader: BufReader<ReadHalf<DuplexStream>>,
    pub(crate) writer: WriteHalf<DuplexStream>,
}

impl RawClient {
    pub(crate) fn start(options: Options) -> Self {
        let server = Server::new(options).unwrap();
        let (client_end, server_end) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(server_end);
        let transport = server.transport(reader, writer);
        tokio::spawn(async move { server.serve(transport).await.unwrap().waiting().await });
        let (reader, writer) = tokio::io::split(client_end);
        Self { reader: BufReader::new(reader), writer }
    }

    /// Sends messages in one write.
    pub(crate) async fn send(&mut self, messages: &[Value]) {
        let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
        self.writer.write_all(lines.as_bytes()).await.unwrap();
    }

    /// The next message; `None` if the server has hung up.
    pub(crate) async fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line);
        match tokio::time::timeout(TIMEOUT, read).await.expect("a line in time") {
            Ok(1..) => Some(serde_json::from_str(&line).unwrap()),
            Ok(0) | Err(_) => None,
        }
    }

    pub(crate) async fn initialize(&mut self, capabilities: Value) -> Option<Value> {
        self.send(&[initialize_request("init", capabilities)]).await;
        self.read().await
    }
}

pub(crate) fn initialize_request(id: impl Into<Value>, capabilities: Value) -> Value {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
        "clientInfo": {"name": "raw-client", "version": "1"}});
    request(id, "initialize", params)
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

pub(crate) fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({"name": tool, "arguments": arguments}))
}

pub(crate) fn response(request: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
}

/// Parameters of a stateless request without arguments.
pub(crate) fn stateless_meta(version: &str) -> Value {
    json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "raw-client", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }})
}
