//! `slipstitch review --plain`: decides proposals line by line, like `git add -p`. It needs no cursor control, so it works over
//! slow connections and with a screen reader.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};

use slipstitch::core::engine::{HunkVerdict, Verdict};
use slipstitch::core::outcome::Status;
use slipstitch::core::ports::journal::{ProposalHunk, StoredProposal};
use slipstitch::core::report::{ConflictReport, Report};
use slipstitch::core::text::display::escape_text;
use slipstitch::{Reviewer, Workspace};

use super::describe_request;
use crate::output::CommandResult;

const HELP: &str = "\
  a  accept this hunk
  r  reject this hunk, with a reason for the agent
  e  edit this hunk in $EDITOR, and accept it as you wrote it
  A  accept this hunk and all that follow
  R  reject the whole proposal, with a reason
  s  skip this proposal; it keeps waiting
  q  stop
  ?  this help
At the question for a reason, Ctrl-D goes back (on Windows: Ctrl-Z, Enter).";

/// What someone answered about a hunk.
enum Reply {
    Accept,
    Reject(Option<String>),
    /// This is written instead.
    Edit(String),
    AcceptRest,
    RejectAll(Option<String>),
    Skip,
    Stop,
}

/// Goes through the proposals one by one.
///
/// `elsewhere` names other roots of the project with proposals.
pub(super) fn run(
    workspace: &Workspace,
    pending: &[StoredProposal],
    by: &Reviewer,
    elsewhere: Option<String>,
) -> CommandResult {
    // Calls wait for a decision while someone is here.
    let _attended = workspace.attend_review();
    let mut dialog = Dialog { input: std::io::stdin().lock(), output: std::io::stderr() };
    if let Some(roots) = elsewhere {
        dialog.say(&format!("note: proposals {roots}"));
    }
    let mut decided = 0;
    for (index, found) in pending.iter().enumerate() {
        dialog.say(&heading(found, index + 1, pending.len()));
        for note in slipstitch_review::notes_about(workspace, found) {
            dialog.say(&format!("  {note}"));
        }
        match dialog.ask_about(workspace, found) {
            Some(Answer::Verdict(verdict)) => {
                let report = workspace.decide(found.id, by, &verdict);
                decided += usize::from(report.is_success());
                dialog.say(&escape_text(&report.message));
                let conflicts = report.conflicts.iter().flat_map(ConflictReport::lines);
                conflicts.for_each(|line| dialog.say(&escape_text(&line)));
                report
                    .hint
                    .iter()
                    .filter(|_| report.is_error())
                    .for_each(|hint| dialog.say(&escape_text(hint)));
            }
            Some(Answer::Reject(reason)) => {
                let report = workspace.reject(found.id, by, reason.as_deref());
                decided += usize::from(report.is_success());
                dialog.say(&escape_text(&report.message));
            }
            Some(Answer::Skip) => {}
            None => break,
        }
    }
    let message = format!("Decided {decided} of {} proposals.", pending.len());
    dialog.say(&message);
    Ok(Box::new(Report::custom(Status::Shown, "shown", message)))
}

/// What someone decided about a proposal.
enum Answer {
    Verdict(Verdict),
    Reject(Option<String>),
    Skip,
}

struct Dialog<I, O> {
    input: I,
    output: O,
}

impl<I: BufRead, O: Write> Dialog<I, O> {
    fn say(&mut self, text: &str) {
        // A closed terminal is noticed when the next answer is read.
        let _ = writeln!(self.output, "{text}");
    }

    /// Reads one line; `None` at the end of the input.
    fn ask(&mut self, question: &str) -> Option<String> {
        let _ = write!(self.output, "{question} ").and_then(|()| self.output.flush());
        let mut line = String::new();
        match self.input.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim().to_owned()),
        }
    }

    /// Asks why something is rejected; `None` if the input ends instead, which takes the rejection back.
    fn ask_reason(&mut self) -> Option<Option<String>> {
        let Some(reason) = self.ask("Reason for the agent (optional):") else {
            // The cursor is still on the line of the question.
            self.say("\nNothing was rejected.");
            return None;
        };
        Some(Some(reason).filter(|reason| !reason.is_empty()))
    }

    /// Asks about each hunk; `None` to stop.
    fn ask_about(&mut self, workspace: &Workspace, found: &StoredProposal) -> Option<Answer> {
        let hunks = found.proposal.hunks();
        let mut verdicts = BTreeMap::new();
        if hunks.is_empty() {
            let edit = || Err("there are no lines to edit".to_owned());
            return Some(match self.ask_reply("[a,r,s,q,?]", edit)? {
                Reply::Accept | Reply::AcceptRest | Reply::Edit(_) => Answer::Verdict(Verdict::accept_all()),
                Reply::Reject(reason) | Reply::RejectAll(reason) => Answer::Reject(reason),
                Reply::Skip => Answer::Skip,
                Reply::Stop => return None,
            });
        }
        let is_open =
            |hunk: &&ProposalHunk| found.rejected_hunks.iter().all(|rejected| rejected.hunk != hunk.number);
        for hunk in hunks.iter().filter(is_open) {
            self.say(&escape_text(found.proposal.hunk_diff(hunk)));
            let question = format!("Hunk {} of {} [a,r,e,A,R,s,q,?]", hunk.number, hunks.len());
            let edit = || slipstitch_review::edit_hunk(workspace, &found.proposal, hunk);
            match self.ask_reply(&question, edit)? {
                Reply::Accept => drop(verdicts.insert(hunk.number, HunkVerdict::Accept)),
                Reply::Reject(reason) => drop(verdicts.insert(hunk.number, HunkVerdict::Reject { reason })),
                Reply::Edit(text) => drop(verdicts.insert(hunk.number, HunkVerdict::Edit { text })),
                Reply::AcceptRest => break,
                Reply::RejectAll(reason) => return Some(Answer::Reject(reason)),
                Reply::Skip => return Some(Answer::Skip),
                Reply::Stop => return None,
            }
        }
        Some(Answer::Verdict(Verdict { hunks: verdicts, others: HunkVerdict::Accept }))
    }

    fn ask_reply(
        &mut self,
        question: &str,
        edit: impl Fn() -> Result<Option<String>, String>,
    ) -> Option<Reply> {
        loop {
            return Some(match self.ask(question)?.as_str() {
                "a" => Reply::Accept,
                "r" => match self.ask_reason() {
                    Some(reason) => Reply::Reject(reason),
                    None => continue,
                },
                "e" => match edit() {
                    Ok(Some(text)) => Reply::Edit(text),
                    Ok(None) => {
                        self.say("The hunk is as it was.");
                        continue;
                    }
                    Err(message) => {
                        self.say(&escape_text(&message));
                        continue;
                    }
                },
                "A" => Reply::AcceptRest,
                "R" => match self.ask_reason() {
                    Some(reason) => Reply::RejectAll(reason),
                    None => continue,
                },
                "s" => Reply::Skip,
                "q" => Reply::Stop,
                _ => {
                    self.say(HELP);
                    continue;
                }
            });
        }
    }
}

fn heading(found: &StoredProposal, number: usize, count: usize) -> String {
    let proposal = &found.proposal;
    let who = proposal.origin.agent.as_ref().unwrap_or(&proposal.origin.session);
    let description = proposal.description.as_ref().map_or(String::new(), |text| format!(": {text}"));
    let lines = [
        format!("\nProposal {} ({number} of {count}) by {who}{description}", found.id),
        format!("  {}", describe_request(proposal)),
        format!("  waits because {}", super::reason(proposal)),
    ];
    lines.map(|line| escape_text(&line)).join("\n")
}
