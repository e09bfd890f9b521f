//! Statistics about tool calls.

use serde_json::{Value, json};
use slipstitch::core::outcome::Status;
use slipstitch::core::plan::Run;
use slipstitch::journal::Retention;
use slipstitch::stats::{CallFilter, CallGroup};
use slipstitch::{SqliteJournal, Workspace};

use crate::support::{TestFolder, ada};

const TEXT: &str = "fn a() {\n    one();\n}\n";

fn folder() -> TestFolder {
    let folder = TestFolder::new();
    folder.put("a.txt", TEXT);
    folder
}

/// Opens the workspace as a session of the program `host`.
fn open_as_host(folder: &TestFolder, session: &str) -> Workspace {
    folder.builder().session(session).agent("host").open().unwrap()
}

fn edit(old: &str, new: &str) -> Value {
    json!({"path": "a.txt", "old_text": old, "new_text": new})
}

// Shows: 003-metrics, 003-retries
#[test]
fn counts_modes_and_the_attempts_that_corrections_take() {
    let folder = folder();
    let workspace = open_as_host(&folder, "s");
    let call = |mode: &str, old: Option<&str>| {
        let mut call = json!({"path": "a.txt", "mode": mode, "content": "x\n"});
        if let Some(old) = old {
            call["old_text"] = old.into();
        }
        workspace.call("xzatoma", "edit_file", call).report.is_success()
    };
    assert!(call("append", None));
    assert!(!call("edit", None) && !call("edit", Some("not there")) && call("append", None));
    assert!(!call("create", None) && call("append", None));
    assert!(!call("nonsense", None));
    // One edit adds lines, the other replaces one.
    let edit = |old: &str, new: &str| {
        let call = json!({"path": "a.txt", "mode": "edit", "old_text": old, "content": new});
        workspace.call("xzatoma", "edit_file", call).report.is_success()
    };
    assert!(edit("    one();\n", "    one();\n    two();\n") && edit("two();", "three();"));
    let groups = workspace.stats(&CallFilter::default()).unwrap();
    let tally = &groups[0].tally;
    let list = |counts: &[slipstitch::stats::Count]| -> Vec<String> {
        counts.iter().map(|count| format!("{}: {}", count.what, count.count)).collect()
    };
    assert_eq!(list(&tally.modes), ["edit: 4", "append: 3", "create: 1"]);
    assert_eq!(list(&tally.additions), ["append: 3", "edit: 1"], "only calls that added and removed nothing");
    assert_eq!(tally.addition_share("append"), Some(75.0));
    assert_eq!(list(&tally.corrected_after), ["1 attempt: 2", "2 attempts: 1"]);
    assert_eq!((tally.calls, tally.applied), (9, 5));
}

// Shows: 003-metrics
#[test]
fn an_append_that_completes_the_last_line_is_an_addition() {
    let folder = folder();
    folder.put("a.txt", "last");
    let workspace = open_as_host(&folder, "s");
    for (mode, content) in
        [("append", "more"), ("overwrite", "last\nmore\nand more\n"), ("overwrite", "gone\n")]
    {
        let call = json!({"path": "a.txt", "mode": mode, "content": content, "confirm_overwrite": true});
        // The first call of an overwrite shows its diff.
        if mode == "overwrite" {
            workspace.call("xzatoma", "edit_file", call.clone());
        }
        assert!(workspace.call("xzatoma", "edit_file", call).report.is_success());
    }
    let call = json!({"path": "new.txt", "mode": "create", "content": "x\n"});
    assert!(workspace.call("xzatoma", "edit_file", call).report.is_success());
    let tally = &workspace.stats(&CallFilter::default()).unwrap()[0].tally;
    let additions: Vec<_> = tally.additions.iter().map(|count| (count.what.as_str(), count.count)).collect();
    assert_eq!(additions, [("append", 1), ("overwrite", 1)], "neither a new file nor a replaced text");
}

// Shows: 003-error-rate
#[test]
fn shows_which_share_of_the_calls_are_errors() {
    let folder = folder();
    let workspace = open_as_host(&folder, "s");
    let call = |mode: &str, path: &str| {
        let call = json!({"path": path, "mode": mode, "content": "x\n"});
        workspace.call("xzatoma", "edit_file", call).report.status()
    };
    let share = || workspace.stats(&CallFilter::default()).unwrap()[0].tally.error_share();
    for _ in 0..9 {
        assert_eq!(call("append", "a.txt"), Status::Applied);
    }
    assert_eq!(share(), Some(0.0));
    // One is refused, the other has invalid arguments.
    assert_eq!((call("overwrite", "a.txt"), call("edit", "a.txt")), (Status::Refused, Status::Invalid));
    // A change that waits for review is no error.
    assert_eq!(call("create", ".github/workflows/ci.yml"), Status::Pending);
    let expected = 200.0 / 12.0;
    assert!(share().is_some_and(|share| (share - expected).abs() < 1e-9), "{:?}", share());
}

// Shows: 003-rejected-operations
#[test]
fn rejected_operations_are_recorded_with_what_rejected_them() {
    let folder = folder();
    let lines = |count: usize| (0..count).map(|number| format!("line {number}\n")).collect::<String>();
    folder.put("long.txt", &lines(30));
    let workspace = open_as_host(&folder, "s");
    let most = lines(29);
    let reduce = json!({"path": "long.txt", "mode": "edit", "old_text": most, "content": ""});
    let overwrite = json!({"path": "a.txt", "mode": "overwrite", "content": "x\n"});
    let call = |call: &Value| workspace.call("xzatoma", "edit_file", call.clone()).report.is_success();
    let confirmed = |mut call: Value, name: &str| {
        call[name] = true.into();
        call
    };
    // The first one was meant, which its confirmation shows; the second one was not.
    assert!(!call(&reduce) && call(&confirmed(reduce, "confirm_reduction")));
    assert!(!call(&overwrite));
    let tally = &workspace.stats(&CallFilter::default()).unwrap()[0].tally;
    let list = |counts: &[slipstitch::stats::Count]| -> Vec<String> {
        counts.iter().map(|count| format!("{}: {}", count.what, count.count)).collect()
    };
    assert_eq!(list(&tally.causes), ["overwrite_unconfirmed: 1", "shrinks_file: 1"]);
    assert_eq!(list(&tally.corrected_after), ["1 attempt: 1"]);
}

#[test]
fn counts_calls_by_session_program_and_dialect() {
    let folder = folder();
    let one = open_as_host(&folder, "one");
    one.call("native", "read_file", json!({"path": "a.txt"}));
    one.call("native", "edit_file", edit("one();", "two();"));
    one.call("native", "edit_file", edit("fn a() { \n    two();  \n}\n", "fn a() { \n    three();\n}\n"));
    one.call("native", "edit_file", edit("nothing of the kind", "x"));
    one.call("native", "edit_file", json!({"path": "a.txt"}));
    one.call("nexus3", "edit_file", json!({"path": "a.txt", "old_string": "zero", "new_string": "x"}));
    let two = folder.open_session("two");
    two.call(
        "native",
        "edit_file",
        json!({"path": "a.txt", "old_text": "three", "new_text": "four", "dry_run": true}),
    );

    let groups = two.stats(&CallFilter::default()).unwrap();
    let names: Vec<_> =
        groups.iter().map(|g| (g.session.as_str(), g.agent.as_deref(), g.dialect.as_str())).collect();
    assert_eq!(
        names,
        [("one", Some("host"), "native"), ("one", Some("host"), "nexus3"), ("two", None, "native")]
    );
    let tally = &groups[0].tally;
    assert_eq!((tally.calls, tally.applied, tally.recovered, tally.shown), (5, 2, 1, 1), "{tally:?}");
    assert_eq!((tally.refused, tally.invalid, tally.failed), (1, 1, 0), "{tally:?}");
    assert_eq!(tally.recovered_by[0].what, "whitespace");
    assert!(tally.causes.iter().any(|cause| cause.what.starts_with("no_match")), "{tally:?}");
    assert_eq!(groups[2].tally.dry_runs, 1);

    let only = |filter: CallFilter| one.stats(&filter).unwrap().len();
    assert_eq!(only(CallFilter { session: Some("two".into()), ..CallFilter::default() }), 1);
    assert_eq!(only(CallFilter { agent: Some("host".into()), ..CallFilter::default() }), 2);
    assert_eq!(only(CallFilter { dialect: Some("native".into()), ..CallFilter::default() }), 2);
    assert_eq!(only(CallFilter { since: Some(i64::MAX), ..CallFilter::default() }), 0);
}

#[test]
fn counts_roots_separately_and_prunes_them_together() {
    let folder = folder();
    folder.open_session("s").call("native", "read_file", json!({"path": "a.txt"}));
    let elsewhere = SqliteJournal::open(&folder.state(), "/elsewhere").unwrap();
    assert!(elsewhere.count_calls(&CallFilter::default()).unwrap().is_empty());
    // New calls are kept; with a maximum age of zero, all are deleted.
    assert_eq!(elsewhere.collect(Run::Real).unwrap().calls, 0);
    std::thread::sleep(std::time::Duration::from_millis(5));
    let strict = elsewhere.with_retention(Retention { max_age_days: Some(0), ..Retention::default() });
    assert_eq!(strict.collect(Run::Real).unwrap().calls, 1);
    assert!(folder.open_session("s").stats(&CallFilter::default()).unwrap().is_empty());
}

#[test]
fn a_call_that_cannot_be_recorded_still_succeeds() {
    let folder = folder();
    let workspace = folder.open_session("s");
    workspace.call("native", "edit_file", edit("one();", "two();"));
    folder.database().execute_batch("DROP TABLE calls").unwrap();
    let answer = workspace.call("native", "edit_file", edit("two();", "three();"));
    assert!(answer.report.is_success(), "{}", answer.text);
    assert!(workspace.stats(&CallFilter::default()).is_err(), "the table is gone");
}

#[test]
fn another_writer_does_not_delay_a_read() {
    let folder = folder();
    let workspace = folder.open_session("s");
    let mut database = folder.database();
    let writer = database.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let answer = workspace.call("native", "read_file", json!({"path": "a.txt"}));
    assert!(answer.report.is_success());
    drop(writer);
    assert!(workspace.stats(&CallFilter::default()).unwrap().is_empty(), "the record was dropped");
}

#[test]
fn a_reviewed_call_is_counted_by_its_decision() {
    let folder = folder();
    let agent = open_as_host(&folder, "one");
    let reviewer = folder.open_session("reviewer");
    let propose = |text: &str| {
        let call = json!({"path": "a.txt", "new_content": text});
        agent.call("agent-q", "propose_file_edit", call).report.proposal.unwrap()
    };
    let counts = || {
        let groups = reviewer.stats(&CallFilter::default()).unwrap();
        let [CallGroup { session, agent, tally, .. }] = &groups[..] else { panic!("one group: {groups:?}") };
        assert_eq!((session.as_str(), agent.as_deref()), ("one", Some("host")));
        let causes: Vec<String> = tally.causes.iter().map(|c| format!("{} {}", c.what, c.count)).collect();
        (tally.calls, tally.applied, tally.refused, causes.join(", "))
    };
    let (first, second, third) = (propose("x\n"), propose("y\n"), propose("z\n"));
    assert_eq!(counts(), (3, 0, 3, "pending_review 3".into()));
    assert_eq!(reviewer.accept(first, &ada(&reviewer)).code(), "applied");
    assert_eq!(counts(), (3, 1, 2, "pending_review 2".into()));
    assert_eq!(reviewer.reject(second, &ada(&reviewer), None).code(), "rejected");
    assert_eq!(reviewer.accept(third, &ada(&reviewer)).code(), "stale_file");
    assert_eq!(counts(), (3, 1, 2, "declined 1, stale_file 1".into()));
    // A decision is final; but a proposal that was stale can be accepted once it fits again.
    assert_eq!(reviewer.reject(first, &ada(&reviewer), None).code(), "already_settled");
    assert_eq!(reviewer.accept(second, &ada(&reviewer)).code(), "already_settled");
    folder.put("a.txt", TEXT);
    assert_eq!(reviewer.accept(third, &ada(&reviewer)).code(), "applied");
    assert_eq!(counts(), (3, 2, 1, "declined 1".into()));
}
