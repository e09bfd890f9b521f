//! The programs that rigs run: `slipstitch` itself, and `torture` as its own worker.

use std::path::PathBuf;

/// A program of this workspace, found beside the running one or, for a test, one folder above it.
pub(crate) fn find(name: &str) -> Result<PathBuf, String> {
    let own =
        std::env::current_exe().map_err(|error| format!("this program's own path is unknown: {error}"))?;
    own.ancestors().skip(1).take(2).map(|folder| folder.join(name)).find(|path| path.is_file()).ok_or_else(
        || {
            format!(
                "`{name}` is not beside `{}`; build it: cargo build -p slipstitch-cli -p slipstitch-rigs",
                own.display()
            )
        },
    )
}
