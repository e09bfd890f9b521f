//! Changes that need a review before they are made.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use slipstitch_core::change::{FileChange, LineTotals, PlacedEdit};
use slipstitch_core::ports::journal::{
    Proposal, ProposalDecision, ProposalId, ProposalNotes, StoredProposal,
};

use super::{DbError, FileOwner, change_id, insert, query, row_id};

const COLUMNS: &str = "id, at, session, agent, dialect, tool, description, why, diff, verdict, decided_by, \
                       reason, change, remarks";

/// What the report says about one file once the proposal is accepted.
#[derive(Serialize, Deserialize)]
struct FileRemarks {
    edits: Vec<PlacedEdit>,
    notes: Vec<String>,
    totals: Option<LineTotals>,
}

pub(super) fn insert_proposal(
    transaction: &Connection,
    root: &str,
    at: i64,
    proposal: &Proposal,
) -> Result<ProposalId, DbError> {
    transaction
        .prepare_cached(
            "INSERT INTO proposals (root, at, session, agent, dialect, tool, description, why, diff, remarks)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(params![
            root,
            at,
            proposal.origin.session,
            proposal.origin.agent,
            proposal.origin.dialect,
            proposal.origin.tool,
            proposal.description,
            proposal.reason,
            proposal.diff,
            to_json(&proposal.notes)?,
        ])?;
    let id = proposal_id(transaction.last_insert_rowid());
    for (position, file) in (0i64..).zip(&proposal.files) {
        let rung = file.edits.iter().map(|edit| edit.rung).max();
        insert::insert_file(transaction, FileOwner::Proposal(id), position, file, rung)?;
        set_remarks(transaction, id, position, file)?;
    }
    Ok(id)
}

/// Stores where the edits of a file are, and the notes about them.
fn set_remarks(
    transaction: &Connection,
    id: ProposalId,
    position: i64,
    file: &FileChange,
) -> Result<(), DbError> {
    let remarks = FileRemarks { edits: file.edits.clone(), notes: file.notes.clone(), totals: file.totals };
    transaction
        .prepare_cached("UPDATE proposal_files SET remarks = ?3 WHERE proposal = ?1 AND position = ?2")?
        .execute(params![FileOwner::Proposal(id).row_id(), position, to_json(&remarks)?])?;
    Ok(())
}

fn to_json(value: &impl Serialize) -> Result<String, DbError> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()).into())
}

fn parse_remarks<T: for<'a> Deserialize<'a>>(owner: FileOwner, json: &str) -> Result<T, DbError> {
    serde_json::from_str(json).map_err(|error| query::invalid(owner, format!("its notes: {error}")))
}

/// The files of a proposal, with their remarks.
fn files(transaction: &Connection, owner: FileOwner) -> Result<Vec<FileChange>, DbError> {
    let files = query::files(transaction, owner)?;
    let mut statement = transaction
        .prepare_cached("SELECT remarks FROM proposal_files WHERE proposal = ?1 ORDER BY position")?;
    let remarks = statement.query_map([owner.row_id()], |row| row.get::<_, String>(0))?;
    let remarks = remarks.collect::<Result<Vec<_>, _>>()?;
    files
        .into_iter()
        .zip(remarks)
        .map(|(file, remarks)| {
            let FileRemarks { edits, notes, totals } = parse_remarks(owner, &remarks)?;
            Ok(FileChange { edits, notes, totals, ..file.inverse })
        })
        .collect()
}

/// The pending proposals, oldest first.
pub(super) fn pending(transaction: &Connection, root: &str) -> Result<Vec<StoredProposal>, DbError> {
    let query =
        format!("SELECT {COLUMNS} FROM proposals WHERE root = ?1 AND verdict = 'pending' ORDER BY id");
    let mut statement = transaction.prepare_cached(&query)?;
    let rows = statement.query_map([root], read_row)?.collect::<Result<Vec<_>, _>>()?;
    rows.into_iter().map(|row| row.into_proposed(transaction)).collect()
}

pub(super) fn find(
    transaction: &Connection,
    root: &str,
    id: ProposalId,
) -> Result<Option<StoredProposal>, DbError> {
    let query = format!("SELECT {COLUMNS} FROM proposals WHERE id = ?1 AND root = ?2");
    let params = params![FileOwner::Proposal(id).row_id(), root];
    let row = transaction.query_row(&query, params, read_row).optional()?;
    row.map(|row| row.into_proposed(transaction)).transpose()
}

/// Stores the decision on a pending proposal.
pub(super) fn decide(
    transaction: &Connection,
    root: &str,
    id: ProposalId,
    decision: &ProposalDecision,
) -> Result<(), DbError> {
    let (verdict, by, reason, change) = match decision {
        ProposalDecision::Accepted { by, change } => ("accepted", by, None, Some(row_id(*change))),
        ProposalDecision::Granted { by } => ("accepted", by, None, None),
        ProposalDecision::Rejected { by, reason } => ("rejected", by, reason.as_deref(), None),
    };
    let changed = transaction.execute(
        "UPDATE proposals SET verdict = ?3, decided_by = ?4, reason = ?5, change = ?6
         WHERE id = ?1 AND root = ?2 AND verdict = 'pending'",
        params![FileOwner::Proposal(id).row_id(), root, verdict, by, reason, change],
    )?;
    if changed == 1 { Ok(()) } else { Err(DbError::ProposalNotPending(id)) }
}

/// A row of `proposals`.
struct ProposalRow {
    id: ProposalId,
    at: i64,
    proposal: Proposal,
    notes: String,
    verdict: String,
    decided_by: Option<String>,
    reason: Option<String>,
    change: Option<i64>,
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<ProposalRow> {
    Ok(ProposalRow {
        id: proposal_id(row.get("id")?),
        at: row.get("at")?,
        proposal: Proposal {
            origin: query::read_origin(row)?,
            description: row.get("description")?,
            reason: row.get("why")?,
            files: Vec::new(),
            diff: row.get("diff")?,
            notes: ProposalNotes::default(),
        },
        notes: row.get("remarks")?,
        verdict: row.get("verdict")?,
        decided_by: row.get("decided_by")?,
        reason: row.get("reason")?,
        change: row.get("change")?,
    })
}

impl ProposalRow {
    fn into_proposed(self, transaction: &Connection) -> Result<StoredProposal, DbError> {
        let owner = FileOwner::Proposal(self.id);
        let decision = match (self.verdict.as_str(), self.decided_by, self.change) {
            ("pending", None, None) => None,
            ("accepted", Some(by), Some(change)) => {
                Some(ProposalDecision::Accepted { by, change: change_id(change) })
            }
            ("accepted", Some(by), None) => Some(ProposalDecision::Granted { by }),
            ("rejected", Some(by), None) => Some(ProposalDecision::Rejected { by, reason: self.reason }),
            (verdict, ..) => return Err(query::invalid(owner, format!("its verdict is `{verdict}`"))),
        };
        let notes = parse_remarks(owner, &self.notes)?;
        let proposal = Proposal { files: files(transaction, owner)?, notes, ..self.proposal };
        Ok(StoredProposal { id: self.id, at: self.at, proposal, decision })
    }
}

fn proposal_id(row: i64) -> ProposalId {
    ProposalId(row.unsigned_abs())
}
