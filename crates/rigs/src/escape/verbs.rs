//! What the tools of the dialects do to a path.

use serde_json::{Value, json};

use super::ground::LINE;

/// One way to use a tool on a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Verb {
    /// The tool's dialect.
    pub(super) dialect: &'static str,
    /// The tool.
    pub(super) tool: &'static str,
    /// What it does, where the tool does several things.
    pub(super) way: &'static str,
    /// Whether a path must have a file for it.
    pub(super) on: On,
    /// Its arguments for a path.
    pub(super) arguments: fn(&str) -> Value,
}

/// Where a verb works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum On {
    /// Where a file is.
    File,
    /// Where none is.
    Nothing,
    /// Where a folder is.
    Folder,
}

macro_rules! verb {
    ($dialect:literal, $tool:literal, $way:literal, $on:ident, |$path:ident| $arguments:expr) => {
        Verb { dialect: $dialect, tool: $tool, way: $way, on: On::$on, arguments: |$path| $arguments }
    };
}

/// Every verb.
pub(super) const VERBS: &[Verb] = &[
    verb!("native", "read_file", "", File, |path| json!({"path": path})),
    verb!("native", "get_file_info", "", File, |path| json!({"path": path})),
    verb!(
        "native",
        "edit_file",
        "",
        File,
        |path| json!({"path": path, "old_text": LINE, "new_text": "taken"})
    ),
    verb!("native", "edit_file", "dry run", File, |path| {
        json!({"path": path, "old_text": LINE, "new_text": "taken", "dry_run": true})
    }),
    verb!(
        "native",
        "edit_lines",
        "",
        File,
        |path| json!({"path": path, "start_line": 1, "new_text": "taken"})
    ),
    verb!("native", "write_file", "create", Nothing, |path| write(path, "create")),
    verb!("native", "write_file", "overwrite", File, |path| write(path, "overwrite")),
    verb!("native", "write_file", "append", File, |path| write(path, "append")),
    verb!("native", "write_file", "prepend", File, |path| write(path, "prepend")),
    verb!("native", "patch", "change", File, |path| {
        unified(path, path, &format!("@@ -1,2 +1,2 @@\n-{LINE}\n+taken\n line two\n"))
    }),
    verb!("native", "patch", "create", Nothing, |path| unified("/dev/null", path, "@@ -0,0 +1 @@\n+taken\n")),
    verb!("native", "patch", "delete", File, |path| {
        unified(path, "/dev/null", &format!("@@ -1,3 +0,0 @@\n-{LINE}\n-line two\n-line three\n"))
    }),
    verb!("native", "patch", "move away", File, |path| rename(path, "moved.txt")),
    verb!("native", "patch", "move there", Nothing, |path| rename("move-me.txt", path)),
    verb!("native", "patch", "blocks", File, |path| {
        json!({"patch": format!("{path}\n<<<<<<< SEARCH\n{LINE}\n=======\ntaken\n>>>>>>> REPLACE\n")})
    }),
    verb!("codex", "apply_patch", "update", File, |path| v4a(&format!(
        "Update File: {path}\n@@\n-{LINE}\n+taken"
    ))),
    verb!("codex", "apply_patch", "add", Nothing, |path| v4a(&format!("Add File: {path}\n+taken"))),
    verb!("codex", "apply_patch", "delete", File, |path| v4a(&format!("Delete File: {path}"))),
    verb!("codex", "apply_patch", "move there", Nothing, |path| {
        v4a(&format!("Update File: move-me.txt\n*** Move to: {path}\n@@\n-{LINE}\n+taken"))
    }),
    verb!("forge", "Edit", "snippet", File, |path| {
        json!({"path": path, "old_snippet": LINE, "new_snippet": "taken"})
    }),
    verb!("forge", "Edit", "lines", File, |path| {
        json!({"path": path, "start_line": 1, "end_line": 1, "new_content": "taken\n"})
    }),
    verb!("phoenix", "patch", "append", Nothing, |path| phoenix(path, "append_eof")),
    verb!("phoenix", "patch", "overwrite", Nothing, |path| phoenix(path, "overwrite")),
    verb!("agent-q", "read_file", "", File, |path| json!({"path": path})),
    verb!("agent-q", "list_directory", "", Folder, |path| json!({"path": path})),
    verb!(
        "agent-q",
        "edit_file",
        "",
        File,
        |path| json!({"path": path, "old_str": LINE, "new_str": "taken"})
    ),
    verb!("agent-q", "insert_at_line", "", File, |path| json!({"path": path, "line": 0, "content": "taken"})),
    verb!("xzatoma", "edit_file", "create", Nothing, |path| {
        json!({"path": path, "mode": "create", "content": "taken\n"})
    }),
    verb!("xzatoma", "edit_file", "append", File, |path| {
        json!({"path": path, "mode": "append", "content": "taken\n"})
    }),
    verb!(
        "nexus3",
        "edit_file",
        "",
        File,
        |path| json!({"path": path, "old_string": LINE, "new_string": "taken"})
    ),
    verb!("nexus3", "patch", "", File, |path| {
        json!({"target": path, "diff": format!("@@ -1,2 +1,2 @@\n-{LINE}\n+taken\n line two\n")})
    }),
    verb!(
        "claude",
        "str_replace_based_edit_tool",
        "view",
        Folder,
        |path| json!({"command": "view", "path": path})
    ),
    verb!("claude", "str_replace_based_edit_tool", "create", Nothing, |path| {
        json!({"command": "create", "path": path, "file_text": "taken\n"})
    }),
    verb!("claude", "Read", "", File, |path| json!({"file_path": path})),
    verb!("claude", "Write", "", Nothing, |path| json!({"file_path": path, "content": "taken\n"})),
];

fn write(path: &str, mode: &str) -> Value {
    json!({"path": path, "mode": mode, "content": "taken\n"})
}

fn phoenix(path: &str, operation: &str) -> Value {
    json!({"path": path, "patches": [{"operation": operation, "newText": "taken\n"}]})
}

fn v4a(section: &str) -> Value {
    json!({"input": format!("*** Begin Patch\n*** {section}\n*** End Patch\n")})
}

fn unified(old: &str, new: &str, hunk: &str) -> Value {
    let side = |letter: &str, path: &str| match path {
        "/dev/null" => path.to_owned(),
        path => format!("{letter}/{path}"),
    };
    json!({"patch": format!("--- {}\n+++ {}\n{hunk}", side("a", old), side("b", new))})
}

fn rename(from: &str, to: &str) -> Value {
    let head = format!("diff --git a/{from} b/{to}\nsimilarity index 100%");
    json!({"patch": format!("{head}\nrename from {from}\nrename to {to}\n")})
}

/// Patches whose headers disagree, hide the way out, or name devices.
pub(super) const PATCHES: &[&str] = &[
    "--- a/plain.txt\n+++ b/../outside/secret.txt\n@@ -1 +1 @@\n-line one\n+taken\n",
    "--- ../outside/secret.txt\n+++ plain.txt\n@@ -1 +1 @@\n-line one\n+taken\n",
    "--- a/../../outside/secret.txt\n+++ b/../../outside/secret.txt\n@@ -1 +1 @@\n-line one\n+taken\n",
    "--- \"a/\\056\\056/outside/secret.txt\"\n+++ \"b/\\056\\056/outside/secret.txt\"\n@@ -1 +1 @@\n-line one\n+taken\n",
    "--- \"a/plain.txt\\000\"\n+++ \"b/plain.txt\\000\"\n@@ -1 +1 @@\n-line one\n+taken\n",
    "--- a/rel-folder/secret.txt\t2026-01-01\n+++ b/rel-folder/secret.txt\t2026-01-01\n@@ -1 +1 @@\n-line one\n+taken\n",
    "--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+taken\n",
    "--- /dev/null\n+++ b/dev-null\n@@ -0,0 +1 @@\n+taken\n",
    "--- /dev/zero\n+++ /dev/zero\n@@ -1 +1 @@\n-x\n+taken\n",
    "--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-root:x:0:0:root:/root:/bin/bash\n+taken\n",
    "diff --git a/plain.txt b/plain.txt\nrename from plain.txt\nrename to ../outside/secret.txt\n",
    "diff --git a/plain.txt b/plain.txt\nrename from ../outside/secret.txt\nrename to stolen.txt\n",
    "diff --git a/rel-file b/stolen.txt\nsimilarity index 100%\nrename from rel-file\nrename to stolen.txt\n",
    "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+../outside/secret.txt\n\\ No newline at end of file\n",
    "diff --git a/x b/x\ncopy from ../outside/secret.txt\ncopy to x\n",
    "diff --git a/up b/up\ndeleted file mode 120000\n--- a/up\n+++ /dev/null\n@@ -1 +0,0 @@\n-..\n\\ No newline at end of file\n",
    "Index: ../outside/secret.txt\n===\n--- ../outside/secret.txt\n+++ ../outside/secret.txt\n@@ -1 +1 @@\n-line one\n+taken\n",
    "*** Begin Patch\n*** Update File: ../outside/secret.txt\n@@\n-line one\n+taken\n*** End Patch\n",
    "*** Begin Patch\n*** Add File: rel-folder/new.txt\n+taken\n*** End Patch\n",
    "*** Begin Patch\n*** Update File: plain.txt\n*** Move to: rel-folder/plain.txt\n@@\n-line one\n+taken\n*** End Patch\n",
    "*** Begin Patch\n*** Update File: rel-file\n*** Move to: stolen.txt\n@@\n-line one\n+taken\n*** End Patch\n",
    "*** Begin Patch\n*** Delete File: rel-folder/secret.txt\n*** End Patch\n",
    "*** Begin Patch\n*** Add File: .git/hooks/post-merge\n+id\n*** End Patch\n",
    "../outside/secret.txt\n<<<<<<< SEARCH\nline one\n=======\ntaken\n>>>>>>> REPLACE\n",
    "rel-folder/new.txt\n<<<<<<< SEARCH\n=======\ntaken\n>>>>>>> REPLACE\n",
    "```\n../outside/secret.txt\n<<<<<<< SEARCH\nline one\n=======\ntaken\n>>>>>>> REPLACE\n```\n",
];
