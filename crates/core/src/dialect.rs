//! Stage one: from a tool call in some tool family's words to a plan, and from the report back to its words.
//!
//! A dialect is one file in `dialect/` and one line in [`DIALECTS`].

mod arguments;
mod native;
mod schema;

use serde_json::Value;

pub use arguments::ParseError;

use crate::plan::Plan;
use crate::report::Report;

/// Every dialect, in the order that help and tool listings show them.
pub const DIALECTS: &[&Dialect] = &[&native::DIALECT];

/// A family of tools.
#[derive(Debug)]
pub struct Dialect {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// Its tools, in the order that listings show them.
    pub tools: &'static [Tool],
    /// Its way to say what happened.
    pub render: fn(&Report) -> String,
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
    pub schema: fn() -> Value,
    /// Reads arguments that fit the schema.
    pub parse: fn(Arguments<'_>) -> Result<Plan, ParseError>,
}

/// What a tool may do to the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// Changes what it names.
    Edits,
    /// May replace whole files.
    Replaces,
}

/// The arguments of a call, mended and checked against the tool's schema.
#[derive(Debug)]
pub struct Arguments<'a> {
    /// The fields.
    pub fields: Value,
    /// The root, for paths given in full.
    pub root: &'a str,
    /// What was mended.
    pub warnings: Vec<String>,
}

impl Dialect {
    /// The dialect of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        DIALECTS.iter().find(|dialect| dialect.name == name).copied()
    }

    /// The tool of that name or alias.
    pub fn tool(&self, name: &str) -> Option<&'static Tool> {
        self.tools.iter().find(|tool| tool.name == name || tool.aliases.contains(&name))
    }

    /// Reads a call: mends what has one reading, checks it against the schema, and makes the plan.
    pub fn parse(&self, tool: &Tool, call: Value, root: &str) -> Result<Plan, ParseError> {
        let schema = (tool.schema)();
        let mut warnings = Vec::new();
        let fields = arguments::mend(call, &schema, tool.keeps_empty, &mut warnings);
        arguments::check(&fields, &schema, tool, self)?;
        (tool.parse)(Arguments { fields, root, warnings })
    }
}
