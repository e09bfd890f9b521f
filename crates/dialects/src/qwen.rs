//! The `qwen` dialect: the file tools of Qwen Code.

use crate::answer;
use crate::gemini::{OTHER_NAMES, READ_FILE, WriteFile};
use crate::phrases::writes_with;
use crate::spec::{Described, Field, Role, Spec, all, new, old, path, tool};
use slipstitch_core::dialect::Dialect;
use slipstitch_core::hint::HintPhrases;

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "qwen",
    about: "The tools of Qwen Code: edit, write_file, read_file",
    tools: &[tool::<Edit>(), tool::<WriteFile>(), tool::<ReadFile>()],
    guide: "Read a file with read_file before you change it with edit. `old_string` must occur exactly once, unless \
            `replace_all` is set.",
    other_names: OTHER_NAMES,
    phrases: |_| HintPhrases {
        old: "`old_string`",
        all: Some("set `replace_all`"),
        ..writes_with!("write_file")
    },
    render: answer::render,
    ..Dialect::PLAIN
};

struct Edit;

impl Described for Edit {
    const SPEC: Spec = Spec {
        name: "edit",
        aliases: &["replace"],
        fields: &[path("file_path"), old("old_string"), new("new_string"), all("replace_all")],
        ..Spec::OLD_STRING
    };
}

struct ReadFile;

impl Described for ReadFile {
    const SPEC: Spec = Spec {
        example: r#"{"file_path": "src/main.py", "offset": 0, "limit": 80}"#,
        fields: &[
            path("file_path"),
            Field::new("offset", Role::FirstFromZero, "The first line, counting from 0.").optional(),
            Field::new("limit", Role::Limit, "How many lines.").optional(),
            Field::new("pages", Role::Unused("string"), "Pages of a PDF; has no effect here.").unlisted(),
        ],
        ..READ_FILE
    };
}
