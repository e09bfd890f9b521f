//! The `gemini` dialect: the file tools of Gemini CLI.

use crate::answer;
use crate::spec::{Action, Described, EmptyOld, Field, Role, Spec, content, new, old, path, tool};
use slipstitch_core::dialect::{Dialect, OtherName, Tool};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::plan::LinePrefix;

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "gemini",
    about: "The tools of Gemini CLI: replace, write_file, read_file",
    tools: &[tool::<Replace>(), tool::<WriteFile>(), tool::<ReadFile>()],
    guide: "Read a file with read_file before you change it with replace. `old_string` must occur exactly once, unless \
            `allow_multiple` is set.",
    other_names: &[OtherName { tool: "read_file", other: "absolute_path", field: "file_path" }],
    phrases: |_: &Tool| HintPhrases {
        old: "`old_string`",
        all: Some("set `allow_multiple`"),
        create: Some("create the file with `write_file`"),
        overwrite: Some("overwrite it with `write_file`"),
        fill: Some("write it with `write_file`"),
        ..HintPhrases::NONE
    },
    render: answer::render,
    ..Dialect::PLAIN
};

struct Replace;

impl Described for Replace {
    const SPEC: Spec = Spec {
        name: "replace",
        about: "Replaces text in a file. Include enough surrounding lines in old_string for it to occur exactly once. An \
                empty old_string creates a file.",
        example: r#"{"file_path": "src/main.py", "old_string": "retries = 3", "new_string": "retries = 5"}"#,
        action: Action::Replace(EmptyOld::Creates),
        fields: &[
            path("file_path"),
            Field::new("instruction", Role::Purpose, "What the change is for.").optional(),
            old("old_string"),
            new("new_string"),
            Field::new("allow_multiple", Role::All, "Replace every occurrence.").optional(),
            Field::new("expected_replacements", Role::Expected, "How often old_string occurs, if not once.")
                .optional(),
        ],
        ..Spec::REPLACE
    };
}

pub(super) struct WriteFile;

impl Described for WriteFile {
    const SPEC: Spec = Spec {
        name: "write_file",
        example: r#"{"file_path": "notes/todo.md", "content": "- first\n"}"#,
        fields: &[path("file_path"), content("content")],
        ..Spec::WRITE
    };
}

struct ReadFile;

impl Described for ReadFile {
    const SPEC: Spec = Spec {
        name: "read_file",
        about: "Shows a file, or some of its lines.",
        example: r#"{"file_path": "src/main.py", "start_line": 1, "end_line": 80}"#,
        action: Action::Read(LinePrefix::None),
        fields: &[
            path("file_path"),
            Field::new("start_line", Role::First, "The first line, from 1.").optional(),
            Field::new("end_line", Role::Last, "The last line (inclusive).").optional(),
            Field::new("offset", Role::FirstFromZero, "The first line, counting from 0.").unlisted(),
            Field::new("limit", Role::Limit, "How many lines.").unlisted(),
        ],
        ..Spec::READ
    };
}
