//! What is noted of calls, and what is counted of it.

use std::path::Path;

use serde_json::{Value, json};
use slipstitch::core::plan::Run;
use slipstitch::journal::Retention;
use slipstitch::stats::{CallFilter, Group};
use slipstitch::{Fsync, SqliteJournal, Workspace};

fn open(folder: &Path, session: &str, agent: Option<&str>) -> Workspace {
    let builder = Workspace::builder(folder.join("root"))
        .state_dir(folder.join("state"))
        .session(session)
        .fsync(Fsync::Off);
    agent.into_iter().fold(builder, |builder, agent| builder.agent(agent)).open().unwrap()
}

fn rig() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("root")).unwrap();
    std::fs::write(folder.path().join("root/a.txt"), "fn a() {\n    one();\n}\n").unwrap();
    folder
}

fn edit(old: &str, new: &str) -> Value {
    json!({"path": "a.txt", "old_text": old, "new_text": new})
}

#[test]
fn calls_are_counted_by_session_program_and_dialect() {
    let folder = rig();
    let one = open(folder.path(), "one", Some("host"));
    one.call("native", "read_file", json!({"path": "a.txt"}));
    one.call("native", "edit_file", edit("one();", "two();"));
    one.call("native", "edit_file", edit("fn a() { \n    two();  \n}\n", "fn a() { \n    three();\n}\n"));
    one.call("native", "edit_file", edit("nothing of the kind", "x"));
    one.call("native", "edit_file", json!({"path": "a.txt"}));
    one.call("nexus3", "edit_file", json!({"path": "a.txt", "old_string": "zero", "new_string": "x"}));
    let two = open(folder.path(), "two", None);
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
fn roots_are_counted_apart_and_pruned_together() {
    let folder = rig();
    open(folder.path(), "s", None).call("native", "read_file", json!({"path": "a.txt"}));
    let state = folder.path().join("state");
    let elsewhere = SqliteJournal::open(&state, "/elsewhere").unwrap();
    assert!(elsewhere.tallies(&CallFilter::default()).unwrap().is_empty());
    // Fresh calls stay; with an age of none, everything of the past goes.
    assert_eq!(elsewhere.collect(Run::Real).unwrap().calls, 0);
    std::thread::sleep(std::time::Duration::from_millis(5));
    let strict = elsewhere.with_retention(Retention { max_age_days: Some(0), ..Retention::default() });
    assert_eq!(strict.collect(Run::Real).unwrap().calls, 1);
    assert!(open(folder.path(), "s", None).stats(&CallFilter::default()).unwrap().is_empty());
}

#[test]
fn a_call_that_cannot_be_noted_is_answered_all_the_same() {
    let folder = rig();
    let workspace = open(folder.path(), "s", None);
    workspace.call("native", "edit_file", edit("one();", "two();"));
    let database = rusqlite::Connection::open(folder.path().join("state/journal.db")).unwrap();
    database.execute_batch("DROP TABLE calls").unwrap();
    let answer = workspace.call("native", "edit_file", edit("two();", "three();"));
    assert!(answer.report.is_success(), "{}", answer.text);
    assert!(workspace.stats(&CallFilter::default()).is_err(), "the table is really gone");
}

#[test]
fn a_writer_elsewhere_holds_no_look_up() {
    let folder = rig();
    let workspace = open(folder.path(), "s", None);
    let mut database = rusqlite::Connection::open(folder.path().join("state/journal.db")).unwrap();
    let writer = database.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let answer = workspace.call("native", "read_file", json!({"path": "a.txt"}));
    assert!(answer.report.is_success());
    drop(writer);
    assert!(workspace.stats(&CallFilter::default()).unwrap().is_empty(), "the note was given up");
}

#[test]
fn a_change_that_waited_is_counted_as_what_became_of_it() {
    let folder = rig();
    let agent = open(folder.path(), "one", Some("host"));
    let person = open(folder.path(), "person", None);
    let propose = |text: &str| {
        let call = json!({"path": "a.txt", "new_content": text});
        agent.call("agent-q", "propose_file_edit", call).report.proposal.unwrap()
    };
    let counts = || {
        let groups = person.stats(&CallFilter::default()).unwrap();
        let [Group { session, agent, tally, .. }] = &groups[..] else { panic!("one group: {groups:?}") };
        assert_eq!((session.as_str(), agent.as_deref()), ("one", Some("host")));
        let causes: Vec<String> = tally.causes.iter().map(|c| format!("{} {}", c.what, c.count)).collect();
        (tally.calls, tally.applied, tally.refused, causes.join(", "))
    };
    let (first, second, third) = (propose("x\n"), propose("y\n"), propose("z\n"));
    assert_eq!(counts(), (3, 0, 3, "pending_review 3".into()));
    assert_eq!(person.accept(first, "ada").code(), "applied");
    assert_eq!(counts(), (3, 1, 2, "pending_review 2".into()));
    assert_eq!(person.reject(second, "ada", None).code(), "rejected");
    assert_eq!(person.accept(third, "ada").code(), "stale_file");
    assert_eq!(counts(), (3, 1, 2, "declined 1, stale_file 1".into()));
    // What is settled stays as it was counted; what is stale may fit again.
    assert_eq!(person.reject(first, "ada", None).code(), "already_settled");
    assert_eq!(person.accept(second, "ada").code(), "already_settled");
    std::fs::write(folder.path().join("root/a.txt"), "fn a() {\n    one();\n}\n").unwrap();
    assert_eq!(person.accept(third, "ada").code(), "applied");
    assert_eq!(counts(), (3, 2, 1, "declined 1".into()));
}
