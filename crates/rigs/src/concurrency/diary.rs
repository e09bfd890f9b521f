//! What each process did, written down as it does it. A line that was written survives the process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// A process's own file of what it tried and what came of it.
#[derive(Debug)]
pub(super) struct Diary(File);

impl Diary {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(OpenOptions::new().create(true).append(true).open(path)?))
    }

    /// One write per line: a kill leaves no half of one.
    fn line(&mut self, words: &[&str]) -> io::Result<()> {
        self.0.write_all(format!("{}\n", words.join(" ")).as_bytes())
    }

    /// Before anything is done: the token is about to be put into these files.
    pub(super) fn will(&mut self, token: &str, files: &[&str]) -> io::Result<()> {
        self.line(&["will", token, &files.join(",")])
    }

    /// The answer was yes.
    pub(super) fn yes(&mut self, token: &str, change: &str) -> io::Result<()> {
        self.line(&["yes", token, change])
    }

    /// The answer was no.
    pub(super) fn no(&mut self, token: &str, code: &str) -> io::Result<()> {
        self.line(&["no", token, code])
    }

    /// Nobody can say: the file was replaced while it was written to.
    pub(super) fn unsure(&mut self, token: &str) -> io::Result<()> {
        self.line(&["unsure", token])
    }

    /// This writer itself overwrote that token.
    pub(super) fn over(&mut self, token: &str) -> io::Result<()> {
        self.line(&["over", token])
    }

    /// This writer itself put that token back, which had been taken away after it read.
    pub(super) fn back(&mut self, token: &str) -> io::Result<()> {
        self.line(&["back", token])
    }
}

/// What became of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It must be there once.
    Acknowledged,
    /// It must not be there.
    Refused,
    /// It may be there, once.
    Unknown,
}

/// All diaries of a run, read together.
#[derive(Debug, Default)]
pub(super) struct Story {
    /// Each token, in which files it is to be, and its fate.
    pub(super) tokens: BTreeMap<String, (Vec<String>, Fate)>,
    /// The changes that were acknowledged, by their names in the journal.
    pub(super) changes: BTreeSet<String>,
    /// Tokens that a foreign writer overwrote.
    pub(super) overwritten: BTreeSet<String>,
    /// Tokens that a foreign writer put back after they had been taken away.
    pub(super) put_back: BTreeSet<String>,
    /// How often each reason for a refusal was given.
    pub(super) refusals: BTreeMap<String, u64>,
}

impl Story {
    pub(super) fn read(&mut self, path: &Path) -> io::Result<()> {
        // A process that was killed before its first line has none.
        if !path.exists() {
            return Ok(());
        }
        for line in fs::read_to_string(path)?.lines() {
            let mut words = line.split(' ');
            let (kind, token, rest) = (
                words.next().unwrap_or(""),
                words.next().unwrap_or("").to_owned(),
                words.next().unwrap_or(""),
            );
            match kind {
                "will" => {
                    let files = rest.split(',').map(str::to_owned).collect();
                    self.tokens.insert(token, (files, Fate::Unknown));
                }
                "yes" => {
                    self.settle(&token, Fate::Acknowledged);
                    if rest != "-" {
                        self.changes.insert(rest.into());
                    }
                }
                "no" => {
                    self.settle(&token, Fate::Refused);
                    *self.refusals.entry(rest.into()).or_default() += 1;
                }
                "over" => {
                    self.overwritten.insert(token);
                }
                "back" => {
                    self.put_back.insert(token);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn settle(&mut self, token: &str, fate: Fate) {
        if let Some((_, known)) = self.tokens.get_mut(token) {
            *known = fate;
        }
    }

    /// How many tokens have that fate and begin so.
    pub(super) fn count(&self, prefix: char, fate: Fate) -> usize {
        self.tokens.iter().filter(|(token, (_, known))| token.starts_with(prefix) && *known == fate).count()
    }
}

/// How many tokens a diary has as acknowledged.
pub(super) fn acknowledged(path: &Path) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().filter(|line| line.starts_with("yes ")).count())
}
