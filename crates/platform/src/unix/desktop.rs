use std::path::Path;
use std::process::Command;

/// The editor if the user has not chosen one.
pub const DEFAULT_EDITOR: &str = "vi";

/// A command that opens a file in an editor.
///
/// Editors are often set with options, such as `code --wait`; the shell splits them, and the path is never parsed.
pub fn edit(editor: &str, path: &Path) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(path);
    command
}

/// A command that shows a desktop notification. The text is an argument, never a part of a script.
#[cfg(not(target_os = "macos"))]
pub fn notification(summary: &str) -> Command {
    let mut command = Command::new("notify-send");
    command.args(["--app-name=Slipstitch", "--", "Waiting for review", summary]);
    command
}
