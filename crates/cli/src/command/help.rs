//! `slipstitch help`: the help of a command, or a page about a topic.

use clap::Args;
use clap_complete::ArgValueCandidates;
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;

use crate::command::parser;
use crate::complete;
use crate::output::{CommandOutput, CommandResult};
use crate::streams::Streams;
use crate::topics::{TOPICS, topic_names};

/// Show the help of a command, or a page about a topic: recovery, patches, settings, selection, json, state
#[derive(Debug, Args)]
pub(crate) struct Help {
    /// A command or a topic
    #[arg(value_name = "COMMAND|TOPIC", add = ArgValueCandidates::new(complete::topics))]
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
        let mut found = &mut command;
        for word in &self.words {
            match found.find_subcommand_mut(word) {
                Some(inner) => found = inner,
                None => return Err(unknown(word).into()),
            }
        }
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
