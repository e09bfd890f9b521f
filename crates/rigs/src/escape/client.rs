//! What carries out the attacks: the engine, or a tool that checks paths as strings.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use slipstitch::core::outcome::{Failed, Outcome};
use slipstitch::{Fsync, Workspace};

use super::sandbox::Sandbox;
use super::tool_cases::{PathKind, ToolCase};

/// The response to a tool call.
#[derive(Debug)]
pub(super) struct Response {
    /// Everything that the caller gets to see.
    pub(super) text: String,
    /// The refusal, if it does not state a plain reason and a next step.
    pub(super) unclear: Option<String>,
    pub(super) succeeded: bool,
    /// Whether the change waits for a review; nothing is written until then.
    pub(super) is_proposed: bool,
}

impl Response {
    /// A response of a tool that is not the engine.
    fn plain(text: String, succeeded: bool) -> Self {
        Self { text, unclear: None, succeeded, is_proposed: false }
    }
}

pub(super) trait Client {
    /// Calls a tool with a path.
    fn call(&self, case: &ToolCase, path: &str) -> Response;

    /// Applies a patch.
    fn apply_patch(&self, text: &str) -> Response;
}

/// The engine as users have it.
#[derive(Debug)]
pub(super) struct EngineClient(Workspace);

impl EngineClient {
    pub(super) fn new(sandbox: &Sandbox) -> Result<Self, String> {
        let config = sandbox.state().with_extension("toml");
        fs::write(&config, "[editors]\nemacs = false\n").map_err(|error| error.to_string())?;
        let builder = Workspace::builder(sandbox.root()).state_dir(sandbox.state()).config(config);
        builder.fsync(Fsync::Off).open().map(Self).map_err(|error| error.to_string())
    }

    fn call_tool(&self, dialect: &str, tool: &str, arguments: Value) -> Response {
        let answer = self.0.call(dialect, tool, arguments);
        let report = &answer.report;
        let succeeded = report.is_success();
        let is_plain = report.message.len() > 5 && report.hint.as_ref().is_some_and(|hint| hint.len() > 5);
        let is_vague = matches!(report.outcome, Outcome::Failed(Failed::Io | Failed::Journal));
        let is_unclear = !succeeded && (!is_plain || is_vague);
        let unclear = is_unclear.then(|| format!("{}: {}", report.code(), report.message));
        let data = serde_json::to_string(report).unwrap_or_default();
        let text = format!("{}\n{data}\n{:?}", answer.text, answer.payload);
        Response { text, unclear, succeeded, is_proposed: report.proposal.is_some() }
    }
}

impl Client for EngineClient {
    fn call(&self, case: &ToolCase, path: &str) -> Response {
        self.call_tool(case.dialect, case.tool, (case.arguments)(path))
    }

    fn apply_patch(&self, text: &str) -> Response {
        self.call_tool("native", "patch", serde_json::json!({ "patch": text }))
    }
}

/// A tool that joins the path to the root, resolves `..` in the string, and checks that the result starts with the root.
#[derive(Debug)]
pub(super) struct LexicalClient(pub(super) PathBuf);

impl LexicalClient {
    fn resolve(&self, path: &str) -> Option<PathBuf> {
        let mut resolved = PathBuf::new();
        for part in self.0.join(path).components() {
            match part {
                Component::ParentDir => drop(resolved.pop()),
                part => resolved.push(part),
            }
        }
        resolved.starts_with(&self.0).then_some(resolved)
    }

    fn is_in_sandbox(&self, path: &Path) -> bool {
        let real = |path: Option<&Path>| path.and_then(|path| path.canonicalize().ok());
        let folders = real(path.parent()).zip(real(self.0.parent()));
        // The write would follow a dangling symlink.
        !path.is_symlink()
            && folders.is_some_and(|(parent, base)| parent.starts_with(&base) && parent != base)
    }

    fn act(&self, kind: PathKind, path: &Path) -> io::Result<String> {
        // Opening a pipe would block forever.
        let is_regular = fs::metadata(path).map(|found| found.is_file());
        match (kind, is_regular) {
            (PathKind::Folder, _) => {
                let names: Result<Vec<_>, _> =
                    fs::read_dir(path)?.map(|entry| Ok::<_, io::Error>(entry?.file_name())).collect();
                Ok(format!("{:?}", names?))
            }
            (_, Ok(false)) => Err(io::ErrorKind::InvalidInput.into()),
            (PathKind::File | PathKind::Notebook, _) => fs::read_to_string(path),
            (PathKind::NewFile, Ok(true)) => Err(io::ErrorKind::AlreadyExists.into()),
            // It may leave the root but not the sandbox: some symlinks lead to the rest of the machine.
            (PathKind::NewFile, _) if !self.is_in_sandbox(path) => {
                Err(io::ErrorKind::PermissionDenied.into())
            }
            (PathKind::NewFile, _) => fs::write(path, "changed\n").map(|()| String::new()),
        }
    }
}

impl Client for LexicalClient {
    fn call(&self, case: &ToolCase, path: &str) -> Response {
        let done = self.resolve(path).map(|path| self.act(case.takes, &path));
        match done {
            Some(Ok(text)) => Response::plain(text, true),
            _ => Response::plain(String::new(), false),
        }
    }

    fn apply_patch(&self, _: &str) -> Response {
        Response::plain(String::new(), false)
    }
}
