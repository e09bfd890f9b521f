//! The tools of the dialects that a server offers, as it lists them.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use rmcp::model::{JsonObject, Tool as Listed};
use serde_json::{Value, json};
use slipstitch::core::dialect::{Dialect, Effect, Tool};
use slipstitch::core::outcome::Invalid;
use slipstitch::core::report::Report;
use slipstitch::dialects::builtin;

/// The tools that a server offers.
#[derive(Debug)]
pub struct Catalogue {
    dialects: Vec<&'static Dialect>,
    /// Where each name leads, other names of a tool included.
    names: HashMap<&'static str, (&'static Dialect, &'static Tool)>,
    /// Made when a client first asks: schemas take longer than everything else at the start.
    listed: OnceLock<Vec<Listed>>,
}

/// Why dialects cannot be offered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// There is no dialect of that name.
    #[error("there is no dialect `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// The dialects there are.
        known: String,
    },
    /// None was named.
    #[error("no dialect is named")]
    Empty,
    /// Two of them have a tool of the same name.
    #[error("the dialects `{first}` and `{second}` both have a tool called `{tool}`")]
    Clash {
        /// The tool's name.
        tool: &'static str,
        /// The dialect that was named first.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
}

impl CatalogueError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { known, .. } => known.clone(),
            Self::Empty => "Name one with `--dialect`, such as `--dialect native`.".into(),
            Self::Clash { first, second, .. } => format!(
                "Serve one of them, or run two servers: `slipstitch mcp --dialect {first}` and `slipstitch mcp --dialect {second}`."
            ),
        }
    }
}

impl Catalogue {
    /// The tools of these dialects; a name must lead to one tool.
    pub fn new(dialects: &[String]) -> Result<Self, CatalogueError> {
        let mut chosen: Vec<&'static Dialect> = Vec::new();
        for name in dialects {
            let dialect = builtin().lookup(name).map_err(|report| CatalogueError::Unknown {
                name: name.clone(),
                known: report.hint.unwrap_or_default(),
            })?;
            if !chosen.iter().any(|other| other.name == dialect.name) {
                chosen.push(dialect);
            }
        }
        if chosen.is_empty() {
            return Err(CatalogueError::Empty);
        }
        let mut names: HashMap<&'static str, (&'static Dialect, &'static Tool)> = HashMap::new();
        for dialect in &chosen {
            for tool in dialect.tools {
                for name in [tool.name].iter().chain(tool.aliases) {
                    if let Some((first, _)) = names.insert(name, (dialect, tool)) {
                        return Err(CatalogueError::Clash {
                            tool: name,
                            first: first.name,
                            second: dialect.name,
                        });
                    }
                }
            }
        }
        Ok(Self { dialects: chosen, names, listed: OnceLock::new() })
    }

    /// The dialects, in the order in which they were named.
    pub fn dialects(&self) -> &[&'static Dialect] {
        &self.dialects
    }

    /// The tool of that name, and the dialect it belongs to.
    pub fn find(&self, name: &str) -> Option<(&'static Dialect, &'static Tool)> {
        self.names.get(name).copied()
    }

    /// What is said of a name that no tool has.
    pub(crate) fn unknown(&self, name: &str) -> Report {
        if let [dialect] = self.dialects[..]
            && let Err(report) = builtin().lookup_tool(dialect, name)
        {
            return *report;
        }
        let names: Vec<String> =
            self.dialects.iter().flat_map(|d| d.tools).map(|tool| format!("`{}`", tool.name)).collect();
        Report::new(Invalid::UnknownTool, format!("there is no tool `{name}`"))
            .hint(format!("The tools: {}.", names.join(", ")))
    }

    /// All tools, as `tools/list` shows them.
    pub(crate) fn listed(&self) -> &[Listed] {
        self.listed.get_or_init(|| {
            let tools = self.dialects.iter().flat_map(|dialect| dialect.tools);
            tools.filter_map(|tool| serde_json::from_value(listing(tool)).ok()).collect()
        })
    }

    /// One tool, as `tools/list` shows it.
    pub(crate) fn one_listed(&self, name: &str) -> Option<Listed> {
        self.listed().iter().find(|tool| tool.name == name).cloned()
    }
}

/// A tool as `tools/list` shows it.
pub fn listing(tool: &Tool) -> Value {
    let reads = tool.effect == Effect::Reads;
    let mut listing = json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description(),
        "inputSchema": (tool.schema)(),
    });
    if !shows_text(tool) {
        listing["outputSchema"] = Value::Object(status_schema().as_ref().clone());
    }
    listing["annotations"] = json!({
        "readOnlyHint": reads,
        "destructiveHint": !reads && tool.effect != Effect::Asks,
        "idempotentHint": reads,
        "openWorldHint": false,
    });
    listing
}

/// Whether a tool's answer can be the text of a file: such a tool has no schema for its answers, as the text would
/// have to be sent twice.
pub(crate) fn shows_text(tool: &Tool) -> bool {
    let views = || (tool.schema)()["properties"]["view_range"].is_object();
    tool.effect == Effect::Reads || views()
}

/// What the answer of a tool holds that changes files.
fn status_schema() -> &'static Arc<JsonObject> {
    static SCHEMA: OnceLock<Arc<JsonObject>> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let text = |about: &str| json!({"type": "string", "description": about});
        let schema = json!({
            "type": "object",
            "properties": {
                "answer": text("What happened and what to do next, in words: the same as the text of the result."),
                "status": {
                    "type": "string",
                    "enum": ["applied", "would_apply", "no_change", "already_applied", "shown", "refused", "invalid", "failed"],
                    "description": "The outcome in one word. Files changed only if it is applied.",
                },
                "code": text("The outcome more closely, for programs."),
                "change": text("The change's name in the journal, such as c12."),
                "proposal": text("The proposal's name, such as p3, if the change waits for a person."),
                "files": {
                    "type": "array",
                    "description": "The files concerned.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "path": text("The file, relative to the root."),
                            "action": text("read, modified, created, deleted or moved."),
                            "version": text("The hash of its content now."),
                        },
                        "required": ["path", "action"],
                    },
                },
                "warnings": {
                    "type": "array",
                    "description": "What else to know.",
                    "items": {"type": "string"},
                },
                "payload": {"type": "object", "description": "The dialect's own answer, where it is data."},
            },
            "required": ["answer", "status", "code", "files"],
        });
        match schema {
            Value::Object(fields) => Arc::new(fields),
            _ => Arc::default(),
        }
    })
}

#[cfg(test)]
mod tests {
    use slipstitch::dialects::BUILTIN;

    use super::*;

    fn catalogue(names: &[&str]) -> Result<Catalogue, CatalogueError> {
        Catalogue::new(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn every_tool_of_every_dialect_is_listed() {
        for dialect in BUILTIN {
            let catalogue = catalogue(&[dialect.name]).unwrap();
            assert_eq!(catalogue.listed().len(), dialect.tools.len(), "{}", dialect.name);
        }
    }

    #[test]
    fn dialects_that_do_not_clash_are_served_together() {
        let both = catalogue(&["claude", "codex", "forge", "phoenix"]);
        // `Edit` is the name of a tool in two of them.
        assert!(matches!(
            both,
            Err(CatalogueError::Clash { tool: "Edit", first: "claude", second: "forge" })
        ));
        let both = catalogue(&["codex", "phoenix", "codex"]).unwrap();
        assert_eq!(both.find("apply_patch").unwrap().0.name, "codex");
        assert_eq!(both.find("patch").unwrap().0.name, "phoenix");
        assert_eq!(both.listed().len(), 3);
    }

    #[test]
    fn other_names_lead_to_the_tool_and_are_not_listed() {
        let forge = catalogue(&["forge"]).unwrap();
        assert_eq!(forge.find("edit").unwrap().1.name, "Edit");
        assert!(forge.one_listed("edit").is_none());
    }

    #[test]
    fn wrong_dialects_are_told_with_the_next_step() {
        let error = catalogue(&["nope"]).unwrap_err();
        assert!(error.hint().contains("`native`"), "{}", error.hint());
        let error = catalogue(&["native", "nexus3"]).unwrap_err();
        assert!(error.to_string().contains("`edit_file`"), "{error}");
        assert!(error.hint().contains("two servers"), "{}", error.hint());
        assert!(matches!(catalogue(&[]), Err(CatalogueError::Empty)));
    }

    #[test]
    fn only_tools_that_never_show_text_promise_a_status() {
        for (dialect, tool) in BUILTIN.iter().flat_map(|d| d.tools.iter().map(move |t| (d, t))) {
            let promised = listing(tool).get("outputSchema").is_some();
            let shows = tool.effect == Effect::Reads || tool.name == "str_replace_based_edit_tool";
            assert_eq!(promised, !shows, "{}.{}", dialect.name, tool.name);
        }
    }
}
