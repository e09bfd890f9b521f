//! Keeps the buffers of open editors in step with the files that change beneath them.
//!
//! [`Synced`] is put around any [`Workspace`](slipstitch_core::ports::workspace::Workspace). A change to a file that someone has
//! open with unsaved changes is refused; other buffers are read again once the change is made. [`Emacs`] is
//! the editor that it knows.

mod emacs;
mod lisp;
mod socket;
mod synced;

pub use emacs::Emacs;
pub use synced::Synced;
