//! The `agent-q` dialect on disk.

#[cfg(unix)]
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;

use serde_json::Value;

use super::rig::Rig;

fn tool(name: &str) -> Value {
    let listed = Rig::new().run(["tools", "--dialect", "agent-q", name]).object();
    listed["tools"][0].clone()
}

// Shows: edit-file-tool-exists, 002-tools
#[test]
fn lists_every_tool() {
    let names = |options: &[&str]| -> Vec<String> {
        let listed = Rig::new().run(["tools", "--dialect", "agent-q"].iter().chain(options)).object();
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().into()).collect()
    };
    // The tools that the document names.
    assert_eq!(
        names(&[]),
        ["edit_file", "propose_file_edit", "insert_at_line", "read_file", "get_file_info", "list_directory"]
    );
    assert_eq!(
        names(&["--tools", "all"]),
        [
            "edit_file",
            "propose_file_edit",
            "insert_at_line",
            "create_file",
            "move_file",
            "delete_file",
            "read_file",
            "get_file_info",
            "list_directory",
            "directory_tree",
            "search_files",
            "get_project_root"
        ]
    );
}

// Shows: edit-file-is-moderate, edit-file-has-description, edit-file-has-required-parameters, 002-parameters, 002-categories
#[test]
fn edit_file_definition_matches_the_specification() {
    let tool = tool("edit_file");
    let about = tool["description"].as_str().unwrap();
    for sentence in [
        "Make targeted edits to a file using exact string replacement.",
        "The old_str must match exactly once in the file",
        "For multiple changes, call multiple times.",
        "WARNING: This modifies files. Changes are logged and may require approval",
        "Safety level: moderate",
    ] {
        assert!(about.contains(sentence), "{about}");
    }
    assert_eq!(tool["inputSchema"]["required"], serde_json::json!(["path", "old_str", "new_str"]));
    let labels = serde_json::json!({"safety_level": "moderate", "categories": ["filesystem", "editing"]});
    assert_eq!(tool["_meta"]["slipstitch/labels"], labels);
    for (name, about) in [
        ("path", "File path (relative to project root)"),
        ("old_str", "Exact string to find (must be unique)"),
        ("new_str", "Replacement string"),
        ("description", "What this change does (for logging)"),
    ] {
        let field = &tool["inputSchema"]["properties"][name];
        let kind =
            if name == "description" { serde_json::json!(["string", "null"]) } else { "string".into() };
        assert_eq!(field["type"], kind, "{name}");
        assert!(field["description"].as_str().unwrap().starts_with(about), "{field}");
    }
}

// Shows: 002-propose-dangerous
#[test]
fn propose_file_edit_is_marked_dangerous() {
    let tool = tool("propose_file_edit");
    assert!(tool["description"].as_str().unwrap().contains("Safety level: dangerous"));
    assert_eq!(tool["_meta"]["slipstitch/labels"]["safety_level"], "dangerous");
    assert_eq!(tool["annotations"]["destructiveHint"], true);
}

// Shows: 002-change-log, 002-categories
#[test]
fn logs_an_edit_with_its_description_as_cautious() {
    let rig = Rig::with("one\n");
    let call = r#"{"path": "a.txt", "old_str": "one", "new_str": "1", "description": "count by numbers"}"#;
    rig.run(["call", "--dialect", "agent-q", "edit_file", call]).assert_done();
    let change = rig.json(["show", "c1"]).1["change"].take();
    assert_eq!(change["description"], "count by numbers");
    assert_eq!(change["approval"], "auto (cautious)");
    let labels = serde_json::json!({
        "log_level": "cautious", "safety_level": "moderate", "categories": ["filesystem", "editing"],
    });
    assert_eq!(change["labels"], labels);
    assert!(
        rig.run(["show", "c1"])
            .out
            .contains("log level: cautious\nsafety level: moderate\ncategories: filesystem, editing\n")
    );
    assert_eq!((change["dialect"].as_str(), change["tool"].as_str()), (Some("agent-q"), Some("edit_file")));
    assert!(rig.run(["show", "c1"]).out.contains("-one\n+1\n"));
}

// Shows: INV-002
#[cfg(unix)]
#[test]
fn replaces_the_file_atomically() {
    let rig = Rig::with("one\ntwo\n");
    let path = rig.root().join("a.txt");
    // If the file were written in place, this handle would read the new text.
    let before = fs::File::open(&path).unwrap();
    let call = r#"{"path": "a.txt", "old_str": "two", "new_str": "2"}"#;
    rig.run(["call", "--dialect", "agent-q", "edit_file", call]).assert_done();
    assert_eq!(rig.get("a.txt"), "one\n2\n");
    assert_eq!(std::io::read_to_string(&before).unwrap(), "one\ntwo\n");
    let after = fs::metadata(&path).unwrap();
    let run = rig.run(["call", "--dialect", "agent-q", "edit_file", call]);
    assert_eq!(run.code, 1, "{run:?}");
    let again = fs::metadata(&path).unwrap();
    assert_eq!((after.ino(), after.mtime_nsec()), (again.ino(), again.mtime_nsec()));
}

// Shows: INV-003
#[cfg(unix)]
#[test]
fn rejects_paths_and_symlinks_outside_the_root() {
    let rig = Rig::new();
    fs::write(rig.outside().join("secret.txt"), "one\n").unwrap();
    std::os::unix::fs::symlink(rig.outside().join("secret.txt"), rig.root().join("link.txt")).unwrap();
    for path in ["link.txt", "../secret.txt", "/etc/passwd"] {
        let call = serde_json::json!({"path": path, "old_str": "one", "new_str": "1"}).to_string();
        let run = rig.run(["call", "--dialect", "agent-q", "edit_file", &call]);
        assert!(run.out.starts_with("Error: Path outside project root\n"), "{run:?}");
    }
    assert_eq!(fs::read_to_string(rig.outside().join("secret.txt")).unwrap(), "one\n");
}
