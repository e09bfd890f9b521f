//! What the specification of the `nexus3` tools says, as directly as possible: strings and lists of lines, no engine.
//!
//! [`Verdict::Open`] marks calls whose outcome the specification leaves open.

/// What must happen to a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// It becomes this text.
    Becomes(String),
    /// It becomes one of these texts.
    BecomesOneOf(Vec<String>),
    /// It becomes this text, apart from how its added lines are indented.
    BecomesIndented(String),
    /// It becomes this, or nothing is written: the specification does not say which of several places is meant.
    OrRefused(Box<Verdict>),
    /// Nothing is written.
    Refused,
    /// The specification does not say.
    Open,
}

/// A string replacement.
#[derive(Debug, Clone)]
pub(crate) struct Edit {
    pub(crate) old: String,
    pub(crate) new: String,
    pub(crate) all: bool,
}

/// Why an edit of a batch fails in the original text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Problem {
    NotFound,
    Appears(usize),
}

/// The number of matches, as Python's `str.count` gives it: one that overlaps the match before it does not count.
pub(crate) fn count(text: &str, old: &str) -> usize {
    text.matches(old).count()
}

/// The line, from 1, where a text first occurs.
pub(crate) fn line_of(text: &str, old: &str) -> usize {
    text.find(old).map_or(0, |at| text[..at].matches('\n').count() + 1)
}

/// "Each edit validated: Must find exactly 1 match (unless `replace_all`)".
fn problem(text: &str, edit: &Edit) -> Option<Problem> {
    match count(text, &edit.old) {
        0 => Some(Problem::NotFound),
        1 => None,
        _ if edit.all => None,
        times => Some(Problem::Appears(times)),
    }
}

/// One edit or a batch: "All edits succeed or none apply", "Validate all edits before applying any", "Edits applied
/// sequentially on in-memory content". The problems are those in the original text, by the number of the edit.
pub(crate) fn replace(text: &str, edits: &[Edit]) -> (Verdict, Vec<(usize, Problem)>) {
    let problems: Vec<(usize, Problem)> =
        (1..).zip(edits).filter_map(|(number, edit)| Some((number, problem(text, edit)?))).collect();
    if !problems.is_empty() {
        return (Verdict::Refused, problems);
    }
    let mut now = text.to_owned();
    for edit in edits {
        if problem(&now, edit).is_some() {
            return (Verdict::Refused, Vec::new());
        }
        now = now.replace(&edit.old, &edit.new);
    }
    (Verdict::Becomes(now), Vec::new())
}

/// "Replace lines by line number": whole lines, both ends included. "Preserves/adds trailing newline correctly": lines that others
/// follow end with a newline. At the end of a file that has none, whether one in the new text stays is left open.
pub(crate) fn replace_lines(text: &str, start: usize, end: Option<usize>, new: &str) -> Verdict {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let end = end.unwrap_or(start);
    if start < 1 || end < start || end > lines.len() {
        return Verdict::Refused;
    }
    let replaced = |new: &str| [&lines[..start - 1].concat(), new, &lines[end..].concat()].concat();
    match (lines[end - 1].ends_with('\n'), new.strip_suffix('\n')) {
        (true, None) if !new.is_empty() => Verdict::Becomes(replaced(&format!("{new}\n"))),
        (false, Some(shorter)) => Verdict::BecomesOneOf(vec![replaced(shorter), replaced(new)]),
        _ => Verdict::Becomes(replaced(new)),
    }
}
