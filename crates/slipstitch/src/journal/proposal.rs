//! Changes that wait for a person.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use slipstitch_core::change::{FileChange, Placed, Totals};
use slipstitch_core::ports::journal::{
    Origin, Proposal, ProposalDecision, ProposalId, ProposalNotes, StoredProposal,
};

use super::{Fault, Owner, id_of, query, record, row_of};

const COLUMNS: &str = "id, at, session, agent, dialect, tool, description, why, diff, verdict, settled_by, \
                       reason, change, remarks";

/// What is said of one file of a proposal once it is made.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct FileRemarks {
    edits: Vec<Placed>,
    notes: Vec<String>,
    totals: Option<Totals>,
}

pub(super) fn insert(
    transaction: &Connection,
    root: &str,
    at: i64,
    proposal: &Proposal,
) -> Result<ProposalId, Fault> {
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
            json(&proposal.notes)?,
        ])?;
    let id = proposal_of(transaction.last_insert_rowid());
    for (position, file) in (0i64..).zip(&proposal.files) {
        let rung = file.edits.iter().map(|edit| edit.rung).max();
        record::insert_file(transaction, Owner::Proposal(id), position, file, rung)?;
        add_remarks(transaction, id, position, file)?;
    }
    Ok(id)
}

/// Adds where the edits of a file went, and what is said of that.
fn add_remarks(
    transaction: &Connection,
    id: ProposalId,
    position: i64,
    file: &FileChange,
) -> Result<(), Fault> {
    let remarks = FileRemarks { edits: file.edits.clone(), notes: file.notes.clone(), totals: file.totals };
    transaction
        .prepare_cached("UPDATE proposal_files SET remarks = ?3 WHERE proposal = ?1 AND position = ?2")?
        .execute(params![Owner::Proposal(id).row(), position, json(&remarks)?])?;
    Ok(())
}

fn json(value: &impl Serialize) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()).into())
}

/// Reads remarks; a proposal of an older program has none.
fn remarks<T: Default + for<'a> Deserialize<'a>>(owner: Owner, text: Option<&str>) -> Result<T, Fault> {
    match text {
        None => Ok(T::default()),
        Some(text) => {
            serde_json::from_str(text).map_err(|error| query::damaged(owner, format!("its remarks: {error}")))
        }
    }
}

/// The files of a proposal with what is said of them.
fn files(transaction: &Connection, owner: Owner) -> Result<Vec<FileChange>, Fault> {
    let files = query::files(transaction, owner)?;
    let mut statement = transaction
        .prepare_cached("SELECT remarks FROM proposal_files WHERE proposal = ?1 ORDER BY position")?;
    let said = statement.query_map([owner.row()], |row| row.get::<_, Option<String>>(0))?;
    let said = said.collect::<Result<Vec<_>, _>>()?;
    files
        .into_iter()
        .zip(said)
        .map(|(file, said)| {
            let FileRemarks { edits, notes, totals } = remarks(owner, said.as_deref())?;
            Ok(FileChange { edits, notes, totals, ..file.inverse })
        })
        .collect()
}

/// The proposals that nobody has decided on, oldest first.
pub(super) fn waiting(transaction: &Connection, root: &str) -> Result<Vec<StoredProposal>, Fault> {
    let query =
        format!("SELECT {COLUMNS} FROM proposals WHERE root = ?1 AND verdict = 'waiting' ORDER BY id");
    let mut statement = transaction.prepare_cached(&query)?;
    let found = statement.query_map([root], found)?.collect::<Result<Vec<_>, _>>()?;
    found.into_iter().map(|found| found.whole(transaction)).collect()
}

pub(super) fn one(
    transaction: &Connection,
    root: &str,
    id: ProposalId,
) -> Result<Option<StoredProposal>, Fault> {
    let query = format!("SELECT {COLUMNS} FROM proposals WHERE id = ?1 AND root = ?2");
    let row = Owner::Proposal(id).row();
    let found = transaction.query_row(&query, params![row, root], found).optional()?;
    found.map(|found| found.whole(transaction)).transpose()
}

pub(super) fn settle(
    transaction: &Connection,
    root: &str,
    id: ProposalId,
    settled: &ProposalDecision,
) -> Result<(), Fault> {
    let (verdict, by, reason, change) = match settled {
        ProposalDecision::Accepted { by, change } => ("accepted", by, None, Some(row_of(*change))),
        ProposalDecision::Rejected { by, reason } => ("rejected", by, reason.as_deref(), None),
    };
    let changed = transaction.execute(
        "UPDATE proposals SET verdict = ?3, settled_by = ?4, reason = ?5, change = ?6
         WHERE id = ?1 AND root = ?2 AND verdict = 'waiting'",
        params![Owner::Proposal(id).row(), root, verdict, by, reason, change],
    )?;
    if changed == 1 { Ok(()) } else { Err(Fault::NotWaiting(id)) }
}

/// A row of `proposals` as it is written there.
struct Found {
    id: ProposalId,
    at: i64,
    proposal: Proposal,
    remarks: Option<String>,
    verdict: String,
    by: Option<String>,
    reason: Option<String>,
    change: Option<i64>,
}

fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    Ok(Found {
        id: proposal_of(row.get("id")?),
        at: row.get("at")?,
        proposal: Proposal {
            origin: Origin {
                session: row.get("session")?,
                agent: row.get("agent")?,
                dialect: row.get("dialect")?,
                tool: row.get("tool")?,
            },
            description: row.get("description")?,
            reason: row.get("why")?,
            files: Vec::new(),
            diff: row.get("diff")?,
            notes: ProposalNotes::default(),
        },
        remarks: row.get("remarks")?,
        verdict: row.get("verdict")?,
        by: row.get("settled_by")?,
        reason: row.get("reason")?,
        change: row.get("change")?,
    })
}

impl Found {
    fn whole(self, transaction: &Connection) -> Result<StoredProposal, Fault> {
        let owner = Owner::Proposal(self.id);
        let settled = match (self.verdict.as_str(), self.by, self.change) {
            ("waiting", None, None) => None,
            ("accepted", Some(by), Some(change)) => {
                Some(ProposalDecision::Accepted { by, change: id_of(change) })
            }
            ("rejected", Some(by), None) => Some(ProposalDecision::Rejected { by, reason: self.reason }),
            (verdict, ..) => return Err(query::damaged(owner, format!("its verdict is `{verdict}`"))),
        };
        let remarks = remarks(owner, self.remarks.as_deref())?;
        let proposal = Proposal { files: files(transaction, owner)?, notes: remarks, ..self.proposal };
        Ok(StoredProposal { id: self.id, at: self.at, proposal, decision: settled })
    }
}

fn proposal_of(row: i64) -> ProposalId {
    ProposalId(row.unsigned_abs())
}
