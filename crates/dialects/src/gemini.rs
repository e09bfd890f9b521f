//! The `gemini` dialect: the file tools of Gemini CLI.

use crate::answer;
use crate::phrases::writes_with;
use crate::spec::{Action, Described, Field, Role, Spec, content, new, old, path, tool};
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
    other_names: OTHER_NAMES,
    phrases: |_: &Tool| HintPhrases {
        old: "`old_string`",
        all: Some("set `allow_multiple`"),
        ..writes_with!("write_file")
    },
    render: answer::render,
    ..Dialect::PLAIN
};

/// What the path of a read was called before; the same in Qwen Code, a fork.
pub(super) const OTHER_NAMES: &[OtherName] =
    &[OtherName { tool: "read_file", other: "absolute_path", field: "file_path" }];

struct Replace;

impl Described for Replace {
    const SPEC: Spec = Spec {
        name: "replace",
        fields: &[
            path("file_path"),
            Field::new("instruction", Role::Purpose, "What the change is for.").optional(),
            old("old_string"),
            new("new_string"),
            Field::new("allow_multiple", Role::All, "Replace every occurrence.").optional(),
            Field::new("expected_replacements", Role::Expected, "How often old_string occurs, if not once.")
                .unlisted(),
        ],
        ..Spec::OLD_STRING
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

/// The base of `read_file`, which shows no numbers.
pub(super) const READ_FILE: Spec = Spec {
    name: "read_file",
    about: "Shows a file, or some of its lines.",
    action: Action::Read(LinePrefix::None),
    ..Spec::READ
};

struct ReadFile;

impl Described for ReadFile {
    const SPEC: Spec = Spec {
        example: r#"{"file_path": "src/main.py", "start_line": 1, "end_line": 80}"#,
        fields: &[
            path("file_path"),
            Field::new("start_line", Role::First, "The first line, from 1.").optional(),
            Field::new("end_line", Role::Last, "The last line (inclusive).").optional(),
            Field::new("offset", Role::FirstFromZero, "The first line, counting from 0.").unlisted(),
            Field::new("limit", Role::Limit, "How many lines.").unlisted(),
        ],
        ..READ_FILE
    };
}
