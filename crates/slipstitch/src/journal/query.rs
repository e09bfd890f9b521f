//! Changes on their way out of the tables.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};
use slipstitch_core::change::{Base, Fate, FileChange, Rung};
use slipstitch_core::path::FilePath;
use slipstitch_core::plan::ChangeId;
use slipstitch_core::ports::journal::{
    ChangeKind, ChangeState, Entry, FileRecord, FileSummary, Filter, ForeignEdit, Origin, Summary,
    UndoFilter, UndoneChanges,
};
use slipstitch_core::text::ContentHash;

use super::{Fault, Owner, blob, id_of, marks, row_of};
use crate::disk::files_in;

const COLUMNS: &str = "id, at, session, agent, dialect, tool, kind, description, approval, state, undone_by";

pub(super) fn entry(transaction: &Connection, root: &str, id: ChangeId) -> Result<Option<Entry>, Fault> {
    let query = format!("SELECT {COLUMNS}, diff FROM changes WHERE id = ?1 AND root = ?2 AND forgotten = 0");
    let found = transaction
        .query_row(&query, params![row_of(id), root], |row| Ok((change(row)?, row.get("diff")?)))
        .optional()?;
    let Some((found, diff)) = found else { return Ok(None) };
    let mut files = files(transaction, Owner::Change(id))?;
    add_gaps(transaction, id, &mut files)?;
    let taken = marks::taken_back(transaction, id)?;
    let summary = found.summary(taken, files.iter().map(summary_of).collect())?;
    Ok(Some(Entry { summary, files, diff }))
}

/// The changes of other roots that are pending and have a file that `wanted` says yes to, with the roots that they were
/// begun in.
pub(super) fn pending_elsewhere(
    connection: &Connection,
    root: &str,
    wanted: impl Fn(&Path) -> bool,
) -> Result<Vec<(ChangeId, String)>, Fault> {
    let mut select = connection
        .prepare("SELECT id, root, intent FROM changes WHERE state = 'pending' AND root <> ?1 ORDER BY id")?;
    let rows = select.query_map([root], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut found = Vec::new();
    for row in rows {
        let (id, begun, intent): (i64, String, Option<String>) = row?;
        let files = files_in(intent.as_deref().unwrap_or_default());
        if files.iter().any(|file| wanted(&Path::new(&begun).join(file))) {
            found.push((id_of(id), begun));
        }
    }
    Ok(found)
}

/// The changes that wait to be settled, with what that takes.
pub(super) fn pending(
    transaction: &Connection,
    root: &str,
) -> Result<Vec<(ChangeId, Option<String>)>, Fault> {
    let mut statement = transaction
        .prepare_cached("SELECT id, intent FROM changes WHERE root = ?1 AND state = 'pending' ORDER BY id")?;
    let rows = statement.query_map([root], |row| Ok((id_of(row.get(0)?), row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Whether a change was there once and has nothing left that takes it back.
pub(super) fn forgotten(transaction: &Connection, root: &str, id: ChangeId) -> Result<bool, Fault> {
    let found: Option<(String, bool)> = transaction
        .query_row("SELECT root, forgotten FROM changes WHERE id = ?1", [row_of(id)], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    if let Some((whose, forgotten)) = found {
        return Ok(whose == root && forgotten);
    }
    // Numbers are given once. One that was given and is not there was removed.
    let given: Option<i64> = transaction
        .query_row("SELECT seq FROM sqlite_sequence WHERE name = 'changes'", [], |row| row.get(0))
        .optional()?;
    Ok(row_of(id) > 0 && given.is_some_and(|given| row_of(id) <= given))
}

pub(super) fn list(transaction: &Connection, root: &str, filter: &Filter) -> Result<Vec<Summary>, Fault> {
    let (query, values) = list_query(root, filter);
    let mut statement = transaction.prepare_cached(&query)?;
    let found = statement.query_map(params_from_iter(values), change)?.collect::<Result<Vec<_>, _>>()?;
    found
        .into_iter()
        .map(|change| {
            let id = id_of(change.id);
            let files = file_summaries(transaction, Owner::Change(id))?;
            change.summary(marks::taken_back(transaction, id)?, files)
        })
        .collect()
}

/// The query for `filter` and its values, each `?` in turn.
fn list_query(root: &str, filter: &Filter) -> (String, Vec<Value>) {
    let mut query =
        format!("SELECT {COLUMNS} FROM changes WHERE root = ? AND state <> 'abandoned' AND forgotten = 0");
    let mut values: Vec<Value> = vec![root.to_owned().into()];
    let mut narrow = |condition: &str, given: Vec<Value>| {
        query.push_str(" AND ");
        query.push_str(condition);
        values.extend(given);
    };
    if let Some(path) = &filter.path {
        let path = Value::from(path.as_str().to_owned());
        narrow(
            "id IN (SELECT change FROM files WHERE path = ? UNION SELECT change FROM files WHERE moved_to = ?)",
            vec![path.clone(), path],
        );
    }
    if let Some(session) = &filter.session {
        narrow("session = ?", vec![session.clone().into()]);
    }
    if let Some(agent) = &filter.agent {
        narrow("agent = ?", vec![agent.clone().into()]);
    }
    if let Some(since) = filter.since {
        narrow("at >= ?", vec![since.into()]);
    }
    if let Some(until) = filter.until {
        narrow("at < ?", vec![until.into()]);
    }
    if let Some(after) = filter.after {
        narrow("id > ?", vec![row_of(after).into()]);
    }
    if let Some(before) = filter.before {
        narrow("id < ?", vec![row_of(before).into()]);
    }
    match filter.undo {
        Some(UndoFilter::Undoable) => {
            narrow("kind = 'edit' AND undone_by IS NULL AND state = 'done'", vec![])
        }
        Some(UndoFilter::Redoable) => {
            narrow("kind = 'undo' AND undone_by IS NULL AND state = 'done'", vec![])
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

/// A row of `changes` as it is written there.
struct Change {
    id: i64,
    at: i64,
    origin: Origin,
    kind: String,
    description: Option<String>,
    approval: String,
    state: String,
    undone_by: Option<i64>,
}

fn change(row: &Row<'_>) -> rusqlite::Result<Change> {
    Ok(Change {
        id: row.get("id")?,
        at: row.get("at")?,
        origin: Origin {
            session: row.get("session")?,
            agent: row.get("agent")?,
            dialect: row.get("dialect")?,
            tool: row.get("tool")?,
        },
        kind: row.get("kind")?,
        description: row.get("description")?,
        approval: row.get("approval")?,
        state: row.get("state")?,
        undone_by: row.get("undone_by")?,
    })
}

impl Change {
    fn summary(self, taken: Vec<ChangeId>, files: Vec<FileSummary>) -> Result<Summary, Fault> {
        let id = id_of(self.id);
        let kind = match (self.kind.as_str(), UndoneChanges::new(taken)) {
            ("edit", None) => ChangeKind::Edit,
            ("undo", Some(taken)) => ChangeKind::Undo(taken),
            ("redo", Some(taken)) if taken.ids().len() == 1 => ChangeKind::Redo(taken.ids()[0]),
            (kind, taken) => {
                let taken = taken.map_or("nothing".into(), |taken| taken.to_string());
                return Err(damaged(Owner::Change(id), format!("its kind is `{kind}` of {taken}")));
            }
        };
        let state = match self.state.as_str() {
            "pending" => ChangeState::Pending,
            "done" => ChangeState::Done,
            "abandoned" => ChangeState::Abandoned,
            state => return Err(damaged(Owner::Change(id), format!("its state is `{state}`"))),
        };
        Ok(Summary {
            id,
            at: self.at,
            origin: self.origin,
            kind,
            description: self.description,
            approval: self.approval,
            state,
            undone_by: self.undone_by.map(id_of),
            files,
        })
    }
}

/// A row of `files` as it is written there.
struct File {
    path: String,
    base: Option<String>,
    fate: String,
    moved_to: Option<String>,
    after: Option<String>,
    mode: Option<u32>,
    executable: Option<bool>,
    rung: Option<String>,
}

fn file(row: &Row<'_>) -> rusqlite::Result<File> {
    Ok(File {
        path: row.get("path")?,
        base: row.get("base")?,
        fate: row.get("fate")?,
        moved_to: row.get("moved_to")?,
        after: row.get("after")?,
        mode: row.get("mode")?,
        executable: row.get("executable")?,
        rung: row.get("rung")?,
    })
}

const FILE_COLUMNS: &str = "path, base, fate, moved_to, after, mode, executable, rung";

/// The files of a change or a proposal, whole.
pub(super) fn files(transaction: &Connection, owner: Owner) -> Result<Vec<FileRecord>, Fault> {
    let query = format!(
        "SELECT {FILE_COLUMNS}, splices FROM {} WHERE {} = ?1 ORDER BY position",
        owner.table(),
        owner.column()
    );
    let mut statement = transaction.prepare_cached(&query)?;
    let rows =
        statement.query_map([owner.row()], |row| Ok((file(row)?, row.get::<_, Vec<u8>>("splices")?)))?;
    rows.map(|row| {
        let (file, splices) = row?;
        let splices = blob::decode(&splices).map_err(|error| damaged(owner, error.to_string()))?;
        let record = file.record(owner)?;
        Ok(FileRecord { inverse: FileChange { splices, ..record.inverse }, ..record })
    })
    .collect()
}

/// Adds what someone else did to the files before a change.
fn add_gaps(transaction: &Connection, id: ChangeId, files: &mut [FileRecord]) -> Result<(), Fault> {
    let owner = Owner::Change(id);
    let mut statement = transaction.prepare_cached(
        "SELECT position, gap, gap_left FROM files WHERE change = ?1 AND gap IS NOT NULL ORDER BY position",
    )?;
    let rows = statement.query_map([owner.row()], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, String>(2)?))
    })?;
    for row in rows {
        let (position, splices, left) = row?;
        let splices = blob::decode(&splices).map_err(|error| damaged(owner, error.to_string()))?;
        let left = ContentHash::parse(&left);
        let left = left.ok_or_else(|| damaged(owner, "a hash in it is none".into()))?;
        if let Some(file) = usize::try_from(position).ok().and_then(|position| files.get_mut(position)) {
            file.foreign_edit = Some(ForeignEdit { splices, hash_before: left });
        }
    }
    Ok(())
}

/// The files of a change, without the bytes that take it back.
fn file_summaries(transaction: &Connection, owner: Owner) -> Result<Vec<FileSummary>, Fault> {
    let query = format!(
        "SELECT {FILE_COLUMNS} FROM {} WHERE {} = ?1 ORDER BY position",
        owner.table(),
        owner.column()
    );
    let mut statement = transaction.prepare_cached(&query)?;
    statement.query_map([owner.row()], file)?.map(|file| Ok(summary_of(&file?.record(owner)?))).collect()
}

impl File {
    /// The record without its splices.
    fn record(self, owner: Owner) -> Result<FileRecord, Fault> {
        let path =
            |text: &str| FilePath::from_record(text).map_err(|error| damaged(owner, error.to_string()));
        let hash = |text: Option<String>| match text {
            None => Ok(None),
            Some(text) => match ContentHash::parse(&text) {
                Some(hash) => Ok(Some(hash)),
                None => Err(damaged(owner, format!("`{text}` is not a hash"))),
            },
        };
        let fate = match (self.fate.as_str(), &self.moved_to) {
            ("stays", None) => Fate::Keep,
            ("goes", None) => Fate::Delete,
            ("moves", Some(to)) => Fate::Move(path(to)?),
            (fate, to) => return Err(damaged(owner, format!("a file's fate is `{fate}` to {to:?}"))),
        };
        // A rung that a newer program knows is no reason not to show the change.
        let rung = self.rung.and_then(|name| serde_json::from_value::<Rung>(name.into()).ok());
        let inverse = FileChange {
            path: path(&self.path)?,
            base: hash(self.base)?.map_or(Base::Absent, Base::Content),
            fate,
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

fn summary_of(record: &FileRecord) -> FileSummary {
    FileSummary {
        path_before: record.path_before().cloned(),
        path_after: record.path_after().cloned(),
        hash_before: record.hash_before(),
        hash_after: record.hash_after(),
        rung: record.rung,
    }
}

pub(super) fn damaged(owner: Owner, what: String) -> Fault {
    Fault::Damaged { owner, what }
}
