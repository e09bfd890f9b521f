//! Where hunks are applied, and what they leave unchanged. `Traps:` names the cases of the trap list.

use slipstitch_core::engine::Engine;
use slipstitch_core::hint::HintPhrases;
use slipstitch_core::outcome::Status;
use slipstitch_core::patch::{Hunk, HunkLine, HunkRepair, Reading, Role};
use slipstitch_core::path::FilePath;
use slipstitch_core::plan::{EditPlan, EditRules, FilePlan, Operation, Plan, Shrink, Similarity, Tolerance};
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::journal::Origin;
use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};
use slipstitch_core::report::Report;

/// A hunk in diff notation; `\` after a line says that it has no newline.
fn hunk(text: &str) -> Hunk {
    let mut lines: Vec<HunkLine> = Vec::new();
    for line in text.lines() {
        let role = match line.as_bytes().first() {
            Some(b'+') => Role::Added,
            Some(b'-') => Role::Removed,
            Some(b'\\') => {
                lines.last_mut().unwrap().newline = false;
                continue;
            }
            _ => Role::Context,
        };
        lines.push(HunkLine { role, text: line.get(1..).unwrap_or("").into(), newline: true });
    }
    Hunk { lines, ..Hunk::default() }
}

fn at(line: usize, text: &str) -> Hunk {
    Hunk { line: Some(line), ..hunk(text) }
}

fn under(scopes: &[&str], text: &str) -> Hunk {
    Hunk { scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(), ..hunk(text) }
}

const FUZZY: Tolerance = Tolerance::Similar { threshold: Similarity::new(0.8) };

fn run(tolerance: Tolerance, before: &[u8], hunks: &[Hunk]) -> (Report, Vec<u8>) {
    let files = MemoryWorkspace::default();
    let path = FilePath::from_record("f").unwrap();
    files.put(&path, before);
    let journal = MemoryJournal::default();
    let engine = Engine::new(&files, &journal).dialects(slipstitch_dialects::builtin()).session("test");
    let operations = hunks.iter().map(|hunk| Operation::Hunk(Box::new(hunk.clone()))).collect();
    let rules = EditRules { tolerance, shrink: Shrink::Allowed, ..EditRules::NATIVE };
    let plan = EditPlan::new(vec![FilePlan { path: path.clone(), version: None, operations }], rules);
    let origin = Origin { session: "test".into(), agent: None, dialect: "native".into(), tool: "t".into() };
    let report = engine.execute(&Plan::Edit(plan), origin, HintPhrases::ALL, &mut Auto);
    (report, files.get(&path).unwrap())
}

#[track_caller]
fn applies(tolerance: Tolerance, before: &str, hunks: &[Hunk], after: &str) -> Report {
    let (report, found) = run(tolerance, before.as_bytes(), hunks);
    assert_eq!(report.status(), Status::Applied, "{report:#?}");
    assert_eq!(String::from_utf8(found).unwrap(), after, "{report:#?}");
    report
}

#[track_caller]
fn refused(tolerance: Tolerance, before: &str, hunks: &[Hunk], code: &str) -> Report {
    let (report, found) = run(tolerance, before.as_bytes(), hunks);
    assert_eq!(report.code(), code, "{report:#?}");
    assert_eq!(found, before.as_bytes(), "nothing is written");
    report
}

const EVERY: [Tolerance; 4] = [Tolerance::Exact, Tolerance::Whitespace, FUZZY, Tolerance::Recover];

// Shows: P3.2, test_strict_exact_match
#[test]
fn applies_exact_matches() {
    for tolerance in EVERY {
        let report = applies(tolerance, "a\nb\nc\n", &[at(1, " a\n-b\n+B\n c")], "a\nB\nc\n");
        assert!(report.warnings.is_empty());
    }
}

// Shows: test_strict_context_mismatch
#[test]
fn strict_mode_allows_no_difference() {
    for hunk in [" a\n-b\n+B\n c ", " A\n-b\n+B\n c", "  a\n-b\n+B\n c"] {
        let report = refused(Tolerance::Exact, "a\nb\nc\n", &[at(1, hunk)], "no_match");
        assert_eq!(report.failures[0].line, Some(if hunk.ends_with("c ") { 3 } else { 1 }));
    }
}

// Shows: P3.3, test_tolerant_whitespace
#[test]
fn tolerant_mode_ignores_whitespace_and_keeps_the_files() {
    let before = "if x:\n\ta()  \n\tb()\n";
    let report = applies(
        Tolerance::Whitespace,
        before,
        &[at(1, " if x:\n     a()\n-    b()\n+    c()")],
        "if x:\n\ta()  \n\tc()\n",
    );
    assert!(report.warnings[0].starts_with("Hunk 1 applied via tolerant match ("), "{:?}", report.warnings);
    refused(Tolerance::Whitespace, "ab()\n", &[at(1, "-a b()\n+x")], "no_match");
}

// Shows: P3.4, P3.6, test_fuzzy_threshold
#[test]
fn fuzzy_mode_applies_to_similar_lines_with_a_warning() {
    let before = "def run(self, retries=3):\n    start()\n    stop()\n";
    let near = at(1, " def run(self, retries=5):\n     start()\n-    stop()\n+    halt()");
    let report = applies(
        FUZZY,
        before,
        std::slice::from_ref(&near),
        "def run(self, retries=3):\n    start()\n    halt()\n",
    );
    let differs = "Hunk 1, line 1: the file has \"def run(self, retries=3):\", the diff has \"def run(self, retries=5):\"";
    assert_eq!(report.warnings, ["Hunk 1 applied via fuzzy match (98% similarity at line 1)", differs]);
    refused(Tolerance::similar(1.0), before, std::slice::from_ref(&near), "no_match");
    refused(Tolerance::Whitespace, before, &[near], "no_match");
    refused(
        FUZZY,
        before,
        &[at(1, " def quite_other(thing):\n     begin()\n-    stop()\n+    x()")],
        "no_match",
    );
}

#[test]
fn a_place_read_one_line_off_is_no_other_place() {
    let before = "}\n\nif beta > 62:\n    gamma_name = beta(37)\n    if gamma > 81:\n        gamma.left(38)\n}\npass\n";
    let hunk = " if beta > 62:\n     gamma_name = beta(37)\n     if gamma > 81:\n         gamma.qqqq(38)\n+        fresh()\n }";
    applies(FUZZY, before, &[at(3, hunk)], &before.replace("(38)\n", "(38)\n        fresh()\n"));
    // One of the lines is the same, read one line off.
    let before = "--\naaa\naaa\n        \u{6f22}\u{5b57}_size = delta(86)\n        if left > 59:\n\n}\n";
    let hunk =
        " aaa\n aaa\n         \u{6f22}\u{5b57}_siqe = dqlqq(86)\n         if left > 59:\n+        fresh()";
    applies(
        Tolerance::similar(0.8),
        before,
        &[at(2, hunk)],
        &before.replace("59:\n", "59:\n        fresh()\n"),
    );
    // Of lines that are all alike, none is in its place for certain.
    let rows = "row(1)\nrow(2)\nrow(3)\nrow(4)\n";
    refused(FUZZY, rows, &[at(2, " row(7)\n row(8)\n+new()")], "ambiguous");
    // The same block again is another place, also if the two share a line.
    let twice = "{\n    alpha(10)\n{\n    alpha(12)\n{\n";
    refused(FUZZY, twice, &[at(1, " {\n     alpha(11)\n+    beta()\n {")], "ambiguous");
}

// Traps: unified hunk deletes `log("x")`; the closest line in the file is `commit()`
#[test]
fn removed_lines_must_match() {
    let before = "begin()\ncommit()\nend()\n";
    for tolerance in EVERY {
        refused(tolerance, before, &[at(1, " begin()\n-log(\"x\")\n end()")], "no_match");
        // Similar is not enough for a removed line.
        refused(tolerance, before, &[at(1, " begin()\n-commit(1)\n end()")], "no_match");
    }
}

// Shows: P3.5, P3.7, test_offset_tracking
#[test]
fn expects_hunks_at_the_offset_of_the_previous_one() {
    // `x` occurs three times: only the offset of the first hunk shows which one the second means.
    let before = "top\nx\ny\nx\ny\nx\ny\n";
    let hunks = [at(3, "-top\n+TOP"), at(6, "-x\n+X")];
    applies(Tolerance::Exact, before, &hunks, "TOP\nx\ny\nX\ny\nx\ny\n");
    // Line numbers refer to the original, however many lines earlier hunks add or remove.
    let hunks = [at(1, "-top\n+1\n+2\n+3"), at(4, "-x\n+X"), at(6, "-x\n+Z")];
    applies(Tolerance::Exact, before, &hunks, "1\n2\n3\nx\ny\nX\ny\nZ\ny\n");
}

// Shows: P3.2
#[test]
fn applies_at_the_nearest_match_unless_it_is_close() {
    let before = "x\na\nb\nc\nd\nx\n";
    let report = applies(Tolerance::Exact, before, &[at(5, "-x\n+X")], "x\na\nb\nc\nd\nX\n");
    let warning = "Hunk 1 does not match at line 5; of several other matches, the nearest is used, at line 6";
    assert_eq!(report.warnings, [warning]);
    let report = refused(Tolerance::Recover, "x\na\nx\n", &[at(2, "-x\n+X")], "ambiguous");
    assert_eq!(report.failures[0].lines, [1, 3]);
    // The line number is wrong, so the nearest match must be much nearer than any other.
    let before = "x\na\nb\nc\nd\nx\ne\n";
    applies(Tolerance::Recover, before, &[at(7, "-x\n+X")], "x\na\nb\nc\nd\nX\ne\n");
    refused(Tolerance::Exact, before, &[at(3, "-x\n+X")], "ambiguous");
    refused(Tolerance::Recover, before, &[at(3, "-x\n+X")], "ambiguous");
}

#[test]
fn hunks_without_line_number_must_match_exactly_once() {
    let report = refused(Tolerance::Recover, "x\na\nx\nb\nx\n", &[hunk("-x\n+X")], "ambiguous");
    assert_eq!(report.failures[0].lines, [1, 3, 5]);
    applies(Tolerance::Recover, "x\na\nx\nb\n", &[hunk(" x\n-b\n+B")], "x\na\nx\nB\n");
}

// Traps: request `\ta()` where the file has `  a()` and `    a()`
#[test]
fn rejects_several_matches_that_differ_in_whitespace() {
    let before = "  a()\nb\n    a()\n";
    for line in [None, Some(1), Some(3)] {
        let hunk = Hunk { line, ..hunk("-\ta()\n+\tc()") };
        refused(Tolerance::Recover, before, &[hunk], "ambiguous");
    }
}

// Traps: fuzzy tie between two places, one at the hinted line
#[test]
fn line_number_decides_only_between_identical_texts() {
    let equal = "alpha = 10\nsame()\n--\nalpha = 10\nsame()\n";
    let hunk = " alpha = 11\n-same()\n+other()";
    applies(FUZZY, equal, &[at(4, hunk)], "alpha = 10\nsame()\n--\nalpha = 10\nother()\n");
    let similar = "alpha = 10\nsame()\n--\nalpha = 12\nsame()\n";
    refused(FUZZY, similar, &[at(4, hunk)], "ambiguous");
}

// Traps: two near-identical functions, the request is closer to the second by one token
#[test]
fn never_confuses_near_identical_functions() {
    let function =
        |name: &str, field: &str| format!("fn {name}(x: u8) {{\n    let a = {field};\n    done(a);\n}}\n");
    let before = function("first", "one") + &function("second", "two");
    let hunk = hunk(" fn second(y: u8) {\n     let a = two;\n-    done(a);\n+    gone(a);");
    let (report, after) = run(Tolerance::Recover, before.as_bytes(), &[hunk]);
    if report.status() == Status::Applied {
        assert_eq!(
            after,
            (function("first", "one") + &function("second", "two").replace("done", "gone")).into_bytes()
        );
    } else {
        assert!(["ambiguous", "no_match"].contains(&report.code()), "{}", report.message);
    }
}

#[test]
fn rejects_lines_that_all_differ_a_little() {
    let before = "import os\n\ndef load(self):\n    return 1\n";
    let other = hunk(" def save(self):\n+    check()");
    refused(Tolerance::Recover, before, &[other], "no_match");
    let half = hunk(" \n def save(self):\n+    check()\n     return 1");
    refused(Tolerance::Recover, before, &[half], "no_match");
    let most = hunk(" import os\n \n def load(slef):\n+    check()\n     return 1");
    applies(Tolerance::Recover, before, &[most], "import os\n\ndef load(self):\n    check()\n    return 1\n");
}

// Traps: V4A `@@ def f():` followed only by `+` lines
#[test]
fn adds_lines_to_the_block_of_their_scope() {
    let before = "def f():\n    a()\n\n    b()\n\n\ndef g():\n    c()\n";
    let after = "def f():\n    a()\n\n    b()\n    new()\n\n\ndef g():\n    c()\n";
    applies(Tolerance::Recover, before, &[under(&["def f():"], "+    new()")], after);
    let braces = "impl A {\n    fn f() {\n        a();\n    }\n\n    fn g() {}\n}\nfn z() {}\n";
    let after = "impl A {\n    fn f() {\n        a();\n        b();\n    }\n\n    fn g() {}\n}\nfn z() {}\n";
    applies(Tolerance::Recover, braces, &[under(&["fn f() {"], "+        b();")], after);
    applies(
        Tolerance::Recover,
        "import a\nimport b\n",
        &[under(&["import a"], "+import x")],
        "import a\nimport x\nimport b\n",
    );
    refused(Tolerance::Recover, "a\nb\n", &[hunk("+c")], "no_place");
}

// Traps: V4A chunk `return None` occurs in two classes, `@@ class B` given
#[test]
fn scope_distinguishes_equal_lines() {
    let class = |name: &str, value: &str| {
        format!("class {name}(Base):\n    def get(self):\n        return {value}\n")
    };
    let before = class("A", "None") + &class("B", "None");
    let after = class("A", "None") + &class("B", "1");
    let change = "-        return None\n+        return 1";
    for scopes in
        [&["class B"][..], &["class B(Base):"], &["class B", "def get(self):"], &["  class B(Base):"]]
    {
        applies(Tolerance::Recover, &before, &[under(scopes, change)], &after);
    }
    refused(Tolerance::Recover, &before, &[under(&["def get(self):"], change)], "ambiguous");
    refused(Tolerance::Recover, &before, &[hunk(change)], "ambiguous");
}

// Traps: V4A `@@` scope line that is not in the file
#[test]
fn a_scope_that_is_not_in_the_file_is_only_a_hint() {
    let before = "class A:\n    x = 1\n";
    for scopes in [&["class B:"][..], &["class A:", "def f():"], &["the setter, below"]] {
        let proven = under(scopes, "-    x = 1\n+    x = 2");
        let report =
            applies(Tolerance::Recover, before, std::slice::from_ref(&proven), "class A:\n    x = 2\n");
        assert!(report.warnings[0].contains("is not in the file and was ignored"), "{:?}", report.warnings);
        refused(Tolerance::Exact, before, std::slice::from_ref(&proven), "scope_not_found");
        // Nothing proves the place if the lines occur twice, or if there are none.
        refused(Tolerance::Recover, "    x = 1\n    x = 1\n", &[proven], "scope_not_found");
        refused(Tolerance::Recover, before, &[under(scopes, "+    y = 2")], "scope_not_found");
    }
}

#[test]
fn warns_if_the_scope_is_above_the_place_but_not_around_it() {
    let before = "def f():\n    a()\n\nx = 1\n";
    let report = applies(
        Tolerance::Recover,
        before,
        &[under(&["def f():"], "     a()\n \n-x = 1\n+x = 2")],
        "def f():\n    a()\n\nx = 2\n",
    );
    assert!(report.warnings[0].contains("not in the block"), "{:?}", report.warnings);
    refused(Tolerance::Recover, before, &[under(&["def f():"], "-x = 1\n+x = 2")], "outside_scope");
    refused(
        Tolerance::Recover,
        "x = 1\ndef f():\n    a()\n",
        &[under(&["def f():"], "-x = 1\n+x = 2")],
        "outside_scope",
    );
}

// Traps: hunk `-N,0`
#[test]
fn inserts_hunks_without_old_lines_after_their_line() {
    for (line, after) in [(0, "new\na\nb\n"), (1, "a\nnew\nb\n"), (2, "a\nb\nnew\n")] {
        applies(Tolerance::Exact, "a\nb\n", &[at(line, "+new")], after);
    }
    refused(Tolerance::Exact, "a\nb\n", &[at(3, "+new")], "out_of_range");
    refused(Tolerance::Exact, "a\nb\n", &[at(usize::MAX, "+new")], "out_of_range");
    refused(Tolerance::Exact, "a\nb\n", &[at(usize::MAX, "-new")], "no_match");
    applies(Tolerance::Exact, "", &[at(0, "+new")], "new\n");
}

// Traps: no newline at the end of the file; appending after a last line without newline by diff
// Shows: test_no_newline_at_eof
#[test]
fn final_newline_is_as_the_diff_says() {
    let no = "\\ No newline at end of file";
    // An edit elsewhere does not change it.
    applies(Tolerance::Exact, "a\nb", &[at(1, "-a\n+A\n b")], "A\nb");
    applies(Tolerance::Exact, "a\nb", &[at(1, &format!("-a\n+A\n b\n{no}"))], "A\nb");
    // A replaced last line, marked on both sides, on one, on none.
    applies(Tolerance::Exact, "a\nb", &[at(1, &format!(" a\n-b\n{no}\n+B\n{no}"))], "a\nB");
    applies(Tolerance::Exact, "a\nb", &[at(1, &format!(" a\n-b\n{no}\n+B"))], "a\nB\n");
    applies(Tolerance::Exact, "a\nb\n", &[at(1, &format!(" a\n-b\n+B\n{no}"))], "a\nB");
    applies(Tolerance::Exact, "a\nb", &[at(1, " a\n-b\n+B")], "a\nB");
    // Added lines are not joined with the last one.
    applies(Tolerance::Exact, "a\nb", &[at(2, " b\n+c")], "a\nb\nc");
    applies(Tolerance::Exact, "a\nb", &[at(2, &format!(" b\n{no}\n+c"))], "a\nb\nc\n");
    applies(Tolerance::Exact, "a\nb", &[at(2, &format!("-b\n{no}\n+b\n+c"))], "a\nb\nc\n");
    applies(Tolerance::Exact, "a\nb", &[at(2, "+c")], "a\nb\nc");
    applies(Tolerance::Exact, "a\nb", &[at(1, &format!(" a\n-b\n{no}"))], "a\n");
    applies(Tolerance::Exact, "a\nb", &[at(1, &format!("-a\n-b\n{no}\n+a\n{no}"))], "a");
    // The file has a newline where the diff says it has none.
    refused(Tolerance::Exact, "a\nb\n", &[at(1, &format!(" a\n-b\n{no}\n+B\n{no}"))], "not_at_end");
    applies(Tolerance::Recover, "a\nb\n", &[at(1, &format!(" a\n-b\n{no}\n+B\n{no}"))], "a\nB\n");
    refused(Tolerance::Recover, "a\nb\na\nc\n", &[at(1, &format!(" a\n-b\n+B\n{no}"))], "not_at_end");
}

#[test]
fn end_of_file_marker_requires_the_last_lines() {
    let end = |text: &str| Hunk { at_end: true, ..hunk(text) };
    applies(Tolerance::Recover, "x\ny\nx\n", &[end("-x\n+X")], "x\ny\nX\n");
    applies(Tolerance::Recover, "x\ny", &[end("+z")], "x\ny\nz");
    refused(Tolerance::Recover, "x\ny\n", &[end("-x\n+X")], "not_at_end");
}

// Traps: CRLF file, LF request; mixed endings
#[test]
fn keeps_the_line_endings_of_the_file() {
    applies(Tolerance::Exact, "a\r\nb\r\nc\r\n", &[at(1, " a\n-b\n+B\n+C\n c")], "a\r\nB\r\nC\r\nc\r\n");
    applies(
        Tolerance::Exact,
        "a\nb\r\nc\r\nd\re\n",
        &[at(1, " a\n-b\n+B\n c\n d\n+x\n e")],
        "a\nB\r\nc\r\nd\rx\re\n",
    );
    // A diff with `\r` decides the line endings of added lines in a mixed file.
    let lines = [
        (Role::Context, "a"),
        (Role::Removed, "b\r"),
        (Role::Added, "B\r"),
        (Role::Added, "C"),
        (Role::Context, "c"),
    ];
    let lines =
        lines.iter().map(|&(role, text)| HunkLine { role, text: text.into(), newline: true }).collect();
    let exact = Hunk { lines, line: Some(1), ..Hunk::default() };
    applies(Tolerance::Exact, "a\nb\r\nc\n", &[exact], "a\nB\r\nC\nc\n");
}

// Shows: P3.2
#[test]
fn keeps_the_context_of_the_file_and_lets_hunks_share_it() {
    let shared = [at(1, " a\n-b\n+B\n c"), at(3, " c\n-d\n+D")];
    applies(Tolerance::Exact, "a\nb\nc\nd\n", &shared, "a\nB\nc\nD\n");
    let before = "a \n“b”\nc\nd\ne\n";
    let hunks = [at(1, " a\n “b”\n-c\n+C\n d"), at(4, " d\n-e\n+E")];
    applies(Tolerance::Whitespace, before, &hunks, "a \n“b”\nC\nd\nE\n");
    let shuffled = [hunk(" d\n-e\n+E"), hunk("-c\n+C\n d")];
    applies(Tolerance::Recover, before, &shuffled, "a \n“b”\nC\nd\nE\n");
    let both = [at(1, "-a \n+x"), at(1, "-a \n+y")];
    let report = refused(Tolerance::Exact, before, &both, "overlap");
    assert_eq!(report.failures.len(), 1);
}

// Shows: P3.8, test_rollback_on_failure
#[test]
fn reports_every_failing_hunk_and_writes_nothing() {
    let before = "a\nb\nc\nd\n";
    let hunks = [at(1, "-a\n+A"), at(2, "-x\n+X"), at(3, "-c\n+C"), at(4, "-y\n+Y")];
    let report = refused(Tolerance::Recover, before, &hunks, "no_match");
    let reported: Vec<_> =
        report.failures.iter().map(|f| (f.edit, f.line, f.expected.as_deref(), f.found.as_deref())).collect();
    assert_eq!(
        reported,
        [(Some(2), Some(2), Some("x"), Some("b")), (Some(4), Some(4), Some("y"), Some("d"))]
    );
}

#[test]
fn recognises_a_hunk_that_is_already_applied() {
    let report = refused(
        Tolerance::Recover,
        "a\nnew line\nc\n",
        &[at(1, " a\n-old line\n+new line\n c")],
        "already_applied",
    );
    assert_eq!(report.status(), Status::AlreadyApplied);
}

#[test]
fn tries_the_alternative_if_the_first_variant_does_not_match() {
    let context = |text: &str| HunkLine { role: Role::Context, text: text.into(), newline: true };
    let added = HunkLine { role: Role::Added, text: "    new()".into(), newline: true };
    let first = vec![context("def f():"), context("   a()"), added.clone()];
    let other = vec![context("def f():"), context("    a()"), added.clone()];
    let hunk = Hunk {
        lines: first,
        alternatives: vec![Reading { lines: other, repairs: vec![HunkRepair::BareContext] }],
        ..Hunk::default()
    };
    applies(
        Tolerance::Recover,
        "def f():\n    a()\n",
        std::slice::from_ref(&hunk),
        "def f():\n    a()\n    new()\n",
    );
    refused(
        Tolerance::Recover,
        "def f():\n    a()\ndef f():\n   a()\n",
        std::slice::from_ref(&hunk),
        "ambiguous",
    );
    refused(Tolerance::Exact, "def f():\n    a()\n", &[hunk], "no_match");
}

// Traps: replacement found by a shifted indentation; tab-indented file, space-indented request
#[test]
fn indents_added_lines_like_the_file() {
    let before = "class A:\n    def f(self):\n        a()\n        b()\n";
    let shifted = hunk(" def f(self):\n     a()\n-    b()\n+    if c:\n+        b()");
    applies(
        Tolerance::Recover,
        before,
        &[shifted],
        "class A:\n    def f(self):\n        a()\n        if c:\n            b()\n",
    );
    let tabs = "func f() {\n\ta()\n\tb()\n}\n";
    let spaces = hunk(" func f() {\n     a()\n-    b()\n+    if c {\n+        b()\n+    }");
    applies(Tolerance::Recover, tabs, &[spaces], "func f() {\n\ta()\n\tif c {\n\t\tb()\n\t}\n}\n");
}

// Traps: whitespace-only or empty old text
#[test]
fn blank_lines_match_only_at_their_line_number() {
    applies(Tolerance::Recover, "a\n\nb\n", &[at(2, " \n+x")], "a\n\nx\nb\n");
    refused(Tolerance::Recover, "a\n\nb\n", &[at(1, " \n+x")], "no_match");
    refused(Tolerance::Recover, "a\n\nb\n", &[hunk(" \n+x")], "no_match");
}

// Shows: test_parse_context_only
#[test]
fn context_only_hunk_changes_nothing() {
    let (report, after) = run(Tolerance::Exact, b"a\nb\n", &[at(1, " a\n b")]);
    assert_eq!((report.status(), after), (Status::NoChange, b"a\nb\n".to_vec()));
    refused(Tolerance::Exact, "a\nb\n", &[at(1, " a\n c")], "no_match");
}

#[test]
fn keeps_undecodable_bytes() {
    let (report, after) = run(Tolerance::Exact, b"a\n\xFFraw\nb\nc\n", &[at(3, " b\n-c\n+C")]);
    assert_eq!(report.status(), Status::Applied);
    assert_eq!(after, b"a\n\xFFraw\nb\nC\n");
}
