//! Asks a host whether it sees the server.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use slipstitch_platform::process;

use crate::directories::Directories;
use crate::host::ListCommand;
use crate::target::Target;

/// How much of a host's answer is read.
const MAX_ANSWER: u64 = 1 << 20;

/// What a host says about the server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Health {
    /// It started the server and is connected.
    Connected,
    /// It lists the server, but does not say whether it works.
    Listed,
    /// It lists the server, but could not use it; its own words.
    Failed(String),
    /// It does not list the server.
    Missing,
    /// It did not answer in time.
    Silent,
    /// It cannot be asked, for this reason.
    Unknown(String),
}

impl Target {
    /// Asks the host for its servers, in `directory`, for at most `timeout`. Some hosts start all of their servers to
    /// answer.
    pub fn ask_host(&self, directory: &Path, timeout: Duration) -> Health {
        let Some(list) = &self.host.list else {
            return Health::Unknown(format!("{} has no command that lists its servers", self.host.name));
        };
        if !Directories::has_program(&[list.program]) {
            return Health::Unknown(format!("`{}` is not on the PATH", list.program));
        }
        match run(list, directory, timeout) {
            Err(error) => Health::Unknown(format!("`{}` could not be run: {error}", list.program)),
            Ok(None) => Health::Silent,
            Ok(Some(answer)) => judge(&answer, self.name.as_str(), list.connects),
        }
    }
}

/// The output of a command; `None` if it did not end in time.
fn run(list: &ListCommand, directory: &Path, timeout: Duration) -> std::io::Result<Option<String>> {
    let mut command = Command::new(list.program);
    command.args(list.args).current_dir(directory).env("NO_COLOR", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    process::own_group(&mut command);
    let mut child = command.spawn()?;
    let (sender, answers) = mpsc::channel();
    let streams: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|stream| Box::new(stream) as _),
        child.stderr.take().map(|s| Box::new(s) as _),
    ];
    for stream in streams.into_iter().flatten() {
        let sender = sender.clone();
        thread::spawn(move || {
            let mut text = Vec::new();
            // What was read before an error is still an answer.
            let _ = stream.take(MAX_ANSWER).read_to_end(&mut text);
            let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
        });
    }
    drop(sender);
    let deadline = Instant::now() + timeout;
    let mut answer = String::new();
    for _ in 0..2 {
        let left = deadline.saturating_duration_since(Instant::now());
        match answers.recv_timeout(left) {
            Ok(text) => answer.push_str(&text),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                end(&mut child);
                return Ok(None);
            }
        }
    }
    end(&mut child);
    Ok(Some(answer))
}

/// Ends the command and the servers that it started.
fn end(child: &mut Child) {
    process::end_group(child);
    let _ = child.wait();
}

/// Finds the server in a host's list. Hosts print a line per server with a word or a sign for its state; opencode prints
/// the state after the name, too.
fn judge(answer: &str, name: &str, connects: bool) -> Health {
    let is_name = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !"-_".contains(c));
        word == name
    };
    let Some(line) = answer.lines().find(|line| line.split_whitespace().any(is_name)) else {
        return Health::Missing;
    };
    let lower = line.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if says(&["✗", "✘", "failed", "disconnected", "not connected", "error"]) {
        return Health::Failed(line.trim().into());
    }
    if connects && says(&["connected", "✓", "✔"]) { Health::Connected } else { Health::Listed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_lists_of_hosts() {
        let judged = |answer: &str| judge(answer, "slipstitch", true);
        for connected in [
            "Checking MCP server health...\n\nslipstitch: /x/slipstitch mcp - ✓ Connected\n",
            "Configured MCP servers:\n\n✓ slipstitch: slipstitch mcp (stdio) - Connected\n",
            "●  ✓ slipstitch connected\n│      slipstitch mcp\n",
        ] {
            assert_eq!(judged(connected), Health::Connected, "{connected}");
        }
        for failed in
            ["✗ slipstitch: slipstitch mcp (stdio) - Disconnected", "slipstitch: x - ✗ Failed to connect"]
        {
            assert_eq!(judged(failed), Health::Failed(failed.into()));
        }
        assert_eq!(judged("other: slipstitch-notes mcp - ✓ Connected"), Health::Missing);
        let json = "[\n  {\n    \"name\": \"slipstitch\",\n    \"enabled\": true\n  }\n]";
        assert_eq!(judge(json, "slipstitch", false), Health::Listed);
    }

    #[test]
    fn a_silent_host_is_ended() {
        let sleep = ListCommand { program: "sleep", args: &["60"], connects: true };
        let start = Instant::now();
        let answer = run(&sleep, Path::new("/"), Duration::from_millis(50)).unwrap();
        assert_eq!(answer, None);
        assert!(start.elapsed() < Duration::from_secs(30), "it is not waited for");
        let echo = ListCommand { program: "echo", args: &["slipstitch", "connected"], connects: true };
        let answer = run(&echo, Path::new("/"), Duration::from_secs(30)).unwrap();
        assert_eq!(answer.as_deref(), Some("slipstitch connected\n"));
    }
}
