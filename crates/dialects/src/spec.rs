//! Tools that are described by their fields.
//!
//! Most hosts have the same few tools: replace a snippet, replace several, write a file, read one, apply a patch. They differ in
//! names. A [`Spec`] says what the fields are called and what they mean; the schema, the parser and the plan follow from
//! it. A dialect's tool is a type with a `Spec`:
//!
//! ```text
//! struct Replace;
//!
//! impl Described for Replace {
//!     const SPEC: Spec = Spec { name: "replace", fields: &[path("file_path"), old("old_string"), …], … };
//! }
//!
//! const TOOLS: &[Tool] = &[tool::<Replace>()];
//! ```

mod plan;

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use slipstitch_core::dialect::{Effect, Tool, schema};
use slipstitch_core::plan::{Batch, EditRules, LinePrefix, Tolerance};
use slipstitch_patch::Format;

pub(crate) use plan::{edit_plan, patch_plan, resolve_path};

/// How host tools edit: imperfect text is recovered, and later edits of a call see the results of earlier ones.
pub(crate) const RULES: EditRules =
    EditRules { tolerance: Tolerance::Recover, batch: Batch::Sequential, ..EditRules::STRICT };

/// A tool that is described by its fields.
pub(crate) trait Described: 'static {
    /// The description.
    const SPEC: Spec;
}

/// The description of a tool.
#[derive(Clone, Copy)]
pub(crate) struct Spec {
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) title: &'static str,
    /// What it does, written for the model.
    pub(crate) about: &'static str,
    pub(crate) example: &'static str,
    pub(crate) action: Action,
    pub(crate) fields: &'static [Field],
    /// Whether paths start with the name of the root's folder.
    pub(crate) paths: Paths,
}

/// What a tool does with its fields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Replaces text, at one place or at several.
    Replace(EmptyOld),
    /// Writes a whole file.
    Write(Existing),
    /// Shows a file.
    Read(LinePrefix),
    /// Applies a patch. The format is detected if `None`.
    Patch(Option<Format>),
    /// Applies SEARCH/REPLACE blocks to one file, in the order of the file.
    Blocks,
    /// Adds lines to a file from code with lines left out, or creates a file.
    Sketch,
}

/// What an empty old text means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmptyOld {
    /// The new text is the content of a file that does not exist or is empty.
    Creates,
    /// Nothing; it is refused.
    Refused,
}

/// What happens if the file to write exists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It is overwritten.
    Overwritten,
    /// The call is refused.
    Refused,
}

/// How a tool family writes paths.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paths {
    /// Relative to the root, or absolute and inside it.
    InRoot,
    /// The same, or with the name of the root's folder in front.
    WithRootName,
}

/// A field of a tool.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) role: Role,
    pub(crate) about: &'static str,
    pub(crate) is_required: bool,
    /// Whether it is listed by default; other fields are those of older versions.
    pub(crate) is_listed: bool,
    /// The fields of an item, if it is a list.
    pub(crate) items: &'static [Self],
}

/// What a field means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The file.
    Path,
    /// The text to replace.
    Old,
    /// The replacement.
    New,
    /// Whether every occurrence is replaced.
    All,
    /// How often the text occurs.
    Expected,
    /// The whole content of a file.
    Content,
    /// The text of a patch.
    Patch,
    /// What the edit is for, in the caller's words.
    Purpose,
    /// Something of this type that changes nothing here.
    Unused(&'static str),
    /// A list of edits.
    Edits,
    /// The first line to show.
    First,
    /// The first line to show, counted from 0.
    FirstFromZero,
    /// The last line to show.
    Last,
    /// How many lines to show.
    Limit,
    /// The first and last line to show, as a list.
    Range,
}

impl Role {
    fn json_type(self) -> &'static str {
        match self {
            Self::Path | Self::Old | Self::New | Self::Content | Self::Patch | Self::Purpose => "string",
            Self::All => "boolean",
            Self::Unused(kind) => kind,
            Self::Expected | Self::First | Self::FirstFromZero | Self::Last | Self::Limit => "integer",
            Self::Edits | Self::Range => "array",
        }
    }

    fn minimum(self) -> Option<usize> {
        match self {
            Self::First | Self::Last | Self::Limit | Self::Expected => Some(1),
            Self::FirstFromZero => Some(0),
            _ => None,
        }
    }
}

impl Field {
    /// A required field.
    pub(crate) const fn new(name: &'static str, role: Role, about: &'static str) -> Self {
        Self { name, role, about, is_required: true, is_listed: true, items: &[] }
    }

    /// The same field, but optional.
    pub(crate) const fn optional(self) -> Self {
        Self { is_required: false, ..self }
    }

    /// The same field, but optional and not listed by default.
    pub(crate) const fn unlisted(self) -> Self {
        Self { is_required: false, is_listed: false, ..self }
    }

    /// The same field, as a list of items with these fields.
    pub(crate) const fn of(self, items: &'static [Self]) -> Self {
        Self { items, ..self }
    }

    fn schema(&self) -> Value {
        // Optional types are written as `schemars` writes them, so that all schemas take the same way to their final form.
        let kind = match self.is_required {
            true => json!(self.role.json_type()),
            false => json!([self.role.json_type(), "null"]),
        };
        let mut schema = json!({ "description": self.about, "type": kind });
        if let Some(minimum) = self.role.minimum() {
            schema["minimum"] = minimum.into();
        }
        if !self.is_listed {
            schema[schema::UNLISTED] = true.into();
        }
        match self.role {
            Role::Edits => schema["items"] = object_schema(self.items),
            Role::Range => schema["items"] = json!({ "type": "integer" }),
            _ => {}
        }
        schema
    }
}

/// The path of the file.
pub(crate) const fn path(name: &'static str) -> Field {
    Field::new(name, Role::Path, "The file, relative to the root or absolute.")
}

/// The text to replace.
pub(crate) const fn old(name: &'static str) -> Field {
    Field::new(name, Role::Old, "The exact text to replace; it must occur once.")
}

/// The replacement.
pub(crate) const fn new(name: &'static str) -> Field {
    Field::new(name, Role::New, "The replacement.")
}

/// Whether every occurrence is replaced.
pub(crate) const fn all(name: &'static str) -> Field {
    Field::new(name, Role::All, "Replace every occurrence.").optional()
}

/// The whole content of a file.
pub(crate) const fn content(name: &'static str) -> Field {
    Field::new(name, Role::Content, "The complete content.")
}

/// The schema of a described tool's arguments.
struct Call<S>(PhantomData<S>);

impl<S: Described> JsonSchema for Call<S> {
    fn schema_name() -> Cow<'static, str> {
        S::SPEC.name.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::try_from(object_schema(S::SPEC.fields)).unwrap_or_default()
    }
}

fn object_schema(fields: &[Field]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.name.to_owned(), field.schema())).collect();
    let required: Vec<&str> =
        fields.iter().filter(|field| field.is_required).map(|field| field.name).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// The tool that a description describes.
pub(crate) const fn tool<S: Described>() -> Tool {
    let spec = S::SPEC;
    Tool {
        name: spec.name,
        aliases: spec.aliases,
        title: spec.title,
        about: spec.about,
        effect: match spec.action {
            Action::Replace(_) | Action::Blocks | Action::Sketch => Effect::Edits,
            Action::Write(_) | Action::Patch(_) => Effect::Replaces,
            Action::Read(_) => Effect::Reads,
        },
        empty_is_value: &[],
        example: spec.example,
        schema: schema::of::<Call<S>>,
        parse: |arguments| plan::parse(&S::SPEC, arguments),
    }
}

impl Spec {
    /// The base of a description: replaces a snippet.
    pub(crate) const REPLACE: Self = Self {
        name: "",
        aliases: &[],
        title: "Edit a file",
        about: "",
        example: "",
        action: Action::Replace(EmptyOld::Refused),
        fields: &[],
        paths: Paths::InRoot,
    };

    /// The base of a description: replaces a snippet in fields that many hosts have. An empty old text creates a file.
    pub(crate) const OLD_STRING: Self = Self {
        about: "Replaces text in a file. Include enough surrounding lines in old_string for it to occur exactly once. An \
                empty old_string creates a file.",
        example: r#"{"file_path": "src/main.py", "old_string": "retries = 3", "new_string": "retries = 5"}"#,
        action: Action::Replace(EmptyOld::Creates),
        fields: &[path("file_path"), old("old_string"), new("new_string")],
        ..Self::REPLACE
    };

    /// The base of a description: adds lines, from code in which comments stand for the others.
    pub(crate) const SKETCH: Self =
        Self { title: "Add lines to a file", action: Action::Sketch, ..Self::REPLACE };

    /// The base of a description: creates a file.
    pub(crate) const CREATE: Self = Self {
        title: "Create a file",
        about: "Creates a file and its folders. An existing file is refused.",
        action: Action::Write(Existing::Refused),
        ..Self::REPLACE
    };

    /// The base of a description: writes a whole file.
    pub(crate) const WRITE: Self = Self {
        title: "Write a file",
        action: Action::Write(Existing::Overwritten),
        about: "Creates or overwrites a whole file, with its folders.",
        ..Self::REPLACE
    };

    /// The base of a description: shows a file.
    pub(crate) const READ: Self = Self {
        title: "Read a file",
        action: Action::Read(LinePrefix::Number),
        about: "Shows a file with line numbers, which are not part of the text.",
        ..Self::REPLACE
    };

    /// The base of a description: applies a V4A patch.
    pub(crate) const APPLY_PATCH: Self = Self {
        name: "apply_patch",
        title: "Apply a patch",
        action: Action::Patch(Some(Format::V4a)),
        about: "Applies a patch from *** Begin Patch to *** End Patch with sections *** Update File:, *** Add File:, \
                *** Delete File: and context, - and + lines. All of it is applied or nothing.",
        ..Self::REPLACE
    };
}
