//! The `copilot` dialect, the file tools of GitHub Copilot in VS Code, and `copilot-cli`, those of Copilot CLI.

use crate::answer;
use crate::notebook;
use crate::spec::{Action, Described, EmptyOld, Field, Role, Spec, content, new, old, path, tool};
use slipstitch_core::dialect::{Dialect, Tool};
use slipstitch_core::hint::HintPhrases;

/// The entry of `copilot` in the table.
pub(super) const DIALECT: Dialect = Dialect {
    name: "copilot",
    about: "The tools of Copilot in VS Code: replace_string_in_file, multi_replace_string_in_file, create_file, read_file, apply_patch, edit_notebook_file",
    tools: &[
        tool::<ReplaceString>(),
        tool::<MultiReplaceString>(),
        tool::<CreateFile>(),
        tool::<ReadFile>(),
        APPLY_PATCH,
        notebook::EDIT_NOTEBOOK_FILE,
    ],
    // Most sessions have no notebooks.
    optional: &[notebook::EDIT_NOTEBOOK_FILE.name],
    unlisted: &[tool::<InsertEdit>(), EDIT, CREATE, VIEW],
    modernize: notebook::join_lines_of_code,
    guide: "Read a file before you change it. For replace_string_in_file, `oldString` must occur exactly once.",
    phrases,
    render: answer::render,
    ..Dialect::PLAIN
};

/// The entry of `copilot-cli` in the table.
pub(super) const CLI_DIALECT: Dialect = Dialect {
    name: "copilot-cli",
    about: "The tools of Copilot CLI: edit, create, view, apply_patch",
    tools: &[EDIT, CREATE, VIEW, APPLY_PATCH],
    guide: "View a file before you change it with edit; `old_str` must occur exactly once.",
    phrases,
    render: answer::render,
    ..Dialect::PLAIN
};

const EDIT: Tool = tool::<Edit>();
const CREATE: Tool = tool::<Create>();
const VIEW: Tool = tool::<View>();
const APPLY_PATCH: Tool = tool::<ApplyPatch>();

fn phrases(tool: &Tool) -> HintPhrases {
    match tool.name {
        "apply_patch" => HintPhrases { old: "the hunk", ..HintPhrases::NONE },
        "edit" | "create" => HintPhrases {
            old: "`old_str`",
            create: Some("create the file with `create`"),
            ..HintPhrases::NONE
        },
        _ => HintPhrases {
            old: "`oldString`",
            create: Some("create the file with `create_file`"),
            ..HintPhrases::NONE
        },
    }
}

struct ReplaceString;

impl Described for ReplaceString {
    const SPEC: Spec = Spec {
        name: "replace_string_in_file",
        about: "Replaces text in a file. Include context lines in oldString. An empty one creates a file.",
        example: r#"{"filePath": "src/main.py", "oldString": "retries = 3", "newString": "retries = 5"}"#,
        action: Action::Replace(EmptyOld::Creates),
        fields: &[
            path("filePath"),
            old("oldString"),
            new("newString"),
            Field::new("explanation", Role::Purpose, "What the change is for.").unlisted(),
        ],
        ..Spec::REPLACE
    };
}

struct MultiReplaceString;

impl Described for MultiReplaceString {
    const SPEC: Spec = Spec {
        name: "multi_replace_string_in_file",
        title: "Edit files in several places",
        about: "Makes several replacements, all or none.",
        example: r#"{"explanation": "More retries", "replacements": [{"filePath": "a.py", "oldString": "x = 1", "newString": "x = 2"}]}"#,
        fields: &[
            Field::new("explanation", Role::Purpose, "What the change is for.").optional(),
            Field::new("replacements", Role::Edits, "The replacements, in order.").of(&[
                Field::new("explanation", Role::Unused("string"), "What the replacement is for.").unlisted(),
                path("filePath"),
                old("oldString"),
                new("newString"),
            ]),
        ],
        ..Spec::REPLACE
    };
}

struct CreateFile;

impl Described for CreateFile {
    const SPEC: Spec = Spec {
        name: "create_file",
        example: r#"{"filePath": "notes/todo.md", "content": "- first\n"}"#,
        fields: &[path("filePath"), content("content")],
        ..Spec::CREATE
    };
}

struct ReadFile;

impl Described for ReadFile {
    const SPEC: Spec = Spec {
        name: "read_file",
        example: r#"{"filePath": "src/main.py", "startLine": 1, "endLine": 80}"#,
        fields: &[
            path("filePath"),
            Field::new("startLine", Role::First, "The first line, from 1.").optional(),
            Field::new("endLine", Role::Last, "The last line (inclusive).").optional(),
        ],
        ..Spec::READ
    };
}

struct ApplyPatch;

impl Described for ApplyPatch {
    const SPEC: Spec = Spec {
        example: r#"{"input": "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n*** End Patch"}"#,
        fields: &[
            Field::new("input", Role::Patch, "The complete patch."),
            Field::new("explanation", Role::Purpose, "What the change is for.").optional(),
        ],
        ..Spec::APPLY_PATCH
    };
}

struct InsertEdit;

impl Described for InsertEdit {
    const SPEC: Spec = Spec {
        name: "insert_edit_into_file",
        about: "Adds lines to a file, or creates one. Give the new lines with the lines before and after them, and a comment \
                `...existing code...` for what is left out. To change or delete lines use replace_string_in_file.",
        example: r#"{"explanation": "Notes", "filePath": "notes/todo.md", "code": "- first\n"}"#,
        fields: &[
            Field::new("explanation", Role::Purpose, "What the edit is for.").optional(),
            path("filePath"),
            Field::new("code", Role::Content, "The lines."),
        ],
        ..Spec::SKETCH
    };
}

struct Edit;

impl Described for Edit {
    const SPEC: Spec = Spec {
        name: "edit",
        about: "Replaces text in a file. Include enough surrounding lines in old_str for it to occur exactly once.",
        example: r#"{"path": "src/main.py", "old_str": "retries = 3", "new_str": "retries = 5"}"#,
        fields: &[path("path"), old("old_str"), new("new_str")],
        ..Spec::REPLACE
    };
}

struct Create;

impl Described for Create {
    const SPEC: Spec = Spec {
        name: "create",
        example: r#"{"path": "notes/todo.md", "file_text": "- first\n"}"#,
        fields: &[path("path"), content("file_text")],
        ..Spec::CREATE
    };
}

struct View;

impl Described for View {
    const SPEC: Spec = Spec {
        name: "view",
        example: r#"{"path": "src/main.py", "view_range": [1, 80]}"#,
        fields: &[
            path("path"),
            Field::new("view_range", Role::Range, "The first and the last line; -1 is the end.").optional(),
            Field::new("forceReadLargeFiles", Role::Unused("boolean"), "Has no effect here.").optional(),
        ],
        ..Spec::READ
    };
}
