//! Clipboards: text that one edit takes out of the file and another puts in.
//!
//! All texts of a request are taken before any is put in, because its edits are simultaneous: an edit
//! pastes what the nearest edit before it took under that name, else what one after it took, else what the
//! session knew. What is taken is the file's own text, never the request's.

use std::collections::BTreeMap;

use super::text::answer_all;
use super::{Failure, Reason, Snapshots, split};
use crate::plan::{ClipboardUse, EditPlan, Operation, Reindent};
use slipstitch_text::canonical;

/// The texts that edits of one request take, by edit and name.
type Taken = Vec<(usize, String, String)>;

/// A plan with every pasted text in its place.
pub(super) struct Filled {
    pub(super) plan: EditPlan,
    /// What the session knows afterwards.
    pub(super) taken: BTreeMap<String, String>,
    pub(super) notes: Vec<String>,
}

/// Why texts cannot be put in their places.
#[derive(Default)]
pub(super) struct Unfilled {
    pub(super) failures: Vec<Failure>,
    /// Clipboards that are missing only because the edit that takes the text has no place.
    pub(super) consequences: Vec<Failure>,
}

/// Puts every pasted text in its place.
pub(super) fn fill(plan: &EditPlan, seen: &Snapshots) -> Result<Filled, Unfilled> {
    let Stand { taken, places, notes } = stand(plan, seen);
    let mut plan = plan.clone();
    let mut unfilled = Unfilled::default();
    let mut edit = 0;
    for file in &mut plan.files {
        for operation in &mut file.operations {
            edit += 1;
            let Some(clip) = plan.clipboards.uses.get(&edit) else { continue };
            // Recovery would fit the pasted text to the place, as if it were the request's.
            if let (Operation::Replace { old, .. }, Some(place)) = (&mut *operation, places.get(&edit)) {
                old.clone_from(place);
            }
            let Err(reason) = paste(operation, clip, edit, &taken, &plan.clipboards.known) else { continue };
            let to_be_taken = matches!(reason, Reason::NoClipboard { .. })
                && plan.clipboards.uses.values().any(|other| other.to == clip.from);
            let list = if to_be_taken { &mut unfilled.consequences } else { &mut unfilled.failures };
            list.push(Failure { path: file.path.clone(), edit: Some(edit), reason });
        }
    }
    if !(unfilled.failures.is_empty() && unfilled.consequences.is_empty()) {
        return Err(unfilled);
    }
    let taken = taken.into_iter().map(|(_, name, text)| (name, text)).collect();
    Ok(Filled { plan, taken, notes })
}

/// What the edits with clipboards stand on.
#[derive(Default)]
struct Stand {
    taken: Taken,
    /// The file's own text where an edit that pastes was recovered.
    places: BTreeMap<usize, String>,
    notes: Vec<String>,
}

/// Looks where each edit with a clipboard stands. One that has no place takes nothing; resolving the plan
/// says why.
fn stand(plan: &EditPlan, seen: &Snapshots) -> Stand {
    let mut stand = Stand::default();
    let mut edit = 0;
    for file in &plan.files {
        for operation in &file.operations {
            edit += 1;
            let clip =
                plan.clipboards.uses.get(&edit).filter(|clip| clip.to.is_some() || clip.from.is_some());
            let (Some(clip), Some(snapshot)) = (clip, seen.get(&file.path)) else { continue };
            let Operation::Replace { old, .. } = operation else { continue };
            let answers = answer_all(std::slice::from_ref(operation), edit, plan.rules, snapshot);
            let (answers, _) = split(answers);
            let Some((answer, span)) = answers.first().and_then(|one| Some((one, one.spans.first()?))) else {
                continue;
            };
            let text = String::from_utf8_lossy(span.of(snapshot.text()));
            let text = canonical(&text).into_owned();
            let differs = *canonical(old) != text;
            if differs && clip.from.is_some() {
                stand.notes.extend(answer.notes.iter().cloned());
                stand.places.insert(edit, text.clone());
            }
            let Some(name) = &clip.to else { continue };
            if differs {
                stand.notes.push(format!(
                    "edit {edit}: the clipboard `{name}` holds the file's own text, which differs from the old text given"
                ));
            }
            stand.taken.push((edit, name.clone(), text));
        }
    }
    stand
}

fn paste(
    operation: &mut Operation,
    clip: &ClipboardUse,
    edit: usize,
    taken: &Taken,
    known: &BTreeMap<String, String>,
) -> Result<(), Reason> {
    let new = match operation {
        Operation::Replace { new, .. } => new,
        Operation::Append { text, .. } | Operation::Prepend { text, .. } => text,
        Operation::Create { content } | Operation::Overwrite { content, .. } => content,
        _ => return Ok(()),
    };
    if let Some(name) = &clip.from {
        let of_name = || taken.iter().filter(|(_, other, _)| other == name);
        let before = of_name().rfind(|(by, ..)| *by <= edit);
        let in_request = before.or_else(|| of_name().next()).map(|(_, _, text)| text);
        *new = match in_request.or_else(|| known.get(name)) {
            Some(text) => text.clone(),
            None => return Err(missing(name, taken, known)),
        };
    }
    if let Some(reindent) = &clip.reindent {
        *new = reindented(new, reindent)?;
    }
    Ok(())
}

fn missing(name: &str, taken: &Taken, known: &BTreeMap<String, String>) -> Reason {
    let mut there: Vec<String> = known.keys().chain(taken.iter().map(|(_, name, _)| name)).cloned().collect();
    there.sort();
    there.dedup();
    Reason::NoClipboard { name: name.into(), there }
}

/// Takes a prefix off every line that is not empty and puts another one on.
fn reindented(text: &str, how: &Reindent) -> Result<String, Reason> {
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

    #[test]
    fn lines_are_reindented_and_empty_ones_left_alone() {
        let how = Reindent { strip: "\t".into(), add: "    ".into() };
        assert_eq!(reindented("\ta\n\n\tb", &how), Ok("    a\n\n    b".into()));
        let failed = reindented("\ta\nb\n", &how);
        assert!(matches!(failed, Err(Reason::CannotStrip { line: 2, .. })), "{failed:?}");
    }
}
