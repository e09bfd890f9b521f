//! Many edits in one call, each with a mistake in whitespace.

use serde_json::{Value, json};

use super::Call;
use crate::gauntlet::certainty::{folded_lines, occurrences};
use crate::gauntlet::draft::{indent, words};
use crate::gauntlet::random::Random;

pub(super) fn eleven(files: &[Vec<String>], random: &mut Random) -> Option<Call> {
    batch(11, files, random)
}

pub(super) fn fifty(files: &[Vec<String>], random: &mut Random) -> Option<Call> {
    batch(50, files, random)
}

fn batch(count: usize, files: &[Vec<String>], random: &mut Random) -> Option<Call> {
    let mut lines: Vec<String> = Vec::new();
    while lines.len() < 12 * count {
        lines.extend(random.pick(files)?.iter().cloned());
    }
    let before = lines.join("\n") + "\n";
    let folded = folded_lines(lines.iter().map(String::as_str));
    let mut after = lines.clone();
    let mut edits: Vec<Value> = Vec::new();
    let mut at = 0;
    while edits.len() < count && at + 2 < lines.len() {
        match pair(&lines[at..at + 2], &folded, &before, random) {
            Some((edit, line)) => {
                edits.push(edit);
                after[at + 1] = line;
                at += 6;
            }
            None => at += 1,
        }
    }
    let arguments = json!({"edits": edits});
    let expected = Some(after.join("\n") + "\n");
    (edits.len() == count).then_some(Call { before, seen: None, tool: "edit_file", arguments, expected })
}

/// An edit of the second of two lines, without their indentation or with trailing spaces, and the new line.
fn pair(lines: &[String], folded: &[String], before: &str, random: &mut Random) -> Option<(Value, String)> {
    let [first, second] = lines else { return None };
    let part = folded_lines(lines.iter().map(String::as_str));
    let letters: usize = part.iter().map(String::len).sum();
    if part.len() != 2 || letters < 16 || occurrences(folded, &part).len() != 1 {
        return None;
    }
    let &(from, to) = random.pick(&words(second, 4))?;
    let changed = format!("{}quince{}", &second[..from], &second[to..]);
    let common = indent(first).len().min(indent(second).len());
    let (old, new) = match common >= 2 && random.chance(50) {
        true => (
            format!("{}\n{}", &first[common..], &second[common..]),
            format!("{}\n{}", &first[common..], &changed[common..]),
        ),
        false => (format!("{first}  \n{second} "), format!("{first}  \n{changed}")),
    };
    (!before.contains(&old)).then(|| (json!({"old_text": old, "new_text": new}), changed))
}
