//! Listens for requests.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use slipstitch::Workspace;
use tokio::net::TcpListener;

use crate::app::App;
use crate::token::AccessToken;
use crate::{access, routes};

/// Why the page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is taken, or cannot be used.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
    /// The server failed.
    #[error("the review page stopped: {0}")]
    Serve(#[from] std::io::Error),
}

/// A server for one workspace, on the loopback interface.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    app: App,
}

impl Server {
    /// Listens on this port of the loopback interface; 0 lets the system choose one.
    pub async fn bind(workspace: Arc<Workspace>, port: u16) -> Result<Self, ServeError> {
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = TcpListener::bind(wanted)
            .await
            .map_err(|source| ServeError::Listen { address: wanted, source })?;
        let address = listener.local_addr()?;
        Ok(Self { listener, app: App { workspace, address, token: AccessToken::random()? } })
    }

    /// The address to open in a browser, with the token.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.app.address, self.app.token.text())
    }

    /// Answers requests until `stop` is done.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), ServeError> {
        let routes = router(self.app);
        Ok(axum::serve(self.listener, routes).with_graceful_shutdown(stop).await?)
    }
}

/// The routes of the page. Nothing that is read by `GET` changes anything.
fn router(app: App) -> Router {
    Router::new()
        .route("/", get(routes::enter))
        .route("/review", get(routes::queue))
        .route("/review/{id}", get(routes::proposal).post(routes::decide))
        .route("/review/{id}/hunk/{hunk}", get(routes::hunk))
        .route("/history", get(routes::history))
        .route("/history/{id}", get(routes::change).post(routes::revert))
        .route("/statistics", get(routes::statistics))
        .route("/events", get(crate::events::stream))
        .route("/assets/review.css", get(routes::style))
        .route("/assets/review.js", get(routes::script))
        .layer(from_fn_with_state(app.clone(), access::check))
        .with_state(app)
}
