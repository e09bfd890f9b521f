//! What the specification says about `patch`: lists of lines, no engine.
//!
//! It does not say where to look for a hunk whose lines are not where its header says. The model takes the only place that has them,
//! and leaves it open which of several is meant. `deviations.rs` has the case in which the engine deliberately differs.

use super::deviations;
use crate::nexus3::model::Verdict;

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
    /// Whether `\ No newline at end of file` follows the last old and the last new line.
    pub(crate) markers: Markers,
}

/// Which sides of a hunk end without a newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Markers {
    pub(crate) old: bool,
    pub(crate) new: bool,
}

impl Hunk {
    fn side(&self, without: char) -> Vec<&str> {
        self.lines.iter().filter(|(prefix, _)| *prefix != without).map(|(_, text)| text.as_str()).collect()
    }

    pub(crate) fn old_lines(&self) -> Vec<&str> {
        self.side('+')
    }

    pub(super) fn has_blank_lines(&self) -> bool {
        self.old_lines().iter().any(|line| line.trim().is_empty())
    }

    pub(crate) fn new_lines(&self) -> Vec<&str> {
        self.side('-')
    }

    /// Every window of the file whose lines match by a comparison, which gets the prefix of the line too.
    pub(super) fn windows(&self, file: &[&str], is_match: impl Fn(char, &str, &str) -> bool) -> Vec<usize> {
        let old: Vec<&(char, String)> = self.lines.iter().filter(|(prefix, _)| *prefix != '+').collect();
        let last = (file.len() + 1).saturating_sub(old.len());
        (0..last)
            .filter(|&at| {
                old.iter().zip(&file[at..]).all(|((prefix, line), found)| is_match(*prefix, line, found))
            })
            .collect()
    }
}

/// How far two lines are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sameness {
    Different,
    /// They differ in whitespace that separates words or operators, so they may not mean the same.
    Tokens,
    /// They differ in whitespace only.
    Whitespace,
}

/// "Allow whitespace differences". Whitespace at the ends of a line and around brackets and commas, and the length of other whitespace,
/// certainly count as such.
pub(super) fn compare_whitespace(a: &str, b: &str) -> Sameness {
    let bare = |line: &str| line.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    if squeezed(a) == squeezed(b) {
        Sameness::Whitespace
    } else if bare(a) == bare(b) {
        Sameness::Tokens
    } else {
        Sameness::Different
    }
}

/// A line with each run of whitespace as one blank, and none at the ends and around brackets and commas.
fn squeezed(line: &str) -> String {
    let mut out = line.split_whitespace().collect::<Vec<_>>().join(" ");
    for mark in ["(", ")", ","] {
        out = out.replace(&format!(" {mark}"), mark).replace(&format!("{mark} "), mark);
    }
    out
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

/// Where a hunk applies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Place {
    Nowhere,
    /// The specification does not say.
    Open,
    /// At this line, from 0, where its lines are exactly.
    Exact(usize),
    /// Where they differ in whitespace only.
    Whitespace(usize),
    /// Where they are similar, the only such place.
    Similar(usize, f64),
    /// Where they are most similar, of several such places.
    Best(usize, f64),
}

impl Place {
    fn at(self) -> Option<usize> {
        match self {
            Self::Nowhere | Self::Open => None,
            Self::Exact(at) | Self::Whitespace(at) | Self::Similar(at, _) | Self::Best(at, _) => Some(at),
        }
    }

    /// The most similar of some places, with their ratios; `None` stands for that of a long text.
    pub(super) fn most_similar(places: &[(usize, Option<f64>)]) -> Self {
        let best = places.iter().filter_map(|(_, ratio)| *ratio).fold(0.0, f64::max);
        let may_be_best = |(_, ratio): &&(usize, Option<f64>)| ratio.is_none_or(|ratio| ratio == best);
        match (places, &places.iter().filter(may_be_best).collect::<Vec<_>>()[..]) {
            ([], _) => Self::Nowhere,
            ([(one, Some(ratio))], _) => Self::Similar(*one, *ratio),
            (_, [(one, Some(ratio))]) => Self::Best(*one, *ratio),
            _ => Self::Open,
        }
    }
}

/// A call, apart from where its diff comes from and how it is written.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) hunks: Vec<Hunk>,
    pub(crate) mode: Mode,
    pub(crate) strict_validation: bool,
}

/// `is_shifted` says that a hunk before it is not where its header says: what that means for this one is left open.
fn place(hunk: &Hunk, file: &[&str], request: &Request, is_shifted: bool) -> Place {
    if is_shifted && hunk.old_lines().is_empty() {
        return Place::Open;
    }
    if hunk.old_lines().is_empty() {
        // `@@ -5,0 +6,2 @@` inserts after line 5.
        return if hunk.start <= file.len() { Place::Exact(hunk.start) } else { Place::Open };
    }
    let exact = hunk.windows(file, |_, line, found| line == found);
    // Blank lines are everywhere, so elsewhere they prove nothing.
    let is_blank = hunk.old_lines().iter().all(|line| line.trim().is_empty());
    match exact[..] {
        [_, _, ..] if is_shifted => return Place::Open,
        _ if exact.contains(&(hunk.start - 1)) => return Place::Exact(hunk.start - 1),
        _ if is_blank => return Place::Open,
        [one] => return Place::Exact(one),
        [] => {}
        _ => return Place::Open,
    }
    let windows =
        |least: Sameness| hunk.windows(file, move |_, line, found| compare_whitespace(line, found) >= least);
    let places = match request.mode {
        // "Trailing whitespace: Normalize" is a repair, which `strict_validation` disables.
        Mode::Strict if request.strict_validation => return Place::Nowhere,
        Mode::Strict => hunk.windows(file, |_, line, found| line.trim_end() == found.trim_end()),
        Mode::Tolerant | Mode::Fuzzy(_) => {
            let places = windows(Sameness::Whitespace);
            if windows(Sameness::Tokens).len() > places.len() {
                return Place::Open;
            }
            places
        }
    };
    match (&places[..], request.mode) {
        ([one], _) => Place::Whitespace(*one),
        // "SequenceMatcher fallback", "matches with similarity ≥ threshold": the most similar place.
        ([], Mode::Fuzzy(threshold)) => {
            let everywhere = hunk.windows(file, |_, _, _| true);
            let place = Place::most_similar(&similar_places(hunk, file, threshold, everywhere));
            // Without its blank lines, the hunk may be similar to another place.
            match place {
                Place::Similar(at, ratio) if hunk.has_blank_lines() => Place::Best(at, ratio),
                place => place,
            }
        }
        ([], _) => Place::Nowhere,
        _ => Place::Open,
    }
}

/// Those of some places that reach the threshold, with their ratios; `None` stands for that of a long text.
pub(super) fn similar_places(
    hunk: &Hunk,
    file: &[&str],
    threshold: f64,
    places: Vec<usize>,
) -> Vec<(usize, Option<f64>)> {
    let old = hunk.old_lines();
    let wanted = old.join("\n");
    let mut similar = Vec::new();
    for at in places {
        let found = file[at..at + old.len()].join("\n");
        if quick_ratio(&wanted, &found) < threshold {
            continue;
        }
        let ratio = ratio(&wanted, &found);
        if ratio.is_none_or(|ratio| ratio >= threshold) {
            similar.push((at, ratio));
        }
    }
    similar
}

/// difflib's `quick_ratio`, an upper bound of the ratio: the characters that both texts have, in any order.
fn quick_ratio(a: &str, b: &str) -> f64 {
    let mut left: Vec<char> = b.chars().collect();
    let (len, total) = (left.len(), a.chars().count() + left.len());
    for c in a.chars() {
        if let Some(at) = left.iter().position(|other| *other == c) {
            left.swap_remove(at);
        }
    }
    2.0 * (len - left.len()) as f64 / total as f64
}

/// "Apply hunks with configurable strictness", all or none. Line numbers refer to the original, so that "each hunk
/// changes line numbers for subsequent hunks" is kept by applying the last one first. The places are returned too.
pub(crate) fn patch(text: &str, request: &Request) -> (Verdict, Vec<Place>) {
    let file: Vec<&str> = text.lines().collect();
    let mut places = Vec::new();
    let mut is_shifted = false;
    for hunk in &request.hunks {
        let place = deviations::place(hunk, &file, request.mode, place(hunk, &file, request, is_shifted));
        is_shifted |= place.at() != Some(hunk.start.saturating_sub(1));
        places.push(place);
    }
    let is_doubtful = places.iter().any(|place| matches!(place, Place::Best(..)));
    let verdict = if places.contains(&Place::Open) {
        Verdict::Open
    } else if places.contains(&Place::Nowhere) {
        Verdict::Refused
    } else {
        match apply(text, &request.hunks, &places) {
            Verdict::Open => Verdict::Open,
            applied if is_doubtful => Verdict::OrRefused(Box::new(applied)),
            applied => applied,
        }
    };
    (verdict, places)
}

/// The text with hunks at their places.
fn apply(text: &str, hunks: &[Hunk], places: &[Place]) -> Verdict {
    let mut file: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let count = file.len();
    let lacks_newline = !text.is_empty() && !text.ends_with('\n');
    let mut placed: Vec<(usize, &Hunk)> = places.iter().filter_map(|place| place.at()).zip(hunks).collect();
    if placed.windows(2).any(|two| two[0].0 + two[0].1.old_lines().len() > two[1].0) {
        return Verdict::Open;
    }
    placed.reverse();
    let is_shifted =
        placed.iter().any(|(at, hunk)| differs_in_indent(hunk, &file[*at..*at + hunk.old_lines().len()]));
    for (at, hunk) in placed {
        let end = at + hunk.old_lines().len();
        // What a marker says about a file that is not like that is left open.
        if (hunk.markers.old && !(end == count && lacks_newline)) || (hunk.markers.new && end != count) {
            return Verdict::Open;
        }
        let mut from = at;
        let mut new: Vec<String> = Vec::new();
        for (prefix, line) in &hunk.lines {
            match prefix {
                '+' => new.push(format!("{line}\n")),
                // Context keeps the file's bytes.
                ' ' => new.push(file[from].clone()),
                _ => {}
            }
            from += usize::from(*prefix != '+');
        }
        let is_added =
            hunk.lines.iter().rfind(|(prefix, _)| *prefix != '-').is_some_and(|line| line.0 == '+');
        // Without a marker, the end of the file stays as it is.
        let lacks = hunk.markers.new || (lacks_newline && !hunk.markers.old);
        if let Some(last) = new.last_mut().filter(|_| end == count && is_added && lacks) {
            last.pop();
        }
        file.splice(at..end, new);
    }
    // A last line that others follow now needs its newline.
    let last = file.len().saturating_sub(1);
    for line in file.iter_mut().take(last).filter(|line| !line.ends_with('\n')) {
        line.push('\n');
    }
    if is_shifted {
        return Verdict::BecomesIndented(file.concat());
    }
    Verdict::Becomes(file.concat())
}

/// Whether an old line of a hunk is indented otherwise than the file's. Its added lines may then be, too.
fn differs_in_indent(hunk: &Hunk, window: &[String]) -> bool {
    let indent = |line: &str| line[..line.len() - line.trim_start().len()].to_owned();
    hunk.old_lines()
        .iter()
        .zip(window)
        .any(|(line, found)| !line.trim().is_empty() && indent(line) != indent(found.trim_end_matches('\n')))
}
