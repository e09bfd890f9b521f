//! What can be sent for a block that was renamed or miswritten, or at one of several close places.

use rstest::rstest;
use serde_json::json;
use slipstitch_core::engine::Answer;
use slipstitch_core::outcome::Status;
use slipstitch_core::report::FailureReport;

use super::{applied, refused};
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

/// Sends what a refusal offers.
#[track_caller]
fn resend(rig: &Rig, answer: &Answer, new: &str) -> String {
    assert_ne!(answer.report.status(), Status::Applied, "{}", answer.text);
    let FailureReport { resend, resend_edit, .. } = failure(answer);
    let (old, new) = match (resend, resend_edit) {
        (_, Some(edit)) => (edit.old_text.as_str(), edit.new_text.as_str()),
        (Some(old), None) => (old.as_str(), new),
        (None, None) => panic!("nothing to send: {}", answer.text),
    };
    let answer = rig.edit(old, new);
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    String::from_utf8_lossy(&rig.bytes()).into_owned()
}

/// The line that names the block was replaced alone, and all other lines of the quotation are there.
#[rstest]
#[case::insertion(
    "}\n@media only screen and (min-width: 768px) {\n  .search > .results {\n    max-height: 18.26571429em;\n  }\n}\n@media print {\n",
    "only screen and (min-width: 768px)",
    "only2 screen and (min-width: 768px)",
    "18.26571429em;\n  }\n",
    "18.26571429em;\n  }\n  .resizable > .results {\n    height: 18em;\n  }\n"
)]
#[case::its_lines_occur_twice(
    "    <img src=\"{% avatar_url user size=100 %}\"/>\n{% elif size == 'square' %}\n    <img src=\"{% avatar_url user %}\"/>\n{% else %}\n    <img src=\"{% avatar_url user %}\"/>\n{% endif %}\n</span>\n",
    "size == 'square'",
    "size2 == 'square'",
    "{% endif %}\n",
    "{% endif %}\n{% if edit %}\n    <a>edit</a>\n{% endif %}\n"
)]
#[case::short_lines(
    "doc_to_text: '{{question}} and the answer'\ngeneration_kwargs:\n  do_sample: false\n  until:\n  - 'Q:'\n  - </s>\ninclude: cot_yaml\n",
    "generation_kwargs:",
    "generation_kwargs_v2:",
    "- 'Q:'",
    "- 'Question:'"
)]
fn an_edit_of_a_block_that_was_renamed_in_place_can_be_made(
    #[case] seen: &str,
    #[case] name: &str,
    #[case] now: &str,
    #[case] from: &str,
    #[case] to: &str,
) {
    let now = seen.replacen(name, now, 1);
    let (rig, answer) = edit_since(seen, &now, seen.trim_end(), seen.replacen(from, to, 1).trim_end());
    let after = match answer.report.status() {
        Status::Applied => String::from_utf8_lossy(&rig.bytes()).into_owned(),
        _ => resend(&rig, &answer, &seen.replacen(from, to, 1)),
    };
    assert_eq!(after, now.replacen(from, to, 1), "{}", answer.text);
}

/// The body occurs twice in the version, so it may be that of the other block.
#[test]
fn the_body_of_a_twin_under_a_third_name_is_not_offered() {
    let block = |name: &str| format!("def {name}(path):\n    check(path)\n    wait(path)\n    send(path)\n");
    let seen = format!("{}\n{}", block("open_read"), block("open_write"));
    let now = block("open_writes");
    let old = block("open_read");
    let (rig, answer) = edit_since(&seen, &now, &old, &old.replace("wait(path)", "wait(1)"));
    assert_eq!(rig.bytes(), now.as_bytes(), "{}", answer.text);
    let FailureReport { resend, resend_edit, candidates, .. } = failure(&answer);
    assert_eq!((resend, resend_edit), (&None, &None), "{}", answer.text);
    assert!(candidates.iter().all(|one| !one.choosable), "{}", answer.text);
}

/// `task:` opens a block that ends before the change, so it may be gone.
#[test]
fn a_key_above_the_one_with_the_change_may_be_gone() {
    let group = |name: &str| {
        format!(
            "  - group: {name}\n    task:\n      - mmlu_{name}_generative\n    metrics:\n      - metric: acc\n        weight: True\n"
        )
    };
    let seen = format!("{}{}", group("stem"), group("other"));
    let now = seen.replacen("    task:\n", "", 1);
    let old = format!("{}  - group: other\n", group("stem"));
    let (rig, answer) = edit_since(&seen, &now, &old, &old.replace("metric: acc", "metric: match"));
    let after = match answer.report.status() {
        Status::Applied => String::from_utf8_lossy(&rig.bytes()).into_owned(),
        _ => resend(&rig, &answer, ""),
    };
    assert_eq!(after, now.replacen("metric: acc", "metric: match", 1), "{}", answer.text);
}

/// The name is miswritten, and a blank line is missing as well.
#[test]
fn an_edit_below_a_miswritten_title_is_offered() {
    let file = "```\n\n### `ProxyAgent.dispatch(options)`\n\nImplements [`Agent.dispatch`](Agent.md).\n\n### `ProxyAgent.close()`\n\nCloses it.\n";
    let old = "```\n\n### `ProxyAgennt.dispatch(options)`\nImplements [`Agent.dispatch`](Agent.md).";
    let new = old.replace("(Agent.md)", "(/docs/Agent.md)");
    let rig = Rig::new(file);
    let answer = rig.edit(old, &new);
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    assert_eq!(resend(&rig, &answer, &new), file.replace("(Agent.md)", "(/docs/Agent.md)"));
}

/// Most of the file is indented by four, the block by two, and only the old text lost two columns.
#[test]
fn the_depths_of_the_place_count_as_depths_of_the_file() {
    let rest = "html {\n    --primary: #264b5d;\n    --secondary: #417690;\n    --accent: #f5dd5d;\n}\n";
    let file = format!(
        "@media print {{\n    :root {{\n      --close-bg: #333333;\n      --close-hover-bg: #666666;\n    }}\n  }}\n\n{rest}"
    );
    let old = "    --close-hover-bg: #666666;\n  }\n}\n";
    let new = "      --close-hover-bg: #666666;\n\n      color-scheme: dark;\n    }\n  }\n";
    let after = file.replace("#666666;\n", "#666666;\n\n      color-scheme: dark;\n");
    applied(&file, old, new, after);
}

/// Context lines are indented wrongly, each in its own way; the lines to be replaced are as in the file.
#[rstest]
#[case::tabs_for_spaces(
    "def f():\n    with raises(Invalid) as info:\n        check(source)\n\n    info.match(\"a\")\n",
    " \twith raises(Invalid) as info:\n \t\tcheck(source)\n \n-    info.match(\"a\")\n+    info.match(\n+        \"b\"\n+    )\n",
    "    info.match(\"a\")\n",
    "    info.match(\n        \"b\"\n    )\n"
)]
#[case::one_tab_too_few(
    "void f(void)\n{\n\tforeach (a) {\n\t\tif (is_first(a))\n\t\t\ta->local = 1;\n\t\telse\n\t\t\ta->need = 1;\n\t}\n}\n",
    " \tforeach (a) {\n-\t\tif (is_first(a))\n+\t\tif (is_first(a) &&\n+\t\t    is_last(a))\n \t\ta->local = 1;\n \t\telse\n             a->need = 1;\n",
    "\t\tif (is_first(a))\n",
    "\t\tif (is_first(a) &&\n\t\t    is_last(a))\n"
)]
fn lines_that_replace_rightly_indented_ones_are_indented_rightly(
    #[case] file: &str,
    #[case] hunk: &str,
    #[case] from: &str,
    #[case] to: &str,
) {
    let rig = Rig::new(file);
    let answer =
        rig.call("patch", json!({"patch": format!("--- a/file.txt\n+++ b/file.txt\n@@ @@\n{hunk}")}));
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), file.replace(from, to));
}

const VIEW: &str = "{\n    type Pixel = P;\n\n    fn dimensions(&self) -> (u32, u32) {\n        (self.width, self.height)\n    }\n\n    fn bounds(&self) -> (u32, u32) {\n        self.dimensions()\n    }\n\n    fn get_pixel(&self, x: u32) -> P {\n        if !self.in_bounds(x) {\n            panic(x);\n        }\n    }\n}\n";

/// Two places have the lines of a hunk, and both have a line that the hunk lacks; only one of them also has its first line.
#[test]
fn the_place_that_has_more_of_the_lines_can_be_chosen() {
    let file = format!(
        "impl View for Flat where\n    Buffer: AsRef<[P]>,\n{VIEW}\nimpl Mut for Flat where\n    Buffer: AsMut<[P]> + AsRef<[P]>,\n{VIEW}\n// Buffer: AsMut<[P]> + AsRef<[P]>,\n"
    );
    let hunk = "@@\n     Buffer: AsMut<[P]> + AsRef<[P]>,\n {\n     type Pixel = P;\n \n     fn dimensions(&self) -> (u32, u32) {\n         (self.width, self.height)\n-    }\n-\n-    fn bounds(&self) -> (u32, u32) {\n-        self.dimensions()\n     }\n \n     fn get_pixel(&self, x: u32) -> P {\n         if !self.in_bounds(x) {\n         }\n";
    let arguments =
        json!({"patch": format!("*** Begin Patch\n*** Update File: file.txt\n{hunk}*** End Patch\n")});
    let rig = Rig::new(file.as_str());
    let answer = rig.call("patch", arguments.clone());
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    let second = file.rfind("impl Mut").unwrap();
    let first_line = file[..second].lines().count() + 2;
    let FailureReport { candidates, .. } = failure(&answer);
    assert_eq!(candidates[0].lines.start, first_line, "{}", answer.text);
    assert!(candidates[0].choosable && !candidates[1].choosable, "{}", answer.text);
    let mut arguments = arguments;
    arguments["candidate"] = 1.into();
    let answer = rig.call("patch", arguments);
    assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    let removed = "    }\n\n    fn bounds(&self) -> (u32, u32) {\n        self.dimensions()\n";
    let (head, tail) = file.rsplit_once(removed).unwrap();
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), format!("{head}{tail}"));
}

/// Of two places that have the lines equally, the one at the stated line can be chosen.
#[test]
fn the_place_at_the_stated_line_can_be_chosen() {
    let options = |indent: &str| {
        [
            "timeout: 0",
            "limit: 1024",
            "strict: true",
            "unsafe: false",
            "quiet: false",
            "json: true",
            "slash: true",
            "depth: 100",
        ]
        .map(|line| format!("{indent}{line},\n"))
        .concat()
    };
    let file = format!(
        "const one = {{\n{}}};\n\nconst two = {{\n  deep: {{\n{}  }},\n}};\n",
        options("  "),
        options("    ")
    );
    let start = file[..file.rfind("    timeout").unwrap()].lines().count() + 1;
    let hunk = "     timeout: 0,\n     strict: true,\n     unsafe: false,\n     quiet: false,\n-    json: true,\n     slash: true,\n     depth: 100,\n";
    let rig = Rig::new(file.as_str());
    let patch = format!("--- a/file.txt\n+++ b/file.txt\n@@ -{start},7 +{start},6 @@\n{hunk}");
    let answer = rig.call("patch", json!({"patch": patch}));
    let expected = {
        let (head, tail) = file.rsplit_once("    json: true,\n").unwrap();
        format!("{head}{tail}")
    };
    if answer.report.status() != Status::Applied {
        assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
        let candidates = &failure(&answer).candidates;
        assert_eq!((candidates[0].lines.start, candidates[0].choosable), (start, true), "{}", answer.text);
        let answer = rig.call("patch", json!({"patch": patch, "candidate": 1}));
        assert_eq!(answer.report.status(), Status::Applied, "{}", answer.text);
    }
    assert_eq!(String::from_utf8_lossy(&rig.bytes()), expected);
}

/// Only the first line of a paragraph says which one it is.
#[rstest]
#[case::stage(
    "FROM debian AS serve\nRUN apk add git\nRUN make everything\nCMD run\n",
    "FROM alpine AS build",
    "make everything"
)]
#[case::table("beta,1,2,3\nfirst,4,5,6\nsecond,7,8,9\nthird,1,1,1\n", "alpha,1,2,3", "second,7")]
#[case::procedure(
    "procedure SaveAll(x: Integer);\nbegin\n  y := x;\n  WriteLn(y);\n  Increment(y);\nend;\n",
    "procedure LoadAll(x: Integer);",
    "WriteLn(y)"
)]
fn the_first_line_of_a_request_and_of_a_paragraph_names_the_place(
    #[case] block: &str,
    #[case] name: &str,
    #[case] from: &str,
) {
    let (there, body) = block.split_once('\n').unwrap();
    assert_ne!(there, name);
    let file = format!("something above\n\n{block}\nsomething below\n");
    let old = format!("{name}\n{body}");
    refused(file.as_str(), &old, &old.replace(from, "other_words(9)"), "no_match");
}

/// The lines below the dots are in two places, and a block in between resembles them.
#[test]
fn nothing_is_offered_for_dots_that_may_stand_for_several_things() {
    let rule = |name: &str, size: usize| format!("  .{name} {{\n    max-height: {size}em;\n  }}\n");
    let file = format!(
        "@media (min-width: 992px) {{\n{}{}{}{}}}\n",
        rule("short", 18),
        rule("tall", 24),
        rule("plain", 24),
        rule("long", 48)
    );
    let old = "@media (min-width: 992px) {\n  .short {\n    /* ... */\n    max-height: 24em;\n  }";
    let rig = Rig::new(file.as_str());
    let answer = rig.edit(old, &format!("{old}\n  .new {{\n    height: 1em;\n  }}"));
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    let FailureReport { resend, resend_edit, candidates, .. } = failure(&answer);
    assert_eq!((resend, resend_edit), (&None, &None), "{}", answer.text);
    assert!(candidates.iter().all(|one| !one.choosable), "{}", answer.text);
}

/// The added lines are apart from a neighbour with a typo.
#[test]
fn an_insertion_above_a_blank_line_and_a_miswritten_one_is_offered() {
    let file = "import React from 'react';\nimport styles from './styles.module.css';\n\nexport default function IconLink({\n  width = 13.5,\n});\n";
    let old =
        "import styles from './styles.module.css';\n\nexport default Function IconLink({\n\n  width = 13.5,";
    let added =
        "import styles from './styles.module.css';\n\n// References a symbol\nconst sprite = '#link';\n";
    let new = old.replace("import styles from './styles.module.css';\n", added);
    let rig = Rig::new(file);
    let answer = rig.edit(old, &new);
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    let after = resend(&rig, &answer, &new);
    assert_eq!(after, file.replace("import styles from './styles.module.css';\n", added));
}

/// `mod incoming;` opens no section, so what follows is still the same block if another module is in its place.
#[test]
fn a_declaration_above_the_change_names_no_block() {
    let file = "pub use length::DecodedLength;\n\nmod new_incoming;\nmod length;\n\nfn assert_send_sync() {\n    check();\n}\n";
    let old = file.replace("mod new_incoming;", "mod incoming;");
    let rig = Rig::new(file);
    let answer = rig.edit(&old, &old.replace("mod length;", "#[cfg(any)]\nmod length;"));
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    assert_ne!(failure(&answer).cause, Some(slipstitch_core::find::Cause::OtherBlock), "{}", answer.text);
}

/// Dots that are in the file stand for nothing else.
#[test]
fn a_body_of_dots_is_a_line_like_any_other() {
    let file = "class Reader(Protocol):\n    def open_it(self) -> None:\n        ...\n\n    def read_it(self, size: int) -> bytes:\n        return decode(size)\n";
    let old = file.trim_end().replace("return decode(size)", "return decdoe(size)");
    let rig = Rig::new(file);
    let new = old.replace("decdoe(size)", "decode(size, 1)");
    let answer = rig.edit(&old, &new);
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    assert_eq!(resend(&rig, &answer, &new), file.replace("decode(size)", "decode(size, 1)"));
}

/// After an unpaired quotation mark, `\n` may belong to a literal and is not decoded.
#[test]
fn an_escape_that_may_be_left_is_not_offered() {
    let file = "    # The real value is\n    # 64 (for the base message:\n    # '...\\n...Full output (1 line hidden), use '-vv' to show\")'\n    # )\n    # + 1 (for plural)\n";
    let old = "    # 64 (for the base message:\\n    # '...\\\\n...Full output (1 line hidden), use '-vv' to show\")'\\n    # )";
    let rig = Rig::new(file);
    let answer = rig.edit(old, &old.replace("1 line", "1 line2"));
    if answer.report.status() == Status::Applied {
        assert_eq!(String::from_utf8_lossy(&rig.bytes()), file.replace("1 line", "1 line2"));
    } else {
        assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
        assert_eq!(failure(&answer).resend_edit, None, "{}", answer.text);
    }
}

/// A different letter makes a different name; an extra letter inside it does not.
#[test]
fn a_name_with_another_letter_is_another_block() {
    let file = "Host alpha_one\n    check_value(a)\n    open_connection(a)\n    send_value(a)\n    close_connection(a)\n";
    let offers = |name: &str| {
        let old = file.trim_end().replace("alpha_one", name);
        let answer = Rig::new(file).edit(&old, &old.replace("send_value(a)", "send_value(b)"));
        assert_ne!(answer.report.status(), Status::Applied, "{}", answer.text);
        let FailureReport { resend, resend_edit, candidates, .. } = failure(&answer);
        resend.is_some() || resend_edit.is_some() || candidates.iter().any(|one| one.choosable)
    };
    assert!(!offers("alpha_ome"));
    assert!(!offers("alpha_two"));
    assert!(offers("allpha_one"));
}

/// Of a block under another name, the lines of the next or previous block show that it is the quoted one.
#[test]
fn neighbours_show_that_a_block_was_renamed() {
    let file = "top {\n}\n.resize-handle-two {\n\tposition: absolute;\n\tdisplay: block;\n\ttouch-action: none;\n}\n.resize-disabled .resize-handle,\n.resize-autohide {\n\tdisplay: none;\n}\n";
    let body = "\tposition: absolute;\n\tdisplay: block;\n\ttouch-action: none;\n}\n";
    let with = |before: &str, after: &str| {
        let old = format!("{before}.resize-handle {{\n{body}{after}");
        let rig = Rig::new(file);
        let new = old.replace("\tdisplay: block;\n", "");
        let answer = rig.edit(&old, &new);
        assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
        (rig, answer, new)
    };
    let (rig, answer, new) = with("", ".resize-disabled .resize-handle,\n");
    assert_eq!(resend(&rig, &answer, &new), file.replace("\tdisplay: block;\n", ""));
    // A brace ends many blocks, and what follows next to nothing may follow anything.
    for (before, after) in [("}\n", ""), ("", ""), ("", "}\n")] {
        let (_, answer, _) = with(before, after);
        let FailureReport { resend, resend_edit, candidates, .. } = failure(&answer);
        assert_eq!((resend, resend_edit), (&None, &None), "{}", answer.text);
        assert!(candidates.iter().all(|one| !one.choosable), "{}", answer.text);
    }
    // Nor is it offered if more than the name differs.
    let other = file.replace("touch-action: none", "touch-action: auto");
    let old = format!(".resize-handle {{\n{body}.resize-disabled .resize-handle,\n");
    let answer = Rig::new(other.as_str()).edit(&old, &old.replace("\tdisplay: block;\n", ""));
    let FailureReport { resend, resend_edit, .. } = failure(&answer);
    assert_eq!((resend, resend_edit), (&None, &None), "{}", answer.text);
}

/// Quotation marks are the form of a name.
#[test]
fn the_quotation_marks_of_a_name_do_not_make_another_block() {
    let file = "[lib]\nname = \"a\"\n\n[target.'cfg(target_family = \"unix\")'.dependencies.libc]\nversion = \"0.2.98\"\noptional = true\n";
    let old = "[target.\"cfg(target_family = \\\"unix\\\")\".dependencies.libc]\nversion = \"0.2.98\"\noptional = true";
    let rig = Rig::new(file);
    let new = old.replace("0.2.98", "0.2.99");
    let answer = rig.edit(old, &new);
    let after = match answer.report.status() {
        Status::Applied => String::from_utf8_lossy(&rig.bytes()).into_owned(),
        _ => resend(&rig, &answer, &new),
    };
    assert_eq!(after, file.replace("0.2.98", "0.2.99"), "{}", answer.text);
}

/// The section above ends where the removed heading starts the next one.
#[test]
fn a_section_that_ends_at_the_change_does_not_name_its_place() {
    let file = "[deps.webpki2]\nversion = \"0.2.98\"\n\n[deps.num_threads]\nversion = \"0.1.2\"\n";
    let old = "[deps.webpki]\nversion = \"0.2.98\"\n\n[deps.num_threads]\nversion = \"0.1.2\"\n";
    let new = old.replace("[deps.num_threads]", "[deps.num_threads.unix]");
    let rig = Rig::new(file);
    let answer = rig.edit(old, &new);
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    assert_eq!(resend(&rig, &answer, &new), file.replace("[deps.num_threads]", "[deps.num_threads.unix]"));
    // A part of the section is in it.
    let file = "## Usage2\n\nSome words about it.\n\n### Options\n\nMore words about them.\n";
    let old = file.replace("Usage2", "Usage");
    let answer = Rig::new(file).edit(&old, &old.replace("### Options", "### Settings"));
    let FailureReport { resend, resend_edit, .. } = failure(&answer);
    assert_eq!((resend, resend_edit), (&None, &None), "{}", answer.text);
}

/// What is around the lines to be changed was rewritten, and another place is more like it.
#[test]
fn the_place_of_the_removed_lines_comes_first() {
    let file = "fn one() {\n    (\n        StatusCode::ERROR,\n        format!(\"Something went wrong: {}\", err),\n    )\n}\n# async {\n# serve(app.into_make_service()).await;\n# };\n\nfn two() {\n    (\n        StatusCode::ERROR,\n        format!(\"Unhandled internal error: {}\", err),\n    )\n}\n# let _: Router = app;\n";
    let old = "    (\n        StatusCode::ERROR,\n        format!(\"Unhandled internal error: {}\", err),\n    )\n}\n# async {\n# serve(app.into_make_service()).await;\n# };";
    let rig = Rig::new(file);
    let new = old.replace("error: {}\", err)", "error: {err}\")");
    let answer = rig.edit(old, &new);
    assert_eq!(rig.bytes(), file.as_bytes(), "{}", answer.text);
    let candidates = &failure(&answer).candidates;
    assert_eq!((candidates[0].lines.start, candidates[0].choosable), (12, true), "{}", answer.text);
}

/// Lines of a quotation were replaced one by one, and nothing else has changed between unique lines around it.
#[rstest]
#[case::to_the_end("    display: block;\n", "    display: block2;\n")]
#[case::to_another_line("    display: block;\n", "    inset: 0;\n")]
fn nothing_but_a_quoted_line_has_changed_around_it(#[case] line: &str, #[case] now: &str) {
    let group =
        |name: &str, line: &str| format!(".{name} {{\n    cursor: default;\n{line}    padding: 6px;\n}}\n");
    let seen =
        [group("select_results", "    display: none;\n"), group("select_results_group", line)].join("\n");
    let file =
        [group("select_results", "    display: none;\n"), group("select_results_group", now)].join("\n");
    let old = format!("    cursor: default;\n{line}    padding: 6px;\n}}");
    let new = old.replace("6px;\n}", "8px;\n}");
    let (rig, answer) = edit_since(&seen, &file, &old, &new);
    let after = match answer.report.status() {
        Status::Applied => String::from_utf8_lossy(&rig.bytes()).into_owned(),
        _ => resend(&rig, &answer, &new),
    };
    let at = file.rfind("6px").unwrap();
    assert_eq!(after, format!("{}8px{}", &file[..at], &file[at + 3..]), "{}", answer.text);
    // If the block is gone and its twin is left, neither is it offered.
    let left = group("select_results", "    display: none;\n");
    let (_, answer) = edit_since(&seen, &left, &old, &new);
    let FailureReport { resend, resend_edit, candidates, .. } = failure(&answer);
    assert_eq!((resend, resend_edit), (&None, &None), "{}", answer.text);
    assert!(candidates.iter().all(|one| !one.choosable), "{}", answer.text);
}

/// A short line that the request removes is still there, but what was above it is not: it belongs to another block by now.
#[test]
fn a_removed_line_that_lost_its_neighbour_is_not_offered() {
    let seen = "            (_a = props.onClick) === null || _a === void 0 ? void 0 : _a.call(props);\n        }\n    };\n    const handleClick = actualOnClick\n        ? (event) => {\n            var _a;\n";
    let now = "            (_a = props.onClick) === null || _a === void 0 ? void 0 : _a.call(props);\n            event.target.focus();\n        }\n    };\n    // The focus is kept, for a reason.\n    const handleMouseDown = ((_b = props.noFocus) !== null ? _b : false)\n        ? (event) => {\n            var _a;\n";
    let old = seen.trim_end();
    let (rig, answer) = edit_since(seen, now, old, &old.replace("        ? (event) => {\n", ""));
    assert_eq!(rig.bytes(), now.as_bytes(), "{}", answer.text);
    let FailureReport { resend, resend_edit, candidates, read, .. } = failure(&answer);
    assert_eq!((resend, resend_edit, read.len()), (&None, &None, 0), "{}", answer.text);
    assert!(candidates.iter().all(|one| !one.choosable), "{}", answer.text);
}
