//! Toy files, as people write them for a first try: short lines, small blocks, headings of no known language.

use rstest::rstest;
use serde_json::json;
use slipstitch_core::outcome::Status;

use super::{applied, refused};
use crate::rig::{Rig, path};

/// Edits a file that was read as `seen` and is now `now`, and returns the resulting text.
#[track_caller]
fn edited_since(seen: &str, now: &str, old: &str, new: &str) -> String {
    let rig = Rig::new(seen);
    assert_eq!(rig.call("read_file", json!({})).report.status(), Status::Shown);
    rig.files.put(&path("file.txt"), now);
    rig.edit(old, new);
    String::from_utf8_lossy(&rig.bytes()).into_owned()
}

fn blocks(names: &[&str]) -> String {
    names.iter().map(|name| format!("start\n  a\n  {name}\nend\n")).collect()
}

#[rstest]
#[case::first(&["c", "d"])]
#[case::first_and_another_one_came(&["c", "d", "e"])]
#[case::all_moved(&["d", "c"])]
fn a_removed_block_of_short_lines_is_never_taken_for_a_twin(#[case] left: &[&str]) {
    let quoted = blocks(&["b"]);
    let now = blocks(left);
    let after = edited_since(&blocks(&["b", "c", "d"]), &now, &quoted, &quoted.replace("  a", "  x"));
    assert_eq!(after, now);
}

#[test]
fn a_removed_block_between_two_twins_is_never_taken_for_one() {
    let (quoted, now) = (blocks(&["c"]), blocks(&["b", "d"]));
    let after = edited_since(&blocks(&["b", "c", "d"]), &now, &quoted, &quoted.replace("  a", "  x"));
    assert_eq!(after, now);
    let between = quoted.replace("  a\n", "  a\n  x\n");
    assert_eq!(edited_since(&blocks(&["b", "c", "d"]), &now, &quoted, &between), now);
}

/// Either a block was removed and a new one has the same body, or the block was renamed: nobody can tell, whatever the language.
#[rstest]
#[case::settings("Host NAME")]
#[case::ocaml("let NAME x =")]
#[case::tag("<Directory /NAME>")]
#[case::upstream("upstream NAME")]
#[case::rule("NAME: dep")]
#[case::call("NAME = Foo(")]
#[case::python("def NAME():")]
fn a_version_does_not_move_an_edit_to_a_block_of_another_name(#[case] heading: &str) {
    let body = "    User deploy\n    Port 2222\n    ForwardAgent no\n    Compression yes\n";
    let block = |name: &str| format!("{}\n{body}", heading.replace("NAME", name));
    let other = format!("{}\n    Some thing\n    Else here\n", heading.replace("NAME", "gamma"));
    let (quoted, seen) = (block("alpha"), format!("{other}\n{}", block("alpha")));
    let new = quoted.replace("2222", "2223");
    for now in [format!("{other}\n{}", block("beta")), format!("{}\n{other}", block("beta"))] {
        assert_eq!(edited_since(&seen, &now, &quoted, &new), now);
    }
    // The same name, with another detail, is the same block.
    let detailed = seen.replace("no\n", "no # as agreed\n");
    assert_eq!(edited_since(&seen, &detailed, &quoted, &new), detailed.replace("2222", "2223"));
}

const LOADER: &str = "class Loader:\n    def load(self, path):\n        for item in read(path):\n            if item.valid:\n                self.items.append(item)\n        return self.items\n\n    def clear(self):\n        self.items = []\n        self.count = 0\n";

#[test]
fn an_old_text_without_any_indentation_does_not_show_what_is_deeper() {
    let old = "def clear(self):\nself.items = []\nself.count = 0\n";
    let new = "def clear(self):\n    \"\"\"Clears.\"\"\"\n    self.items = []\n    self.count = 0\n";
    refused(LOADER, old, new, "no_match");
    // If it is in both texts, it shows where every line belongs.
    applied(LOADER, old, &old.replace("= 0", "= 1"), LOADER.replace("= 0", "= 1"));
}

#[test]
fn another_unit_and_another_depth_at_once() {
    let old = "for item in read(path):\n  if item.valid:\n    self.items.append(item)\n";
    let new = "for item in read(path):\n  if item.valid:\n    log(item)\n    self.items.append(item)\n";
    let after =
        LOADER.replace("                self.items", "                log(item)\n                self.items");
    applied(LOADER, old, new, after);
}

#[test]
fn blanks_at_the_end_of_every_line_are_not_added() {
    let file = "def f():\n    a = 1\n    b = 2\n    return a\n";
    let after = file.replace("    b = 2\n", "    x()\n    b = 2\n");
    applied(file, "    a = 1  \n    b = 2  \n", "    a = 1  \n    x()  \n    b = 2  \n", after);
    // If a line of the file ends in blanks too, they are part of the text.
    let file = "one  \ntwo\nthree\n";
    applied(file, "one  \ntwo  \n", "one  \nnew  \ntwo  \n", "one  \nnew  \ntwo\nthree\n");
}

#[test]
fn a_fence_around_the_old_text_alone_adds_no_blank_line() {
    let file = "a = 1\nb = 2\nc = 3\n";
    applied(file, "```\nb = 2\n```\n", "b = 5\n", "a = 1\nb = 5\nc = 3\n");
}

const STOPS: &str = "class A:\n    def stop(self):\n        halt()\n        return None\n\n\nclass B:\n    def stop(self):\n        halt()\n        return None\n";

/// Sends a patch for `file.txt`.
fn patched(file: &str, patch: &str) -> (String, String) {
    let rig = Rig::new(file);
    let answer = rig.call("patch", json!({ "patch": patch }));
    (String::from_utf8_lossy(&rig.bytes()).into_owned(), answer.text)
}

#[rstest]
#[case::the_number_is_right("@@ -9,2 +9,2 @@ class B:", Some('B'))]
#[case::the_heading_settles_a_tie("@@ -6,2 +6,2 @@ class B:", Some('B'))]
#[case::the_heading_alone("@@ class B: @@", Some('B'))]
#[case::they_contradict_each_other("@@ -3,2 +3,2 @@ class B:", None)]
#[case::the_heading_is_elsewhere("@@ -3,2 +3,2 @@ class Q:", Some('A'))]
#[case::nothing_settles_it("@@ @@", None)]
fn the_heading_of_a_unified_hunk_counts(#[case] header: &str, #[case] class: Option<char>) {
    let patch = format!(
        "--- a/file.txt\n+++ b/file.txt\n{header}\n         halt()\n-        return None\n+        return 1\n"
    );
    let (first, second) = STOPS.split_once("\n\n\n").unwrap();
    let after = match class {
        Some('A') => format!("{}\n\n\n{second}", first.replace("None", "1")),
        Some(_) => format!("{first}\n\n\n{}", second.replace("None", "1")),
        None => STOPS.to_owned(),
    };
    let (text, answer) = patched(STOPS, &patch);
    assert_eq!(text, after, "{answer}");
}

const NUMBERED: &str = "def f():\n    start()\n    value = 2\n    finish()\n";

#[rstest]
#[case::colon("2:      start()\n3: -    value = 2\n4: +    value = 3\n5:      finish()\n")]
#[case::bar("2|     start()\n3|-    value = 2\n |+    value = 3\n4|     finish()\n")]
#[case::no_number_for_new_lines("2|     start()\n3|-    value = 2\n+    value = 3\n4|     finish()\n")]
#[case::joined("     start()\\n-    value = 2\\n+    value = 3\\n     finish()\n")]
fn numbers_in_front_of_the_markers_hide_no_change(#[case] hunk: &str) {
    for scope in ["@@\n", "@@ def f():\n"] {
        let patch = format!("*** Begin Patch\n*** Update File: file.txt\n{scope}{hunk}*** End Patch\n");
        let (text, answer) = patched(NUMBERED, &patch);
        assert_eq!(text, NUMBERED.replace("= 2", "= 3"), "{answer}");
    }
}

#[test]
fn a_hunk_that_is_joined_with_its_header_is_read() {
    let patch = "*** Begin Patch\n*** Update File: file.txt\n@@\\n     start()\\n-    value = 2\\n+    value = 3\n*** End Patch\n";
    let (text, answer) = patched(NUMBERED, patch);
    assert_eq!(text, NUMBERED.replace("= 2", "= 3"), "{answer}");
}

#[test]
fn a_hunk_without_any_marker_is_no_success() {
    let patch = "*** Begin Patch\n*** Update File: file.txt\n@@\n2: start()\n3: value = 3\n*** End Patch\n";
    let rig = Rig::new(NUMBERED);
    let answer = rig.call("patch", json!({ "patch": patch }));
    assert_eq!(answer.report.status(), Status::Invalid, "{}", answer.text);
}

#[test]
fn escapes_inside_the_lines_of_a_hunk_are_decoded() {
    let file = "func f() {\n\tif a {\n\t\tb()\n\t}\n}\n";
    let patch = "*** Begin Patch\n*** Update File: file.txt\n@@\n \\tif a {\n \\t\\tb()\n+\\t\\tc()\n \\t}\n*** End Patch\n";
    let (text, answer) = patched(file, patch);
    assert_eq!(text, file.replace("\t\tb()\n", "\t\tb()\n\t\tc()\n"), "{answer}");
}

/// Exact text is written as sent. If the new lines have an indentation that is nowhere else in the file, the answer says so.
#[rstest]
#[case::tabs_among_spaces("    def clear(self):\n", "    def clear(self):\n\t\tlog()\n", Some("tabs"))]
#[case::half_the_unit(
    "        self.items = []\n",
    "        self.items = []\n      log()\n",
    Some("6 spaces")
)]
#[case::one_level_deeper("        self.items = []\n", "        if a:\n            self.items = []\n", None)]
#[case::aligned(
    "        self.items = []\n",
    "        self.items = list(a,\n                          b)\n",
    None
)]
#[case::no_old_indentation("class Loader:\n", "class Loader:\n  a = 1\n", None)]
fn an_odd_depth_is_reported(#[case] old: &str, #[case] new: &str, #[case] said: Option<&str>) {
    let hunk =
        |mark: &str, text: &str| -> String { text.lines().map(|line| format!("{mark}{line}\n")).collect() };
    let patch = format!(
        "*** Begin Patch\n*** Update File: file.txt\n@@\n{}{}*** End Patch\n",
        hunk("-", old),
        hunk("+", new)
    );
    for (tool, arguments) in
        [("edit_file", json!({"old_text": old, "new_text": new})), ("patch", json!({ "patch": patch }))]
    {
        let rig = Rig::new(LOADER);
        let answer = rig.call(tool, arguments);
        assert_eq!(String::from_utf8_lossy(&rig.bytes()), LOADER.replacen(old, new, 1), "{}", answer.text);
        let warning = answer.report.warnings.iter().find(|warning| warning.contains("written as sent"));
        match said {
            Some(said) => assert!(warning.is_some_and(|warning| warning.contains(said)), "{}", answer.text),
            None => assert_eq!(warning, None),
        }
    }
}
