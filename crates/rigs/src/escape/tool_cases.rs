//! The tools of every dialect, as calls with a path to fill in.

use std::fmt;

use serde_json::{Value, json};

use super::sandbox::FIRST_LINE;

/// One use of a tool on a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToolCase {
    pub(super) dialect: &'static str,
    pub(super) tool: &'static str,
    /// The operation, for a tool that has several.
    variant: &'static str,
    /// The kind of path on which it succeeds.
    pub(super) takes: PathKind,
    /// Its arguments for a path.
    pub(super) arguments: fn(&str) -> Value,
}

/// What a tool expects at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathKind {
    /// An existing file.
    File,
    /// A path at which nothing exists.
    NewFile,
    /// An existing folder.
    Folder,
    /// An existing notebook.
    Notebook,
}

impl fmt::Display for ToolCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.dialect, self.tool)?;
        if self.variant.is_empty() { Ok(()) } else { write!(f, " ({})", self.variant) }
    }
}

const fn on_file(dialect: &'static str, tool: &'static str, arguments: fn(&str) -> Value) -> ToolCase {
    ToolCase { dialect, tool, variant: "", takes: PathKind::File, arguments }
}

const fn on_new_file(dialect: &'static str, tool: &'static str, arguments: fn(&str) -> Value) -> ToolCase {
    ToolCase { takes: PathKind::NewFile, ..on_file(dialect, tool, arguments) }
}

const fn on_notebook(dialect: &'static str, tool: &'static str, arguments: fn(&str) -> Value) -> ToolCase {
    ToolCase { takes: PathKind::Notebook, ..on_file(dialect, tool, arguments) }
}

const fn on_folder(dialect: &'static str, tool: &'static str, arguments: fn(&str) -> Value) -> ToolCase {
    ToolCase { takes: PathKind::Folder, ..on_file(dialect, tool, arguments) }
}

impl ToolCase {
    const fn variant(self, variant: &'static str) -> Self {
        Self { variant, ..self }
    }
}

/// Every case. A test requires one for each tool in `BUILTIN` that writes files.
pub(super) const TOOL_CASES: &[ToolCase] = &[
    on_file("native", "read_file", |path| json!({"path": path})),
    on_file("native", "get_file_info", |path| json!({"path": path})),
    on_file("native", "edit_file", |path| {
        json!({"path": path, "old_text": FIRST_LINE, "new_text": "changed"})
    }),
    on_file("native", "edit_file", |path| {
        json!({"path": path, "old_text": FIRST_LINE, "new_text": "changed", "dry_run": true})
    })
    .variant("dry run"),
    on_file("native", "edit_lines", |path| json!({"path": path, "start_line": 1, "new_text": "changed"})),
    on_new_file("native", "write_file", |path| write_file(path, "create")).variant("create"),
    on_file("native", "write_file", |path| write_file(path, "overwrite")).variant("overwrite"),
    on_file("native", "write_file", |path| write_file(path, "append")).variant("append"),
    on_file("native", "write_file", |path| write_file(path, "prepend")).variant("prepend"),
    on_file("native", "patch", |path| unified_diff(path, path, &first_line_hunk())).variant("change"),
    on_new_file("native", "patch", |path| unified_diff("/dev/null", path, "@@ -0,0 +1 @@\n+changed\n"))
        .variant("create"),
    on_file("native", "patch", |path| {
        unified_diff(path, "/dev/null", &format!("@@ -1,3 +0,0 @@\n-{FIRST_LINE}\n-line two\n-line three\n"))
    })
    .variant("delete"),
    on_file("native", "patch", |path| rename(path, "moved.txt")).variant("move from"),
    on_new_file("native", "patch", |path| rename("move-me.txt", path)).variant("move to"),
    on_file("native", "patch", |path| {
        json!({"patch": format!("{path}\n<<<<<<< SEARCH\n{FIRST_LINE}\n=======\nchanged\n>>>>>>> REPLACE\n")})
    })
    .variant("SEARCH/REPLACE"),
    on_file("codex", "apply_patch", |path| v4a(&format!("Update File: {path}\n@@\n-{FIRST_LINE}\n+changed")))
        .variant("update"),
    on_new_file("codex", "apply_patch", |path| v4a(&format!("Add File: {path}\n+changed"))).variant("add"),
    on_file("codex", "apply_patch", |path| v4a(&format!("Delete File: {path}"))).variant("delete"),
    on_new_file("codex", "apply_patch", |path| {
        v4a(&format!("Update File: move-me.txt\n*** Move to: {path}\n@@\n-{FIRST_LINE}\n+changed"))
    })
    .variant("move to"),
    on_file("forge", "Edit", |path| {
        json!({"path": path, "old_snippet": FIRST_LINE, "new_snippet": "changed"})
    })
    .variant("snippet"),
    on_file("forge", "Edit", |path| {
        json!({"path": path, "start_line": 1, "end_line": 1, "new_content": "changed\n"})
    })
    .variant("lines"),
    on_new_file("phoenix", "patch", |path| phoenix(path, "append_eof")).variant("append"),
    on_new_file("phoenix", "patch", |path| phoenix(path, "overwrite")).variant("overwrite"),
    on_file("agent-q", "read_file", |path| json!({"path": path})),
    on_folder("agent-q", "list_directory", |path| json!({"path": path})),
    on_file("agent-q", "edit_file", |path| {
        json!({"path": path, "old_str": FIRST_LINE, "new_str": "changed"})
    }),
    on_file("agent-q", "propose_file_edit", |path| {
        json!({"path": path, "new_content": "changed\n", "description": "a change"})
    }),
    on_file("agent-q", "insert_at_line", |path| json!({"path": path, "line": 0, "content": "changed"})),
    on_new_file("agent-q", "create_file", |path| json!({"path": path, "content": "changed\n"})),
    on_file("agent-q", "move_file", |path| json!({"source": path, "destination": "moved.txt"})).variant("move from"),
    on_new_file("agent-q", "move_file", |path| json!({"source": "move-me.txt", "destination": path})).variant("move to"),
    on_file("agent-q", "delete_file", |path| json!({"path": path, "description": "a deletion"})),
    on_folder("agent-q", "directory_tree", |path| json!({"path": path})),
    on_folder("agent-q", "search_files", |path| json!({"path": path, "pattern": "*"})),
    on_new_file("xzatoma", "edit_file", |path| write_file(path, "create")).variant("create"),
    on_file("xzatoma", "edit_file", |path| write_file(path, "append")).variant("append"),
    on_file("nexus3", "edit_file", |path| {
        json!({"path": path, "old_string": FIRST_LINE, "new_string": "changed"})
    }),
    on_file("nexus3", "edit_lines", |path| json!({"path": path, "start_line": 1, "new_content": "changed"})),
    on_file("nexus3", "patch", |path| json!({"target": path, "diff": first_line_hunk()})),
    on_folder("claude", "str_replace_based_edit_tool", |path| json!({"command": "view", "path": path}))
        .variant("view"),
    on_new_file("claude", "str_replace_based_edit_tool", |path| {
        json!({"command": "create", "path": path, "file_text": "changed\n"})
    })
    .variant("create"),
    on_file("claude", "Read", |path| json!({"file_path": path})),
    on_file("claude", "Edit", |path| {
        json!({"file_path": path, "old_string": FIRST_LINE, "new_string": "changed"})
    }),
    on_notebook("claude", "NotebookEdit", |path| {
        json!({"notebook_path": path, "cell_id": "cell-0", "new_source": "changed"})
    }),
    on_file("claude", "MultiEdit", |path| {
        json!({"file_path": path, "edits": [{"old_string": FIRST_LINE, "new_string": "changed"}]})
    }),
    on_new_file("claude", "Write", |path| json!({"file_path": path, "content": "changed\n"})),
    on_file("gemini", "replace", |path| {
        json!({"file_path": path, "old_string": FIRST_LINE, "new_string": "changed"})
    }),
    on_new_file("gemini", "replace", |path| json!({"file_path": path, "old_string": "", "new_string": "changed\n"}))
        .variant("create"),
    on_new_file("gemini", "write_file", |path| json!({"file_path": path, "content": "changed\n"})),
    on_file("gemini", "read_file", |path| json!({"file_path": path})),
    on_file("qwen", "edit", |path| json!({"file_path": path, "old_string": FIRST_LINE, "new_string": "changed"})),
    on_new_file("qwen", "write_file", |path| json!({"file_path": path, "content": "changed\n"})),
    on_file("opencode", "edit", |path| json!({"filePath": path, "oldString": FIRST_LINE, "newString": "changed"})),
    on_file("opencode", "multiedit", |path| {
        json!({"filePath": path, "edits": [{"oldString": FIRST_LINE, "newString": "changed"}]})
    }),
    on_new_file("opencode", "write", |path| json!({"filePath": path, "content": "changed\n"})),
    on_new_file("opencode", "apply_patch", |path| {
        json!({"patchText": v4a(&format!("Add File: {path}\n+changed"))["input"]})
    }),
    on_file("cline", "editor", |path| json!({"path": path, "old_text": FIRST_LINE, "new_text": "changed"})),
    on_new_file("cline", "editor", |path| json!({"path": path, "new_text": "changed\n"})).variant("create"),
    on_file("cline", "replace_in_file", blocks),
    on_new_file("cline", "write_to_file", |path| json!({"path": path, "content": "changed\n"})),
    on_new_file("cline", "apply_patch", |path| v4a(&format!("Add File: {path}\n+changed"))),
    on_file("roo", "apply_diff", blocks),
    on_file("roo", "edit", |path| json!({"file_path": path, "old_string": FIRST_LINE, "new_string": "changed"})),
    on_file("roo", "edit_file", |path| json!({"file_path": path, "old_string": FIRST_LINE, "new_string": "changed"})),
    on_new_file("roo", "write_to_file", |path| json!({"path": path, "content": "changed\n"})),
    on_new_file("roo", "apply_patch", |path| {
        json!({"patch": v4a(&format!("Add File: {path}\n+changed"))["input"]})
    }),
    on_file("zed", "edit_file", |path| {
        json!({"path": path, "edits": [{"old_text": FIRST_LINE, "new_text": "changed"}]})
    }),
    on_new_file("zed", "write_file", |path| json!({"path": path, "content": "changed\n"})),
    on_file("cursor", "search_replace", |path| {
        json!({"file_path": path, "old_string": FIRST_LINE, "new_string": "changed"})
    }),
    on_new_file("cursor", "edit_file", |path| json!({"target_file": path, "code_edit": "changed\n"})),
    on_file("copilot", "replace_string_in_file", |path| {
        json!({"filePath": path, "oldString": FIRST_LINE, "newString": "changed"})
    }),
    on_file("copilot", "multi_replace_string_in_file", |path| {
        json!({"replacements": [{"filePath": path, "oldString": FIRST_LINE, "newString": "changed"}]})
    }),
    on_notebook("copilot", "edit_notebook_file", |path| {
        json!({"filePath": path, "editType": "edit", "cellId": "cell-0", "newCode": "changed"})
    }),
    on_new_file("copilot", "create_file", |path| json!({"filePath": path, "content": "changed\n"})),
    on_new_file("copilot", "apply_patch", |path| v4a(&format!("Add File: {path}\n+changed"))),
    on_file("copilot-cli", "edit", |path| json!({"path": path, "old_str": FIRST_LINE, "new_str": "changed"})),
    on_new_file("copilot-cli", "create", |path| json!({"path": path, "file_text": "changed\n"})),
    on_new_file("copilot-cli", "apply_patch", |path| v4a(&format!("Add File: {path}\n+changed"))),
    on_file("goose", "edit", |path| json!({"path": path, "before": FIRST_LINE, "after": "changed"})),
    on_new_file("goose", "write", |path| json!({"path": path, "content": "changed\n"})),
    on_folder("openhands", "str_replace_editor", |path| json!({"command": "view", "path": path})).variant("view"),
    on_new_file("openhands", "str_replace_editor", |path| {
        json!({"command": "create", "path": path, "file_text": "changed\n"})
    })
    .variant("create"),
    on_file("aider", "apply_edits", |path| {
        json!({"input": format!("{path}\n{}", blocks(path)["diff"].as_str().unwrap_or_default())})
    })
    .variant("blocks"),
    on_new_file("aider", "apply_edits", |path| json!({"input": format!("{path}\n```\nchanged\n```\n")}))
        .variant("whole file"),
    on_file("hashline", "read", |path| json!({"path": path})),
    on_file("hashline", "edit", |path| {
        json!({"path": path, "edits": [{"replace": {"old_text": FIRST_LINE, "new_text": "changed"}}]})
    }),
    on_new_file("hashline", "write", |path| json!({"path": path, "content": "changed\n"})),
];

/// The arguments of a tool that takes SEARCH/REPLACE blocks for one file.
fn blocks(path: &str) -> Value {
    let diff = format!("<<<<<<< SEARCH\n{FIRST_LINE}\n=======\nchanged\n>>>>>>> REPLACE\n");
    json!({"path": path, "diff": diff})
}

/// The arguments of native `write_file` and xzatoma `edit_file`.
fn write_file(path: &str, mode: &str) -> Value {
    json!({"path": path, "mode": mode, "content": "changed\n"})
}

fn phoenix(path: &str, operation: &str) -> Value {
    json!({"path": path, "patches": [{"operation": operation, "newText": "changed\n"}]})
}

fn v4a(section: &str) -> Value {
    json!({"input": format!("*** Begin Patch\n*** {section}\n*** End Patch\n")})
}

fn unified_diff(old: &str, new: &str, hunk: &str) -> Value {
    let header = |prefix: &str, path: &str| match path {
        "/dev/null" => path.to_owned(),
        path => format!("{prefix}/{path}"),
    };
    json!({"patch": format!("--- {}\n+++ {}\n{hunk}", header("a", old), header("b", new))})
}

/// A hunk that changes the first line.
fn first_line_hunk() -> String {
    format!("@@ -1,2 +1,2 @@\n-{FIRST_LINE}\n+changed\n line two\n")
}

/// The arguments of a `patch` call that only renames.
pub(super) fn rename(from: &str, to: &str) -> Value {
    let head = format!("diff --git a/{from} b/{to}\nsimilarity index 100%");
    json!({"patch": format!("{head}\nrename from {from}\nrename to {to}\n")})
}
