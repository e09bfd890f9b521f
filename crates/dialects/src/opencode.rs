//! The `opencode` dialect: the file tools of opencode and its forks.

use crate::answer;
use crate::phrases::writes_with;
use crate::spec::{Action, Described, EmptyOld, Field, Role, Spec, all, content, new, old, path, tool};
use slipstitch_core::dialect::Dialect;
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::plan::LinePrefix;

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "opencode",
    about: "The tools of opencode and Kilo: edit, multiedit, write, read, apply_patch",
    tools: &[tool::<Edit>(), tool::<MultiEdit>(), tool::<Write>(), tool::<Read>(), tool::<ApplyPatch>()],
    guide: "Read a file before you change it. For edit and multiedit, `oldString` must occur exactly once, unless \
            `replaceAll` is set.",
    phrases: |tool| match tool.name {
        "apply_patch" => HintPhrases { old: "the hunk", ..HintPhrases::NONE },
        _ => PHRASES,
    },
    render: answer::render,
    ..Dialect::PLAIN
};

const PHRASES: HintPhrases =
    HintPhrases { old: "`oldString`", all: Some("set `replaceAll`"), ..writes_with!("write") };

struct Edit;

impl Described for Edit {
    const SPEC: Spec = Spec {
        name: "edit",
        about: "Replaces text in a file. An empty oldString creates a file.",
        example: r#"{"filePath": "src/main.py", "oldString": "retries = 3", "newString": "retries = 5"}"#,
        action: Action::Replace(EmptyOld::Creates),
        fields: &[path("filePath"), old("oldString"), new("newString"), all("replaceAll")],
        ..Spec::REPLACE
    };
}

struct MultiEdit;

impl Described for MultiEdit {
    const SPEC: Spec = Spec {
        name: "multiedit",
        title: "Edit a file in several places",
        about: "Makes several replacements in one file, each in the result of the one before. All are applied or none.",
        example: r#"{"filePath": "src/main.py", "edits": [{"oldString": "a = 1", "newString": "a = 2"}]}"#,
        fields: &[
            path("filePath"),
            Field::new("edits", Role::Edits, "The replacements, in order.").of(&[
                // Older versions listed it here too.
                path("filePath").unlisted(),
                old("oldString"),
                new("newString"),
                all("replaceAll"),
            ]),
        ],
        ..Spec::REPLACE
    };
}

struct Write;

impl Described for Write {
    const SPEC: Spec = Spec {
        name: "write",
        example: r#"{"filePath": "notes/todo.md", "content": "- first\n"}"#,
        fields: &[path("filePath"), content("content")],
        ..Spec::WRITE
    };
}

struct Read;

impl Described for Read {
    const SPEC: Spec = Spec {
        name: "read",
        example: r#"{"filePath": "src/main.py", "offset": 1, "limit": 80}"#,
        action: Action::Read(LinePrefix::Colon),
        fields: &[
            path("filePath"),
            Field::new("offset", Role::First, "The first line, from 1.").optional(),
            Field::new("limit", Role::Limit, "How many lines.").optional(),
        ],
        ..Spec::READ
    };
}

struct ApplyPatch;

impl Described for ApplyPatch {
    const SPEC: Spec = Spec {
        aliases: &["patch"],
        example: r#"{"patchText": "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n*** End Patch"}"#,
        fields: &[Field::new("patchText", Role::Patch, "The complete patch.")],
        ..Spec::APPLY_PATCH
    };
}
