//! Formal mistakes: the request differs from the file in whitespace and look-alike punctuation. Each function damages
//! a draft, or returns false if it cannot.

use super::draft::{Draft, Role, Row, indent};
use super::random::Random;

/// Trailing whitespace in the file.
pub(crate) fn trailing_whitespace_in_file(draft: &mut Draft, random: &mut Random) -> bool {
    let mut any = false;
    for row in draft.rows.iter_mut().filter(|row| row.role != Role::Added) {
        if random.chance(50)
            && let Some(text) = &mut row.file
        {
            text.push_str(["  ", "\t", " "][random.below(3)]);
            any = true;
        }
    }
    any
}

/// Trailing whitespace in the request, in both texts or only in the old one.
pub(crate) fn trailing_whitespace_in_request(draft: &mut Draft, random: &mut Random) -> bool {
    let both = random.chance(70);
    let mut any = false;
    for row in draft.shown().into_iter().filter(|row| row.role != Role::Added) {
        if random.chance(50)
            && let Some(text) = &row.old
        {
            let text = format!("{text}{}", ["  ", "\t", " "][random.below(3)]);
            row.old = Some(text.clone());
            if both {
                row.new = Some(text);
            }
            any = true;
        }
    }
    any
}

/// Changes the indentation of every line in the request.
fn reindent(draft: &mut Draft, change: impl Fn(&str) -> Option<String>) -> bool {
    for row in draft.shown() {
        for text in [&mut row.old, &mut row.new].into_iter().flatten() {
            let indentation = indent(text);
            let Some(changed) = change(indentation) else { return false };
            *text = changed + &text[indentation.len()..];
        }
    }
    true
}

/// All lines shifted left or right by the same amount.
pub(crate) fn shift(draft: &mut Draft, random: &mut Random) -> bool {
    let depths =
        draft.rows.iter().filter_map(|row| row.old.as_deref()).filter(|text| !text.trim().is_empty());
    let common = depths.map(|text| indent(text).len()).min().unwrap_or(0);
    if common > 0 && random.chance(75) {
        let cut = if common > 4 && random.chance(40) { 4 } else { common };
        reindent(draft, |indentation| indentation.get(cut..).map(str::to_owned))
    } else {
        let more = ["  ", "    "][random.below(2)];
        reindent(draft, |indentation| Some(format!("{more}{indentation}")))
    }
}

fn tabs(indentation: &str) -> Option<String> {
    (indentation.len().is_multiple_of(4) && indentation.chars().all(|c| c == ' '))
        .then(|| "\t".repeat(indentation.len() / 4))
}

/// Tabs in the request and spaces in the file, or the reverse.
pub(crate) fn tabs_and_spaces(draft: &mut Draft, random: &mut Random) -> bool {
    if !draft.rows.iter().filter_map(Row::old_content).any(|text| text.starts_with("    ")) {
        return false;
    }
    if random.chance(50) {
        return reindent(draft, tabs);
    }
    let hunk = draft.rows.iter_mut().filter_map(|row| row.file.as_mut());
    for line in draft.head.iter_mut().chain(hunk).chain(&mut draft.tail) {
        let indentation = indent(line);
        let Some(tabbed) = tabs(indentation) else { return false };
        *line = tabbed + &line[indentation.len()..];
    }
    true
}

/// The first line without its indentation.
pub(crate) fn first_line_stripped(draft: &mut Draft, random: &mut Random) -> bool {
    let Some(first) = draft.rows.first_mut() else { return false };
    let Some(text) = first.old.clone().filter(|text| text.starts_with(' ')) else { return false };
    first.old = Some(text.trim_start().to_owned());
    if random.chance(70) {
        first.new = first.old.clone();
    }
    true
}

/// A blank line of the file left out, or an extra one.
pub(crate) fn blank_lines(draft: &mut Draft, random: &mut Random) -> bool {
    let is_context = |at: usize| draft.rows.get(at).is_some_and(|row| row.role == Role::Context);
    let blank = |at: usize| draft.rows[at].old_content().is_none();
    // Next to an added line, its place would be ambiguous.
    let inner: Vec<usize> =
        (1..draft.rows.len()).filter(|&at| is_context(at - 1) && is_context(at)).collect();
    let left_out: Vec<usize> =
        inner.iter().copied().filter(|&at| blank(at) && !blank(at - 1) && is_context(at + 1)).collect();
    let between: Vec<usize> = inner.into_iter().filter(|&at| !blank(at) && !blank(at - 1)).collect();
    if let Some(&at) = random.pick(&left_out)
        && (between.is_empty() || random.chance(60))
    {
        (draft.rows[at].old, draft.rows[at].new) = (None, None);
        return true;
    }
    let Some(&at) = random.pick(&between) else { return false };
    draft.rows.insert(at, Row { file: None, ..Row::new(Role::Context, "") });
    true
}

/// A line with typographic punctuation; `None` if there is nothing to change.
pub(crate) fn typographic(line: &str) -> Option<String> {
    let mut out = String::with_capacity(line.len());
    let mut open = false;
    for (at, c) in line.char_indices() {
        let word_before = line[..at].ends_with(|c: char| c.is_alphanumeric());
        match c {
            '"' => {
                open = !open;
                out.push(if open { '“' } else { '”' });
            }
            '\'' if word_before => out.push('’'),
            '-' if line[..at].ends_with(' ') && line[at + 1..].starts_with(' ') => out.push('–'),
            c => out.push(c),
        }
    }
    let out = out.replace("...", "…");
    (out != line).then_some(out)
}

/// Typographic punctuation or a no-break space in the file's context lines.
pub(crate) fn look_alikes_in_file(draft: &mut Draft, random: &mut Random) -> bool {
    let mut any = false;
    for row in draft.rows.iter_mut().filter(|row| row.role == Role::Context) {
        let Some(text) = &row.file else { continue };
        let made = typographic(text).or_else(|| no_break(text, random));
        if let Some(made) = made.filter(|_| random.chance(80)) {
            row.file = Some(made);
            any = true;
        }
    }
    any
}

fn no_break(text: &str, random: &mut Random) -> Option<String> {
    let body = text.trim_start();
    let at = text.len() - body.len() + body.find(' ')?;
    random.chance(25).then(|| format!("{}\u{a0}{}", &text[..at], &text[at + 1..]))
}

/// Typographic punctuation in the request: in both texts of context lines, in the old text of removed lines.
pub(crate) fn look_alikes_in_request(draft: &mut Draft, random: &mut Random) -> bool {
    let mut any = false;
    for row in draft.rows.iter_mut().filter(|row| row.role != Role::Added) {
        let Some(text) = &row.old else { continue };
        let made = typographic(text).or_else(|| no_break(text, random));
        if let Some(made) = made.filter(|_| random.chance(80)) {
            row.show(&made);
            any = true;
        }
    }
    any
}

/// CRLF line endings in the whole file.
pub(crate) fn crlf_file(draft: &mut Draft, _: &mut Random) -> bool {
    (draft.newline, draft.far) = ("\r\n", (0, "\r\n"));
    true
}

/// Other line endings far before the hunk.
pub(crate) fn mixed_line_endings(draft: &mut Draft, random: &mut Random) -> bool {
    let far = draft.head.len().saturating_sub(10);
    let ends = if random.chance(50) { ("\r\n", "\n") } else { ("\n", "\r\n") };
    (draft.newline, draft.far) = (ends.0, (far, ends.1));
    far > 0
}
