//! What the specification of the `nexus3` tools says, as directly as possible: strings and lists of lines, no engine.
//!
//! [`Verdict::Open`] marks calls whose outcome the specification leaves open.

/// What must happen to a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// It becomes this text.
    Becomes(String),
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

/// The number of occurrences; `None` if they overlap.
fn count(text: &str, old: &str) -> Option<usize> {
    let starts: Vec<usize> =
        (0..text.len()).filter(|&at| text.is_char_boundary(at) && text[at..].starts_with(old)).collect();
    starts.windows(2).all(|two| two[1] - two[0] >= old.len()).then_some(starts.len())
}

/// The line, from 1, where a text first occurs.
pub(crate) fn line_of(text: &str, old: &str) -> usize {
    text.find(old).map_or(0, |at| text[..at].matches('\n').count() + 1)
}

/// "Each edit validated: Must find exactly 1 match (unless `replace_all`)".
fn problem(text: &str, edit: &Edit) -> Option<Option<Problem>> {
    Some(match count(text, &edit.old)? {
        0 => Some(Problem::NotFound),
        1 => None,
        _ if edit.all => None,
        times => Some(Problem::Appears(times)),
    })
}

/// One edit or a batch: "All edits succeed or none apply", "Validate all edits before applying any", "Edits applied
/// sequentially on in-memory content". The problems are those in the original text, by the number of the edit.
pub(crate) fn replace(text: &str, edits: &[Edit]) -> (Verdict, Vec<(usize, Problem)>) {
    let mut problems = Vec::new();
    for (number, edit) in (1..).zip(edits) {
        match problem(text, edit) {
            None => return (Verdict::Open, Vec::new()),
            Some(found) => problems.extend(found.map(|problem| (number, problem))),
        }
    }
    if !problems.is_empty() {
        return (Verdict::Refused, problems);
    }
    let mut now = text.to_owned();
    for edit in edits {
        // Validated against the original, it must be what is replaced when its turn comes.
        match (count(text, &edit.old), count(&now, &edit.old)) {
            (Some(before), Some(after)) if before == after => now = now.replace(&edit.old, &edit.new),
            (_, None) => return (Verdict::Open, Vec::new()),
            _ => return (Verdict::Refused, Vec::new()),
        }
    }
    (Verdict::Becomes(now), Vec::new())
}

/// "Replace lines by line number": whole lines, both ends included; the new text ends with a newline.
pub(crate) fn replace_lines(text: &str, start: usize, end: Option<usize>, new: &str) -> Verdict {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let end = end.unwrap_or(start);
    if start < 1 || end < start || end > lines.len() {
        return Verdict::Refused;
    }
    let newline = if new.is_empty() || new.ends_with('\n') { "" } else { "\n" };
    Verdict::Becomes([&lines[..start - 1].concat(), new, newline, &lines[end..].concat()].concat())
}

/// The matching strictness of `patch`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Mode {
    Strict,
    Tolerant,
    Fuzzy(f64),
}

/// A hunk: its first line in the original file, and its lines with their prefixes.
#[derive(Debug, Clone)]
pub(crate) struct Hunk {
    pub(crate) start: usize,
    pub(crate) lines: Vec<(char, String)>,
}

impl Hunk {
    fn side(&self, without: char) -> Vec<&str> {
        self.lines.iter().filter(|(prefix, _)| *prefix != without).map(|(_, text)| text.as_str()).collect()
    }

    pub(crate) fn old_lines(&self) -> Vec<&str> {
        self.side('+')
    }

    pub(crate) fn new_lines(&self) -> Vec<&str> {
        self.side('-')
    }

    /// Every window of the file whose lines match by a comparison, which gets the prefix of the line too.
    fn windows(&self, file: &[&str], is_match: impl Fn(char, &str, &str) -> bool) -> Vec<usize> {
        let old: Vec<&(char, String)> = self.lines.iter().filter(|(prefix, _)| *prefix != '+').collect();
        let last = (file.len() + 1).saturating_sub(old.len());
        (0..last)
            .filter(|&at| {
                old.iter().zip(&file[at..]).all(|((prefix, line), found)| is_match(*prefix, line, found))
            })
            .collect()
    }
}

/// A line with each run of whitespace as one blank, and none at the ends.
fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The number of characters that difflib's `SequenceMatcher` matches in texts of fewer than 200: the longest common
/// run, the first one in `a` and then in `b`, and the same on both sides of it.
fn matching(a: &[char], b: &[char]) -> usize {
    let mut best = (0, 0, 0);
    for from in 0..a.len() {
        for to in 0..b.len() {
            let len = a[from..].iter().zip(&b[to..]).take_while(|(x, y)| x == y).count();
            if len > best.0 {
                best = (len, from, to);
            }
        }
    }
    let (len, from, to) = best;
    if len == 0 {
        return 0;
    }
    len + matching(&a[..from], &b[..to]) + matching(&a[from + len..], &b[to + len..])
}

/// `SequenceMatcher(None, a, b).ratio()`; `None` for long texts.
fn ratio(a: &str, b: &str) -> Option<f64> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    (b.len() < 200).then(|| 2.0 * matching(&a, &b) as f64 / (a.len() + b.len()) as f64)
}

/// Where a hunk applies, from 0: `Ok(None)` nowhere, `Err` if the specification leaves it open.
fn place(hunk: &Hunk, file: &[&str], mode: Mode) -> Result<Option<usize>, ()> {
    let exact = hunk.windows(file, |_, line, found| line == found);
    if exact.contains(&(hunk.start - 1)) {
        return Ok(Some(hunk.start - 1));
    }
    if !exact.is_empty() {
        return Err(());
    }
    // "Trailing whitespace: Normalize" is a repair in every mode.
    let is_match: fn(char, &str, &str) -> bool = match mode {
        Mode::Strict => |_, line, found| line.trim_end() == found.trim_end(),
        Mode::Tolerant | Mode::Fuzzy(_) => |_, line, found| squeezed(line) == squeezed(found),
    };
    match (hunk.windows(file, is_match)[..].as_ref(), mode) {
        ([one], _) => Ok(Some(*one)),
        ([], Mode::Fuzzy(threshold)) => most_similar(hunk, file, threshold),
        ([], _) => Ok(None),
        _ => Err(()),
    }
}

/// "matches with similarity ≥ threshold". Lines that are removed have to be in the file: see decision 41.
fn most_similar(hunk: &Hunk, file: &[&str], threshold: f64) -> Result<Option<usize>, ()> {
    let allowed =
        hunk.windows(file, |prefix, line, found| prefix == ' ' || squeezed(line) == squeezed(found));
    let old = hunk.old_lines();
    let mut similar = Vec::new();
    for at in allowed {
        let ratio = ratio(&old.join("\n"), &file[at..at + old.len()].join("\n")).ok_or(())?;
        if ratio >= threshold {
            similar.push((ratio, at));
        }
    }
    // Another place leaves the best one in doubt unless it differs twice as much and its ratio is lower by 0.02.
    let best = similar.iter().map(|(ratio, _)| *ratio).fold(0.0, f64::max);
    let doubtful = (1.0 - 2.0 * (1.0 - best)).min(best - 0.02);
    let places: Vec<usize> =
        similar.iter().filter(|(ratio, _)| *ratio >= doubtful).map(|(_, at)| *at).collect();
    let lines = |at: usize| &file[at..at + old.len()];
    match places[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        // Of identical places, the line number may choose one.
        [first, ..] if places.iter().all(|at| lines(*at) == lines(first)) => Err(()),
        _ => Ok(None),
    }
}

/// "Apply hunks with configurable strictness", all or none. Line numbers refer to the original, so that "each hunk
/// changes line numbers for subsequent hunks" is kept by applying the last one first. The failing hunks are returned too.
pub(crate) fn patch(text: &str, hunks: &[Hunk], mode: Mode) -> (Verdict, Vec<usize>) {
    let mut file: Vec<&str> = text.lines().collect();
    let places: Vec<Result<Option<usize>, ()>> = hunks.iter().map(|hunk| place(hunk, &file, mode)).collect();
    if places.contains(&Err(())) {
        return (Verdict::Open, Vec::new());
    }
    let failing: Vec<usize> = (1..).zip(&places).filter(|(_, at)| **at == Ok(None)).map(|(n, _)| n).collect();
    if !failing.is_empty() {
        return (Verdict::Refused, failing);
    }
    let mut placed: Vec<(usize, &Hunk)> =
        places.into_iter().filter_map(|at| at.ok().flatten()).zip(hunks).collect();
    if placed.windows(2).any(|two| two[0].0 + two[0].1.old_lines().len() > two[1].0) {
        return (Verdict::Open, Vec::new());
    }
    placed.reverse();
    for (at, hunk) in placed {
        let mut from = at;
        let mut new: Vec<&str> = Vec::new();
        for (prefix, line) in &hunk.lines {
            match prefix {
                '+' => new.push(line),
                // Context keeps the file's bytes.
                ' ' => new.push(file[from]),
                _ => {}
            }
            from += usize::from(*prefix != '+');
        }
        file.splice(at..from, new);
    }
    (Verdict::Becomes(file.iter().map(|line| format!("{line}\n")).collect()), Vec::new())
}
