//! Random files and calls for the comparison with the model.

use super::model::Edit;
use crate::gauntlet::random::Random;

const WORDS: &[&str] = &[
    "alpha", "beta", "gamma", "delta", "load", "store", "size", "index", "é", "漢字", "total", "name", "left",
];

fn word(random: &mut Random) -> String {
    random.pick(WORDS).map_or(String::new(), |word| (*word).to_owned())
}

/// A line of code; every tenth one is common, and some are blank.
fn line(random: &mut Random) -> String {
    if random.chance(12) {
        return (*random.pick(&["", "", "", "    "]).unwrap_or(&"")).to_owned();
    }
    // Text that overlaps itself.
    if random.chance(4) {
        return (*random.pick(&["aaa", "-----"]).unwrap_or(&"aaa")).to_owned();
    }
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

/// A file of some lines. Some have no final newline, and a few are empty or very short.
pub(crate) fn file(random: &mut Random) -> String {
    let count = if random.chance(8) { random.below(3) } else { random.from(3, 14) };
    let mut text: String = (0..count).map(|_| format!("{}\n", line(random))).collect();
    if random.chance(25) {
        text.pop();
    }
    text
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
        if random.chance(6) {
            old = (*random.pick(&["aa", "--", "---"]).unwrap_or(&"aa")).to_owned();
        }
        let new = match random.below(6) {
            0 => String::new(),
            1 => format!("{old}{}", word(random)),
            2 => format!("{}\n\n{}()\n", word(random), word(random)),
            // Lines that already follow.
            3 => {
                let rest: String = chars[to..].iter().collect();
                format!("{old}{}", rest.split_inclusive('\n').take(2).collect::<String>().trim_end())
            }
            _ => format!("{}_{}", word(random), random.below(100)),
        };
        if !old.trim().is_empty() && old != new {
            break (old, new);
        }
    };
    Edit { old, new, all: random.chance(25) }
}
