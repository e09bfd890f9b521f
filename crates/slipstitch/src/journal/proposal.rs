//! Changes that need a review before they are made.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use slipstitch_core::change::{FileChange, LineTotals, PlacedEdit};
use slipstitch_core::plan::ChangeId;
use slipstitch_core::ports::journal::{
    Proposal, ProposalDecision, ProposalId, ProposalNotes, RecordedText, RejectedHunk, StoredProposal,
};

use super::checksum::PROPOSALS;
use super::insert::{self, FileRow};
use super::{DbError, FileOwner, Retention, change_id, query, row_id, splice_codec};

const COLUMNS: &str = "id, at, session, agent, dialect, tool, description, why, diff, verdict, decided_by, \
                       reason, change, remarks, file_count, private, left_out";

/// What the report says about one file once the proposal is accepted.
#[derive(Serialize, Deserialize)]
struct FileRemarks {
    edits: Vec<PlacedEdit>,
    notes: Vec<String>,
    totals: Option<LineTotals>,
}

/// How many bytes the pending proposals of a session may take. Even the smallest journal has room for some.
pub(super) fn space_within(retention: &Retention) -> u64 {
    (retention.max_bytes / 2).max(1 << 20)
}

/// Refuses a proposal if the pending ones of its session would take too much space with it: they are never dropped.
pub(super) fn check_space(
    transaction: &Connection,
    root: &str,
    proposal: &Proposal,
    limit: u64,
) -> Result<(), DbError> {
    let stored: i64 = transaction
        .prepare_cached(
            "SELECT coalesce(sum(length(diff) + (SELECT coalesce(sum(length(splices)), 0) FROM proposal_files
                                                 WHERE proposal = proposals.id)), 0)
             FROM proposals WHERE root = ?1 AND verdict = 'pending' AND session = ?2",
        )?
        .query_row(params![root, proposal.origin.session], |row| row.get(0))?;
    let new: usize = proposal.files.iter().map(|file| file.splices.new_len()).sum();
    let needed = stored.unsigned_abs() + (new + proposal.diff.len()) as u64;
    if needed > limit { Err(DbError::TooManyProposals { needed, limit }) } else { Ok(()) }
}

pub(super) fn insert_proposal(
    transaction: &Connection,
    root: &str,
    at: i64,
    proposal: &Proposal,
) -> Result<ProposalId, DbError> {
    transaction
        .prepare_cached(
            "INSERT INTO proposals (root, at, session, agent, dialect, tool, description, why, diff, remarks, file_count, private)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
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
            insert::to_json(&proposal.notes)?,
            insert::count(proposal.files.len()),
            proposal.text != RecordedText::Kept,
        ])?;
    let id = proposal_id(transaction.last_insert_rowid());
    for (position, file) in (0i64..).zip(&proposal.files) {
        insert_file(transaction, id, position, file)?;
    }
    PROPOSALS.update_sums(transaction, params![FileOwner::Proposal(id).row_id()])?;
    Ok(id)
}

/// Inserts one file, with where its edits are and the notes about them.
fn insert_file(
    transaction: &Connection,
    id: ProposalId,
    position: i64,
    file: &FileChange,
) -> Result<(), DbError> {
    let remarks = FileRemarks { edits: file.edits.clone(), notes: file.notes.clone(), totals: file.totals };
    let row = FileRow {
        owner: FileOwner::Proposal(id),
        position,
        file,
        rung: file.edits.iter().map(|edit| edit.rung).max(),
        splices: splice_codec::encode(&file.splices),
    };
    row.insert(transaction, &[("remarks", &insert::to_json(&remarks)?)])
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
    let query = format!(
        "SELECT {COLUMNS} FROM proposals WHERE root = ?1 AND verdict = 'pending' AND {} ORDER BY id",
        PROPOSALS.is_wholly_intact()
    );
    let mut statement = transaction.prepare_cached(&query)?;
    let rows = statement.query_map([root], read_row)?.collect::<Result<Vec<_>, _>>()?;
    // A damaged proposal is left out, so that the others can be reviewed. Showing or accepting it names the damage.
    let proposals = rows.into_iter().map(|row| row.into_proposed(transaction));
    proposals.filter(|found| !matches!(found, Err(DbError::Damaged(_)))).collect()
}

/// The last decided proposals, newest first.
pub(super) fn decided(
    transaction: &Connection,
    root: &str,
    limit: usize,
) -> Result<Vec<StoredProposal>, DbError> {
    let query = format!(
        "SELECT {COLUMNS} FROM proposals WHERE root = ?1 AND verdict <> 'pending' AND {} ORDER BY id DESC LIMIT ?2",
        PROPOSALS.is_wholly_intact()
    );
    let mut statement = transaction.prepare_cached(&query)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![root, limit], read_row)?.collect::<Result<Vec<_>, _>>()?;
    let proposals = rows.into_iter().map(|row| row.into_proposed(transaction));
    proposals.filter(|found| !matches!(found, Err(DbError::Damaged(_)))).collect()
}

pub(super) fn find(
    transaction: &Connection,
    root: &str,
    id: ProposalId,
) -> Result<Option<StoredProposal>, DbError> {
    let query = format!(
        "SELECT {COLUMNS}, {} AS intact FROM proposals WHERE id = ?1 AND root = ?2",
        PROPOSALS.is_wholly_intact()
    );
    let params = params![FileOwner::Proposal(id).row_id(), root];
    let read = |row: &Row<'_>| Ok(if row.get("intact")? { Some(read_row(row)?) } else { None });
    match transaction.query_row(&query, params, read).optional()? {
        None => Ok(None),
        Some(None) => Err(query::damaged(transaction, FileOwner::Proposal(id))),
        Some(Some(row)) => row.into_proposed(transaction).map(Some),
    }
}

/// The proposal that became this change.
pub(super) fn find_accepted(
    transaction: &Connection,
    root: &str,
    change: ChangeId,
) -> Result<Option<StoredProposal>, DbError> {
    let mut select =
        transaction.prepare_cached("SELECT id FROM proposals WHERE change = ?1 AND root = ?2")?;
    let found: Option<i64> = select.query_row(params![row_id(change), root], |row| row.get(0)).optional()?;
    found.map_or(Ok(None), |id| find(transaction, root, proposal_id(id)))
}

/// Stores the decision on a pending proposal.
pub(super) fn decide(
    transaction: &Connection,
    root: &str,
    id: ProposalId,
    decision: &ProposalDecision,
) -> Result<(), DbError> {
    let (verdict, by, reason, change, left_out) = match decision {
        ProposalDecision::Accepted { by, change, left_out, edited } => {
            let edited = edited.iter().map(|&hunk| StoredHunk { hunk, edited: true, rejected: None });
            let hunks: Vec<StoredHunk> = left_out.iter().map(StoredHunk::from).chain(edited).collect();
            ("accepted", by, None, Some(row_id(*change)), hunks_to_json(&hunks)?)
        }
        ProposalDecision::Rejected { by, reason } => ("rejected", by, reason.as_deref(), None, None),
        ProposalDecision::Granted { by } => ("accepted", by, None, None, None),
    };
    let changed = transaction.execute(
        "UPDATE proposals SET verdict = ?3, decided_by = ?4, reason = ?5, change = ?6, left_out = ?7
         WHERE id = ?1 AND root = ?2 AND verdict = 'pending'",
        params![FileOwner::Proposal(id).row_id(), root, verdict, by, reason, change, left_out],
    )?;
    if changed != 1 {
        return Err(DbError::ProposalNotPending(id));
    }
    PROPOSALS.update_sum(transaction, FileOwner::Proposal(id).row_id())?;
    Ok(())
}

/// Whether a proposal's text must be erased once it is decided.
pub(super) fn is_private(transaction: &Connection, id: ProposalId) -> Result<bool, DbError> {
    let mut select = transaction.prepare_cached("SELECT private FROM proposals WHERE id = ?1")?;
    let found = select.query_row([FileOwner::Proposal(id).row_id()], |row| row.get(0)).optional()?;
    Ok(found.unwrap_or(false))
}

/// Erases the text of a proposal. Its origin and the decision stay.
pub(super) fn erase_text(transaction: &Connection, row: i64) -> Result<(), DbError> {
    transaction.execute("DELETE FROM proposal_files WHERE proposal = ?1", [row])?;
    transaction.execute(
        "UPDATE proposals SET diff = '', remarks = '{}', description = NULL, file_count = 0 WHERE id = ?1",
        [row],
    )?;
    PROPOSALS.update_sums(transaction, params![row])?;
    Ok(())
}

/// Stores which hunks of a pending proposal are rejected.
pub(super) fn reject_hunks(
    transaction: &Connection,
    root: &str,
    id: ProposalId,
    hunks: &[RejectedHunk],
) -> Result<(), DbError> {
    let stored: Vec<StoredHunk> = hunks.iter().map(StoredHunk::from).collect();
    let changed = transaction.execute(
        "UPDATE proposals SET left_out = ?3 WHERE id = ?1 AND root = ?2 AND verdict = 'pending'",
        params![FileOwner::Proposal(id).row_id(), root, hunks_to_json(&stored)?],
    )?;
    if changed != 1 {
        return Err(DbError::ProposalNotPending(id));
    }
    PROPOSALS.update_sum(transaction, FileOwner::Proposal(id).row_id())?;
    Ok(())
}

/// A hunk that is not applied as proposed, in the column `left_out`.
#[derive(Serialize, Deserialize)]
struct StoredHunk {
    hunk: usize,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    edited: bool,
    #[serde(flatten)]
    rejected: Option<Rejection>,
}

/// Who rejected a hunk, and why.
#[derive(Serialize, Deserialize)]
struct Rejection {
    by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl From<&RejectedHunk> for StoredHunk {
    fn from(RejectedHunk { hunk, by, reason }: &RejectedHunk) -> Self {
        let rejected = Rejection { by: by.clone(), reason: reason.clone() };
        Self { hunk: *hunk, edited: false, rejected: Some(rejected) }
    }
}

/// The rejected hunks, and the numbers of the edited ones.
fn split_hunks(stored: Vec<StoredHunk>) -> (Vec<RejectedHunk>, Vec<usize>) {
    let edited = stored.iter().filter(|found| found.edited).map(|found| found.hunk).collect();
    let rejected = |StoredHunk { hunk, rejected, .. }: StoredHunk| {
        rejected.map(|Rejection { by, reason }| RejectedHunk { hunk, by, reason })
    };
    (stored.into_iter().filter_map(rejected).collect(), edited)
}

fn hunks_to_json(hunks: &[StoredHunk]) -> Result<Option<String>, DbError> {
    (!hunks.is_empty()).then(|| insert::to_json(&hunks)).transpose()
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
    file_count: i64,
    left_out: Option<String>,
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
            text: if row.get("private")? { RecordedText::Private } else { RecordedText::Kept },
            diff: row.get("diff")?,
            notes: ProposalNotes::default(),
        },
        notes: row.get("remarks")?,
        verdict: row.get("verdict")?,
        decided_by: row.get("decided_by")?,
        reason: row.get("reason")?,
        change: row.get("change")?,
        file_count: row.get("file_count")?,
        left_out: row.get("left_out")?,
    })
}

impl ProposalRow {
    fn into_proposed(self, transaction: &Connection) -> Result<StoredProposal, DbError> {
        let owner = FileOwner::Proposal(self.id);
        let stored = self.left_out.as_deref().map(|json| parse_remarks(owner, json)).transpose()?;
        let (mut left_out, edited) = split_hunks(stored.unwrap_or_default());
        let decision = match (self.verdict.as_str(), self.decided_by, self.change) {
            ("pending", None, None) => None,
            ("accepted", Some(by), Some(change)) => {
                let left_out = std::mem::take(&mut left_out);
                Some(ProposalDecision::Accepted { by, change: change_id(change), left_out, edited })
            }
            ("accepted", Some(by), None) => Some(ProposalDecision::Granted { by }),
            ("rejected", Some(by), None) => Some(ProposalDecision::Rejected { by, reason: self.reason }),
            (verdict, ..) => return Err(query::invalid(owner, format!("its verdict is `{verdict}`"))),
        };
        let notes = parse_remarks(owner, &self.notes)?;
        let files = files(transaction, owner)?;
        if insert::count(files.len()) != self.file_count {
            return Err(query::damaged(transaction, owner));
        }
        let proposal = Proposal { files, notes, ..self.proposal };
        Ok(StoredProposal { id: self.id, at: self.at, proposal, decision, rejected_hunks: left_out })
    }
}

fn proposal_id(row: i64) -> ProposalId {
    ProposalId(row.unsigned_abs())
}
