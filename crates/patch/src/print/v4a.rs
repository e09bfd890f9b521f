//! V4A patches.

use super::super::body::counts;
use crate::hunk::Hunk;
use crate::{Action, FilePatch};

pub(super) fn print(files: &[&FilePatch], out: &mut String) {
    out.push_str("*** Begin Patch\n");
    for file in files {
        let path = file.path.as_deref().unwrap_or_default();
        match &file.action {
            Action::Create { content, .. } => {
                out.push_str(&format!("*** Add File: {path}\n"));
                super::added(content, out);
            }
            Action::Delete { hunks, .. } => {
                out.push_str(&format!("*** Delete File: {path}\n"));
                hunks.iter().for_each(|hunk| super::lines(hunk, file.crlf, out));
            }
            Action::Update { hunks, move_to, .. } => {
                out.push_str(&format!("*** Update File: {path}\n"));
                if let Some(to) = move_to {
                    out.push_str(&format!("*** Move to: {to}\n"));
                }
                hunks.iter().for_each(|hunk| print_hunk(hunk, file.crlf, out));
            }
            Action::Replace { .. } => {}
        }
    }
    out.push_str("*** End Patch\n");
}

fn print_hunk(hunk: &Hunk, crlf: bool, out: &mut String) {
    let (old, new) = counts(hunk);
    match hunk.line {
        Some(line) => out.push_str(&format!("@@ -{line},{old} +{line},{new} @@\n")),
        None if hunk.scopes.is_empty() => out.push_str("@@\n"),
        None => {}
    }
    for scope in &hunk.scopes {
        let close = if scope.ends_with("@@") { " @@" } else { "" };
        out.push_str(&format!("@@ {scope}{close}\n"));
    }
    super::lines(hunk, crlf, out);
    if hunk.at_end {
        out.push_str("*** End of File\n");
    }
}
