//! What the handlers of requests share.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use slipstitch::Workspace;

use crate::page;
use crate::token::AccessToken;

/// What the handlers share.
#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) address: SocketAddr,
    pub(crate) token: AccessToken,
}

impl App {
    /// Runs something that reads the journal or writes files.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Workspace) -> T + Send + 'static,
    ) -> Result<T, Response> {
        let workspace = self.workspace.clone();
        tokio::task::spawn_blocking(move || work(&workspace)).await.map_err(|_| {
            let message = "Something went wrong here. The terminal that runs this page may say more.";
            (StatusCode::INTERNAL_SERVER_ERROR, page::message_page("Internal error", message)).into_response()
        })
    }
}
