//! What was recorded with other roots. An agent's server has the folder as its root that it was started in, a person's commands
//! have the project around it, and both use the same journal.

use std::path::{MAIN_SEPARATOR, Path};

use rusqlite::{Connection, OptionalExtension, params};
use slipstitch_core::plan::ChangeId;
use slipstitch_core::ports::journal::ProposalId;

use super::{DbError, FileOwner, row_id};
use crate::os_path::path_to_text;

/// Queries for a root that has changes or pending proposals: at least `?1`, and less than `?2`.
const ROOTS: [&str; 2] = [
    "SELECT min(root) FROM changes INDEXED BY changes_by_root WHERE root >= ?1 AND root < ?2",
    "SELECT min(root) FROM proposals INDEXED BY proposals_pending
     WHERE root >= ?1 AND root < ?2 AND verdict = 'pending'",
];

/// The root that a change was recorded with, unless it is gone.
pub(super) fn of_change(connection: &Connection, id: ChangeId) -> Result<Option<String>, DbError> {
    let mut select = connection.prepare_cached("SELECT root FROM changes WHERE id = ?1 AND forgotten = 0")?;
    Ok(select.query_row([row_id(id)], |row| row.get(0)).optional()?)
}

/// The root that a proposal was recorded with, unless it is gone.
pub(super) fn of_proposal(connection: &Connection, id: ProposalId) -> Result<Option<String>, DbError> {
    let mut select = connection.prepare_cached("SELECT root FROM proposals WHERE id = ?1")?;
    Ok(select.query_row([FileOwner::Proposal(id).row_id()], |row| row.get(0)).optional()?)
}

/// The other roots around `root` and inside it that have changes or pending proposals, sorted.
pub(super) fn around_and_inside(connection: &Connection, root: &str) -> Result<Vec<String>, DbError> {
    let mut found = Vec::new();
    for folder in Path::new(root).ancestors().skip(1) {
        let folder = path_to_text(folder).into_owned();
        let next = format!("{folder}\0");
        if first_root(connection, &folder, &next)?.is_some() {
            found.push(folder);
        }
    }
    found.reverse();
    let separator = MAIN_SEPARATOR.to_string();
    let start = format!("{}{separator}", root.strip_suffix(&*separator).unwrap_or(root));
    // One lookup for each root: a root can have any number of rows.
    let (mut from, end) = (start.clone(), format!("{start}\u{10ffff}"));
    while let Some(inside) = first_root(connection, &from, &end)? {
        from = format!("{inside}\0");
        found.push(inside);
    }
    Ok(found)
}

fn first_root(connection: &Connection, from: &str, to: &str) -> Result<Option<String>, DbError> {
    let mut first: Option<String> = None;
    for query in ROOTS {
        let mut select = connection.prepare_cached(query)?;
        let found: Option<String> = select.query_row(params![from, to], |row| row.get(0))?;
        first = first.into_iter().chain(found).min();
    }
    Ok(first)
}
