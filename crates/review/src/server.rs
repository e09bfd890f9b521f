//! Listens for requests.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use slipstitch::Workspace;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::app::App;
use crate::events::watch_journal;
use crate::notice::{Notice, PageState};
use crate::token::Access;
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
    /// Feeds the event streams of open pages.
    watcher: JoinHandle<()>,
}

/// How the page is served.
#[derive(Debug, Clone)]
pub struct PageOptions {
    /// The port on the loopback interface; 0 lets the system choose one.
    pub port: u16,
    /// Who decides, for the journal: what is known about whoever uses the page.
    pub decided_by: String,
    /// Gets the addresses of the page.
    pub notice: Notice,
}

impl Server {
    /// Listens on the loopback interface.
    pub async fn bind(workspace: Arc<Workspace>, options: PageOptions) -> Result<Self, ServeError> {
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let listener = TcpListener::bind(wanted)
            .await
            .map_err(|source| ServeError::Listen { address: wanted, source })?;
        let address = listener.local_addr()?;
        let (sender, activity) = watch::channel(String::new());
        let watcher = tokio::spawn(watch_journal(workspace.clone(), sender));
        let app = App {
            workspace,
            address,
            access: Arc::new(Access::new()?),
            notice: options.notice,
            decided_by: options.decided_by.into(),
            activity,
        };
        app.notice.send(&app.url(), PageState::Started);
        Ok(Self { listener, app, watcher })
    }

    /// Answers requests until `stop` is done.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), ServeError> {
        // Calls wait for a decision while the page is open. Without it, they are answered at once.
        let _attended = self.app.workspace.attend_review().ok();
        let routes = router(self.app);
        let watcher = self.watcher;
        let stop = async move {
            stop.await;
            // Ends the event streams of open pages, which would never end by themselves.
            watcher.abort();
        };
        Ok(axum::serve(self.listener, routes).with_graceful_shutdown(stop).await?)
    }
}

/// The routes of the page. Nothing that is read by `GET` changes anything.
fn router(app: App) -> Router {
    Router::new()
        .route("/", get(routes::door).post(routes::enter))
        .route("/review", get(routes::queue).post(routes::decide_several))
        .route("/review/{id}", get(routes::proposal).post(routes::decide))
        .route("/review/{id}/hunk/{hunk}", get(routes::hunk))
        .route("/review/{id}/file/{file}", get(routes::file))
        .route("/review/{id}/file/{file}/{part}", get(routes::file_part))
        .route("/history", get(routes::history))
        .route("/history/{id}", get(routes::change).post(routes::revert))
        .route("/statistics", get(routes::statistics))
        .route("/unlock", get(routes::leave_unlock).post(routes::unlock))
        .route("/events", get(crate::events::stream))
        .route("/assets/review.css", get(routes::style))
        .route("/assets/icon.svg", get(routes::icon))
        .route("/assets/review.js", get(routes::script))
        .layer(DefaultBodyLimit::max(access::MAX_BODY))
        .layer(from_fn_with_state(app.clone(), access::check))
        .with_state(app)
}
