//! A file of a proposal with all of its lines.

use maud::{Markup, html};
use slipstitch::Workspace;
use slipstitch::core::ports::journal::{ProposalHunk, ProposalId, StoredProposal};

use super::layout::{Frame, Tab, page};
use super::queue::queue_list;
use super::{diff, visible};
use crate::diff_view::HunkView;
use crate::selection::Selection;
use crate::summary::title_of;
use crate::whole_file::{FileBefore, first_changed_part};

/// A file in parts.
struct WholeFile {
    found: StoredProposal,
    hunk: ProposalHunk,
    parts: Vec<String>,
}

impl WholeFile {
    /// Reads the file that this hunk belongs to.
    fn read(workspace: &Workspace, id: ProposalId, number: usize) -> Option<Self> {
        let found = workspace.proposal(id).ok().flatten()?;
        let hunks = found.proposal.hunks();
        let hunk = hunks.iter().find(|hunk| hunk.number == number)?.clone();
        let same_file = hunks.iter().filter(|other| other.path == hunk.path);
        let diff: String = same_file.map(|hunk| found.proposal.hunk_diff(hunk)).collect();
        let parts = FileBefore::read(workspace, &found, &hunk.path).parts(&diff)?;
        Some(Self { found, hunk, parts })
    }

    fn link(&self, part: usize) -> String {
        format!("/review/{}/file/{}/{part}", self.found.id, self.hunk.number)
    }

    /// One part, with links to the ones above and below.
    fn part(&self, number: usize) -> Option<Markup> {
        let view = HunkView::parse(self.parts.get(number)?, self.hunk.path.as_str());
        Some(html! {
            @if number > 0 { a.more.above href=(self.link(number - 1)) { "Show the lines above" } }
            (diff::rows(&view))
            @if number + 1 < self.parts.len() { a.more.below href=(self.link(number + 1)) data-auto { "Show the lines below" } }
        })
    }
}

/// The page of a file, from the part with its first change.
pub(crate) fn file_page(
    workspace: &Workspace,
    id: ProposalId,
    hunk: usize,
    selection: &Selection,
) -> Option<Markup> {
    let frame = Frame::new(workspace, Tab::Review, selection);
    let file = WholeFile::read(workspace, id, hunk)?;
    let path = visible(file.hunk.path.as_str());
    let list = queue_list(workspace, Some(id), selection);
    let content = html! {
        h1 { (title_of(&file.found.proposal)) }
        p.why {
            "All lines of the file as the change was proposed for it. "
            a #back href={ "/review/" (id) (selection.query()) } { "Back to the changes" } " " kbd { "w" }
        }
        section.file aria-label=(path) {
            div.fh { h2.path { (path) } button.layout type="button" hidden { "Unified " kbd { "x" } } }
            (file.part(first_changed_part(&file.parts))?)
        }
    };
    Some(page(&path, frame, list, content))
}

/// One part of a long file, loaded on demand.
pub(crate) fn file_part(workspace: &Workspace, id: ProposalId, hunk: usize, part: usize) -> Option<Markup> {
    let file = WholeFile::read(workspace, id, hunk)?;
    Some(html! { div { (file.part(part)?) } })
}
