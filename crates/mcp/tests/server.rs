//! The server and an rmcp client in one process, in both protocol eras.

#![expect(deprecated, reason = "the older protocol has roots and subscriptions that the newer one dropped")]

#[path = "server/rig.rs"]
mod rig;

#[path = "server/approval.rs"]
mod approval;
#[path = "server/end.rs"]
mod end;
#[path = "server/http.rs"]
mod http;
#[path = "server/lines.rs"]
mod lines;
#[path = "server/order.rs"]
mod order;
#[path = "server/resources.rs"]
mod resources;
#[path = "server/roots.rs"]
mod roots;
#[path = "server/session.rs"]
mod session;
#[path = "server/tools.rs"]
mod tools;
