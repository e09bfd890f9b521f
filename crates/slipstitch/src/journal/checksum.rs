//! Checksums of rows. A flipped bit in a database file is invisible to SQLite unless it breaks the structure of a page,
//! so every row has its own checksum: written with the row, verified when it is read, and by `slipstitch doctor`.
//!
//! `sum` covers the columns that lists show. Texts can be large, and lists do not read them, so they have a checksum of
//! their own, `text_sum`, or are covered by the content hash in the row.

use std::sync::OnceLock;

use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, ToSql};
use slipstitch_core::text::ContentHash;

/// The number of bytes of a checksum: enough for accidents, which is what it is for.
const LENGTH: usize = 8;

/// A table whose rows have checksums.
pub(super) struct Table {
    pub(super) name: &'static str,
    /// The columns of its primary key.
    pub(super) key: &'static [&'static str],
    /// The other columns that `sum` covers.
    columns: &'static [&'static str],
    texts: Texts,
    ids: Ids,
    sql: TableSql,
}

/// Whether the id of a deleted row may be reused, for tables with a numeric key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ids {
    Reused,
    Unique,
}

/// Parts of SQL statements, put together when they are first needed: every row that is written or read needs them.
struct TableSql {
    insert: OnceLock<String>,
    next_id: OnceLock<String>,
    update: OnceLock<String>,
    is_intact: OnceLock<String>,
}

impl TableSql {
    const fn new() -> Self {
        Self {
            insert: OnceLock::new(),
            next_id: OnceLock::new(),
            update: OnceLock::new(),
            is_intact: OnceLock::new(),
        }
    }
}

/// How the texts of a row are verified.
enum Texts {
    /// The row has none, or `sum` covers them.
    None,
    /// `text_sum` covers these columns.
    Summed(&'static [&'static str]),
    /// The column `hash` has the content hash of the column `text`.
    Hashed,
}

pub(super) static CHANGES: Table = Table {
    name: "changes",
    key: &["id"],
    columns: &[
        "root",
        "at",
        "session",
        "agent",
        "dialect",
        "tool",
        "kind",
        "description",
        "approval",
        "state",
        "undone_by",
        "intent",
        "file_count",
        "labels",
        "forgotten",
    ],
    texts: Texts::Summed(&["diff"]),
    ids: Ids::Unique,
    sql: TableSql::new(),
};

pub(super) static REVERTED: Table = Table {
    name: "reverted",
    key: &["change", "position"],
    columns: &["target"],
    texts: Texts::None,
    ids: Ids::Reused,
    sql: TableSql::new(),
};

pub(super) static FILES: Table = Table {
    name: "files",
    key: &["change", "position"],
    columns: &[
        "root",
        "path",
        "base",
        "fate",
        "moved_to",
        "after",
        "mode",
        "executable",
        "restore",
        "rung",
        "gap_hash",
    ],
    texts: Texts::Summed(&["splices", "gap_splices"]),
    ids: Ids::Reused,
    sql: TableSql::new(),
};

pub(super) static LAST_TEXTS: Table = Table {
    name: "last_texts",
    key: &["id"],
    columns: &["root", "path", "change", "hash"],
    texts: Texts::Hashed,
    ids: Ids::Reused,
    sql: TableSql::new(),
};

pub(super) static SHOWN: Table = Table {
    name: "shown",
    key: &["id"],
    columns: &["root", "session", "path", "hash", "bytes", "at"],
    texts: Texts::Hashed,
    ids: Ids::Reused,
    sql: TableSql::new(),
};

pub(super) static PROPOSALS: Table = Table {
    name: "proposals",
    key: &["id"],
    columns: &[
        "root",
        "at",
        "session",
        "agent",
        "dialect",
        "tool",
        "description",
        "why",
        "file_count",
        "private",
        "verdict",
        "decided_by",
        "reason",
        "change",
        "left_out",
    ],
    texts: Texts::Summed(&["diff", "remarks"]),
    ids: Ids::Unique,
    sql: TableSql::new(),
};

pub(super) static PROPOSAL_FILES: Table = Table {
    name: "proposal_files",
    key: &["proposal", "position"],
    columns: &["path", "base", "fate", "moved_to", "after", "mode", "executable", "restore", "rung"],
    texts: Texts::Summed(&["splices", "remarks"]),
    ids: Ids::Reused,
    sql: TableSql::new(),
};

pub(super) static SESSION_MEMORY: Table = Table {
    name: "session_memory",
    key: &["root", "session", "name"],
    columns: &["text", "at"],
    texts: Texts::None,
    ids: Ids::Reused,
    sql: TableSql::new(),
};

pub(super) static CALLS: Table = Table {
    name: "calls",
    key: &["id"],
    columns: &[
        "root", "at", "session", "agent", "dialect", "tool", "variant", "status", "code", "cause", "rung",
        "classes", "proposal", "model", "paths",
    ],
    texts: Texts::None,
    ids: Ids::Reused,
    sql: TableSql::new(),
};

/// Every table of the journal.
pub(super) static TABLES: [&Table; 9] =
    [&CHANGES, &REVERTED, &FILES, &LAST_TEXTS, &SHOWN, &PROPOSALS, &PROPOSAL_FILES, &SESSION_MEMORY, &CALLS];

impl Table {
    /// The statement that inserts a row with its checksums. The columns are its parameters, in this order.
    fn insert_statement(&self, columns: &[&str]) -> &str {
        self.sql.insert.get_or_init(|| {
            let parameter = |name: &&str| match columns.iter().position(|column| column == name) {
                Some(at) => format!("?{}", at + 1),
                None => "NULL".into(),
            };
            let checksum_of = |names: &[&str]| {
                let values: Vec<String> = self.key.iter().chain(names).map(parameter).collect();
                format!("checksum({})", values.join(", "))
            };
            let mut names = columns.to_vec();
            let mut values: Vec<String> = columns.iter().map(parameter).collect();
            names.push("sum");
            values.push(checksum_of(self.columns));
            if let Texts::Summed(texts) = self.texts {
                names.push("text_sum");
                values.push(checksum_of(texts));
            }
            format!("INSERT INTO {} ({}) VALUES ({})", self.name, names.join(", "), values.join(", "))
        })
    }

    /// Inserts a row whose key is known, together with its checksums. The columns are always the same ones for a table; those
    /// that are left out are null.
    pub(super) fn insert(
        &self,
        connection: &Connection,
        columns: &[(&str, &dyn ToSql)],
    ) -> rusqlite::Result<()> {
        let (names, values): (Vec<&str>, Vec<&dyn ToSql>) = columns.iter().copied().unzip();
        connection.prepare_cached(self.insert_statement(&names))?.execute(&values[..]).map(drop)
    }

    /// The key that SQLite would give the next row. If the key is known in advance, a row can be inserted together with its
    /// checksum; otherwise it would be written twice.
    pub(super) fn next_id(&self, connection: &Connection) -> rusqlite::Result<i64> {
        let query = self.sql.next_id.get_or_init(|| {
            let name = self.name;
            let last = format!("coalesce((SELECT max(id) FROM {name}), 0)");
            match self.ids {
                Ids::Reused => format!("SELECT {last} + 1"),
                Ids::Unique => format!(
                    "SELECT max({last}, coalesce((SELECT seq FROM sqlite_sequence WHERE name = '{name}'), 0)) + 1"
                ),
            }
        });
        connection.prepare_cached(query)?.query_row([], |row| row.get(0))
    }

    /// Updates the checksums of one row after it was written.
    pub(super) fn update_sums(&self, connection: &Connection, key: &[&dyn ToSql]) -> rusqlite::Result<()> {
        let condition: Vec<String> =
            self.key.iter().enumerate().map(|(at, column)| format!("{column} = ?{}", at + 1)).collect();
        self.update_sums_where(connection, &condition.join(" AND "), key)
    }

    /// Updates the checksums of the rows that meet a condition.
    pub(super) fn update_sums_where(
        &self,
        connection: &Connection,
        condition: &str,
        values: impl Params,
    ) -> rusqlite::Result<()> {
        let update = self.sql.update.get_or_init(|| {
            let text_sum = match self.texts {
                Texts::Summed(texts) => format!(", text_sum = {}", self.checksum_of(texts)),
                Texts::None | Texts::Hashed => String::new(),
            };
            format!("UPDATE {} SET sum = {}{text_sum} WHERE ", self.name, self.checksum_of(self.columns))
        });
        connection.prepare_cached(&[update, condition].concat())?.execute(values)?;
        Ok(())
    }

    /// The statement that sets columns of the rows that meet a condition, given as SQL expressions that may use parameters, and
    /// their checksums. Not for texts that `text_sum` covers.
    pub(super) fn update_statement(&self, columns: &[(&str, &str)], condition: &str) -> String {
        let names = self.key.iter().chain(self.columns);
        let value = |name: &&str| match columns.iter().find(|(column, _)| column == name) {
            Some((_, value)) => (*value).to_owned(),
            None => format!("{}.{name}", self.name),
        };
        let sum = names.map(value).collect::<Vec<_>>().join(", ");
        let set: Vec<String> = columns.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let (name, set) = (self.name, set.join(", "));
        format!("UPDATE {name} SET {set}, sum = checksum({sum}) WHERE {condition}")
    }

    /// Updates the checksum of one row after a change of columns that are not texts.
    pub(super) fn update_sum(&self, connection: &Connection, id: i64) -> rusqlite::Result<()> {
        let sum = self.checksum_of(self.columns);
        let update = format!("UPDATE {} SET sum = {sum} WHERE {} = ?1", self.name, self.key[0]);
        connection.prepare_cached(&update)?.execute([id])?;
        Ok(())
    }

    /// The SQL expression for whether a row is intact, apart from its texts.
    pub(super) fn is_intact(&self) -> &str {
        let sum = || format!("{0}.sum IS {1}", self.name, self.checksum_of(self.columns));
        self.sql.is_intact.get_or_init(sum)
    }

    /// The SQL expression for whether a row and its texts are intact.
    pub(super) fn is_wholly_intact(&self) -> String {
        let name = self.name;
        let texts = match self.texts {
            Texts::None => "TRUE".into(),
            Texts::Summed(texts) => format!("{name}.text_sum IS {}", self.checksum_of(texts)),
            Texts::Hashed => format!("{name}.hash IS content_hash({name}.text)"),
        };
        format!("({} AND {texts})", self.is_intact())
    }

    /// The checksum of columns together with the key, so that a row cannot pass for another one.
    fn checksum_of(&self, columns: &[&str]) -> String {
        let columns = self.key.iter().chain(columns).map(|column| format!("{}.{column}", self.name));
        format!("checksum({})", columns.collect::<Vec<_>>().join(", "))
    }
}

/// Makes the checksums of calls cover the columns `model` and `paths`, which were added last. A row that was damaged before
/// stays damaged.
pub(super) fn extend_call_sums(connection: &Connection) -> rusqlite::Result<()> {
    let before = CALLS.columns.strip_suffix(&["model", "paths"]).unwrap_or(CALLS.columns);
    let condition = format!("sum IS {}", CALLS.checksum_of(before));
    CALLS.update_sums_where(connection, &condition, [])
}

/// Registers the SQL functions.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("checksum", -1, flags, |context| {
        let mut hasher = blake3::Hasher::new();
        for argument in 0..context.len() {
            hash_value(&mut hasher, context.get_raw(argument));
        }
        Ok(hasher.finalize().as_bytes()[..LENGTH].to_vec())
    })?;
    connection.create_scalar_function("content_hash", 1, flags, |context| {
        Ok(match context.get_raw(0) {
            ValueRef::Blob(text) => Some(ContentHash::of(text).to_string()),
            _ => None,
        })
    })
}

/// Hashes a value with its type and length, so that text cannot move from one column to the next unnoticed.
fn hash_value(hasher: &mut blake3::Hasher, value: ValueRef<'_>) {
    let mut add = |kind: u8, bytes: &[u8]| {
        hasher.update(&[kind]).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    };
    match value {
        ValueRef::Null => add(0, &[]),
        ValueRef::Integer(number) => add(1, &number.to_le_bytes()),
        ValueRef::Real(number) => add(2, &number.to_bits().to_le_bytes()),
        ValueRef::Text(text) => add(3, text),
        ValueRef::Blob(bytes) => add(4, bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::schema;

    #[test]
    fn every_column_is_covered() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        connection.execute_batch(schema::SCHEMA).unwrap();
        let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
        let names = |query: &str| -> Vec<String> {
            let mut select = connection.prepare(query).unwrap();
            select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
        };
        for table in names(tables) {
            let known = TABLES.iter().find(|known| known.name == table).expect(&table);
            let texts = match known.texts {
                Texts::None => &[][..],
                Texts::Summed(texts) => texts,
                Texts::Hashed => &["text"],
            };
            let covered = |name: &str| [known.key, known.columns, texts].concat().contains(&name);
            let columns = names(&format!("SELECT name FROM pragma_table_info('{table}')"));
            for column in columns.iter().filter(|name| !name.ends_with("sum")) {
                assert!(covered(column), "{table}.{column} has no checksum");
            }
        }
    }

    #[test]
    fn values_do_not_run_into_each_other() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        let differ = |a: &str, b: &str| {
            let query = format!("SELECT checksum({a}) <> checksum({b})");
            connection.query_row(&query, [], |row| row.get::<_, bool>(0)).unwrap()
        };
        for (a, b) in [("'a', 'bc'", "'ab', 'c'"), ("NULL, ''", "'', NULL"), ("1", "'1'"), ("x'61'", "'a'")] {
            assert!(differ(a, b), "{a} and {b}");
        }
    }
}
