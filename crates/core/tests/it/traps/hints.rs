//! What a refusal offers: following its hint never writes wrong text.

use rstest::rstest;
use serde_json::json;
use slipstitch_core::change::Lines;
use slipstitch_core::engine::Answer;
use slipstitch_core::find::Cause;
use slipstitch_core::outcome::Status;
use slipstitch_core::report::FailureReport;

use crate::rig::{Rig, path};

fn failure(answer: &Answer) -> &FailureReport {
    &answer.report.failures[0]
}

/// An edit made for `seen`, when the file is `now`.
fn edit_since(seen: &str, now: &str, old: &str, new: &str) -> (Rig, Answer) {
    let rig = Rig::new(seen);
    assert_eq!(rig.call("read_file", json!({})).report.status(), Status::Shown);
    rig.files.put(&path("file.txt"), now);
    let answer = rig.edit(old, new);
    (rig, answer)
}

#[track_caller]
fn assert_offers_nothing(answer: &Answer) {
    let FailureReport { resend, resend_edit, read, candidates, .. } = failure(answer);
    assert_eq!((resend, resend_edit), (&None, &None), "{}", answer.text);
    assert_eq!(read, &[], "{}", answer.text);
    assert!(candidates.iter().all(|one| !one.choosable), "{}", answer.text);
}

#[test]
fn the_only_close_place_with_the_removed_lines_can_be_chosen() {
    let block = |name: &str, function: &str| {
        format!(
            "impl<S, B> {name} for MyExtractor\nwhere\n    S: Send + Sync,\n{{\n    type Rejection = Infallible;\n\n    async fn {function} -> Result<Self, Self::Rejection> {{\n        // ...\n        # todo!()\n    }}\n}}\n"
        )
    };
    let one = block("FromRequest<S, B>", "from_request(req: Request<B>, state: &S)");
    let other = block("FromRequestParts<S>", "from_request_parts(parts: &mut Parts, state: &S)");
    let file = format!("{other}\n{one}");
    let old = one["impl<S, B> FromRequest<S, B> for MyExtractor\nwhere\n".len()..]
        .replace("Sync,\n", "Sync,\n    B: Send + 'static,\n")
        .replace("    }\n}\n", "    }\n");
    let rig = Rig::new(file.as_str());
    let answer = rig.edit(&old, &old.replace("Request<B>", "Request"));
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    assert!(failure(&answer).candidates[0].choosable, "{}", answer.text);
    let answer = rig.call("edit_file", json!({"candidate": 1}));
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    let expected = file.replace("(req: Request<B>", "(req: Request");
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), expected);
}

#[test]
fn places_that_are_equal_are_not_chosen_for_the_caller() {
    let answer = Rig::new("if x:\n  a()\nif y:\n    a()\n").edit("\ta()\n", "\tb()\n");
    assert!(failure(&answer).candidates.iter().all(|one| !one.choosable), "{}", answer.text);
}

#[test]
fn if_nothing_can_be_sent_the_hint_names_the_lines_to_read() {
    let file = "alpha_one()\nbeta_two()\nchanged_line(9)\ndelta_four()\nepsilon_five()\n";
    let old = file.replace("changed_line(9)", "gamma_three()");
    let answer = Rig::new(file).edit(&old, &old.replace("gamma_three()\n", "gamma_three()\nnew_one()\n"));
    assert_eq!(failure(&answer).read, [Lines { start: 1, count: 5 }], "{}", answer.text);
    assert!(answer.text.contains("Read lines 1-5 again"), "{}", answer.text);
}

#[test]
fn a_text_to_resend_occurs_once() {
    let now = "head_of_it(1)\nretries = 5\nx = 1\ntail_of_it(1)\nretries = 5\n";
    let seen = now.replacen("retries = 5", "retries = 3", 1);
    let (_, answer) = edit_since(&seen, now, "retries = 3", "retries = 4");
    assert_eq!(failure(&answer).cause, Some(Cause::ChangedSince), "{}", answer.text);
    let edit = failure(&answer).resend_edit.clone();
    let old = edit.map(|edit| edit.old_text).unwrap_or_default();
    assert_eq!(now.matches(&old).count(), 1, "{}", answer.text);
}

#[rstest]
#[case::rust(
    "cfg_rt! {\n    cfg_not_wasi! {\n        mod blocking;\n        pub use blocking::spawn;\n    }\n}\n",
    "cfg_rt! {\n    mod blocking;\n    pub use blocking::spawn;\n}\n",
    "    cfg_not_wasi! {\n        mod blocking;\n        pub use blocking::spawn;\n    }\n",
    "mod blocking;",
    "mod blocking2;"
)]
#[case::python(
    "start()\nif ready:\n    load(a)\n    store_all(a)\nend()\n",
    "start()\nload(a)\nstore_all(a)\nend()\n",
    "if ready:\n    load(a)\n    store_all(a)\n",
    "load(a)",
    "load(b)"
)]
#[case::javascript(
    "start()\ntry {\n  load(a)\n  store_all(a)\n} finally {\n  end()\n}\n",
    "start()\nload(a)\nstore_all(a)\nend()\n",
    "try {\n  load(a)\n  store_all(a)\n}",
    "load(a)",
    "load(b)"
)]
fn lines_that_left_their_block_are_another_place(
    #[case] seen: &str,
    #[case] now: &str,
    #[case] old: &str,
    #[case] from: &str,
    #[case] to: &str,
) {
    let (rig, answer) = edit_since(seen, now, old, &old.replace(from, to));
    assert_ne!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert_eq!(rig.bytes(), now.as_bytes());
    assert_offers_nothing(&answer);
}

#[test]
fn a_diff_that_pairs_a_line_with_its_twins_is_not_believed() {
    let call = "    (_a = props.onClick).call(props);\n";
    let seen = format!(
        "on_down(event) {{\n{call}    focus(event);\n}}\non_click(event) {{\n{call}    finish(event, now);\n    leave(it);\n}}\n"
    );
    let now = format!("on_down(event) {{\n{call}    finish(event, now);\n}}\n");
    let old = format!("{call}    finish(event, now);\n    leave(it);\n");
    let (rig, answer) = edit_since(&seen, &now, &old, &old.replace("onClick", "onPress"));
    assert_eq!(rig.bytes(), now.as_bytes(), "{}", answer.text);
    assert_offers_nothing(&answer);
}

#[test]
fn what_is_left_of_a_removed_block_is_not_offered() {
    let cell = |name: &str, next: &str| {
        format!("<td>\n    {{{{ dict.{name}.checkbox.tag }}}}\n    {{% endif %}}\n</td>\n{{% if {next} %}}\n")
    };
    let (lock, delete) = (cell("lock", "unlock"), cell("delete", "custom"));
    let old = &lock["<td>\n".len()..];
    let new = old.replace("{% endif %}\n", "{% endif %}\n    {% new_endif %}\n");
    let (rig, answer) = edit_since(&format!("{lock}{delete}"), &delete, old, &new);
    assert_eq!(rig.bytes(), delete.as_bytes(), "{}", answer.text);
    assert_offers_nothing(&answer);
}

/// Sends the edit that a refusal offers.
#[track_caller]
fn resend(rig: &Rig, answer: &Answer) -> String {
    assert_ne!(answer.report.status(), Status::Applied, "{}", answer.text);
    let edit = failure(answer).resend_edit.clone();
    let edit = edit.unwrap_or_else(|| panic!("nothing to send: {}", answer.text));
    let answer = rig.edit(&edit.old_text, &edit.new_text);
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    String::from_utf8_lossy(&rig.bytes()).into_owned()
}

#[rstest]
#[case::its_function_was_renamed("def load_all(path):", "def load_every(path, mode):")]
#[case::its_function_was_rewritten("def load_all(path):", "async def load_one(source):")]
fn an_edit_whose_removed_lines_are_there_is_offered_on_the_current_text(
    #[case] from: &str,
    #[case] to: &str,
) {
    let seen = "def load_all(path):\n    check(path)\n    content = read_content(path)\n    return content\n";
    let now = seen.replace(from, to);
    let (line, new_line) = ("content = read_content(path)", "content = read_content(path, lock)");
    let (rig, answer) = edit_since(seen, &now, seen, &seen.replace(line, new_line));
    assert_eq!(failure(&answer).cause, Some(Cause::ChangedSince), "{}", answer.text);
    assert_eq!(resend(&rig, &answer), now.replace(line, new_line));
}

#[test]
fn an_insertion_next_to_a_changed_line_is_offered() {
    let seen = "def first_of_them():\n    assert result == expected\n\n\ndef second_of_them():\n    pass\n";
    let now = seen.replace("== expected", "== new_expected");
    let new = seen.replace("def second", "def between_them():\n    pass\n\n\ndef second");
    let (rig, answer) = edit_since(seen, &now, seen.trim_end(), new.trim_end());
    assert_eq!(resend(&rig, &answer), new.replace("== expected", "== new_expected"));
}

/// `tap(module)` is in the file once by now, but between lines that did not change it was there once before, too.
#[test]
fn a_line_between_unchanged_lines_is_no_twin() {
    let part = |name: &str, call: &str| {
        format!(
            "start_of_{name}_section()\n    hooks.build_module.tap({call})\n    first = 1\nend_of_{name}_section()\n"
        )
    };
    let seen = format!("{}{}", part("upper", "module"), part("lower", "module"));
    let now = format!(
        "{}{}",
        part("upper", "(module)"),
        part("lower", "module").replace("first = 1", "second = 2")
    );
    let old = "    hooks.build_module.tap(module)\n    first = 1\nend_of_lower_section()";
    let (rig, answer) = edit_since(&seen, &now, old, &old.replace("tap(module)", "tap(each)"));
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), now.replace("tap(module)", "tap(each)"));
}

/// Without anything unchanged between the two, the line that is left may be either.
#[test]
fn a_line_that_was_there_twice_between_unchanged_lines_may_be_a_twin() {
    let line = "    hooks.build_module.tap(module)\n";
    let seen = format!(
        "start_of_section()\n{line}    first = 1\n{line}    second = 2\n    third = 3\nend_of_section()\n"
    );
    let now = format!("start_of_section()\n{line}    another = 4\nend_of_section()\n");
    let old = format!("{line}    second = 2\n    third = 3");
    let (rig, answer) = edit_since(&seen, &now, &old, &old.replace("module)", "each)"));
    assert_ne!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert_eq!(rig.bytes(), now.as_bytes());
    assert_eq!(failure(&answer).resend_edit, None, "{}", answer.text);
}

fn send_patch(file: &str, hunk: &str) -> (Rig, Answer) {
    let rig = Rig::new(file);
    let patch = format!("*** Begin Patch\n*** Update File: file.txt\n{hunk}*** End Patch\n");
    let answer = rig.call("patch", json!({ "patch": patch }));
    (rig, answer)
}

/// The line may be an echo, or the second of two lines of which one is already deleted. The caller decides.
#[test]
fn a_deleted_line_that_is_also_context_is_offered_for_deletion() {
    let file = "use error::Error;\nuse sequence::tuple;\nuse result::Result;\n";
    let hunk = "@@\n use error::Error;\n use sequence::tuple;\n-use sequence::tuple;\n use result::Result;\n";
    let (rig, answer) = send_patch(file, hunk);
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    assert_eq!(failure(&answer).cause, Some(Cause::EchoedLine), "{}", answer.text);
    assert_eq!(resend(&rig, &answer), "use error::Error;\nuse result::Result;\n");
    // If it is there twice, one of them is deleted.
    let twice = file.replace("use sequence::tuple;\n", "use sequence::tuple;\nuse sequence::tuple;\n");
    let (rig, answer) = send_patch(&twice, hunk);
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), file, "{}", answer.text);
}

#[test]
fn a_hunk_outside_its_scope_is_offered_where_it_is() {
    let file =
        "def vary(field):\n    check(field)\n    return field\n\n\ndef redirect(url):\n    return url\n";
    let hunk = "@@ def redirect(url):\n-    check(field)\n     return field\n";
    let (rig, answer) = send_patch(file, hunk);
    assert_eq!(answer.report.code(), "outside_scope", "{}", answer.text);
    assert_eq!(rig.bytes(), file.as_bytes());
    assert!(answer.text.contains("`def vary(field):`"), "{}", answer.text);
    let failure = failure(&answer);
    let old = failure.resend.clone().or(failure.resend_edit.clone().map(|edit| edit.old_text));
    assert_eq!(old.as_deref(), Some("    check(field)\n    return field"), "{}", answer.text);
}

/// The heading in the request names another block than the one that has the body.
#[rstest]
#[case::ruby("def self.load(a)", "def self.save(a)", "end")]
#[case::lua("function M.load(a)", "function M.save(a)", "end")]
#[case::lua_method("function M:load(a)", "function M:save(a)", "end")]
#[case::lua_assigned("M.load = function(a)", "M.save = function(a)", "end")]
#[case::kotlin("fun String.load(a: Int) {", "fun String.save(a: Int) {", "}")]
#[case::kotlin_class("data class Loader(", "data class Saver(", ")")]
#[case::swift("mutating func load(a: Int) {", "mutating func save(a: Int) {", "}")]
#[case::swift_actor("actor Loader {", "actor Saver {", "}")]
#[case::php(
    "public static function load(array $a): void {",
    "public static function save(array $a): void {",
    "}"
)]
#[case::elixir("defp load(a) do", "defp save(a) do", "end")]
#[case::elixir_test("test \"it loads\" do", "test \"it saves\" do", "end")]
#[case::haskell("instance Load User where", "instance Save User where", "")]
#[case::javascript_test("it('loads', () => {", "it('saves', () => {", "})")]
#[case::makefile("load:", "save:", "")]
#[case::ini("[load]", "[save]", "")]
#[case::workflow("- name: Load", "- name: Save", "")]
#[case::terraform("resource \"bucket\" \"load\" {", "resource \"bucket\" \"save\" {", "}")]
#[case::protobuf("message LoadRequest {", "message SaveRequest {", "}")]
#[case::nginx("location /load {", "location /save {", "}")]
#[case::css("table td {", "table th {", "}")]
#[case::cpp("enum class Load {", "enum class Save {", "}")]
fn the_same_body_under_another_heading_is_not_offered(
    #[case] heading: &str,
    #[case] other: &str,
    #[case] end: &str,
) {
    let body = "    check_value(a)\n    open_connection(a)\n    send_value(a)\n    close_connection(a)\n";
    let file = format!("{heading}\n{body}{end}\n");
    let old = format!("{other}\n{body}{end}\n");
    let rig = Rig::new(file.as_str());
    let answer = rig.edit(&old, &old.replace("send_value(a)", "send_value(b)"));
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    assert_offers_nothing(&answer);
}

#[test]
fn an_insertion_beside_the_only_line_of_its_kind_is_offered_although_the_paragraph_above_has_changed() {
    let file =
        "first_call(expected)\nassert_result(new_expected)\n\ndef test_of_something():\n    second_call(2)\n";
    // `expected` is a word of the file, so the line above the insertion is another one.
    let old = file.replace("new_expected", "expected");
    let new = old.replace("\ndef test", "\ndef inserted():\n    third_call(3)\n\ndef test");
    let rig = Rig::new(file);
    let answer = rig.edit(&old, &new);
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    assert_eq!(resend(&rig, &answer), new.replace("result(expected", "result(new_expected"));
    // Without the blank line, the insertion belongs to the line that has changed.
    let (file, old, new) =
        (file.replace("\n\n", "\n"), old.replace("\n\n", "\n"), new.replace(")\n\ndef i", ")\ndef i"));
    let rig = Rig::new(file.as_str());
    let answer = rig.edit(&old, &new);
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    assert_eq!(failure(&answer).resend_edit, None, "{}", answer.text);
}

#[test]
fn a_line_that_only_one_place_has_tells_it_from_a_more_similar_one() {
    let doc = |event: &str, next: &str| {
        format!(
            "    The `{event}` event does not alter any variables.\n    {event} scripts run.\n\n    Parameters:\n        config: global object\n    {next}\n"
        )
    };
    let file =
        format!("{}\n{}", doc("pre_build", "def on_files(self):"), doc("post_build", "The other event."));
    let old = doc("post_build", "def on_error(self):");
    let rig = Rig::new(file.as_str());
    let answer = rig.edit(&old, &old.replace("Parameters:", "Args:"));
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    let (before, after) = file.rsplit_once("Parameters:").unwrap();
    assert_eq!(resend(&rig, &answer), format!("{before}Args:{after}"));
}

#[test]
fn the_heading_of_a_block_that_ends_before_the_change_may_have_changed() {
    let file = "fn other_name() {}\n\nlet app = Router::new().route(\n    get(hander).layer(limit),\n);\n";
    let old = file.replace("other_name", "first_name");
    let new = old.replace("hander", "handler");
    let rig = Rig::new(file);
    let answer = rig.edit(&old, &new);
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    assert_eq!(resend(&rig, &answer), file.replace("hander", "handler"));
}

/// A typo in a line to be replaced, and damage of form in all lines: what to send has neither.
#[rstest]
#[case::indented(
    "\timport {Absolute} from './internal'\n\timport {Negative} from './nuumeric'\n",
    "\timport {Absolute} from './internal.ts'\n\timport {Negative} from './numeric.ts'\n"
)]
#[case::numbered(
    "1\timport {Absolute} from './internal'\n2\timport {Negative} from './nuumeric'\n3\texport {Subtract}\n",
    "1\timport {Absolute} from './internal.ts'\n2\timport {Negative} from './numeric.ts'\n3\texport {Subtract}\n"
)]
#[case::entities(
    "import {Absolute} from &#39;./internal&#39;\nimport {Negative} from &#39;./nuumeric&#39;\n",
    "import {Absolute} from &#39;./internal.ts&#39;\nimport {Negative} from &#39;./numeric.ts&#39;\n"
)]
fn a_mistake_of_form_does_not_hide_a_typo(#[case] old: &str, #[case] new: &str) {
    let file = "import {Absolute} from './internal'\nimport {Negative} from './numeric'\nexport {Subtract}\n";
    let rig = Rig::new(file);
    let answer = rig.edit(old, new);
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    assert_eq!(failure(&answer).cause, Some(Cause::ChangedLine), "{}", answer.text);
    let edit = failure(&answer).resend_edit.clone().unwrap_or_else(|| panic!("{}", answer.text));
    assert_eq!(rig.edit(&edit.old_text, &edit.new_text).report.status(), Status::Applied);
    let expected = file.replace("internal'", "internal.ts'").replace("numeric'", "numeric.ts'");
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), expected);
}

#[test]
fn a_line_that_differs_in_two_ways_is_shown_once() {
    let file = "first_line(1)\nsecond_line(2)\nthird_line(3)\n";
    let answer = Rig::new(file).edit("\tfirst_line(1)\n\tseecond_line(2)\n\tthird_line(3)\n", "\tx()\n");
    let lines: Vec<usize> = failure(&answer).candidates[0].differences.iter().map(|one| one.line).collect();
    let distinct: std::collections::BTreeSet<usize> = lines.iter().copied().collect();
    assert_eq!(lines.len(), distinct.len(), "{}", answer.text);
}

/// Other places share a few lines with the old text, but are much less like it.
#[test]
fn an_applied_edit_is_recognised_beside_places_that_share_a_line() {
    let block = |name: &str, line: &str| format!("}}\n\nimpl {name} {{\n    /// {line}\n    fn go() {{}}\n");
    let new = block("PutBack", "Puts `x` in front of the iterator.");
    let file = format!("fn a() {{\n{}{new}{}", block("Zip", "Zips both."), block("Chain", "Chains both."));
    let old = block("PutBack", "Puts x in front of the iterator.");
    let answer = Rig::new(file.as_str()).edit(&old, &new);
    assert_eq!(answer.report.status(), Status::AlreadyApplied, "{}", answer.text);
}

#[test]
fn a_refusal_for_indentation_shows_the_lines_that_are_indented_otherwise() {
    let file = "* [ ] one thing to check\n* [ ] another thing to check\n* [ ] the last thing to check\n";
    let old = file.replace("* [ ] the last", "  * [ ] the last");
    let answer = Rig::new(file).edit(&old, &format!("{old}\n# changes\n- first\n  - detail\n"));
    assert_eq!(failure(&answer).cause, Some(Cause::Indentation), "{}", answer.text);
    let lines: Vec<usize> = failure(&answer).candidates[0].differences.iter().map(|one| one.line).collect();
    assert_eq!(lines, [3], "{}", answer.text);
}

/// A place with all lines and others between them, and one where a context line has changed: either may be meant.
#[test]
fn lines_between_those_of_the_request_do_not_decide_for_a_place() {
    let check = |last: &str| {
        format!(
            "    assert_false(home.can_publish())\n    assert_true(christmas.can_publish())\n    assert_true(unpublished.can_publish())\n{last}"
        )
    };
    let between: String = (0..40).map(|n| format!("    step_{n}()\n")).collect();
    let file = format!(
        "def test_one():\n{}{between}\ndef test_two():\n{}{between}    assert_false(home.can_reorder())\n",
        check("    assert_true(christmas.can_reorder())\n"),
        check("    extra_step(1)\n    extra_step(2)\n    assert_false(home.can_reorder())\n")
    );
    let old = check("    assert_false(home.can_reorder())\n");
    let new = old.replacen("\n", "\n    assert_false(other.can_publish())\n", 1);
    let rig = Rig::new(file.as_str());
    let answer = rig.edit(&old, &new);
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    let FailureReport { resend, resend_edit, candidates, .. } = failure(&answer);
    assert_eq!((resend, resend_edit), (&None, &None), "{}", answer.text);
    assert!(candidates.iter().all(|one| !one.choosable), "{}", answer.text);
}

/// Lines that occur everywhere must not outvote the ones that occur once.
#[test]
fn a_rare_line_shows_the_place_among_many_common_ones() {
    let test = |name: &str| format!("[[test]]\nname = \"{name}\"\nrequired-features = [\"alloc\"]\n\n");
    let common: String = (0..60).map(|n| test(&format!("common_{n}"))).collect();
    let file = format!(
        "{common}[[test]]\nname = \"overflow\"\n\n[[test]]\nname = \"reborrow\"\npath = \"b.rs\"\n\n[[test]]\nname = \"mutable\"\n"
    );
    let old = "[[test]]\nname = \"overflow\"\n\n[[test]]\nname = \"reborrow\"\n\n[[test]]\nname = \"immutable\"\nrequired-features = [\"alloc\"]\n";
    let answer = Rig::new(file.as_str()).edit(old, &old.replacen("\n\n", "\npath = \"o.rs\"\n\n", 1));
    let first = failure(&answer).candidates[0].lines.start;
    let line = file.lines().position(|line| line.contains("overflow")).unwrap();
    assert_eq!(first, line, "{}", answer.text);
}

#[test]
fn a_line_of_dots_is_not_a_line_to_copy() {
    let between: String = (0..40).map(|n| format!(".rule-{n} {{\n    top: {n}px;\n}}\n\n")).collect();
    let heading = "#filter h2 {\n    font-size: 1rem;\n    padding: 5px;\n    margin: 12px;\n}\n\n";
    let body = "    padding: 0 15px;\n    margin: 10px;\n    cursor: pointer;\n}\n";
    let file = format!("{heading}{between}#filter summary {{\n    font-weight: 400;\n{body}");
    let old = format!("#filter h2 {{\n    /* ... */\n{body}");
    let rig = Rig::new(file.as_str());
    let answer = rig.edit(&old, &old.replace("    cursor: pointer;\n", ""));
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    assert_eq!(failure(&answer).cause, Some(Cause::NotFound), "{}", answer.text);
}
