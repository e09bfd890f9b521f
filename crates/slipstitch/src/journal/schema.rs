//! The database schema, and the set-up of connections.

use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use super::checksum;

/// The schema version, stored as `user_version`.
const VERSION: i64 = 3;

/// The only older version that is upgraded; its calls have neither a model nor paths. Journals of other versions have to be moved away.
const UPGRADED_VERSION: i64 = 2;

/// Alternatives in checks are written with `OR`: for `IN`, SQLite would build a temporary table on every insert.
pub(super) const SCHEMA: &str = "
    CREATE TABLE changes (
        id          INTEGER PRIMARY KEY AUTOINCREMENT,
        root        TEXT NOT NULL,
        -- Milliseconds since 1970, in all tables.
        at          INTEGER NOT NULL,
        session     TEXT NOT NULL,
        agent       TEXT,
        dialect     TEXT NOT NULL,
        tool        TEXT NOT NULL,
        kind        TEXT NOT NULL CHECK (kind = 'edit' OR kind = 'undo' OR kind = 'redo'),
        description TEXT,
        -- JSON: how the dialect classifies the change.
        labels      TEXT,
        approval    TEXT NOT NULL,
        state       TEXT NOT NULL CHECK (state = 'pending' OR state = 'done' OR state = 'abandoned'),
        undone_by   INTEGER REFERENCES changes (id),
        diff        TEXT NOT NULL,
        -- What the workspace needs to recover the change while it is pending.
        intent      TEXT,
        -- The number of its rows in `files`, so that none can get lost unnoticed.
        file_count  INTEGER NOT NULL,
        -- A forgotten change has no files and no diff. Its row stays as long as other rows refer to it.
        forgotten   INTEGER NOT NULL DEFAULT 0,
        -- Checksums of the row and of its texts, in all tables; see `checksum.rs`.
        sum         BLOB NOT NULL DEFAULT x'',
        text_sum    BLOB NOT NULL DEFAULT x''
    ) STRICT;
    CREATE INDEX changes_by_root ON changes (root, id);
    CREATE INDEX changes_by_session ON changes (root, session, id);
    -- What `undo` and `redo` of a session choose from.
    CREATE INDEX changes_to_undo ON changes (root, session, id) WHERE kind = 'edit' AND undone_by IS NULL;
    CREATE INDEX changes_to_redo ON changes (root, session, id) WHERE kind = 'undo' AND undone_by IS NULL;
    CREATE INDEX changes_by_undone_by ON changes (undone_by) WHERE undone_by IS NOT NULL;
    CREATE INDEX changes_pending ON changes (root, id) WHERE state = 'pending';

    -- The changes that an undo or a redo reverts, in the order in which it reverts them.
    CREATE TABLE reverted (
        change   INTEGER NOT NULL REFERENCES changes (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        target   INTEGER NOT NULL REFERENCES changes (id),
        sum      BLOB NOT NULL DEFAULT x'',
        PRIMARY KEY (change, position)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX reverted_by_target ON reverted (target);

    -- The files of a change, as the inverse change: `base` is the content after the change.
    CREATE TABLE files (
        change      INTEGER NOT NULL REFERENCES changes (id) ON DELETE CASCADE,
        position    INTEGER NOT NULL,
        -- The change's root: the indexes begin with it, because many roots have files with the same path.
        root        TEXT NOT NULL,
        path        TEXT NOT NULL,
        base        TEXT,
        fate        TEXT NOT NULL CHECK (fate = 'keep' OR fate = 'move' OR fate = 'delete'),
        moved_to    TEXT,
        after       TEXT,
        mode        INTEGER,
        executable  INTEGER,
        -- JSON: what is restored besides the content.
        restore     TEXT,
        rung        TEXT,
        splices     BLOB NOT NULL,
        -- The inverse of what others did to the file since our previous change, and the hash that one left.
        gap_splices BLOB,
        gap_hash    TEXT,
        sum         BLOB NOT NULL DEFAULT x'',
        text_sum    BLOB NOT NULL DEFAULT x'',
        PRIMARY KEY (change, position),
        CHECK ((fate = 'move') = (moved_to IS NOT NULL)),
        CHECK ((gap_splices IS NULL) = (gap_hash IS NULL))
    ) STRICT, WITHOUT ROWID;
    -- The rest of the key is the primary key, so entries of a path are in the order of changes.
    CREATE INDEX files_by_path ON files (root, path);
    CREATE INDEX files_by_target ON files (root, moved_to) WHERE moved_to IS NOT NULL;

    -- The content that our last change to a path left there.
    CREATE TABLE last_texts (
        id     INTEGER PRIMARY KEY,
        root   TEXT NOT NULL,
        path   TEXT NOT NULL,
        change INTEGER NOT NULL,
        hash   TEXT NOT NULL,
        text   BLOB NOT NULL,
        sum    BLOB NOT NULL DEFAULT x'',
        UNIQUE (root, path)
    ) STRICT;

    -- The texts that sessions saw, a few for each path. Their ids are in the order of time.
    CREATE TABLE shown (
        id      INTEGER PRIMARY KEY,
        root    TEXT NOT NULL,
        session TEXT NOT NULL,
        path    TEXT NOT NULL,
        hash    TEXT NOT NULL,
        bytes   INTEGER NOT NULL,
        text    BLOB NOT NULL,
        at      INTEGER NOT NULL,
        sum     BLOB NOT NULL DEFAULT x''
    ) STRICT;
    -- Covers all that is asked on every read, so that no text is touched.
    CREATE INDEX shown_by_path ON shown (root, session, path, id, hash, bytes);

    CREATE TABLE proposals (
        id          INTEGER PRIMARY KEY AUTOINCREMENT,
        root        TEXT NOT NULL,
        at          INTEGER NOT NULL,
        session     TEXT NOT NULL,
        agent       TEXT,
        dialect     TEXT NOT NULL,
        tool        TEXT NOT NULL,
        description TEXT,
        why         TEXT NOT NULL,
        diff        TEXT NOT NULL,
        -- JSON, for the report once the proposal is accepted.
        remarks     TEXT NOT NULL,
        file_count  INTEGER NOT NULL,
        -- Whether its text is erased once it is decided.
        private     INTEGER NOT NULL,
        verdict     TEXT NOT NULL DEFAULT 'pending'
                    CHECK (verdict = 'pending' OR verdict = 'accepted' OR verdict = 'rejected'),
        decided_by  TEXT,
        reason      TEXT,
        change      INTEGER REFERENCES changes (id),
        -- JSON: the hunks that are not applied.
        left_out    TEXT,
        sum         BLOB NOT NULL DEFAULT x'',
        text_sum    BLOB NOT NULL DEFAULT x'',
        CHECK ((verdict = 'pending') = (decided_by IS NULL)),
        -- A request for write access becomes no change.
        CHECK (verdict = 'accepted' OR change IS NULL)
    ) STRICT;
    CREATE INDEX proposals_pending ON proposals (root, id) WHERE verdict = 'pending';
    CREATE INDEX proposals_by_change ON proposals (change) WHERE change IS NOT NULL;

    -- The files of a proposed change: `base` is the content before the change.
    CREATE TABLE proposal_files (
        proposal   INTEGER NOT NULL REFERENCES proposals (id) ON DELETE CASCADE,
        position   INTEGER NOT NULL,
        path       TEXT NOT NULL,
        base       TEXT,
        fate       TEXT NOT NULL CHECK (fate = 'keep' OR fate = 'move' OR fate = 'delete'),
        moved_to   TEXT,
        after      TEXT,
        mode       INTEGER,
        executable INTEGER,
        restore    TEXT,
        rung       TEXT,
        splices    BLOB NOT NULL,
        -- JSON, for the report once the proposal is accepted.
        remarks    TEXT,
        sum        BLOB NOT NULL DEFAULT x'',
        text_sum   BLOB NOT NULL DEFAULT x'',
        PRIMARY KEY (proposal, position),
        CHECK ((fate = 'move') = (moved_to IS NOT NULL))
    ) STRICT, WITHOUT ROWID;

    -- What sessions remember: small texts by name.
    CREATE TABLE session_memory (
        root    TEXT NOT NULL,
        session TEXT NOT NULL,
        name    TEXT NOT NULL,
        text    TEXT NOT NULL,
        at      INTEGER NOT NULL,
        sum     BLOB NOT NULL DEFAULT x'',
        PRIMARY KEY (root, session, name)
    ) STRICT, WITHOUT ROWID;

    -- One row per tool call, for statistics: the outcome and the paths, but no text of files.
    CREATE TABLE calls (
        id       INTEGER PRIMARY KEY,
        root     TEXT NOT NULL,
        at       INTEGER NOT NULL,
        session  TEXT NOT NULL,
        agent    TEXT,
        dialect  TEXT NOT NULL,
        tool     TEXT NOT NULL,
        -- Which of the tool's modes was used, if they are counted; a `+` follows if lines were only added.
        variant  TEXT,
        status   TEXT NOT NULL,
        code     TEXT NOT NULL,
        cause    TEXT,
        rung     TEXT,
        classes  TEXT,
        -- The proposal that the call became, so that the outcome can be updated once it is decided.
        proposal INTEGER,
        -- The model that made the call, if the client says so.
        model    TEXT,
        -- The files that the call is about, see `call_paths.rs`.
        paths    TEXT,
        sum      BLOB NOT NULL DEFAULT x''
    ) STRICT;
";

#[derive(Debug, thiserror::Error)]
pub(super) enum SchemaError {
    #[error(transparent)]
    Sqlite(rusqlite::Error),
    #[error("has schema version {0}, but this program needs version {VERSION}")]
    OtherVersion(i64),
    #[error("is not a journal")]
    NotAJournal,
}

impl SchemaError {
    /// What can be done about it.
    pub(super) fn advice(&self) -> &'static str {
        match self {
            Self::OtherVersion(version) if *version > VERSION => {
                "update the program, or move the file away to start a new journal"
            }
            _ => "move the file away to start a new journal",
        }
    }
}

impl From<rusqlite::Error> for SchemaError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotAJournal,
            _ => Self::Sqlite(error),
        }
    }
}

/// Sets a connection up, and creates the tables if the database is empty. Returns whether the database has a log (WAL
/// mode), which some file systems cannot have.
pub(super) fn prepare(connection: &mut Connection, busy_timeout: Duration) -> Result<bool, SchemaError> {
    connection.busy_timeout(busy_timeout)?;
    checksum::register(connection)?;
    // Bytes of deleted rows are overwritten where that costs no extra write.
    connection.pragma_update(None, "secure_delete", "FAST")?;
    // A call uses more statements than the default capacity.
    connection.set_prepared_statement_cache_capacity(64);
    // Makes query plans independent of bound values. Otherwise SQLite prepares a cached statement again
    // whenever its values change.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Checked before anything is written: a database that is not ours is left unchanged. Both queries of the
    // check must see the same state, even while another process creates the tables.
    let snapshot = connection.transaction()?;
    let tables = check_version(&snapshot)?;
    drop(snapshot);
    if tables == Tables::Missing {
        // A small change touches a few bytes on each of several pages, and the log gets whole pages.
        connection.pragma_update(None, "page_size", 2048)?;
    }
    let has_log = use_wal(connection, busy_timeout)?;
    // With a log, `log.rs` flushes what must be flushed.
    connection.pragma_update(None, "synchronous", if has_log { "NORMAL" } else { "FULL" })?;
    connection.pragma_update(None, "foreign_keys", true)?;
    match tables {
        Tables::Missing => create_tables(connection)?,
        Tables::Older => upgrade(connection)?,
        Tables::Present => {}
    }
    Ok(has_log)
}

fn create_tables(connection: &mut Connection) -> Result<(), SchemaError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Checked again: another process may have created the tables meanwhile.
    if check_version(&transaction)? == Tables::Missing {
        transaction.execute_batch(SCHEMA)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    Ok(transaction.commit()?)
}

/// Adds what is new in version 3.
fn upgrade(connection: &mut Connection) -> Result<(), SchemaError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Checked again: another process may have upgraded it meanwhile.
    if check_version(&transaction)? == Tables::Older {
        // The table is recreated, because `doctor` compares its definition with the one above.
        let table = SCHEMA.find("CREATE TABLE calls").map_or("", |at| &SCHEMA[at..]);
        let columns = "id, root, at, session, agent, dialect, tool, variant, status, code, cause, rung, classes, \
                       proposal, sum";
        transaction.execute_batch(&format!(
            "ALTER TABLE calls RENAME TO calls_before;
             {table}
             INSERT INTO calls ({columns}) SELECT {columns} FROM calls_before;
             DROP TABLE calls_before;"
        ))?;
        checksum::extend_call_sums(&transaction)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    Ok(transaction.commit()?)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tables {
    Present,
    Older,
    Missing,
}

fn check_version(connection: &Connection) -> Result<Tables, SchemaError> {
    match connection.pragma_query_value(None, "user_version", |row| row.get(0))? {
        VERSION => Ok(Tables::Present),
        UPGRADED_VERSION => Ok(Tables::Older),
        0 => {
            let tables: i64 =
                connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
            if tables == 0 { Ok(Tables::Missing) } else { Err(SchemaError::NotAJournal) }
        }
        other => Err(SchemaError::OtherVersion(other)),
    }
}

/// Switches to WAL mode, and returns whether that worked. Two processes that create the database at once can block each other here, and this is
/// the one statement for which SQLite ignores the busy timeout.
fn use_wal(connection: &Connection, busy_timeout: Duration) -> rusqlite::Result<bool> {
    let deadline = Instant::now() + busy_timeout;
    loop {
        let set =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match set {
            Err(error) if is_busy(&error) && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            mode => return mode.map(|mode| mode.eq_ignore_ascii_case("wal")),
        }
    }
}

/// Whether a statement failed because another process holds a lock.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(1);

    #[test]
    fn creates_the_tables_once() {
        let mut connection = Connection::open_in_memory().unwrap();
        prepare(&mut connection, TIMEOUT).unwrap();
        prepare(&mut connection, TIMEOUT).unwrap();
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(version, VERSION);
    }

    #[test]
    fn upgrades_version_2_and_leaves_damage_visible() {
        let mut connection = Connection::open_in_memory().unwrap();
        prepare(&mut connection, TIMEOUT).unwrap();
        connection
            .execute_batch(
                "ALTER TABLE calls DROP COLUMN model; ALTER TABLE calls DROP COLUMN paths;
                 PRAGMA user_version = 2;
                 INSERT INTO calls (id, root, at, session, dialect, tool, status, code)
                     VALUES (1, '/r', 1, 's', 'native', 'edit_file', 'applied', 'applied'),
                            (2, '/r', 2, 's', 'native', 'edit_file', 'applied', 'applied');
                 UPDATE calls SET sum = checksum(id, root, at, session, agent, dialect, tool, variant, status, code,
                     cause, rung, classes, proposal) WHERE id = 1;",
            )
            .unwrap();
        prepare(&mut connection, TIMEOUT).unwrap();
        let query =
            format!("SELECT model IS NULL AND paths IS NULL AND {} FROM calls", checksum::CALLS.is_intact());
        let mut select = connection.prepare(&format!("{query} ORDER BY id")).unwrap();
        let intact: Vec<bool> =
            select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!(intact, [true, false]);
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(version, VERSION);
        let mut new = Connection::open_in_memory().unwrap();
        prepare(&mut new, TIMEOUT).unwrap();
        let definition = |connection: &Connection| -> String {
            let query = "SELECT sql FROM sqlite_schema WHERE name = 'calls'";
            connection.query_row(query, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(definition(&connection), definition(&new));
    }

    #[test]
    fn refuses_another_version_and_other_databases() {
        for version in [-1, 1, 9, 99] {
            let mut connection = Connection::open_in_memory().unwrap();
            connection.pragma_update(None, "user_version", version).unwrap();
            let error = prepare(&mut connection, TIMEOUT).unwrap_err();
            assert!(matches!(error, SchemaError::OtherVersion(found) if found == version), "{error}");
        }
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (x)").unwrap();
        assert!(matches!(prepare(&mut connection, TIMEOUT), Err(SchemaError::NotAJournal)));
    }
}
