//! `slipstitch write` and `slipstitch append`.

use super::rig::Rig;

#[test]
fn creates_a_file_and_its_folders() {
    let rig = Rig::new();
    let run = rig.run(["write", "deep/er/b.txt", "--content", "hi\n"]);
    run.assert_done();
    assert!(
        run.out.contains("+++ b/deep/er/b.txt") && run.err.starts_with("Created `deep/er/b.txt`"),
        "{run:?}"
    );
    assert_eq!(rig.get("deep/er/b.txt"), "hi\n");
}

#[test]
fn reads_the_content_from_every_source() {
    let rig = Rig::with("old\n");
    rig.put("source", "from a file\n");
    rig.run(["write", "a.txt", "--from", "source"]).assert_done();
    assert_eq!(rig.get("a.txt"), "from a file\n");
    rig.run_fed(["write", "a.txt", "--from", "-"], "one\n").assert_done();
    assert_eq!(rig.get("a.txt"), "one\n");
    rig.run_fed(["write", "a.txt", "-"], "two\n").assert_done();
    assert_eq!(rig.get("a.txt"), "two\n");
    rig.run_fed(["write", "a.txt"], "three\n").assert_done();
    assert_eq!(rig.get("a.txt"), "three\n");
    rig.run(["write", "a.txt", "--content", ""]).assert_done();
    assert_eq!(rig.get("a.txt"), "");
}

#[test]
fn an_empty_pipe_does_not_empty_the_file() {
    let rig = Rig::with("text\n");
    rig.run_fed(["write", "a.txt"], "").assert_failed(2, &["standard input is empty", "--content ''"]);
    assert_eq!(rig.get("a.txt"), "text\n");
    rig.run_fed(["write", "a.txt", "-"], "").assert_done();
    assert_eq!(rig.get("a.txt"), "");
}

#[test]
fn create_refuses_an_existing_file() {
    let rig = Rig::with("text\n");
    rig.run(["write", "a.txt", "--create", "--content", "x"]).assert_failed(1, &["already exists"]);
    assert_eq!(rig.get("a.txt"), "text\n");
    rig.run(["write", "b.txt", "--create", "--content", "x"]).assert_done();
    assert_eq!(rig.get("b.txt"), "x");
}

#[test]
fn hash_and_dry_run_apply_to_write() {
    let rig = Rig::with("text\n");
    let stale = format!("sha256:{}", "0".repeat(64));
    rig.run(["write", "a.txt", "--content", "x", "--hash", &stale])
        .assert_failed(1, &["has changed since the given version"]);
    rig.run(["write", "a.txt", "--content", "x", "--dry-run"]).assert_done();
    assert_eq!(rig.get("a.txt"), "text\n");
}

#[test]
fn conflicting_or_invalid_sources_are_usage_errors() {
    let rig = Rig::with("text\n");
    rig.run(["write", "a.txt", "--content", "x", "--from", "y"]).assert_failed(2, &["cannot be used with"]);
    rig.run(["write", "a.txt", "-", "--content", "x"]).assert_failed(2, &["cannot be used with"]);
    for command in ["write", "append"] {
        let tip = format!("name the text: slipstitch {command} FILE --content TEXT");
        rig.run([command, "a.txt", "text"])
            .assert_failed(2, &["error: unexpected argument 'text' found\n", &tip]);
        let json = rig.json([command, "a.txt", "text", "--json"]).1;
        assert_eq!(json["message"], "unexpected argument 'text' found");
    }
    rig.run(["write", "a.txt", "--from", "gone"]).assert_failed(2, &["`gone`"]);
    rig.run_fed(["write", "a.txt", "-"], b"\xff").assert_failed(2, &["standard input is not valid UTF-8"]);
    assert_eq!(rig.get("a.txt"), "text\n");
}

#[test]
fn adds_text_to_either_end() {
    let rig = Rig::with("middle");
    rig.run(["append", "a.txt", "--content", "end\n"]).assert_done();
    assert_eq!(rig.get("a.txt"), "middle\nend\n");
    rig.run_fed(["append", "a.txt", "--prepend"], "start\n").assert_done();
    assert_eq!(rig.get("a.txt"), "start\nmiddle\nend\n");
    rig.run_fed(["append", "new.txt", "-"], "first\n").assert_done();
    assert_eq!(rig.get("new.txt"), "first\n");
    rig.run(["append", "a.txt", "--content", "x", "--dry-run"]).assert_done();
    assert_eq!(rig.get("a.txt"), "start\nmiddle\nend\n");
    rig.run_fed(["append", "a.txt"], "").assert_failed(2, &["standard input is empty"]);
}
