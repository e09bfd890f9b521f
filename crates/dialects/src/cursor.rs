//! The `cursor` dialect: the edit tools of Cursor's agent.

use crate::answer;
use crate::spec::{Described, Field, Role, Spec, path, tool};
use slipstitch_core::dialect::Dialect;
use slipstitch_core::hint::HintPhrases;

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "cursor",
    about: "The tools of Cursor's agent: search_replace, edit_file",
    tools: &[tool::<SearchReplace>(), tool::<EditFile>()],
    guide: "Change a file with search_replace: `old_string` must occur exactly once. Create one with edit_file, which can also \
            add lines between lines of a file.",
    phrases: |_| HintPhrases {
        old: "`old_string`",
        create: Some("create the file with `edit_file`"),
        fill: Some("write it with `edit_file`"),
        ..HintPhrases::NONE
    },
    render: answer::render,
    ..Dialect::PLAIN
};

struct SearchReplace;

impl Described for SearchReplace {
    const SPEC: Spec = Spec { name: "search_replace", ..Spec::OLD_STRING };
}

struct EditFile;

impl Described for EditFile {
    const SPEC: Spec = Spec {
        name: "edit_file",
        about: "Adds lines to a file, or creates one. Give the new lines with the lines before and after them, and a comment \
                `... existing code ...` for what is left out. To change or delete lines use search_replace.",
        example: r#"{"target_file": "notes/todo.md", "code_edit": "- first\n"}"#,
        fields: &[
            path("target_file"),
            Field::new("instructions", Role::Purpose, "What the edit is for.").optional(),
            Field::new("code_edit", Role::Content, "The lines."),
        ],
        ..Spec::SKETCH
    };
}
