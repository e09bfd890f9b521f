//! The `qwen` dialect: the file tools of Qwen Code.

use crate::answer;
use crate::gemini::WriteFile;
use crate::spec::{Action, Described, EmptyOld, Field, Role, Spec, all, new, old, path, tool};
use slipstitch_core::dialect::{Dialect, OtherName};
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::plan::LinePrefix;

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "qwen",
    about: "The tools of Qwen Code: edit, write_file, read_file",
    tools: &[tool::<Edit>(), tool::<WriteFile>(), tool::<ReadFile>()],
    guide: "Read a file with read_file before you change it with edit. `old_string` must occur exactly once, unless \
            `replace_all` is set.",
    other_names: &[OtherName { tool: "read_file", other: "absolute_path", field: "file_path" }],
    phrases: |_| HintPhrases {
        old: "`old_string`",
        all: Some("set `replace_all`"),
        create: Some("create the file with `write_file`"),
        overwrite: Some("overwrite it with `write_file`"),
        fill: Some("write it with `write_file`"),
        ..HintPhrases::NONE
    },
    render: answer::render,
    ..Dialect::PLAIN
};

struct Edit;

impl Described for Edit {
    const SPEC: Spec = Spec {
        name: "edit",
        aliases: &["replace"],
        about: "Replaces text in a file. Include enough surrounding lines in old_string for it to occur exactly once. An \
                empty old_string creates a file.",
        example: r#"{"file_path": "src/main.py", "old_string": "retries = 3", "new_string": "retries = 5"}"#,
        action: Action::Replace(EmptyOld::Creates),
        fields: &[path("file_path"), old("old_string"), new("new_string"), all("replace_all")],
        ..Spec::REPLACE
    };
}

struct ReadFile;

impl Described for ReadFile {
    const SPEC: Spec = Spec {
        name: "read_file",
        about: "Shows a file, or some of its lines.",
        example: r#"{"file_path": "src/main.py", "offset": 0, "limit": 80}"#,
        action: Action::Read(LinePrefix::None),
        fields: &[
            path("file_path"),
            Field::new("offset", Role::FirstFromZero, "The first line, counting from 0.").optional(),
            Field::new("limit", Role::Limit, "How many lines.").optional(),
            Field::new("pages", Role::Unused("string"), "Pages of a PDF; has no effect here.").unlisted(),
        ],
        ..Spec::READ
    };
}
