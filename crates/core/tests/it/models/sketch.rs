//! `insert_edit_into_file` against a model that knows which lines are new.
//!
//! The model makes a file of lines, many of them equal, and the wanted file, which has new lines in addition. From that it derives a
//! sketch in which comments stand for the lines it leaves out. The engine must either produce the wanted file or write nothing. A
//! sketch that also changes a line, or leaves one out without a comment, must be refused.

use fastrand::Rng;
use serde_json::json;
use slipstitch_core::outcome::Status;

use super::Sandbox;

const NAME: &str = "a.py";
const MARK: &str = "# ...existing code...";

struct Case {
    before: Vec<String>,
    wanted: Vec<String>,
    sketch: Vec<String>,
    /// Whether every line of the file that the sketch shows occurs once.
    is_plain: bool,
    has_new: bool,
}

fn line(random: &mut Rng, number: usize, share_of_twins: usize) -> String {
    match random.usize(..10) {
        at if at < share_of_twins => ["}", "", "    return None", "x = 1"][random.usize(..4)].into(),
        _ => format!("line_{number} = {}", random.u8(..)),
    }
}

fn case(random: &mut Rng) -> Case {
    let share_of_twins = random.usize(..5);
    let before: Vec<String> =
        (0..random.usize(3..20)).map(|number| line(random, number, share_of_twins)).collect();
    // Ranges of lines that the sketch shows; everything else is left out.
    let mut wanted = Vec::new();
    let mut sketch: Vec<String> = Vec::new();
    let (mut is_plain, mut has_new) = (true, false);
    let mut at = 0;
    while at < before.len() {
        let left_out = random.usize(..=(before.len() - at).min(4));
        if left_out > 0 {
            wanted.extend_from_slice(&before[at..at + left_out]);
            sketch.push(MARK.into());
            at += left_out;
        }
        let shown = random.usize(..=(before.len() - at).min(4));
        for number in 0..shown {
            let is_once = before.iter().filter(|other| **other == before[at]).count() == 1;
            is_plain &= is_once && !before[at].is_empty();
            wanted.push(before[at].clone());
            sketch.push(before[at].clone());
            at += 1;
            if number + 1 < shown && random.bool() {
                let new = format!("new_{at} = 1");
                wanted.push(new.clone());
                sketch.push(new);
                has_new = true;
            }
        }
    }
    Case { before, wanted, sketch, is_plain, has_new }
}

fn text(lines: &[String], newline: &str) -> String {
    lines.iter().map(|line| format!("{line}{newline}")).collect()
}

fn call(before: &str, sketch: &str) -> (Status, String) {
    let sandbox = Sandbox::default();
    sandbox.put(NAME, before);
    let arguments = json!({"explanation": "", "filePath": NAME, "code": sketch});
    let answer = sandbox.call("copilot", "insert_edit_into_file", arguments);
    (answer.report.status(), sandbox.text(NAME).unwrap())
}

#[test]
fn a_sketch_adds_its_new_lines_where_they_belong_or_nothing() {
    let (mut written, mut plain) = (0, 0);
    for seed in 0..6_000 {
        let mut random = Rng::with_seed(seed);
        let case = case(&mut random);
        let newline = if random.bool() { "\n" } else { "\r\n" };
        let (before, wanted) = (text(&case.before, newline), text(&case.wanted, newline));
        let (status, after) = call(&before, &text(&case.sketch, "\n"));
        let shown = format!("seed {seed}: {status:?}\n{}", text(&case.sketch, "\n"));
        if status == Status::Applied {
            assert_eq!(after, wanted, "{shown}");
            written += 1;
        } else {
            assert_eq!(after, before, "{shown}");
        }
        let shows_lines = case.sketch.iter().any(|line| line != MARK);
        let has_mark = case.sketch.iter().any(|line| line == MARK);
        if case.is_plain && case.has_new && shows_lines && has_mark {
            assert_eq!(status, Status::Applied, "{shown}\n{before}");
            plain += 1;
        }
    }
    assert!(written > 600 && plain > 150, "{written} written, {plain} plain");
}

#[test]
fn a_sketch_never_changes_or_deletes_a_line() {
    let mut refused = 0;
    for seed in 0..6_000 {
        let mut random = Rng::with_seed(seed);
        let Case { before, mut sketch, .. } = case(&mut random);
        let shown: Vec<usize> = (0..sketch.len()).filter(|&at| before.contains(&sketch[at])).collect();
        if shown.is_empty() {
            continue;
        }
        let at = shown[random.usize(..shown.len())];
        match random.bool() {
            true => drop(sketch.remove(at)),
            false => sketch[at].push_str(" # changed"),
        }
        let (text_before, code) = (text(&before, "\n"), text(&sketch, "\n"));
        let (status, after) = call(&text_before, &code);
        let mut rest = after.lines();
        let is_kept = before.iter().all(|line| rest.any(|found| found == line));
        assert!(is_kept, "seed {seed}: {status:?}\n{text_before}\n{code}\n{after}");
        refused += usize::from(status == Status::Refused);
    }
    assert!(refused > 600, "{refused}");
}

#[test]
fn bytes_that_are_no_text_are_kept() {
    let sandbox = Sandbox::default();
    // Two characters and one byte that is none: UTF-8, with an invalid byte.
    let before = b"# \xc3\xa9\xc3\xa8\na = 1\nb = 2\nc = \"\xff\"\nd = 4\ne = 5\n".to_vec();
    sandbox.files.put(&crate::rig::path(NAME), before.clone());
    let code = format!("a = 1\nnew = 1\nb = 2\n{MARK}\nd = 4\nnew = 2\ne = 5\n");
    let arguments = json!({"filePath": NAME, "code": code});
    let answer = sandbox.call("copilot", "insert_edit_into_file", arguments);
    assert_eq!(answer.report.status(), Status::Refused, "{}", answer.text);
    assert_eq!(sandbox.files.get(&crate::rig::path(NAME)), Some(before));
}

#[test]
fn a_sketch_that_may_quote_more_than_its_place_is_refused() {
    let js = "import x;\n\nfunction a() {\n  one();\n}\n\nfunction b() {\n  two();\n}\n\nfunction c() {\n  three();\n}\n";
    let cached = "import x\n\n@cached\ndef a():\n    return 1\n\n@cached\ndef b():\n    return 3\n";
    let nested = "function b() {\n  if (q) {\n    two();\n  }\n  old();\n  if (r) {\n    x();\n  }\n}\n";
    let three = "def a():\n    one()\n\ndef b():\n    two()\n\ndef c():\n    three()\n";
    let quoted = "const xs = [\n  'a',\n  'b',\n];\nconst y = 1;\n";
    let far = "def a():\n    x()\n\ndef b():\n    y()\n    return 0\n";
    let cases = [
        (
            js,
            "// ... existing code ...\nfunction a() {\n  one();\n}\n\nfunction b() {\n  two(2);\n}\n// ... existing code ...\n",
        ),
        (
            js,
            "import x;\n\nfunction a() {\n  one();\n}\n\nfunction b() {\n  two(2);\n}\n// ... existing code ...\n",
        ),
        (
            cached,
            "# ...existing code...\n@cached\ndef a():\n    return 2\n\n@cached\ndef b():\n    return 3\n",
        ),
        (
            nested,
            "function b() {\n  if (q) {\n    two();\n  }\n  new_();\n  if (r) {\n  // ... existing code ...\n}\n",
        ),
        (
            nested,
            "function b() {\n  if (q) {\n    two();\n  }\n  new_();\n  if (r) {\n    x();\n  }\n  // ... existing code ...\n}\n",
        ),
        (
            three,
            "def a():\n    # ... existing code ...\n    two()\n\ndef b():\n    zero()\n    two()\n# ... existing code ...\n",
        ),
        (quoted, "const xs = [\n  'a',\n  '...',\n  'b',\n];\nconst y = 1;\nconst z = 2;\n"),
        (
            far,
            "def a():\n    start()\n    x()\n    # ... existing code ...\n    return 0\n\n# ... existing code ...\n",
        ),
        (far, "def a():\n    # ... and now we begin\n    start()\n    x()\n# ... existing code ...\n"),
    ];
    for (file, code) in cases {
        let (status, after) = call(file, code);
        assert_eq!((status, after.as_str()), (Status::Refused, file), "{code}");
    }
    // What only adds is still added.
    let (status, after) =
        call(far, "# ... rest of the code unchanged ...\ndef b():\n    log()\n    y()\n    return 0\n");
    assert_eq!((status, after), (Status::Applied, far.replace("    y()", "    log()\n    y()")));
}
