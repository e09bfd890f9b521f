//! Damage to complete texts by file viewers, escaping and chat.

use super::draft::{Draft, Role};
use super::random::Random;

/// Old and new text.
pub(crate) type Texts = (String, String);

fn both(texts: Texts, change: impl Fn(&str) -> String) -> Option<Texts> {
    Some((change(&texts.0), change(&texts.1)))
}

pub(crate) fn crlf(_: &mut Draft, texts: Texts, _: &mut Random) -> Option<Texts> {
    both(texts, |text| text.replace('\n', "\r\n"))
}

const FORMS: &[fn(usize) -> String] = &[
    |n| format!("{n:>4}|"),
    |n| format!("{n}\t"),
    |n| format!("{n:>6}\t"),
    |n| format!("{n}: "),
    |n| format!("{n:>5}→"),
    |n| format!("L{n}:"),
    |n| format!("{n} | "),
];

/// A number in front of every line, in the old text or in both.
pub(crate) fn line_numbers(draft: &mut Draft, texts: Texts, random: &mut Random) -> Option<Texts> {
    let form = FORMS[random.below(FORMS.len())];
    let first = draft.head.len() + 1;
    let number = |text: &str| {
        let lines: Vec<String> = (first..).zip(text.split('\n')).map(|(n, line)| form(n) + line).collect();
        lines.join("\n")
    };
    let new = if random.chance(50) { number(&texts.1) } else { texts.1 };
    Some((number(&texts.0), new))
}

/// Newlines and quotation marks as escapes.
pub(crate) fn escapes(_: &mut Draft, texts: Texts, random: &mut Random) -> Option<Texts> {
    if texts.0.contains('\\') || texts.1.contains('\\') || !texts.0.contains('\n') {
        return None;
    }
    let quotes = random.chance(50) || !texts.0.contains('"');
    let newlines = random.chance(50) || !texts.0.contains('"');
    if !(quotes || newlines) {
        return None;
    }
    both(texts, |text| {
        let text = if quotes { text.replace('"', "\\\"") } else { text.to_owned() };
        if newlines { text.replace('\n', "\\n") } else { text }
    })
}

pub(crate) fn entities(_: &mut Draft, texts: Texts, random: &mut Random) -> Option<Texts> {
    if !texts.0.contains(['<', '>', '&']) || texts.0.contains(';') && texts.0.contains("&#") {
        return None;
    }
    let has_entities =
        |text: &str| ["&lt;", "&gt;", "&amp;", "&quot;"].iter().any(|name| text.contains(name));
    if has_entities(&texts.0) || has_entities(&texts.1) {
        return None;
    }
    let quotes = random.chance(30);
    both(texts, |text| {
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        if quotes { text.replace('"', "&quot;") } else { text }
    })
}

pub(crate) fn fence(_: &mut Draft, texts: Texts, random: &mut Random) -> Option<Texts> {
    let name = ["", "rust", "text"][random.below(3)];
    let clear = !texts.0.contains("```") && !texts.1.contains("```");
    clear.then(|| both(texts, |text| format!("```{name}\n{text}\n```")))?
}

/// A newline at an end that only one text has, or at the start of both.
pub(crate) fn newline_edges(draft: &mut Draft, texts: Texts, random: &mut Random) -> Option<Texts> {
    let (old, new) = texts;
    let filled = |line: Option<&String>| line.is_some_and(|line| !line.trim().is_empty());
    match random.below(3) {
        0 if filled(draft.tail.first()) => Some((old + "\n", new)),
        1 if filled(draft.head.last()) => Some((format!("\n{old}"), format!("\n{new}"))),
        2 if filled(draft.head.last()) => Some((format!("\n{old}"), new)),
        _ => None,
    }
}

/// The last lines of a file without final newline, with or without one in the request.
pub(crate) fn no_final_newline(draft: &mut Draft, texts: Texts, random: &mut Random) -> Option<Texts> {
    draft.tail.clear();
    draft.final_newline = false;
    if random.chance(70) { Some((texts.0 + "\n", texts.1 + "\n")) } else { Some(texts) }
}

/// A first or last context line that is only part of the file's line.
pub(crate) fn partial_line(draft: &mut Draft, _: Texts, random: &mut Random) -> Option<Texts> {
    let first = random.chance(40);
    let row = if first { draft.rows.first_mut()? } else { draft.rows.last_mut()? };
    let text = row.old.clone().filter(|text| row.role == Role::Context && text.trim().len() >= 12)?;
    let cuts: Vec<usize> = text.match_indices(' ').map(|(at, _)| at).collect();
    let long = |part: &str| part.trim().len() >= 4;
    let cuts: Vec<usize> = cuts.into_iter().filter(|&at| long(&text[..at]) && long(&text[at..])).collect();
    let &at = random.pick(&cuts)?;
    row.show(if first { &text[at + 1..] } else { text[..at].trim_end() });
    Some(draft.request())
}
