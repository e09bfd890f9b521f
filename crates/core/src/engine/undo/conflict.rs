//! Why a change cannot be taken back, in words, with the lines that are in the way.

use crate::outcome::{Failed, Refused};
use crate::path::FilePath;
use crate::plan::ChangeId;
use crate::report::{ConflictReport, Report};
use slipstitch_text::Span;

/// How much of each side is shown.
const MAX_LINES: usize = 12;
const MAX_BYTES: usize = 2000;

/// A place that was changed again.
pub(super) struct Conflict<'a> {
    /// The change that was to be taken back.
    pub(super) id: ChangeId,
    /// The file.
    pub(super) path: &'a FilePath,
    /// Who changed it again; nobody of ours if empty.
    pub(super) by: Vec<ChangeId>,
    /// The text that the change left, and the place in it.
    pub(super) left: (&'a [u8], Span),
    /// The text that is there now, and the place in it.
    pub(super) now: (&'a [u8], Span),
}

impl Conflict<'_> {
    pub(super) fn report(self) -> Report {
        let (left, now) = (whole_lines(self.left.0, self.left.1), whole_lines(self.now.0, self.now.1));
        let line = memchr::memchr_iter(b'\n', &self.now.0[..now.start()]).count() + 1;
        let shown = ConflictReport {
            path: self.path.clone(),
            change: self.id,
            by: self.by,
            line,
            left: excerpt(left.of(self.left.0)),
            now: excerpt(now.of(self.now.0)),
        };
        clash(shown)
    }
}

/// The refusal for a place that was changed again.
pub(super) fn clash(conflict: ConflictReport) -> Report {
    let ConflictReport { path, change: id, .. } = &conflict;
    let message = format!(
        "`{path}` was changed after {id} in the same place, by {}, so {id} cannot be taken back without losing that",
        authors(&conflict.by)
    );
    let mut report = refusal(message, &first_take_back(&conflict.by));
    report.conflicts.push(conflict);
    report
}

/// Whole lines around a place.
fn whole_lines(text: &[u8], span: Span) -> Span {
    let start = memchr::memrchr(b'\n', &text[..span.start()]).map_or(0, |at| at + 1);
    let ended = span.end() > start && text[span.end() - 1] == b'\n';
    let end = match memchr::memchr(b'\n', &text[span.end()..]) {
        _ if ended => span.end(),
        Some(at) => span.end() + at + 1,
        None => text.len(),
    };
    Span::new(start, end)
}

/// Text as it is shown: the first lines of it, as far as they can be read.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    let mut out = String::new();
    let mut lines = bytes.split_inclusive(|&byte| byte == b'\n');
    for line in lines.by_ref().take(MAX_LINES) {
        if out.len() + line.len() > MAX_BYTES {
            let rest = &line[..line.len().min(MAX_BYTES.saturating_sub(out.len()))];
            out.push_str(&String::from_utf8_lossy(rest));
            out.push('…');
            return out;
        }
        out.push_str(&String::from_utf8_lossy(line));
    }
    match lines.count() {
        0 => {}
        more => out.push_str(&format!("[… {more} more lines …]\n")),
    }
    out
}

/// Who changed a file, in words.
fn authors(by: &[ChangeId]) -> String {
    match by {
        [] => "something else, as far as the journal can tell".into(),
        ids => ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

fn first_take_back(by: &[ChangeId]) -> String {
    match by {
        [] => "Edit the file instead.".into(),
        ids => {
            let newest_first: Vec<String> = ids.iter().rev().map(ToString::to_string).collect();
            format!("Take back {} first, or edit the file instead.", newest_first.join(", "))
        }
    }
}

fn refusal(message: String, hint: &str) -> Report {
    Report::new(Refused::ChangedSince, message).hint(format!("Nothing was written. {hint}"))
}

/// The file was made by the change and has other content now.
pub(super) fn made_and_changed(id: ChangeId, path: &FilePath, by: &[ChangeId]) -> Report {
    let message = format!(
        "`{path}` was changed after {id}, which made it, by {}: taking {id} back would remove the file and lose that",
        authors(by)
    );
    let hint = match by {
        [] => "Remove the file yourself if nothing of it is wanted.".into(),
        _ => first_take_back(by),
    };
    refusal(message, &hint)
}

/// The file is gone by a change of ours.
pub(super) fn removed(id: ChangeId, path: &FilePath, by: Option<ChangeId>) -> Report {
    let by: Vec<ChangeId> = by.into_iter().collect();
    let message =
        format!("`{path}` was removed after {id} by {}, so {id} cannot be taken back", authors(&by));
    refusal(message, &first_take_back(&by))
}

/// The file is not where it should be.
pub(super) fn missing(id: ChangeId, path: &FilePath) -> Report {
    let message = format!(
        "`{path}` was changed after {id}: it is not there any more, removed or renamed by something else than a change in the journal"
    );
    refusal(message, "Put the file back under that name and try again.")
}

/// The file was moved on.
pub(super) fn moved(id: ChangeId, from: &FilePath, to: &FilePath) -> Report {
    let message =
        format!("`{from}` was changed after {id}: it was moved to `{to}`, so {id} cannot be taken back");
    refusal(message, "Take the later move back first (see the log).")
}

/// A file stands where one would have to come.
pub(super) fn in_the_way(path: &FilePath) -> Report {
    let message = format!("a file stands at `{path}` now, where the one that is brought back belongs");
    refusal(message, "Move or remove that file first.")
}

/// The record would not restore what was there.
pub(super) fn damaged(path: &FilePath) -> Report {
    let message = format!("the journal's record is damaged: it would not restore `{path}`");
    Report::new(Failed::Journal, message).hint("Nothing was written. Restore the file by other means.")
}
