use std::process::Command;

/// A command that shows a desktop notification. The text is an argument of the script, never a part of it.
pub fn notification(summary: &str) -> Command {
    let mut command = Command::new("osascript");
    command.args([
        "-e",
        "on run argv",
        "-e",
        "display notification (item 1 of argv) with title \"Slipstitch\"",
        "-e",
        "end run",
        summary,
    ]);
    command
}
