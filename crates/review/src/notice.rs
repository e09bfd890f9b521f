//! The addresses of the page, for whoever started the server.

use std::sync::Arc;

/// Gets the addresses of a page, each of which opens it once.
#[derive(Clone)]
pub struct Notice(Arc<Tell>);

type Tell = dyn Fn(&str, PageState) + Send + Sync;

/// When an address is given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageState {
    /// Nobody has opened the page yet.
    Started,
    /// Somebody has just opened the page; the address is for another browser.
    Opened,
}

impl Notice {
    /// Passes each address to `tell`.
    pub fn new(tell: impl Fn(&str, PageState) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    pub(crate) fn send(&self, url: &str, state: PageState) {
        (self.0)(url, state);
    }
}

impl std::fmt::Debug for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Notice(…)")
    }
}
