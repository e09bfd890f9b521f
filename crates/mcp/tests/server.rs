//! The server and an rmcp client in one process, in both protocol eras.

#![expect(deprecated, reason = "the older protocol has roots and subscriptions that the newer one dropped")]

#[path = "server/harness.rs"]
mod harness;
#[path = "server/http_server.rs"]
mod http_server;
#[path = "server/raw_client.rs"]
mod raw_client;

#[path = "server/approval.rs"]
mod approval;
#[path = "server/call_order.rs"]
mod call_order;
#[path = "server/http.rs"]
mod http;
#[path = "server/raw_messages.rs"]
mod raw_messages;
#[path = "server/resources.rs"]
mod resources;
#[path = "server/roots.rs"]
mod roots;
#[path = "server/session.rs"]
mod session;
#[path = "server/shutdown.rs"]
mod shutdown;
#[path = "server/tools.rs"]
mod tools;
