//! The stages in order, on one page.
//!
//! `Request → Plan → ChangeSet → Checked → Approved → Receipt → Report`

mod candidates;
mod fetch;
mod look;
mod mode;
mod rebase;
mod review;
mod undo;

use fetch::unfetched;
pub use mode::{recall_mode, remember_mode};
pub use review::unknown_proposal;
use serde_json::Value;
pub use undo::{forgotten_change, unknown_change};

use crate::approve::{Approver, Declined, approve};
use crate::commit::{CLIPBOARD, Label, clipboard_memory, commit};
use crate::dialect::{DIALECTS, Dialect, ParseError, Told, Tool};
use crate::guard::{self, Policy, Refusal, stale};
use crate::history::{self, Foreign};
use crate::journal::{Journal, JournalError, Kind, Origin, Remarks, Summary};
use crate::means::Means;
use crate::path::FilePath;
use crate::plan::{EditPlan, Operation, Plan, Run};
use crate::report::{CONFLICT, FileReport, Report, Status, plain, unified};
use crate::resolve::{ResolveError, Snapshots, resolve_telling};
use crate::settings::{Mode, Settings};
use crate::snapshot::{ContentHash, EncodingRule, Snapshot};
use crate::workspace::{Seen, Workspace, WorkspaceError};

/// How often an edit is tried again when someone else writes the file in between.
const TRIES: usize = 8;

/// A tool call as it came in.
#[derive(Debug, Clone)]
pub struct Request {
    /// The dialect's name.
    pub dialect: String,
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
}

/// The answer to a tool call.
#[derive(Debug, Clone)]
pub struct Answer {
    /// In the dialect's words.
    pub text: String,
    /// As data, where the dialect's answer is data.
    pub payload: Option<Value>,
    /// In the form that is the same for all dialects.
    pub report: Report,
}

/// Where and for whom the stages work.
pub struct Engine<'a> {
    /// The files.
    pub files: &'a dyn Workspace,
    /// The memory of changes.
    pub journal: &'a dyn Journal,
    /// The limits.
    pub policy: &'a Policy,
    /// What the person in charge has set for the dialects.
    pub settings: &'a Settings,
    /// What the session may do.
    pub mode: Mode,
    /// How files' encodings are found out.
    pub encoding: EncodingRule,
    /// The session that calls.
    pub session: &'a str,
    /// The program that calls, as it calls itself.
    pub agent: Option<&'a str>,
}

impl Engine<'_> {
    /// Answers a tool call.
    pub fn call(&self, request: Request, who: &mut dyn Approver) -> Answer {
        let found =
            dialect(&request.dialect).and_then(|dialect| Ok((dialect, tool(dialect, &request.tool)?)));
        let (dialect, tool) = match found {
            Ok(found) => found,
            Err(report) => return Answer { text: plain(&report), payload: None, report },
        };
        let parse = |arguments| dialect.parse(tool, arguments, self.files.root_names(), self.settings);
        let plan = parse(request.arguments.clone());
        let looks = tool.effect.leaves_files() || plan.as_ref().is_ok_and(Plan::only_looks);
        let report = match plan {
            _ if self.mode == Mode::Restricted && !looks => self.restricted(dialect, tool),
            Ok(Plan::Fetch(fetch)) => match self.fetched(&fetch, request.arguments.clone()) {
                Ok(arguments) => match parse(arguments) {
                    Ok(plan) => self.run(plan, self.origin(dialect, tool), who),
                    Err(error) => self.not_planned(error, &(dialect.means)(tool)),
                },
                Err(report) => *report,
            },
            Ok(plan) => self.run(plan, self.origin(dialect, tool), who),
            Err(error) => self.not_planned(error, &(dialect.means)(tool)),
        };
        let words = (dialect.render)(&Told { tool, call: &request.arguments, report: &report });
        Answer { text: words.text, payload: words.payload, report }
    }

    /// What a call is answered that would write where the session may only look.
    fn restricted(&self, dialect: &Dialect, tool: &Tool) -> Report {
        let message = match dialect.restricted {
            Some(message) => message.to_owned(),
            None => format!("`{}` is disabled in Restricted mode, which allows looking only", tool.name),
        };
        Report::new(Status::Refused, "restricted_mode", message).hint(format!(
            "Ask the person in charge for the unrestricted mode; they can allow it with \
             `slipstitch mode unrestricted --session {}`.",
            self.session
        ))
    }

    /// What a call that cannot become a plan is answered, with the file that it is about.
    fn not_planned(&self, mut error: ParseError, means: &Means) -> Report {
        let (path, version) = (error.path.take(), error.version.take());
        let Some((path, Ok(seen))) = path.map(|path| (path.clone(), self.snapshot(&path))) else {
            return error.into();
        };
        let stale = version.and_then(|version| stale::differs(&version, &path, seen.as_ref()));
        let mut report = match stale {
            Some(refusal) => Report::refused(refusal, means),
            None => error.into(),
        };
        report.files.extend(seen.map(|snapshot| FileReport::of(&path, &snapshot)));
        report
    }

    /// Carries out a plan, however it was made.
    pub fn run(&self, plan: Plan, origin: Origin, who: &mut dyn Approver) -> Report {
        match plan {
            Plan::Edit(plan) => self.edit(&plan, origin, who),
            Plan::Read(plan) => self.read(&plan),
            Plan::List(folder) => self.list(folder.as_ref()),
            Plan::Info(path) => self.info(&path),
            Plan::Undo(plan) => self.undo(&plan, origin, who),
            Plan::ModeUpgrade { reason } => self.upgrade(reason.as_deref(), who),
            Plan::Fetch(fetch) => unfetched(&fetch),
        }
    }

    fn origin(&self, dialect: &Dialect, tool: &Tool) -> Origin {
        Origin {
            session: self.session.into(),
            agent: self.agent.map(Into::into),
            dialect: dialect.name.into(),
            tool: tool.name.into(),
        }
    }

    /// An edit whose text proves its place is made on what the file has now, even if someone else
    /// wrote it a moment ago.
    fn edit(&self, plan: &EditPlan, origin: Origin, who: &mut dyn Approver) -> Report {
        let with_choice;
        let plan = match self.chosen(plan) {
            Ok(Some(plan)) => {
                with_choice = plan;
                &with_choice
            }
            Ok(None) => plan,
            Err(report) => return *report,
        };
        self.forget_candidates(plan);
        let with_clipboards;
        let plan = match self.recall_clipboards(plan) {
            Ok(Some(plan)) => {
                with_clipboards = plan;
                &with_clipboards
            }
            Ok(None) => plan,
            Err(error) => return error.into(),
        };
        let mut tries = 1;
        loop {
            let report = self.try_edit(plan, origin.clone(), who).unwrap_or_else(|report| report);
            if report.code != CONFLICT || tries == TRIES {
                return report.warn_first(&plan.warnings);
            }
            tries += 1;
        }
    }

    fn try_edit(&self, plan: &EditPlan, origin: Origin, who: &mut dyn Approver) -> Result<Report, Report> {
        let seen = self.look_at(plan)?;
        self.edit_seen(plan, &seen, origin, who).map_err(|report| report.with_files(plan, &seen))
    }

    fn edit_seen(
        &self,
        plan: &EditPlan,
        seen: &Snapshots,
        origin: Origin,
        who: &mut dyn Approver,
    ) -> Result<Report, Report> {
        let means = Means::of(&origin);
        let refused = |refusal| Report::refused(refusal, &means);
        let carried = self.carried(plan, seen)?;
        let (plan, changes) = match &carried {
            Some(carried) => (&carried.plan, carried.changes.clone()),
            None => {
                guard::admit(plan, seen, self.policy).map_err(refused)?;
                let found = resolve_telling(plan, seen, &mut |files| who.placed(files, plan.files.len()));
                (plan, found.map_err(|error| self.unresolved(error, plan, seen, means))?)
            }
        };
        let diff = unified(&changes, seen, plan.manner.context);
        let (memory, notes) = (clipboard_memory(&changes), changes.notes().to_vec());
        let checked = match guard::check(changes, plan, seen, self.policy) {
            // A copy changes no file; the text is remembered all the same.
            Err(Refusal::NoChange) if !memory.is_empty() && plan.run == Run::Real => {
                self.journal.remember(&origin.session, &memory)?;
                return Err(refused(Refusal::NoChange).warn_first(&notes));
            }
            result => result.map_err(refused)?,
        };
        if plan.run == Run::Dry {
            self.files.check(checked.changes().files())?;
            return Ok(Report::would_apply(&checked, seen).diff(diff));
        }
        let label = Label {
            origin,
            kind: Kind::Edit,
            description: plan.description.clone(),
            diff: String::from_utf8_lossy(&diff).into_owned(),
        };
        let approved = match approve(checked, &label, who) {
            Err(Declined::Pending { how, checked }) => {
                let context = plan.manner.context;
                let remarks = Remarks { request: plan.warnings.clone(), context, ..Remarks::default() };
                return Err(self.propose(*checked, label, remarks, &how));
            }
            decided => decided?,
        };
        let receipt = commit(approved, seen, label, self.files, self.journal)?;
        Ok(Report::applied(&receipt, seen).diff(diff))
    }

    /// Where something else than the journal's changes has changed the files of `listed`, which are changes of the
    /// journal. Looks at what the files have now.
    pub fn foreign(&self, listed: &[Summary]) -> Result<Vec<Foreign>, JournalError> {
        history::foreign(self.journal, listed, |path| match self.files.read(path) {
            Ok(Seen::File(content)) => Some(Some(ContentHash::of(&content.bytes))),
            Ok(Seen::Missing { .. }) => Some(None),
            Err(_) => None,
        })
    }

    /// What a plan is answered whose edits have no place.
    fn unresolved(&self, mut error: ResolveError, plan: &EditPlan, seen: &Snapshots, means: Means) -> Report {
        self.look_elsewhere(&mut error, plan, seen);
        match self.offer_candidates(&error, plan, seen) {
            // Nobody can choose from what is not remembered; the refusal stands all the same.
            Ok(false) | Err(_) => Report::unresolved(&error, &Means { choose: None, ..means }),
            Ok(true) => Report::unresolved(&error, &means),
        }
    }

    /// The plan with the clipboards of the session, if it uses any.
    fn recall_clipboards(&self, plan: &EditPlan) -> Result<Option<EditPlan>, JournalError> {
        if plan.clips.uses.is_empty() {
            return Ok(None);
        }
        let mut plan = plan.clone();
        for (name, text) in self.journal.recall(self.session, CLIPBOARD)? {
            plan.clips.known.insert(name[CLIPBOARD.len()..].to_owned(), text);
        }
        Ok(Some(plan))
    }

    /// Reads every file that a plan names.
    fn look_at(&self, plan: &EditPlan) -> Result<Snapshots, WorkspaceError> {
        let mut seen = Snapshots::default();
        for file in &plan.files {
            self.look_into(&mut seen, &file.path)?;
            for operation in &file.operations {
                if let Operation::Move { to, .. } = operation {
                    self.look_into(&mut seen, to)?;
                }
            }
        }
        Ok(seen)
    }

    /// Adds what stands at a path to what was seen.
    fn look_into(&self, seen: &mut Snapshots, path: &FilePath) -> Result<(), WorkspaceError> {
        match self.files.read(path)? {
            Seen::File(content) => seen.insert(path.clone(), Some(Snapshot::new(content, self.encoding))),
            Seen::Missing { real } => seen.insert_missing(path.clone(), real),
        }
        Ok(())
    }

    fn snapshot(&self, path: &FilePath) -> Result<Option<Snapshot>, WorkspaceError> {
        Ok(match self.files.read(path)? {
            Seen::File(content) => Some(Snapshot::new(content, self.encoding)),
            Seen::Missing { .. } => None,
        })
    }
}

/// The dialect of that name, or a report that names them all.
pub fn dialect(name: &str) -> Result<&'static Dialect, Report> {
    Dialect::named(name).ok_or_else(|| {
        let names: Vec<String> = DIALECTS.iter().map(|dialect| format!("`{}`", dialect.name)).collect();
        Report::new(Status::Invalid, "unknown_dialect", format!("there is no dialect `{name}`"))
            .hint(format!("Dialects: {}.", names.join(", ")))
    })
}

/// The dialect's tool of that name, or a report that names them all.
pub fn tool(dialect: &Dialect, name: &str) -> Result<&'static Tool, Report> {
    dialect.tool(name).ok_or_else(|| {
        let names: Vec<String> = dialect.tools.iter().map(|tool| format!("`{}`", tool.name)).collect();
        let elsewhere = DIALECTS.iter().find(|other| other.tool(name).is_some());
        let elsewhere = elsewhere
            .map_or(String::new(), |other| format!(" The dialect `{}` has a tool of that name.", other.name));
        let message = format!("the dialect `{}` has no tool `{name}`", dialect.name);
        Report::new(Status::Invalid, "unknown_tool", message)
            .hint(format!("Its tools: {}.{elsewhere}", names.join(", ")))
    })
}
