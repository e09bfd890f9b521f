//! The `forge` dialect on disk.

use std::fs;
use std::os::unix::fs::MetadataExt;

use super::rig::Rig;

const SNIPPET: &str = r#"{"path": "a.txt", "old_snippet": "two", "new_snippet": "2"}"#;
const LINES: &str = r#"{"path": "a.txt", "start_line": 2, "end_line": 2, "new_content": "2\n"}"#;

// Shows: FR-SFE-13, T-SFE-ATOM-01
#[test]
fn replaces_the_file_atomically_in_both_variants() {
    for call in [SNIPPET, LINES] {
        let rig = Rig::with("one\ntwo\n");
        let path = rig.root().join("a.txt");
        // If the file were written in place, this handle would read the new text.
        let before = fs::File::open(&path).unwrap();
        let (code, report) = rig.json(["call", "--dialect", "forge", "Edit", call]);
        assert_eq!((code, report["files"][0]["write_mode"].as_str()), (0, Some("exchange")), "{call}");
        assert_eq!(report["payload"]["status"], "ok");
        assert_eq!(rig.get("a.txt"), "one\n2\n");
        assert_ne!(before.metadata().unwrap().ino(), fs::metadata(&path).unwrap().ino());
        assert_eq!(std::io::read_to_string(before).unwrap(), "one\ntwo\n");
        assert_eq!(fs::read_dir(rig.root()).unwrap().count(), 1, "nothing is left behind");
    }
}

// Shows: FR-SFE-13, NFR-SFE-REL-02
#[test]
fn a_failed_edit_does_not_touch_the_file() {
    let rig = Rig::with("one\nthree\n");
    let path = rig.root().join("a.txt");
    let before = fs::metadata(&path).unwrap();
    let (code, report) = rig.json(["call", "--dialect", "forge", "Edit", SNIPPET]);
    assert_eq!((code, report["payload"]["status"].as_str()), (1, Some("no_match")));
    let after = fs::metadata(&path).unwrap();
    assert_eq!((before.ino(), before.mtime_nsec()), (after.ino(), after.mtime_nsec()));
    assert_eq!(rig.get("a.txt"), "one\nthree\n");
}
