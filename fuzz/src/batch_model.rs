//! Batches of replacements and a naive model of what they do: search the whole text, copy the whole text, for every edit.

use serde_json::{Value, json};

use super::MAX_CALLS;

/// A batch that was decoded from bytes.
#[derive(Debug)]
pub(super) struct Batch {
    rules: Rules,
    pub(super) file: String,
    edits: Vec<Edit>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rules {
    /// `nexus3`: each edit must match the original and still match when its turn comes.
    InOriginal,
    /// `claude`: each edit applies to the result of the ones before.
    InTurn,
}

#[derive(Debug)]
struct Edit {
    old: String,
    new: String,
    all: bool,
}

/// What the model says about a batch.
#[derive(Debug)]
pub(super) enum Expected {
    /// It applies, with this result.
    Text(String),
    /// A text occurs more than once where it must be unique.
    Ambiguous,
    /// A text does not occur, in a dialect that recovers.
    Missing,
    /// It is refused for another reason.
    Refused,
}

/// What became of the search for one text.
enum Found {
    At(Vec<usize>),
    Ambiguous,
    Missing,
}

/// Takes numbers from the front of the input.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> usize {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                usize::from(*first)
            }
            None => 0,
        }
    }

    /// A short text over a small alphabet, so that parts of it repeat.
    fn text(&mut self, length: usize) -> String {
        const ALPHABET: &[char] = &['a', 'b', 'c', ' ', '\n', '(', 'ü', 'x'];
        (0..length).map(|_| ALPHABET[self.byte() % ALPHABET.len()]).collect()
    }
}

impl Batch {
    /// Any bytes are a batch. Most old texts are quoted from the file as the edits before leave it.
    pub(super) fn decode(data: &[u8]) -> Self {
        let mut input = Reader(data);
        let rules = if input.byte() % 2 == 0 { Rules::InOriginal } else { Rules::InTurn };
        let count = 1 + input.byte() % (2 * MAX_CALLS);
        let length = input.byte();
        let file = input.text(length);
        let mut current = file.clone();
        let mut edits = Vec::new();
        for _ in 0..count {
            let flags = input.byte();
            let source = if flags & 1 == 0 { &file } else { &current };
            let whole_lines = flags & 16 != 0;
            let old = match flags & 2 {
                _ if whole_lines => quote_lines(source, input.byte(), 1 + input.byte() % 2),
                0 => quote(source, input.byte(), 1 + input.byte() % 12),
                _ => {
                    let length = 1 + input.byte() % 4;
                    input.text(length)
                }
            };
            let length = input.byte() % 6;
            let mut new = input.text(length);
            if whole_lines && flags & 32 == 0 {
                new.push('\n');
            }
            let edit = Edit { old, new, all: flags & 12 == 12 };
            if let Found::At(places) = edit.find(&current) {
                current = edit.replace(&current, &places);
            }
            edits.push(edit);
        }
        Self { rules, file, edits }
    }

    pub(super) fn dialect(&self) -> &'static str {
        match self.rules {
            Rules::InOriginal => "nexus3",
            Rules::InTurn => "claude",
        }
    }

    pub(super) fn tool(&self) -> &'static str {
        match self.rules {
            Rules::InOriginal => "edit_file",
            Rules::InTurn => "MultiEdit",
        }
    }

    pub(super) fn arguments(&self) -> Value {
        let edit =
            |edit: &Edit| json!({"old_string": edit.old, "new_string": edit.new, "replace_all": edit.all});
        let edits: Vec<Value> = self.edits.iter().map(edit).collect();
        match self.rules {
            Rules::InOriginal => json!({"path": "a.txt", "edits": edits}),
            Rules::InTurn => json!({"file_path": "a.txt", "edits": edits}),
        }
    }

    /// What the batch must do.
    pub(super) fn expected(&self) -> Expected {
        let mut current = self.file.clone();
        for edit in &self.edits {
            if edit.old.trim().is_empty() {
                return Expected::Refused;
            }
            let before = match self.rules {
                Rules::InOriginal => match edit.find(&self.file) {
                    Found::At(places) => Some(places.len()),
                    Found::Ambiguous | Found::Missing => return Expected::Refused,
                },
                Rules::InTurn => None,
            };
            match edit.find(&current) {
                Found::At(places) if before.is_none_or(|count| count == places.len()) => {
                    current = edit.replace(&current, &places);
                }
                Found::At(_) => return Expected::Refused,
                Found::Ambiguous => return Expected::Ambiguous,
                Found::Missing if self.rules == Rules::InOriginal => return Expected::Refused,
                Found::Missing => return Expected::Missing,
            }
        }
        Expected::Text(current)
    }
}

/// Part of a text, by characters.
fn quote(text: &str, from: usize, length: usize) -> String {
    let characters = text.chars().count().max(1);
    text.chars().skip(from % characters).take(length).collect()
}

/// Some lines of a text, so that the old texts of a batch are often next to each other.
fn quote_lines(text: &str, from: usize, count: usize) -> String {
    let lines = text.split_inclusive('\n').count().max(1);
    text.split_inclusive('\n').skip(from % lines).take(count).collect()
}

impl Edit {
    fn find(&self, text: &str) -> Found {
        if self.old.is_empty() {
            return Found::Missing;
        }
        let places: Vec<usize> =
            text.char_indices().map(|(at, _)| at).filter(|&at| text[at..].starts_with(&self.old)).collect();
        let overlap = places.windows(2).any(|pair| pair[1] < pair[0] + self.old.len());
        match places.len() {
            0 => Found::Missing,
            1 => Found::At(places),
            _ if self.all && !overlap => Found::At(places),
            _ => Found::Ambiguous,
        }
    }

    fn replace(&self, text: &str, places: &[usize]) -> String {
        let mut out = String::new();
        let mut done = 0;
        for &at in places {
            out.push_str(&text[done..at]);
            out.push_str(&self.new);
            done = at + self.old.len();
        }
        out.push_str(&text[done..]);
        out
    }
}
