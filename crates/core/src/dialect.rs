//! Stage one: a dialect parses the calls of one tool family into plans, and renders reports as that family's answers.
//!
//! The built-in dialects are in the crate `slipstitch-dialects`; [`Dialects`] is the registry.

mod arguments;
pub mod schema;
mod selection;

use serde::Serialize;
use serde_json::Value;

pub use arguments::read;
pub use schema::ListedFields;
pub use selection::{ToolSelection, UnknownTool};

use crate::hint::HintPhrases;
use crate::outcome::Invalid;
use crate::path::{Absolute, FilePath, RootName};
use crate::plan::{ChangeLabels, ParseError, Plan};
use crate::report::{Report, plain_text};
use crate::settings::Settings;
use rapidfuzz::distance::levenshtein;
use slipstitch_text::display::quote_names;

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

    /// These dialects and one more, which replaces a dialect of the same name.
    #[must_use]
    pub fn with(&self, dialect: &'static Dialect) -> Self {
        let mut all = self.0.clone();
        match all.iter_mut().find(|other| other.name == dialect.name) {
            Some(same) => *same = dialect,
            None => all.push(dialect),
        }
        Self(all)
    }

    /// The dialect with that name.
    pub fn find(&self, name: &str) -> Option<&'static Dialect> {
        self.iter().find(|dialect| dialect.name == name)
    }

    /// The dialect with that name, or an error that lists the known names.
    pub fn lookup(&self, name: &str) -> Result<&'static Dialect, UnknownDialect> {
        self.find(name).ok_or_else(|| UnknownDialect {
            name: name.into(),
            known: self.iter().map(|dialect| dialect.name).collect(),
        })
    }

    /// The dialect's tool with that name or alias, or a report that lists its tools.
    pub fn lookup_tool(&self, dialect: &Dialect, name: &str) -> Result<&'static Tool, Box<Report>> {
        dialect.tool(name).ok_or_else(|| {
            let elsewhere = self.iter().find(|other| other.tool(name).is_some());
            let elsewhere = elsewhere.map_or(String::new(), |other| {
                format!(" The dialect `{}` has a tool with that name.", other.name)
            });
            let message = format!("the dialect `{}` has no tool `{name}`", dialect.name);
            let tools = quote_names(dialect.tools.iter().map(|tool| tool.name));
            Box::new(
                Report::new(Invalid::UnknownTool, message)
                    .hint(format!("Available tools: {tools}.{elsewhere}")),
            )
        })
    }

    /// The dialects, in order.
    pub fn iter(&self) -> impl Iterator<Item = &'static Dialect> {
        self.0.iter().copied()
    }
}

/// A family of tools.
#[derive(Debug)]
pub struct Dialect {
    /// Its name.
    pub name: &'static str,
    /// A one-sentence description.
    pub about: &'static str,
    /// Its tools, in the order in which they are listed.
    pub tools: &'static [Tool],
    /// The names of those tools that are listed only on request, because most sessions do not need them.
    pub optional: &'static [&'static str],
    /// Tools that are not listed but can be called: forms that other versions of a tool family have.
    pub unlisted: &'static [Tool],
    /// The message for a session that may not write; a default message if `None`.
    pub restricted_message: Option<&'static str>,
    /// How a model should use its tools: what the MCP server sends as instructions and as a prompt.
    pub guide: &'static str,
    /// How a model should use the tools, for the model's instructions.
    pub guidelines: Option<&'static str>,
    /// Fields that belong to another of its tools, with the dialect's own messages.
    pub moved_fields: &'static [MovedFields],
    /// Fields that are accepted under another name.
    pub other_names: &'static [OtherName],
    /// Rewrites a call in an older form of a tool as one in the current form, before its fields are checked.
    pub modernize: fn(&Tool, &mut Value),
    /// The hint phrases for callers of a tool.
    pub phrases: fn(&Tool) -> HintPhrases,
    /// A valid example that resembles an invalid call.
    pub example: fn(&Tool, &Value) -> &'static str,
    /// The field that names the file, if reports of unparsable calls must include the file's current version.
    pub file_field: Option<&'static str>,
    /// How the dialect classifies a tool, if it does.
    pub labels: fn(&Tool) -> Option<ToolLabels>,
    /// The field that chooses one of a tool's modes, if statistics count calls by mode.
    pub variant_field: Option<&'static str>,
    /// Whether the settings leave its tools switched on; `None` if they always are.
    pub is_enabled: Option<fn(&Settings) -> bool>,
    /// Renders the answer.
    pub render: fn(&RenderInput<'_>) -> Rendered,
}

/// How a dialect classifies a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ToolLabels {
    /// How dangerous it is.
    pub safety_level: &'static str,
    /// What it is about.
    pub categories: &'static [&'static str],
}

impl ToolLabels {
    /// The labels of a change that the tool makes, logged under this level.
    pub fn of_change(self, log_level: &str) -> ChangeLabels {
        ChangeLabels {
            log_level: log_level.into(),
            safety_level: self.safety_level.into(),
            categories: self.categories.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Fields that callers tend to send to the wrong tool.
#[derive(Debug)]
pub struct MovedFields {
    /// The tool that they are sent to.
    pub from: &'static str,
    /// The tool to use instead; its example is in the hint.
    pub to: &'static str,
    /// The fields.
    pub fields: &'static [&'static str],
    /// The error message.
    pub message: &'static str,
}

/// Another name for a field.
#[derive(Debug)]
pub struct OtherName {
    /// The tool that has the field.
    pub tool: &'static str,
    /// The other name.
    pub other: &'static str,
    /// The field.
    pub field: &'static str,
}

/// A call and its result.
#[derive(Debug, Clone, Copy)]
pub struct RenderInput<'a> {
    /// The dialect.
    pub dialect: &'a Dialect,
    /// The tool.
    pub tool: &'a Tool,
    /// The arguments as received.
    pub call: &'a Value,
    /// What happened.
    pub report: &'a Report,
}

impl RenderInput<'_> {
    /// A string argument, also under another name that the dialect knows it by; empty if it is missing.
    pub fn argument(&self, name: &str) -> &str {
        let text = |name: &str| self.call[name].as_str().filter(|text| !text.is_empty());
        let is_other_name = |other: &&OtherName| other.tool == self.tool.name && other.field == name;
        let mut other_names = self.dialect.other_names.iter().filter(is_other_name);
        text(name).or_else(|| other_names.find_map(|other| text(other.other))).unwrap_or_default()
    }

    /// The arguments as they were interpreted, after repairs.
    pub fn fields(&self) -> Value {
        let call = arguments::wrap_bare_text(self.call.clone(), self.tool, &mut Vec::new());
        let (schema, empty_is_value) = ((self.tool.schema)(), self.tool.empty_is_value);
        arguments::repair_arguments(call, schema, empty_is_value, &mut Vec::new())
    }
}

/// There is no dialect of that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no dialect `{name}`")]
pub struct UnknownDialect {
    /// The name.
    pub name: String,
    /// The names that there are.
    pub known: Vec<&'static str>,
}

/// The known name closest to `wanted`, if `wanted` may be a typo.
fn closest_name<'n>(wanted: &str, known: &[&'n str]) -> Option<&'n str> {
    let wanted = wanted.to_lowercase();
    let distance = |name: &str| levenshtein::distance(wanted.chars(), name.chars());
    let closest = known.iter().copied().min_by_key(|name| distance(name))?;
    (distance(closest) * 3 <= wanted.chars().count()).then_some(closest)
}

impl UnknownDialect {
    /// What to use instead.
    pub fn hint(&self) -> String {
        let close = closest_name(&self.name, &self.known);
        let meant = close.map_or(String::new(), |name| format!("Did you mean `{name}`? "));
        format!("{meant}Dialects: {}.", quote_names(&self.known))
    }
}

impl From<UnknownDialect> for Report {
    fn from(error: UnknownDialect) -> Self {
        Self::new(Invalid::UnknownDialect, error.to_string()).hint(error.hint())
    }
}

/// A rendered answer.
#[derive(Debug, Clone)]
pub struct Rendered {
    /// Text for the model.
    pub text: String,
    /// Structured content, if the dialect defines it.
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
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// Its human-readable name.
    pub title: &'static str,
    /// What it does, written for the model.
    pub about: &'static str,
    /// What it may do to files.
    pub effect: Effect,
    /// Optional fields for which an empty string is a value rather than a placeholder.
    pub empty_is_value: &'static [&'static str],
    /// Arguments of a valid call, shown in errors.
    pub example: &'static str,
    /// The JSON Schema of its arguments, with every field; see [`Tool::input_schema`] for what models get.
    pub schema: fn() -> &'static Value,
    /// Turns arguments that match the schema into a plan.
    pub parse: fn(Arguments<'_>) -> Result<Plan, ParseError>,
}

/// What a tool may do to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Only reads.
    Reads,
    /// Only reads, but asks the user to give the session more rights.
    Asks,
    /// Changes parts of files.
    Edits,
    /// May replace whole files.
    Replaces,
}

impl Effect {
    /// Whether the tool never changes files.
    pub fn is_read_only(self) -> bool {
        matches!(self, Self::Reads | Self::Asks)
    }
}

/// The arguments of a call, repaired and checked against the tool's schema.
#[derive(Debug)]
pub struct Arguments<'a> {
    /// The fields.
    pub fields: Value,
    /// The names of the roots, for absolute paths.
    pub roots: &'a [RootName],
    /// The user's settings.
    pub settings: &'a Settings,
    /// What was repaired.
    pub warnings: Vec<String>,
}

impl Tool {
    /// The JSON Schema of its arguments as models get it.
    pub fn input_schema(&self, fields: ListedFields) -> Value {
        schema::listed((self.schema)(), fields)
    }

    /// The field for a call that is only a string instead of an object: the tool's only required field, if that is the
    /// text of a patch.
    pub fn text_field(&self) -> Option<String> {
        let schema = (self.schema)();
        let required = schema["required"].as_array()?;
        let [Value::String(name)] = &required[..] else { return None };
        ["patch", "input"].contains(&name.as_str()).then(|| name.clone())
    }
}

impl Dialect {
    /// The base for new dialects: no tools, default behaviour.
    pub const PLAIN: Self = Self {
        name: "",
        about: "",
        tools: &[],
        optional: &[],
        unlisted: &[],
        restricted_message: None,
        guide: "",
        guidelines: None,
        moved_fields: &[],
        other_names: &[],
        modernize: |_, _| {},
        phrases: |_| HintPhrases::NONE,
        example: |tool, _| tool.example,
        file_field: None,
        labels: |_| None,
        variant_field: None,
        is_enabled: None,
        render: |input| Rendered::from(plain_text(input.report)),
    };

    /// Every tool that can be called: the listed ones, then the others.
    pub fn callable_tools(&self) -> impl Iterator<Item = &'static Tool> + use<> {
        self.tools.iter().chain(self.unlisted)
    }

    /// The tools that are listed unless the user asks for others.
    pub fn default_tools(&self) -> impl Iterator<Item = &'static Tool> + use<> {
        let optional = self.optional;
        self.tools.iter().filter(move |tool| !optional.contains(&tool.name))
    }

    /// The tools that can be listed: none if the settings switch them off.
    pub fn enabled_tools(&self, settings: &Settings) -> impl Iterator<Item = &'static Tool> + use<> {
        let is_enabled = self.is_enabled.is_none_or(|is_enabled| is_enabled(settings));
        self.callable_tools().filter(move |_| is_enabled)
    }

    /// The tool with that name or alias.
    pub fn tool(&self, name: &str) -> Option<&'static Tool> {
        self.callable_tools().find(|tool| tool.name == name || tool.aliases.contains(&name))
    }

    /// Removes empty fields that belong to another tool. Callers that know an older version of a tool send all its
    /// fields, with empty values for those that they do not use.
    fn drop_empty_moved_fields(&self, tool: &Tool, call: &mut Value) {
        let moved =
            self.moved_fields.iter().filter(|moved| moved.from == tool.name).flat_map(|moved| moved.fields);
        let Value::Object(fields) = call else { return };
        for name in moved {
            if fields.get(*name).is_some_and(|value| value.is_null() || value == "") {
                fields.remove(*name);
            }
        }
    }

    /// Adds the file that an unparsable call names to the error, if that can be determined.
    fn with_file(&self, error: ParseError, fields: &Value, roots: &[RootName]) -> ParseError {
        match self.named_file(fields, roots) {
            Some(path) => error.about(&path),
            None => error,
        }
    }

    /// The file that a call names, if the dialect's answers describe it no matter how the call ends.
    pub(crate) fn named_file(&self, fields: &Value, roots: &[RootName]) -> Option<FilePath> {
        let text = fields[self.file_field?].as_str()?;
        FilePath::parse(text, roots, Absolute::InsideRoot).ok()
    }

    /// Parses a call: repairs arguments with only one possible interpretation, checks them against the schema, and
    /// builds the plan.
    pub fn parse(
        &self,
        tool: &Tool,
        call: Value,
        roots: &[RootName],
        settings: &Settings,
    ) -> Result<Plan, ParseError> {
        let schema = (tool.schema)();
        let mut warnings = Vec::new();
        let mut call = arguments::wrap_bare_text(call, tool, &mut warnings);
        self.drop_empty_moved_fields(tool, &mut call);
        arguments::rename_fields(&mut call, tool, self)?;
        (self.modernize)(tool, &mut call);
        let fields = arguments::repair_arguments(call, schema, tool.empty_is_value, &mut warnings);
        let checked = arguments::check(&fields, schema, tool, self);
        checked.map_err(|error| self.with_file(error, &fields, roots))?;
        (tool.parse)(Arguments { fields, roots, settings, warnings })
    }
}
