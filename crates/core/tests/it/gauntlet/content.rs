//! Mistakes in content: context lines with different words than in the file, or left out.

use super::draft::{Draft, Role, Row, indent, words};
use super::random::Random;

/// A word with a typo.
fn misspell(word: &str, random: &mut Random) -> String {
    let at = random.from(1, word.len() - 2);
    let (front, back) = word.split_at(at);
    match random.below(3) {
        0 => format!("{front}{}", &back[1..]),
        1 => format!("{front}{}{back}", &back[..1]),
        _ => format!("{front}{}{}{}", &back[1..2], &back[..1], &back[2..]),
    }
}

/// A typo in a context line.
pub(crate) fn typo(draft: &mut Draft, random: &mut Random) -> bool {
    let Some(&at) = random.pick(&draft.context(8)) else { return false };
    add_typo(&mut draft.rows[at], random)
}

fn add_typo(row: &mut Row, random: &mut Random) -> bool {
    let Some(text) = row.old.clone() else { return false };
    let Some(&(from, to)) = random.pick(&words(&text, 4)) else { return false };
    row.show(&format!("{}{}{}", &text[..from], misspell(&text[from..to], random), &text[to..]));
    row.old != row.file
}

/// Words and their paraphrases.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("the", "this"),
    ("a", "one"),
    ("and", "as well as"),
    ("only", "just"),
    ("where", "wherever"),
    ("what", "that which"),
    ("if", "when"),
    ("lines", "rows"),
    ("text", "content"),
    ("place", "spot"),
    ("file", "document"),
    ("has", "holds"),
    ("is", "remains"),
];

/// Comment markers.
const COMMENTS: &[&str] = &["/// ", "//! ", "// ", "# "];

/// A paraphrased comment in the context.
pub(crate) fn paraphrased(draft: &mut Draft, random: &mut Random) -> bool {
    let comment = |at: &usize| {
        let line = draft.rows[*at].old.as_deref().unwrap_or_default().trim_start();
        COMMENTS.iter().any(|mark| line.starts_with(mark)) && line.split(' ').count() >= 6
    };
    let comments: Vec<usize> = draft.context(20).into_iter().filter(comment).collect();
    let Some(&at) = random.pick(&comments) else { return false };
    let Some(text) = draft.rows[at].old.clone() else { return false };
    let mut left = 3;
    let paraphrase: Vec<&str> = text
        .split(' ')
        .map(|word| match OTHER_WORDS.iter().find(|(plain, _)| *plain == word) {
            Some((_, other)) if left > 0 => {
                left -= 1;
                *other
            }
            _ => word,
        })
        .collect();
    draft.rows[at].show(&paraphrase.join(" "));
    left < 3
}

/// A context line that someone has changed in the file since the request's author read it.
pub(crate) fn stale(draft: &mut Draft, random: &mut Random) -> bool {
    let Some(&at) = random.pick(&draft.context(8)) else { return false };
    let row = &mut draft.rows[at];
    let Some(text) = row.file.clone() else { return false };
    let digit = text.find(|c: char| c.is_ascii_digit());
    row.file = match (digit, random.pick(&words(&text, 4))) {
        (Some(at), _) if random.chance(50) => Some(format!("{}7{}", &text[..at], &text[at..])),
        (_, Some(&(from, to))) => Some(format!("{}{}_two{}", &text[..from], &text[from..to], &text[to..])),
        _ => return false,
    };
    true
}

const DOTS: &[&str] =
    &["...", "// ...", "// ... existing code ...", "# ... rest of the code ...", "// ... (unchanged) ..."];

/// Context lines replaced with dots.
pub(crate) fn elided(draft: &mut Draft, random: &mut Random) -> bool {
    let is_context = |row: &Row| row.role == Role::Context;
    let leads = draft.rows.iter().take_while(|row| is_context(row)).count();
    let trails = draft.rows.iter().rev().take_while(|row| is_context(row)).count();
    let (from, to) = match leads >= trails {
        true => (2, leads.saturating_sub(2)),
        false => (draft.rows.len() - trails + 2, draft.rows.len() - 2),
    };
    if to < from + 3 {
        return false;
    }
    let dots = DOTS[random.below(DOTS.len())];
    let text = format!("{}{dots}", indent(draft.rows[from].file.as_deref().unwrap_or_default()));
    for row in &mut draft.rows[from..to] {
        (row.old, row.new) = (None, None);
    }
    draft.rows.insert(from, Row { file: None, ..Row::new(Role::Context, &text) });
    true
}

/// A removed line with a different number, name or string than in the file.
pub(crate) fn different_line(draft: &mut Draft, random: &mut Random) -> bool {
    let removed: Vec<usize> =
        (0..draft.rows.len()).filter(|&at| draft.rows[at].role == Role::Removed).collect();
    let Some(&at) = random.pick(&removed) else { return false };
    let Some(text) = draft.rows[at].old.clone() else { return false };
    let Some(&(from, to)) = random.pick(&words(&text, 3)) else { return false };
    let other = match random.below(3) {
        0 => format!("{}_3000", &text[from..to]),
        1 => format!("not_{}", &text[from..to]),
        _ => "something".into(),
    };
    draft.rows[at].old = Some(format!("{}{other}{}", &text[..from], &text[to..]));
    true
}
