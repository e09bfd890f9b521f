//! The programs that rigs run.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The first argument of a worker process.
pub(crate) const WORKER_SUBCOMMAND: &str = "worker";

/// The path of a program of this workspace: next to the running one or, in a test, one folder up.
pub(crate) fn find(name: &str) -> Result<PathBuf, String> {
    let own =
        std::env::current_exe().map_err(|error| format!("cannot locate the running program: {error}"))?;
    own.ancestors().skip(1).take(2).map(|folder| folder.join(name)).find(|path| path.is_file()).ok_or_else(
        || {
            format!(
                "no `{name}` next to `{}`; run `cargo build -p slipstitch-cli -p slipstitch-rigs`",
                own.display()
            )
        },
    )
}

/// Runs a command to completion; fails with its stderr if it does not succeed.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| format!("cannot run `{name}`: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("`{name}` failed: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
