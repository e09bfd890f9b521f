//! `slipstitch help`: the help of a command, or a page about a topic.

use clap::Args;
use clap_complete::{ArgValueCandidates, CompletionCandidate};
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;

use crate::command::{join_paragraphs, parser};
use crate::error::CommandError;
use crate::output::{CommandOutput, CommandResult};
use crate::streams::{Streams, columns};
use crate::topics::{TOPICS, topic_names};

/// Show the help of a command, or a page about a topic: recovery, patches, settings, selection, json, state
#[derive(Debug, Args)]
pub(crate) struct Help {
    /// A command or a topic
    #[arg(value_name = "COMMAND|TOPIC", add = ArgValueCandidates::new(commands_and_topics))]
    words: Vec<String>,
}

impl Help {
    pub(super) fn run(self) -> CommandResult {
        let mut command = parser();
        command.build();
        if let [topic] = &self.words[..]
            && let Some((_, _, text)) = TOPICS.iter().find(|(name, ..)| name == topic)
        {
            return Ok(Box::new(Topic(text)));
        }
        let found = find_command(&mut command, &self.words)?;
        let mut text = found.render_help().to_string();
        if self.words.is_empty() {
            let width = topic_names().map(str::len).max().unwrap_or(0);
            text.push_str("\nTopics:\n");
            for (name, summary, _) in TOPICS {
                text.push_str(&format!("  {name:<width$}  {summary}\n"));
            }
        }
        Ok(Box::new(Page(text)))
    }
}

/// The command with this name, such as `review show`.
pub(super) fn find_command<'c>(
    program: &'c mut clap::Command,
    words: &[String],
) -> Result<&'c mut clap::Command, CommandError> {
    let mut found = program;
    for word in words {
        found = found.find_subcommand_mut(word).ok_or_else(|| unknown(word))?;
    }
    Ok(found)
}

/// The commands, each with its summary.
pub(super) fn commands() -> Vec<CompletionCandidate> {
    let candidate = |(order, command): (usize, &clap::Command)| {
        let about = command.get_about().map(|about| about.to_string().into());
        CompletionCandidate::new(command.get_name().to_owned()).help(about).display_order(Some(order))
    };
    parser().get_subcommands().enumerate().map(candidate).collect()
}

/// Commands and topics that `slipstitch help` accepts.
fn commands_and_topics() -> Vec<CompletionCandidate> {
    let mut offered = commands();
    offered.extend(topic_names().map(CompletionCandidate::new));
    offered
}

fn unknown(word: &str) -> Report {
    let topics: Vec<String> = topic_names().map(|name| format!("`{name}`")).collect();
    Report::custom(Status::Invalid, "usage", format!("there is no command or topic `{word}`"))
        .hint(format!("Topics: {}. `slipstitch --help` lists the commands.", topics.join(", ")))
}

/// A page about a topic.
struct Topic(&'static str);

impl CommandOutput for Topic {
    fn json(&self) -> serde_json::Result<String> {
        Page(self.0.into()).json()
    }

    fn write(&self, streams: &mut Streams) {
        if streams.out.width().is_none_or(|width| width >= TOPIC_WIDTH) {
            return streams.out.line(self.0.trim_end());
        }
        for line in join_paragraphs(self.0.trim_end()).lines() {
            streams.out.hanging(line, description_column(line));
            streams.out.line("");
        }
    }
}

/// The width for which the pages about topics are written.
const TOPIC_WIDTH: usize = 100;

/// Where the description of an indented line such as `  NAME  description` starts; 0 for prose.
fn description_column(line: &str) -> usize {
    let indent = line.len() - line.trim_start().len();
    let described = line[indent..].split_once("  ").map(|(_, description)| description.trim_start());
    match described.filter(|_| indent > 0) {
        Some(description) => columns(line) - columns(description),
        None => indent,
    }
}

struct Page(String);

impl CommandOutput for Page {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&serde_json::json!({"text": self.0}))
    }

    fn write(&self, streams: &mut Streams) {
        streams.out.line(self.0.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::StyledText;

    fn shown(text: &str, width: usize) -> String {
        let mut out = StyledText::new(false, true);
        out.width = Some(width);
        let mut streams = Streams { out, err: StyledText::new(false, true) };
        Topic(Box::leak(text.into())).write(&mut streams);
        String::from_utf8(streams.out.bytes).unwrap()
    }

    #[test]
    fn a_topic_is_wrapped_once_at_any_width() {
        let text = "Title\n\n  one    a description of it all\n  two    more\n\nProse that was broken\nby hand, in two lines.\n";
        let want = "Title\n\n  one    a description of it\n         all\n  two    more\n\nProse that was broken by hand,\nin two lines.\n";
        assert_eq!(shown(text, 30), want);
        assert_eq!(shown(text, 100), text);
        for (name, _, text) in TOPICS {
            for width in [44, 60, 80, 99] {
                let shown = shown(text, width);
                let is_long = |line: &&str| columns(line) > width && line.trim().contains(' ');
                assert_eq!(shown.lines().find(is_long), None, "{name} at {width}");
                assert!(shown.split_whitespace().eq(text.split_whitespace()), "{name} at {width}");
            }
        }
    }
}
