//! What a proposal shows people before they decide.

use serde_json::json;
use slipstitch::Workspace;

/// An agent could put what it wants to hide behind a long harmless part.
#[test]
fn a_diff_whose_end_is_left_out_is_announced() {
    for (bytes, is_whole) in [(2 << 20, true), (9 << 20, false)] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("slipstitch.toml"), "[[rules]]\nverdict = \"ask\"\n").unwrap();
        let open = Workspace::builder(&root).state_dir(folder.path().join("state")).open().unwrap();
        let call = json!({"path": "long.txt", "mode": "create", "content": "x".repeat(bytes)});
        assert_eq!(open.call("native", "write_file", call).report.code(), "pending_review");
        let found = open.proposals().unwrap().remove(0);
        let notes = slipstitch_review::notes_about(&open, &found).join("\n");
        assert_eq!(notes.contains("Not everything is shown."), !is_whole, "{bytes}: {notes}");
    }
}
