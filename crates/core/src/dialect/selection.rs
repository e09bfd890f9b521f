//! Which tools of the served dialects are listed.

use super::schema::ListedFields;
use super::{Dialect, Tool};
use slipstitch_text::display::quote_names;

/// Stands for the tools that are listed by default.
const DEFAULT: &str = "default";
/// Stands for every tool.
const ALL: &str = "all";

/// Which tools are offered. Without a choice, the optional ones are not listed, but can be called; with a choice, only the
/// chosen tools can be called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolSelection(Option<Vec<String>>);

/// A chosen tool does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no tool `{name}`")]
pub struct UnknownTool {
    /// The name.
    pub name: String,
    /// The names that there are.
    pub known: Vec<&'static str>,
}

impl UnknownTool {
    /// What to use instead.
    pub fn hint(&self) -> String {
        let names = quote_names(&self.known);
        format!(
            "Tools: {names}; `{DEFAULT}` stands for those that are listed by default, `{ALL}` for all of them."
        )
    }
}

impl ToolSelection {
    /// The tools with these names, from any of the dialects; `default` and `all` stand for several.
    pub fn new(names: &[String], dialects: &[&'static Dialect]) -> Result<Self, UnknownTool> {
        if names.is_empty() {
            return Ok(Self::default());
        }
        for name in names.iter().filter(|name| ![DEFAULT, ALL].contains(&name.as_str())) {
            let mut callable = dialects.iter().flat_map(|dialect| dialect.callable_tools());
            if !callable.any(|tool| tool.name == name) {
                let callable = dialects.iter().flat_map(|dialect| dialect.callable_tools());
                return Err(UnknownTool {
                    name: name.clone(),
                    known: callable.map(|tool| tool.name).collect(),
                });
            }
        }
        Ok(Self(Some(names.to_vec())))
    }

    /// Whether a tool is listed.
    pub fn lists(&self, dialect: &Dialect, tool: &Tool) -> bool {
        let is_listable = dialect.tools.iter().any(|other| other.name == tool.name);
        let is_default = || is_listable && !dialect.optional.contains(&tool.name);
        match &self.0 {
            None => is_default(),
            Some(chosen) => chosen.iter().any(|name| match name.as_str() {
                DEFAULT => is_default(),
                ALL => is_listable,
                name => name == tool.name,
            }),
        }
    }

    /// Which fields of the tools are listed: with `all`, the rarely used ones too.
    pub fn fields(&self) -> ListedFields {
        match &self.0 {
            Some(chosen) if chosen.iter().any(|name| name == ALL) => ListedFields::All,
            _ => ListedFields::Common,
        }
    }

    /// Whether a tool can be called.
    pub fn allows(&self, dialect: &Dialect, tool: &Tool) -> bool {
        // Forms of other versions of a family can be called next to the current ones, though they are listed only by name.
        let is_unlisted = dialect.unlisted.iter().any(|other| other.name == tool.name);
        let is_broad = |name: &String| [DEFAULT, ALL].contains(&name.as_str());
        match &self.0 {
            None => true,
            Some(chosen) if is_unlisted && chosen.iter().any(is_broad) => true,
            Some(_) => self.lists(dialect, tool),
        }
    }
}
