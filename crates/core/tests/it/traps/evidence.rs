//! Quotations of earlier versions, twins, and the same mistake in every form.

use rstest::rstest;
use serde_json::{Value, json};
use slipstitch_core::find::Cause;
use slipstitch_core::outcome::Status;
use slipstitch_core::ports::versions::ChangedBy;
use slipstitch_core::report::{FailureReport, Report};

use super::{applied, refused};
use crate::rig::{Rig, path};

const READER: &str =
    "def open_read(path):\n    check(path)\n    file = open(path, \"r\")\n    return wrap(file)\n";
const WRITER: &str =
    "def open_write(path):\n    check(path)\n    file = open(path, \"w\")\n    return wrap(file)\n";

/// A file that the session read as `seen` and that then became `now`.
fn changed_since(seen: &str, now: &str) -> Rig {
    let rig = Rig::new(seen);
    assert_eq!(rig.call("read_file", json!({})).report.status(), Status::Shown);
    rig.files.put(&path("file.txt"), now);
    rig
}

#[track_caller]
fn cause(report: &Report) -> Option<Cause> {
    report.failures.first().and_then(|failure| failure.cause)
}

#[test]
fn a_removed_block_is_never_taken_for_its_twin() {
    let (both, left) = (format!("{READER}\n\n{WRITER}"), WRITER);
    let new = READER.replace("wrap(file)", "wrap(file, lock)");
    // On text alone.
    refused(left, READER, &new, "no_match");
    // With evidence, also if words were swapped so that only one line differs.
    let rig = changed_since(&both, left);
    let answer = rig.edit(READER, &new);
    assert_eq!(cause(&answer.report), Some(Cause::RemovedSince), "{}", answer.text);
    assert_eq!(rig.bytes(), left.as_bytes());
    assert_eq!(answer.report.failures[0].changed_by, Some(ChangedBy::Outside));
}

/// Two blocks have a line in common. One of them is gone, and a new one has the line too.
#[rstest]
#[case::replaced("call_listeners(event, \"ready\")", "call_listeners(event, \"done\")")]
#[case::inserted("call_listeners(event, \"ready\")", "call_listeners(event, \"ready\")\n    log_event()")]
fn a_line_that_twins_have_needs_the_line_that_tells_them_apart(#[case] line: &str, #[case] new_line: &str) {
    let shared = "    when(event.button == left)\n    var listeners = find_listeners(event)\n";
    let seen = format!(
        "open_window()\n  const press = plain\n    prevent_default(event)\n    {line}\n  end\n  const click = plain\n{shared}    {line}\n  end\nclose_window()\n"
    );
    let now = format!(
        "open_window()\n  const click = quick\n    {line}\n    focus(event)\n  end\n  const press = quick\n{shared}    prevent_default(event)\n    {line}\n  end\nclose_window()\n"
    );
    let old = format!("    {line}\n  end\n  const click = plain\n{shared}");
    let rig = changed_since(&seen, &now);
    let answer = rig.edit(&old, &old.replace(line, new_line));
    assert!(!answer.report.status().is_success(), "{}", answer.text);
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), now);
    let failure = &answer.report.failures[0];
    assert_eq!((&failure.resend, &failure.resend_edit), (&None, &None), "{}", answer.text);
}

/// A short line that is in the file once does not show that a rewritten one beside the change is the quoted one: every chain may end
/// with it.
#[rstest]
#[case::inserted_between(&["        .cloned()"], &["        .filter(is_known)", "        .cloned()"])]
#[case::inserted_below(&["        .cloned()"], &["        .cloned()", "        .filter(is_known)"])]
#[case::inserted_further_below(
    &["        .ok_or_else(|| {"],
    &["        .ok_or_else(|| {", "            log(skxg);"]
)]
#[case::replaced(&["        .cloned()"], &["        .copied()"])]
#[case::removed(&["        .cloned()"], &[])]
fn a_short_line_is_no_proof_beside_a_rewritten_one(#[case] old: &[&str], #[case] new: &[&str]) {
    const LEFT: &str = "fn start() {\n    let point = SUPPORTED\n        .iter()\n        .find(|format| points_ext.contains(format))\n        .cloned()\n        .ok_or_else(|| {\n            send_fatal_alert(\n                Alert::HandshakeFailure,\n            )\n        });\n}\n\nfn reset() {\n    send_fatal_alert(\n        Alert::Internal,\n    );\n}\n";
    let quoted = "        .find(|skxg| groups_ext.contains(&skxg.name()))\n        .cloned()\n        .ok_or_else(|| {\n            send_fatal_alert(\n                Alert::HandshakeFailure,\n";
    let line = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    assert!(quoted.contains(&line(old)));
    let wanted = quoted.replace(&line(old), &line(new));
    refused(LEFT, quoted, &wanted, "no_match");
    let mark =
        |text: &str, mark: char| text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
    let (above, below) = quoted.split_once(&line(old)).expect("the quotation has the line");
    let hunk = [mark(above, ' '), mark(&line(old), '-'), mark(&line(new), '+'), mark(below, ' ')].concat();
    for patch in [
        format!("*** Begin Patch\n*** Update File: file.txt\n@@\n{hunk}*** End Patch\n"),
        format!("--- a/file.txt\n+++ b/file.txt\n@@ @@\n{hunk}"),
    ] {
        let rig = Rig::new(LEFT);
        let answer = rig.call("patch", json!({"patch": patch}));
        assert!(!answer.report.status().is_success(), "{}", answer.text);
        assert_eq!(rig.bytes(), LEFT.as_bytes());
    }
}

#[test]
fn a_stale_quotation_is_carried_over_if_its_lines_are_untouched() {
    let now = READER.replace("def open_read(path):", "def open_read(path, mode):");
    let rig = changed_since(READER, &format!("import os\n\n{now}"));
    let answer = rig.edit(READER, &READER.replace("wrap(file)", "wrap(file, lock)"));
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    let expected = format!("import os\n\n{}", now.replace("wrap(file)", "wrap(file, lock)"));
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), expected);
    assert!(answer.text.contains("quoted from an earlier version"), "{}", answer.text);
}

#[test]
fn a_refusal_names_the_change_that_touched_the_quoted_line() {
    let rig = Rig::new(READER);
    assert_eq!(rig.edit("\"r\"", "\"rb\"").report.status(), Status::Applied);
    let line = "    file = open(path, \"r\")";
    let answer = rig.edit(line, "    file = open(path, \"rt\")");
    assert_eq!(cause(&answer.report), Some(Cause::ChangedSince), "{}", answer.text);
    let by = answer.report.failures[0].changed_by.clone();
    assert!(matches!(by, Some(ChangedBy::Change { ref session, .. }) if session == "tests"), "{by:?}");
    assert_eq!(answer.report.failures[0].resend.as_deref(), Some("    file = open(path, \"rb\")"));
}

#[test]
fn an_edit_that_was_made_before_is_already_applied() {
    let rig = Rig::new(READER);
    for status in [Status::Applied, Status::AlreadyApplied] {
        let answer = rig.edit("    check(path)\n", "    check(path, strict)\n");
        assert_eq!(answer.report.status(), status, "{}", answer.text);
    }
}

#[test]
fn a_version_from_read_file_is_the_base_of_an_edit() {
    let rig = Rig::new(READER);
    let read = rig.call("read_file", json!({})).report;
    let version = read.files[0].version.unwrap().to_string();
    rig.files.put(&path("file.txt"), format!("import os\n\n{READER}"));
    let arguments = json!({"start_line": 2, "new_text": "    check(path, strict)\n", "version": version});
    let answer = rig.call("edit_lines", arguments);
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert!(
        String::from_utf8_lossy(&rig.bytes())
            .contains("import os\n\ndef open_read(path):\n    check(path, strict)\n")
    );
}

/// The same wrong line as a snippet, a SEARCH/REPLACE block, a V4A hunk and a unified hunk.
#[rstest]
#[case::changed_line("timeout = 3000", "timeout = 4000", "no_match", Some(Cause::ChangedLine))]
#[case::absent("nowhere(to, be, found)", "x", "no_match", Some(Cause::ChangedLine))]
fn the_same_mistake_gets_the_same_answer_in_every_form(
    #[case] old: &str,
    #[case] new: &str,
    #[case] code: &str,
    #[case] cause: Option<Cause>,
) {
    let file = "host = \"a\"\ntimeout = 5000\nretries = 3\n";
    let (old, new) =
        (format!("host = \"a\"\n{old}\nretries = 3"), format!("host = \"a\"\n{new}\nretries = 3"));
    let body = {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        format!(" {}\n-{}\n+{}\n {}\n", old[0], old[1], new[1], old[2])
    };
    let forms: [(&str, Value); 4] = [
        ("edit_file", json!({"old_text": old, "new_text": new})),
        (
            "patch",
            json!({"patch": format!("file.txt\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n")}),
        ),
        (
            "patch",
            json!({"patch": format!("*** Begin Patch\n*** Update File: file.txt\n@@\n{body}*** End Patch\n")}),
        ),
        ("patch", json!({"patch": format!("--- a/file.txt\n+++ b/file.txt\n@@ -1,3 +1,3 @@\n{body}")})),
    ];
    let answers: Vec<FailureReport> = forms
        .into_iter()
        .map(|(tool, mut arguments)| {
            let rig = Rig::new(file);
            arguments["path"] = "file.txt".into();
            let report = rig.call(tool, arguments).report;
            assert_eq!(report.code(), code, "{}", report.message);
            assert_eq!(rig.bytes(), file.as_bytes());
            report.failures.into_iter().next().unwrap()
        })
        .collect();
    assert_eq!(answers[0].cause, cause);
    for other in &answers[1..] {
        assert_eq!(other.cause, answers[0].cause);
        assert_eq!(json!(other.candidates), json!(answers[0].candidates));
        // The text of a block ends with a newline; that of the snippet does not.
        let resend = |answer: &FailureReport| answer.resend.as_ref().map(|text| text.trim_end().to_owned());
        assert_eq!(resend(other), resend(&answers[0]));
        assert_eq!(json!(other.resend_edit), json!(answers[0].resend_edit));
    }
}

#[test]
fn a_candidate_is_only_applied_where_the_removed_lines_match() {
    let file = "one(1)\ntimeout = 5000\nthree(3)\n";
    let rig = Rig::new(file);
    let answer = rig.edit("timeout = 3000", "timeout = 4000");
    assert!(!answer.text.contains("`candidate`"), "{}", answer.text);
    let answer = rig.call("edit_file", json!({"candidate": 1}));
    assert_eq!(answer.report.status(), Status::Refused, "{}", answer.text);
    assert_eq!(rig.bytes(), file.as_bytes());
}

/// Context that was rewritten on several lines: refused on text alone, and merged where the caller says.
#[rstest]
#[case::edit(false)]
#[case::patch(true)]
fn a_candidate_keeps_the_context_of_the_file(#[case] as_patch: bool) {
    let file = "def f(alpha):\n    begin(alpha)\n    check(alpha)\n    total = 1\n    finish(total)\n    return total\n";
    let old = "def f(beta):\n    begin(beta)\n    check(beta)\n    total = 1\n    finish(total)\n    return total\n";
    let rig = Rig::new(file);
    let (tool, arguments) = if as_patch {
        let hunk =
            old.replace("    total = 1\n", "@").lines().map(|line| format!(" {line}\n")).collect::<String>();
        let hunk = hunk.replace(" @", "-    total = 1\n+    total = 2\n ");
        ("patch", json!({"patch": format!("--- a/file.txt\n+++ b/file.txt\n@@ -1,6 +1,6 @@\n{hunk}")}))
    } else {
        ("edit_file", json!({"old_text": old, "new_text": old.replace("total = 1", "total = 2")}))
    };
    let answer = rig.call(tool, arguments.clone());
    assert_eq!(answer.report.status(), Status::Refused, "{}", answer.text);
    assert!(answer.text.contains("`candidate`"), "{}", answer.text);
    let mut chosen = if as_patch { arguments } else { json!({}) };
    chosen["candidate"] = 1.into();
    let answer = rig.call(tool, chosen);
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), file.replace("total = 1", "total = 2"));
}

#[test]
fn every_recoverable_edit_of_a_call_is_recovered() {
    for count in [11, 50] {
        let file: String = (0..count).map(|n| format!("    call_{n}(a);  \n    next_{n}();\n")).collect();
        let edits: Vec<Value> = (0..count)
            .map(|n| json!({"old_text": format!("call_{n}(a);\nnext_{n}();"), "new_text": format!("call_{n}(b);\nnext_{n}();")}))
            .collect();
        let rig = Rig::new(file.as_str());
        let answer = rig.call("edit_file", json!({"edits": edits}));
        assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
        assert_eq!(String::from_utf8_lossy(&rig.bytes()), file.replace("(a);  ", "(b);"));
    }
}

#[rstest]
#[case::c(
    "static int\nfoo_is_event(struct foo *f)\n{\n\tint rc = 0;\n\tlock(f);\n\tunlock(f);\n\treturn rc;\n}\n",
    "foo_is_event",
    "foo_add_event"
)]
#[case::shell(
    "stop_all()\n{\n  local n=1\n  log \"$n\"\n  kill \"$n\"\n  wait\n}\n",
    "stop_all",
    "start_all"
)]
#[case::lisp(
    "(defun list-add (item)\n  (let ((n 1))\n    (push item items)\n    (log n)\n    items))\n",
    "list-add",
    "list-cut"
)]
fn a_body_under_another_heading_is_another_place(
    #[case] file: &str,
    #[case] name: &str,
    #[case] other: &str,
) {
    let old = file.replace(name, other);
    let new = old.replacen("n", "m", 1).replace('1', "2");
    let answer = Rig::new(file).edit(&old, &new);
    assert_eq!(answer.report.status(), Status::Refused, "{}", answer.text);
}

#[test]
fn json_escapes_inside_escaped_text_are_decoded_once() {
    let file = "fn f() {\n    println!(\"a\\n\");\n}\n";
    let old = r#"fn f() {\n    println!(\"a\\n\");\n}"#;
    let new = r#"fn f() {\n    println!(\"b\\n\");\n}"#;
    applied(file, old, new, "fn f() {\n    println!(\"b\\n\");\n}\n");
}

/// Edits a file that changed since it was read; the edit must be refused.
#[track_caller]
fn refused_since(seen: &str, now: &str, tool: &str, arguments: Value) {
    let rig = changed_since(seen, now);
    let answer = rig.call(tool, arguments);
    assert_eq!(answer.report.status(), Status::Refused, "{}", answer.text);
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), now, "{}", answer.text);
}

const CALLS: &str = "def f():\n    first_call_alpha(one, two)\n    keep_old()\n    second_call_beta(three, four)\n    third_line_gamma(five)\n";

#[test]
fn a_changed_line_between_two_replaced_ones_is_kept() {
    let now = CALLS.replace("keep_old()", "keep_new(1)");
    let new = CALLS.replace("two", "2").replace("four", "4");
    let rig = changed_since(CALLS, &now);
    let answer = rig.edit(CALLS, &new);
    assert!(String::from_utf8_lossy(&rig.bytes()).contains("keep_new(1)"), "{}", answer.text);
}

const BODY: &str =
    "    check_everything(path, mode)\n    handle = acquire(path, mode)\n    return wrap(handle, mode)\n";

#[rstest]
#[case::removed_and_twin_changed(
    "def open_read(path):\n",
    "def open_write(path):\n",
    "def open_read(path, flags):\n"
)]
#[case::renamed_to_something_else("import os\n", "def load_user(path):\n", "def purge_cache(path):\n")]
fn the_name_of_a_block_decides_which_block_it_is(
    #[case] first: &str,
    #[case] quoted: &str,
    #[case] left: &str,
) {
    let seen = format!("{first}{BODY}\n\n{quoted}{BODY}");
    let old = format!("{quoted}{BODY}");
    let new = old.replace("wrap(handle, mode)", "wrap(handle, mode, 7)");
    refused_since(&seen, &format!("{left}{BODY}"), "edit_file", json!({"old_text": old, "new_text": new}));
}

#[test]
fn a_named_version_does_not_move_an_edit_to_another_function() {
    let function = |name: &str| {
        format!(
            "def {name}():\n    prepare_the_thing(1)\n    run_the_thing(2)\n    finish_the_thing(3)\n\n\n"
        )
    };
    let old = function("alpha").trim_end().to_owned();
    let new = old.replace("(2)", "(22)");
    for (now, expected) in [
        (
            function("beta") + &function("alpha"),
            Some(function("beta") + &function("alpha").replace("(2)", "(22)")),
        ),
        (function("gamma"), None),
    ] {
        let rig = Rig::new(function("alpha") + &function("beta"));
        let version = rig.call("read_file", json!({})).report.files[0].version.unwrap().to_string();
        rig.files.put(&path("file.txt"), now.as_str());
        let answer = rig.call("edit_file", json!({"old_text": old, "new_text": new, "version": version}));
        assert_eq!(String::from_utf8_lossy(&rig.bytes()), expected.unwrap_or(now), "{}", answer.text);
    }
}

#[test]
fn evidence_stays_inside_the_given_range_and_scope() {
    let lines: String = (0..20).map(|n| format!("mid_{n}\n")).collect();
    let seen = format!("top\nalpha_beta(1)\n  gamma_delta(2)\n{lines}");
    let now = format!("new top\n{}", seen.replace("mid_0\n", "mid_zero\n"));
    let edit = json!({"old_text": "alpha_beta(1)\n gamma_delta(2)", "new_text": "alpha_beta(1)\n gamma_delta(3)", "start_line": 15, "end_line": 20});
    refused_since(&seen, &now, "edit_file", edit);
    let seen = "class A:\n    def go(self):\n        step_one(self)\n        step_two(self)\n\n\nclass B:\n    def stop(self):\n        halt(self)\n";
    let patch = "*** Begin Patch\n*** Update File: file.txt\n@@ class B:\n   step_one(self)\n-  step_two(self)\n+  step_three(self)\n*** End Patch\n";
    refused_since(seen, &format!("import os\n\n{seen}"), "patch", json!({"patch": patch}));
}

#[test]
fn evidence_does_not_decide_what_is_ambiguous() {
    let block = "    start_it(now)\n    watch_it(now)\n    finish_it(now)\n";
    let now = format!("def a():\n{block}\n\ndef b():\n{block}");
    let old = "start_it(now)\nwatch_it(now)\nfinish_it(now)";
    refused_since(
        &format!("def a():\n{block}"),
        &now,
        "edit_file",
        json!({"old_text": old, "new_text": old.replace("watch", "see")}),
    );
}

#[rstest]
#[case("load_file2", "load_file")]
#[case("aload", "load")]
#[case("get_x_range", "get_y_range")]
#[case("on_create", "on_created")]
fn a_name_with_one_letter_more_is_another_name(#[case] quoted: &str, #[case] there: &str) {
    let function = |name: &str| format!("def {name}(path):\n{BODY}");
    refused(
        function(there),
        &function(quoted),
        &function(quoted).replace("mode)\n    return", "mode, 1)\n    return"),
        "no_match",
    );
}

#[rstest]
#[case("# production", "# staging server only")]
#[case("## Linux", "## Windows and others")]
fn a_comment_that_says_something_else_belongs_to_another_block(#[case] quoted: &str, #[case] there: &str) {
    let block = |title: &str| format!("{title}\nhost = example\nport = 8080\nretries = 3\ntimeout = 10\n");
    refused(block(there), &block(quoted), &block(quoted).replace("8080", "9090"), "no_match");
}

#[test]
fn whitespace_inside_a_replaced_string_matters() {
    let seen = "head_of_it()\nx = \"a b\"\ntail_of_it()\n";
    let edit = json!({"old_text": seen, "new_text": seen.replace("a b", "a c")});
    refused_since(seen, &seen.replace("a b", "ab"), "edit_file", edit);
}

#[test]
fn an_insertion_needs_both_of_its_neighbours() {
    let seen = "if ready:\n    start_the_engine(1)\nstop_the_engine(2)\n";
    let now = "if ready:\n    start_the_engine(1)\nelse:\n    wait_for_it(3)\n";
    let edit = json!({"old_text": seen, "new_text": seen.replace("stop", "log_it(0)\nstop")});
    refused_since(seen, now, "edit_file", edit);
}

#[test]
fn a_partial_line_is_never_offered_or_replaced_as_a_whole() {
    let file =
        "class A:\n    def area(w, h):\n        size = w * h\n        log(size)\n        return size\n";
    let old = "area(w, h):\nsize = w * h\nlog(size)\nreturn size";
    let new = "area(w, h):\n        size = w * h\n        log(size, 1)\n        return size";
    let rig = Rig::new(file);
    let answer = rig.edit(old, new);
    assert!(String::from_utf8_lossy(&rig.bytes()).contains("    def area(w, h):"), "{}", answer.text);
    let answer = Rig::new("x = call(alpha, retries=5, beta=7)\n").edit("retries=3", "retries=4");
    let failure = &answer.report.failures[0];
    assert_eq!((&failure.resend, json!(failure.resend_edit)), (&None, Value::Null), "{}", answer.text);
}

/// Lists of versions with entries in common. The heading above the list is nowhere else.
const LISTS: &str = "supported_interpreters:\n  default:\n  - python3.12\n  - python3.11\n  - python3.10\n  - python3.9\n\ntested_interpreters:\n  default:\n  - python3.12\n  - python3.11\n";

#[test]
fn lines_attached_to_one_that_is_nowhere_else_are_not_a_twins() {
    let now = LISTS.replace("  - python3.9\n", "");
    let old = LISTS.split("\n\n").next().unwrap();
    let new = old.replace("  default:\n", "  default:\n  - python3.13\n");
    let rig = changed_since(LISTS, &now);
    let answer = rig.edit(old, &new);
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    let expected = now.replacen("  default:\n", "  default:\n  - python3.13\n", 1);
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), expected);
}

/// The end of a removed block is equal to the end of the block above it, so that a diff may keep either. Attached to the line
/// below, it looks untouched.
#[rstest]
#[case::short("  store(items)\nend\n")]
#[case::long("  check(items)\n  store(items)\n  notify(items)\nend\n")]
fn the_end_of_a_removed_block_may_be_that_of_the_block_above(#[case] end: &str) {
    let one = format!("def load_first(path)\n  items = read(path)\n{end}");
    let other = format!("def load_second(path)\n  items = parse(path)\n{end}");
    let last = "finish_everything_here()\n";
    // The first block has changed too, so that a diff starts at the end.
    let now = format!("{}{last}", one.replace("read(path)", "read(path, 1)"));
    let rig = changed_since(&format!("{one}{other}{last}"), &now);
    let old = format!("  items = parse(path)\n{end}{last}");
    let answer = rig.edit(&old, &old.replace("store(items)", "store(items, 2)"));
    assert!(!answer.report.status().is_success(), "{}", answer.text);
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), now);
}

/// The same with a new block whose end is equal to that of the quoted one.
#[test]
fn the_end_of_a_block_may_be_that_of_a_new_one_below() {
    let end = "  check(items)\n  store(items)\nend\n";
    let one = format!("def load_first(path)\n  items = read(path)\n{end}");
    let added = format!("def load_second(path)\n  items = parse(path)\n{end}");
    let last = "finish_everything_here()\n";
    let now = format!("{}{added}{last}", one.replace("def load_first(path)", "def load_first(path, n)"));
    let rig = changed_since(&format!("{one}{last}"), &now);
    let old = format!("  items = read(path)\n{end}{last}");
    let answer = rig.edit(&old, &old.replace("store(items)", "store(items, 2)"));
    let bytes = rig.bytes();
    let text = String::from_utf8_lossy(&bytes);
    assert!(!text.contains(&added.replace("store(items)", "store(items, 2)")), "{}", answer.text);
}

/// A new line above the quoted ones is equal to the first of them, so a diff may pair it with either. But the quoted lines are
/// there and nowhere else; only their indentation is missing in the request.
#[test]
fn lines_that_are_all_there_are_not_called_changed() {
    let head = "first\nadded 0\n  added 1\n";
    let seen = &format!("{head}  added 2added 0\nadded 0    added 0\n    added 1\n    added 2\n");
    let now = &format!(
        "{head}      added 0\n    added 1\n        added 2added 0    added 0\n    added 1\n    added 2\n"
    );
    let rig = changed_since(seen, now);
    let answer = rig.edit("added 1\nadded 2\n", "added 3\nadded 4\n");
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    let rest = now.strip_suffix("    added 1\n    added 2\n").unwrap();
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), format!("{rest}    added 3\n    added 4\n"));
    // If they occur twice, it is unknown which of them is meant.
    let rig = changed_since(seen, &format!("{now}end\n    added 1\n    added 2\n"));
    let answer = rig.edit("added 1\nadded 2\n", "added 3\nadded 4\n");
    assert!(!answer.report.status().is_success(), "{}", answer.text);
}

/// The quoted end of a block, with the line below it, now belongs to a new block.
#[test]
fn lines_that_may_be_those_of_a_new_block_are_not_replaced() {
    let end = "    check(items)\n    store(items)\n  end\n";
    let seen = format!("def load_first\n  items = read(path)\n{end}  last()\n");
    let added = format!("def load_second\n  items = parse(path)\n{end}");
    let now =
        seen.replace("def load_first", "def load_first(n)").replace("  last()", &format!("{added}  last()"));
    let rig = changed_since(&seen, &now);
    let old = "  check(items)\n  store(items)\nend\nlast()\n";
    let answer = rig.edit(old, &old.replace("store(items)", "store(items, 2)"));
    assert!(!answer.report.status().is_success(), "{}", answer.text);
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), now);
}

/// The quotation is as it was, and a block that ends like it came or went. Which one the request means is unknown, but nothing
/// has changed there.
#[rstest]
#[case::added(
    "",
    "def load_second\n  items = parse(path)\n",
    "equal lines were added since, so it is not certain which are meant"
)]
#[case::removed(
    "def load_second\n  items = parse(path)\n",
    "",
    "equal lines were removed since, so it is not certain which were meant"
)]
fn unchanged_lines_are_not_called_changed(#[case] before: &str, #[case] now: &str, #[case] doubt: &str) {
    let end = "    check(items)\n    store(items)\n  end\n";
    let block = |head: &str| if head.is_empty() { String::new() } else { format!("{head}{end}") };
    let file = |first: &str, second: &str| {
        format!("def {first}\n  items = read(path)\n{end}{}  last()\n", block(second))
    };
    let (seen, now) = (file("load_first", before), file("load_first(n)", now));
    let rig = changed_since(&seen, &now);
    let old = "  check(items)\n  store(items)\nend\nlast()\n";
    let answer = rig.edit(old, &old.replace("store(items)", "store(items, 2)"));
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), now);
    assert_eq!(cause(&answer.report), Some(Cause::UnclearSince), "{}", answer.text);
    let last = now.lines().count();
    let said = format!("and still at lines {}-{last}, but {doubt}", last - 3);
    assert!(answer.report.message.contains(&said), "{}", answer.text);
    assert!(!answer.text.contains("changed since"), "{}", answer.text);
    assert_eq!(answer.report.failures[0].changed_by, None, "{}", answer.text);
}

#[test]
fn an_edit_whose_indentation_is_unclear_is_not_called_stale() {
    let lines = "    0 start_here;\n        1 print(total);\n        2 retry(3);\n";
    let rig = changed_since(lines, &format!("added\n{lines}"));
    let answer = rig.edit("0 start_here;\n    1 print(total);\n", "added 0\n  added 1\n\n");
    assert!(!answer.report.status().is_success(), "{}", answer.text);
    assert!(answer.text.contains("does not show how to indent"), "{}", answer.text);
    assert!(!answer.text.contains("changed since"), "{}", answer.text);
}

/// The bytes of a text in UTF-16 with CRLF line endings.
fn in_utf16(text: &str) -> Vec<u8> {
    let text = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// The encoding and the line endings of file and version do not matter.
#[rstest]
#[case::utf_16(in_utf16, in_utf16)]
#[case::crlf(|text: &str| text.replace('\n', "\r\n").into_bytes(), |text: &str| text.replace('\n', "\r\n").into_bytes())]
#[case::crlf_since(|text: &str| text.as_bytes().to_vec(), |text: &str| text.replace('\n', "\r\n").into_bytes())]
#[case::utf_16_since(|text: &str| text.as_bytes().to_vec(), in_utf16)]
fn a_stale_quotation_is_carried_over_in_any_encoding(
    #[case] seen: fn(&str) -> Vec<u8>,
    #[case] now: fn(&str) -> Vec<u8>,
) {
    let text =
        format!("import os\n\n{}", READER.replace("def open_read(path):", "def open_read(path, mode):"));
    let rig = Rig::new(seen(READER));
    assert_eq!(rig.call("read_file", json!({})).report.status(), Status::Shown);
    rig.files.put(&path("file.txt"), now(&text));
    let answer = rig.edit(READER, &READER.replace("wrap(file)", "wrap(file, lock)"));
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert_eq!(rig.bytes(), now(&text.replace("wrap(file)", "wrap(file, lock)")));
    // Nor do they for a twin.
    let rig = Rig::new(seen(&format!("{READER}\n\n{WRITER}")));
    assert_eq!(rig.call("read_file", json!({})).report.status(), Status::Shown);
    rig.files.put(&path("file.txt"), now(WRITER));
    let answer = rig.edit(READER, &READER.replace("wrap(file)", "wrap(file, lock)"));
    assert_eq!(cause(&answer.report), Some(Cause::RemovedSince), "{}", answer.text);
    assert_eq!(rig.bytes(), now(WRITER));
}

/// One of two hunks quotes an earlier version.
#[rstest]
#[case::untouched("one(1)", true)]
#[case::changed("two(2)", false)]
fn a_stale_hunk_does_not_hold_up_or_let_through_the_others(#[case] line: &str, #[case] is_applied: bool) {
    let seen = "one(1)\ntwo(2)\nthree(3)\nfour(4)\nfive(5)\nsix(6)\nseven(7)\n";
    let now = seen.replace(line, "edited_since(9)");
    let rig = changed_since(seen, &now);
    let hunks = "@@\n one(1)\n-two(2)\n+two(22)\n three(3)\n@@\n five(5)\n-six(6)\n+six(66)\n seven(7)\n";
    let patch = format!("*** Begin Patch\n*** Update File: file.txt\n{hunks}*** End Patch\n");
    let answer = rig.call("patch", json!({ "patch": patch }));
    assert_eq!(answer.report.status() == Status::Applied, is_applied, "{}", answer.text);
    let after = if is_applied { now.replace("two(2)", "two(22)").replace("six(6)", "six(66)") } else { now };
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), after, "{}", answer.text);
}

/// The newest version that contains the text decides, no matter how often an older one contains it.
#[test]
fn the_newest_version_with_the_text_decides() {
    let renamed = READER.replace("check(path)", "verify(path)");
    let now = renamed.replace("def open_read(path):", "def open_read(path, mode):");
    let rig = Rig::new(READER);
    for version in [READER, renamed.as_str()] {
        rig.files.put(&path("file.txt"), version);
        assert_eq!(rig.call("read_file", json!({})).report.status(), Status::Shown);
    }
    rig.files.put(&path("file.txt"), now.as_str());
    let answer = rig.edit(READER, &READER.replace("wrap(file)", "wrap(file, lock)"));
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), now.replace("wrap(file)", "wrap(file, lock)"));
}

/// Text with other whitespace in several places: all of them or none.
#[test]
fn all_occurrences_are_replaced_only_where_the_text_is_exact() {
    let file = "if a:\n    send(one, two)\n    wait(one)\nif b:\n    send(one, two)\n    wait(one)\n";
    let rig = Rig::new(file);
    let answer = rig.call(
        "edit_file",
        json!({"old_text": "send(one,  two)\nwait(one)", "new_text": "send(two)\nwait(one)", "replace_all": true}),
    );
    let after = String::from_utf8_lossy(&rig.bytes()).into_owned();
    let expected = file.replace("send(one, two)", "send(two)");
    let is_right = match answer.report.status() {
        Status::Applied => after == expected,
        _ => after == file,
    };
    assert!(is_right, "{}\n{after}", answer.text);
}

/// A candidate listed for older content is not applied.
#[test]
fn a_candidate_is_refused_after_the_file_has_changed() {
    let file = "if x:\n    first_call(a)\nif y:\n    first_call(a)\n";
    let rig = Rig::new(file);
    assert_eq!(rig.edit("first_call(a)", "other(b)").report.code(), "ambiguous");
    let now = format!("# new\n{file}");
    rig.files.put(&path("file.txt"), now.as_str());
    let answer = rig.call("edit_file", json!({"candidate": 2}));
    assert_ne!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert_eq!(rig.bytes(), now.as_bytes());
}
