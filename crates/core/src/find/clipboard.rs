//! Clipboards: text that one edit copies from the file and another pastes.
//!
//! All texts of a request are copied before any is pasted, because its edits are simultaneous. An edit pastes what the
//! nearest edit before it copied under that name, or else an edit after it, or else an earlier request of the session.
//! The copied text is the file's, never the request's.

use std::collections::BTreeMap;

use super::resolved_edit::ResolvedEdit;
use super::text::replace_exactly;
use super::{Failure, Finder, LocatedEdits, Reason, split_results};
use crate::change::{DifferenceKind, Rung};
use crate::plan::{ClipboardUse, EditPlan, EditRules, Operation, Reindent};
use crate::snapshot::Snapshot;
use slipstitch_text::{Span, canonical};

/// The texts that the edits of one request copy: edit, clipboard name and text.
type CopiedTexts = Vec<(usize, String, String)>;

/// A plan with all clipboards pasted.
pub(super) struct Filled {
    pub(super) plan: EditPlan,
    /// Its edits of existing text that copy, paste or reindent.
    pub(super) located: LocatedEdits,
    /// The clipboards to remember for the session.
    pub(super) copied: BTreeMap<String, String>,
    pub(super) notes: Vec<String>,
}

/// Why clipboards cannot be pasted.
#[derive(Default)]
pub(super) struct Unfilled {
    pub(super) failures: Vec<Failure>,
    /// What follows from another failure: clipboards that are empty because the edit that fills them was not found, and
    /// places that were not found.
    pub(super) consequences: Vec<Failure>,
}

/// Pastes all clipboards of a plan.
pub(super) fn fill(plan: &EditPlan, finder: &Finder<'_>) -> Result<Filled, Unfilled> {
    let ClipSources { copied, places, mut located, inexact, notes } = find_clip_sources(plan, finder);
    let mut plan = plan.clone();
    let mut unfilled = Unfilled::default();
    let mut edit = 0;
    for file in &mut plan.files {
        for operation in &mut file.operations {
            edit += 1;
            let Some(clip) = plan.clipboards.uses.get(&edit) else { continue };
            // Otherwise recovery would adapt the pasted text to the place as if the request had written it, or shift
            // text that `reindent` has shifted already.
            let place = places.get(&edit);
            if let (Operation::Replace { old, new, .. }, Some(place)) = (&mut *operation, place)
                && clip.from.is_none()
            {
                *new = without_extra_newlines(old, new, &place.text);
            }
            let pasted = paste(operation, clip, edit, &copied, &plan.clipboards.known);
            let replaced = pasted.and_then(|()| match (operation, place, finder.seen.get(&file.path)) {
                (Operation::Replace { new, .. }, Some(place), Some(snapshot)) => {
                    place.replace_with(new, edit, finder.rules, snapshot).map(Some)
                }
                _ => Ok(None),
            });
            let reason = match (inexact.get(&edit), replaced) {
                (Some(reason), _) => reason.clone(),
                (None, Err(reason)) => reason,
                (None, Ok(replaced)) => {
                    located.extend(replaced.map(|replaced| (edit, replaced)));
                    continue;
                }
            };
            let is_consequence = match reason {
                Reason::NoClipboard { .. } => {
                    plan.clipboards.uses.values().any(|other| other.to == clip.from)
                }
                Reason::CannotReindent { .. } | Reason::CannotStrip { .. } => false,
                // Resolving the plan usually reports it too.
                _ => true,
            };
            let list = if is_consequence { &mut unfilled.consequences } else { &mut unfilled.failures };
            list.push(Failure { path: file.path.clone(), edit: Some(edit), reason });
        }
    }
    if !(unfilled.failures.is_empty() && unfilled.consequences.is_empty()) {
        return Err(unfilled);
    }
    let copied = copied.into_iter().map(|(_, name, text)| (name, text)).collect();
    Ok(Filled { plan, located, copied, notes })
}

/// What the edits with clipboards copy, and where they paste.
#[derive(Default)]
struct ClipSources {
    copied: CopiedTexts,
    /// Where edits paste or reindent.
    places: BTreeMap<usize, LiteralPlace>,
    /// The edits that only copy.
    located: LocatedEdits,
    /// Edits whose text cannot be reindented, because their place is not known well enough.
    inexact: BTreeMap<usize, Reason>,
    notes: Vec<String>,
}

/// A place whose new text is written literally.
struct LiteralPlace {
    spans: Vec<Span>,
    /// The file's text there, canonical.
    text: String,
    rung: Rung,
    /// How the old text differs from it.
    classes: Vec<DifferenceKind>,
}

impl LiteralPlace {
    /// The place that `old` was recovered at. Recovery includes the newline after it if it deletes the line, and at the end of the
    /// file the one before the line.
    fn recovered(old: &str, found: &ResolvedEdit, span: Span, snapshot: &Snapshot) -> Self {
        let text = span.of(snapshot.text());
        let newline_at_end = match text {
            [.., b'\r', b'\n'] => 2,
            [.., b'\n'] => 1,
            _ => 0,
        };
        let newline_at_start = match text {
            [b'\r', b'\n', _, ..] => 2,
            [b'\n', _, ..] => 1,
            _ => 0,
        };
        let is_end = span.end() == snapshot.text_len() && !snapshot.ends_with_newline();
        let starts_line = snapshot.line_span(snapshot.line_of(span.start())).start() == span.start();
        let has_more_blank_lines =
            blank_lines_before(&String::from_utf8_lossy(text)) > blank_lines_before(old);
        let follows_line = is_end && (!starts_line || has_more_blank_lines);
        let start = span.start() + if follows_line { newline_at_start } else { 0 };
        let end = if old.ends_with('\n') { 0 } else { newline_at_end };
        let place = Self::exact(vec![Span::new(start, span.end() - end)], snapshot);
        Self { rung: found.rung, classes: found.classes.clone(), ..place }
    }

    /// One place or several with the same text.
    fn exact(spans: Vec<Span>, snapshot: &Snapshot) -> Self {
        let text = spans.first().map(|span| String::from_utf8_lossy(span.of(snapshot.text())));
        let text = text.map_or(String::new(), |text| canonical(&text).into_owned());
        Self { text, spans, rung: Rung::Exact, classes: Vec::new() }
    }

    fn replace_with(
        &self,
        new: &str,
        edit: usize,
        rules: EditRules,
        snapshot: &Snapshot,
    ) -> Result<ResolvedEdit, Reason> {
        let name = format!("edit {edit}");
        let replaced =
            replace_exactly(&name, self.spans.clone(), &self.text, &canonical(new), rules, snapshot)?;
        Ok(ResolvedEdit { number: edit, rung: self.rung, classes: self.classes.clone(), ..replaced })
    }
}

/// Finds each edit with a clipboard. An edit that is not found copies nothing; resolving the plan reports why.
fn find_clip_sources(plan: &EditPlan, finder: &Finder<'_>) -> ClipSources {
    let mut sources = ClipSources::default();
    let mut edit = 0;
    for file in &plan.files {
        for operation in &file.operations {
            edit += 1;
            let clip = plan.clipboards.uses.get(&edit);
            let (Some(clip), Some(snapshot)) = (clip, finder.seen.get(&file.path)) else { continue };
            let Operation::Replace { old, .. } = operation else { continue };
            let is_literal = clip.from.is_some() || clip.reindent.is_some();
            // Whether text that is written literally could be merged into the place is irrelevant.
            let probe = if is_literal { without_new_text(operation) } else { operation.clone() };
            let text = finder.file_text(snapshot, &file.path, 1);
            let edits = finder.resolve_operations(std::slice::from_ref(&probe), edit, &text);
            let (edits, failures) = split_results(edits);
            let found = edits.into_iter().next();
            let Some((found, span)) =
                found.and_then(|one| one.spans.first().copied().map(|span| (one, span)))
            else {
                if clip.reindent.is_some() && clip.from.is_none() {
                    sources.inexact.extend(failures);
                }
                continue;
            };
            let differs = *canonical(old) != canonical(&String::from_utf8_lossy(span.of(snapshot.text())));
            let place = match differs {
                true => LiteralPlace::recovered(&canonical(old), &found, span, snapshot),
                false => LiteralPlace::exact(found.spans.clone(), snapshot),
            };
            let text = place.text.clone();
            let is_request_text = clip.from.is_none();
            if differs
                && is_request_text
                && clip.reindent.is_some()
                && !differs_in_indentation_only(&found.classes)
            {
                let line = snapshot.line_of(span.start());
                sources.inexact.insert(edit, Reason::CannotReindent { line, differences: found.classes });
            } else if is_literal {
                sources.notes.extend(found.notes.into_iter().filter(|_| differs));
                sources.places.insert(edit, place);
            } else {
                sources.located.insert(edit, found);
            }
            let Some(name) = &clip.to else { continue };
            if differs {
                sources.notes.push(format!(
                    "edit {edit}: clipboard `{name}` contains the file's text, which differs from the old text you sent"
                ));
            }
            sources.copied.push((edit, name.clone(), text));
        }
    }
    sources
}

/// The number of blank lines that a text starts with.
fn blank_lines_before(text: &str) -> usize {
    text.lines().take_while(|line| line.trim().is_empty()).count()
}

/// The operation that only removes the old text.
fn without_new_text(operation: &Operation) -> Operation {
    let mut probe = operation.clone();
    if let Operation::Replace { new, .. } = &mut probe {
        new.clear();
    }
    probe
}

/// Whether the old text is the file's but for whitespace around lines, so that text which was written for the one can
/// replace the other literally. With any other difference, lines that old and new text share must keep the file's
/// characters, and after reindenting they are no longer recognized.
fn differs_in_indentation_only(classes: &[DifferenceKind]) -> bool {
    classes.iter().all(|class| {
        matches!(
            class,
            DifferenceKind::Indentation | DifferenceKind::TrailingWhitespace | DifferenceKind::FinalNewline
        )
    })
}

/// The new text without a first or last newline that the old text has and the file's does not.
fn without_extra_newlines(old: &str, new: &str, place: &str) -> String {
    let (old, mut new) = (canonical(old), new);
    if old.starts_with('\n') && !place.starts_with('\n') {
        new = new.strip_prefix("\r\n").or_else(|| new.strip_prefix('\n')).unwrap_or(new);
    }
    if old.ends_with('\n') && !place.ends_with('\n') {
        new = new.strip_suffix("\r\n").or_else(|| new.strip_suffix('\n')).unwrap_or(new);
    }
    new.to_owned()
}

fn paste(
    operation: &mut Operation,
    clip: &ClipboardUse,
    edit: usize,
    copied: &CopiedTexts,
    known: &BTreeMap<String, String>,
) -> Result<(), Reason> {
    let new = match operation {
        Operation::Replace { new, .. } => new,
        Operation::Append { text, .. } | Operation::Prepend { text, .. } => text,
        Operation::Create { content } | Operation::Overwrite { content, .. } => content,
        _ => return Ok(()),
    };
    if let Some(name) = &clip.from {
        let of_name = || copied.iter().filter(|(_, other, _)| other == name);
        let before = of_name().rfind(|(by, ..)| *by <= edit);
        let in_request = before.or_else(|| of_name().next()).map(|(_, _, text)| text);
        *new = match in_request.or_else(|| known.get(name)) {
            Some(text) => text.clone(),
            None => return Err(no_clipboard(name, copied, known)),
        };
    }
    if let Some(how) = &clip.reindent {
        *new = reindent(new, how)?;
    }
    Ok(())
}

fn no_clipboard(name: &str, copied: &CopiedTexts, known: &BTreeMap<String, String>) -> Reason {
    let mut available: Vec<String> =
        known.keys().chain(copied.iter().map(|(_, name, _)| name)).cloned().collect();
    available.sort();
    available.dedup();
    Reason::NoClipboard { name: name.into(), available }
}

/// Strips a prefix from every non-empty line and adds another.
fn reindent(text: &str, how: &Reindent) -> Result<String, Reason> {
    let mut out = String::with_capacity(text.len());
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        let body = line.trim_end_matches(['\n', '\r']);
        if body.is_empty() {
            out.push_str(line);
            continue;
        }
        let rest = line.strip_prefix(how.strip.as_str()).ok_or_else(|| Reason::CannotStrip {
            line: number,
            prefix: how.strip.clone(),
            found: body.chars().take(60).collect(),
        })?;
        out.push_str(&how.add);
        out.push_str(rest);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancel::CancelToken;
    use crate::find::{EarlierVersions, resolve_with_evidence};
    use crate::path::FilePath;
    use crate::plan::{FilePlan, Tolerance, Which};
    use crate::ports::versions::KnownVersion;
    use crate::snapshot::{FileContent, Snapshots};
    use slipstitch_text::EncodingRule;

    #[test]
    fn reindents_lines_and_skips_empty_ones() {
        let how = Reindent { strip: "\t".into(), add: "    ".into() };
        assert_eq!(reindent("\ta\n\n\tb", &how), Ok("    a\n\n    b".into()));
        let failed = reindent("\ta\nb\n", &how);
        assert!(matches!(failed, Err(Reason::CannotStrip { line: 2, .. })), "{failed:?}");
    }

    /// Counts how often a file's earlier versions are asked for: once for each search.
    #[derive(Default)]
    struct Searches(std::cell::Cell<usize>);

    impl EarlierVersions for Searches {
        fn of(&self, _: &FilePath, _: &Snapshot) -> Vec<KnownVersion> {
            self.0.set(self.0.get() + 1);
            Vec::new()
        }
    }

    #[test]
    fn an_edit_with_a_clipboard_is_searched_for_once() {
        let path = FilePath::from_record("file.txt").unwrap();
        let content = FileContent {
            bytes: b"fn f() {\r\n    first();\r\n}\r\nlast();\r\n".to_vec().into(),
            meta: Default::default(),
        };
        let mut seen = Snapshots::default();
        seen.insert(path.clone(), Some(Snapshot::new(content, EncodingRule::Detect)));
        let replace = |old: &str, new: &str| Operation::Replace {
            old: old.into(),
            new: new.into(),
            which: Which::Unique,
            within: None,
        };
        // The first one is recovered, the second one exact.
        let operations = vec![replace("fn f() {\n  first();\n}\n", ""), replace("last();", "")];
        let file = FilePlan { path, version: None, operations };
        let rules = EditRules { tolerance: Tolerance::Recover, ..EditRules::STRICT };
        let mut plan = EditPlan::new(vec![file], rules);
        let clip = |to: Option<&str>, from: Option<&str>| ClipboardUse {
            to: to.map(Into::into),
            from: from.map(Into::into),
            reindent: None,
        };
        plan.clipboards.uses = BTreeMap::from([(1, clip(Some("f"), None)), (2, clip(None, Some("f")))]);
        let searches = Searches::default();
        let changes =
            resolve_with_evidence(&plan, &seen, &searches, &CancelToken::default(), &mut |_| {}).unwrap();
        let change = &changes.files()[0];
        let after = change.splices.apply(seen.bytes_before(change));
        assert_eq!(String::from_utf8(after).unwrap(), "fn f() {\r\n    first();\r\n}\r\n\r\n");
        assert_eq!(searches.0.get(), 1);
    }
}
