//! Adds the Slipstitch MCP server to agent hosts' settings files, and removes it again.
//!
//! A [`Host`] is a program, such as Claude Code or Zed, that starts the MCP servers listed in its settings; [`HOSTS`] is
//! the table of those that are supported. A [`Target`] is one entry in one of a host's files, and a [`Launch`] is the
//! command that the entry runs.
//!
//! | to | use |
//! | --- | --- |
//! | find out which hosts are there | [`Host::is_present`] |
//! | see the entry without writing it | [`Target::preview`], [`Target::plan_install`] |
//! | add it | [`Target::install`] |
//! | remove it | [`Target::uninstall`] |
//! | ask a host whether it sees the server | [`Target::ask_host`] |
//! | find out which program the host should start | [`Program::locate`] |
//! | build the server's arguments | [`server_args`] |
//!
//! ```
//! use slipstitch_install::{
//!     Extras, Host, Launch, OnConflict, Options, Removal, Request, Scope, ServerName, Target,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let temporary = tempfile::tempdir()?;
//! # let project = temporary.path().join("project");
//! # std::fs::create_dir(&project)?;
//! let target = Target {
//!     host: Host::find("codex").ok_or("unknown host")?,
//!     scope: Scope::Project(project.clone()),
//!     name: ServerName::default(),
//! };
//! let request = Request {
//!     launch: Launch::new("slipstitch", ["mcp", "--dialect", "codex"]),
//!     extras: Extras::default(),
//!     on_conflict: OnConflict::Refuse,
//! };
//! let options = Options { state_dir: Some(temporary.path().join("state")), ..Options::default() };
//!
//! target.install(&request, &options)?;
//! assert_eq!(
//!     std::fs::read_to_string(project.join(".codex/config.toml"))?,
//!     "[mcp_servers.slipstitch]\ncommand = \"slipstitch\"\nargs = [\"mcp\", \"--dialect\", \"codex\"]\n\
//!      default_tools_approval_mode = \"approve\"\n",
//! );
//!
//! target.uninstall(&Removal { on_conflict: OnConflict::Refuse, program: None }, &options)?;
//! assert!(!project.join(".codex").exists());
//! # Ok(())
//! # }
//! ```
//!
//! # Guarantees
//!
//! - Bytes outside the entry and the permissions that [`Extras`] ask for are unchanged: comments, order, indentation, line endings, a byte order mark.
//! - A file that cannot be edited that way is refused with [`Error::Unsafe`] and left alone.
//! - Removing an entry from a file that has not changed since restores every byte of it.
//! - What a [`Change`] shows of a file is the entry alone, with values masked that may be secret.
//!
//! Adding a host takes one element of [`HOSTS`].

mod directories;
mod display;
mod error;
mod folders;
mod format;
mod health;
mod host;
mod hosts;
mod install;
mod launch;
mod program;
mod record;
mod settings_file;
mod target;
mod uninstall;

pub use error::{Error, Source};
pub use format::{Format, FormatError};
pub use health::Health;
pub use host::{EditApproval, Extras, Host};
pub use hosts::HOSTS;
pub use install::{Change, Installed, OnConflict, Preview, Request};
pub use launch::{Launch, server_args};
pub use program::Program;
pub use settings_file::Options;
pub use target::{InvalidServerName, Scope, ServerName, Target};
pub use uninstall::{Removal, Uninstalled};
