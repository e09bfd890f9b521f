//! The state of changes: pending, done or abandoned, and whether they are undone.

use rusqlite::{Connection, OptionalExtension, params};
use slipstitch_core::plan::ChangeId;
use slipstitch_core::ports::journal::ChangeState;

use super::checksum::{CHANGES, REVERTED};
use super::{DbError, change_id, row_id};

pub(super) fn state_name(state: ChangeState) -> &'static str {
    match state {
        ChangeState::Pending => "pending",
        ChangeState::Done => "done",
        ChangeState::Abandoned => "abandoned",
    }
}

/// Marks a pending change as done or abandoned.
pub(super) fn finish(
    transaction: &Connection,
    root: &str,
    id: ChangeId,
    state: ChangeState,
) -> Result<(), DbError> {
    let update = CHANGES.update_statement(
        &[("state", "?2"), ("intent", "NULL")],
        "id = ?1 AND root = ?3 AND state = 'pending'",
    );
    let values = params![row_id(id), state_name(state), root];
    let updated = transaction.prepare_cached(&update)?.execute(values)?;
    if updated > 0 {
        return Ok(());
    }
    let found: Option<String> = transaction
        .prepare_cached("SELECT state FROM changes WHERE id = ?1 AND root = ?2")?
        .query_row(params![row_id(id), root], |row| row.get(0))
        .optional()?;
    match found {
        None => Err(DbError::UnknownChange(id)),
        // If this process was slow, another one may have recovered the change already.
        Some(found) if found == state_name(state) => Ok(()),
        Some(found) => Err(DbError::NotPending { id, state: found }),
    }
}

/// Updates `undone_by` of the changes that the change `id`, an undo or a redo, affects.
///
/// The changes that it reverts are now undone. If one of those had itself reverted changes, these are in force
/// again, and so on: a redo reverts an undo, which puts the undone edits in force again.
pub(super) fn update_undone_by(transaction: &Connection, id: ChangeId) -> Result<(), DbError> {
    let mut queue = vec![(id, Effect::Undone)];
    while let Some((reverting, effect)) = queue.pop() {
        for target in reverted_by(transaction, reverting)?.ids {
            let undone_by = match effect {
                Effect::Undone => Some(row_id(reverting)),
                Effect::InForce => None,
            };
            let update = "UPDATE changes SET undone_by = ?2 WHERE id = ?1";
            transaction.prepare_cached(update)?.execute(params![row_id(target), undone_by])?;
            CHANGES.update_sum(transaction, row_id(target))?;
            queue.push((target, effect.opposite()));
        }
    }
    Ok(())
}

/// The changes that an undo or a redo reverts, in the order in which it reverts them.
pub(super) struct RevertedChanges {
    pub(super) ids: Vec<ChangeId>,
    pub(super) is_intact: bool,
}

pub(super) fn reverted_by(transaction: &Connection, id: ChangeId) -> Result<RevertedChanges, DbError> {
    let mut select = transaction.prepare_cached(&format!(
        "SELECT target, {} FROM reverted WHERE change = ?1 ORDER BY position",
        REVERTED.is_intact()
    ))?;
    let mut rows = select.query([row_id(id)])?;
    let mut found = RevertedChanges { ids: Vec::new(), is_intact: true };
    while let Some(row) = rows.next()? {
        found.ids.push(row.get(0).map(change_id)?);
        found.is_intact &= row.get::<_, bool>(1)?;
    }
    Ok(found)
}

/// What becomes of a reverted change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Undone,
    InForce,
}

impl Effect {
    fn opposite(self) -> Self {
        match self {
            Self::Undone => Self::InForce,
            Self::InForce => Self::Undone,
        }
    }
}
