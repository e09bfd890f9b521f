//! A file of a proposal with all of its lines.

use slipstitch::Workspace;
use slipstitch::core::ports::journal::{ProposalHunk, StoredProposal};

use crate::diff_view::HunkView;
use crate::whole_file::FileBefore;

/// How many parts are shown. More would take long to colour, and nobody reads them here.
const MAX_PARTS: usize = 50;

/// A file with all of its lines.
pub(super) struct WholeFile {
    pub(super) path: String,
    pub(super) parts: Vec<HunkView>,
}

impl WholeFile {
    /// The file that a hunk belongs to; the error is a message for the user.
    pub(super) fn read(
        workspace: &Workspace,
        found: &StoredProposal,
        hunks: &[ProposalHunk],
        current: usize,
    ) -> Result<Self, String> {
        let hunk = hunks.get(current).ok_or("there is no file to show")?;
        let same_file = hunks.iter().filter(|other| other.path == hunk.path);
        let diff: String = same_file.map(|hunk| found.proposal.hunk_diff(hunk)).collect();
        let before = FileBefore::read(workspace, found, &hunk.path);
        let parts = before.parts(&diff).ok_or("the whole file cannot be shown: its text is not known")?;
        if parts.len() > MAX_PARTS {
            return Err("the file is too long to be shown here as a whole".into());
        }
        let path = hunk.path.as_str();
        let parts = parts.iter().map(|part| HunkView::parse(part, path)).collect();
        Ok(Self { path: path.to_owned(), parts })
    }
}
