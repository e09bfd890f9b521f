//! From a tool call to a plan, and from the report to the dialect's answer.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Engine;
use super::fetch::not_fetched;
use crate::dialect::{Dialect, RenderInput, Tool};
use crate::guard::stale;
use crate::hint::HintPhrases;
use crate::outcome::Refused;
use crate::path::FilePath;
use crate::plan::{EditPlan, Operation, ParseError, Plan};
use crate::ports::approver::Approver;
use crate::ports::journal::Origin;
use crate::report::{FileReport, Report, plain};
use crate::settings::Mode;

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
    /// The dialect's text for the model.
    pub text: String,
    /// The answer as data, for dialects that answer with data.
    pub payload: Option<Value>,
    /// The structured form that is the same for all dialects.
    pub report: Report,
}

impl From<Report> for Answer {
    /// An answer without a dialect.
    fn from(report: Report) -> Self {
        Self { text: plain(&report), payload: None, report }
    }
}

/// A tool call that was read once: which tool it is for, and the plan or why there is none.
#[derive(Debug, Clone)]
pub struct Planned {
    dialect: &'static Dialect,
    tool: &'static Tool,
    arguments: Value,
    plan: Result<Plan, ParseError>,
}

/// What a planned call may read or write: enough to order calls and take locks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touches {
    /// No file.
    Nothing,
    /// These files or folders, and no others. The root is the empty path, `None`.
    Paths {
        /// What is named.
        paths: Vec<Option<FilePath>>,
        /// The clipboards that are read or filled.
        clipboards: BTreeSet<String>,
    },
    /// Possibly any file: which ones depends on the journal or on a file's content.
    Anything,
}

impl Planned {
    /// The dialect of the call.
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// The tool that is called.
    pub fn tool(&self) -> &'static Tool {
        self.tool
    }

    /// The plan, or why the call could not become one.
    pub fn plan(&self) -> Result<&Plan, &ParseError> {
        self.plan.as_ref()
    }

    /// Whether the call cannot change a file.
    pub fn is_read_only(&self) -> bool {
        self.tool.effect.leaves_files() || self.plan.as_ref().is_ok_and(Plan::is_read_only)
    }

    /// Which files the call reads or writes.
    pub fn touches(&self) -> Touches {
        match &self.plan {
            Err(_) => Touches::Nothing,
            Ok(Plan::Edit(plan)) => touched_by(plan),
            Ok(Plan::Read(plan)) => Touches::paths([Some(plan.path.clone())]),
            Ok(Plan::Info(path)) => Touches::paths([Some(path.clone())]),
            Ok(Plan::List(folder)) => Touches::paths([folder.clone()]),
            Ok(Plan::Undo(_) | Plan::Fetch(_)) => Touches::Anything,
            Ok(Plan::ModeUpgrade { .. }) => Touches::Nothing,
        }
    }

    /// The hints that a caller of this tool understands.
    fn phrases(&self) -> HintPhrases {
        (self.dialect.phrases)(self.tool)
    }
}

impl Touches {
    fn paths(paths: impl IntoIterator<Item = Option<FilePath>>) -> Self {
        Self::Paths { paths: paths.into_iter().collect(), clipboards: BTreeSet::new() }
    }
}

fn touched_by(plan: &EditPlan) -> Touches {
    let targets =
        plan.files.iter().flat_map(|file| &file.operations).filter_map(|operation| match operation {
            Operation::Move { to, .. } => Some(to),
            _ => None,
        });
    let paths = plan.files.iter().map(|file| &file.path).chain(targets);
    let used = plan.clipboards.uses.values().flat_map(|clip| [&clip.to, &clip.from]);
    Touches::Paths {
        paths: paths.cloned().map(Some).collect(),
        clipboards: used.flatten().cloned().collect(),
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

    /// Reads a tool call. Fails only if there is no such dialect or tool: a call that its tool cannot read is a
    /// [`Planned`] too, because the dialect has its own way to say so.
    pub fn plan(&self, request: Request) -> Result<Planned, Box<Report>> {
        let dialect = self.dialects.lookup(&request.dialect)?;
        let tool = self.dialects.lookup_tool(dialect, &request.tool)?;
        Ok(self.plan_for(dialect, tool, request.arguments))
    }

    /// Reads a call of a tool that was looked up before.
    pub fn plan_for(&self, dialect: &'static Dialect, tool: &'static Tool, arguments: Value) -> Planned {
        let plan = dialect.parse(tool, arguments.clone(), self.files.root_names(), self.settings);
        Planned { dialect, tool, arguments, plan }
    }

    /// Carries out a planned call and renders the answer.
    pub fn run(&self, planned: Planned, approver: &mut dyn Approver) -> Answer {
        let report = self.report_on(&planned, approver);
        let input = RenderInput { tool: planned.tool, call: &planned.arguments, report: &report };
        let rendered = (planned.dialect.render)(&input);
        Answer { text: rendered.text, payload: rendered.payload, report }
    }

    fn report_on(&self, planned: &Planned, approver: &mut dyn Approver) -> Report {
        let Planned { dialect, tool, arguments, plan } = planned;
        if self.mode == Mode::Restricted && !planned.is_read_only() {
            return self.restricted(dialect, tool);
        }
        let phrases = planned.phrases();
        let origin = Origin {
            session: self.session.into(),
            agent: self.agent.map(Into::into),
            dialect: dialect.name.into(),
            tool: tool.name.into(),
        };
        match plan {
            // The text of another file belongs to the call: it is read again with that text.
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

    /// Carries out a plan, however it was made. Hints are worded with `phrases`.
    pub fn execute(
        &self,
        plan: &Plan,
        origin: Origin,
        phrases: HintPhrases,
        approver: &mut dyn Approver,
    ) -> Report {
        match plan {
            Plan::Edit(plan) => self.edit(plan, origin, phrases, approver),
            Plan::Read(plan) => self.read(plan),
            Plan::List(folder) => self.list(folder.as_ref()),
            Plan::Info(path) => self.info(path),
            Plan::Undo(plan) => self.undo(plan, origin, phrases, approver),
            Plan::ModeUpgrade { reason } => self.upgrade(reason.as_deref(), approver),
            Plan::Fetch(fetch) => not_fetched(fetch),
        }
    }

    /// The answer to a call that would write in a session that may only read.
    fn restricted(&self, dialect: &Dialect, tool: &Tool) -> Report {
        let message = match dialect.restricted {
            Some(message) => message.to_owned(),
            None => format!("`{}` is disabled in Restricted mode, which only allows reading", tool.name),
        };
        Report::new(Refused::RestrictedMode, message).hint(format!(
            "Ask the user for write access; they can grant it with \
             `slipstitch mode unrestricted --session {}`.",
            self.session
        ))
    }

    /// The answer to a call that cannot become a plan, with the current version of the file it names.
    fn report_parse_error(&self, mut error: ParseError, phrases: &HintPhrases) -> Report {
        let (path, version) = (error.path.take(), error.version.take());
        let Some((path, Ok(seen))) = path.map(|path| (path.clone(), self.snapshot(&path))) else {
            return error.into();
        };
        let stale = version.and_then(|version| stale::differs(&version, &path, seen.as_ref()));
        let mut report = match stale {
            Some(refusal) => Report::refused(refusal, phrases),
            None => error.into(),
        };
        report.files.extend(seen.map(|snapshot| FileReport::of(&path, &snapshot)));
        report
    }
}
