//! Why a server does not run.

use std::io;
use std::net::SocketAddr;

use crate::roots::RootsError;
use crate::tools::CatalogueError;

/// Why a server could not start, or ended before its time.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The dialects cannot be served.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// The folders cannot be used.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// The system gave no event loop or no randomness.
    #[error("the server cannot start: {0}")]
    Start(#[source] io::Error),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The server would be reachable from other machines without a token.
    #[error("{0} can be reached from other machines, and no token is set")]
    Unprotected(SocketAddr),
    /// The token cannot be used.
    #[error("the token cannot be used: {0}")]
    Token(String),
    /// A list of hosts or origins holds what is neither.
    #[error("`{0}` is not {1}")]
    Access(String, &'static str),
}

impl ServeError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Catalogue(error) => error.hint(),
            Self::Roots(error) => error.hint().into(),
            Self::Start(_) => "Check the limits of the system, then try again.".into(),
            Self::Listen { .. } => "Name another address with `--http`; port 0 picks a free one.".into(),
            Self::Unprotected(_) => {
                "Name a token with `--token-file FILE` (it is made if it is missing), or listen on 127.0.0.1."
                    .into()
            }
            Self::Token(_) => "Use at least 16 letters, digits or the signs - . _ ~ + / =.".into(),
            Self::Access(..) => {
                "Write hosts as `name:port` and origins as `https://name:port`, as browsers send them.".into()
            }
        }
    }
}
