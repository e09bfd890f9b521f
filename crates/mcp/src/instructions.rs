//! How a model should use the tools: a short guide per dialect, sent when a client connects.

use slipstitch::core::dialect::Dialect;
use slipstitch::core::settings::Mode;

use crate::tools::Catalogue;

/// What holds for the tools of all dialects.
const ALL: &str = "\
These tools change files beneath the server's root: the right place or no place, all of a call or nothing. A refusal \
writes nothing and says why, what stands in the file instead, and what to send; read it before you try again. Paths are \
relative to the root; what is outside is refused. Every change is in the journal and can be taken back.";

const RESTRICTED: &str = "\
This session is restricted: it may look at files and not change them until the person in charge allows it.";

const REVIEW: &str = "\
Some changes wait for a person. An answer that says so is not a failure: do not send the change again.";

/// The guides, by dialect. A dialect that has guidelines of its own is not in the table.
const GUIDES: &[(&str, &str)] = &[
    (
        "native",
        "Read a file before you edit it and copy `old_text` from what you read, with a line or two around the place so \
         that it stands there once. Use edit_file for changes that you can quote, edit_lines for line numbers that you \
         have just read (with `expect`), patch for several files at once, write_file for new files. Several changes of one \
         file go into one call as `edits`; all of them refer to the file as it was. Send `version` from the last answer if \
         nobody else may have changed the file. After a refusal that lists candidates, send `candidate` with a number \
         instead of the text. undo_edit takes your last change back.",
    ),
    (
        "forge",
        "Edit replaces a snippet (old_snippet, new_snippet) or a range of lines (start_line, end_line, new_content). Send \
         the `file_hash` that you know: a file that changed since is then refused instead of edited. If a snippet stands in \
         several places, `match_hint` says which lines are meant. The answer is a status payload with the new hash.",
    ),
    (
        "phoenix",
        "patch changes one file by a list of patches that all refer to the file as it is now. `replace` needs oldText \
         that occurs exactly once. Move code with clipboards (toClipboard on the patch that removes it, fromClipboard where \
         it goes) instead of typing it again. If the session is restricted, ask with request_mode_upgrade and say what for.",
    ),
    (
        "agent-q",
        "Read a file with read_file, then make one edit_file call per change; old_str must stand in the file exactly once, \
         white space included. insert_at_line adds lines. Large changes and propose_file_edit wait for the user's review. \
         Give every change a `description`: it goes into the log.",
    ),
    (
        "nexus3",
        "edit_file replaces text that stands in the file exactly once, edit_lines replaces lines by number, patch applies a \
         unified diff. A batch in `edits` is all or nothing, and line numbers in it are those of the file before the call. \
         Use `dry_run` to see what a patch would do.",
    ),
    (
        "claude",
        "Read a file before you edit it. `old_str` and `old_string` must stand in the file once; add lines around the place \
         if they do not, or use replace_all. Several edits of one file go into one MultiEdit call.",
    ),
    (
        "codex",
        "apply_patch takes one patch from `*** Begin Patch` to `*** End Patch` for any number of files; either all of it is \
         applied or nothing. Give three lines of context around a change, and `@@ class or function` where the context alone \
         is not unique.",
    ),
];

/// How to use one dialect's tools.
pub(crate) fn guide(dialect: &Dialect) -> &'static str {
    let short = || GUIDES.iter().find(|(name, _)| *name == dialect.name).map(|(_, guide)| *guide);
    dialect.guidelines.or_else(short).unwrap_or(dialect.about)
}

/// What a client is told to tell the model.
pub(crate) fn instructions(catalogue: &Catalogue, mode: Mode) -> String {
    let mut parts = vec![ALL.to_owned()];
    if mode == Mode::Restricted {
        parts.push(RESTRICTED.into());
    }
    parts.push(REVIEW.into());
    let guides = catalogue.dialects().iter().map(|dialect| guide(dialect).trim_end());
    parts.extend(guides.map(str::to_owned));
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use slipstitch::dialects::BUILTIN;

    use super::*;
    use slipstitch::dialects::builtin;

    #[test]
    fn every_dialect_has_a_guide_that_names_its_tools() {
        for dialect in BUILTIN {
            let guide = guide(dialect);
            assert_ne!(guide, dialect.about, "{}", dialect.name);
            let named = dialect.tools.iter().any(|tool| guide.contains(tool.name));
            assert!(named, "{}: {guide}", dialect.name);
        }
        assert!(GUIDES.iter().all(|(name, _)| builtin().find(name).is_some()));
    }

    #[test]
    fn a_restricted_session_is_told_so() {
        let catalogue = Catalogue::new(&["xzatoma".into()]).unwrap();
        assert!(instructions(&catalogue, Mode::Restricted).contains("restricted"));
        let text = instructions(&catalogue, Mode::Unrestricted);
        assert!(!text.contains("restricted") && text.contains("## File Editing Guidelines"));
    }
}
