//! Random files and calls for the comparison with the model.

use super::model::{Edit, Hunk, Mode};
use crate::gauntlet::random::Random;

const WORDS: &[&str] = &[
    "alpha", "beta", "gamma", "delta", "load", "store", "size", "index", "é", "漢字", "total", "name", "left",
];

fn word(random: &mut Random) -> String {
    random.pick(WORDS).map_or(String::new(), |word| (*word).to_owned())
}

/// A line of code; every tenth one is common.
fn line(random: &mut Random) -> String {
    if random.chance(10) {
        return (*random.pick(&["    return x", "}", "pass"]).unwrap_or(&"}")).to_owned();
    }
    let indent = " ".repeat(4 * random.below(3));
    let number = random.below(100);
    match random.below(3) {
        0 => format!("{indent}{}_{} = {}({number})", word(random), word(random), word(random)),
        1 => format!("{indent}if {} > {number}:", word(random)),
        _ => format!("{indent}{}.{}({}, {number})", word(random), word(random), word(random)),
    }
}

/// A file of some lines, each with its newline and none blank.
pub(crate) fn file(random: &mut Random) -> String {
    (0..random.from(3, 14)).map(|_| format!("{}\n", line(random))).collect()
}

/// A string replacement: mostly of text that is in the file.
pub(crate) fn edit(text: &str, random: &mut Random) -> Edit {
    let chars: Vec<char> = text.chars().collect();
    let (old, new) = loop {
        let from = random.below(chars.len());
        let to = (from + random.from(2, 24)).min(chars.len());
        let mut old: String = chars[from..to].iter().collect();
        if random.chance(10) {
            old = format!("{}_{}", word(random), random.below(1000));
        }
        if random.chance(15) {
            old = word(random);
        }
        let new = match random.below(4) {
            0 => String::new(),
            1 => format!("{old}{}", word(random)),
            _ => format!("{}_{}", word(random), random.below(100)),
        };
        if !old.trim().is_empty() && old != new {
            break (old, new);
        }
    };
    Edit { old, new, all: random.chance(25) }
}

/// What is wrong with a hunk.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Flaw {
    None,
    TrailingBlanks,
    InnerBlanks,
    ContextWord,
    RemovedWord,
    Start,
}

/// Some hunks for a file, in order and apart, and whether their line counts are to be written right.
pub(crate) fn hunks(text: &str, random: &mut Random) -> Vec<Hunk> {
    let file: Vec<&str> = text.lines().collect();
    let mut hunks = Vec::new();
    let mut at = random.below(3);
    while at < file.len() && hunks.len() < 3 {
        let end = (at + random.from(2, 5)).min(file.len());
        let mut lines: Vec<(char, String)> = Vec::new();
        for (n, line) in file[at..end].iter().enumerate() {
            let removed = n > 0 && random.chance(35);
            lines.push((if removed { '-' } else { ' ' }, (*line).to_owned()));
            if removed || random.chance(20) {
                let indent: String = line.chars().take_while(|c| *c == ' ').collect();
                lines.push(('+', format!("{indent}fresh_{}()", random.below(1_000_000))));
            }
        }
        if lines.iter().any(|(prefix, _)| *prefix != ' ') {
            let mut hunk = Hunk { start: at + 1, lines };
            spoil(&mut hunk, random);
            hunks.push(hunk);
        }
        at = end + random.below(4);
    }
    hunks
}

fn spoil(hunk: &mut Hunk, random: &mut Random) {
    const FLAWS: &[Flaw] = &[
        Flaw::None,
        Flaw::None,
        Flaw::TrailingBlanks,
        Flaw::InnerBlanks,
        Flaw::ContextWord,
        Flaw::ContextWord,
        Flaw::RemovedWord,
        Flaw::Start,
    ];
    let flaw = *random.pick(FLAWS).unwrap_or(&Flaw::None);
    if flaw == Flaw::Start {
        hunk.start += random.from(1, 4);
    }
    let prefix = if flaw == Flaw::RemovedWord { '-' } else { ' ' };
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

pub(crate) fn mode(random: &mut Random) -> Mode {
    match random.below(3) {
        0 => Mode::Strict,
        1 => Mode::Tolerant,
        _ => Mode::Fuzzy(*random.pick(&[0.5, 0.8, 0.9, 0.95, 1.0]).unwrap_or(&0.8)),
    }
}

/// The hunks as a unified diff.
pub(crate) fn diff(hunks: &[Hunk], random: &mut Random) -> String {
    let mut out = String::from("--- a/f.py\n+++ b/f.py\n");
    let mut shift = 0isize;
    for hunk in hunks {
        let (mut old, new) = (hunk.old_lines().len(), hunk.new_lines().len());
        let start = hunk.start.saturating_add_signed(shift);
        shift += new as isize - old as isize;
        // "LLMs frequently produce off-by-one line counts".
        if random.chance(10) {
            old += 1;
        }
        out.push_str(&format!("@@ -{},{old} +{start},{new} @@\n", hunk.start));
        out.extend(hunk.lines.iter().map(|(prefix, line)| format!("{prefix}{line}\n")));
    }
    out
}
