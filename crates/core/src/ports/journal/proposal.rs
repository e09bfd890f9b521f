//! Proposals: changes pending review.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize, Serializer};

use super::{ChangeId, Origin, RecordedText};
use crate::change::{Base, FileChange};
use crate::guard::ProposalKind;
use crate::path::FilePath;
use crate::plan::{ChangeLabels, EditRules};
use slipstitch_text::display::join_items;

/// A proposal's id in the journal, written `p` and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProposalId(pub u64);

impl ProposalId {
    /// Parses `p3` or `3`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        text.strip_prefix(['p', 'P']).unwrap_or(text).parse().ok().map(Self)
    }
}

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", self.0)
    }
}

impl Serialize for ProposalId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A change that has not been approved yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// Where it came from.
    pub origin: Origin,
    /// What it is for, in the caller's words.
    pub description: Option<String>,
    /// Why it needs a review.
    pub reason: String,
    /// The change of each file, and the content that each file must have for it.
    pub files: Vec<FileChange>,
    /// The change as a unified diff, for the reviewer.
    pub diff: String,
    /// [`RecordedText::Private`] if one of the files is private. Such a proposal is kept until it is decided, because it could
    /// not be applied otherwise, and then its text is erased.
    pub text: RecordedText,
    /// What the report of the accepted proposal says in addition to what happened to the files.
    pub notes: ProposalNotes,
}

/// A part of a proposal that can be accepted or rejected by itself: one hunk of its diff, or a file that is created, deleted,
/// moved or made executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalHunk {
    /// Its number, from 1.
    pub number: usize,
    /// The file.
    pub path: FilePath,
    /// Its place in the proposal's diff.
    pub diff: Range<usize>,
}

impl Proposal {
    /// The hunks, in the order of the diff; the first one of a file includes the file's header. A diff that was truncated has
    /// only those that are left in it.
    pub fn hunks(&self) -> Vec<ProposalHunk> {
        let mut hunks: Vec<ProposalHunk> = Vec::new();
        let mut files = self.files.iter().filter(|file| !file.is_empty());
        let mut file: Option<&FileChange> = None;
        let mut is_in_header = false;
        let mut at = 0;
        for line in self.diff.split_inclusive('\n') {
            // Lines inside a hunk start with a blank, a sign or a backslash.
            let starts_file = line.starts_with("diff --git ");
            let starts_hunk = line.starts_with("@@ ") && file.is_some_and(FileChange::has_separate_hunks);
            if starts_file {
                file = files.next();
            }
            if let Some(file) = file
                && (starts_file || (starts_hunk && !is_in_header))
            {
                hunks.push(ProposalHunk { number: hunks.len() + 1, path: file.path.clone(), diff: at..at });
            }
            is_in_header = starts_file || (is_in_header && !starts_hunk);
            at += line.len();
            if let Some(last) = hunks.last_mut() {
                last.diff.end = at;
            }
        }
        hunks
    }

    /// Whether a reviewer can edit this hunk. A file that is deleted, moved or made executable has no lines to edit.
    pub fn can_edit_hunk(&self, hunk: &ProposalHunk) -> bool {
        let is_text = |line: &str| line.starts_with(['+', '-']);
        let has_lines =
            || self.hunk_diff(hunk).lines().skip_while(|line| !line.starts_with("@@ ")).any(is_text);
        let file = self.files.iter().find(|file| file.path == hunk.path);
        file.is_some_and(|file| file.has_separate_hunks() || file.base == Base::Absent) && has_lines()
    }

    /// Names hunks with their places, as long as these are few: `hunk 2 at src/a.rs:9-11 (rejected by ada: no)`.
    pub fn describe_hunks(&self, hunks: &[RejectedHunk]) -> String {
        let known = self.hunks();
        describe_with_places(hunks, |number| {
            let hunk = known.iter().find(|hunk| hunk.number == number)?;
            Some(match changed_lines(self.hunk_diff(hunk)) {
                Some(lines) => format!("{}:{lines}", hunk.path),
                None => hunk.path.to_string(),
            })
        })
    }

    /// The text of a hunk in the diff.
    pub fn hunk_diff(&self, hunk: &ProposalHunk) -> &str {
        self.diff.get(hunk.diff.clone()).unwrap_or_default()
    }
}

/// What a proposal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposalSubject {
    /// A change of files.
    #[default]
    Change,
    /// Write access for a restricted session; there are no files.
    WriteAccess,
}

/// The parts of a report that cannot be derived from the files. They are stored, so that an accepted proposal is reported
/// exactly as if the change had been applied at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProposalNotes {
    /// What the proposal asks for.
    pub subject: ProposalSubject,
    /// The report's message, if it is not the usual one.
    pub message: Option<String>,
    /// Warnings about how the request was interpreted.
    #[serde(rename = "request")]
    pub request_warnings: Vec<String>,
    /// Notes about the change as a whole.
    #[serde(rename = "notes")]
    pub change_notes: Vec<String>,
    /// Warnings from guards.
    #[serde(rename = "warnings")]
    pub guard_warnings: Vec<String>,
    /// The clipboards that the session will have, by name.
    pub clipboards: BTreeMap<String, String>,
    /// Context lines of the diff.
    pub context: usize,
    /// What the proposal does, which decides what guards it must pass.
    pub kind: ProposalKind,
    /// Where each of its paths led when it was proposed; `None` for a proposal of an older version.
    pub real_paths: Option<BTreeMap<String, String>>,
    /// How the dialect classifies the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<ChangeLabels>,
    /// A digest of the call, so that the same call sent again gets the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_digest: Option<String>,
}

impl Default for ProposalNotes {
    fn default() -> Self {
        Self {
            subject: ProposalSubject::Change,
            message: None,
            request_warnings: Vec::new(),
            change_notes: Vec::new(),
            guard_warnings: Vec::new(),
            clipboards: BTreeMap::new(),
            context: EditRules::STRICT.context,
            kind: ProposalKind::default(),
            real_paths: None,
            labels: None,
            call_digest: None,
        }
    }
}

/// A proposal in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredProposal {
    /// Its id.
    pub id: ProposalId,
    /// When it was proposed, in milliseconds since 1970.
    pub at: i64,
    /// The proposed change.
    pub proposal: Proposal,
    /// The reviewer's decision; `None` while it is pending.
    pub decision: Option<ProposalDecision>,
    /// The hunks that were rejected while the others are still pending.
    pub rejected_hunks: Vec<RejectedHunk>,
}

/// A hunk of a proposal that is not applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedHunk {
    /// Its number, from 1.
    pub hunk: usize,
    /// Who rejected it.
    pub by: String,
    /// Why, if they gave a reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The lines of the old text that a hunk replaces, such as `9-11`; for an insertion, the line before it. `None` for a whole file.
fn changed_lines(diff: &str) -> Option<String> {
    let mut lines = diff.lines().skip_while(|line| !line.starts_with("@@ -"));
    let start = lines.next()?.strip_prefix("@@ -")?.split([',', ' ']).next()?;
    let mut at: usize = start.parse().ok().filter(|start| *start > 0)?;
    let (mut first, mut last) = (None, None);
    for line in lines {
        match line.chars().next() {
            Some('-') => {
                first.get_or_insert(at);
                last = Some(at);
                at += 1;
            }
            Some('+') => {}
            Some('\\') => {}
            _ if first.is_none() && last.is_none() => at += 1,
            _ => break,
        }
    }
    match (first, last) {
        (Some(first), Some(last)) if first == last => Some(first.to_string()),
        (Some(first), Some(last)) => Some(format!("{first}-{last}")),
        _ => Some(start.to_owned()),
    }
}

/// How many hunks are named with their places.
const MAX_PLACES: usize = 5;

/// Names hunks in one line, those with the same reason together: `hunks 1, 3-5, hunk 2 (rejected by ada: no)`.
pub fn describe_hunks(hunks: &[RejectedHunk]) -> String {
    describe_with_places(hunks, |_| None)
}

fn describe_with_places(hunks: &[RejectedHunk], place: impl Fn(usize) -> Option<String>) -> String {
    // Only a reason makes it worth saying who rejected a hunk: the others are those that were not accepted.
    let remark = |hunk: &RejectedHunk| {
        hunk.reason.as_ref().map(|reason| format!(" (rejected by {}: {reason})", hunk.by)).unwrap_or_default()
    };
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for hunk in hunks {
        let remark = remark(hunk);
        match groups.iter_mut().find(|(known, _)| *known == remark) {
            Some((_, numbers)) => numbers.push(hunk.hunk),
            None => groups.push((remark, vec![hunk.hunk])),
        }
    }
    join_items(groups.iter().map(|(remark, numbers)| {
        let name = if numbers.len() == 1 { "hunk" } else { "hunks" };
        let places: Option<Vec<String>> =
            numbers.iter().map(|number| Some(format!("{number} at {}", place(*number)?))).collect();
        match places.filter(|places| places.len() <= MAX_PLACES) {
            Some(places) => format!("{name} {}{remark}", places.join(", ")),
            None => format!("{name} {}{remark}", join_ranges(numbers)),
        }
    }))
}

/// Ascending numbers, with runs of three or more as ranges.
fn join_ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|number, next| number + 1 == *next);
    join_items(runs.map(|run| match run {
        [first, _, .., last] => format!("{first}-{last}"),
        few => join_items(few),
    }))
}

/// What a reviewer decided about a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum ProposalDecision {
    /// It was applied.
    Accepted {
        /// Who accepted it.
        by: String,
        /// The change that it became.
        change: ChangeId,
        /// The hunks that were not applied.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<RejectedHunk>,
        /// The hunks that the reviewer changed, by their numbers.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        edited: Vec<usize>,
    },
    /// The session got the write access that it asked for.
    Granted {
        /// Who granted it.
        by: String,
    },
    /// It will not be applied.
    Rejected {
        /// Who rejected it.
        by: String,
        /// Why, if they gave a reason.
        reason: Option<String>,
    },
}

impl ProposalDecision {
    /// The decision in one line, with the places of the hunks that were left out.
    pub fn describe(&self, proposal: &Proposal) -> String {
        self.describe_with(|hunks| proposal.describe_hunks(hunks))
    }

    fn describe_with(&self, describe_hunks: impl Fn(&[RejectedHunk]) -> String) -> String {
        match self {
            Self::Accepted { by, change, left_out, edited } => {
                let mut text = format!("accepted by {by} as {change}");
                if !left_out.is_empty() {
                    text = format!("partly {text} without {}", describe_hunks(left_out));
                }
                match &edited[..] {
                    [] => {}
                    [hunk] => text.push_str(&format!(", with hunk {hunk} edited")),
                    hunks => text.push_str(&format!(", with hunks {} edited", join_items(hunks))),
                }
                text
            }
            Self::Granted { by } => format!("granted by {by}"),
            Self::Rejected { by, reason: Some(reason) } => format!("rejected by {by}: {reason}"),
            Self::Rejected { by, reason: None } => format!("rejected by {by}"),
        }
    }
}

impl fmt::Display for ProposalDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe_with(describe_hunks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_hunks_are_the_lines_that_they_replace() {
        for (diff, lines) in [
            ("@@ -7,5 +7,5 @@\n 7\n 8\n-9\n-10\n+nine\n 11\n", Some("9-10")),
            ("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n", Some("1")),
            ("@@ -3,0 +4,2 @@\n+x\n+y\n", Some("3")),
            ("@@ -0,0 +1 @@\n+x\n", None),
            ("rename from a\nrename to b\n", None),
        ] {
            assert_eq!(changed_lines(diff).as_deref(), lines, "{diff}");
        }
    }
    use crate::change::{Base, PathChange};
    use slipstitch_text::{ContentHash, Splices};

    fn file(path: &str, base: Base) -> FileChange {
        FileChange {
            path: FilePath::from_record(path).unwrap(),
            base,
            path_change: PathChange::Keep,
            splices: Splices::none(0),
            after: Some(ContentHash::of(b"new")),
            mode: None,
            executable: None,
            restore: Default::default(),
            edits: Vec::new(),
            notes: Vec::new(),
            totals: None,
        }
    }

    #[test]
    fn rejected_hunks_are_named_in_ranges_by_reason() {
        let hunk = |hunk, reason: Option<&str>| RejectedHunk {
            hunk,
            by: "ada".into(),
            reason: reason.map(Into::into),
        };
        assert_eq!(describe_hunks(&[hunk(2, None)]), "hunk 2");
        assert_eq!(describe_hunks(&[hunk(2, None), hunk(3, None)]), "hunks 2, 3");
        let many: Vec<RejectedHunk> =
            [1, 2, 3, 4, 7, 9, 10, 11].into_iter().map(|number| hunk(number, None)).collect();
        assert_eq!(describe_hunks(&many), "hunks 1-4, 7, 9-11");
        let mixed =
            [hunk(1, None), hunk(2, Some("no")), hunk(3, None), hunk(4, Some("no")), hunk(5, Some("why"))];
        assert_eq!(
            describe_hunks(&mixed),
            "hunks 1, 3, hunks 2, 4 (rejected by ada: no), hunk 5 (rejected by ada: why)"
        );
    }

    #[test]
    fn hunks_are_numbered_over_all_files_and_a_new_file_is_one() {
        let old = Base::Content(ContentHash::of(b"old"));
        let proposal = Proposal {
            origin: Origin { session: "s".into(), agent: None, dialect: "d".into(), tool: "t".into() },
            description: None,
            reason: String::new(),
            files: vec![file("a", old), file("same", Base::Content(ContentHash::of(b"new"))), file("b", Base::Absent), file("c", old)],
            diff: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-@@ x\n+diff --git y\n@@ -9,1 +9,1 @@\n-x\n+y\n\
                   diff --git a/b b/b\nnew file mode 100644\n@@ -0,0 +1,1 @@\n+z\n\
                   diff --git a/c b/c\n(diff omitted: 9 bytes)\n"
                .into(),
            text: RecordedText::Kept,
            notes: ProposalNotes::default(),
        };
        let hunks = proposal.hunks();
        let listed: Vec<_> = hunks.iter().map(|hunk| (hunk.number, hunk.path.as_str())).collect();
        assert_eq!(listed, [(1, "a"), (2, "a"), (3, "b"), (4, "c")]);
        assert_eq!(proposal.hunk_diff(&hunks[1]), "@@ -9,1 +9,1 @@\n-x\n+y\n");
        let left_out: Vec<RejectedHunk> = [1, 2, 3]
            .map(|hunk| RejectedHunk { hunk, by: "ada".into(), reason: (hunk == 2).then(|| "no".into()) })
            .into();
        assert_eq!(
            proposal.describe_hunks(&left_out),
            "hunks 1 at a:1, 3 at b, hunk 2 at a:9 (rejected by ada: no)"
        );
        let all: String = hunks.iter().map(|hunk| proposal.hunk_diff(hunk)).collect();
        assert_eq!(all, proposal.diff);
    }
}
