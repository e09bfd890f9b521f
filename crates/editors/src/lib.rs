//! Keeps open editor buffers in sync with the files that Slipstitch changes.
//!
//! [`Synced`] wraps any [`Workspace`](slipstitch_core::ports::workspace::Workspace). A change to a file with unsaved changes in an
//! editor is refused; other buffers are reloaded after the change. The supported editor is [`Emacs`]: every server of the user is
//! asked, wherever the system shows one, and the lock files that Emacs leaves beside a modified file are heeded. The same
//! goes for the lists of open files that each Emacs keeps for auto-saving.

mod auto_save;
mod emacs;
mod lisp;
mod locations;
mod lock_file;
mod protocol;
mod running;
mod synced;

pub use emacs::{Emacs, ServerState, ServerStatus};
pub use locations::{Processes, ServerLocations};
pub use protocol::{abandon_reloads, finish_reloads};
pub use synced::Synced;
