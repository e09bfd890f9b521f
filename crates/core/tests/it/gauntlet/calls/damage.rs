//! Requests that an engine may write down wrongly and report as done.

use super::Call;
use crate::gauntlet::certainty::by_content;
use crate::gauntlet::draft::{Draft, Role, Row, indent};
use crate::gauntlet::random::Random;

fn draft(files: &[Vec<String>], random: &mut Random) -> Option<Draft> {
    let (lead, trail) = (random.from(1, 4), random.from(1, 4));
    Draft::of(random.pick(files)?, lead, trail, random).filter(by_content)
}

/// The call of a damaged draft, unless the old text is still in the file.
fn call(draft: &Draft) -> Option<Call> {
    let (before, (old, new)) = (draft.before(), draft.request());
    (!before.contains(&old) && old != new && draft.after() != before)
        .then(|| Call::edit(before, &old, &new, Some(draft.after())))
}

/// Dots in place of lines that the old text has and the new text lacks.
pub(super) fn bare_dots(files: &[Vec<String>], random: &mut Random) -> Option<Call> {
    let file = random.pick(files)?;
    let size = random.from(6, 12);
    let start = random.below(file.len().checked_sub(size)?);
    let block = &file[start..start + size];
    let (first, last) = (block[0].trim(), block[size - 1].trim());
    let hidden = &block[1..size - 1];
    if first.is_empty() || last.is_empty() || block.iter().any(|line| line.contains("...")) {
        return None;
    }
    let depth = indent(hidden.iter().find(|line| !line.trim().is_empty())?);
    let dots = ["...", "// ...", "# ..."][random.below(3)];
    let before = file.join("\n") + "\n";
    let old = block.join("\n");
    let new = format!("{} quince\n{depth}{dots}\n{}", block[0], block[size - 1]);
    let shown = hidden.iter().filter(|line| !line.trim().is_empty()).count();
    (shown >= 3 && before.matches(&old).count() == 1).then(|| Call::edit(before, &old, &new, None))
}

/// The replaced line and its replacement, one column off.
pub(super) fn off_by_one(files: &[Vec<String>], random: &mut Random) -> Option<Call> {
    let mut draft = draft(files, random)?;
    let with = |role: Role| draft.rows.iter().filter(move |row| row.role == role);
    let depth = |row: &Row| row.file.as_deref().map_or(0, |text| indent(text).len());
    let removed = with(Role::Removed).map(depth).max().filter(|depth| *depth >= 2)?;
    let filled = |row: &Row| row.file.as_deref().is_some_and(|text| !text.trim().is_empty());
    if with(Role::Removed).count() != 1
        || with(Role::Added).count() == 0
        || !with(Role::Added).all(|row| filled(row) && depth(row) >= removed)
    {
        return None;
    }
    let right = random.chance(50);
    for row in draft.rows.iter_mut().filter(|row| row.role != Role::Context) {
        let text = row.file.clone()?;
        row.show(&if right { format!(" {text}") } else { text[1..].to_owned() });
    }
    call(&draft)
}

/// Two spaces for each level in the request, four in the file.
pub(super) fn two_for_four(files: &[Vec<String>], random: &mut Random) -> Option<Call> {
    let mut draft = draft(files, random)?;
    let depths = |lines: Vec<&str>| -> Vec<usize> {
        lines.into_iter().filter(|line| !line.trim().is_empty()).map(|line| indent(line).len()).collect()
    };
    let all = depths(draft.lines([Role::Context, Role::Removed]));
    let old = depths(draft.rows.iter().filter_map(Row::old_content).collect());
    let rows = draft
        .rows
        .iter()
        .filter_map(|row| row.file.as_deref())
        .all(|line| indent(line).len().is_multiple_of(4));
    if !rows || all.iter().any(|depth| depth % 4 != 0) || old.iter().min() == old.iter().max() {
        return None;
    }
    for row in &mut draft.rows {
        let text = row.file.clone()?;
        row.show(&text[indent(&text).len() / 2..]);
    }
    call(&draft)
}
