//! Who changed lines of a file, according to the journal.

use std::ops::Range;

use super::Engine;
use super::history::{RecordWalk, Reverted, RevertedChange};
use super::versions::real_path;
use crate::find::{Reason, ResolveError};
use crate::path::FilePath;
use crate::ports::journal::JournalError;
use crate::ports::versions::ChangedBy;
use crate::snapshot::{Snapshot, Snapshots};
use slipstitch_text::{ContentHash, Span, Splice, Splices};

impl Engine<'_> {
    /// Finds out who changed the texts that were quoted from earlier versions.
    pub(super) fn attribute(&self, error: &mut ResolveError, snapshots: &Snapshots) {
        for failure in &mut error.failures {
            let Reason::NotFound(diagnosis) = &mut failure.reason else { continue };
            let Some(now) = snapshots.get(&failure.path) else { continue };
            // Nobody changed what is still there.
            if let Some(quoted) = diagnosis.quoted.as_ref().filter(|quoted| quoted.still_there.is_none()) {
                diagnosis.changed_by =
                    self.changed_by(&failure.path, now, quoted.lines_now.clone(), &quoted.version);
            }
        }
    }

    /// Who changed these lines of a file last, after its content was `base`; `None` if the journal cannot be read. `lines`
    /// are 1-based and half open; an empty range is the point before its line, where lines were deleted.
    fn changed_by(
        &self,
        path: &FilePath,
        now: &Snapshot,
        lines: Range<usize>,
        base: &[u8],
    ) -> Option<ChangedBy> {
        let found = self.last_change_of(real_path(path, now), now, lines, ContentHash::of(base)).ok()?;
        Some(found.unwrap_or(ChangedBy::Outside))
    }

    fn last_change_of(
        &self,
        path: &FilePath,
        now: &Snapshot,
        lines: Range<usize>,
        base: ContentHash,
    ) -> Result<Option<ChangedBy>, JournalError> {
        let Some(mut region) = raw_lines(now, lines) else { return Ok(None) };
        let mut walk = RecordWalk::new(self.journal, path, now.bytes(), now.hash())?;
        // Among equal lines, a diff cannot tell which was added or removed, so a change right beside them is the second choice.
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
    /// It adds or removes text right before or after the region.
    Beside,
    Inside,
}

/// How a change touches a region of the text after it; `inverse` reverts the change.
fn contact(inverse: &Splices, region: Span) -> Contact {
    let of = |splice: &Splice| {
        let (start, end) = (splice.at.start(), splice.at.end());
        let only_adds_or_removes = splice.at.is_empty() || splice.insert.is_empty();
        if start > region.end() || end < region.start() {
            Contact::None
        } else if region.is_empty() || (start < region.end() && end > region.start()) {
            Contact::Inside
        } else if only_adds_or_removes {
            Contact::Beside
        } else {
            Contact::None
        }
    };
    inverse.iter().map(of).max().unwrap_or(Contact::None)
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
    let len = snapshot.byte_len();
    let start_of = |line: usize| match line {
        line if line > snapshot.line_count() => Some(len),
        line => snapshot.raw_span(snapshot.line_span(line.max(1))).map(Span::start),
    };
    let (start, end) = (start_of(lines.start)?, start_of(lines.end.max(lines.start))?);
    (start <= end).then(|| Span::new(start, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::test_rig::{Rig, path};
    use crate::outcome::Status;
    use crate::plan::ChangeId;

    const BASE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

    fn edit(rig: &Rig, agent: &str, old: &str, new: &str) {
        let report = rig.edit(agent, old, new);
        assert_eq!(report.status(), Status::Applied, "{report:?}");
    }

    /// Who changed the line with this text.
    fn last_by(rig: &Rig, line: &str, base: &str) -> ChangedBy {
        let now = rig.now();
        let number = (1..=now.line_count()).find(|&number| now.line(number) == line).unwrap();
        rig.engine("x").changed_by(&path(), &now, number..number + 1, base.as_bytes()).unwrap()
    }

    fn change(number: u64, agent: &str) -> ChangedBy {
        ChangedBy::Change { id: ChangeId(number), agent: Some(agent.into()), session: agent.into() }
    }

    /// Two agents change lines in turns, and an editor changes line six after the second change.
    fn interleaved() -> Rig {
        let rig = Rig::new(BASE);
        edit(&rig, "a", "one\n", "zero\nONE\n");
        edit(&rig, "b", "two\n", "TWO\n");
        rig.write(&String::from_utf8(rig.now().bytes().to_vec()).unwrap().replace("six", "SIX"));
        edit(&rig, "a", "three\n", "THREE\nthree and a half\n");
        edit(&rig, "b", "five\n", "FIVE\n");
        edit(&rig, "a", "TWO\n", "Two\n");
        rig
    }

    #[test]
    fn the_last_change_of_each_line_is_found_through_changes_elsewhere() {
        let rig = interleaved();
        let expected = [
            ("zero", change(1, "a")),
            ("ONE", change(1, "a")),
            ("Two", change(5, "a")),
            ("three and a half", change(3, "a")),
            ("FIVE", change(4, "b")),
            ("SIX", ChangedBy::Outside),
        ];
        for (line, by) in expected {
            assert_eq!(last_by(&rig, line, BASE), by, "{line}");
        }
    }

    #[test]
    fn changes_before_the_base_do_not_count() {
        let rig = interleaved();
        let base = "zero\nONE\nTWO\nthree\nfour\nfive\nSIX\nseven\n";
        assert_eq!(last_by(&rig, "ONE", base), ChangedBy::Outside);
        assert_eq!(last_by(&rig, "FIVE", base), change(4, "b"));
    }

    #[test]
    fn an_outside_write_on_top_of_a_change_is_what_changed_the_line() {
        let rig = Rig::new(BASE);
        edit(&rig, "a", "four\n", "FOUR\n");
        rig.write(&BASE.replace("four", "by hand"));
        assert_eq!(last_by(&rig, "by hand", BASE), ChangedBy::Outside);
        edit(&rig, "b", "one\n", "ONE\n");
        assert_eq!(last_by(&rig, "by hand", BASE), ChangedBy::Outside);
        edit(&rig, "b", "by hand\n", "4\n");
        assert_eq!(last_by(&rig, "4", BASE), change(3, "b"));
    }

    #[test]
    fn a_deletion_is_found_at_its_point() {
        let rig = interleaved();
        edit(&rig, "b", "four\n", "");
        edit(&rig, "a", "zero\n", "0\n00\n");
        let (now, engine) = (rig.now(), rig.engine("x"));
        let by = |lines: Range<usize>| engine.changed_by(&path(), &now, lines, BASE.as_bytes()).unwrap();
        let five = (1..=now.line_count()).find(|&number| now.line(number) == "FIVE").unwrap();
        assert_eq!(by(five..five), change(6, "b"));
        // Beside the deletion, but inside another change.
        assert_eq!(by(five..five + 1), change(4, "b"));
        assert_eq!(by(1..2), change(7, "a"));
        let end = now.line_count() + 1;
        assert_eq!(by(end..end), ChangedBy::Outside);
    }

    #[test]
    fn a_rename_is_followed() {
        use crate::plan::{EditPlan, EditRules, FilePlan, Operation, Overwriting, Plan};
        use crate::snapshot::{FileContent, Meta};

        let rig = Rig::new(BASE);
        edit(&rig, "a", "four\n", "FOUR\n");
        let to = FilePath::from_record("renamed.txt").unwrap();
        let operations = vec![Operation::Move { to: to.clone(), overwriting: Overwriting::Refused }];
        let plan =
            EditPlan::new(vec![FilePlan { path: path(), version: None, operations }], EditRules::STRICT);
        let report = rig.execute(&rig.engine("b"), &Plan::Edit(plan));
        assert_eq!(report.status(), Status::Applied, "{report:?}");
        let content = FileContent { bytes: rig.files.get(&to).unwrap().into(), meta: Meta::default() };
        let now = Snapshot::new(content, Default::default());
        let by =
            |line: usize| rig.engine("x").changed_by(&to, &now, line..line + 1, BASE.as_bytes()).unwrap();
        assert_eq!((by(4), by(6)), (change(1, "a"), ChangedBy::Outside));
    }

    /// Many more changes than texts are rebuilt for.
    #[test]
    fn a_change_is_found_behind_a_thousand_later_ones() {
        let rig = Rig::new(BASE);
        edit(&rig, "a", "four\n", "FOUR\n");
        for number in 0..1000 {
            match number {
                0 => edit(&rig, "b", "seven\n", "count 0\n"),
                _ => edit(&rig, "b", &format!("count {}\n", number - 1), &format!("count {number}\n")),
            }
            if number == 500 {
                let text = String::from_utf8(rig.now().bytes().to_vec()).unwrap();
                rig.write(&text.replace("two", "by hand"));
            }
        }
        assert_eq!(last_by(&rig, "FOUR", BASE), change(1, "a"));
        assert_eq!(last_by(&rig, "by hand", BASE), ChangedBy::Outside);
        assert_eq!(last_by(&rig, "count 999", BASE), change(1001, "b"));
    }
}
