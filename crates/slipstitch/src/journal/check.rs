//! Looks for damage in the whole journal, for `slipstitch doctor`.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, TransactionBehavior};
use slipstitch_core::ports::journal::{JournalError, ProposalId};

use super::checksum::{
    CALLS, CHANGES, FILES, LAST_TEXTS, PROPOSAL_FILES, PROPOSALS, REVERTED, TABLES, Table,
};
use super::{DbError, FileOwner, SqliteJournal, change_id, leftover_log, query, schema};

/// How many problems of one kind are listed.
const MAX_LISTED: usize = 100;

/// The state of the journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalCheck {
    /// Its size in bytes.
    pub bytes: u64,
    /// What is damaged, in words; empty if the journal is intact.
    pub damage: Vec<String>,
}

impl SqliteJournal {
    /// Checks every row and the structure of the database. Damage is listed in the result; an error means that the check
    /// itself was not possible.
    pub fn check(&self) -> Result<JournalCheck, JournalError> {
        self.transact("be checked", TransactionBehavior::Deferred, |transaction| {
            let pages: i64 = transaction.pragma_query_value(None, "page_count", |row| row.get(0))?;
            let size: i64 = transaction.pragma_query_value(None, "page_size", |row| row.get(0))?;
            let mut check = JournalCheck { bytes: (pages * size).unsigned_abs(), damage: Vec::new() };
            // A damaged page can make any of these fail, and the others can still name what else is damaged.
            let mut look = |find: fn(&Connection, &mut Vec<String>) -> Result<(), DbError>| {
                if let Err(error) = find(transaction, &mut check.damage) {
                    check.damage.push(error.to_string());
                }
            };
            look(damaged_rows);
            look(missing_rows);
            look(wrong_counters);
            look(altered_schema);
            look(damaged_structure);
            check.damage.extend(leftover_log::noted_damage(&self.state_dir));
            check.damage.dedup();
            Ok(check)
        })
    }
}

/// Rows whose checksums are wrong.
fn damaged_rows(transaction: &Connection, damage: &mut Vec<String>) -> Result<(), DbError> {
    let mut failure = None;
    for table in TABLES {
        let query = format!(
            "SELECT * FROM {0} WHERE NOT {1} LIMIT {MAX_LISTED}",
            table.name,
            table.is_wholly_intact()
        );
        let list = |damage: &mut Vec<String>| -> Result<(), DbError> {
            let mut select = transaction.prepare(&query)?;
            let mut rows = select.query([])?;
            while let Some(row) = rows.next()? {
                damage.push(describe_row(transaction, table, row)?);
            }
            Ok(())
        };
        if let Err(error) = list(damage) {
            failure = failure.or(Some(error));
        }
    }
    failure.map_or(Ok(()), Err)
}

/// What a damaged row belongs to: the change or the proposal with its paths, or else the table and the row's path.
fn describe_row(transaction: &Connection, table: &Table, row: &Row<'_>) -> Result<String, DbError> {
    let number = |column: &str| Ok::<_, DbError>(row.get_ref(column)?.as_i64().unwrap_or_default());
    let change = |id: i64| query::damaged(transaction, FileOwner::Change(change_id(id))).to_string();
    let proposal =
        |id: i64| query::damaged(transaction, FileOwner::Proposal(ProposalId(id.unsigned_abs()))).to_string();
    Ok(match table.name {
        name if name == CHANGES.name => change(number("id")?),
        name if name == FILES.name || name == REVERTED.name => change(number("change")?),
        name if name == PROPOSALS.name => proposal(number("id")?),
        name if name == PROPOSAL_FILES.name => proposal(number("proposal")?),
        name if name == LAST_TEXTS.name => {
            format!("the text that the last change left in `{}` is damaged", text(row, "path")?)
        }
        name if name == CALLS.name => format!("the record of call {} is damaged", number("id")?),
        "shown" => {
            let (path, session) = (text(row, "path")?, text(row, "session")?);
            format!("a text of `{path}` that session `{session}` saw is damaged")
        }
        _ => format!(
            "what session `{}` remembers as `{}` is damaged",
            text(row, "session")?,
            text(row, "name")?
        ),
    })
}

/// A text that may be damaged.
fn text(row: &Row<'_>, column: &str) -> Result<String, DbError> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    })
}

/// Changes and proposals without all of their files, and references that lead nowhere.
fn missing_rows(transaction: &Connection, damage: &mut Vec<String>) -> Result<(), DbError> {
    for (owners, files, condition) in
        [(&CHANGES, &FILES, "forgotten = 0"), (&PROPOSALS, &PROPOSAL_FILES, "TRUE")]
    {
        let query = format!(
            "SELECT id FROM {0} WHERE {condition}
                 AND file_count <> (SELECT count(*) FROM {1} NOT INDEXED WHERE {1}.{2} = {0}.id) LIMIT {MAX_LISTED}",
            owners.name, files.name, files.key[0]
        );
        let mut select = transaction.prepare(&query)?;
        let ids = select.query_map([], |row| row.get::<_, i64>(0))?.collect::<Result<Vec<_>, _>>()?;
        for id in ids {
            let owner = match owners.name == CHANGES.name {
                true => FileOwner::Change(change_id(id)),
                false => FileOwner::Proposal(ProposalId(id.unsigned_abs())),
            };
            damage.push(format!("{}: a file is missing", query::damaged(transaction, owner)));
        }
    }
    let mut select = transaction.prepare("SELECT \"table\", \"parent\" FROM pragma_foreign_key_check")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        damage.push(format!(
            "a row of `{}` refers to a row of `{}` that is missing",
            text(row, "table")?,
            text(row, "parent")?
        ));
    }
    Ok(())
}

/// The counters from which new ids are assigned. The newest rows are never deleted, so each is the highest id.
fn wrong_counters(transaction: &Connection, damage: &mut Vec<String>) -> Result<(), DbError> {
    for table in [&CHANGES, &PROPOSALS] {
        let query = format!(
            "SELECT coalesce((SELECT max(id) FROM {0}), 0) IS
                    coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = '{0}'), 0)",
            table.name
        );
        if !transaction.query_row(&query, [], |row| row.get::<_, bool>(0))? {
            damage.push(format!("the counter of `{}` is wrong", table.name));
        }
    }
    let others = "SELECT count(*) FROM sqlite_sequence WHERE name NOT IN ('changes', 'proposals')";
    if transaction.query_row(others, [], |row| row.get::<_, i64>(0))? > 0 {
        damage.push("there is a counter of an unknown table".into());
    }
    Ok(())
}

/// Differences between the schema and the one that this program creates.
fn altered_schema(transaction: &Connection, damage: &mut Vec<String>) -> Result<(), DbError> {
    let expected = Connection::open_in_memory()?;
    expected.execute_batch(schema::SCHEMA)?;
    if read_schema(transaction)? != read_schema(&expected)? {
        damage.push("the schema is not the one that this program creates".into());
    }
    Ok(())
}

fn read_schema(connection: &Connection) -> Result<Vec<[Vec<u8>; 4]>, DbError> {
    let mut select =
        connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name")?;
    let rows = select.query_map([], |row| {
        let bytes = |at: usize| -> rusqlite::Result<Vec<u8>> {
            Ok(row.get_ref(at)?.as_bytes_or_null().ok().flatten().unwrap_or_default().to_vec())
        };
        Ok([bytes(0)?, bytes(1)?, bytes(2)?, bytes(3)?])
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// What SQLite finds: pages, their order, and indexes that do not agree with their tables.
fn damaged_structure(transaction: &Connection, damage: &mut Vec<String>) -> Result<(), DbError> {
    let mut select = transaction.prepare(&format!("PRAGMA integrity_check({MAX_LISTED})"))?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        match text(row, "integrity_check")?.as_str() {
            "ok" => {}
            problem => damage.push(format!("SQLite reports: {problem}")),
        }
    }
    Ok(())
}
