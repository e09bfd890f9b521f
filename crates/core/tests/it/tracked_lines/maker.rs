//! Random files of small blocks, in which every line has an id, and random changes of them.

use std::collections::HashMap;

use crate::gauntlet::random::Random;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// 0 for a blank line.
    pub(super) id: usize,
    pub(super) text: String,
}

/// Blocks of lines, with a blank line between two.
pub(super) type Blocks = Vec<Vec<Line>>;

/// Makes files and changes them.
pub(super) struct Maker {
    pub(super) random: Random,
    next_id: usize,
    next_name: usize,
    /// What lines were replaced with: ids of the old and the new line.
    replaced: HashMap<usize, usize>,
}

/// Forms of the first and the last line of a block, and the indentation of its body.
pub(super) const FORMS: &[(&str, &str, &str)] = &[
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
    pub(super) fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), next_id: 0, next_name: 0, replaced: HashMap::new() }
    }

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

    pub(super) fn blocks(&mut self, form: (&str, &str, &str)) -> Blocks {
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

    fn replace(&mut self, line: &mut Line, with: Line) {
        self.replaced.insert(line.id, with.id);
        *line = with;
    }

    /// What a line is now, if it was replaced, however often.
    pub(super) fn successor(&self, mut id: usize) -> usize {
        while let Some(&next) = self.replaced.get(&id) {
            id = next;
        }
        id
    }

    /// Applies random later edits to the blocks.
    pub(super) fn change(&mut self, blocks: &mut Blocks, form: (&str, &str, &str)) {
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
                let heading = self.line(heading);
                self.replace(&mut blocks[at][0], heading);
            }
            5 => {
                let line = self.body_line(form.2);
                let of = self.random.from(1, blocks[at].len() - 1);
                self.replace(&mut blocks[at][of], line);
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

/// The lines of a file.
pub(super) fn lines(blocks: &Blocks) -> Vec<Line> {
    let blank = Line { id: 0, text: String::new() };
    blocks.join(&blank)
}

pub(super) fn text(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{}\n", line.text)).collect()
}
