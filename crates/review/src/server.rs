//! Listens for requests.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use slipstitch::Workspace;
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use crate::app::App;
use crate::events::watch_journal;
use crate::notice::{Notice, PageState};
use crate::selection::Selection;
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

/// How long requests of open pages may take to finish when the server is stopped.
const STOP_GRACE: Duration = Duration::from_millis(100);

/// Serves the page on the loopback interface until `stop` completes, and then returns soon: decisions in progress are finished,
/// requests that only read are not waited for.
pub fn serve(
    workspace: Arc<Workspace>,
    options: PageOptions,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(async { Server::bind(workspace, options).await?.run(stop).await });
    // Threads that only read would otherwise be waited for.
    runtime.shutdown_background();
    served
}

/// A server for one workspace, on the loopback interface.
#[derive(Debug)]
struct Server {
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
    /// What the page shows when it is opened; it can be changed there.
    pub selection: Selection,
    /// Gets the addresses of the page.
    pub notice: Notice,
}

impl Server {
    /// Listens on the loopback interface.
    async fn bind(workspace: Arc<Workspace>, options: PageOptions) -> Result<Self, ServeError> {
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
            selection: options.selection,
            notice: options.notice,
            decided_by: options.decided_by.into(),
            activity,
            writes: Arc::default(),
        };
        app.notice.send(&app.url(), PageState::Started);
        Ok(Self { listener, app, watcher })
    }

    async fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), ServeError> {
        // Calls wait for a decision while the page is open. Without it, they are answered at once.
        let _attended = self.app.workspace.attend_review().ok();
        let writes = self.app.writes.clone();
        let watcher = self.watcher;
        let stopped = Arc::new(Notify::new());
        let stopping = stopped.clone();
        let stop = async move {
            stop.await;
            // Ends the event streams of open pages, which would never end by themselves.
            watcher.abort();
            stopping.notify_one();
        };
        let serving = axum::serve(self.listener, router(self.app)).with_graceful_shutdown(stop);
        let waited = async {
            stopped.notified().await;
            tokio::time::sleep(STOP_GRACE).await;
            drop(writes.write().await);
            // Time to send the responses to these decisions.
            tokio::time::sleep(STOP_GRACE).await;
        };
        let served = tokio::select! {
            done = serving => done,
            () = waited => Ok(()),
        };
        // Whoever sent a decision may have closed the connection.
        drop(writes.write().await);
        Ok(served?)
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_decision_that_is_being_made_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir(&root).unwrap();
        let workspace = Workspace::builder(&root).state_dir(folder.path().join("state")).open().unwrap();
        let notice = Notice::new(|_, _| ());
        let selection = Selection::default();
        let options = PageOptions { port: 0, decided_by: "review page".into(), selection, notice };
        let server = Server::bind(Arc::new(workspace), options).await.unwrap();
        let app = server.app.clone();
        let (started, stop) = tokio::sync::oneshot::channel();
        let is_decided = Arc::new(AtomicBool::new(false));
        let decided = is_decided.clone();
        let deciding = tokio::spawn(async move {
            app.write(move |_| {
                started.send(()).unwrap();
                std::thread::sleep(5 * STOP_GRACE);
                decided.store(true, Ordering::SeqCst);
            })
            .await
            .unwrap();
        });
        server.run(async { stop.await.unwrap() }).await.unwrap();
        assert!(is_decided.load(Ordering::SeqCst));
        deciding.await.unwrap();
    }
}
