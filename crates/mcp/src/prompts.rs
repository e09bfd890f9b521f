//! Prompts: the guide of each dialect, and what was changed, for a model that is to explain it.

use rmcp::model::{Prompt, PromptMessage, Role};
use slipstitch::Workspace;
use slipstitch::core::ports::journal::{Filter, JournalError};

use crate::instructions::guide;
use crate::tools::Catalogue;

/// The prompt that shows what the session changed.
pub(crate) const RECAP: &str = "recap";

/// How many changes a recap shows, and how much of their diffs.
const MAX_CHANGES: usize = 20;
const MAX_TEXT: usize = 60_000;

/// All prompts, as `prompts/list` shows them.
pub(crate) fn listed(catalogue: &Catalogue) -> Vec<Prompt> {
    let guides = catalogue.dialects().iter().map(|dialect| {
        let about = format!("How to use the tools of the dialect {}", dialect.name);
        Prompt::new(guide_name(dialect.name), Some(about), None)
            .with_title(format!("Guide: {}", dialect.name))
    });
    let recap = Prompt::new(RECAP, Some("What this session has changed, with diffs, to be summed up"), None)
        .with_title("Recap of the changes");
    guides.chain([recap]).collect()
}

/// The guide that a prompt's name asks for.
pub(crate) fn guide_for(catalogue: &Catalogue, name: &str) -> Option<PromptMessage> {
    let dialect = catalogue.dialects().iter().find(|dialect| guide_name(dialect.name) == name)?;
    Some(PromptMessage::new_text(Role::User, guide(dialect)))
}

fn guide_name(dialect: &str) -> String {
    format!("{dialect}-guide")
}

/// What a session has changed, oldest first.
pub(crate) fn recap(workspace: &Workspace, session: &str) -> Result<PromptMessage, JournalError> {
    let filter = Filter { session: Some(session.into()), limit: Some(MAX_CHANGES), ..Filter::default() };
    let mut changes = workspace.log(&filter)?;
    changes.reverse();
    let mut text = String::from(
        "Sum up for me what was changed in these files and why, in a few sentences; name every file, and say what I \
         should look at more closely.\n",
    );
    if changes.is_empty() {
        text.push_str("\nThis session has not changed anything yet.\n");
    }
    for change in changes {
        let description = change.description.as_deref().unwrap_or("no description");
        text.push_str(&format!("\n## {} by {}: {description}\n", change.id, change.origin.tool));
        if let Some(by) = change.undone_by {
            text.push_str(&format!("It was taken back by {by}.\n"));
        }
        match workspace.change(change.id)? {
            Some(entry) if text.len() + entry.diff.len() <= MAX_TEXT => {
                text.push_str(&format!("\n{}", entry.diff));
            }
            _ => text.push_str(&format!(
                "The diff is too long for this prompt: read slipstitch://changes/{}.\n",
                change.id
            )),
        }
    }
    Ok(PromptMessage::new_text(Role::User, text))
}
