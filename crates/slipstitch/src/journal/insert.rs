//! Writes changes into the tables.

use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use slipstitch_core::change::{Base, FileChange, PathChange, Rung};
use slipstitch_core::plan::ChangeId;
use slipstitch_core::ports::journal::{ChangeKind, ChangeState, ForeignEdit, Record};

use super::{DbError, FileOwner, change_id, lifecycle, row_id, splice_codec};
use crate::stats::variant_name;

/// Data that the tables keep as JSON.
pub(super) fn to_json(value: &impl Serialize) -> Result<String, DbError> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()).into())
}

/// Inserts a pending change.
pub(super) fn insert_change(
    transaction: &Connection,
    root: &str,
    at: i64,
    record: &Record,
) -> Result<ChangeId, DbError> {
    let (kind, reverted): (&str, &[ChangeId]) = match &record.kind {
        ChangeKind::Edit => ("edit", &[]),
        ChangeKind::Undo(taken) => ("undo", taken.ids()),
        ChangeKind::Redo(undo) => ("redo", std::slice::from_ref(undo)),
    };
    for &target in reverted {
        let known = "SELECT 1 FROM changes WHERE id = ?1 AND root = ?2";
        let found = transaction.query_row(known, params![row_id(target), root], |_| Ok(())).optional()?;
        found.ok_or(DbError::UnknownChange(target))?;
    }
    transaction
        .prepare_cached(
            "INSERT INTO changes
                 (root, at, session, agent, dialect, tool, kind, description, approval, state, diff, intent, labels)
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
            record.description,
            record.approval,
            lifecycle::state_name(ChangeState::Pending),
            record.diff,
            record.intent,
            record.labels.as_ref().map(to_json).transpose()?,
        ])?;
    let id = change_id(transaction.last_insert_rowid());
    let mut insert_reverted =
        transaction.prepare_cached("INSERT INTO reverted (change, position, target) VALUES (?1, ?2, ?3)")?;
    for (position, &target) in (0i64..).zip(reverted) {
        insert_reverted.execute(params![row_id(id), position, row_id(target)])?;
    }
    for (position, file) in (0i64..).zip(&record.files) {
        insert_file(transaction, FileOwner::Change(id), position, &file.inverse, file.rung)?;
        if let Some(gap) = &file.foreign_edit {
            set_gap(transaction, id, position, gap)?;
        }
    }
    Ok(id)
}

/// Stores what others did to a file before the change.
fn set_gap(
    transaction: &Connection,
    id: ChangeId,
    position: i64,
    foreign_edit: &ForeignEdit,
) -> Result<(), DbError> {
    transaction
        .prepare_cached(
            "UPDATE files SET gap_splices = ?3, gap_hash = ?4 WHERE change = ?1 AND position = ?2",
        )?
        .execute(params![
            row_id(id),
            position,
            splice_codec::encode(&foreign_edit.splices),
            foreign_edit.hash_before.to_string()
        ])?;
    Ok(())
}

/// Inserts one file of a change or a proposal.
pub(super) fn insert_file(
    transaction: &Connection,
    owner: FileOwner,
    position: i64,
    file: &FileChange,
    rung: Option<Rung>,
) -> Result<(), DbError> {
    let base = match file.base {
        Base::Absent => None,
        Base::Content(hash) => Some(hash.to_string()),
    };
    let (fate, moved_to) = match &file.path_change {
        PathChange::Keep => ("keep", None),
        PathChange::Move(to) => ("move", Some(to.as_str())),
        PathChange::Delete => ("delete", None),
    };
    transaction
        .prepare_cached(&format!(
            "INSERT INTO {} ({}, position, path, base, fate, moved_to, after, mode, executable, rung, splices)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            owner.table(),
            owner.column()
        ))?
        .execute(params![
            owner.row_id(),
            position,
            file.path.as_str(),
            base,
            fate,
            moved_to,
            file.after.map(|hash| hash.to_string()),
            file.mode,
            file.executable,
            rung.map(|rung| variant_name(&rung)),
            splice_codec::encode(&file.splices),
        ])?;
    Ok(())
}
