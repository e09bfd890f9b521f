//! Stage one: from a tool call in some tool family's words to a plan, and from the report back to its words.
//!
//! The built-in dialects are in `slipstitch-dialects`; [`Dialects`] is the registry.

mod arguments;
pub mod schema;

use serde_json::Value;

pub use arguments::read;

use crate::hint::HintPhrases;
use crate::outcome::Invalid;
use crate::path::{Absolute, FilePath, RootName};
use crate::plan::{ParseError, Plan};
use crate::report::{Report, plain};
use crate::settings::Settings;

/// The dialects that an engine accepts, in the order that help and tool listings show them.
///
/// The built-in ones are in the crate `slipstitch-dialects`; an embedding program adds its own with [`Dialects::with`].
#[derive(Debug, Clone, Default)]
pub struct Dialects(Vec<&'static Dialect>);

impl Dialects {
    /// No dialects.
    pub const NONE: Self = Self(Vec::new());

    /// These dialects.
    pub fn new(dialects: &[&'static Dialect]) -> Self {
        Self(dialects.to_vec())
    }

    /// These and one more. A dialect of the same name is replaced.
    #[must_use]
    pub fn with(&self, dialect: &'static Dialect) -> Self {
        let mut all = self.0.clone();
        match all.iter_mut().find(|other| other.name == dialect.name) {
            Some(same) => *same = dialect,
            None => all.push(dialect),
        }
        Self(all)
    }

    /// The dialect of that name.
    pub fn find(&self, name: &str) -> Option<&'static Dialect> {
        self.iter().find(|dialect| dialect.name == name)
    }

    /// The dialect of that name, or a report that lists the names there are.
    pub fn lookup(&self, name: &str) -> Result<&'static Dialect, Box<Report>> {
        self.find(name).ok_or_else(|| {
            let known = quoted(self.iter().map(|dialect| dialect.name));
            let report = Report::new(Invalid::UnknownDialect, format!("there is no dialect `{name}`"));
            Box::new(report.hint(format!("Dialects: {known}.")))
        })
    }

    /// The dialect's tool of that name or alias, or a report that lists its tools.
    pub fn lookup_tool(&self, dialect: &Dialect, name: &str) -> Result<&'static Tool, Box<Report>> {
        dialect.tool(name).ok_or_else(|| {
            let elsewhere = self.iter().find(|other| other.tool(name).is_some());
            let elsewhere = elsewhere.map_or(String::new(), |other| {
                format!(" The dialect `{}` has a tool of that name.", other.name)
            });
            let message = format!("the dialect `{}` has no tool `{name}`", dialect.name);
            let tools = quoted(dialect.tools.iter().map(|tool| tool.name));
            Box::new(
                Report::new(Invalid::UnknownTool, message).hint(format!("Its tools: {tools}.{elsewhere}")),
            )
        })
    }

    /// The dialects, in order.
    pub fn iter(&self) -> impl Iterator<Item = &'static Dialect> {
        self.0.iter().copied()
    }
}

/// Names in backticks, separated by commas.
fn quoted(names: impl Iterator<Item = &'static str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A family of tools.
#[derive(Debug)]
pub struct Dialect {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// Its tools, in the order that listings show them.
    pub tools: &'static [Tool],
    /// What it says where the session may not write; a plain sentence if it has none of its own.
    pub restricted: Option<&'static str>,
    /// How a model should use its tools: what the MCP server sends as instructions and as a prompt.
    pub guide: &'static str,
    /// Usage guidelines that the dialect's own specification prescribes.
    pub guidelines: Option<&'static str>,
    /// Fields that belong to another of its tools, where it has words of its own for that.
    pub moved: &'static [Moved],
    /// What a caller of one of its tools can do next, in the words of the dialect.
    pub phrases: fn(&Tool) -> HintPhrases,
    /// A right call of the kind that a wrong one seems to be.
    pub example: fn(&Tool, &Value) -> &'static str,
    /// The field that names the file, if even a call that cannot be read is answered with what the file is.
    pub file_field: Option<&'static str>,
    /// Its way to say what happened.
    pub render: fn(&RenderInput<'_>) -> Rendered,
}

/// Fields that callers send to the wrong tool.
#[derive(Debug)]
pub struct Moved {
    /// The tool they are sent to.
    pub from: &'static str,
    /// The tool they belong to.
    pub to: &'static str,
    /// The fields.
    pub fields: &'static [&'static str],
    /// What the caller is told.
    pub message: &'static str,
}

/// A call and what came of it.
#[derive(Debug, Clone, Copy)]
pub struct RenderInput<'a> {
    /// The tool.
    pub tool: &'a Tool,
    /// The arguments as they were sent.
    pub call: &'a Value,
    /// What happened.
    pub report: &'a Report,
}

impl RenderInput<'_> {
    /// A text argument; empty if it is not there.
    pub fn argument(&self, name: &str) -> &str {
        self.call[name].as_str().unwrap_or_default()
    }

    /// The arguments as they were read, with what was odd about them mended.
    pub fn fields(&self) -> Value {
        let call = arguments::lone_text(self.call.clone(), self.tool, &mut Vec::new());
        arguments::mend(call, (self.tool.schema)(), self.tool.keeps_empty, &mut Vec::new())
    }
}

/// An answer in a dialect's words.
#[derive(Debug, Clone)]
pub struct Rendered {
    /// What the model reads.
    pub text: String,
    /// The answer as data, where the dialect's answer is data.
    pub payload: Option<Value>,
}

impl From<String> for Rendered {
    fn from(text: String) -> Self {
        Self { text, payload: None }
    }
}

/// One tool of a dialect.
#[derive(Debug)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// Its name for people.
    pub title: &'static str,
    /// What it does, written for the model.
    pub about: &'static str,
    /// What it may do to the files.
    pub effect: Effect,
    /// Optional fields for which an empty text is a value of its own.
    pub keeps_empty: &'static [&'static str],
    /// A call that is right, shown when one is wrong.
    pub example: &'static str,
    /// The fields, as JSON Schema.
    pub schema: fn() -> &'static Value,
    /// Reads arguments that fit the schema.
    pub parse: fn(Arguments<'_>) -> Result<Plan, ParseError>,
}

/// What a tool may do to the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// No file; but it asks a person to let the session do more.
    Asks,
    /// Changes what it names.
    Edits,
    /// May replace whole files.
    Replaces,
}

impl Effect {
    /// Whether the files stay as they are.
    pub fn leaves_files(self) -> bool {
        matches!(self, Self::Reads | Self::Asks)
    }
}

/// The arguments of a call, mended and checked against the tool's schema.
#[derive(Debug)]
pub struct Arguments<'a> {
    /// The fields.
    pub fields: Value,
    /// The root's names, for paths given in full.
    pub roots: &'a [RootName],
    /// What the person in charge has set.
    pub settings: &'a Settings,
    /// What was mended.
    pub warnings: Vec<String>,
}

impl Tool {
    /// The field that a call holds which is nothing but a text: the only one that the tool needs, if that
    /// is the text of a patch.
    pub fn text_field(&self) -> Option<String> {
        let schema = (self.schema)();
        let required = schema["required"].as_array()?;
        let [Value::String(name)] = &required[..] else { return None };
        ["patch", "input"].contains(&name.as_str()).then(|| name.clone())
    }
}

impl Tool {
    /// What the model is told of it: what it does, and a call that is right.
    pub fn description(&self) -> String {
        format!("{} Example: {}", self.about, self.example)
    }
}

impl Dialect {
    /// What dialects start from: no tools, nothing special.
    pub const PLAIN: Self = Self {
        name: "",
        about: "",
        tools: &[],
        restricted: None,
        guide: "",
        guidelines: None,
        moved: &[],
        phrases: |_| HintPhrases::NONE,
        example: |tool, _| tool.example,
        file_field: None,
        render: |told| Rendered::from(plain(told.report)),
    };

    /// The tool of that name or alias.
    pub fn tool(&self, name: &str) -> Option<&'static Tool> {
        self.tools.iter().find(|tool| tool.name == name || tool.aliases.contains(&name))
    }

    /// Callers who know an older form of a tool fill all its fields: those that moved elsewhere and hold
    /// nothing say nothing.
    fn drop_empty_moved_fields(&self, tool: &Tool, call: &mut Value) {
        let moved = self.moved.iter().filter(|moved| moved.from == tool.name).flat_map(|moved| moved.fields);
        let Value::Object(fields) = call else { return };
        for name in moved {
            if fields.get(*name).is_some_and(|value| value.is_null() || value == "") {
                fields.remove(*name);
            }
        }
    }

    /// Says which file a call that cannot be read is about, as far as that shows.
    fn with_file(&self, error: ParseError, fields: &Value, roots: &[RootName]) -> ParseError {
        let named = self.file_field.and_then(|name| fields[name].as_str());
        match named.map(|text| FilePath::parse(text, roots, Absolute::InsideRoot)) {
            Some(Ok(path)) => error.about(&path),
            _ => error,
        }
    }

    /// Reads a call: mends what has one reading, checks it against the schema, and makes the plan.
    pub fn parse(
        &self,
        tool: &Tool,
        call: Value,
        roots: &[RootName],
        settings: &Settings,
    ) -> Result<Plan, ParseError> {
        let schema = (tool.schema)();
        let mut warnings = Vec::new();
        let mut call = arguments::lone_text(call, tool, &mut warnings);
        self.drop_empty_moved_fields(tool, &mut call);
        let fields = arguments::mend(call, schema, tool.keeps_empty, &mut warnings);
        let checked = arguments::check(&fields, schema, tool, self);
        checked.map_err(|error| self.with_file(error, &fields, roots))?;
        (tool.parse)(Arguments { fields, roots, settings, warnings })
    }
}
