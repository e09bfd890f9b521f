//! Properties of recovery, each against an oracle that makes the right answer without asking the engine.

use proptest::prelude::*;
use slipstitch_core::outcome::Status;

use crate::rig::Rig;

/// A file with one block that stands there once, and an edit of the block.
#[derive(Debug, Clone)]
struct Known {
    head: Vec<String>,
    block: Vec<String>,
    tail: Vec<String>,
    /// The line of the block that is replaced, deleted, or that lines are put after.
    at: usize,
    edit: Edit,
}

#[derive(Debug, Clone)]
enum Edit {
    Replace(String),
    Insert(Vec<String>),
    Delete,
}

impl Known {
    fn new_block(&self) -> Vec<String> {
        let mut block = self.block.clone();
        match &self.edit {
            Edit::Replace(line) => block[self.at] = line.clone(),
            Edit::Insert(lines) => drop(block.splice(self.at + 1..self.at + 1, lines.iter().cloned())),
            Edit::Delete => drop(block.remove(self.at)),
        }
        block
    }

    /// Lines of the block after which old and new text go on alike.
    fn gaps(&self) -> Vec<usize> {
        let kept = |at: usize| at != self.at && !self.block[at].is_empty();
        (0..self.block.len() - 1).filter(|&at| kept(at) && kept(at + 1)).collect()
    }

    fn text(&self, block: &[String], newline: &str) -> String {
        let lines = self.head.iter().chain(block).chain(&self.tail);
        lines.map(|line| format!("{line}{newline}")).collect()
    }
}

const VERBS: &[&str] = &["load", "store", "merge", "split", "check", "close", "print", "fetch"];
const NOUNS: &[&str] = &["file", "index", "table", "queue", "token", "frame", "route", "cache"];

/// A line of code at some depth, with a number that no other line has.
fn line(number: usize, (verb, noun, depth): (usize, usize, usize)) -> String {
    let indent = "    ".repeat(depth);
    format!("{indent}{}_{}(\"{number}\", self - {number});", VERBS[verb], NOUNS[noun])
}

fn known() -> impl Strategy<Value = Known> {
    let shape = (0..VERBS.len(), 0..NOUNS.len(), 0..3usize);
    let blank = prop::bool::weighted(0.15);
    let lines = prop::collection::vec((shape, blank), 16..30);
    let come = prop::collection::vec((0..VERBS.len(), 0..NOUNS.len(), 0..3usize), 1..4);
    (lines, 0usize..8, 3usize..7, any::<prop::sample::Index>(), 0..3u8, come).prop_map(
        |(lines, start, size, at, kind, come)| {
            let all: Vec<String> = lines
                .iter()
                .enumerate()
                .map(|(number, (shape, blank))| if *blank { String::new() } else { line(number, *shape) })
                .collect();
            let mut block = all[start..start + size].to_vec();
            // The ends of a block say something, and so do the line that it is about and its neighbours.
            let at = at.index(size);
            for number in [0, at.saturating_sub(1), at, (at + 1).min(size - 1), size - 1] {
                block[number] = line(start + number, lines[start + number].0);
            }
            let come: Vec<String> =
                come.iter().enumerate().map(|(number, shape)| line(100 + number, *shape)).collect();
            let edit = match kind {
                0 => Edit::Replace(come[0].clone()),
                1 => Edit::Insert(come),
                _ => Edit::Delete,
            };
            Known { head: all[..start].to_vec(), block, tail: all[start + size..].to_vec(), at, edit }
        },
    )
}

/// One mistake of form.
#[derive(Debug, Clone, Copy)]
enum Damage {
    TrailingBlanks,
    Deeper(usize),
    FurtherOut,
    BlankLine(usize),
    LookAlikes,
    LineNumbers(usize),
    Fence,
}

fn damages() -> impl Strategy<Value = Damage> {
    prop_oneof![
        Just(Damage::TrailingBlanks),
        (1usize..6).prop_map(Damage::Deeper),
        Just(Damage::FurtherOut),
        (0usize..8).prop_map(Damage::BlankLine),
        Just(Damage::LookAlikes),
        (0usize..5).prop_map(Damage::LineNumbers),
        Just(Damage::Fence),
    ]
}

impl Damage {
    /// Damages the lines of a text. What stands in old and new text is damaged alike.
    fn of(self, lines: &[String], first: usize) -> String {
        let each =
            |change: &dyn Fn(&String) -> String| lines.iter().map(change).collect::<Vec<_>>().join("\n");
        let filled = |line: &String| !line.is_empty();
        match self {
            Self::TrailingBlanks => each(&|line| format!("{line}  ")),
            Self::Deeper(by) => {
                each(&|line| if filled(line) { " ".repeat(by) + line } else { String::new() })
            }
            Self::FurtherOut => each(&|line| line.strip_prefix("    ").unwrap_or(line).to_owned()),
            Self::BlankLine(at) => {
                let at = (1 + at).min(lines.len());
                [&lines[..at], &[String::new()], &lines[at..]].concat().join("\n")
            }
            Self::LookAlikes => each(&|line| line.replace(" - ", " – ").replacen('"', "“", 1)),
            Self::LineNumbers(form) => {
                let number = |n: usize| {
                    [
                        format!("{n:>4}|"),
                        format!("{n}\t"),
                        format!("{n}: "),
                        format!("{n:>5}→"),
                        format!("L{n}:"),
                    ][form]
                        .clone()
                };
                let lines = lines.iter().enumerate().map(|(n, line)| number(first + n) + line);
                lines.collect::<Vec<_>>().join("\n")
            }
            Self::Fence => format!("```rust\n{}\n```", lines.join("\n")),
        }
    }

    /// The damage as this edit can have it: lines at the margin cannot go further out, and a blank line beside
    /// lines that come or go may be meant.
    fn fitting(self, known: &Known) -> Self {
        let deep = |line: &String| line.is_empty() || line.starts_with("    ");
        match self {
            Self::FurtherOut if !known.block.iter().chain(&known.new_block()).all(deep) => Self::Deeper(4),
            Self::BlankLine(pick) => {
                let gaps = known.gaps();
                gaps.get(pick % gaps.len().max(1)).map_or(Self::TrailingBlanks, |&at| Self::BlankLine(at))
            }
            damage => damage,
        }
    }
}

/// Damages the request of a known edit.
fn request(known: &Known, damage: Damage) -> (String, String) {
    let first = known.head.len() + 1;
    let damage = damage.fitting(known);
    match damage {
        Damage::BlankLine(at) => {
            let new = known.new_block();
            let same = new.iter().position(|line| *line == known.block[at]).unwrap_or(at);
            (damage.of(&known.block, first), Damage::BlankLine(same).of(&new, first))
        }
        // A typographic line that comes is meant so.
        Damage::LookAlikes => {
            let show = |line: &String| match known.block.contains(line) {
                true => damage.of(std::slice::from_ref(line), first),
                false => line.clone(),
            };
            let new: Vec<String> = known.new_block().iter().map(show).collect();
            (damage.of(&known.block, first), new.join("\n"))
        }
        Damage::TrailingBlanks => (damage.of(&known.block, first), known.new_block().join("\n")),
        _ => (damage.of(&known.block, first), damage.of(&known.new_block(), first)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// One mistake of form in a request for a block that stands there once: the very bytes that were meant, or
    /// a refusal that leaves the file alone.
    #[test]
    fn a_mistake_of_form_gives_the_expected_bytes_or_a_refusal(known in known(), damage in damages()) {
        let before = known.text(&known.block, "\n");
        let expected = known.text(&known.new_block(), "\n");
        let (old, new) = request(&known, damage);
        let rig = Rig::new(before.as_str());
        let answer = rig.edit(&old, &new);
        let after = String::from_utf8(rig.bytes()).unwrap();
        match answer.report.status() {
            Status::Applied => prop_assert_eq!(after, expected, "{:?}: {}", damage, answer.text),
            _ => {
                prop_assert_eq!(after, before, "a refusal leaves the file alone");
                prop_assert_eq!(answer.report.code(), "ambiguous", "nothing but doubt: {:?} {}", damage, answer.text);
            }
        }
    }

    /// Every byte outside the lines that the report names is as it was, whatever was damaged and however.
    #[test]
    fn bytes_outside_the_reported_lines_never_change(
        known in known(),
        damage in damages(),
        other in damages(),
        crlf in any::<bool>(),
    ) {
        let newline = if crlf { "\r\n" } else { "\n" };
        let before = known.text(&known.block, newline);
        let old = other.of(&damage.of(&known.block, 1).split('\n').map(str::to_owned).collect::<Vec<_>>(), 1);
        let new = damage.of(&known.new_block(), 1);
        let rig = Rig::new(before.as_str());
        let answer = rig.edit(&old, &new);
        let after = String::from_utf8(rig.bytes()).unwrap();
        if answer.report.status() != Status::Applied {
            prop_assert_eq!(after, before);
            return Ok(());
        }
        let lines = |text: &str| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
        let (before, after) = (lines(&before), lines(&after));
        let place = answer.report.files[0].edits[0].places[0];
        prop_assert_eq!(&before[..place.before.start - 1], &after[..place.after.start - 1]);
        let rest = &before[place.before.start - 1 + place.before.count..];
        prop_assert_eq!(rest, &after[place.after.start - 1 + place.after.count..]);
    }

    /// A block that stands twice is at neither place, however the request for it is damaged.
    #[test]
    fn a_block_that_stands_twice_is_refused(
        known in known(),
        damage in damages(),
        between in 0usize..3,
        swap in any::<bool>(),
    ) {
        let mut twice = known.clone();
        let side = if swap { &mut twice.head } else { &mut twice.tail };
        let at = between.min(side.len());
        side.splice(at..at, known.block.iter().cloned());
        let before = twice.text(&twice.block, "\n");
        let (old, new) = request(&known, damage);
        let rig = Rig::new(before.as_str());
        let answer = rig.edit(&old, &new);
        prop_assert_eq!(String::from_utf8(rig.bytes()).unwrap(), before, "{:?}: {}", damage, answer.text);
        prop_assert!(!answer.report.is_success(), "{}", answer.text);
    }

    /// The same request on the same file has the same answer, and on the file with CRLF the answer with CRLF.
    #[test]
    fn recovery_is_deterministic_and_blind_to_line_ends(known in known(), damage in damages(), drift in any::<bool>()) {
        let (mut old, mut new) = request(&known, damage);
        if drift {
            old = old.replacen("self", "slef", 1);
            new = new.replacen("self", "slef", 1);
        }
        let run = |newline: &str| {
            let rig = Rig::new(known.text(&known.block, newline));
            let answer = rig.edit(&old, &new);
            (answer.report.status(), answer.report.code(), String::from_utf8(rig.bytes()).unwrap())
        };
        let (status, code, after) = run("\n");
        prop_assert_eq!((status, code, after.clone()), run("\n"));
        prop_assert_eq!((status, code, after.replace('\n', "\r\n")), run("\r\n"));
    }

    /// What a recovered edit did is taken back to the byte.
    #[test]
    fn undo_restores_every_byte_of_a_recovered_edit(known in known(), damage in damages(), end in 0..4u8) {
        let mut before = known.text(&known.block, if end % 2 == 0 { "\n" } else { "\r\n" });
        if end >= 2 {
            before.truncate(before.trim_end().len());
        }
        let (old, new) = request(&known, damage);
        let rig = Rig::new(before.as_str());
        let answer = rig.edit(&old, &new);
        if answer.report.status() == Status::Applied {
            prop_assert_ne!(rig.bytes(), before.as_bytes());
            let undone = rig.call("undo_edit", serde_json::json!({}));
            prop_assert_eq!(undone.report.status(), Status::Applied, "{}", undone.text);
        }
        prop_assert_eq!(rig.bytes(), before.as_bytes());
    }
}
