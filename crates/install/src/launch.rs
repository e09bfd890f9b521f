//! The command line that a host runs to start the server.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::Error;

/// The name of the program, and of the server unless the user chooses another.
pub(crate) const PROGRAM_NAME: &str = "slipstitch";

/// The command line that a host runs to start the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program: a name to be found on the `PATH`, or a path.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
}

impl Launch {
    /// A command line.
    pub fn new(program: impl Into<String>, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { program: program.into(), args: args.into_iter().map(Into::into).collect() }
    }
}

/// The arguments with which `slipstitch` serves these dialects and roots, followed by `extra` ones. Roots become
/// absolute, because a host starts the server in a directory of its choice.
pub fn server_args(dialects: &[String], roots: &[PathBuf], extra: &[String]) -> Result<Vec<String>, Error> {
    let mut args = vec!["mcp".to_owned()];
    if !dialects.is_empty() {
        args.extend(["--dialect".into(), dialects.join(",")]);
    }
    for root in roots {
        let root = root.canonicalize().map_err(|error| Error::bad_root(root, error))?;
        let text = root.to_str().ok_or_else(|| Error::bad_root(&root, "its name is not UTF-8"))?;
        args.extend(["--root".into(), text.into()]);
    }
    args.extend_from_slice(extra);
    Ok(args)
}

/// Whether an entry starts a Slipstitch server, in the notation of any host.
pub(crate) fn starts_slipstitch(entry: &Value) -> bool {
    starts(entry, is_slipstitch)
}

/// Whether an entry starts this program with the subcommand `mcp`.
pub(crate) fn starts_program(entry: &Value, program: &str) -> bool {
    starts(entry, |name| name == program)
}

fn starts(entry: &Value, is_program: impl Fn(&str) -> bool) -> bool {
    let words = command_line(entry);
    let mut words = words.iter();
    // Other programs have an `mcp` subcommand, too.
    words.next().is_some_and(|program| is_program(program)) && words.take(2).any(|word| *word == "mcp")
}

/// The program and its arguments, in the notation of any host.
fn command_line(entry: &Value) -> Vec<&str> {
    // Cline's own notation nests the command.
    let entry = entry.get("transport").filter(|inner| inner.is_object()).unwrap_or(entry);
    let list = |field: &str| entry.get(field).and_then(Value::as_array).into_iter().flatten();
    let program = ["command", "cmd"].into_iter().filter_map(|field| entry.get(field)?.as_str()).next();
    let words = list("command").chain(list("args")).filter_map(Value::as_str);
    program.into_iter().chain(words).collect()
}

fn is_slipstitch(program: &str) -> bool {
    let name = Path::new(program).file_name();
    name.is_some_and(|name| name == PROGRAM_NAME || Some(name) == current_program_name().as_deref())
}

/// The name of the running executable, which may have been renamed.
fn current_program_name() -> Option<OsString> {
    Some(std::env::current_exe().ok()?.file_name()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn recognizes_slipstitch_in_every_notation() {
        assert!(starts_slipstitch(&json!({"command": "/x/slipstitch", "args": ["mcp", "--root", "/a"]})));
        assert!(starts_slipstitch(&json!({"type": "local", "command": ["slipstitch", "mcp"]})));
        assert!(starts_slipstitch(&json!({"cmd": "slipstitch", "args": ["mcp"]})));
        let nested = json!({"transport": {"type": "stdio", "command": "slipstitch", "args": ["mcp"]}});
        assert!(starts_slipstitch(&nested));
        assert!(starts_program(&json!({"command": "/x/wrapper", "args": ["mcp"]}), "/x/wrapper"));
        assert!(!starts_program(&json!({"command": "/x/wrapper"}), "/x/wrapper"));
        for other in [
            json!({"command": "npx", "args": ["-y", "x"]}),
            json!({"command": "docker", "args": ["mcp", "gateway", "run"]}),
            json!({"command": "slipstitch", "args": ["tools"]}),
            json!({"command": ["mcp", "slipstitch"]}),
            json!({"url": "http://x"}),
            json!(3),
        ] {
            assert!(!starts_slipstitch(&other), "{other}");
        }
    }

    #[test]
    fn arguments_name_dialects_and_absolute_roots() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().canonicalize().unwrap();
        let dialects = ["codex".to_owned(), "phoenix".to_owned()];
        let args = server_args(&dialects, &[root.path().join(".")], &["--mode".into(), "restricted".into()]);
        let expected =
            ["mcp", "--dialect", "codex,phoenix", "--root", path.to_str().unwrap(), "--mode", "restricted"];
        assert_eq!(args.unwrap(), expected);
        assert_eq!(server_args(&[], &[], &[]).unwrap(), ["mcp"]);
        let missing = server_args(&[], &[root.path().join("missing")], &[]);
        assert!(matches!(missing, Err(Error::BadRoot { .. })), "{missing:?}");
    }
}
