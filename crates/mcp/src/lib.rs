//! Slipstitch as an MCP server, for agent hosts to connect to.
//!
//! A call passes through these files, in this order:
//!
//! | file | role |
//! | --- | --- |
//! | `stdio.rs`, `http.rs`, `http/`, `in_flight.rs` | receive messages and reject invalid ones |
//! | `server.rs`, `server_state.rs` | dispatch each method; hold what all clients share |
//! | `caller.rs`, `session.rs`, `roots.rs` | identify the client, find its session, open its workspace |
//! | `tools.rs` | the tools of the served dialects |
//! | `call_queue.rs`, `call_queue/` | run calls that touch the same file one after another |
//! | `call.rs`, `call/` | run the engine off the thread that talks to the client |
//! | `progress.rs` | report progress of calls that touch many files |
//! | `approval.rs`, `approval/`, `display_text.rs` | ask the user for approval, in either protocol era |
//! | `tool_result.rs` | convert the engine's answer to a tool result |
//! | `resources.rs`, `change_watcher.rs`, `subscriptions.rs` | expose the journal and notify subscribers |
//! | `instructions.rs`, `prompts.rs` | explain the tools to the model |
//!
//! [`serve_stdio`] and [`serve_http`] run a server until its client or its process ends. [`Server`] is the rmcp
//! handler beneath both, for programs that bring their own transport.

mod approval;
mod call;
mod call_queue;
mod call_time;
mod caller;
mod change_watcher;
mod display_text;
mod engine_thread;
mod error;
mod http;
mod in_flight;
mod instructions;
mod line_transport;
mod line_writer;
mod options;
mod progress;
mod prompts;
mod random;
mod resources;
mod roots;
mod runtime;
mod server;
mod server_state;
mod session;
mod session_table;
mod stdio;
mod subscriptions;
mod tool_result;
mod tools;

pub use error::ServeError;
pub use http::{Access, HttpOptions, Token, serve_http, serve_http_until};
pub use line_transport::{LineTransport, MAX_LINE};
pub use options::Options;
pub use roots::{PROJECT_VARIABLES, RootSource, RootsError};
pub use server::Server;
pub use stdio::serve_stdio;
pub use tokio_util::sync::CancellationToken;
pub use tools::{Catalogue, CatalogueError, tool_definition};
