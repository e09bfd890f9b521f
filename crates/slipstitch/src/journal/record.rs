//! Changes on their way into the tables.

use rusqlite::{Connection, OptionalExtension, params};
use slipstitch_core::change::{Base, Fate, FileChange, Rung};
use slipstitch_core::plan::ChangeId;
use slipstitch_core::ports::journal::{ChangeKind, ChangeState, ForeignEdit, Record};

use super::{Fault, Owner, blob, id_of, marks, row_of};

pub(super) fn insert(
    transaction: &Connection,
    root: &str,
    at: i64,
    record: &Record,
) -> Result<ChangeId, Fault> {
    let (kind, of): (&str, &[ChangeId]) = match &record.kind {
        ChangeKind::Edit => ("edit", &[]),
        ChangeKind::Undo(taken) => ("undo", taken.ids()),
        ChangeKind::Redo(of) => ("redo", std::slice::from_ref(of)),
    };
    for &of in of {
        let known = "SELECT 1 FROM changes WHERE id = ?1 AND root = ?2";
        let found = transaction.query_row(known, params![row_of(of), root], |_| Ok(())).optional()?;
        found.ok_or(Fault::Unknown(of))?;
    }
    transaction
        .prepare_cached(
            "INSERT INTO changes
                 (root, at, session, agent, dialect, tool, kind, of, description, approval, state, diff,
                  intent)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute(params![
            root,
            at,
            record.origin.session,
            record.origin.agent,
            record.origin.dialect,
            record.origin.tool,
            kind,
            of.first().copied().map(row_of),
            record.description,
            record.approval,
            marks::state_name(ChangeState::Pending),
            record.diff,
            record.intent,
        ])?;
    let id = id_of(transaction.last_insert_rowid());
    let mut take =
        transaction.prepare_cached("INSERT INTO taken_back (change, position, of) VALUES (?1, ?2, ?3)")?;
    for (position, &of) in (0i64..).zip(of) {
        take.execute(params![row_of(id), position, row_of(of)])?;
    }
    for (position, file) in (0i64..).zip(&record.files) {
        insert_file(transaction, Owner::Change(id), position, &file.inverse, file.rung)?;
        if let Some(gap) = &file.foreign_edit {
            add_gap(transaction, id, position, gap)?;
        }
    }
    Ok(id)
}

/// Adds what someone else did to a file before the change.
fn add_gap(transaction: &Connection, id: ChangeId, position: i64, gap: &ForeignEdit) -> Result<(), Fault> {
    transaction
        .prepare_cached("UPDATE files SET gap = ?3, gap_left = ?4 WHERE change = ?1 AND position = ?2")?
        .execute(params![row_of(id), position, blob::encode(&gap.splices), gap.hash_before.to_string()])?;
    Ok(())
}

/// Adds one file of a change or a proposal.
pub(super) fn insert_file(
    transaction: &Connection,
    owner: Owner,
    position: i64,
    file: &FileChange,
    rung: Option<Rung>,
) -> Result<(), Fault> {
    let base = match file.base {
        Base::Absent => None,
        Base::Content(hash) => Some(hash.to_string()),
    };
    let (fate, moved_to) = match &file.fate {
        Fate::Keep => ("stays", None),
        Fate::Move(to) => ("moves", Some(to.as_str())),
        Fate::Delete => ("goes", None),
    };
    transaction
        .prepare_cached(&format!(
            "INSERT INTO {} ({}, position, path, base, fate, moved_to, after, mode, executable, rung, splices)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            owner.table(),
            owner.column()
        ))?
        .execute(params![
            owner.row(),
            position,
            file.path.as_str(),
            base,
            fate,
            moved_to,
            file.after.map(|hash| hash.to_string()),
            file.mode,
            file.executable,
            rung.map(rung_name).transpose()?,
            blob::encode(&file.splices),
        ])?;
    Ok(())
}

/// The rung's name as reports write it, so that there is one list of names.
fn rung_name(rung: Rung) -> Result<String, Fault> {
    match serde_json::to_value(rung) {
        Ok(serde_json::Value::String(name)) => Ok(name),
        other => {
            Err(rusqlite::Error::ToSqlConversionFailure(format!("a rung is not text: {other:?}").into())
                .into())
        }
    }
}
