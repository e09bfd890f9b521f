//! Logs of what each worker did, written as it happens so that a kill loses nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// The name of a change that is not in the journal, because a foreign writer made it.
const NO_CHANGE: &str = "-";

/// The code of a refusal because someone else saved the file at the same moment.
const SAVED_MEANWHILE: &str = "saved_meanwhile";

/// A worker's log.
#[derive(Debug)]
pub(super) struct Log(File);

impl Log {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(OpenOptions::new().create(true).append(true).open(path)?))
    }

    /// Writes a line in a single write, so that a kill cannot leave half of it.
    fn write_line(&mut self, words: &[&str]) -> io::Result<()> {
        self.0.write_all(format!("{}\n", words.join(" ")).as_bytes())
    }

    /// The worker is about to put the token into these files.
    pub(super) fn attempt(&mut self, token: &str, files: &[&str]) -> io::Result<()> {
        self.write_line(&["attempt", token, &files.join(",")])
    }

    /// Slipstitch acknowledged the edit as this change.
    pub(super) fn acknowledged(&mut self, token: &str, change: &str) -> io::Result<()> {
        self.write_line(&["acknowledged", token, change])
    }

    /// A foreign writer knows that its token is in the file.
    pub(super) fn written(&mut self, token: &str) -> io::Result<()> {
        self.acknowledged(token, NO_CHANGE)
    }

    /// Slipstitch refused the edit, in these words.
    pub(super) fn refused(&mut self, token: &str, code: &str, words: &str) -> io::Result<()> {
        self.write_line(&["refused", token, code, &words.replace('\n', " ")])
    }

    /// A foreign writer overwrote this token of someone else.
    pub(super) fn overwritten(&mut self, token: &str) -> io::Result<()> {
        self.write_line(&["overwritten", token])
    }

    /// A foreign writer overwrote its own earlier token, because it was not in the text that it had read.
    pub(super) fn overwritten_own(&mut self, token: &str) -> io::Result<()> {
        self.write_line(&["overwritten_own", token])
    }

    /// A foreign writer found no file with the name, and wrote nothing.
    pub(super) fn missing(&mut self, token: &str) -> io::Result<()> {
        self.write_line(&["missing", token])
    }

    /// A foreign writer saved to a name that had been there when it read the file, and was missing now. It cannot know what
    /// the file contained last.
    pub(super) fn saved_into_gap(&mut self, token: &str) -> io::Result<()> {
        self.write_line(&["gap", token])
    }

    /// A foreign writer restored this token, which was removed after it had read the file.
    pub(super) fn restored(&mut self, token: &str) -> io::Result<()> {
        self.write_line(&["restored", token])
    }
}

/// What is known about a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenStatus {
    /// It must be in the files, once.
    Acknowledged,
    /// It must not be in the files.
    Refused,
    /// It may be in the files, once.
    Unknown,
}

/// The logs of all workers, merged.
#[derive(Debug, Default)]
pub(super) struct MergedLog {
    /// Each token with the files that it was meant for.
    pub(super) tokens: BTreeMap<String, (Vec<String>, TokenStatus)>,
    /// Ids of the acknowledged changes.
    pub(super) changes: BTreeSet<String>,
    /// The codes of refused edits.
    pub(super) refusals: BTreeMap<String, String>,
    /// Tokens that a foreign writer overwrote.
    pub(super) overwritten: BTreeSet<String>,
    /// How many edits were refused because a foreign writer saved at the same moment.
    pub(super) saved_meanwhile: usize,
    /// How many tokens a foreign writer lost to itself.
    pub(super) lost_saves: usize,
    /// Tokens that a foreign writer restored after they had been removed.
    pub(super) restored: BTreeSet<String>,
    /// How often a foreign writer found no file with the name.
    pub(super) missing_names: usize,
    /// How often a foreign writer saved to a name that was missing for a moment.
    pub(super) saves_into_gaps: usize,
}

impl MergedLog {
    /// Adds the log of one worker.
    pub(super) fn read(&mut self, path: &Path) -> io::Result<()> {
        // A worker that was killed right away has no log.
        if !path.exists() {
            return Ok(());
        }
        for line in fs::read_to_string(path)?.lines() {
            let mut words = line.split(' ');
            let mut next_word = || words.next().unwrap_or("");
            let (event, token, rest) = (next_word(), next_word(), next_word());
            let words: Vec<&str> = words.collect();
            match event {
                "attempt" => {
                    let files = rest.split(',').map(str::to_owned).collect();
                    self.tokens.insert(token.into(), (files, TokenStatus::Unknown));
                }
                "acknowledged" => {
                    self.set_status(token, TokenStatus::Acknowledged);
                    if rest != NO_CHANGE {
                        self.changes.insert(rest.into());
                    }
                }
                // This answer says that the edit may be in the file, because someone else may have saved it.
                "refused" if rest == SAVED_MEANWHILE => self.saved_meanwhile += 1,
                "refused" => {
                    self.refusals.insert(token.into(), format!("{rest}: {}", words.join(" ")));
                    self.set_status(token, TokenStatus::Refused);
                }
                "overwritten" => {
                    self.overwritten.insert(token.into());
                }
                "overwritten_own" => {
                    self.lost_saves += 1;
                    self.overwritten.insert(token.into());
                }
                "missing" => {
                    self.missing_names += 1;
                    self.tokens.remove(token);
                }
                "gap" => self.saves_into_gaps += 1,
                "restored" => {
                    self.restored.insert(token.into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn set_status(&mut self, token: &str, status: TokenStatus) {
        if let Some((_, known)) = self.tokens.get_mut(token) {
            *known = status;
        }
    }

    /// The number of edits without an answer, because their process was killed.
    pub(super) fn unanswered(&self) -> usize {
        self.count('w', TokenStatus::Unknown).saturating_sub(self.saved_meanwhile)
    }

    /// The number of tokens with this prefix and status.
    pub(super) fn count(&self, prefix: char, status: TokenStatus) -> usize {
        self.count_of(prefix.encode_utf8(&mut [0; 4]), status)
    }

    /// The number of tokens with this longer prefix and status.
    pub(super) fn count_of(&self, prefix: &str, status: TokenStatus) -> usize {
        self.tokens.iter().filter(|(token, (_, known))| token.starts_with(prefix) && *known == status).count()
    }
}

/// The number of acknowledged edits in a worker's log.
pub(super) fn count_acknowledged(path: &Path) -> usize {
    let is_acknowledged = |line: &&str| line.starts_with("acknowledged ");
    fs::read_to_string(path).map_or(0, |text| text.lines().filter(is_acknowledged).count())
}
