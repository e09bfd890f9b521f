//! `slipstitch forget`: remove changes, files or sessions from the journal for good.

use anstyle::AnsiColor;
use clap::Args;
use clap_complete::ArgValueCompleter;
use serde_json::json;
use slipstitch::Workspace;
use slipstitch::core::engine::{pruned_change, unknown_change, unknown_proposal};
use slipstitch::core::outcome::{Failed, Status};
use slipstitch::core::path::FilePath;
use slipstitch::core::plan::{ChangeId, Run};
use slipstitch::core::ports::journal::{Filter, JournalError, ProposalId};
use slipstitch::core::report::Report;
use slipstitch::core::text::display::{escape_controls, join_items};
use slipstitch::journal::{ForgetError, ForgetSelection, Forgotten};

use crate::complete;
use crate::consent::PHRASES;
use crate::error::CommandError;
use crate::file_argument::file_name;
use crate::global::Global;
use crate::ids::{IdRange, parse_ids};
use crate::other_roots::{OtherRoots, follow_ids, root_note};
use crate::output::{CommandOutput, CommandResult, Effect};
use crate::path_filter::PathFilter;
use crate::prompt::{self, Answer};
use crate::render::write_labelled;
use crate::reviewer;
use crate::selection::{expand_ids, expand_proposal_ids};
use crate::streams::Streams;

const EXAMPLES: &str = "\
Examples:
  slipstitch forget c7 p3                  forget a change and a proposal
  slipstitch forget c3..c7
  slipstitch forget --file config.yml      forget everything about a file
  slipstitch forget --session agent        forget everything of a session
  slipstitch forget --file a.txt --dry-run

Erases texts, inverses, diffs, clipboards and proposals from the journal, and the undos and redos
of the forgotten changes. Files are not touched. What is forgotten can't be shown or undone any
more. This needs a terminal, where you are asked first, or review.unattended and `--yes`.";

/// How many ids are listed.
const MAX_IDS: usize = 12;

/// Erase changes, a file or a session from the journal for good
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Forget {
    /// Changes such as c7 or c3..c7, and proposals such as p3; `slipstitch log` and `slipstitch review` list them
    #[arg(value_name = "ID", value_parser = parse_any_ids, conflicts_with = "file", add = ArgValueCompleter::new(complete::recorded_ids))]
    ids: Vec<Ids>,
    /// Forget everything about this file, which may be gone; with `--session`, only what that session did to it
    #[arg(long, value_name = "FILE", value_parser = file_name(), value_hint = clap::ValueHint::AnyPath)]
    file: Option<String>,
    /// Show what would be forgotten without forgetting it
    #[arg(long, short = 'n')]
    dry_run: bool,
    /// Forget without asking
    #[arg(long, short = 'y')]
    yes: bool,
}

#[derive(Debug, Clone, Copy)]
enum Ids {
    Changes(IdRange<ChangeId>),
    Proposals(IdRange<ProposalId>),
}

fn parse_any_ids(text: &str) -> Result<Ids, String> {
    match text.trim().starts_with(['p', 'P']) {
        true => parse_ids(text).map(Ids::Proposals),
        false => parse_ids(text).map(Ids::Changes),
    }
}

impl Forget {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        if self.ids.is_empty() && self.file.is_none() && global.session.is_none() {
            return Err(CommandError::usage(
                "nothing is selected to forget",
                "Name changes or proposals, or use `--file FILE` or `--session NAME`.",
            ));
        }
        if !self.ids.is_empty() && global.session.is_some() {
            return Err(CommandError::usage(
                "ids and `--session` cannot be combined",
                "Name the ids alone, or select the whole session.",
            ));
        }
        let workspace = self.open(global)?;
        let note = root_note(&workspace, global);
        let selection = self.selection(&workspace, global)?;
        // An earlier command has confirmed this.
        let finished_erasing = !self.dry_run && workspace.finish_erasing().map_err(unfinished)?;
        let preview = match forget(&workspace, &selection, Run::Dry) {
            Err(_) if finished_erasing => Forgotten::default(),
            preview => preview?,
        };
        if preview.is_empty() && finished_erasing {
            return Ok(Box::new(ForgetOutput { forgotten: preview, finished_erasing, run: Run::Real, note }));
        }
        if preview.is_empty() {
            let message = "nothing in the journal matches";
            return Err(Report::custom(Status::Refused, "nothing_to_forget", message)
                .hint(self.hint_at_other_roots(&workspace, global))
                .into());
        }
        if self.dry_run {
            return Ok(Box::new(ForgetOutput { forgotten: preview, finished_erasing, run: Run::Dry, note }));
        }
        // The journal is the record of what agents did, so they must not erase it.
        reviewer::for_acceptance(&workspace, None, "what is in the journal can only be forgotten")?;
        let preview_text = || {
            let mut lines = describe(&preview, Run::Dry);
            lines.extend(note.iter().map(|note| format!("note: {note}")));
            prompt::join_lines(&lines)
        };
        let answer = match self.yes {
            true => Answer::Yes,
            false => prompt::ask(preview_text().as_bytes(), "Forget this for good?"),
        };
        if answer == Answer::No {
            return Err(CommandError::declined("nothing was forgotten"));
        }
        if answer == Answer::Nobody {
            let message = "forgetting can't be undone and needs confirmation";
            return Err(Report::custom(Status::Refused, "needs_consent", message)
                .hint("Nothing was forgotten. Check with `--dry-run`, then add `--yes` to confirm it.")
                .into());
        }
        let forgotten = forget(&workspace, &selection, Run::Real)?;
        Ok(Box::new(ForgetOutput { forgotten, finished_erasing, run: Run::Real, note }))
    }

    /// Opens the root that the ids belong to, all of them to the same one.
    fn open(&self, global: &Global) -> Result<Workspace, CommandError> {
        let (changes, proposals) = self.ids_by_kind();
        let of_changes = follow_ids(global.open()?, &changes, global)?;
        let root = of_changes.root().to_owned();
        let workspace = follow_ids(of_changes, &proposals, global)?;
        if !changes.is_empty() && workspace.root() != root {
            return Err(CommandError::usage(
                format!(
                    "the changes are of the root `{}`, and the proposals of `{}`",
                    escape_controls(&root),
                    escape_controls(workspace.root())
                ),
                "Name ids of one root at a time.",
            ));
        }
        Ok(workspace)
    }

    fn ids_by_kind(&self) -> (Vec<IdRange<ChangeId>>, Vec<IdRange<ProposalId>>) {
        let (mut changes, mut proposals) = (Vec::new(), Vec::new());
        for ids in &self.ids {
            match ids {
                Ids::Changes(range) => changes.push(*range),
                Ids::Proposals(range) => proposals.push(*range),
            }
        }
        (changes, proposals)
    }

    fn hint_at_other_roots(&self, workspace: &Workspace, global: &Global) -> String {
        // A path means another file there.
        let session = global.session.clone().filter(|_| self.file.is_none());
        let filter = Filter { session, ..Filter::default() };
        let elsewhere =
            filter.session.is_some().then(|| OtherRoots::of(workspace).describe(&filter)).flatten();
        elsewhere.map_or_else(
            || "`slipstitch log` lists the changes.".into(),
            |roots| format!("Such changes {roots}."),
        )
    }

    fn selection(&self, workspace: &Workspace, global: &Global) -> Result<ForgetSelection, CommandError> {
        let mut selection = ForgetSelection { session: global.session.clone(), ..ForgetSelection::default() };
        let (changes, proposals) = self.ids_by_kind();
        selection.changes = expand_ids(&changes, &Filter::default(), workspace)?;
        if !proposals.is_empty() {
            selection.proposals = expand_proposal_ids(&proposals, workspace)?;
        }
        if let Some(file) = &self.file {
            let names = PathFilter::new(file, workspace, global)?
                .file_names()
                .ok_or_else(|| CommandError::usage(format!("`{file}` is a folder"), "Name a file."))?;
            selection.paths = names.iter().filter_map(|name| FilePath::from_record(name).ok()).collect();
        }
        Ok(selection)
    }
}

fn forget(workspace: &Workspace, selection: &ForgetSelection, run: Run) -> Result<Forgotten, CommandError> {
    match workspace.forget(selection, run) {
        Err(ForgetError::UnknownChange(id)) if workspace.was_pruned(id).map_err(Report::from)? => {
            Err(pruned_change(id).into())
        }
        Err(ForgetError::UnknownChange(id)) => Err(unknown_change(id, &PHRASES).into()),
        Err(ForgetError::UnknownProposal(id)) => Err(unknown_proposal(id).into()),
        Err(ForgetError::Unfinished { forgotten, reason }) => {
            let mut report = unfinished(reason);
            let gone = describe(&forgotten, Run::Real).join(" ");
            report.message = format!("{gone} {}", report.message);
            Err(report.into())
        }
        Err(ForgetError::Journal(error)) => Err(Report::from(error).into()),
        Err(error) => Err(Report::new(Failed::Journal, error.to_string()).into()),
        Ok(forgotten) => Ok(forgotten),
    }
}

/// The report about text that is deleted but not erased.
fn unfinished(error: JournalError) -> Report {
    let message = format!("Deleted text is still in the journal's files: {error}");
    Report::custom(Status::Failed, "unfinished_erasing", message).hint(
        "Run the command again, or `slipstitch gc`, when no other process uses the journal. `slipstitch doctor` says \
         whether anything is left.",
    )
}

/// What was or would be forgotten, in lines.
fn describe(forgotten: &Forgotten, run: Run) -> Vec<String> {
    let verb = match run {
        Run::Real => "Forgot",
        Run::Dry => "Would forget",
    };
    let list = |ids: Vec<String>| match ids.len() {
        count if count > MAX_IDS => format!("{}, and {} more", ids[..MAX_IDS].join(", "), count - MAX_IDS),
        _ => join_items(&ids),
    };
    let named = |ids: &[String], one: &str, many: &str| match ids.len() {
        0 => None,
        1 => Some(format!("1 {one} ({})", ids[0])),
        count => Some(format!("{count} {many} ({})", list(ids.to_vec()))),
    };
    let counted = |count: usize, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {many}")),
    };
    let changes: Vec<String> = forgotten.changes.iter().map(ToString::to_string).collect();
    let proposals: Vec<String> = forgotten.proposals.iter().map(ToString::to_string).collect();
    let parts = [
        named(&changes, "change", "changes"),
        named(&proposals, "proposal", "proposals"),
        counted(forgotten.texts, "stored file text", "stored file texts"),
        counted(forgotten.memories, "session record", "session records"),
        counted(forgotten.calls, "call record", "call records"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let mut lines = vec![format!("{verb} {}.", parts.join(", "))];
    if !forgotten.related.is_empty() {
        let related = list(forgotten.related.iter().map(ToString::to_string).collect());
        lines.push(format!(
            "Other changes of the same files may contain the same text: {related}. `--file` forgets all of them."
        ));
    }
    lines.iter().map(|line| escape_controls(line)).collect()
}

struct ForgetOutput {
    forgotten: Forgotten,
    /// Whether text that an earlier command had left was erased.
    finished_erasing: bool,
    run: Run,
    /// Which root the ids belong to, if it is not the project around the working folder.
    note: Option<String>,
}

impl CommandOutput for ForgetOutput {
    fn effect(&self) -> Effect {
        if self.run == Run::Real { Effect::Other } else { Effect::Nothing }
    }

    fn json(&self) -> serde_json::Result<String> {
        let mut object = serde_json::to_value(&self.forgotten)?;
        object["finished_erasing"] = json!(self.finished_erasing);
        object["dry_run"] = json!(self.run == Run::Dry);
        serde_json::to_string(&object)
    }

    fn write(&self, streams: &mut Streams) {
        if self.finished_erasing {
            streams
                .out
                .line("Erased what an earlier `slipstitch forget` had to leave in the journal's files.");
        }
        if self.forgotten.is_empty() {
            return;
        }
        for line in describe(&self.forgotten, self.run) {
            streams.out.line(line);
        }
        if let Some(note) = &self.note {
            write_labelled(AnsiColor::Cyan, "note", note, &mut streams.err);
        }
    }
}
