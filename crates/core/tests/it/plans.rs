//! Plans built by hand, including combinations that the native tools cannot express but other dialects and patches can.

use slipstitch_core::change::Lines;
use slipstitch_core::engine::Engine;
use slipstitch_core::guard::Policy;
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::outcome::Status;
use slipstitch_core::path::FilePath;
use slipstitch_core::plan::{
    Batch, Direction, EditPlan, EditRules, FilePlan, IfMissing, LineRange, Operation, OtherSessionsConsent,
    Overwriting, Plan, Run, Separator, Target, UndoPlan, Which,
};
use slipstitch_core::ports::approver::{ApprovalRequest, Approver, Auto, Decision};
use slipstitch_core::ports::journal::{Filter, Journal, Origin, UndoFilter};
use slipstitch_core::ports::memory::{Fault, MemoryJournal, MemoryWorkspace};
use slipstitch_core::ports::workspace::{Workspace, WorkspaceError};
use slipstitch_core::report::Report;

fn path(name: &str) -> FilePath {
    FilePath::from_record(name).unwrap()
}

fn replace(old: &str, new: &str) -> Operation {
    Operation::Replace { old: old.into(), new: new.into(), which: Which::Unique, within: None }
}

fn append(text: &str) -> Operation {
    Operation::Append { text: text.into(), separator: Separator::Literal, if_missing: IfMissing::Fail }
}

fn file(name: &str, operations: Vec<Operation>) -> FilePlan {
    FilePlan { path: path(name), version: None, operations }
}

#[derive(Default)]
struct Rig {
    files: MemoryWorkspace,
    journal: MemoryJournal,
    policy: Policy,
    rules: Option<EditRules>,
}

impl Rig {
    fn with(files: &[(&str, &str)]) -> Self {
        let rig = Self::default();
        for (name, text) in files {
            rig.files.put(&path(name), *text);
        }
        rig
    }

    fn sequential(mut self) -> Self {
        let rules = EditRules { batch: Batch::Sequential, ..EditRules::STRICT };
        self.rules = Some(rules);
        self
    }

    fn run(&self, plan: Plan, approver: &mut dyn Approver) -> Report {
        let engine = Engine::new(&self.files, &self.journal)
            .dialects(slipstitch_dialects::builtin())
            .policy(&self.policy)
            .session("plans")
            .agent(Some("tester"));
        let origin = Origin {
            session: "plans".into(),
            agent: Some("tester".into()),
            dialect: "native".into(),
            tool: "plan".into(),
        };
        engine.execute(&plan, origin, HintPhrases::ALL, approver)
    }

    fn edit_with(&self, files: Vec<FilePlan>, approver: &mut dyn Approver) -> Report {
        let rules = self.rules.unwrap_or(EditRules::NATIVE);
        let plan = EditPlan::new(files, rules);
        self.run(Plan::Edit(plan), approver)
    }

    fn edit(&self, files: Vec<FilePlan>) -> Report {
        self.edit_with(files, &mut Auto)
    }

    fn step(&self, direction: Direction) -> Report {
        self.run(
            Plan::Undo(UndoPlan {
                target: Target::Last { path: None },
                direction,
                run: Run::Real,
                others: OtherSessionsConsent::Given,
            }),
            &mut Auto,
        )
    }

    fn text(&self, name: &str) -> Option<String> {
        self.files.get(&path(name)).map(|bytes| String::from_utf8(bytes).unwrap())
    }
}

#[test]
fn writes_nothing_if_the_second_file_fails() {
    let rig = Rig::with(&[("a", "one\n"), ("b", "two\n")]);
    let report = rig.edit(vec![file("a", vec![replace("one", "1")]), file("b", vec![replace("nope", "2")])]);
    assert_eq!((report.status(), report.code()), (Status::Refused, "no_match"));
    assert_eq!(rig.text("a").as_deref(), Some("one\n"));
    assert!(rig.journal.list(&Filter::default()).unwrap().is_empty());
}

#[test]
fn a_change_to_several_files_is_undone_at_once() {
    let rig = Rig::with(&[("a", "one\n"), ("b", "two\n"), ("old", "x\n")]);
    let report = rig.edit(vec![
        file("a", vec![replace("one", "1")]),
        file("b", vec![Operation::Delete]),
        file("new", vec![Operation::Create { content: "n\n".into() }]),
        file(
            "old",
            vec![
                replace("x", "y"),
                Operation::Move { to: path("moved/here"), overwriting: Overwriting::Refused },
            ],
        ),
    ]);
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    let now = |name| rig.text(name);
    assert_eq!(
        [now("a"), now("b"), now("new"), now("old"), now("moved/here")].map(|t| t.unwrap_or_default()),
        ["1\n", "", "n\n", "", "y\n"]
    );
    let undone = rig.step(Direction::Undo);
    assert_eq!(undone.status(), Status::Applied, "{undone:?}");
    assert_eq!(
        [now("a"), now("b"), now("new"), now("old"), now("moved/here")].map(|t| t.unwrap_or_default()),
        ["one\n", "two\n", "", "x\n", ""]
    );
    assert_eq!(rig.step(Direction::Redo).status(), Status::Applied);
    assert_eq!(now("moved/here").as_deref(), Some("y\n"));
    assert_eq!(rig.step(Direction::Redo).code(), "nothing_to_redo");
    assert_eq!(rig.step(Direction::Undo).status(), Status::Applied);
    assert_eq!(now("a").as_deref(), Some("one\n"));
    assert_eq!(rig.step(Direction::Undo).code(), "nothing_to_undo");
}

#[test]
fn an_error_while_publishing_changes_no_file() {
    let rig = Rig::with(&[("a", "one\n"), ("b", "two\n")]);
    let before = rig.files.all();
    let error = WorkspaceError::Io { path: path("b"), action: "write", reason: "no space left".into() };
    rig.files.fail_next(Fault::Publish, error);
    let report = rig.edit(vec![file("a", vec![replace("one", "1")]), file("b", vec![replace("two", "2")])]);
    assert_eq!((report.status(), report.code()), (Status::Failed, "io_error"));
    assert_eq!(rig.files.all(), before);
    let undoable = Filter { undo: Some(UndoFilter::Undoable), ..Filter::default() };
    assert!(rig.journal.list(&undoable).unwrap().is_empty());
}

#[test]
fn move_and_create_do_not_overwrite_a_file() {
    let rig = Rig::with(&[("a", "a\n"), ("b", "b\n")]);
    let moved =
        rig.edit(vec![file("a", vec![Operation::Move { to: path("b"), overwriting: Overwriting::Refused }])]);
    assert_eq!(moved.code(), "file_exists");
    let created = rig.edit(vec![file("b", vec![Operation::Create { content: "x".into() }])]);
    assert_eq!(created.code(), "file_exists");
    assert_eq!(rig.text("b").as_deref(), Some("b\n"));
}

#[test]
fn rejects_duplicate_paths() {
    let rig = Rig::with(&[("a", "one two\n")]);
    let report = rig.edit(vec![file("a", vec![replace("one", "1")]), file("a", vec![replace("two", "2")])]);
    assert_eq!(report.code(), "path_twice");
    assert_eq!(rig.text("a").as_deref(), Some("one two\n"));
}

#[test]
fn applies_appends_in_order() {
    let rig = Rig::with(&[("a", "0\n")]);
    let report = rig.edit(vec![file("a", vec![append("1\n"), append("2\n")])]);
    assert_eq!(report.status(), Status::Applied);
    assert_eq!(rig.text("a").as_deref(), Some("0\n1\n2\n"));
}

#[test]
fn a_batch_matches_the_original_or_the_previous_result() {
    let edits = || vec![file("a", vec![replace("foo=1", "foo=2"), replace("foo=2", "foo=3")])];
    let original = Rig::with(&[("a", "foo=1\n")]);
    assert_eq!(original.edit(edits()).code(), "no_match");
    assert_eq!(original.text("a").as_deref(), Some("foo=1\n"));

    let rig = Rig::with(&[("a", "foo=1\n")]).sequential();
    assert_eq!(rig.edit(edits()).status(), Status::Applied);
    assert_eq!(rig.text("a").as_deref(), Some("foo=3\n"));
    assert_eq!(rig.step(Direction::Undo).status(), Status::Applied);
    assert_eq!(rig.text("a").as_deref(), Some("foo=1\n"));
}

#[test]
fn a_sequential_batch_is_atomic_and_reports_all_failures() {
    let rig = Rig::with(&[("a", "x\ny\n")]).sequential();
    let report = rig.edit(vec![file(
        "a",
        vec![replace("x", "1"), replace("nope", "2"), replace("y", "3"), replace("no", "4")],
    )]);
    let failed: Vec<_> = report.failures.iter().filter_map(|failure| failure.edit).collect();
    assert_eq!(failed, [2, 4]);
    assert_eq!(rig.text("a").as_deref(), Some("x\ny\n"));
}

#[test]
fn inserted_lines_are_not_joined_with_an_unterminated_last_line() {
    let insert = |after: usize, text: &str| Operation::InsertLines { after: after.into(), text: text.into() };
    for (text, after, want) in [
        ("a\nb", 2, "a\nb\nX"),
        ("a\nb", 1, "a\nX\nb"),
        ("a\nb\n", 2, "a\nb\nX\n"),
        ("a\n", 0, "X\na\n"),
        ("", 0, "X\n"),
    ] {
        let rig = Rig::with(&[("f", text)]);
        assert_eq!(rig.edit(vec![file("f", vec![insert(after, "X")])]).status(), Status::Applied);
        assert_eq!(rig.text("f").as_deref(), Some(want), "{text:?} after {after}");
    }
    let rig = Rig::with(&[("f", "a\n")]);
    assert_eq!(rig.edit(vec![file("f", vec![insert(2, "X")])]).code(), "out_of_range");
}

#[test]
fn literal_new_text_joins_lines_with_a_warning() {
    let rig = Rig::with(&[("a", "one\ntwo\n")]).sequential();
    let report = rig.edit(vec![file("a", vec![replace("one\n", "1")])]);
    assert_eq!(rig.text("a").as_deref(), Some("1two\n"));
    assert!(report.warnings[0].contains("joined"), "{:?}", report.warnings);
}

#[test]
fn reports_the_lines_before_and_after() {
    let rig = Rig::with(&[("a", "1\n2\n3\n4\n5\n")]);
    let lines = |first, last, new: &str| Operation::ReplaceLines {
        lines: LineRange { first, last },
        new: new.into(),
        expect: None,
    };
    let report =
        rig.edit(vec![file("a", vec![lines(2, 3, ""), replace("4\n", "4a\n4b\n4c\n"), lines(5, 5, "V")])]);
    let places: Vec<_> =
        report.files[0].edits.iter().map(|edit| (edit.places[0].before, edit.places[0].after)).collect();
    let lines = |start, count| Lines { start, count };
    assert_eq!(places, [(lines(2, 2), lines(2, 0)), (lines(4, 1), lines(2, 3)), (lines(5, 1), lines(5, 1))]);
    assert_eq!(rig.text("a").as_deref(), Some("1\n4a\n4b\n4c\nV\n"));
    assert_eq!(report.files[0].lines, Some(5));
}

#[test]
fn whole_file_operations_cannot_be_combined() {
    let rig = Rig::with(&[("a", "one\n")]);
    let overwrite = Operation::Overwrite { content: "x".into(), if_missing: IfMissing::Fail };
    assert_eq!(rig.edit(vec![file("a", vec![overwrite.clone(), append("y")])]).code(), "not_alone");
    assert_eq!(rig.edit(vec![file("nowhere", vec![overwrite])]).code(), "file_not_found");
    assert_eq!(rig.edit(vec![file("nowhere", vec![append("y")])]).code(), "file_not_found");
    assert_eq!(rig.edit(vec![file("nowhere", vec![Operation::Delete])]).code(), "file_not_found");
}

#[test]
fn enforces_size_limits() {
    let mut rig = Rig::with(&[("a", "one\n")]);
    rig.policy.max_request_bytes = 10;
    rig.policy.max_file_bytes = 8;
    assert_eq!(rig.edit(vec![file("a", vec![append("0123456789x")])]).code(), "request_too_large");
    assert_eq!(rig.edit(vec![file("a", vec![append("01234")])]).code(), "file_too_large");
    assert_eq!(rig.edit(vec![file("a", vec![append("0123")])]).status(), Status::Applied);
}

struct FixedDecision(Decision);

impl Approver for FixedDecision {
    fn decide(&mut self, question: &ApprovalRequest<'_>) -> Decision {
        assert!(!question.checked.changes().is_empty() && question.diff.contains("@@"));
        self.0.clone()
    }
}

// Shows: NFR-SFE-SEC-02
#[test]
fn writes_nothing_without_approval() {
    let rig = Rig::with(&[("a", "one\n")]);
    let edit = || vec![file("a", vec![replace("one", "1")])];
    let mut no = FixedDecision(Decision::Decline { by: "Ada".into(), reason: "not on a Friday".into() });
    let report = rig.edit_with(edit(), &mut no);
    assert_eq!((report.status(), report.code()), (Status::Refused, "declined"));
    assert!(
        report.message.contains("Ada") && report.message.contains("not on a Friday"),
        "{}",
        report.message
    );
    let mut later = FixedDecision(Decision::Pend { how: "slipstitch review".into() });
    assert_eq!(rig.edit_with(edit(), &mut later).code(), "pending_review");
    assert_eq!(rig.text("a").as_deref(), Some("one\n"));
    assert!(rig.journal.list(&Filter::default()).unwrap().is_empty());
    let mut yes = FixedDecision(Decision::Approve { by: "Ada".into() });
    assert_eq!(rig.edit_with(edit(), &mut yes).status(), Status::Applied);
    assert_eq!(rig.journal.list(&Filter::default()).unwrap()[0].approval, "Ada");
}

#[test]
fn a_change_applies_only_to_its_base_content() {
    use slipstitch_core::change::{Base, FileChange, PathChange};
    use slipstitch_core::text::ContentHash;
    use slipstitch_core::text::{Span, Splices};
    let rig = Rig::with(&[("a", "one\n")]);
    let change = FileChange {
        path: path("a"),
        base: Base::Content(ContentHash::of(b"two\n")),
        path_change: PathChange::Keep,
        splices: Splices::one(4, Span::new(0, 3), b"1".to_vec()),
        after: None,
        mode: None,
        executable: None,
        restore: Default::default(),
        edits: Vec::new(),
        notes: Vec::new(),
        totals: None,
    };
    let staged = rig.files.stage(&[change]);
    assert!(matches!(staged.err(), Some(WorkspaceError::Conflict { .. })));
}

fn edit_one(file_text: &str, old: &str, new: &str) -> (Report, String) {
    let rig = Rig::with(&[("f", file_text)]);
    let report = rig.edit(vec![file("f", vec![replace(old, new)])]);
    let text = rig.text("f").unwrap();
    (report, text)
}

#[test]
fn recovers_uniformly_shifted_indentation_and_reindents_every_line() {
    let text = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n";
    let (report, after) =
        edit_one(text, "def g(self):\n    return 2\n", "def g(self):\n    x = 3\n\n    return x\n");
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    assert_eq!(
        after,
        "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        x = 3\n\n        return x\n"
    );
    assert!(report.warnings[0].contains("recovered at lines 5-6 (indentation)"), "{:?}", report.warnings);
    let (report, after) = edit_one("\tif a {\n\t\tb()\n\t}\n", "        if a {\n\t\t\tb()", "x");
    assert_eq!(
        (report.code(), after.as_str()),
        ("no_match", "\tif a {\n\t\tb()\n\t}\n"),
        "the shift is not uniform"
    );
}

#[test]
fn shifted_text_that_matches_twice_is_ambiguous() {
    for text in ["  a()\n    a()\n", "  if x:\n    y()\n\n    if x:\n      y()\n"] {
        let old = if text.contains("if") { "if x:\n  y()" } else { "\ta()" };
        let (report, after) = edit_one(text, old, "z()");
        assert_eq!((report.code(), after.as_str()), ("ambiguous", text));
    }
}

#[test]
fn shifts_less_indented_new_lines_or_refuses_without_room() {
    let (_, after) = edit_one("      a\n      b\n", "    a\n    b\n", "    a\n  c\n");
    assert_eq!(after, "      a\n    c\n");
    let (report, after) = edit_one("  a\n  b\n", "      a\n      b\n", "      a\nc\n");
    assert_eq!((report.code(), after.as_str()), ("no_match", "  a\n  b\n"));
}

#[test]
fn keeps_the_files_whitespace_in_shared_edge_lines() {
    let text = "fn  main()  {\n    one();\n    two();\n}\n";
    let (report, after) =
        edit_one(text, "fn main() {\n    one();\n    two();\n", "fn main() {\n    one();\n    2();\n");
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    assert_eq!(after, "fn  main()  {\n    one();\n    2();\n}\n");
    let (report, after) = edit_one(text, "\n    one();\n    two();\n\n", "\n    1();\n    two();\n\n");
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    assert_eq!(after, "fn  main()  {\n    1();\n    two();\n}\n");
}

#[test]
fn a_different_heading_line_does_not_match() {
    let text = "def a():\n    x = 1\n    return x\n";
    let (report, after) =
        edit_one(text, "def b():\n    x = 1\n    return x\n", "def b():\n    x = 2\n    return x\n");
    assert_eq!((report.code(), after.as_str()), ("no_match", text));
}

#[test]
fn clipboards_move_text_within_one_request() {
    use slipstitch_core::plan::{ClipboardUse, Clipboards, Reindent};
    let rig = Rig::with(&[("f", "a\n    moved()\nb\n")]);
    let clipboard_use = |to: Option<&str>, from: Option<&str>, reindent| ClipboardUse {
        to: to.map(Into::into),
        from: from.map(Into::into),
        reindent,
    };
    let uses = [
        (1, clipboard_use(None, Some("x"), Some(Reindent { strip: "    ".into(), add: "\t".into() }))),
        (2, clipboard_use(Some("x"), None, None)),
    ];
    let operations = vec![append(""), replace("    moved()\n", "")];
    let plan = EditPlan {
        clipboards: Clipboards { uses: uses.into_iter().collect(), ..Clipboards::default() },
        ..EditPlan::new(vec![file("f", operations)], EditRules::STRICT)
    };
    let report = rig.run(Plan::Edit(plan), &mut Auto);
    assert_eq!(report.status(), Status::Applied, "{report:?}");
    assert_eq!(rig.text("f").as_deref(), Some("a\nb\n\tmoved()\n"));
    let kept = rig.journal.recall("plans", "clipboard/").unwrap();
    assert_eq!(kept, [("clipboard/x".to_owned(), "    moved()\n".to_owned())]);
}

/// The report of edits whose texts are whole lines, in the order of the file.
fn edit_in_order(text: &str, edits: &[(&str, &str)]) -> (Report, String) {
    let mut rig = Rig::with(&[("a", text)]);
    rig.rules = Some(EditRules { batch: Batch::InOrder, ..EditRules::NATIVE });
    let operation = |&(old, new): &(&str, &str)| Operation::Replace {
        old: old.into(),
        new: new.into(),
        which: Which::UniqueLines,
        within: None,
    };
    let report = rig.edit(vec![file("a", edits.iter().map(operation).collect())]);
    (report, String::from_utf8(rig.files.get(&path("a")).unwrap()).unwrap())
}

#[test]
fn the_order_of_edits_settles_an_ambiguity_if_one_match_is_left() {
    let text = "a\nx\nb\nx\nc\nx\n";
    let (report, after) = edit_in_order(text, &[("c\n", "C\n"), ("x\n", "y\n")]);
    assert_eq!((report.status(), after.as_str()), (Status::Applied, "a\nx\nb\nx\nC\ny\n"));
    assert!(report.warnings.iter().any(|warning| warning.contains("lines 2, 4, 6")), "{:?}", report.warnings);
    // Two are left below `b`, none is settled without an edit before it, and none is left below the last line.
    for edits in [&[("b\n", "B\n"), ("x\n", "y\n")][..], &[("x\n", "y\n"), ("c\n", "C\n")]] {
        let (report, after) = edit_in_order(text, edits);
        assert_eq!((report.code(), after.as_str()), ("ambiguous", text));
    }
    let (report, _) = edit_in_order("x\na\nx\nb\n", &[("b\n", "B\n"), ("x\n", "y\n")]);
    assert_eq!(report.code(), "ambiguous");
}

#[test]
fn a_match_that_needs_recovery_does_not_settle_an_ambiguity() {
    // Exactly, `x` is only above. Below there is an indented one.
    let text = "x\na\nx\nb\n    x\n";
    let (report, after) = edit_in_order(text, &[("b\n", "B\n"), ("x\n", "z\n")]);
    assert_eq!((report.code(), after.as_str()), ("ambiguous", text));
}

#[test]
fn whole_lines_do_not_match_the_end_of_a_line() {
    let (report, after) = edit_in_order("max = 1\n", &[("x = 1\n", "x = 2\n")]);
    assert_eq!((report.code(), after.as_str()), ("no_match", "max = 1\n"));
    let (report, after) = edit_in_order("max = 1\n  x = 1\n", &[("x = 1\n", "x = 2\n")]);
    assert_eq!((report.status(), after.as_str()), (Status::Applied, "max = 1\n  x = 2\n"));
}

#[test]
fn a_stated_number_of_matches_must_be_right() {
    let edit = |text: &str, count| {
        let rig = Rig::with(&[("a", text)]);
        let operation = Operation::Replace {
            old: "x".into(),
            new: "y".into(),
            which: Which::Exactly(count),
            within: None,
        };
        (rig.edit(vec![file("a", vec![operation])]), rig.files.get(&path("a")).unwrap())
    };
    let (report, after) = edit("x x\nx\n", 3);
    assert_eq!((report.status(), &after[..]), (Status::Applied, &b"y y\ny\n"[..]));
    let (report, after) = edit("x x\nx\n", 2);
    assert_eq!((report.code(), &after[..]), ("wrong_count", &b"x x\nx\n"[..]));
    assert_eq!((&report.failures[0].lines[..], report.failures[0].matches), (&[1, 1, 2][..], Some(3)));
    assert_eq!(edit("z\n", 2).0.code(), "no_match");
}
