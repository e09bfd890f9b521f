//! Why a server cannot run.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::roots::RootsError;
use crate::tools::CatalogueError;

/// Why a server could not start, or ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The dialects cannot be served.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// The folders cannot be used.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// The event loop could not be created, or the system provided no randomness.
    #[error("the server cannot start: {0}")]
    Start(#[source] io::Error),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The server would be reachable from other machines without a token.
    #[error("{0} is reachable from other machines, but no token is set")]
    Unprotected(SocketAddr),
    /// The token cannot be used.
    #[error("the token cannot be used: {0}")]
    Token(String),
    /// The file with the token cannot be used.
    #[error("the token file `{}` cannot be used: {problem}", path.display())]
    TokenFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What to do about that.
        next_step: String,
    },
    /// An allowed host or origin is malformed; the second field describes a valid one.
    #[error("`{0}` is not {1}")]
    Access(String, &'static str),
}

impl ServeError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Catalogue(error) => error.hint(),
            Self::Roots(error) => error.hint().into(),
            Self::Start(_) => "Check the system's resource limits, then try again.".into(),
            Self::Listen { .. } => "Choose another address with `--http`; port 0 picks a free one.".into(),
            Self::Unprotected(_) => "Omit `--no-token`, or listen on 127.0.0.1.".into(),
            Self::Token(_) => "Use at least 16 letters, digits or the characters - . _ ~ + / =.".into(),
            Self::TokenFile { next_step, .. } => next_step.clone(),
            Self::Access(..) => {
                "Write hosts as `name:port` and origins as `https://name:port`, as browsers send them.".into()
            }
        }
    }
}
