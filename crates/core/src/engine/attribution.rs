//! Who changed lines of a file, according to the journal.

use std::ops::Range;

use super::Engine;
use super::history::{HistoryWalk, Reverted, RevertedChange};
use super::versions::{MAX_FILE_BYTES, WALK_LIMITS, real_path};
use crate::path::FilePath;
use crate::ports::journal::JournalError;
use crate::ports::versions::ChangedBy;
use crate::snapshot::Snapshot;
use slipstitch_text::{ContentHash, Span, Splices};

impl Engine<'_> {
    /// Who changed these lines of a file last, after its content was `base`. `lines` are 1-based and half open; an empty
    /// range is the point before its line, where lines were deleted.
    pub(crate) fn changed_by(
        &self,
        path: &FilePath,
        now: &Snapshot,
        lines: Range<usize>,
        base: &[u8],
    ) -> ChangedBy {
        let found = self.last_change_of(real_path(path, now), now, lines, ContentHash::of(base));
        found.ok().flatten().unwrap_or(ChangedBy::Outside)
    }

    fn last_change_of(
        &self,
        path: &FilePath,
        now: &Snapshot,
        lines: Range<usize>,
        base: ContentHash,
    ) -> Result<Option<ChangedBy>, JournalError> {
        if now.bytes().len() > MAX_FILE_BYTES {
            return Ok(None);
        }
        let Some(mut region) = raw_lines(now, lines) else { return Ok(None) };
        let mut walk = HistoryWalk::new(self.journal, path, now.bytes(), now.hash(), WALK_LIMITS)?;
        // A line diff may place a change one line off if the lines there are alike, so a neighbour is the second choice.
        let mut beside = None;
        while walk.hash() != base
            && let Some(step) = walk.step()?
        {
            match contact(&step.inverse, region) {
                Contact::Inside => return Ok(Some(author(&step))),
                Contact::Beside => beside = beside.or_else(|| Some(author(&step))),
                Contact::None => {}
            }
            region = shift_back(&step.inverse, region);
        }
        Ok(beside)
    }
}

/// How a change touches a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Contact {
    None,
    /// It ends where the region begins, or begins where that ends.
    Beside,
    Inside,
}

/// How a change touches a region of the text after it; `inverse` reverts the change.
fn contact(inverse: &Splices, region: Span) -> Contact {
    let of = |at: Span| {
        if at.start() > region.end() || at.end() < region.start() {
            Contact::None
        } else if region.is_empty() || (at.start() < region.end() && at.end() > region.start()) {
            Contact::Inside
        } else {
            Contact::Beside
        }
    };
    inverse.iter().map(|splice| of(splice.at)).max().unwrap_or(Contact::None)
}

/// The region in the text before a change that is not inside it.
fn shift_back(inverse: &Splices, region: Span) -> Span {
    let before = inverse.iter().filter(|splice| splice.at.end() <= region.start());
    let shift: isize = before.map(|splice| splice.insert.len() as isize - splice.at.len() as isize).sum();
    let start = region.start().saturating_add_signed(shift);
    Span::new(start, start + region.len())
}

fn author(step: &Reverted) -> ChangedBy {
    match &step.change {
        RevertedChange::Recorded(change) => ChangedBy::Change {
            id: change.id,
            agent: change.origin.agent.clone(),
            session: change.origin.session.clone(),
        },
        RevertedChange::Foreign { .. } => ChangedBy::Outside,
    }
}

/// The bytes of lines, which are 1-based and half open.
fn raw_lines(snapshot: &Snapshot, lines: Range<usize>) -> Option<Span> {
    let len = snapshot.bytes().len();
    let start_of = |line: usize| match line {
        line if line > snapshot.line_count() => Some(len),
        line => snapshot.raw_span(snapshot.line_span(line.max(1))).map(Span::start),
    };
    let (start, end) = (start_of(lines.start)?, start_of(lines.end.max(lines.start))?);
    (start <= end).then(|| Span::new(start, end))
}
