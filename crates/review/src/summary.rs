//! What a proposal is, in a few words, for the page and the terminal.

use slipstitch::Workspace;
use slipstitch::core::change::{Base, FileChange, PathChange, Rung};
use slipstitch::core::outcome::Status;
use slipstitch::core::ports::journal::{
    Proposal, ProposalDecision, ProposalSubject, RecordedText, StoredProposal, Summary,
};
use slipstitch::core::report::{ConflictReport, is_whole_diff};
use slipstitch::core::text::display::escape_controls;

use crate::revert;

/// How much of the line that names an item is shown, in characters.
const MAX_ITEM_CHARS: usize = 60;

/// What a proposal is for, in a few words.
pub(crate) fn title_of(proposal: &Proposal) -> String {
    match (&proposal.description, proposal.notes.subject) {
        (_, ProposalSubject::WriteAccess) => "Write access for a session".into(),
        (Some(description), _) if !description.trim().is_empty() => escape_controls(description.trim()),
        _ => match &proposal.files[..] {
            [file] => format!("{} {}", verb(file), escape_controls(file.path.as_str())),
            files => format!("Change {} files", files.len()),
        },
    }
}

fn verb(file: &FileChange) -> &'static str {
    match (file.base, &file.path_change) {
        (Base::Absent, _) => "Create",
        (_, PathChange::Delete) => "Delete",
        (_, PathChange::Move(_)) => "Move",
        (_, PathChange::Keep) => "Change",
    }
}

/// Who proposed something: the agent if it is known, else the session.
pub(crate) fn author_of(proposal: &Proposal) -> String {
    escape_controls(proposal.origin.agent.as_deref().unwrap_or(&proposal.origin.session))
}

/// Whether a place was found although the request differs from the file.
pub(crate) fn is_recovered(proposal: &Proposal) -> bool {
    proposal.files.iter().flat_map(|file| &file.edits).any(|edit| edit.rung > Rung::Exact)
}

/// The words that tell at a glance why a proposal needs attention.
pub(crate) fn tags_of(proposal: &Proposal) -> Vec<&'static str> {
    [
        is_recovered(proposal).then_some("recovered"),
        proposal.reason.contains("protected").then_some("protected"),
        (proposal.text != RecordedText::Kept).then_some("no undo"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// How the place of a change was found, if not simply by exact text.
pub(crate) fn how_found(change: &Summary) -> Option<&'static str> {
    match change.files.iter().filter_map(|file| file.rung).max()? {
        Rung::Stated | Rung::Exact => None,
        Rung::Evidence => Some("carried over"),
        Rung::Chosen => Some("chosen"),
        _ => Some("recovered"),
    }
}

/// What to know about the undo of a proposal before it is accepted.
pub(crate) fn undo_note(proposal: &Proposal) -> Option<&'static str> {
    match proposal.text {
        RecordedText::Kept => None,
        RecordedText::Private | RecordedText::Withheld => Some(
            "A file is private, so its text is not kept. Once accepted, this can be undone only until this review is closed.",
        ),
    }
}

/// The note on a proposal whose diff is too long to be kept in full: people should know if they accept something that they cannot
/// see.
pub(crate) fn unseen_note(proposal: &Proposal) -> Option<&'static str> {
    (!is_whole_diff(&proposal.diff)).then_some(
        "The diff is too long, so the end of it is left out. Whoever accepts the proposal accepts that part unseen.",
    )
}

/// What to know before a proposal is decided: what differs from the request or from when it was made, and whether it can be
/// undone. One line each, escaped.
pub fn notes_about(workspace: &Workspace, found: &StoredProposal) -> Vec<String> {
    let report = revert::preview(workspace, found.id);
    let mut notes = Vec::new();
    notes.extend(undo_note(&found.proposal).map(|note| format!("Can't be undone later. {note}")));
    notes.extend(unseen_note(&found.proposal).map(|note| format!("Not everything is shown. {note}")));
    if matches!(report.status(), Status::Refused | Status::Invalid) {
        notes.push(format!("Cannot be applied now: {}", report.message));
        notes.extend(report.conflicts.iter().flat_map(ConflictReport::lines));
    }
    let carried = report.warnings.iter().filter(|warning| warning.contains("carried over"));
    notes.extend(carried.map(|warning| format!("{warning}. Now: {}", report.message)));
    let differences = found.proposal.files.iter().flat_map(|file| &file.notes);
    notes.extend(differences.map(|note| format!("Found with differences: {note}")));
    notes.iter().map(|note| escape_controls(note)).collect()
}

/// The added and removed lines of a diff.
pub(crate) fn count_lines(diff: &str) -> (usize, usize) {
    let (mut added, mut removed, mut is_in_hunk) = (0, 0, false);
    for line in diff.lines() {
        match line.as_bytes().first() {
            // Headers come before the first hunk of a file; a removed line that starts with `-- ` looks like one.
            Some(b'@') => is_in_hunk = true,
            Some(b'd') => is_in_hunk = false,
            Some(b'+') if is_in_hunk => added += 1,
            Some(b'-') if is_in_hunk => removed += 1,
            _ => {}
        }
    }
    (added, removed)
}

/// What the caller gets to read about a decision, word for word.
pub(crate) fn answer_to_agent(
    workspace: &Workspace,
    found: &StoredProposal,
    decision: &ProposalDecision,
) -> String {
    let text = match workspace.describe_decision(found) {
        Some(report) => report.message,
        None => format!("{} was {decision}", found.id),
    };
    text.lines().map(escape_controls).collect::<Vec<_>>().join("\n")
}

/// The line that names an item, without what opens its body, and in a reasonable length.
pub(crate) fn shorten_item(line: &str) -> String {
    let line = line.trim_end_matches(['{', ':', '(', ' ']);
    match line.char_indices().nth(MAX_ITEM_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// One word for the state of a proposal.
pub(crate) fn state_of(found: &StoredProposal) -> &'static str {
    match &found.decision {
        None => "waiting",
        Some(ProposalDecision::Rejected { .. }) => "rejected",
        Some(ProposalDecision::Accepted { left_out, .. }) if !left_out.is_empty() => "partly accepted",
        Some(_) => "accepted",
    }
}

/// How long ago something happened, as a part of a sentence.
pub(crate) fn ago_in_words(milliseconds: i64) -> String {
    match ago(milliseconds).as_str() {
        "now" => "just now".into(),
        age => format!("{age} ago"),
    }
}

/// How long ago something happened.
pub(crate) fn ago(milliseconds: i64) -> String {
    let now = jiff::Timestamp::now().as_millisecond();
    let minutes = (now - milliseconds).max(0) / 60_000;
    match minutes {
        0 => "now".into(),
        1..60 => format!("{minutes} min"),
        60..1440 => format!("{} h", minutes / 60),
        _ => format!("{} d", minutes / 1440),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_look_like_headers_are_counted() {
        let file = |name: &str| {
            format!(
                "diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1,2 +1,2 @@\n--- old comment\n-x\n+++ i;\n+y\n+z\n"
            )
        };
        assert_eq!(count_lines(&file("a.sql")), (3, 2));
        assert_eq!(count_lines(&(file("a.sql") + &file("b.sql"))), (6, 4));
        assert_eq!(count_lines("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n"), (1, 1));
    }
}
