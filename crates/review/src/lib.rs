//! Where people decide about proposals, look at the history and undo changes: a page, served on the loopback interface, and a
//! full-screen view in the terminal.
//!
//! | file | what it does |
//! | --- | --- |
//! | `server.rs` | listens, and builds the routes |
//! | `access.rs`, `token.rs` | who may use the page: token, cookie, `Host` and `Origin`, and the headers of every answer |
//! | `routes.rs` | what each address answers |
//! | `decision.rs`, `revert.rs` | a sent form as a verdict; undo and redo |
//! | `events.rs` | tells open pages that something changed |
//! | `diff_view.rs`, `marks.rs`, `highlight.rs` | hunks as rows, with changed words and syntax |
//! | `whole_file.rs` | all lines of a file, and the items around its hunks |
//! | `editor.rs` | a hunk in the user's editor |
//! | `summary.rs` | what a proposal is, in a few words |
//! | `selection.rs`, `times.rs` | which items are listed, with the filters of the command line |
//! | `statistics.rs` | how tool calls ended, in numbers |
//! | `page/` | the pages themselves |
//! | `terminal/` | the view in the terminal |
//!
//! [`mark_hunk`] is also what the terminal shows diffs with.
//!
//! The server renders every page, and every decision is a form. The script in `assets/` adds keys, live updates and the secret
//! that a form needs (`token.rs`); without it, the page is read-only.

mod access;
mod app;
mod decision;
mod diff_view;
mod editor;
mod events;
mod highlight;
mod line_part;
mod marks;
mod notice;
mod page;
mod revert;
mod routes;
mod selection;
mod server;
mod statistics;
mod summary;
pub mod terminal;
pub mod times;
mod token;
mod whole_file;

pub use editor::edit_hunk;
pub use line_part::{Class, Part};
pub use marks::mark_hunk;
pub use notice::{Notice, PageState};
pub use selection::Selection;
pub use server::{PageOptions, ServeError, serve};
pub use summary::notes_about;
