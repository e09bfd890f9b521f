//! How far changes got, and which of them stand.

use incise_core::journal::{ChangeId, State};
use rusqlite::{OptionalExtension, Transaction, params};

use super::{Fault, row_of};

pub(super) fn state_name(state: State) -> &'static str {
    match state {
        State::Pending => "pending",
        State::Done => "done",
        State::Abandoned => "abandoned",
    }
}

/// Ends the time that a change is pending.
pub(super) fn settle(
    transaction: &Transaction<'_>,
    root: &str,
    id: ChangeId,
    state: State,
) -> Result<(), Fault> {
    let found: Option<String> = transaction
        .query_row(
            "SELECT state FROM changes WHERE id = ?1 AND root = ?2",
            params![row_of(id), root],
            |row| row.get(0),
        )
        .optional()?;
    match found {
        None => Err(Fault::Unknown(id)),
        // Someone else may have settled it, if its process was slow; then it is settled.
        Some(found) if found == state_name(state) => Ok(()),
        Some(found) if found != state_name(State::Pending) => Err(Fault::NotPending { id, state: found }),
        Some(_) => {
            let change = "UPDATE changes SET state = ?2, intent = NULL WHERE id = ?1";
            transaction.execute(change, params![row_of(id), state_name(state)])?;
            Ok(())
        }
    }
}

/// Follows what the change `id`, an undo or a redo, takes back.
///
/// What it takes back does not stand any more. If that had itself taken something back, that stands
/// again, and so on: a redo takes an undo back, and the edit beneath it stands again.
pub(super) fn note_taken_back(transaction: &Transaction<'_>, id: ChangeId) -> Result<(), Fault> {
    let of = |id: i64| -> rusqlite::Result<Option<i64>> {
        transaction.query_row("SELECT of FROM changes WHERE id = ?1", [id], |row| row.get(0))
    };
    let mut above = row_of(id);
    let mut stands = false;
    while let Some(beneath) = of(above)? {
        let by = (!stands).then_some(above);
        transaction.execute("UPDATE changes SET undone_by = ?2 WHERE id = ?1", params![beneath, by])?;
        stands = !stands;
        above = beneath;
    }
    Ok(())
}
