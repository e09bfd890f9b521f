//! A hunk in the user's editor.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use slipstitch_platform::{desktop, private};

use slipstitch::Workspace;
use slipstitch::core::ports::journal::{Proposal, ProposalHunk};

use crate::diff_view::HunkView;

/// The message for a hunk that can only be accepted or rejected.
pub(crate) const NOT_EDITABLE: &str = "this hunk has no lines to edit: accept or reject it";

/// Lets the user edit what a hunk writes, in `$VISUAL` or `$EDITOR`. Returns the new text, or `None` if it was left as it is. The
/// error is a message for the user.
pub fn edit_hunk(
    workspace: &Workspace,
    proposal: &Proposal,
    hunk: &ProposalHunk,
) -> Result<Option<String>, String> {
    if !proposal.can_edit_hunk(hunk) {
        return Err(NOT_EDITABLE.into());
    }
    let view = HunkView::parse(proposal.hunk_diff(hunk), hunk.path.as_str());
    edit_text(workspace, hunk, &view.editable)
}

/// Lets the user edit a text that is written instead of a hunk's.
pub(crate) fn edit_text(
    workspace: &Workspace,
    hunk: &ProposalHunk,
    before: &str,
) -> Result<Option<String>, String> {
    let ending =
        Path::new(hunk.path.as_str()).extension().and_then(|ending| ending.to_str()).unwrap_or("txt");
    let draft = Draft::create(workspace.state_dir(), ending, before)
        .map_err(|error| format!("cannot edit: {error}"))?;
    run_editor(&draft.path)?;
    let after = std::fs::read_to_string(&draft.path)
        .map_err(|error| format!("cannot read what you edited: {error}"))?;
    Ok((after != before).then_some(after))
}

fn run_editor(path: &Path) -> Result<(), String> {
    let named = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor =
        named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| desktop::DEFAULT_EDITOR.into());
    match desktop::edit(&editor, path).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{editor}` ended with {status}; the hunk is unchanged")),
        Err(error) => Err(format!("cannot start `{editor}`: {error}")),
    }
}

/// A file with the text, readable by its owner only; removed when it is dropped.
struct Draft {
    path: PathBuf,
}

impl Draft {
    fn create(folder: &Path, ending: &str, text: &str) -> std::io::Result<Self> {
        let path = folder.join(format!("hunk-{}.{ending}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let mut file = private::owner_only(OpenOptions::new().write(true).create_new(true)).open(&path)?;
        let draft = Self { path };
        file.write_all(text.as_bytes())?;
        Ok(draft)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
