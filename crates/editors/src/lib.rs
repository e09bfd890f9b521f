//! Keeps open editor buffers in sync with the files that Slipstitch changes.
//!
//! [`Synced`] wraps any [`Workspace`](slipstitch_core::ports::workspace::Workspace). A change to a file with unsaved changes in an
//! editor is refused; other buffers are reloaded after the change. The supported editor is [`Emacs`].

mod emacs;
mod lisp;
mod socket;
mod synced;

pub use emacs::Emacs;
pub use synced::Synced;
