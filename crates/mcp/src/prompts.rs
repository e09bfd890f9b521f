//! Prompts: each dialect's guide, and a recap of the session's changes.

use rmcp::model::{Prompt, PromptMessage, Role};
use slipstitch::Workspace;
use slipstitch::core::ports::journal::{Filter, JournalError};

use crate::resources::change_uri;
use crate::tools::Catalogue;

/// Name of the prompt that shows what the session has changed.
pub(crate) const RECAP: &str = "recap";

/// How many changes a recap contains.
const MAX_CHANGES: usize = 20;
/// The longest recap with diffs, in bytes; further diffs are left out.
const MAX_BYTES: usize = 60_000;

/// The result of `prompts/list`.
pub(crate) fn list_prompts(catalogue: &Catalogue) -> Vec<Prompt> {
    let guides = catalogue.dialects().iter().map(|dialect| {
        let description = format!("How to use the tools of the {} dialect", dialect.name);
        Prompt::new(guide_name(dialect.name), Some(description), None)
            .with_title(format!("Guide: {}", dialect.name))
    });
    let recap = Prompt::new(RECAP, Some("Summarize what this session has changed, from its diffs"), None)
        .with_title("Recap of changes");
    guides.chain([recap]).collect()
}

/// The guide with this prompt name.
pub(crate) fn guide_prompt(catalogue: &Catalogue, name: &str) -> Option<PromptMessage> {
    let dialect = catalogue.dialects().iter().find(|dialect| guide_name(dialect.name) == name)?;
    Some(PromptMessage::new_text(Role::User, dialect.guide))
}

fn guide_name(dialect: &str) -> String {
    format!("{dialect}-guide")
}

/// What a session has changed, oldest first.
pub(crate) fn recap_prompt(workspace: &Workspace, session: &str) -> Result<PromptMessage, JournalError> {
    let filter = Filter { session: Some(session.into()), limit: Some(MAX_CHANGES), ..Filter::default() };
    let mut changes = workspace.log(&filter)?;
    changes.reverse();
    let mut text = String::from(
        "Summarize in a few sentences what was changed in these files and why. Name every file, and point out what I \
         should check more closely.\n",
    );
    if changes.is_empty() {
        text.push_str("\nThis session has not changed anything yet.\n");
    }
    for change in changes {
        let description = change.description.as_deref().unwrap_or("no description");
        text.push_str(&format!("\n## {} by {}: {description}\n", change.id, change.origin.tool));
        if let Some(by) = change.undone_by {
            text.push_str(&format!("It was undone by {by}.\n"));
        }
        match workspace.change(change.id)? {
            Some(entry) if text.len() + entry.diff.len() <= MAX_BYTES => {
                text.push_str(&format!("\n{}", entry.diff));
            }
            _ => text.push_str(&format!(
                "The diff is too long for this prompt; read {} instead.\n",
                change_uri(change.id)
            )),
        }
    }
    Ok(PromptMessage::new_text(Role::User, text))
}
