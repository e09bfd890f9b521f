//! Secrets: forgetting on request, and private files whose text is never stored.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use slipstitch::journal::{ForgetError, ForgetSelection};
use slipstitch::{SqliteJournal, Workspace};
use slipstitch_core::cancel::CancelToken;
use slipstitch_core::engine::Request;
use slipstitch_core::outcome::Status;
use slipstitch_core::plan::{ChangeId, Run};
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::journal::{Filter, Journal, ProposalId};
use slipstitch_core::report::Report;

use crate::support::{TestFolder, ada, edit, file};

const SECRET: &str = "hunter2-horse-battery";

/// The files of the state folder that contain the secret.
fn files_with_secret(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with_secret(&path));
        } else if memchr_find(&fs::read(&path).unwrap(), SECRET.as_bytes()) {
            found.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    found
}

fn memchr_find(text: &[u8], needle: &[u8]) -> bool {
    text.windows(needle.len()).any(|window| window == needle)
}

fn call(workspace: &Workspace, dialect: &str, tool: &str, arguments: serde_json::Value) -> Report {
    workspace.call(dialect, tool, arguments).report
}

/// Everything that can bring the secret of `config.txt` into the journal, by the session `s`.
fn spread_secret(workspace: &Workspace) {
    call(workspace, "native", "read_file", json!({"path": "config.txt"}));
    edit(workspace, "config.txt", "password = none", &format!("password = {SECRET}"));
    edit(workspace, "config.txt", "last", "LAST");
    let cut = json!({"path": "config.txt", "patches": [{"operation": "replace", "oldText": format!("password = {SECRET}"),
        "newText": "password = none", "toClipboard": "secret"}]});
    let report = call(workspace, "phoenix", "patch", cut);
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    assert_eq!(call(workspace, "native", "undo_edit", json!({})).status(), Status::Applied);
    // A refused edit, which is remembered with its candidates.
    let wrong = json!({"path": "config.txt", "old_text": format!("pasword = {SECRET}\nfirst line\n"), "new_text": SECRET});
    call(workspace, "native", "edit_file", wrong);
    let proposed = json!({"path": "config.txt", "new_content": format!("{SECRET}\n"), "description": SECRET});
    let report = call(workspace, "agent-q", "propose_file_edit", proposed);
    let id = report.proposal.unwrap_or_else(|| panic!("{report:?}"));
    workspace.reject(id, &ada(workspace), Some("no"));
}

fn spread() -> (TestFolder, Workspace) {
    let folder = TestFolder::new();
    folder.put("config.txt", "first\npassword = none\nlast\n");
    folder.put("other.txt", "one\ntwo\n");
    let workspace = folder.open_session("s");
    edit(&workspace, "other.txt", "one", "1");
    spread_secret(&workspace);
    edit(&workspace, "other.txt", "two", "2");
    assert!(!files_with_secret(&folder.state()).is_empty());
    (folder, workspace)
}

fn ids(workspace: &Workspace) -> Vec<u64> {
    workspace.log(&Filter::default()).unwrap().iter().map(|change| change.id.0).collect()
}

#[test]
fn a_forgotten_file_leaves_no_byte_behind() {
    let (folder, workspace) = spread();
    // Another session only copies it.
    let reader = folder.open_session("reader");
    let copied = json!({"path": "config.txt", "patches": [{"operation": "replace", "oldText": format!("password = {SECRET}"),
        "newText": format!("password = {SECRET}"), "toClipboard": "copy"}]});
    call(&reader, "phoenix", "patch", copied);
    call(&reader, "native", "read_file", json!({"path": "config.txt"}));
    let before = ids(&workspace);
    let selection = ForgetSelection { paths: vec![file("config.txt")], ..ForgetSelection::default() };
    let preview = workspace.forget(&selection, Run::Dry).unwrap();
    assert_eq!(ids(&workspace), before, "a dry run forgets nothing");
    let forgotten = workspace.forget(&selection, Run::Real).unwrap();
    assert_eq!(forgotten, preview);
    assert!(forgotten.changes.len() >= 4 && forgotten.texts > 0 && forgotten.memories > 0, "{forgotten:?}");
    assert_eq!(files_with_secret(&folder.state()), [""; 0]);
    assert_eq!(workspace.check_journal().unwrap().damage, [""; 0]);

    // The rest can be used.
    let kept: Vec<u64> = ids(&workspace);
    assert_eq!(kept.len(), 2, "{kept:?}");
    let report = call(&workspace, "native", "undo_edit", json!({"change": format!("c{}", kept[1])}));
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    assert_eq!(folder.text("other.txt"), "one\n2\n");
    let report = call(&workspace, "native", "undo_edit", json!({"change": forgotten.changes[0].to_string()}));
    assert_eq!(report.code(), "forgotten_change", "{report:?}");
    assert!(report.message.contains("erased with `slipstitch forget`"), "{}", report.message);
}

#[test]
fn a_forgotten_session_leaves_no_byte_behind() {
    let (folder, workspace) = spread();
    let other = folder.open_session("t");
    edit(&other, "other.txt", "2", "zwei");
    let selection = ForgetSelection { session: Some("s".into()), ..ForgetSelection::default() };
    let forgotten = workspace.forget(&selection, Run::Real).unwrap();
    assert!(forgotten.calls > 0, "{forgotten:?}");
    assert_eq!(files_with_secret(&folder.state()), [""; 0]);
    assert_eq!(ids(&workspace).len(), 1);
    assert_eq!(call(&other, "native", "undo_edit", json!({})).status(), Status::Applied);
    assert_eq!(folder.text("other.txt"), "1\n2\n");
    assert_eq!(workspace.check_journal().unwrap().damage, [""; 0]);
}

#[test]
fn forgetting_a_change_forgets_its_undo_and_names_related_changes() {
    let folder = TestFolder::new();
    folder.put("a.txt", "one\ntwo\nthree\n");
    let workspace = folder.open_session("s");
    edit(&workspace, "a.txt", "three", "3");
    edit(&workspace, "a.txt", "one", SECRET);
    call(&workspace, "native", "undo_edit", json!({}));
    let only = |id| ForgetSelection { changes: vec![ChangeId(id)], ..ForgetSelection::default() };
    let forgotten = workspace.forget(&only(2), Run::Real).unwrap();
    assert_eq!(forgotten.changes, [ChangeId(2), ChangeId(3)]);
    assert_eq!(forgotten.related, [ChangeId(1)]);
    assert_eq!(files_with_secret(&folder.state()), [""; 0]);
    // An earlier change of the same file can be undone: the file is as it left it.
    assert_eq!(call(&workspace, "native", "undo_edit", json!({"change": "c1"})).status(), Status::Applied);
    let error = workspace.forget(&only(2), Run::Real).unwrap_err().to_string();
    assert!(error.contains("there is no change c2"), "{error}");
    assert!(workspace.forget(&only(99), Run::Real).is_err());
    let unknown = ForgetSelection { proposals: vec![ProposalId(9)], ..ForgetSelection::default() };
    assert!(workspace.forget(&unknown, Run::Real).is_err());
}

#[test]
fn a_private_file_is_private_by_its_second_name() {
    let folder = TestFolder::new();
    folder.put(".env", &format!("KEY={SECRET}\nmode = one\n"));
    fs::hard_link(folder.at(".env"), folder.at("notes.txt")).unwrap();
    let workspace = folder.open_session("s");
    call(&workspace, "native", "read_file", json!({"path": "notes.txt"}));
    let wrong =
        json!({"path": "notes.txt", "old_text": format!("KEY={SECRET}\nmode = two\n"), "new_text": "x"});
    call(&workspace, "native", "edit_file", wrong);
    drop(workspace);
    assert_eq!(files_with_secret(&folder.state()), [""; 0]);
}

/// A reader keeps the log from being truncated.
#[test]
fn forgetting_while_another_process_reads_is_finished_later() {
    let (folder, workspace) = spread();
    let reader = rusqlite::Connection::open(folder.state().join("journal.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM changes").unwrap();
    let selection = ForgetSelection { paths: vec![file("config.txt")], ..ForgetSelection::default() };
    let error = workspace.forget(&selection, Run::Real).unwrap_err();
    let ForgetError::Unfinished { forgotten, .. } = &error else { panic!("{error:?}") };
    assert!(forgotten.changes.len() >= 4, "{forgotten:?}");
    assert!(error.to_string().contains("not erased from the disk yet"), "{error}");
    assert!(!files_with_secret(&folder.state()).is_empty());
    // Also in the next process.
    drop(workspace);
    let workspace = folder.open_session("s");
    assert_eq!(ids(&workspace).len(), 2);
    assert!(workspace.has_unfinished_erasing());
    assert!(workspace.finish_erasing().is_err(), "the reader is still there");
    reader.execute_batch("ROLLBACK").unwrap();
    assert!(workspace.finish_erasing().unwrap());
    assert_eq!(files_with_secret(&folder.state()), [""; 0]);
    assert!(!workspace.has_unfinished_erasing() && !workspace.finish_erasing().unwrap());
}

/// A proposal names its file and session although it never became a change.
#[test]
fn a_forgotten_proposal_leaves_no_text_of_its_file() {
    for rejected in [true, false] {
        let folder = TestFolder::new();
        folder.put(".curlrc", &format!("user = ada:{SECRET}\nproxy = none\n"));
        let workspace = folder.open_session("s");
        let change = json!({"path": ".curlrc", "old_text": "none", "new_text": "localhost"});
        let report = call(&workspace, "native", "edit_file", change);
        let id = report.proposal.unwrap_or_else(|| panic!("{report:?}"));
        if rejected {
            assert!(workspace.reject(id, &ada(&workspace), None).is_success());
        }
        assert!(!files_with_secret(&folder.state()).is_empty());
        let selection = ForgetSelection { proposals: vec![id], ..ForgetSelection::default() };
        let forgotten = workspace.forget(&selection, Run::Real).unwrap();
        assert!(forgotten.proposals == [id] && forgotten.texts > 0, "{forgotten:?}");
        assert_eq!(files_with_secret(&folder.state()), [""; 0], "rejected: {rejected}");
        assert_eq!(workspace.check_journal().unwrap().damage, [""; 0]);
    }
}

#[test]
fn a_forgotten_proposal_leaves_no_reason_of_a_rejected_hunk() {
    let folder = TestFolder::new();
    let lines: Vec<String> = (0..30).map(|n| format!("line {n}\n")).collect();
    folder.put(".curlrc", &lines.concat());
    let workspace = folder.open_session("s");
    let edits =
        json!([{"old_text": "line 2\n", "new_text": "two\n"}, {"old_text": "line 25\n", "new_text": "x\n"}]);
    let report = call(&workspace, "native", "edit_file", json!({"path": ".curlrc", "edits": edits}));
    let id = report.proposal.unwrap_or_else(|| panic!("{report:?}"));
    let reason = format!("not while it has {SECRET}");
    assert!(workspace.reject_hunks(id, &ada(&workspace), &[1], Some(&reason)).is_success());
    assert!(!files_with_secret(&folder.state()).is_empty());
    let selection = ForgetSelection { proposals: vec![id], ..ForgetSelection::default() };
    workspace.forget(&selection, Run::Real).unwrap();
    assert_eq!(files_with_secret(&folder.state()), [""; 0]);
    assert_eq!(workspace.check_journal().unwrap().damage, [""; 0]);
}

/// A call whose record and texts stay queued in memory, as they do in a server for a moment.
fn call_and_queue(workspace: &Workspace, tool: &str, arguments: Value) {
    let request = Request { dialect: "native".into(), tool: tool.into(), arguments };
    let planned = workspace.plan(request).unwrap();
    let (_, record) = workspace.run_unrecorded(planned, &mut Auto, &CancelToken::default());
    workspace.queue_call_record(record);
}

#[test]
fn text_that_another_process_has_queued_is_forgotten_too() {
    let folder = TestFolder::new();
    folder.put("a.txt", &format!("first\n{SECRET}\nlast\n"));
    let (server, command) = (folder.open_session("s"), folder.open_session("other"));
    call_and_queue(&server, "edit_file", json!({"path": "a.txt", "old_text": "last", "new_text": "end"}));
    let wrong = json!({"path": "a.txt", "old_text": format!("{SECRET} is not there"), "new_text": "x"});
    call_and_queue(&server, "edit_file", wrong);
    call_and_queue(&server, "read_file", json!({"path": "a.txt"}));
    let selection = ForgetSelection { paths: vec![file("a.txt")], ..ForgetSelection::default() };
    command.forget(&selection, Run::Real).unwrap();
    assert!(server.write_call_records());
    assert_eq!(files_with_secret(&folder.state()), [""; 0]);
    std::thread::sleep(std::time::Duration::from_millis(5));
    call_and_queue(&server, "read_file", json!({"path": "a.txt"}));
    assert!(server.write_call_records());
    assert!(!files_with_secret(&folder.state()).is_empty(), "what is shown later is kept again");
}

#[test]
fn a_pending_change_is_not_forgotten() {
    use slipstitch_core::ports::journal::ChangeKind;
    let folder = TestFolder::new();
    fs::create_dir(folder.state()).unwrap();
    let journal = SqliteJournal::open(&folder.state(), "/root").unwrap();
    journal.begin(&crate::support::record(ChangeKind::Edit, Vec::new())).unwrap();
    let selection = ForgetSelection { changes: vec![ChangeId(1)], ..ForgetSelection::default() };
    let error = journal.forget(&selection, Run::Real).unwrap_err().to_string();
    assert!(error.contains("c1 is still pending"), "{error}");
}

#[cfg(unix)]
#[test]
fn text_of_private_files_never_reaches_the_state_folder() {
    let folder = TestFolder::new();
    fs::write(folder.config(), "[protected]\nrule = \"allow\"\n").unwrap();
    folder.put("real/.env", "first\npassword = none\nlast\n");
    std::os::unix::fs::symlink("real/.env", folder.at("config.txt")).unwrap();
    let workspace = folder.open_session("s");
    spread_secret(&workspace);
    assert_eq!(files_with_secret(&folder.state()), [""; 0]);
    // Nothing is left after it is closed either.
    let listed = workspace.log(&Filter::default()).unwrap();
    assert!(listed.len() >= 4, "{listed:?}");
    drop(workspace);
    assert_eq!(files_with_secret(&folder.state()), [""; 0]);
    let workspace = folder.open_session("s");
    let entry = workspace.change(ChangeId(1)).unwrap().unwrap();
    assert!(entry.diff.contains("is private") && !entry.diff.contains(SECRET), "{}", entry.diff);
    assert_eq!(entry.summary.files[0].path_after, Some(file("real/.env")));
}

#[test]
fn a_private_change_is_undone_by_its_own_process_only() {
    let folder = TestFolder::new();
    fs::write(folder.config(), "[protected]\nrule = \"allow\"\n[journal]\nprivate = [\"*.secret\"]\n")
        .unwrap();
    folder.put("a.secret", "one\ntwo\nthree\n");
    let workspace = folder.open_session("s");
    edit(&workspace, "a.secret", "one", SECRET);
    edit(&workspace, "a.secret", "three", "3");
    let undo =
        |workspace: &Workspace, id: &str| call(workspace, "native", "undo_edit", json!({"change": id}));
    assert_eq!(undo(&workspace, "c1").status(), Status::Applied);
    assert_eq!(folder.text("a.secret"), "one\ntwo\n3\n");
    let other = folder.open_session("s");
    let report = undo(&other, "c2");
    assert_eq!((report.status(), report.code()), (Status::Refused, "private_text"), "{report:?}");
    assert_eq!(folder.text("a.secret"), "one\ntwo\n3\n");
    assert_eq!(undo(&workspace, "c2").status(), Status::Applied);
    assert_eq!(files_with_secret(&folder.state()), [""; 0]);
}

#[test]
fn another_process_undoes_the_creation_of_a_private_file_but_not_its_deletion() {
    let folder = TestFolder::new();
    fs::write(folder.config(), "[protected]\nrule = \"allow\"\n").unwrap();
    let undo = |id: &str| call(&folder.open_session("s"), "native", "undo_edit", json!({"change": id}));
    let created = json!({"path": ".env", "content": SECRET, "mode": "create"});
    let created = call(&folder.open_session("s"), "native", "write_file", created);
    assert_eq!(created.status(), Status::Applied, "{created:?}");
    folder.put(".env", "KEY=other\n");
    let changed = undo("c1");
    assert_eq!((changed.status(), changed.code()), (Status::Refused, "changed_since"), "{changed:?}");
    assert_eq!(folder.text(".env"), "KEY=other\n");
    folder.put(".env", SECRET);
    assert_eq!(undo("c1").status(), Status::Applied);
    assert!(!folder.at(".env").exists());
    let restored = undo("c2");
    assert_eq!(restored.code(), "private_text", "{restored:?}");
    assert_eq!(files_with_secret(&folder.state()), [""; 0]);
}

#[test]
fn a_private_proposal_is_erased_once_it_is_decided() {
    for accepted in [true, false] {
        let folder = TestFolder::new();
        folder.put(".env", "password = none\nother\n");
        let workspace = folder.open_session("s");
        let old_new = json!({"path": ".env", "old_text": "none", "new_text": SECRET});
        let report = call(&workspace, "native", "edit_file", old_new);
        let id = report.proposal.unwrap_or_else(|| panic!("{report:?}"));
        assert!(!files_with_secret(&folder.state()).is_empty(), "it is needed until it is decided");
        // By another process, as `slipstitch review` does it.
        let reviewer = folder.open_session("cli");
        let report = match accepted {
            true => reviewer.accept(id, &ada(&reviewer)),
            false => reviewer.reject(id, &ada(&reviewer), None),
        };
        assert!(report.is_success(), "{report:?}");
        assert_eq!(folder.text(".env").contains(SECRET), accepted);
        assert_eq!(files_with_secret(&folder.state()), [""; 0], "accepted: {accepted}");
        let stored = reviewer.proposal(id).unwrap().unwrap();
        assert!(stored.decision.is_some() && stored.proposal.files.is_empty());
        assert_eq!(reviewer.check_journal().unwrap().damage, [""; 0]);
    }
}

#[test]
fn a_project_file_can_only_add_private_files() {
    let folder = TestFolder::new();
    fs::write(folder.config(), "[protected]\nrule = \"allow\"\n").unwrap();
    folder.put("slipstitch.toml", "[journal]\nprivate = [\"mine.txt\"]\nprivate_except = [\".env\"]\n");
    folder.put("mine.txt", "none\n");
    folder.put(".env", "none\n");
    let workspace = folder.open_session("s");
    edit(&workspace, "mine.txt", "none", SECRET);
    edit(&workspace, ".env", "none", SECRET);
    assert_eq!(files_with_secret(&folder.state()), [""; 0]);
    fs::write(folder.config(), "[protected]\nrule = \"allow\"\n[journal]\nprivate_except = [\".env\"]\n")
        .unwrap();
    let workspace = folder.open_session("s");
    edit(&workspace, ".env", SECRET, "none");
    assert!(!files_with_secret(&folder.state()).is_empty(), "the user's settings can exempt it");
}
