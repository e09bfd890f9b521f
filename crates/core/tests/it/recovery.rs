//! Properties of recovery, checked against an oracle that does not use the engine.

use proptest::prelude::*;
use slipstitch_core::outcome::Status;

use crate::rig::Rig;

/// A file with a block that occurs exactly once, and an edit of the block.
#[derive(Debug, Clone)]
struct Known {
    head: Vec<String>,
    block: Vec<String>,
    tail: Vec<String>,
    /// The line of the block that is replaced or deleted, or after which lines are inserted.
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

    /// Lines of the block that are context, as is the line after them.
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

/// A line of code at some depth, with a number that makes it unique.
fn line(number: usize, (verb, noun, depth): (usize, usize, usize)) -> String {
    let indent = "    ".repeat(depth);
    format!("{indent}{}_{}(\"{number}\", self - {number});", VERBS[verb], NOUNS[noun])
}

fn known() -> impl Strategy<Value = Known> {
    let shape = (0..VERBS.len(), 0..NOUNS.len(), 0..3usize);
    let blank = prop::bool::weighted(0.15);
    let lines = prop::collection::vec((shape, blank), 16..30);
    let added = prop::collection::vec((0..VERBS.len(), 0..NOUNS.len(), 0..3usize), 1..4);
    (lines, 0usize..8, 3usize..7, any::<prop::sample::Index>(), 0..3u8, added).prop_map(
        |(lines, start, size, at, operation, added)| {
            let all: Vec<String> = lines
                .iter()
                .enumerate()
                .map(|(number, (shape, blank))| if *blank { String::new() } else { line(number, *shape) })
                .collect();
            let mut block = all[start..start + size].to_vec();
            // The ends of a block, the edited line and its neighbours are not blank.
            let at = at.index(size);
            for number in [0, at.saturating_sub(1), at, (at + 1).min(size - 1), size - 1] {
                block[number] = line(start + number, lines[start + number].0);
            }
            let added: Vec<String> =
                added.iter().enumerate().map(|(number, shape)| line(100 + number, *shape)).collect();
            let edit = match operation {
                0 => Edit::Replace(added[0].clone()),
                1 => Edit::Insert(added),
                _ => Edit::Delete,
            };
            Known { head: all[..start].to_vec(), block, tail: all[start + size..].to_vec(), at, edit }
        },
    )
}

/// One formal mistake.
#[derive(Debug, Clone, Copy)]
enum Damage {
    TrailingWhitespace,
    ShiftedRight(usize),
    ShiftedLeft,
    BlankLine(usize),
    LookAlikes,
    LineNumbers(usize),
    Fence,
}

fn damages() -> impl Strategy<Value = Damage> {
    prop_oneof![
        Just(Damage::TrailingWhitespace),
        (1usize..6).prop_map(Damage::ShiftedRight),
        Just(Damage::ShiftedLeft),
        (0usize..8).prop_map(Damage::BlankLine),
        Just(Damage::LookAlikes),
        (0usize..5).prop_map(Damage::LineNumbers),
        Just(Damage::Fence),
    ]
}

impl Damage {
    /// Damages the lines of a text. Lines that are in both texts are damaged in the same way.
    fn of(self, lines: &[String], first: usize) -> String {
        let each =
            |change: &dyn Fn(&String) -> String| lines.iter().map(change).collect::<Vec<_>>().join("\n");
        let filled = |line: &String| !line.is_empty();
        match self {
            Self::TrailingWhitespace => each(&|line| format!("{line}  ")),
            Self::ShiftedRight(by) => {
                each(&|line| if filled(line) { " ".repeat(by) + line } else { String::new() })
            }
            Self::ShiftedLeft => each(&|line| line.strip_prefix("    ").unwrap_or(line).to_owned()),
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

    /// Adapts the damage to this edit: unindented lines cannot move left, and a blank line next to a changed line could
    /// be intended.
    fn adapt_to(self, known: &Known) -> Self {
        let is_indented = |line: &String| line.is_empty() || line.starts_with("    ");
        match self {
            Self::ShiftedLeft if !known.block.iter().chain(&known.new_block()).all(is_indented) => {
                Self::ShiftedRight(4)
            }
            Self::BlankLine(pick) => {
                let gaps = known.gaps();
                gaps.get(pick % gaps.len().max(1)).map_or(Self::TrailingWhitespace, |&at| Self::BlankLine(at))
            }
            damage => damage,
        }
    }
}

/// The request of a known edit, damaged.
fn request(known: &Known, damage: Damage) -> (String, String) {
    let first = known.head.len() + 1;
    let damage = damage.adapt_to(known);
    match damage {
        Damage::BlankLine(at) => {
            let new = known.new_block();
            let same = new.iter().position(|line| *line == known.block[at]).unwrap_or(at);
            (damage.of(&known.block, first), Damage::BlankLine(same).of(&new, first))
        }
        // Typographic punctuation in an added line is intended.
        Damage::LookAlikes => {
            let show = |line: &String| match known.block.contains(line) {
                true => damage.of(std::slice::from_ref(line), first),
                false => line.clone(),
            };
            let new: Vec<String> = known.new_block().iter().map(show).collect();
            (damage.of(&known.block, first), new.join("\n"))
        }
        Damage::TrailingWhitespace => (damage.of(&known.block, first), known.new_block().join("\n")),
        _ => (damage.of(&known.block, first), damage.of(&known.new_block(), first)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// A formal mistake in a request for a block that occurs once: the intended bytes, or a refusal that writes nothing.
    #[test]
    fn applies_formal_mistakes_correctly_or_refuses(known in known(), damage in damages()) {
        let before = known.text(&known.block, "\n");
        let expected = known.text(&known.new_block(), "\n");
        let (old, new) = request(&known, damage);
        let rig = Rig::new(before.as_str());
        let answer = rig.edit(&old, &new);
        let after = String::from_utf8(rig.bytes()).unwrap();
        match answer.report.status() {
            Status::Applied => prop_assert_eq!(after, expected, "{:?}: {}", damage, answer.text),
            _ => {
                prop_assert_eq!(after, before, "a refusal writes nothing");
                prop_assert_eq!(answer.report.code(), "ambiguous", "nothing but doubt: {:?} {}", damage, answer.text);
            }
        }
    }

    /// No byte outside the reported lines changes, whatever the damage.
    #[test]
    fn never_changes_bytes_outside_the_reported_lines(
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

    /// A block that occurs twice is refused, however the request is damaged.
    #[test]
    fn refuses_a_block_that_occurs_twice(
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

    /// The same request on the same file gives the same result, and on the CRLF version of the file its CRLF version.
    #[test]
    fn is_deterministic_and_ignores_line_endings(known in known(), damage in damages(), drift in any::<bool>()) {
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

    /// Undo restores a recovered edit to the byte.
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
