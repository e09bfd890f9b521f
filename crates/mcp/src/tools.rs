//! The tools of the dialects that a server offers.

use slipstitch::core::text::display::quote_names;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use rmcp::model::{JsonObject, Tool as ToolDefinition};
use serde_json::{Value, json};
use slipstitch::core::dialect::{
    Dialect, Effect, ListedFields, Tool, ToolSelection, UnknownDialect, UnknownTool,
};
use slipstitch::core::outcome::Status;
use slipstitch::core::report::Report;
use slipstitch::core::settings::Settings;
use slipstitch::dialects::builtin;

/// The tools that a server offers.
#[derive(Debug)]
pub struct Catalogue {
    dialects: Vec<&'static Dialect>,
    selection: ToolSelection,
    /// Whether tools have an output schema.
    structured: bool,
    /// The tool of each name, aliases included.
    by_name: HashMap<&'static str, (&'static Dialect, &'static Tool)>,
    /// Built when a client first asks: schemas take longer than everything else at startup.
    definitions: OnceLock<Vec<ToolDefinition>>,
}

/// Why dialects cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// There is no dialect of that name.
    #[error(transparent)]
    Unknown(#[from] UnknownDialect),
    /// A chosen tool is not in the dialects.
    #[error(transparent)]
    UnknownTool(#[from] UnknownTool),
    /// No dialect was given.
    #[error("no dialect given")]
    Empty,
    /// Two dialects have a tool of the same name.
    #[error("the dialects `{first}` and `{second}` both have a tool named `{tool}`")]
    Clash {
        /// The tool's name.
        tool: &'static str,
        /// The dialect that was given first.
        first: &'static str,
        /// The other dialect.
        second: &'static str,
    },
}

impl CatalogueError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown(error) => error.hint(),
            Self::UnknownTool(error) => error.hint(),
            Self::Empty => "Choose one with `--dialect`, such as `--dialect native`.".into(),
            Self::Clash { first, second, .. } => format!(
                "Serve only one of them, or run two servers: `slipstitch mcp --dialect {first}` and `slipstitch mcp --dialect {second}`."
            ),
        }
    }
}

impl Catalogue {
    /// The default tools of these dialects, whose names must be unique.
    pub fn new(dialects: &[String]) -> Result<Self, CatalogueError> {
        Self::with_tools(dialects, &[], false)
    }

    /// The tools with these names, or the default ones if there are none, of these dialects.
    pub fn with_tools(
        dialects: &[String],
        tools: &[String],
        structured: bool,
    ) -> Result<Self, CatalogueError> {
        let mut chosen: Vec<&'static Dialect> = Vec::new();
        for name in dialects {
            let dialect = builtin().lookup(name)?;
            if !chosen.iter().any(|other| other.name == dialect.name) {
                chosen.push(dialect);
            }
        }
        if chosen.is_empty() {
            return Err(CatalogueError::Empty);
        }
        let selection = ToolSelection::new(tools, &chosen)?;
        let mut by_name: HashMap<&'static str, (&'static Dialect, &'static Tool)> = HashMap::new();
        for dialect in &chosen {
            for tool in dialect.callable_tools().filter(|tool| selection.allows(dialect, tool)) {
                for name in [tool.name].iter().chain(tool.aliases) {
                    if let Some((first, _)) = by_name.insert(name, (dialect, tool)) {
                        return Err(CatalogueError::Clash {
                            tool: name,
                            first: first.name,
                            second: dialect.name,
                        });
                    }
                }
            }
        }
        Ok(Self { dialects: chosen, selection, structured, by_name, definitions: OnceLock::new() })
    }

    /// The dialects, in the order in which they were given.
    pub fn dialects(&self) -> &[&'static Dialect] {
        &self.dialects
    }

    /// The tool with this name or alias, and its dialect.
    pub fn find(&self, name: &str) -> Option<(&'static Dialect, &'static Tool)> {
        self.by_name.get(name).copied()
    }

    /// The report of a call to a tool that does not exist.
    pub(crate) fn unknown_tool(&self, name: &str) -> Report {
        if let ([dialect], true) = (&self.dialects[..], self.selection == ToolSelection::default())
            && let Err(report) = builtin().lookup_tool(dialect, name)
        {
            return *report;
        }
        let names = quote_names(self.listed_tools().map(|(_, tool)| tool.name));
        Report::custom(Status::Invalid, "unknown_tool", format!("unknown tool `{name}`"))
            .hint(format!("Available tools: {names}."))
    }

    /// The result of `tools/list`.
    pub(crate) fn definitions(&self) -> &[ToolDefinition] {
        self.definitions.get_or_init(|| {
            let fields = self.selection.fields();
            let definitions = self
                .listed_tools()
                .map(|(dialect, tool)| tool_definition(dialect, tool, fields, self.structured));
            definitions.filter_map(|definition| serde_json::from_value(definition).ok()).collect()
        })
    }

    /// The listed tools with their dialects, in order.
    fn listed_tools(&self) -> impl Iterator<Item = (&'static Dialect, &'static Tool)> {
        let tools =
            self.dialects.iter().flat_map(|dialect| dialect.callable_tools().map(|tool| (*dialect, tool)));
        tools.filter(|(dialect, tool)| self.selection.lists(dialect, tool))
    }

    /// Whether settings can switch some of the tools off.
    pub(crate) fn has_switches(&self) -> bool {
        self.dialects.iter().any(|dialect| dialect.is_enabled.is_some())
    }

    /// The result of `tools/list` under these settings.
    pub(crate) fn enabled_definitions(&self, settings: &Settings) -> Vec<ToolDefinition> {
        let enabled = |name: &str| {
            self.dialects.iter().any(|dialect| dialect.enabled_tools(settings).any(|tool| tool.name == name))
        };
        self.definitions().iter().filter(|tool| enabled(&tool.name)).cloned().collect()
    }

    /// The definition of the tool with this name; aliases have none.
    pub(crate) fn definition(&self, name: &str) -> Option<ToolDefinition> {
        self.definitions().iter().find(|tool| tool.name == name).cloned()
    }
}

/// The key in `_meta` under which a tool's definition has its safety level and categories, for dialects that have them.
const LABELS_KEY: &str = "slipstitch/labels";

/// A tool's entry in `tools/list`.
pub fn tool_definition(dialect: &Dialect, tool: &Tool, fields: ListedFields, structured: bool) -> Value {
    let is_read_only = tool.effect == Effect::Reads;
    let mut definition = json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.about,
        "inputSchema": tool.input_schema(fields),
    });
    if structured && !returns_file_text(tool) {
        definition["outputSchema"] = Value::Object(output_schema().as_ref().clone());
    }
    definition["annotations"] = json!({
        "readOnlyHint": is_read_only,
        "destructiveHint": !is_read_only && tool.effect != Effect::Asks,
        "idempotentHint": is_read_only,
        "openWorldHint": false,
    });
    if let Some(labels) = (dialect.labels)(tool) {
        definition["_meta"] = json!({ LABELS_KEY: labels });
    }
    definition
}

/// Whether a tool can return a file's text. Such a tool has no output schema, because the text would have to be sent
/// twice.
pub(crate) fn returns_file_text(tool: &Tool) -> bool {
    let has_view = || (tool.schema)()["properties"]["view_range"].is_object();
    tool.effect == Effect::Reads || has_view()
}

/// The structured content that tools return which change files.
fn output_schema() -> &'static Arc<JsonObject> {
    static SCHEMA: OnceLock<Arc<JsonObject>> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let text = |description: &str| json!({"type": "string", "description": description});
        let schema = json!({
            "type": "object",
            "properties": {
                "answer": text("What happened and what to do next; the same as the text of the result."),
                "status": {
                    "type": "string",
                    "enum": ["applied", "would_apply", "no_change", "already_applied", "shown", "pending", "refused", "invalid", "failed"],
                    "description": "The outcome. Files were changed only if it is applied.",
                },
                "code": text("Stable machine-readable code of the outcome."),
                "change": text("Id of the change in the journal, such as c12."),
                "proposal": text("Id of the proposal, such as p3, if the change is waiting for approval."),
                "log": {
                    "type": "object",
                    "description": "How the dialect classifies the change, if it does.",
                    "properties": {
                        "log_level": text("The level under which it is logged."),
                        "safety_level": text("The safety level of the tool."),
                        "categories": {
                            "type": "array",
                            "description": "The categories of the tool.",
                            "items": {"type": "string"},
                        },
                        "description": text("What the change is for, in the caller's words."),
                    },
                },
                "files": {
                    "type": "array",
                    "description": "The affected files.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "path": text("Path relative to the root."),
                            "action": text("read, modified, created, deleted or moved."),
                            "version": text("Hash of the current content."),
                        },
                        "required": ["path", "action"],
                    },
                },
                "warnings": {
                    "type": "array",
                    "description": "Anything else worth knowing.",
                    "items": {"type": "string"},
                },
                "payload": {"type": "object", "description": "The dialect's own answer, if it is data."},
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
    fn every_default_tool_of_every_dialect_is_listed() {
        for dialect in BUILTIN {
            let catalogue = catalogue(&[dialect.name]).unwrap();
            assert_eq!(catalogue.definitions().len(), dialect.default_tools().count(), "{}", dialect.name);
        }
    }

    #[test]
    fn tools_of_other_versions_are_listed_by_name() {
        let catalogue = |tools: &[&str]| {
            let tools: Vec<String> = tools.iter().map(|name| (*name).to_owned()).collect();
            Catalogue::with_tools(&["goose".into()], &tools, false).unwrap()
        };
        let names = |catalogue: &Catalogue| {
            catalogue.definitions().iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>()
        };
        let older = catalogue(&["text_editor"]);
        assert_eq!(names(&older), ["text_editor"]);
        assert!(older.find("edit").is_none());
        assert_eq!(names(&catalogue(&["default", "text_editor"])), ["edit", "write", "text_editor"]);
        let all = catalogue(&["all"]);
        assert_eq!(names(&all), ["edit", "write"]);
        assert!(all.find("text_editor").is_some());
    }

    fn with_tools(tools: &[&str]) -> Result<Catalogue, CatalogueError> {
        let tools: Vec<String> = tools.iter().map(|name| (*name).to_owned()).collect();
        Catalogue::with_tools(&["native".into()], &tools, false)
    }

    #[test]
    fn optional_tools_are_listed_on_request() {
        let names = |catalogue: &Catalogue| {
            catalogue.definitions().iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>()
        };
        let by_default = with_tools(&[]).unwrap();
        assert_eq!(names(&by_default), ["read_file", "edit_file", "write_file", "patch"]);
        // A model that knows the tool may call it.
        assert!(by_default.find("undo_edit").is_some());
        let more = with_tools(&["default", "undo_edit"]).unwrap();
        assert_eq!(names(&more), ["read_file", "edit_file", "write_file", "patch", "undo_edit"]);
        let all = with_tools(&["all"]).unwrap();
        assert_eq!(all.definitions().len(), BUILTIN[0].tools.len());
        let has_dry_run = |catalogue: &Catalogue| {
            catalogue.definition("edit_file").unwrap().input_schema["properties"].get("dry_run").is_some()
        };
        assert!(has_dry_run(&all) && !has_dry_run(&more));
    }

    #[test]
    fn tools_that_were_not_chosen_cannot_be_called() {
        let reader = with_tools(&["read_file"]).unwrap();
        assert!(reader.find("read_file").is_some() && reader.find("edit_file").is_none());
        let refusal = reader.unknown_tool("edit_file");
        assert_eq!(refusal.hint.as_deref(), Some("Available tools: `read_file`."));
        let error = with_tools(&["read_fiel"]).unwrap_err();
        assert!(error.hint().contains("`get_file_info`"), "{}", error.hint());
    }

    #[test]
    fn serves_several_dialects_unless_tool_names_clash() {
        // `claude` and `forge` both have a tool named `Edit`.
        let clash = catalogue(&["claude", "codex", "forge", "phoenix"]);
        assert!(matches!(
            clash,
            Err(CatalogueError::Clash { tool: "Edit", first: "claude", second: "forge" })
        ));
        let both = catalogue(&["codex", "phoenix", "codex"]).unwrap();
        assert_eq!(both.find("apply_patch").unwrap().0.name, "codex");
        assert_eq!(both.find("patch").unwrap().0.name, "phoenix");
        assert_eq!(both.definitions().len(), 3);
    }

    // Shows: 000-complements-apply-patch
    #[test]
    fn forge_can_be_served_next_to_apply_patch() {
        let both = catalogue(&["forge", "codex"]).unwrap();
        assert_eq!(both.find("Edit").unwrap().0.name, "forge");
        assert_eq!(both.find("apply_patch").unwrap().0.name, "codex");
    }

    #[test]
    fn aliases_find_the_tool_but_are_not_listed() {
        let forge = catalogue(&["forge"]).unwrap();
        assert_eq!(forge.find("edit").unwrap().1.name, "Edit");
        assert!(forge.definition("edit").is_none());
    }

    #[test]
    fn errors_about_dialects_have_hints() {
        let error = catalogue(&["nope"]).unwrap_err();
        assert!(error.hint().contains("`native`"), "{}", error.hint());
        let error = catalogue(&["native", "nexus3"]).unwrap_err();
        assert!(error.to_string().contains("`edit_file`"), "{error}");
        assert!(error.hint().contains("two servers"), "{}", error.hint());
        assert!(matches!(catalogue(&[]), Err(CatalogueError::Empty)));
    }

    #[test]
    fn only_tools_that_never_return_file_text_have_an_output_schema() {
        for (dialect, tool) in BUILTIN.iter().flat_map(|d| d.tools.iter().map(move |t| (d, t))) {
            let definition = |structured| tool_definition(dialect, tool, ListedFields::Common, structured);
            assert!(definition(false).get("outputSchema").is_none(), "{}.{}", dialect.name, tool.name);
            let has_schema = definition(true).get("outputSchema").is_some();
            let shows_files = ["str_replace_based_edit_tool", "str_replace_editor"].contains(&tool.name);
            let returns_text = tool.effect == Effect::Reads || shows_files;
            assert_eq!(has_schema, !returns_text, "{}.{}", dialect.name, tool.name);
        }
    }
}
