//! Reads changes from the tables.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};
use slipstitch_core::change::{Base, FileChange, PathChange, Rung};
use slipstitch_core::path::FilePath;
use slipstitch_core::plan::ChangeId;
use slipstitch_core::ports::journal::{
    ChangeKind, ChangeState, Entry, FileRecord, FileSummary, Filter, ForeignEdit, Origin, Summary,
    UndoFilter, UndoneChanges,
};
use slipstitch_core::text::ContentHash;

use super::{DbError, FileOwner, change_id, lifecycle, row_id, splice_codec};
use crate::disk::intent_paths;

const COLUMNS: &str =
    "id, at, session, agent, dialect, tool, kind, description, labels, approval, state, undone_by";

pub(super) fn entry(transaction: &Connection, root: &str, id: ChangeId) -> Result<Option<Entry>, DbError> {
    let query = format!("SELECT {COLUMNS}, diff FROM changes WHERE id = ?1 AND root = ?2 AND forgotten = 0");
    let found = transaction
        .query_row(&query, params![row_id(id), root], |row| Ok((read_change(row)?, row.get("diff")?)))
        .optional()?;
    let Some((row, diff)) = found else { return Ok(None) };
    let mut files = files(transaction, FileOwner::Change(id))?;
    add_gaps(transaction, id, &mut files)?;
    let reverted = lifecycle::reverted_by(transaction, id)?;
    let summary = row.into_summary(reverted, files.iter().map(summarize).collect())?;
    Ok(Some(Entry { summary, files, diff }))
}

/// The pending changes of other roots that affect a file for which `is_wanted` holds, each with its root.
pub(super) fn pending_elsewhere(
    connection: &Connection,
    root: &str,
    is_wanted: impl Fn(&Path) -> bool,
) -> Result<Vec<(ChangeId, String)>, DbError> {
    let mut select = connection
        .prepare("SELECT id, root, intent FROM changes WHERE state = 'pending' AND root <> ?1 ORDER BY id")?;
    let rows = select.query_map([root], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut found = Vec::new();
    for row in rows {
        let (id, other_root, intent): (i64, String, Option<String>) = row?;
        let files = intent_paths(intent.as_deref().unwrap_or_default());
        if files.iter().any(|file| is_wanted(&Path::new(&other_root).join(file))) {
            found.push((change_id(id), other_root));
        }
    }
    Ok(found)
}

/// The pending changes with their intents, oldest first.
pub(super) fn pending(
    transaction: &Connection,
    root: &str,
) -> Result<Vec<(ChangeId, Option<String>)>, DbError> {
    let mut statement = transaction
        .prepare_cached("SELECT id, intent FROM changes WHERE root = ?1 AND state = 'pending' ORDER BY id")?;
    let rows = statement.query_map([root], |row| Ok((change_id(row.get(0)?), row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Whether a change existed and was forgotten.
pub(super) fn is_forgotten(transaction: &Connection, root: &str, id: ChangeId) -> Result<bool, DbError> {
    let found: Option<(String, bool)> = transaction
        .query_row("SELECT root, forgotten FROM changes WHERE id = ?1", [row_id(id)], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    if let Some((found_root, is_forgotten)) = found {
        return Ok(found_root == root && is_forgotten);
    }
    // Ids are never reused, so an id that was assigned and has no row was removed.
    let last_assigned: Option<i64> = transaction
        .query_row("SELECT seq FROM sqlite_sequence WHERE name = 'changes'", [], |row| row.get(0))
        .optional()?;
    Ok(row_id(id) > 0 && last_assigned.is_some_and(|last| row_id(id) <= last))
}

pub(super) fn list(transaction: &Connection, root: &str, filter: &Filter) -> Result<Vec<Summary>, DbError> {
    let (query, values) = list_query(root, filter);
    let mut statement = transaction.prepare_cached(&query)?;
    let rows = statement.query_map(params_from_iter(values), read_change)?.collect::<Result<Vec<_>, _>>()?;
    rows.into_iter()
        .map(|row| {
            let id = change_id(row.id);
            let files = file_summaries(transaction, FileOwner::Change(id))?;
            row.into_summary(lifecycle::reverted_by(transaction, id)?, files)
        })
        .collect()
}

/// The query for `filter`, and the values for its placeholders.
fn list_query(root: &str, filter: &Filter) -> (String, Vec<Value>) {
    let mut query =
        format!("SELECT {COLUMNS} FROM changes WHERE root = ? AND state <> 'abandoned' AND forgotten = 0");
    let mut values: Vec<Value> = vec![root.to_owned().into()];
    let mut add_condition = |condition: &str, parameters: Vec<Value>| {
        query.push_str(" AND ");
        query.push_str(condition);
        values.extend(parameters);
    };
    if let Some(path) = &filter.path {
        let path = Value::from(path.as_str().to_owned());
        add_condition(
            "id IN (SELECT change FROM files WHERE path = ? UNION SELECT change FROM files WHERE moved_to = ?)",
            vec![path.clone(), path],
        );
    }
    if let Some(session) = &filter.session {
        add_condition("session = ?", vec![session.clone().into()]);
    }
    if let Some(agent) = &filter.agent {
        add_condition("agent = ?", vec![agent.clone().into()]);
    }
    if let Some(since) = filter.since {
        add_condition("at >= ?", vec![since.into()]);
    }
    if let Some(until) = filter.until {
        add_condition("at < ?", vec![until.into()]);
    }
    if let Some(after) = filter.after {
        add_condition("id > ?", vec![row_id(after).into()]);
    }
    if let Some(before) = filter.before {
        add_condition("id < ?", vec![row_id(before).into()]);
    }
    match filter.undo {
        Some(UndoFilter::Undoable) => {
            add_condition("kind = 'edit' AND undone_by IS NULL AND state = 'done'", vec![])
        }
        Some(UndoFilter::Redoable) => {
            add_condition("kind = 'undo' AND undone_by IS NULL AND state = 'done'", vec![])
        }
        None => {}
    }
    query.push_str(" ORDER BY id DESC");
    if let Some(limit) = filter.limit {
        query.push_str(" LIMIT ?");
        values.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
    }
    (query, values)
}

/// A row of `changes`.
struct ChangeRow {
    id: i64,
    at: i64,
    origin: Origin,
    kind: String,
    description: Option<String>,
    labels: Option<String>,
    approval: String,
    state: String,
    undone_by: Option<i64>,
}

/// Reads the columns that say where a change or a proposal came from.
pub(super) fn read_origin(row: &Row<'_>) -> rusqlite::Result<Origin> {
    Ok(Origin {
        session: row.get("session")?,
        agent: row.get("agent")?,
        dialect: row.get("dialect")?,
        tool: row.get("tool")?,
    })
}

fn read_change(row: &Row<'_>) -> rusqlite::Result<ChangeRow> {
    Ok(ChangeRow {
        id: row.get("id")?,
        at: row.get("at")?,
        origin: read_origin(row)?,
        kind: row.get("kind")?,
        description: row.get("description")?,
        labels: row.get("labels")?,
        approval: row.get("approval")?,
        state: row.get("state")?,
        undone_by: row.get("undone_by")?,
    })
}

impl ChangeRow {
    fn into_summary(self, reverted: Vec<ChangeId>, files: Vec<FileSummary>) -> Result<Summary, DbError> {
        let id = change_id(self.id);
        let kind = match (self.kind.as_str(), UndoneChanges::new(reverted)) {
            ("edit", None) => ChangeKind::Edit,
            ("undo", Some(reverted)) => ChangeKind::Undo(reverted),
            ("redo", Some(reverted)) if reverted.ids().len() == 1 => ChangeKind::Redo(reverted.ids()[0]),
            (kind, reverted) => {
                let reverted = reverted.map_or("nothing".into(), |reverted| reverted.to_string());
                return Err(invalid(FileOwner::Change(id), format!("its kind is `{kind}` of {reverted}")));
            }
        };
        let state = match self.state.as_str() {
            "pending" => ChangeState::Pending,
            "done" => ChangeState::Done,
            "abandoned" => ChangeState::Abandoned,
            state => return Err(invalid(FileOwner::Change(id), format!("its state is `{state}`"))),
        };
        let labels = self.labels.map(|json| serde_json::from_str(&json)).transpose();
        let labels =
            labels.map_err(|error| invalid(FileOwner::Change(id), format!("its labels: {error}")))?;
        Ok(Summary {
            id,
            at: self.at,
            origin: self.origin,
            kind,
            description: self.description,
            labels,
            approval: self.approval,
            state,
            undone_by: self.undone_by.map(change_id),
            files,
        })
    }
}

/// A row of `files` or `proposal_files`, without the splices.
struct FileRow {
    path: String,
    base: Option<String>,
    path_change: String,
    moved_to: Option<String>,
    after: Option<String>,
    mode: Option<u32>,
    executable: Option<bool>,
    rung: Option<String>,
}

fn read_file(row: &Row<'_>) -> rusqlite::Result<FileRow> {
    Ok(FileRow {
        path: row.get("path")?,
        base: row.get("base")?,
        path_change: row.get("fate")?,
        moved_to: row.get("moved_to")?,
        after: row.get("after")?,
        mode: row.get("mode")?,
        executable: row.get("executable")?,
        rung: row.get("rung")?,
    })
}

const FILE_COLUMNS: &str = "path, base, fate, moved_to, after, mode, executable, rung";

/// The files of a change or a proposal.
pub(super) fn files(transaction: &Connection, owner: FileOwner) -> Result<Vec<FileRecord>, DbError> {
    let query = format!(
        "SELECT {FILE_COLUMNS}, splices FROM {} WHERE {} = ?1 ORDER BY position",
        owner.table(),
        owner.column()
    );
    let mut statement = transaction.prepare_cached(&query)?;
    let rows = statement
        .query_map([owner.row_id()], |row| Ok((read_file(row)?, row.get::<_, Vec<u8>>("splices")?)))?;
    rows.map(|row| {
        let (file, splices) = row?;
        let splices = splice_codec::decode(&splices).map_err(|error| invalid(owner, error.to_string()))?;
        let record = file.into_record(owner)?;
        Ok(FileRecord { inverse: FileChange { splices, ..record.inverse }, ..record })
    })
    .collect()
}

/// Adds what others did to the files before a change.
fn add_gaps(transaction: &Connection, id: ChangeId, files: &mut [FileRecord]) -> Result<(), DbError> {
    let owner = FileOwner::Change(id);
    let mut statement = transaction.prepare_cached(
        "SELECT position, gap_splices, gap_hash FROM files
         WHERE change = ?1 AND gap_splices IS NOT NULL ORDER BY position",
    )?;
    let rows = statement.query_map([owner.row_id()], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, String>(2)?))
    })?;
    for row in rows {
        let (position, splices, hash) = row?;
        let splices = splice_codec::decode(&splices).map_err(|error| invalid(owner, error.to_string()))?;
        let hash_before = parse_hash(owner, &hash)?;
        if let Some(file) = usize::try_from(position).ok().and_then(|position| files.get_mut(position)) {
            file.foreign_edit = Some(ForeignEdit { splices, hash_before });
        }
    }
    Ok(())
}

/// The files of a change, without their splices.
fn file_summaries(transaction: &Connection, owner: FileOwner) -> Result<Vec<FileSummary>, DbError> {
    let query = format!(
        "SELECT {FILE_COLUMNS} FROM {} WHERE {} = ?1 ORDER BY position",
        owner.table(),
        owner.column()
    );
    let mut statement = transaction.prepare_cached(&query)?;
    statement
        .query_map([owner.row_id()], read_file)?
        .map(|file| Ok(summarize(&file?.into_record(owner)?)))
        .collect()
}

impl FileRow {
    /// The record, with empty splices.
    fn into_record(self, owner: FileOwner) -> Result<FileRecord, DbError> {
        let path =
            |text: &str| FilePath::from_record(text).map_err(|error| invalid(owner, error.to_string()));
        let hash = |text: Option<String>| text.map(|text| parse_hash(owner, &text)).transpose();
        let path_change = match (self.path_change.as_str(), &self.moved_to) {
            ("keep", None) => PathChange::Keep,
            ("delete", None) => PathChange::Delete,
            ("move", Some(to)) => PathChange::Move(path(to)?),
            (other, to) => {
                return Err(invalid(owner, format!("a file's path change is `{other}` to {to:?}")));
            }
        };
        // An unknown rung, written by a newer version, is no reason to fail.
        let rung = self.rung.and_then(|name| serde_json::from_value::<Rung>(name.into()).ok());
        let inverse = FileChange {
            path: path(&self.path)?,
            base: hash(self.base)?.map_or(Base::Absent, Base::Content),
            path_change,
            splices: Default::default(),
            after: hash(self.after)?,
            mode: self.mode,
            executable: self.executable,
            edits: Vec::new(),
            notes: Vec::new(),
            totals: None,
        };
        Ok(FileRecord { inverse, rung, foreign_edit: None })
    }
}

fn summarize(record: &FileRecord) -> FileSummary {
    FileSummary {
        path_before: record.path_before().cloned(),
        path_after: record.path_after().cloned(),
        hash_before: record.hash_before(),
        hash_after: record.hash_after(),
        rung: record.rung,
    }
}

fn parse_hash(owner: FileOwner, text: &str) -> Result<ContentHash, DbError> {
    ContentHash::parse(text).ok_or_else(|| invalid(owner, format!("`{text}` is not a hash")))
}

pub(super) fn invalid(owner: FileOwner, reason: String) -> DbError {
    DbError::InvalidRow { owner, reason }
}
