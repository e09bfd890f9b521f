//! Random hunks.

use super::model::{Hunk, Markers, Mode, Request};
use crate::gauntlet::random::Random;

/// What is wrong with a hunk.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Flaw {
    None,
    TrailingBlanks,
    InnerBlanks,
    /// Blanks inside brackets, and none after commas.
    BlanksAroundMarks,
    /// Blanks that separate tokens are missing.
    JoinedTokens,
    Indentation,
    ContextWord,
    RemovedWord,
    Start,
}

pub(super) fn request(text: &str, random: &mut Random) -> Request {
    let mode = match random.below(3) {
        0 => Mode::Strict,
        1 => Mode::Tolerant,
        _ => Mode::Fuzzy(*random.pick(&[0.5, 0.8, 0.9, 0.95, 1.0]).unwrap_or(&0.8)),
    };
    Request { hunks: hunks(text, random), mode, strict_validation: random.chance(15) }
}

/// Some hunks for a file, in order and apart.
fn hunks(text: &str, random: &mut Random) -> Vec<Hunk> {
    let file: Vec<&str> = text.lines().collect();
    let mut hunks = Vec::new();
    let mut at = random.below(3);
    if file.is_empty() {
        hunks.push(insertion(0, random));
    }
    while at < file.len() && hunks.len() < 3 {
        let end = (at + random.from(1, 5)).min(file.len());
        let mut hunk = if random.chance(8) {
            insertion(end, random)
        } else {
            Hunk { start: at + 1, lines: lines(&file[at..end], random), markers: Markers::default() }
        };
        if hunk.lines.iter().any(|(prefix, _)| *prefix != ' ') {
            let reaches_end = end == file.len() && !hunk.old_lines().is_empty();
            hunk.markers = markers(reaches_end, !text.ends_with('\n'), &hunk, random);
            spoil(&mut hunk, random);
            hunks.push(hunk);
        }
        at = end + random.below(4);
    }
    hunks
}

fn fresh(random: &mut Random) -> String {
    if random.chance(12) { String::new() } else { format!("fresh_{}()", random.below(1_000_000)) }
}

/// A hunk without context: `@@ -5,0 +6,2 @@`.
fn insertion(after: usize, random: &mut Random) -> Hunk {
    let lines = (0..random.from(1, 2)).map(|_| ('+', fresh(random))).collect();
    Hunk { start: after, lines, markers: Markers::default() }
}

/// Context, removed and added lines for a window of the file.
fn lines(window: &[&str], random: &mut Random) -> Vec<(char, String)> {
    let mut lines = Vec::new();
    if random.chance(10) {
        lines.push(('+', fresh(random)));
    }
    for line in window {
        let removed = random.chance(35);
        lines.push((if removed { '-' } else { ' ' }, (*line).to_owned()));
        if (removed && random.chance(80)) || random.chance(20) {
            let indent: String = line.chars().take_while(|c| *c == ' ').collect();
            lines.push(('+', indent + &fresh(random)));
        }
    }
    lines
}

/// The markers that belong to a hunk at the end of the file; sometimes they are missing, or the hunk changes the end.
fn markers(reaches_end: bool, lacks_newline: bool, hunk: &Hunk, random: &mut Random) -> Markers {
    if !reaches_end || random.chance(25) {
        return Markers::default();
    }
    let last_of =
        |without: char| hunk.lines.iter().rfind(|(prefix, _)| *prefix != without).map(|line| line.0);
    let last = hunk.lines.last().map(|line| line.0);
    match (last, last_of('+')) {
        (Some(' '), _) => return Markers { old: lacks_newline, new: lacks_newline },
        // Lines are added after a last line that stays: a diff would remove and add that line, too.
        (Some('+'), Some(' ')) if lacks_newline => return Markers::default(),
        _ => {}
    }
    // Another context line is not the last one of the file, so it has a newline.
    let is_added = last_of('-') == Some('+');
    Markers { old: lacks_newline, new: is_added && random.chance(if lacks_newline { 60 } else { 20 }) }
}

fn spoil(hunk: &mut Hunk, random: &mut Random) {
    const FLAWS: &[Flaw] = &[
        Flaw::None,
        Flaw::None,
        Flaw::TrailingBlanks,
        Flaw::InnerBlanks,
        Flaw::BlanksAroundMarks,
        Flaw::JoinedTokens,
        Flaw::Indentation,
        Flaw::ContextWord,
        Flaw::ContextWord,
        Flaw::RemovedWord,
        Flaw::Start,
    ];
    let flaw = *random.pick(FLAWS).unwrap_or(&Flaw::None);
    if flaw == Flaw::Start && !hunk.old_lines().is_empty() {
        hunk.start += random.from(1, 4);
    }
    let is_in_any_line = matches!(flaw, Flaw::BlanksAroundMarks | Flaw::JoinedTokens) && random.chance(50);
    let prefix = if flaw == Flaw::RemovedWord || is_in_any_line { '-' } else { ' ' };
    let wanted: Vec<usize> = (0..hunk.lines.len()).filter(|&n| hunk.lines[n].0 == prefix).collect();
    let Some(&chosen) = random.pick(&wanted) else { return };
    let line = &mut hunk.lines[chosen].1;
    match flaw {
        Flaw::None | Flaw::Start => {}
        Flaw::TrailingBlanks => line.push_str("  "),
        Flaw::InnerBlanks => {
            let indent = line.len() - line.trim_start().len();
            *line = format!("{}{}", &line[..indent], line.trim_start().replace(' ', "  "));
        }
        Flaw::BlanksAroundMarks => *line = line.replace(", ", ",").replace('(', "( ").replace(')', " )"),
        Flaw::JoinedTokens => {
            let indent = line.len() - line.trim_start().len();
            *line = format!("{}{}", &line[..indent], line.trim_start().replacen(' ', "", 1));
        }
        Flaw::Indentation if line.trim().is_empty() => {}
        Flaw::Indentation => *line = format!("  {line}"),
        Flaw::ContextWord | Flaw::RemovedWord => {
            for _ in 0..random.from(1, 6) {
                let places: Vec<usize> =
                    line.char_indices().filter(|(_, c)| c.is_ascii_alphabetic()).map(|(at, _)| at).collect();
                if let Some(&at) = random.pick(&places) {
                    line.replace_range(at..=at, "q");
                }
            }
        }
    }
}
