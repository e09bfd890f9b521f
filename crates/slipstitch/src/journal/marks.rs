//! How far changes got, and which of them stand.

use rusqlite::{Connection, OptionalExtension, params};
use slipstitch_core::plan::ChangeId;
use slipstitch_core::ports::journal::ChangeState;

use super::{Fault, id_of, row_of};

pub(super) fn state_name(state: ChangeState) -> &'static str {
    match state {
        ChangeState::Pending => "pending",
        ChangeState::Done => "done",
        ChangeState::Abandoned => "abandoned",
    }
}

/// Ends the time that a change is pending.
pub(super) fn settle(
    transaction: &Connection,
    root: &str,
    id: ChangeId,
    state: ChangeState,
) -> Result<(), Fault> {
    let found: Option<String> = transaction
        .prepare_cached("SELECT state FROM changes WHERE id = ?1 AND root = ?2")?
        .query_row(params![row_of(id), root], |row| row.get(0))
        .optional()?;
    match found {
        None => Err(Fault::Unknown(id)),
        // Someone else may have settled it, if its process was slow; then it is settled.
        Some(found) if found == state_name(state) => Ok(()),
        Some(found) if found != state_name(ChangeState::Pending) => {
            Err(Fault::NotPending { id, state: found })
        }
        Some(_) => {
            let change = "UPDATE changes SET state = ?2, intent = NULL WHERE id = ?1";
            transaction.prepare_cached(change)?.execute(params![row_of(id), state_name(state)])?;
            Ok(())
        }
    }
}

/// Follows what the change `id`, an undo or a redo, takes back.
///
/// What it takes back does not stand any more. If that had itself taken something back, that stands
/// again, and so on: a redo takes an undo back, and the edits beneath it stand again.
pub(super) fn note_taken_back(transaction: &Connection, id: ChangeId) -> Result<(), Fault> {
    let mut mark = transaction.prepare_cached("UPDATE changes SET undone_by = ?2 WHERE id = ?1")?;
    let mut open = vec![(id, Stands::No)];
    while let Some((above, beneath_stands)) = open.pop() {
        for beneath in taken_back(transaction, above)? {
            let by = (beneath_stands == Stands::No).then_some(row_of(above));
            mark.execute(params![row_of(beneath), by])?;
            open.push((beneath, beneath_stands.other()));
        }
    }
    Ok(())
}

/// The changes that a change takes back, in the order in which it does.
pub(super) fn taken_back(transaction: &Connection, id: ChangeId) -> Result<Vec<ChangeId>, Fault> {
    let mut select =
        transaction.prepare_cached("SELECT of FROM taken_back WHERE change = ?1 ORDER BY position")?;
    let rows = select.query_map([row_of(id)], |row| row.get(0).map(id_of))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Whether a change is in force.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    Yes,
    No,
}

impl Stands {
    fn other(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
        }
    }
}
