//! An edit of a file as it was read, sent when the file has changed.

use std::collections::HashSet;

use serde_json::json;
use slipstitch_core::engine::Answer;
use slipstitch_core::outcome::Status;

use super::maker::{FORMS, Line, Maker, lines, text};
use crate::rig::{Rig, path};

/// An edit of one line of a file that was read and has changed since.
pub(super) struct Case {
    seed: u64,
    seen: Vec<Line>,
    now: Vec<Line>,
    /// The quoted lines of the file as it was read.
    quoted: Vec<Line>,
    /// The line of them that is replaced, or after which one is inserted.
    target: Line,
    /// The id of the line that the target was replaced with since, or its own.
    successor: usize,
    /// The ids of the lines of the file as it was read, and of those that replaced one of them.
    known: HashSet<usize>,
    is_insertion: bool,
    new_line: Line,
}

/// What a call did.
pub(super) enum Outcome {
    /// Nothing was written.
    Nothing,
    /// The text occurs in the file as sent, which is the place by definition, or it was ambiguous when it was read.
    Exact,
    /// The right line was changed, or a new one with the same text, which nobody can tell apart.
    Right,
    /// The line that has replaced the right one was changed; describes what happened.
    Successor(String),
    /// A line was changed that is neither in the file as it was read nor replaced one of its lines.
    Unseen(String),
    /// Another line was changed.
    Wrong(String),
}

impl Case {
    /// Makes a case from a seed; `None` if it would change a blank line.
    pub(super) fn new(seed: u64) -> Option<Self> {
        let mut maker = Maker::new(seed);
        let form = FORMS[maker.random.below(FORMS.len())];
        let mut blocks = maker.blocks(form);
        let seen = lines(&blocks);
        for _ in 0..maker.random.from(1, 3) {
            maker.change(&mut blocks, form);
        }
        let now = lines(&blocks);
        let start = maker.random.below(seen.len());
        let end = (start + maker.random.from(2, 8)).min(seen.len());
        let quoted = seen[start..end].to_vec();
        let target = quoted[maker.random.below(quoted.len())].clone();
        if target.id == 0 {
            return None;
        }
        let depth: String = target.text.chars().take_while(|c| c.is_whitespace()).collect();
        let new_line = Line { id: usize::MAX, text: format!("{depth}quince") };
        let is_insertion = maker.random.chance(30);
        let successor = maker.successor(target.id);
        let known = seen.iter().flat_map(|line| [line.id, maker.successor(line.id)]).collect();
        Some(Self { seed, seen, now, quoted, target, successor, known, is_insertion, new_line })
    }

    /// Lines with the edit made at the line with this id, if it is there.
    fn edited_at(&self, id: usize, lines: &[Line]) -> Option<String> {
        let at = lines.iter().position(|line| line.id == id)?;
        let mut lines = lines.to_vec();
        match self.is_insertion {
            true => lines.insert(at + 1, self.new_line.clone()),
            false => lines[at] = self.new_line.clone(),
        }
        Some(text(&lines))
    }

    pub(super) fn old(&self) -> String {
        text(&self.quoted)
    }

    pub(super) fn new_text(&self) -> String {
        self.edited_at(self.target.id, &self.quoted).unwrap_or_default()
    }

    /// An engine whose session has read the file before it changed.
    pub(super) fn rig(&self) -> Rig {
        let rig = Rig::new(text(&self.seen).as_str());
        assert_eq!(rig.call("read_file", json!({})).report.status(), Status::Shown);
        rig.files.put(&path("file.txt"), text(&self.now).as_str());
        rig
    }

    /// What a call has done to the file.
    pub(super) fn outcome(&self, rig: &Rig, answer: &Answer) -> Outcome {
        let (now, after) = (text(&self.now), String::from_utf8_lossy(&rig.bytes()).into_owned());
        if after == now {
            return Outcome::Nothing;
        }
        // Blank lines around a text say nothing more about its place.
        let old = self.old();
        let lines_of_old = old.trim_matches('\n');
        if now.contains(lines_of_old) || text(&self.seen).matches(lines_of_old).count() > 1 {
            return Outcome::Exact;
        }
        let right = self.edited_at(self.target.id, &self.now);
        // The line that was replaced, or after which one was inserted.
        let changed = self.now.iter().zip(after.lines()).take_while(|(line, after)| line.text == *after);
        let changed = changed.count();
        let changed = self.now.get(if self.is_insertion { changed.saturating_sub(1) } else { changed });
        let is_new = changed.is_some_and(|line| line.text == self.target.text && !self.seen.contains(line));
        if right.as_ref() == Some(&after) || is_new {
            return Outcome::Right;
        }
        let description = format!(
            "seed {}\n--- read\n{}--- now\n{now}--- old\n{old}--- new\n{}--- after\n{after}--- right\n{}\n{}",
            self.seed,
            text(&self.seen),
            self.new_text(),
            right.as_deref().unwrap_or("refuse"),
            answer.text
        );
        if self.edited_at(self.successor, &self.now).as_ref() == Some(&after) {
            return Outcome::Successor(description);
        }
        match changed.filter(|line| self.edited_at(line.id, &self.now).as_ref() == Some(&after)) {
            Some(line) if !self.known.contains(&line.id) => Outcome::Unseen(description),
            _ => Outcome::Wrong(description),
        }
    }
}
