//! Parses tool calls, executes them, and renders the answers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Engine;
use super::fetch::not_fetched;
use crate::dialect::{Dialect, RenderInput, Tool};
use crate::guard::stale;
use crate::hint::HintPhrases;
use crate::outcome::Refused;
use crate::path::FilePath;
use crate::plan::{EditPlan, ListPlan, Operation, ParseError, Plan, Run, SearchPlan};
use crate::ports::approver::Approver;
use crate::ports::journal::Origin;
use crate::report::{FileReport, Report, plain_text};
use crate::settings::Mode;

/// A tool call as received.
#[derive(Debug, Clone)]
pub struct Request {
    /// The dialect's name.
    pub dialect: String,
    /// The tool's name.
    pub tool: String,
    /// The tool's arguments.
    pub arguments: Value,
}

/// The answer to a tool call.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The dialect's text for the model.
    pub text: String,
    /// Structured content, for dialects that define it.
    pub payload: Option<Value>,
    /// The same facts in the form that all dialects share.
    pub report: Report,
}

impl Answer {
    /// A report as a tool's dialect renders it; `call` has the tool's arguments.
    pub fn rendered(dialect: &Dialect, tool: &Tool, call: &Value, report: Report) -> Self {
        let rendered = (dialect.render)(&RenderInput { dialect, tool, call, report: &report });
        // What a person decided may differ from what the call asked for, and dialects describe the latter.
        let is_payload =
            || rendered.payload.is_some() && serde_json::from_str(&rendered.text).ok() == rendered.payload;
        let text = match report.is_decision() && !is_payload() {
            true => plain_text(&report),
            false => rendered.text,
        };
        Self { text, payload: rendered.payload, report }
    }
}

impl From<Report> for Answer {
    /// The answer to a call that no dialect can render.
    fn from(report: Report) -> Self {
        Self { text: plain_text(&report), payload: None, report }
    }
}

/// A parsed tool call: its tool, and the plan or the error.
#[derive(Debug, Clone)]
pub struct Planned {
    dialect: &'static Dialect,
    tool: &'static Tool,
    arguments: Value,
    plan: Result<Plan, ParseError>,
}

/// What a planned call may read or write, for ordering calls and taking locks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touches {
    /// No file.
    Nothing,
    /// Only these files and folders. `None` is the root.
    Paths {
        /// The files and folders.
        paths: Vec<Option<FilePath>>,
        /// The clipboards that are read or written.
        clipboards: BTreeSet<String>,
    },
    /// Possibly any file: which ones depends on the journal or on the content of a file.
    Anything,
}

impl Planned {
    /// The call's dialect.
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// The call's tool.
    pub fn tool(&self) -> &'static Tool {
        self.tool
    }

    /// The same call as a dry run, if it would change files.
    pub fn into_dry_run(mut self) -> Self {
        match &mut self.plan {
            Ok(Plan::Edit(plan)) => plan.run = Run::Dry,
            Ok(Plan::Undo(plan)) => plan.run = Run::Dry,
            _ => {}
        }
        self
    }

    /// The arguments as received.
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// The plan, or why the call could not be parsed.
    pub fn plan(&self) -> Result<&Plan, &ParseError> {
        self.plan.as_ref()
    }

    /// Which of the tool's modes the call uses, for dialects whose statistics count them; `None` if it names none.
    pub fn variant(&self) -> Option<&str> {
        let field = self.dialect.variant_field?;
        let named = self.arguments[field].as_str()?;
        let known = &(self.tool.schema)()["properties"][field]["enum"];
        known.as_array()?.iter().any(|name| name == named).then_some(named)
    }

    /// Whether the call cannot change any file.
    pub fn only_reads(&self) -> bool {
        self.tool.effect.is_read_only() || self.plan.as_ref().is_ok_and(Plan::is_read_only)
    }

    /// Which files the call reads or writes.
    pub fn touches(&self) -> Touches {
        match &self.plan {
            Err(_) => Touches::Nothing,
            Ok(Plan::Edit(plan)) => Touches::by_edit(plan),
            Ok(Plan::Read(plan)) => Touches::paths([Some(plan.path.clone())]),
            Ok(Plan::Info(path)) => Touches::paths([Some(path.clone())]),
            Ok(Plan::List(ListPlan { folder, .. }) | Plan::Search(SearchPlan { folder, .. })) => {
                Touches::paths([folder.clone()])
            }
            Ok(Plan::Undo(_) | Plan::Fetch(_)) => Touches::Anything,
            Ok(Plan::ModeUpgrade { .. } | Plan::ShowRoot) => Touches::Nothing,
        }
    }

    /// The hint phrases for a caller of this tool.
    fn phrases(&self) -> HintPhrases {
        (self.dialect.phrases)(self.tool)
    }
}

impl Touches {
    fn paths(paths: impl IntoIterator<Item = Option<FilePath>>) -> Self {
        Self::Paths { paths: paths.into_iter().collect(), clipboards: BTreeSet::new() }
    }

    fn by_edit(plan: &EditPlan) -> Self {
        let operations = plan.files.iter().flat_map(|file| &file.operations);
        let targets = operations.filter_map(|operation| match operation {
            Operation::Move { to, .. } => Some(to),
            _ => None,
        });
        let paths = plan.files.iter().map(|file| &file.path).chain(targets);
        let clipboards = plan.clipboards.uses.values().flat_map(|clip| [&clip.to, &clip.from]);
        Self::Paths {
            paths: paths.cloned().map(Some).collect(),
            clipboards: clipboards.flatten().cloned().collect(),
        }
    }
}

impl Engine<'_> {
    /// Answers a tool call.
    pub fn call(&self, request: Request, approver: &mut dyn Approver) -> Answer {
        match self.plan(request) {
            Ok(planned) => self.run(planned, approver),
            Err(report) => (*report).into(),
        }
    }

    /// Parses a tool call. Fails only if there is no such dialect or tool. A call that the tool cannot parse is a
    /// [`Planned`] too, because the dialect renders that error in its own way.
    pub fn plan(&self, request: Request) -> Result<Planned, Box<Report>> {
        let dialect = self.dialects.lookup(&request.dialect).map_err(Report::from)?;
        let tool = self.dialects.lookup_tool(dialect, &request.tool)?;
        Ok(self.plan_for(dialect, tool, request.arguments))
    }

    /// Parses a call of a tool that was already looked up.
    pub fn plan_for(&self, dialect: &'static Dialect, tool: &'static Tool, arguments: Value) -> Planned {
        let plan = dialect.parse(tool, arguments.clone(), self.files.root_names(), self.settings);
        Planned { dialect, tool, arguments, plan }
    }

    /// Executes a parsed call and renders the answer.
    pub fn run(&self, planned: Planned, approver: &mut dyn Approver) -> Answer {
        let report = Engine { request: Some(&planned), ..*self }.execute_planned(&planned, approver);
        let Planned { dialect, tool, arguments, .. } = &planned;
        Answer::rendered(dialect, tool, arguments, report)
    }

    fn execute_planned(&self, planned: &Planned, approver: &mut dyn Approver) -> Report {
        let Planned { dialect, tool, arguments, plan } = planned;
        if self.mode == Mode::Restricted && !planned.only_reads() {
            return self.report_restricted(planned);
        }
        let phrases = planned.phrases();
        let origin = Origin {
            session: self.session.into(),
            agent: self.agent.map(Into::into),
            dialect: dialect.name.into(),
            tool: tool.name.into(),
        };
        match plan {
            // An argument names a file that has the actual value: parse again with that file's text.
            Ok(Plan::Fetch(fetch)) => match self.fetch_text(fetch, arguments.clone()) {
                Ok(arguments) => {
                    match dialect.parse(tool, arguments, self.files.root_names(), self.settings) {
                        Ok(plan) => self.execute(&plan, origin, phrases, approver),
                        Err(error) => self.report_parse_error(error, &phrases),
                    }
                }
                Err(report) => *report,
            },
            Ok(plan) => self.execute(plan, origin, phrases, approver),
            Err(error) => self.report_parse_error(error.clone(), &phrases),
        }
    }

    /// Executes a plan. Hints use `phrases`.
    pub fn execute(
        &self,
        plan: &Plan,
        origin: Origin,
        phrases: HintPhrases,
        approver: &mut dyn Approver,
    ) -> Report {
        let report = match plan {
            Plan::Edit(plan) => self.edit(plan, origin, phrases, approver),
            Plan::Read(plan) => self.read(plan),
            Plan::List(plan) => self.list(plan),
            Plan::Search(plan) => self.search(plan),
            Plan::ShowRoot => self.show_root(),
            Plan::Info(path) => self.info(path),
            Plan::Undo(plan) => self.undo(plan, origin, phrases, approver),
            Plan::ModeUpgrade { reason } => self.upgrade(reason.as_deref(), origin, approver),
            Plan::Fetch(fetch) => not_fetched(fetch),
        };
        self.orient(report, plan)
    }

    /// The report for a call that would write in a read-only session. Reading is allowed, so a dialect whose answers describe
    /// the file gets its state.
    fn report_restricted(&self, planned: &Planned) -> Report {
        let Planned { dialect, tool, arguments, .. } = planned;
        let message = match dialect.restricted_message {
            Some(message) => message.to_owned(),
            None => format!("`{}` is disabled in Restricted mode, which only allows reading", tool.name),
        };
        let mut report = Report::new(Refused::RestrictedMode, message)
            .hint("Ask the user for write access; only they can grant it.");
        if let Some(path) = dialect.named_file(arguments, self.files.root_names())
            && let Ok(Some(snapshot)) = self.snapshot(&path)
        {
            report.files.push(FileReport::of(&path, &snapshot));
        }
        report
    }

    /// The report for a call that could not be parsed, with the current version of the file it names.
    fn report_parse_error(&self, mut error: ParseError, phrases: &HintPhrases) -> Report {
        let (path, version) = (error.path.take(), error.version.take());
        let Some((path, Ok(snapshot))) = path.map(|path| (path.clone(), self.snapshot(&path))) else {
            return error.into();
        };
        let stale = version.and_then(|version| stale::check_version(&version, &path, snapshot.as_ref()));
        let mut report = match stale {
            Some(refusal) => Report::refused(refusal, phrases),
            None => error.into(),
        };
        report.files.extend(snapshot.map(|snapshot| FileReport::of(&path, &snapshot)));
        report
    }
}
