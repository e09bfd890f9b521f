//! `hashline` against a model that knows every line by an identity of its own, which neither its number nor its text tells.
//!
//! Many lines are equal, others change the file between reads and edits, and the caller names lines by the anchors it read, or by
//! those of the current text, which it has not read. However the engine finds the line, a change that it makes must be the one to the line
//! that was meant.

use fastrand::Rng;
use serde_json::{Value, json};
use slipstitch_core::outcome::Status;
use slipstitch_core::plan::LineAnchor;

use super::Sandbox;

const NAME: &str = "a.txt";

/// A line with its identity. Equal lines have different identities.
#[derive(Debug, Clone, PartialEq)]
struct Line {
    id: usize,
    text: String,
}

/// The file as the model knows it.
struct Model {
    lines: Vec<Line>,
    next: usize,
    newline: &'static str,
    random: Rng,
}

impl Model {
    fn new(seed: u64) -> Self {
        let random = Rng::with_seed(seed);
        let newline = if seed.is_multiple_of(3) { "\r\n" } else { "\n" };
        let mut model = Self { lines: Vec::new(), next: 0, newline, random };
        for _ in 0..model.random.usize(3..25) {
            let line = match model.random.usize(..6) {
                0 => model.line("}"),
                1 => model.line("    }"),
                2 => model.line("return None"),
                3 => model.line(""),
                _ => model.unique_line(),
            };
            model.lines.push(line);
        }
        model
    }

    fn line(&mut self, text: &str) -> Line {
        self.next += 1;
        Line { id: self.next, text: text.into() }
    }

    fn unique_line(&mut self) -> Line {
        let text = format!("line {}", self.next + 1);
        self.line(&text)
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{}{}", line.text, self.newline)).collect()
    }

    /// What someone else does to the file. Only lines that occur once are removed or replaced: which one of two equal
    /// lines was removed, nobody can tell.
    fn change(&mut self) {
        let at = self.random.usize(..=self.lines.len());
        let unique = self.lines.get(at).is_some_and(|line| line.text.starts_with("line "));
        match self.random.usize(..3) {
            0 if unique => {
                self.lines.remove(at);
            }
            1 if unique => self.lines[at] = self.unique_line(),
            _ => {
                let line = self.unique_line();
                self.lines.insert(at, line);
            }
        }
    }
}

fn anchor(lines: &[Line], at: usize) -> String {
    LineAnchor::of(at + 1, &lines[at].text).to_string()
}

/// A replacement for some lines: one line instead of all, or all of them with one changed.
fn new_lines(model: &mut Model, meant: &[Line]) -> Vec<Line> {
    let new = model.unique_line();
    if model.random.bool() {
        return vec![new];
    }
    let at = model.random.usize(..meant.len());
    let mut lines = meant.to_vec();
    lines[at] = new;
    lines
}

/// Edits lines that the caller takes from `seen`; returns whether the edit was applied.
fn edit(sandbox: &Sandbox, model: &mut Model, seen: &[Line]) -> bool {
    let first = model.random.usize(..seen.len());
    let last =
        if model.random.bool() { first } else { (first + model.random.usize(..3)).min(seen.len() - 1) };
    let inserts = model.random.bool() && first == last;
    let new = if inserts { vec![model.unique_line()] } else { new_lines(model, &seen[first..=last]) };
    let text = new.iter().map(|line| &line.text[..]).collect::<Vec<_>>().join("\n") + "\n";
    let edit = match inserts {
        true => json!({"insert_after": {"anchor": anchor(seen, first), "text": text}}),
        false => {
            json!({"replace_lines": {"start_anchor": anchor(seen, first), "end_anchor": anchor(seen, last),
                                          "new_text": text}})
        }
    };
    let before = model.text();
    let answer = sandbox.call("hashline", "edit", json!({"path": NAME, "edits": [edit]}));
    let text = sandbox.text(NAME).unwrap();
    if answer.report.status() != Status::Applied {
        assert_eq!(text, before, "a refused edit wrote: {}", answer.text);
        assert_eq!(answer.report.code(), "unexpected_lines", "{}", answer.text);
        return false;
    }
    let at = model.lines.iter().position(|line| line.id == seen[first].id);
    let at = at.unwrap_or_else(|| panic!("an edit of a line that is gone was applied: {}", answer.text));
    match inserts {
        true => drop(model.lines.splice(at + 1..at + 1, new)),
        false => {
            let meant = &seen[first..=last];
            assert_eq!(model.lines[at..].get(..meant.len()), Some(meant), "other lines were replaced");
            model.lines.splice(at..at + meant.len(), new);
        }
    }
    assert_eq!(text, model.text(), "the wrong line was edited: {}", answer.text);
    true
}

// Shows: hashline-moved, hashline-twins, hashline-stale
#[test]
fn an_edit_changes_the_line_that_was_meant_or_nothing() {
    let (mut applied, mut moved, mut refused) = (0, 0, 0);
    for seed in 0..400 {
        let mut model = Model::new(seed);
        let sandbox = Sandbox::default();
        sandbox.put(NAME, &model.text());
        let mut seen = Vec::new();
        for _ in 0..12 {
            if seen.is_empty() || model.random.usize(..4) == 0 {
                let read = sandbox.call("hashline", "read", json!({"path": NAME}));
                seen = model.lines.clone();
                let shown: Vec<String> =
                    (0..seen.len()).map(|at| format!("{}|{}", anchor(&seen, at), seen[at].text)).collect();
                assert!(read.text.starts_with(&shown.join("\n")), "{}", read.text);
            }
            for _ in 0..model.random.usize(..3) {
                model.change();
            }
            sandbox.put(NAME, &model.text());
            let current = model.lines.clone();
            let is_current = model.random.usize(..4) == 0;
            let source = if is_current { current.clone() } else { seen.clone() };
            if source.is_empty() {
                continue;
            }
            let was_applied = edit(&sandbox, &mut model, &source);
            assert!(
                was_applied || seen != current,
                "an edit of lines that did not change was refused, seed {seed}"
            );
            applied += usize::from(was_applied);
            moved += usize::from(was_applied && seen != current && !is_current);
            refused += usize::from(!was_applied);
        }
    }
    // The test is worth something only if all of these happen.
    assert!(
        applied > 500 && moved > 200 && refused > 200,
        "{applied} applied, {moved} moved, {refused} refused"
    );
}

// Shows: hashline-wrong-hash
#[test]
fn a_wrong_hash_or_number_never_writes() {
    for seed in 0..200 {
        let mut model = Model::new(seed);
        let sandbox = Sandbox::default();
        sandbox.put(NAME, &model.text());
        if model.random.bool() {
            sandbox.call("hashline", "read", json!({"path": NAME}));
        }
        let at = model.random.usize(..model.lines.len());
        let right = LineAnchor::of(at + 1, &model.lines[at].text);
        let wrong = match model.random.bool() {
            true => LineAnchor { hash: right.hash.wrapping_add(model.random.u8(1..)), ..right },
            false => LineAnchor { line: model.lines.len() + 1 + model.random.usize(..3), ..right },
        };
        let edits = json!([{"set_line": {"anchor": wrong.to_string(), "new_text": "x"}}]);
        let answer = sandbox.call("hashline", "edit", json!({"path": NAME, "edits": edits}));
        assert_eq!(answer.report.code(), "unexpected_lines", "seed {seed}: {}", answer.text);
        assert_eq!(sandbox.text(NAME).unwrap(), model.text(), "seed {seed}");
    }
}

/// The second line's anchor in `one`, `two`, `three`.
fn anchor_of_two() -> String {
    LineAnchor::of(2, "two").to_string()
}

/// Sends an edit of the file `one`, `two`, `three`, and returns whether it was applied, the answer and the file's text.
fn edit_three_lines(edit: &Value) -> (bool, String, String) {
    let sandbox = Sandbox::default();
    sandbox.put(NAME, "one\ntwo\nthree\n");
    let answer = sandbox.call("hashline", "edit", json!({"path": NAME, "edits": [edit]}));
    (answer.report.status() == Status::Applied, answer.text, sandbox.text(NAME).unwrap())
}

#[test]
fn lines_of_the_later_form_are_lines_with_or_without_newlines() {
    let cases = [
        (json!(["X", "Y"]), "X\nY\n"),
        (json!(["X\n", "Y\n"]), "X\nY\n"),
        (json!(["X\r\n", "Y\r\n"]), "X\nY\n"),
        (json!(["X\n", "Y"]), "X\nY\n"),
        (json!(["X", "Y\n"]), "X\nY\n"),
        (json!(["X\n", "\n", "Y\n"]), "X\n\nY\n"),
        (json!(["X", ""]), "X\n\n"),
        (json!(["\n"]), "\n"),
        (json!([""]), "\n"),
        (json!([]), ""),
        (json!(null), ""),
        (json!(""), ""),
        (json!("X"), "X\n"),
        (json!("X\n"), "X\n"),
        (json!(["2#10:b = 5"]), "b = 5\n"),
        (json!(["2#10:b = 5 | c\n", "3#11|d:e\n"]), "b = 5 | c\nd:e\n"),
        (json!(["2#10:b = 5", "c"]), "2#10:b = 5\nc\n"),
    ];
    for (lines, new) in cases {
        let edit = json!({"op": "replace", "pos": anchor_of_two(), "lines": lines});
        let (applied, answer, text) = edit_three_lines(&edit);
        assert!(applied, "{lines}: {answer}");
        assert_eq!(text, format!("one\n{new}three\n"), "{lines}");
    }
}

#[test]
fn anchors_in_front_of_new_lines_are_removed_up_to_their_own_separator() {
    let cases = [
        ("2:10|flags = A | B\n", "flags = A | B\n"),
        ("2#10:flags = A | B\n", "flags = A | B\n"),
        ("2#10|flags: A\n", "flags: A\n"),
        ("2#10:x\r\n3:11|y | z", "x\ny | z\n"),
        ("2:10|", "\n"),
        ("2:10|x\n3:11|", "x\n\n"),
        ("2:10:flags = A | B\n", "2:10:flags = A | B\n"),
        ("2#10:x\ny | z\n", "2#10:x\ny | z\n"),
    ];
    for (new, want) in cases {
        let (applied, answer, text) =
            edit_three_lines(&json!({"set_line": {"anchor": anchor_of_two(), "new_text": new}}));
        assert!(applied, "{new:?}: {answer}");
        assert_eq!(text, format!("one\n{want}three\n"), "{new:?}");
        assert_eq!(answer.contains("anchors in front"), !new.starts_with(want), "{new:?}: {answer}");
    }
}

#[test]
fn fields_that_the_later_form_does_not_have_are_refused() {
    let edit = |more: Value| {
        let mut edit = json!({"op": "replace", "pos": anchor_of_two(), "lines": ["X"]});
        edit.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        edit
    };
    let set_line = json!({"anchor": anchor_of_two(), "new_text": "Y"});
    let refused = [
        (edit(json!({"last": "3:45"})), "`edits[0].last`"),
        (edit(json!({"pos_end": null})), "`edits[0].pos_end`"),
        (edit(json!({"set_line": set_line})), "must have exactly one of"),
        (json!({"set_line": set_line, "pos": anchor_of_two()}), "`edits[0].pos`"),
    ];
    for (edit, said) in refused {
        let (applied, answer, text) = edit_three_lines(&edit);
        assert!(!applied && answer.contains(said), "{edit}: {answer}");
        assert_eq!(text, "one\ntwo\nthree\n", "{edit}");
    }
    let accepted = [
        edit(json!({"end": "", "set_line": null, "replace_lines": "", "insert_after": [], "replace": {}})),
        edit(json!({"end": [], "replace": {"old_text": "", "new_text": ""}})),
        json!({"replace_lines": {"start_anchor": anchor_of_two(), "new_text": "X"}, "op": "", "pos": "", "end": null, "lines": []}),
    ];
    for edit in accepted {
        let (applied, answer, text) = edit_three_lines(&edit);
        assert!(applied, "{edit}: {answer}");
        assert_eq!(text, "one\nX\nthree\n", "{edit}");
    }
}

/// The anchor of a line, as it was read.
type Anchors<'a> = &'a dyn Fn(usize) -> String;

/// Reads a file and makes two edits with the anchors of that read. Returns the second answer and the file's text.
fn edit_twice(before: &str, edits: &[&dyn Fn(Anchors<'_>) -> Value]) -> (Status, String, String) {
    let sandbox = Sandbox::default();
    sandbox.put(NAME, before);
    sandbox.call("hashline", "read", json!({"path": NAME}));
    let lines: Vec<&str> = before.lines().collect();
    let anchor = |line: usize| LineAnchor::of(line, lines[line - 1]).to_string();
    let mut answers = edits.iter().map(|edit| {
        let answer = sandbox.call("hashline", "edit", json!({"path": NAME, "edits": [edit(&anchor)]}));
        (answer.report.status(), answer.text)
    });
    assert_eq!(answers.next().map(|(status, _)| status), Some(Status::Applied));
    let (status, text) = answers.last().unwrap();
    (status, text, sandbox.text(NAME).unwrap())
}

// Shows: hashline-moved
#[test]
fn an_edit_depends_on_the_lines_that_it_names_and_on_no_others() {
    let set = |line: usize, new: &'static str| move |at: Anchors<'_>| json!({"set_line": {"anchor": at(line), "new_text": new}});
    let insert = |line: usize, new: &'static str| move |at: Anchors<'_>| json!({"insert_after": {"anchor": at(line), "text": new}});
    let before = "a\nb\nc\nd\n";
    for (first, second, after) in [
        (set(2, "B"), set(1, "A"), "A\nB\nc\nd\n"),
        (set(2, "B"), set(3, "C"), "a\nB\nC\nd\n"),
        (set(2, ""), set(3, "C"), "a\nC\nd\n"),
        (set(2, ""), set(1, "A"), "A\nc\nd\n"),
        (set(2, "B\nB"), set(3, "C"), "a\nB\nB\nC\nd\n"),
    ] {
        let (status, answer, text) = edit_twice(before, &[&first, &second]);
        assert_eq!((status, &text[..]), (Status::Applied, after), "{answer}");
    }
    for (first, second, after) in [
        (insert(1, "x"), insert(1, "y"), "a\ny\nx\nb\nc\nd\n"),
        (insert(4, "x"), insert(4, "y"), "a\nb\nc\nd\ny\nx\n"),
    ] {
        let (status, answer, text) = edit_twice(before, &[&first, &second]);
        assert_eq!((status, &text[..]), (Status::Applied, after), "{answer}");
    }
    for (first, second, after) in
        [(insert(1, "x"), set(2, "B"), "a\nx\nB\nc\nd\n"), (insert(1, "x"), set(1, "A"), "A\nx\nb\nc\nd\n")]
    {
        let (status, answer, text) = edit_twice(before, &[&first, &second]);
        assert_eq!((status, &text[..]), (Status::Applied, after), "{answer}");
    }
    let (status, answer, text) = edit_twice(before, &[&set(2, "B"), &insert(1, "x")]);
    assert_eq!((status, &text[..]), (Status::Applied, "a\nx\nB\nc\nd\n"), "{answer}");
    assert_eq!(answer, format!("Edited {NAME}, line 2."), "nothing has moved, so there is nothing to note");
    let (_, answer, _) = edit_twice(before, &[&insert(1, "x"), &set(3, "C")]);
    assert_eq!(
        answer,
        format!(
            "Edited {NAME}, line 4.\nNote: lines have moved since they were shown; these numbers are the current ones"
        )
    );
}

// Shows: hashline-stale
#[test]
fn an_edit_whose_lines_changed_is_refused() {
    type Anchors<'a> = &'a dyn Fn(usize) -> String;
    let set = |line: usize, new: &'static str| move |at: Anchors<'_>| json!({"set_line": {"anchor": at(line), "new_text": new}});
    let insert = |line: usize, new: &'static str| move |at: Anchors<'_>| json!({"insert_after": {"anchor": at(line), "text": new}});
    let replace = |first: usize, last: usize, new: &'static str| move |at: Anchors<'_>| json!({"replace_lines": {"start_anchor": at(first), "end_anchor": at(last), "new_text": new}});
    let before = "a\nb\nc\nd\n";
    let refused = |first: &dyn Fn(Anchors<'_>) -> Value, second: &dyn Fn(Anchors<'_>) -> Value| {
        let (status, answer, _) = edit_twice(before, &[first, second]);
        assert_eq!(status, Status::Refused, "{answer}");
        assert!(answer.contains("have changed since they were shown"), "{answer}");
    };
    refused(&set(1, "A"), &insert(1, "x"));
    // The replacement repeats the line that changed.
    refused(&set(3, "C"), &replace(1, 3, "A\nb\nc"));
    refused(&set(2, "B"), &replace(1, 3, "A\nb\nc"));
    refused(&insert(2, "x"), &replace(1, 3, "A\nb\nc"));
    // A line diff cannot tell which of two equal lines was read.
    refused(&insert(2, "c"), &set(3, "C"));
    // Sent again, the edit is not applied twice.
    let (status, answer, text) = edit_twice(before, &[&insert(1, "x"), &insert(1, "x")]);
    assert_eq!((status, &text[..]), (Status::NoChange, "a\nx\nb\nc\nd\n"), "{answer}");
}

#[test]
fn anchors_of_one_read_are_good_for_many_edits() {
    // With insertions, an anchor of one of several equal lines may mean another one now.
    for has_equal_lines in [false, true] {
        let line = |at: usize| {
            if has_equal_lines && at.is_multiple_of(5) { "}".into() } else { format!("line {at}") }
        };
        let lines: Vec<String> = (0..60).map(line).collect();
        let sandbox = Sandbox::default();
        sandbox.put(NAME, &(lines.join("\n") + "\n"));
        sandbox.call("hashline", "read", json!({"path": NAME}));
        let mut expected = String::new();
        for (at, line) in lines.iter().enumerate() {
            let anchor = LineAnchor::of(at + 1, line).to_string();
            let inserts = !has_equal_lines && at % 3 == 0;
            let edit = match inserts {
                true => json!({"insert_after": {"anchor": anchor, "text": format!("new {at}")}}),
                false => json!({"set_line": {"anchor": anchor, "new_text": format!("new {at}")}}),
            };
            if inserts {
                expected.push_str(&format!("{line}\n"));
            }
            expected.push_str(&format!("new {at}\n"));
            let answer = sandbox.call("hashline", "edit", json!({"path": NAME, "edits": [edit]}));
            assert_eq!(answer.report.status(), Status::Applied, "line {}: {}", at + 1, answer.text);
        }
        assert_eq!(sandbox.text(NAME).unwrap(), expected);
    }
}
