//! Slipstitch as an MCP server: what agent hosts connect to.
//!
//! A call goes through these files, in this order:
//!
//! | file | does |
//! | --- | --- |
//! | `stdio.rs`, `http.rs`, `http/`, `ids.rs` | take messages in, and refuse what is none of ours |
//! | `server.rs` | says which method is answered where |
//! | `session.rs`, `roots.rs` | find the workspace that belongs to the caller, and open it |
//! | `tools.rs` | knows the tools of the chosen dialects |
//! | `order.rs` | lets calls about one file go one after the other |
//! | `call.rs` | has the engine answer, away from the thread that talks to the client |
//! | `progress.rs` | says how far a call about many files is |
//! | `approval.rs`, `approval/` | asks a person, in the way of either protocol era |
//! | `answer.rs` | puts the engine's answer into the protocol's words |
//! | `resources.rs`, `lookout.rs`, `watch.rs` | show the journal, and tell who listens that it grew |
//! | `instructions.rs`, `prompts.rs` | tell the model how to use the tools |
//!
//! [`serve_stdio`] and [`serve_http`] run a server until its client or its process ends. [`Server`] is the rmcp
//! handler beneath both, for programs that have a transport of their own.

mod answer;
mod approval;
mod call;
mod caller;
mod error;
mod http;
mod hub;
mod ids;
mod instructions;
mod lookout;
mod options;
mod order;
mod progress;
mod prompts;
mod resources;
mod roots;
mod runtime;
mod server;
mod session;
mod stdio;
mod tools;
mod watch;

pub use error::ServeError;
pub use http::{Access, HttpOptions, Token, serve_http, serve_http_until};
pub use options::Options;
pub use roots::{PROJECT_VARIABLES, RootSource, RootsError};
pub use server::Server;
pub use stdio::{LineTransport, MAX_LINE, serve_stdio};
pub use tokio_util::sync::CancellationToken;
pub use tools::{Catalogue, CatalogueError, listing};
