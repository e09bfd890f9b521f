//! An edit that quotes an earlier version changes the line that it was made for, or nothing.
//!
//! Every line is tracked by an id that is not part of its text. A file of small blocks is read; then blocks are removed, moved,
//! added and renamed, and lines are changed. An edit of a line as it was read may be refused. If it is applied, the line
//! with that id must be the one that changes, although other lines may have the same text.

use serde_json::json;
use slipstitch_core::outcome::Status;

use crate::gauntlet::random::Random;
use crate::rig::{Rig, path};

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    id: usize,
    text: String,
}

/// Blocks of lines, with a blank line between two.
type Blocks = Vec<Vec<Line>>;

struct Maker {
    random: Random,
    next_id: usize,
    next_name: usize,
}

/// Forms of the first and the last line of a block, and the indentation of its body.
const FORMS: &[(&str, &str, &str)] = &[
    ("def NAME(a):", "", "    "),
    ("Host NAME", "", "    "),
    ("void NAME(int a) {", "}", "    "),
    ("start", "end", "  "),
    ("NAME:", "", "  "),
    ("[NAME]", "", ""),
    ("{", "},", "  "),
    ("fn NAME() {", "}", "\t"),
];

const SHORT: &[&str] = &["a", "b", "c = 1", "x()", "y", "ok", "n += 1", "}"];
const LONG: &[&str] = &[
    "self.check(path)",
    "data = read(path)",
    "return data",
    "log.info(\"done\")",
    "retries = 3",
    "for item in items:",
    "connect(host, port)",
    "value = compute(1)",
];

impl Maker {
    fn line(&mut self, text: String) -> Line {
        self.next_id += 1;
        Line { id: self.next_id, text }
    }

    fn body_line(&mut self, depth: &str) -> Line {
        let words = if self.random.chance(50) { SHORT } else { LONG };
        let word = words[self.random.below(words.len())];
        self.line(format!("{depth}{word}"))
    }

    fn name(&mut self) -> String {
        self.next_name += 1;
        format!("name{}", self.next_name)
    }

    fn block(&mut self, form: (&str, &str, &str)) -> Vec<Line> {
        let (first, last, depth) = form;
        let heading = first.replace("NAME", &self.name());
        let mut lines = vec![self.line(heading)];
        for _ in 0..self.random.from(2, 5) {
            lines.push(self.body_line(depth));
        }
        if !last.is_empty() {
            lines.push(self.line(last.to_owned()));
        }
        lines
    }

    /// A block that has the body of another one and one unique line.
    fn twin(&mut self, form: (&str, &str, &str), of: &[Line]) -> Vec<Line> {
        let heading = form.0.replace("NAME", &self.name());
        let mut lines: Vec<Line> = of.iter().map(|line| self.line(line.text.clone())).collect();
        lines[0].text = heading;
        if !form.0.contains("NAME") || self.random.chance(70) {
            let at = self.random.from(1, lines.len() - 1);
            lines[at] = self.body_line(form.2);
        }
        lines
    }

    fn blocks(&mut self, form: (&str, &str, &str)) -> Blocks {
        let mut blocks = vec![self.block(form)];
        for _ in 0..self.random.from(1, 4) {
            let next = match self.random.chance(60) {
                true => {
                    let of = blocks[self.random.below(blocks.len())].clone();
                    self.twin(form, &of)
                }
                false => self.block(form),
            };
            blocks.push(next);
        }
        blocks
    }

    /// Applies random later edits to the blocks.
    fn change(&mut self, blocks: &mut Blocks, form: (&str, &str, &str)) {
        let at = self.random.below(blocks.len());
        match self.random.below(8) {
            0 | 1 if blocks.len() > 1 => {
                blocks.remove(at);
            }
            2 => {
                let block = blocks.remove(at);
                let to = self.random.from(0, blocks.len());
                blocks.insert(to, block);
            }
            3 => {
                let of = blocks[at].clone();
                let twin = self.twin(form, &of);
                blocks.insert(self.random.from(0, blocks.len()), twin);
            }
            4 if form.0.contains("NAME") => {
                let heading = form.0.replace("NAME", &self.name());
                blocks[at][0] = self.line(heading);
            }
            5 => {
                let line = self.body_line(form.2);
                let of = self.random.from(1, blocks[at].len() - 1);
                blocks[at][of] = line;
            }
            6 => {
                let line = self.body_line(form.2);
                let before = self.random.from(1, blocks[at].len());
                blocks[at].insert(before, line);
            }
            7 if blocks[at].len() > 2 => {
                let of = self.random.from(1, blocks[at].len() - 1);
                blocks[at].remove(of);
            }
            _ => {}
        }
    }
}

/// The lines of a file; blank lines have no id.
fn lines(blocks: &Blocks) -> Vec<Line> {
    let blank = Line { id: 0, text: String::new() };
    blocks.join(&blank)
}

fn text(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{}\n", line.text)).collect()
}

enum Outcome {
    /// Refused, or not a valid case.
    Nothing,
    /// The text occurs in the file as sent, which is the place by definition, or it was ambiguous when it was read.
    Exact,
    /// The right line was changed, or a new one with the same text, which nobody can tell apart.
    CarriedOver,
    /// The wrong line was changed; describes what happened.
    Wrong(String),
}

/// Makes one case from a seed and checks it.
fn check(seed: u64) -> Outcome {
    let mut maker = Maker { random: Random::new(seed), next_id: 0, next_name: 0 };
    let form = FORMS[maker.random.below(FORMS.len())];
    let mut blocks = maker.blocks(form);
    let seen = lines(&blocks);
    for _ in 0..maker.random.from(1, 3) {
        maker.change(&mut blocks, form);
    }
    let now = lines(&blocks);
    // A part of the file as it was read, and a line of it to change.
    let start = maker.random.below(seen.len());
    let end = (start + maker.random.from(2, 8)).min(seen.len());
    let quoted = &seen[start..end];
    let at = maker.random.below(quoted.len());
    let target = quoted[at].clone();
    if target.id == 0 {
        return Outcome::Nothing;
    }
    let depth: String = target.text.chars().take_while(|c| c.is_whitespace()).collect();
    let new_line = Line { id: usize::MAX, text: format!("{depth}quince") };
    let is_insertion = maker.random.chance(30);
    let edited = |lines: &[Line]| -> Option<Vec<Line>> {
        let at = lines.iter().position(|line| line.id == target.id)?;
        let mut lines = lines.to_vec();
        match is_insertion {
            true => lines.insert(at + 1, new_line.clone()),
            false => lines[at] = new_line.clone(),
        }
        Some(lines)
    };
    let (old, new) = (text(quoted), edited(quoted).map(|lines| text(&lines)).unwrap_or_default());
    let now_text = text(&now);
    let rig = Rig::new(text(&seen).as_str());
    assert_eq!(rig.call("read_file", json!({})).report.status(), Status::Shown);
    rig.files.put(&path("file.txt"), now_text.as_str());
    let answer = rig.edit(&old, &new);
    let after = String::from_utf8_lossy(&rig.bytes()).into_owned();
    if after == now_text {
        return Outcome::Nothing;
    }
    // Blank lines around a text say nothing more about its place.
    let lines_of_old = old.trim_matches('\n');
    if now_text.contains(lines_of_old) || text(&seen).matches(lines_of_old).count() > 1 {
        return Outcome::Exact;
    }
    let right = edited(&now).map(|lines| text(&lines));
    // The line that was replaced, or after which one was inserted.
    let changed = now.iter().zip(after.lines()).take_while(|(line, after)| line.text == *after).count();
    let changed = now.get(if is_insertion { changed.saturating_sub(1) } else { changed });
    let is_new = changed.is_some_and(|line| line.text == target.text && !seen.contains(line));
    if right.as_ref() == Some(&after) || is_new {
        return Outcome::CarriedOver;
    }
    Outcome::Wrong(format!(
        "seed {seed}\n--- read\n{}--- now\n{now_text}--- old\n{old}--- new\n{new}--- after\n{after}--- right\n{}\n{}",
        text(&seen),
        right.as_deref().unwrap_or("refuse"),
        answer.text
    ))
}

/// How many wrong edits are tolerated: blocks that swapped places and then became alike can't be told from blocks that were
/// changed in place.
const MAX_UNDECIDABLE_PER_1000: usize = 5;

/// How many cases are made.
const CASES: u64 = 3_000;

#[test]
fn an_edit_of_an_earlier_version_changes_its_own_line_or_nothing() {
    let (mut carried_over, mut wrong) = (0, Vec::new());
    for seed in 0..CASES {
        match check(seed) {
            Outcome::Nothing | Outcome::Exact => {}
            Outcome::CarriedOver => carried_over += 1,
            Outcome::Wrong(what) => wrong.push(what),
        }
    }
    let shown = wrong.iter().take(3).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.len() * 1000 <= MAX_UNDECIDABLE_PER_1000 * carried_over, "{} wrong\n{shown}", wrong.len());
    // A finder that refuses everything would pass.
    assert!(carried_over > 100, "{carried_over}");
}
