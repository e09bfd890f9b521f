//! The `cursor` dialect: the edit tools of Cursor's agent.

use crate::answer;
use crate::spec::{Action, Described, EmptyOld, Existing, Field, Role, Spec, new, old, path, tool};
use slipstitch_core::dialect::Dialect;
use slipstitch_core::hint::HintPhrases;

/// The dialect's entry in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "cursor",
    about: "The tools of Cursor's agent: search_replace, edit_file for new files",
    tools: &[tool::<SearchReplace>(), tool::<EditFile>()],
    guide: "Change a file with search_replace: `old_string` must occur exactly once. Create one with edit_file.",
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
    const SPEC: Spec = Spec {
        name: "search_replace",
        about: "Replaces text in a file. Include enough surrounding lines in old_string for it to occur exactly once. An \
                empty old_string creates a file.",
        example: r#"{"file_path": "src/main.py", "old_string": "retries = 3", "new_string": "retries = 5"}"#,
        action: Action::Replace(EmptyOld::Creates),
        fields: &[path("file_path"), old("old_string"), new("new_string")],
        ..Spec::REPLACE
    };
}

/// Where code is left out, only a second model could say what belongs there. So only new files are written.
struct EditFile;

impl Described for EditFile {
    const SPEC: Spec = Spec {
        name: "edit_file",
        title: "Create a file",
        about: "Creates a file with the complete content. To change a file use search_replace.",
        example: r#"{"target_file": "notes/todo.md", "code_edit": "- first\n"}"#,
        action: Action::Write(Existing::Filled),
        fields: &[
            path("target_file"),
            Field::new("instructions", Role::Purpose, "What the file is for.").optional(),
            Field::new("code_edit", Role::Content, "The complete content, nothing left out."),
        ],
        ..Spec::WRITE
    };
}
