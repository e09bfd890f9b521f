//! The `zed` dialect: the file tools of Zed's agent.

use crate::answer;
use crate::spec::{Described, Field, Paths, Role, Spec, content, new, old, tool};
use slipstitch_core::dialect::Dialect;
use slipstitch_core::hint::HintPhrases;

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "zed",
    about: "The tools of Zed's agent: edit_file, write_file",
    tools: &[tool::<EditFile>(), tool::<WriteFile>()],
    guide: "Change a file with edit_file: each `old_text` must occur exactly once. Paths start with the name of the root's \
            folder, or are relative to it.",
    phrases: |_| HintPhrases {
        old: "`old_text`",
        create: Some("create the file with `write_file`"),
        overwrite: Some("overwrite it with `write_file`"),
        fill: Some("write it with `write_file`"),
        ..HintPhrases::NONE
    },
    render: answer::render,
    ..Dialect::PLAIN
};

/// Zed's paths start with the name of the project's folder.
const PATH: Field = Field::new(
    "path",
    Role::Path,
    "The file: the name of the root's folder and the path in it, or only the latter.",
);

struct EditFile;

impl Described for EditFile {
    const SPEC: Spec = Spec {
        name: "edit_file",
        about: "Replaces text in a file, once or several times; each edit applies to the result of the one before. All \
                are applied or none.",
        example: r#"{"path": "app/src/main.rs", "edits": [{"old_text": "retries = 3", "new_text": "retries = 5"}]}"#,
        fields: &[
            PATH,
            Field::new("edits", Role::Edits, "The replacements, in order.")
                .of(&[old("old_text"), new("new_text")]),
        ],
        paths: Paths::WithRootName,
        ..Spec::REPLACE
    };
}

struct WriteFile;

impl Described for WriteFile {
    const SPEC: Spec = Spec {
        name: "write_file",
        example: r#"{"path": "app/notes/todo.md", "content": "- first\n"}"#,
        fields: &[PATH, content("content")],
        paths: Paths::WithRootName,
        ..Spec::WRITE
    };
}
