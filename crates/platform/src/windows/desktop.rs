use std::path::Path;
use std::process::Command;

/// The editor if the user has not chosen one.
pub const DEFAULT_EDITOR: &str = "notepad";

/// A command that opens a file in an editor: a program's path, or a program with options such as `code --wait`.
pub fn edit(editor: &str, path: &Path) -> Command {
    let mut words = editor.split_whitespace();
    let mut command = match Path::new(editor).is_file() {
        true => Command::new(editor),
        false => {
            let mut command = Command::new(words.next().unwrap_or(DEFAULT_EDITOR));
            command.args(words);
            command
        }
    };
    command.arg(path);
    command
}

/// A command that shows a message on the user's desktop, for a minute.
pub fn notification(summary: &str) -> Command {
    let mut command = Command::new("msg");
    command.args(["*", "/TIME:60", summary]);
    command
}
