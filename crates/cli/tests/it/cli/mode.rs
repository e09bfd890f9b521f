//! `slipstitch mode`.

use super::rig::Rig;

const CALL: [&str; 3] = ["call", "edit_file", r#"{"path": "a.txt", "old_text": "one", "new_text": "1"}"#];

#[test]
fn a_restricted_session_can_read_but_not_write() {
    let rig = Rig::with("one\n");
    assert_eq!(rig.run(["mode"]).out, "unrestricted\n");
    rig.run(["mode", "restricted"]).assert_done();
    assert_eq!(rig.run(["mode"]).out, "restricted\n");
    rig.run(CALL).assert_failed(1, &["Restricted mode"]);
    rig.run(["call", "read_file", r#"{"path": "a.txt"}"#]).assert_done();
    assert_eq!(rig.get("a.txt"), "one\n");
    rig.run(["--session", "other"].into_iter().chain(CALL)).assert_done();
    rig.run(["mode", "unrestricted"]).assert_done();
    rig.run(["mode", "nonsense"]).assert_failed(2, &["restricted"]);
}
