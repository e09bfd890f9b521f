//! Blocks of the file with words swapped for others, as a sibling would read. Such a block is not in the file, so an
//! edit of it must be refused, even if its twin is the closest text by far.

use std::collections::BTreeSet;

use super::Call;
use crate::gauntlet::certainty::{fold, folded_lines, occurrences};
use crate::gauntlet::random::Random;

pub(super) fn made(files: &[Vec<String>], random: &mut Random) -> Option<Call> {
    let twin = Twin::of(random.pick(files)?, random)?;
    Some(twin.call(random))
}

/// The same, and the session has read a version with both blocks.
pub(super) fn made_and_seen(files: &[Vec<String>], random: &mut Random) -> Option<Call> {
    let file = random.pick(files)?;
    let twin = Twin::of(file, random)?;
    let apart = |at: &usize| *at + 4 <= twin.start || *at >= twin.start + twin.quote.len() + 4;
    let spots: Vec<usize> =
        (1..file.len()).filter(|&at| file[at - 1].trim().is_empty()).filter(apart).collect();
    let &at = random.pick(&spots)?;
    let mut version = file.clone();
    version.splice(at..at, twin.quote.iter().cloned().chain([String::new()]));
    let seen = Some(version.join("\n") + "\n");
    Some(Call { seen, ..twin.call(random) })
}

/// A block that is not in the file, and where its twin is.
struct Twin {
    before: String,
    start: usize,
    quote: Vec<String>,
}

impl Twin {
    fn of(file: &[String], random: &mut Random) -> Option<Self> {
        let size = random.from(3, 8);
        let start = random.below(file.len().checked_sub(size)?);
        let block = &file[start..start + size];
        let lines = folded_lines(file.iter().map(String::as_str));
        let unique = |block: &[String]| {
            let part = folded_lines(block.iter().map(String::as_str));
            part.len() >= 3 && occurrences(&lines, &part).len() == 1
        };
        if block[0].trim().is_empty() || block[size - 1].trim().is_empty() || !unique(block) {
            return None;
        }
        let rest: Vec<String> = file[..start].iter().chain(&file[start + size..]).cloned().collect();
        let (here, there) = (names(block), names(&rest));
        let only_there: Vec<&String> = there.difference(&here).collect();
        let here: Vec<&String> = here.iter().collect();
        let (word, other) = (*random.pick(&here)?, *random.pick(&only_there)?);
        let quote: Vec<String> = block.iter().map(|line| swap(line, word, other)).collect();
        let changed: Vec<usize> = (0..size).filter(|&at| fold(&quote[at]) != fold(&block[at])).collect();
        // Another word in a comment is a paraphrase, not a twin.
        let is_code = |at: &usize| {
            let line = block[*at].trim_start();
            !line.starts_with(['/', '#', '*']) && line.contains(['(', ')', '{', '}', '=', ';'])
        };
        let part = folded_lines(quote.iter().map(String::as_str));
        (changed.iter().any(is_code) && changed.len() < size && occurrences(&lines, &part).is_empty())
            .then(|| Self { before: file.join("\n") + "\n", start, quote })
    }

    /// Replaces a line of the block, or inserts one.
    fn call(&self, random: &mut Random) -> Call {
        let mut new = self.quote.clone();
        let at = random.below(new.len());
        let line = format!("{} quince", new[at]);
        if random.chance(60) {
            new[at] = line;
        } else {
            new.insert(at, line);
        }
        Call::edit(self.before.clone(), &self.quote.join("\n"), &new.join("\n"), None)
    }
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The lower-case names of some lines.
fn names(lines: &[String]) -> BTreeSet<String> {
    let words = lines.iter().flat_map(|line| line.split(|c: char| !is_name_char(c)));
    let is_name = |word: &&str| word.len() >= 4 && word.starts_with(|c: char| c.is_ascii_lowercase());
    words.filter(is_name).map(str::to_owned).collect()
}

/// The line with every occurrence of one word replaced with another.
fn swap(line: &str, word: &str, other: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(word) {
        let (front, back) = (&rest[..at], &rest[at + word.len()..]);
        let is_whole = !front.ends_with(is_name_char) && !back.starts_with(is_name_char);
        out.push_str(front);
        out.push_str(if is_whole { other } else { word });
        rest = back;
    }
    out + rest
}
