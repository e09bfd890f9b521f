//! Reads changes from the tables.

use std::ops::ControlFlow;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};
use slipstitch_core::change::{Base, FileChange, PathChange, Rung};
use slipstitch_core::path::FilePath;
use slipstitch_core::plan::ChangeId;
use slipstitch_core::ports::journal::{
    ChangeKind, ChangeState, Entry, FileRecord, FileSummary, Filter, ForeignEdit, Origin, PathState,
    RecordedText, Summary, UndoFilter, UndoneChanges,
};
use slipstitch_core::text::ContentHash;

use super::checksum::{CHANGES, FILES};
use super::{DbError, FileOwner, change_id, insert, lifecycle, restore_codec, row_id, splice_codec};
use crate::disk::intent_paths;
use crate::os_path::text_to_path;

const COLUMNS: &str = "id, at, session, agent, dialect, tool, kind, description, labels, approval, state, undone_by, file_count";

pub(super) fn entry(transaction: &Connection, root: &str, id: ChangeId) -> Result<Option<Entry>, DbError> {
    let query = format!(
        "SELECT {COLUMNS}, diff, {} AS intact FROM changes WHERE id = ?1 AND root = ?2 AND forgotten = 0",
        CHANGES.is_wholly_intact()
    );
    let read = |row: &Row<'_>| Ok((read_change(row)?, lossy_text(row, "diff")?));
    let found = transaction.prepare_cached(&query)?.query_row(params![row_id(id), root], read).optional()?;
    let Some((row, diff)) = found else { return Ok(None) };
    let owner = FileOwner::Change(id);
    let mut files = files(transaction, owner)?;
    let reverted = lifecycle::reverted_by(transaction, id)?;
    if !row.is_intact || insert::count(files.len()) != row.file_count || !reverted.is_intact {
        return Err(damaged(transaction, owner));
    }
    add_gaps(transaction, id, &mut files)?;
    let summary = row.into_summary(reverted.ids, files.iter().map(summarize).collect())?;
    Ok(Some(Entry { summary, files, diff }))
}

/// The pending changes of other roots that affect a file for which `is_wanted` holds, each with its root.
pub(super) fn pending_elsewhere(
    connection: &Connection,
    root: &str,
    is_wanted: impl Fn(&Path) -> bool,
) -> Result<Vec<(ChangeId, String)>, DbError> {
    let mut select = connection.prepare_cached(
        "SELECT id, root, intent FROM changes INDEXED BY changes_pending
         WHERE state = 'pending' AND root <> ?1 ORDER BY id",
    )?;
    let rows = select.query_map([root], |row| {
        Ok((row.get(0)?, lossy_text(row, "root")?, lossy_optional_text(row, "intent")?))
    })?;
    let mut found = Vec::new();
    for row in rows {
        let (id, other_root, intent): (i64, String, Option<String>) = row?;
        let files = intent_paths(intent.as_deref().unwrap_or_default());
        if files.iter().any(|file| is_wanted(&Path::new(&other_root).join(text_to_path(file)))) {
            found.push((change_id(id), other_root));
        }
    }
    Ok(found)
}

/// The pending changes with their intents, oldest first. Whether they are intact is verified by [`entry`].
pub(super) fn pending(
    transaction: &Connection,
    root: &str,
) -> Result<Vec<(ChangeId, Option<String>)>, DbError> {
    let mut statement = transaction
        .prepare_cached("SELECT id, intent FROM changes WHERE root = ?1 AND state = 'pending' ORDER BY id")?;
    let rows = statement
        .query_map([root], |row| Ok((change_id(row.get(0)?), lossy_optional_text(row, "intent")?)))?;
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
    let last_assigned = last_assigned(transaction)?;
    Ok(row_id(id) > 0 && last_assigned.is_some_and(|last| row_id(id) <= last))
}

/// The highest id that a change ever had.
fn last_assigned(transaction: &Connection) -> Result<Option<i64>, DbError> {
    let mut select = transaction.prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'changes'")?;
    Ok(select.query_row([], |row| row.get(0)).optional()?)
}

/// Whether one of the changes between two ids was forgotten.
pub(super) fn any_forgotten_between(
    transaction: &Connection,
    root: &str,
    after: ChangeId,
    before: ChangeId,
) -> Result<bool, DbError> {
    let (rows, forgotten): (i64, i64) = transaction
        .prepare_cached(
            "SELECT count(*), coalesce(sum(root = ?3 AND forgotten), 0) FROM changes WHERE id > ?1 AND id < ?2",
        )?
        .query_row(params![row_id(after), row_id(before), root], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let last = last_assigned(transaction)?.unwrap_or(0).min(row_id(before) - 1);
    Ok(forgotten > 0 || rows < last - row_id(after))
}

pub(super) fn list(transaction: &Connection, root: &str, filter: &Filter) -> Result<Vec<Summary>, DbError> {
    let rows = match &filter.path {
        None => select_changes(transaction, root, filter)?,
        Some(path) => select_changes_of(transaction, root, path, filter)?,
    };
    rows.into_iter()
        .map(|row| {
            let id = change_id(row.id);
            let (files, are_intact) = file_summaries(transaction, FileOwner::Change(id))?;
            let reverted = lifecycle::reverted_by(transaction, id)?;
            let is_intact = row.is_intact
                && are_intact
                && reverted.is_intact
                && insert::count(files.len()) == row.file_count;
            row.into_listed_summary(reverted.ids, files, is_intact)
        })
        .collect()
}

fn select_changes(transaction: &Connection, root: &str, filter: &Filter) -> Result<Vec<ChangeRow>, DbError> {
    // Named, because SQLite does not know how few rows these indexes have.
    let index = match (filter.undo, &filter.session) {
        (Some(UndoFilter::Undoable), Some(_)) => "INDEXED BY changes_to_undo",
        (Some(UndoFilter::Redoable), Some(_)) => "INDEXED BY changes_to_redo",
        (None, Some(_)) => "INDEXED BY changes_by_session",
        (_, None) => "INDEXED BY changes_by_root",
    };
    let (conditions, mut values) = list_conditions(root, filter);
    let mut query = format!(
        "SELECT {COLUMNS}, {} AS intact FROM changes {index} WHERE {conditions} ORDER BY id DESC",
        CHANGES.is_intact()
    );
    if let Some(limit) = filter.limit {
        query.push_str(" LIMIT ?");
        values.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
    }
    let mut statement = transaction.prepare_cached(&query)?;
    let rows = statement.query_map(params_from_iter(values), read_change)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The changes of one file. They are looked up one by one, so that a limit also limits what is read.
fn select_changes_of(
    transaction: &Connection,
    root: &str,
    path: &FilePath,
    filter: &Filter,
) -> Result<Vec<ChangeRow>, DbError> {
    let (conditions, values) = list_conditions(root, filter);
    let query = format!(
        "SELECT {COLUMNS}, {} AS intact FROM changes WHERE {conditions} AND id = ?",
        CHANGES.is_intact()
    );
    let mut select = transaction.prepare_cached(&query)?;
    let mut found = Vec::new();
    let limit = filter.limit.unwrap_or(usize::MAX);
    for_each_change_of(transaction, root, path, filter.after, filter.before, |id| {
        if found.len() >= limit {
            return Ok(ControlFlow::Break(()));
        }
        let values = values.iter().cloned().chain([id.into()]);
        found.extend(select.query_row(params_from_iter(values), read_change).optional()?);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Visits the ids of the changes that had a file at a path before or after them, newest first, between two changes.
fn for_each_change_of(
    transaction: &Connection,
    root: &str,
    path: &FilePath,
    after: Option<ChangeId>,
    before: Option<ChangeId>,
    mut visit: impl FnMut(i64) -> Result<ControlFlow<()>, DbError>,
) -> Result<(), DbError> {
    let after = after.map_or(0, row_id);
    let before = before.map_or(i64::MAX, row_id);
    let select = |column: &str, index: &str| {
        transaction.prepare_cached(&format!(
            "SELECT change FROM files INDEXED BY {index}
             WHERE root = ?1 AND {column} = ?2 AND change > ?3 AND change < ?4 ORDER BY change DESC"
        ))
    };
    let mut left_there = select("path", "files_by_path")?;
    let mut moved_away = select("moved_to", "files_by_target")?;
    let values = params![root, path.as_str(), after, before];
    let mut left_there = left_there.query_map(values, |row| row.get::<_, i64>(0))?.peekable();
    let mut moved_away = moved_away.query_map(values, |row| row.get::<_, i64>(0))?.peekable();
    let mut last = None;
    loop {
        // Both are in the same order, and an error comes first.
        let next = match (left_there.peek(), moved_away.peek()) {
            (None, None) => return Ok(()),
            (Some(Ok(a)), Some(Ok(b))) if a < b => moved_away.next(),
            (None, Some(_)) | (_, Some(Err(_))) => moved_away.next(),
            _ => left_there.next(),
        };
        let Some(id) = next.transpose()? else { return Ok(()) };
        if last.replace(id) != Some(id) && visit(id)?.is_break() {
            return Ok(());
        }
    }
}

/// The ids of the changes of a path.
pub(super) fn change_ids_of(
    transaction: &Connection,
    root: &str,
    path: &FilePath,
) -> Result<Vec<i64>, DbError> {
    let mut ids = Vec::new();
    for_each_change_of(transaction, root, path, None, None, |id| {
        ids.push(id);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(ids)
}

/// What the last changes of a path left there, newest first. Ends before a damaged row.
pub(super) fn states_of(
    transaction: &Connection,
    root: &str,
    path: &FilePath,
    before: Option<ChangeId>,
    limit: usize,
) -> Result<Vec<PathState>, DbError> {
    let mut change = transaction.prepare_cached(&format!(
        "SELECT state, {} FROM changes WHERE id = ?1 AND state <> 'abandoned' AND forgotten = 0",
        CHANGES.is_intact()
    ))?;
    let mut left = transaction.prepare_cached(&format!(
        "SELECT base, {} FROM files INDEXED BY files_by_path WHERE root = ?1 AND path = ?2 AND change = ?3",
        FILES.is_intact()
    ))?;
    let mut found = Vec::new();
    for_each_change_of(transaction, root, path, None, before, |id| {
        if found.len() >= limit {
            return Ok(ControlFlow::Break(()));
        }
        let row = change.query_row([id], |row| Ok((lossy_text(row, "state")?, row.get(1)?))).optional()?;
        let Some((state, is_intact)) = row else { return Ok(ControlFlow::Continue(())) };
        let file = left
            .query_row(params![root, path.as_str(), id], |row| {
                Ok((lossy_optional_text(row, "base")?, row.get(1)?))
            })
            .optional()?;
        let (hash, file_is_intact) = file.unwrap_or((None, true));
        let owner = FileOwner::Change(change_id(id));
        let state = parse_state(&state);
        let hash = hash.map(|hash| parse_hash(owner, &hash)).transpose();
        match (state, hash) {
            (Some(state), Ok(hash)) if is_intact && file_is_intact => {
                found.push(PathState { change: change_id(id), state, hash });
                Ok(ControlFlow::Continue(()))
            }
            _ => Ok(ControlFlow::Break(())),
        }
    })?;
    Ok(found)
}

/// The conditions of `filter`, apart from its path and its limit, and the values for their placeholders.
fn list_conditions(root: &str, filter: &Filter) -> (String, Vec<Value>) {
    let mut conditions = String::from("root = ? AND state <> 'abandoned' AND forgotten = 0");
    let mut values: Vec<Value> = vec![root.to_owned().into()];
    let mut add_condition = |condition: &str, parameters: Vec<Value>| {
        conditions.push_str(" AND ");
        conditions.push_str(condition);
        values.extend(parameters);
    };
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
    (conditions, values)
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
    file_count: i64,
    is_intact: bool,
}

/// Reads the columns that say where a change or a proposal came from.
pub(super) fn read_origin(row: &Row<'_>) -> rusqlite::Result<Origin> {
    Ok(Origin {
        session: lossy_text(row, "session")?,
        agent: lossy_optional_text(row, "agent")?,
        dialect: lossy_text(row, "dialect")?,
        tool: lossy_text(row, "tool")?,
    })
}

/// Reads a row that may be damaged.
fn read_change(row: &Row<'_>) -> rusqlite::Result<ChangeRow> {
    Ok(ChangeRow {
        id: row.get("id")?,
        at: row.get_ref("at")?.as_i64().unwrap_or_default(),
        origin: read_origin(row)?,
        kind: lossy_text(row, "kind")?,
        description: lossy_optional_text(row, "description")?,
        labels: lossy_optional_text(row, "labels")?,
        approval: lossy_text(row, "approval")?,
        state: lossy_text(row, "state")?,
        undone_by: row.get_ref("undone_by")?.as_i64_or_null().unwrap_or_default(),
        file_count: row.get("file_count").unwrap_or_default(),
        is_intact: row.get("intact")?,
    })
}

/// A text that may be damaged.
fn lossy_text(row: &Row<'_>, column: &str) -> rusqlite::Result<String> {
    Ok(lossy_optional_text(row, column)?.unwrap_or_default())
}

fn lossy_optional_text(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<String>> {
    let bytes = row.get_ref(column)?.as_bytes_or_null().unwrap_or_default();
    Ok(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
}

fn parse_state(name: &str) -> Option<ChangeState> {
    let all = [ChangeState::Pending, ChangeState::Done, ChangeState::Abandoned];
    all.into_iter().find(|state| lifecycle::state_name(*state) == name)
}

impl ChangeRow {
    /// The summary of an intact row.
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
        let Some(state) = parse_state(&self.state) else {
            return Err(invalid(FileOwner::Change(id), format!("its state is `{}`", self.state)));
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
            damage: None,
        })
    }

    /// The summary of a row that may be damaged. Then it has what can be read.
    fn into_listed_summary(
        self,
        reverted: Vec<ChangeId>,
        files: Vec<FileSummary>,
        is_intact: bool,
    ) -> Result<Summary, DbError> {
        if is_intact {
            return self.into_summary(reverted, files);
        }
        let readable = Self { kind: "edit".into(), state: "done".into(), ..self };
        let summary = readable.into_summary(Vec::new(), files)?;
        Ok(Summary { damage: Some("its record is damaged".into()), ..summary })
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
    restore: Option<String>,
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
        restore: row.get("restore")?,
        rung: row.get("rung")?,
    })
}

const FILE_COLUMNS: &str = "path, base, fate, moved_to, after, mode, executable, restore, rung";

/// The files of a change or a proposal.
pub(super) fn files(transaction: &Connection, owner: FileOwner) -> Result<Vec<FileRecord>, DbError> {
    let table = owner.table();
    let query = format!(
        "SELECT {FILE_COLUMNS}, splices, {} AS intact FROM {} WHERE {} = ?1 ORDER BY position",
        table.is_wholly_intact(),
        table.name,
        owner.column()
    );
    let mut statement = transaction.prepare_cached(&query)?;
    let rows = statement.query_map([owner.row_id()], |row| {
        Ok(match row.get("intact")? {
            true => Some((read_file(row)?, row.get::<_, Vec<u8>>("splices")?)),
            false => None,
        })
    })?;
    rows.map(|row| {
        let Some((file, splices)) = row? else { return Err(damaged(transaction, owner)) };
        let record = file.into_record(owner)?;
        if splices == splice_codec::WITHHELD {
            return Ok(FileRecord { text: RecordedText::Withheld, ..record });
        }
        let splices = splice_codec::decode(&splices).map_err(|error| invalid(owner, error.to_string()))?;
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

/// The files of a change, without their splices, and whether all of them are intact. Damaged ones are left out.
fn file_summaries(transaction: &Connection, owner: FileOwner) -> Result<(Vec<FileSummary>, bool), DbError> {
    let table = owner.table();
    let query = format!(
        "SELECT {FILE_COLUMNS}, {} AS intact FROM {} WHERE {} = ?1 ORDER BY position",
        table.is_intact(),
        table.name,
        owner.column()
    );
    let mut statement = transaction.prepare_cached(&query)?;
    let rows = statement.query_map([owner.row_id()], |row| {
        Ok(if row.get("intact")? { Some(read_file(row)?) } else { None })
    })?;
    let mut all_intact = true;
    let mut summaries = Vec::new();
    for row in rows {
        match row? {
            Some(file) => summaries.push(summarize(&file.into_record(owner)?)),
            None => all_intact = false,
        }
    }
    Ok((summaries, all_intact))
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
            restore: restore_codec::decode(self.restore.as_deref())
                .map_err(|error| invalid(owner, format!("what a file restores: {error}")))?,
            edits: Vec::new(),
            notes: Vec::new(),
            totals: None,
        };
        Ok(FileRecord { rung, ..FileRecord::new(inverse) })
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

/// The error for a damaged record, with the paths that it is about as far as they can be read.
pub(super) fn damaged(transaction: &Connection, owner: FileOwner) -> DbError {
    let paths = || -> rusqlite::Result<Vec<String>> {
        let query = format!("SELECT path FROM {} WHERE {} = ?1", owner.table().name, owner.column());
        let mut select = transaction.prepare(&query)?;
        let paths =
            select.query_map([owner.row_id()], |row| Ok(format!("`{}`", lossy_text(row, "path")?)))?;
        paths.collect()
    };
    DbError::Damaged(match paths().unwrap_or_default() {
        paths if paths.is_empty() => owner.to_string(),
        paths => format!("{owner} ({})", paths.join(", ")),
    })
}
