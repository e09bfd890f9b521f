//! Writes changes into the tables.

use rusqlite::{Connection, OptionalExtension, ToSql, params};
use serde::Serialize;
use slipstitch_core::change::{Base, FileChange, PathChange, Rung};
use slipstitch_core::plan::ChangeId;
use slipstitch_core::ports::journal::{ChangeKind, ChangeState, FileRecord, Record, RecordedText};

use super::checksum::{CHANGES, REVERTED};
use super::{DbError, FileOwner, change_id, lifecycle, restore_codec, row_id, splice_codec};
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
    let id = CHANGES.next_id(transaction)?;
    let labels = record.labels.as_ref().map(to_json).transpose()?;
    CHANGES.insert(
        transaction,
        &[
            ("id", &id),
            ("root", &root),
            ("at", &at),
            ("session", &record.origin.session),
            ("agent", &record.origin.agent),
            ("dialect", &record.origin.dialect),
            ("tool", &record.origin.tool),
            ("kind", &kind),
            ("description", &record.description),
            ("approval", &record.approval),
            ("state", &lifecycle::state_name(ChangeState::Pending)),
            ("diff", &record.diff),
            ("intent", &record.intent),
            ("file_count", &count(record.files.len())),
            ("labels", &labels),
            ("forgotten", &false),
        ],
    )?;
    let id = change_id(id);
    for (position, &target) in (0i64..).zip(reverted) {
        REVERTED.insert(
            transaction,
            &[("change", &row_id(id)), ("position", &position), ("target", &row_id(target))],
        )?;
    }
    for (position, file) in (0i64..).zip(&record.files) {
        insert_change_file(transaction, root, id, position, file)?;
    }
    Ok(id)
}

/// A number of files as SQLite stores it.
pub(super) fn count(files: usize) -> i64 {
    i64::try_from(files).unwrap_or(i64::MAX)
}

/// Inserts one file of a change.
fn insert_change_file(
    transaction: &Connection,
    root: &str,
    id: ChangeId,
    position: i64,
    file: &FileRecord,
) -> Result<(), DbError> {
    let splices = match file.text {
        RecordedText::Kept => splice_codec::encode(&file.inverse.splices),
        RecordedText::Private | RecordedText::Withheld => splice_codec::WITHHELD.to_vec(),
    };
    let gap = file.foreign_edit.as_ref();
    let gap_splices = gap.map(|gap| splice_codec::encode(&gap.splices));
    let gap_hash = gap.map(|gap| gap.hash_before.to_string());
    let row =
        FileRow { owner: FileOwner::Change(id), position, file: &file.inverse, rung: file.rung, splices };
    row.insert(transaction, &[("root", &root), ("gap_splices", &gap_splices), ("gap_hash", &gap_hash)])
}

/// A row of `files` or `proposal_files`.
pub(super) struct FileRow<'a> {
    pub(super) owner: FileOwner,
    pub(super) position: i64,
    pub(super) file: &'a FileChange,
    pub(super) rung: Option<Rung>,
    pub(super) splices: Vec<u8>,
}

impl FileRow<'_> {
    /// Inserts the row, with the columns that only its table has.
    pub(super) fn insert(
        &self,
        transaction: &Connection,
        own_columns: &[(&str, &dyn ToSql)],
    ) -> Result<(), DbError> {
        let file = self.file;
        let base = match file.base {
            Base::Absent => None,
            Base::Content(hash) => Some(hash.to_string()),
        };
        let (fate, moved_to) = match &file.path_change {
            PathChange::Keep => ("keep", None),
            PathChange::Move(to) => ("move", Some(to.as_str())),
            PathChange::Delete => ("delete", None),
        };
        let owner = self.owner.row_id();
        let path = file.path.as_str();
        let after = file.after.map(|hash| hash.to_string());
        let rung = self.rung.map(|rung| variant_name(&rung));
        let restore = restore_codec::encode(&file.restore);
        let mut columns: Vec<(&str, &dyn ToSql)> = vec![
            (self.owner.column(), &owner),
            ("position", &self.position),
            ("path", &path),
            ("base", &base),
            ("fate", &fate),
            ("moved_to", &moved_to),
            ("after", &after),
            ("mode", &file.mode),
            ("executable", &file.executable),
            ("rung", &rung),
            ("splices", &self.splices),
            ("restore", &restore),
        ];
        columns.extend_from_slice(own_columns);
        Ok(self.owner.table().insert(transaction, &columns)?)
    }
}
