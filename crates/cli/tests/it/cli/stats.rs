//! `slipstitch stats`.

use super::rig::Rig;

fn call(rig: &Rig, session: &str, old: &str, new: &str) {
    let arguments = format!(r#"{{"path": "a.txt", "old_text": "{old}", "new_text": "{new}"}}"#);
    rig.run(["call", "edit_file", &arguments, "--session", session, "--agent", "host"]);
}

// Shows: 003-metrics, 003-retries, 003-error-rate
#[test]
fn shows_modes_additions_and_corrections() {
    let rig = Rig::with("one\n");
    let call = |mode: &str| {
        let call = format!(r#"{{"path": "a.txt", "mode": "{mode}", "content": "two\n"}}"#);
        rig.run(["call", "--dialect", "xzatoma", "edit_file", &call]).code
    };
    // What the agent in the document does: an edit without its anchor, then an append.
    assert_eq!((call("edit"), call("append")), (2, 0));
    let shown = rig.run(["stats"]).out;
    for line in [
        "  errors: 50% of the calls\n",
        "  not applied: old_text_missing 1\n",
        "  modes: append 1, edit 1\n",
        "  additions: append 1 (100%)\n",
        "  corrected after: 1 attempt 1\n",
    ] {
        assert!(shown.contains(line), "{line}{shown}");
    }
}

#[test]
fn counts_calls_with_causes() {
    let rig = Rig::with("fn a() {\n    one();\n}\n");
    call(&rig, "s", "one();", "two();");
    call(&rig, "s", "fn a() {\\n    two();  \\n}\\n", "fn a() {\\n    three();\\n}\\n");
    call(&rig, "s", "nothing of the kind", "x");
    call(&rig, "t", "three", "four");
    // A command at a terminal is not a tool call.
    rig.run(["edit", "a.txt", "--old", "four", "--new", "five"]).assert_done();

    let run = rig.run(["stats"]);
    run.assert_done();
    let lines: Vec<Vec<&str>> = run.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1], ["s", "(host),", "native", "3", "2", "1", "0", "0", "0", "1", "0", "0"], "{run:?}");
    assert_eq!(lines[2], ["errors:", "33%", "of", "the", "calls"]);
    assert_eq!(lines[3], ["recovered:", "whitespace", "1"]);
    assert_eq!(lines[4][..2], ["not", "applied:"], "{run:?}");
    assert_eq!(lines[6][..3], ["total", "4", "3"], "{run:?}");

    let (_, counts) = rig.json(["stats"]);
    assert_eq!(counts["groups"][0]["agent"], "host");
    assert_eq!((&counts["total"]["applied"], &counts["total"]["calls"]), (&3.into(), &4.into()), "{counts}");
    assert_eq!(rig.json(["stats", "--session", "t"]).1["total"]["calls"], 1);
    assert_eq!(rig.json(["stats", "--agent", "other"]).1["total"]["calls"], 0);
    assert_eq!(rig.json(["stats", "--dialect", "codex"]).1["groups"], serde_json::json!([]));
    assert_eq!(rig.json(["stats", "--since", "2999-01-01"]).1["total"]["calls"], 0);
    assert_eq!(rig.json(["stats", "--since", "1h"]).1["total"]["calls"], 4);
}

#[test]
fn explains_invalid_arguments() {
    let rig = Rig::new();
    assert!(rig.run(["stats"]).err.contains("No calls recorded here."));
    rig.run(["stats", "--dialect", "klingon"]).assert_failed(2, &["klingon", "`native`"]);
    rig.run(["stats", "--since", "soon"]).assert_failed(2, &["soon"]);
}

#[test]
fn shows_the_last_refused_edits_and_forgets_them_on_request() {
    let rig = Rig::with("timeout = 30\n");
    rig.put(".env", "secret = 1\n");
    call(&rig, "s", "timeout = 31", "timeout = 60");
    let arguments = r#"{"path": ".env", "old_text": "secret = 2", "new_text": "x"}"#;
    rig.run(["call", "edit_file", arguments, "--session", "s"]);
    let run = rig.run(["stats"]);
    for part in [
        "Last refused edits",
        "why      no_match, changed_line",
        "sent     timeout = 31",
        "closest  1: timeout = 30",
    ] {
        assert!(run.out.contains(part), "`{part}` is missing: {run:?}");
    }
    assert!(!run.out.contains("secret"), "private text is not kept: {run:?}");
    rig.put("b.txt", "x = 1\nx = 1\n");
    rig.run(["call", "edit_file", r#"{"path": "b.txt", "old_text": "x = 1", "new_text": "y"}"#]);
    let ambiguous = rig.run(["stats", "--file", "b.txt"]);
    assert!(ambiguous.out.contains("why      ambiguous\n  sent     x = 1\n"), "{ambiguous:?}");
    rig.allow_unattended_review();
    rig.run(["forget", "--file", "b.txt", "--yes"]).assert_done();
    let failures = |options: &[&str]| {
        let (_, stats) = rig.json([&["stats"], options].concat());
        stats["failures"].as_array().unwrap().len()
    };
    assert_eq!((failures(&[]), failures(&["--session", "t"]), failures(&["--agent", "host"])), (1, 0, 1));
    assert_eq!(failures(&["--until", "2001-01-01"]), 0);
    for n in 0..25 {
        call(&rig, "s", &format!("timeout = {}", 100 + n), "x");
    }
    assert_eq!(failures(&[]), 20, "the oldest are dropped");
    rig.allow_unattended_review();
    rig.run(["forget", "--file", "a.txt", "--yes"]).assert_done();
    assert_eq!(failures(&[]), 0);
}

#[test]
fn rows_are_sessions_agents_or_dialects() {
    let rig = Rig::with("one\n");
    call(&rig, "s", "one", "two");
    call(&rig, "t", "two", "three");
    rig.run([
        "call",
        "--dialect",
        "claude",
        "Edit",
        r#"{"file_path": "a.txt", "old_string": "x", "new_string": "y"}"#,
    ]);
    let first_words = |by: &str| -> Vec<String> {
        let out = rig.run(["stats", "--by", by]).out;
        let rows =
            out.lines().skip(1).take_while(|line| !line.is_empty()).filter(|line| !line.starts_with(' '));
        let mut names: Vec<String> = rows.map(|line| line.split("  ").next().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(first_words("agent"), ["host", "no name", "total"].map(str::to_owned));
    assert_eq!(first_words("dialect"), ["claude", "native", "total"].map(str::to_owned));
    assert_eq!(first_words("session").len(), 4);
    rig.run(["stats", "--by", "host"]).assert_failed(2, &["possible values: session, agent, model, dialect"]);
}

#[test]
fn calls_are_counted_by_model() {
    let rig = Rig::with("one\n");
    let call = |old: &str, new: &str, options: &[&str]| {
        let arguments = format!(r#"{{"path": "a.txt", "old_text": "{old}", "new_text": "{new}"}}"#);
        rig.run([&["call", "edit_file", &arguments], options].concat());
    };
    call("one", "two", &["--model", "gpt-5.2"]);
    call("ten", "three", &["--model", "gpt-5.2"]);
    call("two", "four", &[]);
    let mut command = rig.command();
    let arguments = r#"{"path": "a.txt", "old_text": "four", "new_text": "five"}"#;
    command.env("SLIPSTITCH_MODEL", "opus").args(["call", "edit_file", arguments]);
    assert!(command.output().unwrap().status.success());

    let run = rig.run(["stats", "--by", "model"]);
    let words: Vec<Vec<&str>> =
        run.out.lines().map(|line| line.split_whitespace().take(3).collect()).collect();
    for row in [vec!["gpt-5.2", "2", "1"], vec!["not", "known", "1"], vec!["opus", "1", "1"]] {
        assert!(words.contains(&row), "{row:?} is missing: {run:?}");
    }
    assert!(run.out.contains("  model    gpt-5.2\n"), "the refused edit names it: {run:?}");
    let (_, counts) = rig.json(["stats", "--model", "gpt-5.2"]);
    assert_eq!((&counts["total"]["calls"], &counts["failures"][0]["model"]), (&2.into(), &"gpt-5.2".into()));
    assert_eq!(rig.json(["stats", "--model", "opus"]).1["failures"], serde_json::json!([]));
}

#[test]
fn calls_are_counted_by_file() {
    let rig = Rig::with("one\n");
    std::fs::create_dir(rig.root().join("src")).unwrap();
    rig.put("src/b.txt", "one\n");
    for path in ["a.txt", "src/b.txt", "src/none.txt"] {
        rig.run(["call", "read_file", &format!(r#"{{"path": "{path}"}}"#)]);
    }
    let patch = "--- a/a.txt\\n+++ b/a.txt\\n@@ -1 +1 @@\\n-one\\n+two\\n--- a/src/b.txt\\n+++ b/src/b.txt\\n\
                 @@ -1 +1 @@\\n-one\\n+two\\n";
    rig.run(["call", "patch", &format!(r#"{{"patch": "{patch}"}}"#)]).assert_done();
    rig.run(["call", "undo_edit", "{}"]).assert_done();
    let calls = |path: &str| rig.json(["stats", "--file", path]).1["total"]["calls"].clone();
    assert_eq!([calls("a.txt"), calls("src"), calls("src/b.txt"), calls(".")], [3, 4, 3, 5]);
    assert_eq!(calls("src/none.txt"), 1, "it does not exist, but a call was about it");
    rig.allow_unattended_review();
    rig.run(["forget", "--file", "src/b.txt", "--yes"]).assert_done();
    assert_eq!([calls("a.txt"), calls("src"), calls("src/b.txt")], [3, 1, 0]);
    rig.run(["doctor"]).assert_done();
}
