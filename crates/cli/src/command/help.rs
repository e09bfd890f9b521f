//! `slipstitch help`: the help of a command, or a page about a topic.

use clap::Args;
use clap_complete::{ArgValueCandidates, CompletionCandidate};
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;

use crate::command::parser;
use crate::error::CommandError;
use crate::output::{CommandOutput, CommandResult};
use crate::streams::Streams;
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
            return Ok(Box::new(Page((*text).into())));
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

struct Page(String);

impl CommandOutput for Page {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&serde_json::json!({"text": self.0}))
    }

    fn write(&self, streams: &mut Streams) {
        streams.out.line(self.0.trim_end());
    }
}
