//! `NotebookEdit` and `edit_notebook_file` against a model that writes the whole notebook itself.
//!
//! To the model, a cell is its source and the text before and after it. That text has numbers, escapes, fields and spaces that would be
//! lost if a program parsed and rewrote the notebook. After a call, the file must be what the model writes, byte for byte, in every
//! layout that programs give to notebooks.

use fastrand::Rng;
use serde_json::{Value, json};
use slipstitch_core::outcome::Status;

use super::Sandbox;

const NAME: &str = "a.ipynb";

/// How a program writes notebooks.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Layout {
    /// One field per line, with this indentation.
    Lines(&'static str),
    /// One cell per line.
    CellPerLine,
    /// Everything on one line, with this after commas and colons.
    OneLine(&'static str),
}

const LAYOUTS: [Layout; 6] = [
    Layout::Lines(" "),
    Layout::Lines("  "),
    Layout::Lines("\t"),
    Layout::CellPerLine,
    Layout::OneLine(" "),
    Layout::OneLine(""),
];

#[derive(Debug, Clone)]
struct Cell {
    id: Option<String>,
    kind: &'static str,
    source: String,
    /// Whether the source is written as one string.
    is_string: bool,
    /// Fields besides the type, the id and the source, as they are written.
    fields: Vec<String>,
}

#[derive(Debug, Clone)]
struct Model {
    cells: Vec<Cell>,
    layout: Layout,
    newline: &'static str,
    /// Whether the format has ids.
    has_ids: bool,
}

/// Text that is lost if a file is parsed and written again.
const ODD_FIELDS: [&str; 4] = [
    r#""metadata": {"tags":[ "a" ],  "n": 1.50e1, "e": "\u00e9\/"}"#,
    r#""outputs": [{"text": ["1\n", "]}\", {[\\"], "data": {"image/png": "iVBOR\\"}}]"#,
    r#""execution_count": 1e0"#,
    r#""cells": {"source": ["not this one"], "id": "c1"}"#,
];

impl Model {
    fn new(random: &mut Rng) -> Self {
        let layout = LAYOUTS[random.usize(..LAYOUTS.len())];
        let newline = if random.bool() && layout != Layout::OneLine("") { "\r\n" } else { "\n" };
        let has_ids = random.bool();
        let mut model = Self { cells: Vec::new(), layout, newline, has_ids };
        for number in 0..random.usize(..5) {
            let fields = ODD_FIELDS.iter().filter(|_| random.bool()).map(ToString::to_string).collect();
            let kind = if random.bool() { "code" } else { "markdown" };
            let id = has_ids.then(|| format!("c{number}"));
            let (source, is_string) = (source(random), random.u8(..4) == 0);
            model.cells.push(Cell { id, kind, source, is_string, fields });
        }
        model
    }

    fn name(&self, index: usize) -> String {
        self.cells[index].id.clone().unwrap_or_else(|| format!("cell-{index}"))
    }

    fn write(&self) -> String {
        let minor = if self.has_ids { 5 } else { 4 };
        let cells: Vec<String> = self.cells.iter().map(|cell| self.write_cell(cell)).collect();
        let text = match self.layout {
            Layout::Lines(unit) => {
                let list = match cells.is_empty() {
                    true => "[]".into(),
                    false => format!("[\n{unit}{unit}{}\n{unit}]", cells.join(&format!(",\n{unit}{unit}"))),
                };
                format!(
                    "{{\n{unit}\"cells\": {list},\n{unit}\"metadata\": {{\"kernelspec\": {{\"language\": \"python\"}}}},\n{unit}\"nbformat\": 4,\n{unit}\"nbformat_minor\": {minor}\n}}\n"
                )
            }
            Layout::CellPerLine => {
                let list = match cells.is_empty() {
                    true => "[]".into(),
                    false => format!("[\n  {}\n]", cells.join(",\n  ")),
                };
                format!("{{\"nbformat\": 4, \"nbformat_minor\": {minor}, \"cells\": {list}}}\n")
            }
            Layout::OneLine(space) => {
                let list = cells.join(&format!(",{space}"));
                format!(
                    "{{\"nbformat\":{space}4,{space}\"nbformat_minor\":{space}{minor},{space}\"cells\":{space}[{list}]}}"
                )
            }
        };
        text.replace('\n', self.newline)
    }

    fn write_cell(&self, cell: &Cell) -> String {
        let space = if self.layout == Layout::OneLine("") { "" } else { " " };
        let mut fields = vec![format!("\"cell_type\":{space}\"{}\"", cell.kind)];
        // Those of a cell that the tool inserts, in the order in which Jupyter writes them.
        let is_after_id = |field: &&String| !field.starts_with("\"execution_count\"");
        fields.extend(cell.fields.iter().filter(|field| !is_after_id(field)).cloned());
        fields.extend(cell.id.iter().map(|id| format!("\"id\":{space}\"{id}\"")));
        fields.extend(cell.fields.iter().filter(is_after_id).cloned());
        fields.push(format!("\"source\":{space}{}", self.write_source(cell)));
        match self.layout {
            Layout::Lines(unit) => {
                let inner = unit.repeat(3);
                let fields: Vec<String> = fields.iter().map(|field| format!("{inner}{field}")).collect();
                format!("{{\n{}\n{unit}{unit}}}", fields.join(",\n"))
            }
            Layout::CellPerLine => format!("{{{}}}", fields.join(", ")),
            Layout::OneLine(space) => format!("{{{}}}", fields.join(&format!(",{space}"))),
        }
    }

    fn write_source(&self, cell: &Cell) -> String {
        if cell.is_string {
            return json!(cell.source).to_string();
        }
        let lines: Vec<String> =
            cell.source.split_inclusive('\n').map(|line| json!(line).to_string()).collect();
        match self.layout {
            _ if lines.is_empty() => "[]".into(),
            Layout::Lines(unit) => {
                let inner = unit.repeat(4);
                let lines: Vec<String> = lines.iter().map(|line| format!("{inner}{line}")).collect();
                format!("[\n{}\n{}]", lines.join(",\n"), unit.repeat(3))
            }
            Layout::CellPerLine => format!("[{}]", lines.join(", ")),
            Layout::OneLine(space) => format!("[{}]", lines.join(&format!(",{space}"))),
        }
    }

    /// The cell that a call inserts.
    fn inserted(&self, kind: &'static str, source: String, id: Option<String>, is_string: bool) -> Cell {
        let space = if self.layout == Layout::OneLine("") { "" } else { " " };
        let mut fields = vec![format!("\"metadata\":{space}{{}}")];
        if kind == "code" {
            fields.push(format!("\"outputs\":{space}[]"));
            fields.push(format!("\"execution_count\":{space}null"));
        }
        Cell { id, kind, source, is_string, fields }
    }
}

fn source(random: &mut Rng) -> String {
    let lines = ["x = 1", "print(\"a\\tb\")", "", "\t# é ☃ \\u0041", "for a in [1, 2]: {}", "]"];
    let mut text = String::new();
    for _ in 0..random.usize(..4) {
        text.push_str(lines[random.usize(..lines.len())]);
        text.push('\n');
    }
    if random.bool() { text + "end" } else { text }
}

/// The id in `the new cell is `1a2b3c4d``.
fn new_id(answer: &str) -> Option<String> {
    let rest = answer.split_once("the new cell is `")?.1;
    Some(rest.split_once('`')?.0.into())
}

/// A call of one of the two tools.
fn call(
    sandbox: &Sandbox,
    random: &mut Rng,
    change: &str,
    cell: Option<&str>,
    kind: &str,
    source: &str,
) -> Value {
    let is_claude = random.bool();
    let mut arguments = match is_claude {
        true => json!({"notebook_path": NAME, "edit_mode": change, "cell_id": cell}),
        false => {
            let change = if change == "replace" { "edit" } else { change };
            json!({"filePath": NAME, "editType": change, "cellId": cell.unwrap_or("TOP")})
        }
    };
    if change != "delete" {
        arguments[if is_claude { "new_source" } else { "newCode" }] = source.into();
    }
    if change == "insert" {
        let language = if kind == "code" { "python" } else { kind };
        arguments[if is_claude { "cell_type" } else { "language" }] =
            if is_claude { kind.into() } else { language.into() };
    }
    let (dialect, tool) =
        if is_claude { ("claude", "NotebookEdit") } else { ("copilot", "edit_notebook_file") };
    let answer = sandbox.call(dialect, tool, arguments);
    json!({"status": answer.report.status() == Status::Applied, "text": answer.text})
}

#[test]
fn a_change_writes_what_the_model_writes() {
    let mut inserted = 0;
    for seed in 0..800 {
        let mut random = Rng::with_seed(seed);
        let mut model = Model::new(&mut random);
        let sandbox = Sandbox::default();
        sandbox.put(NAME, &model.write());
        let before = model.write();
        let index =
            (!model.cells.is_empty() && random.u8(..5) > 0).then(|| random.usize(..model.cells.len()));
        let name = index.map(|index| model.name(index));
        let (source, kind) = (source(&mut random), if random.bool() { "code" } else { "markdown" });
        let change = match index {
            None => "insert",
            Some(_) => ["replace", "insert", "delete"][random.usize(..3)],
        };
        let case = format!("seed {seed}, {change} {name:?} {source:?} in {model:?}");
        let answer = call(&sandbox, &mut random, change, name.as_deref(), kind, &source);
        match (change, index) {
            ("replace", Some(index)) => model.cells[index].source = source,
            ("delete", Some(index)) => drop(model.cells.remove(index)),
            _ => {
                let id = new_id(answer["text"].as_str().unwrap());
                assert_eq!(id.is_some(), model.has_ids, "{case}: {answer}");
                let is_new = |id: &String| {
                    id.len() == 8 && model.cells.iter().all(|cell| cell.id.as_ref() != Some(id))
                };
                assert!(id.iter().all(is_new), "{case}: {answer}");
                let neighbour = model.cells.get(index.unwrap_or(0));
                let is_string = neighbour.is_some_and(|cell| cell.is_string);
                let cell = model.inserted(kind, source, id, is_string);
                model.cells.insert(index.map_or(0, |index| index + 1), cell);
                inserted += 1;
            }
        }
        let after = sandbox.text(NAME).unwrap();
        if model.layout == Layout::CellPerLine && before.contains("\"cells\": []") {
            // Nothing shows how its cells would be laid out, so only their content is certain.
            let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            assert_eq!(parse(&after), parse(&model.write()), "{case}");
            continue;
        }
        let expected = model.write();
        assert_eq!(after, expected, "{case}");
        assert_eq!(answer["status"], expected != before, "{case}: {answer}");
        let undone = sandbox.call(
            "claude",
            "str_replace_based_edit_tool",
            json!({"command": "undo_edit", "path": NAME}),
        );
        if expected != before {
            assert_eq!(undone.report.status(), Status::Applied, "{case}: {}", undone.text);
            assert_eq!(sandbox.text(NAME).unwrap(), before, "{case}");
        }
    }
    assert!(inserted > 150, "{inserted}");
}

#[test]
fn a_cell_that_is_not_certain_is_refused() {
    let cells = |cells: &str| format!("{{\"cells\": [{cells}], \"nbformat\": 4, \"nbformat_minor\": 5}}");
    let code = |id: &str| format!("{{\"cell_type\": \"code\", \"id\": \"{id}\", \"source\": [\"x\"]}}");
    let python = "{\"cells\": [], \"metadata\": {\"language_info\": {\"name\": \"python\"}}}".to_owned();
    let edit = |id: &str| json!({"filePath": NAME, "editType": "edit", "cellId": id, "newCode": "y"});
    let cases = [
        ("x = 1\n".into(), edit("a"), "it is not JSON"),
        ("[1]".into(), edit("a"), "it is not a JSON object"),
        ("{}".into(), edit("a"), "it does not have one list `cells`"),
        ("{\"cells\": [], \"cells\": []}".into(), edit("a"), "it does not have one list `cells`"),
        ("{\"cells\": 3}".into(), edit("a"), "`cells` is not a list"),
        (cells("1"), edit("a"), "items that are not cells"),
        (cells(""), edit("a"), "no cell `a`; it has no cells"),
        (cells(&code("b")), edit("a"), "no cell `a`; its cells are `b`"),
        (cells(&code("b")), edit("cell-0"), "no cell `cell-0`"),
        (cells(&code("b")), edit("TOP"), "no cell `TOP`"),
        (cells(&format!("{},{}", code("b"), code("b"))), edit("b"), "more than one cell"),
        (cells("{\"id\": \"b\"}"), edit("b"), "no source"),
        (
            cells(&code("b").replace("]}", "], \"source\": [\"z\"]}")),
            edit("b"),
            "a field of one of its cells",
        ),
        (
            cells(&code("b").replace("]}", "], \"sourc\\u0065\": \"z\"}")),
            edit("b"),
            "a field of one of its cells",
        ),
        (cells(&code("b").replace("]}", "], \"id\": \"c\"}")), edit("b"), "a field of one of its cells"),
        (
            cells(&format!("{},{}", code("b"), code("c").replace("]}", "], \"id\": \"b\"}"))),
            edit("b"),
            "a field of one of its cells",
        ),
        (
            cells(&code("b").replace("]}", "], \"cell_type\": \"raw\"}")),
            edit("b"),
            "a field of one of its cells",
        ),
        (
            cells(&code("b")).replace("{\"cells\"", "{\"nbformat\": 3, \"cells\""),
            edit("b"),
            "one of its fields occurs more than once",
        ),
        (
            python.replace("{\"cells\"", "{\"metadata\": {}, \"cells\""),
            edit("b"),
            "one of its fields occurs more than once",
        ),
        (
            cells(&code("b")),
            json!({"filePath": NAME, "editType": "edit", "cellId": "b", "newCode": "y", "language": "markdown"}),
            "is a code cell, not a markdown cell",
        ),
        (
            python,
            json!({"filePath": NAME, "editType": "insert", "cellId": "BOTTOM", "newCode": "y", "language": "javascript"}),
            "the notebook's language is python, not javascript",
        ),
    ];
    for (text, arguments, said) in cases {
        let sandbox = Sandbox::default();
        sandbox.put(NAME, &text);
        let answer = sandbox.call("copilot", "edit_notebook_file", arguments);
        assert!(answer.text.contains(said), "{text}: {}", answer.text);
        assert_eq!(sandbox.text(NAME), Some(text));
    }
}

#[test]
fn a_damaged_notebook_is_refused_or_keeps_what_is_outside_its_cells() {
    let mut applied = 0;
    for seed in 0..1_000 {
        let mut random = Rng::with_seed(seed);
        let model = Model::new(&mut random);
        let mut text = model.write().into_bytes();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..text.len());
            match random.bool() {
                true => text[at] = b"{}[]\",:\\ x1\n\xff"[random.usize(..13)],
                false => drop(text.remove(at)),
            }
        }
        let sandbox = Sandbox::default();
        sandbox.files.put(&crate::rig::path(NAME), text.clone());
        let change = ["replace", "insert", "delete"][random.usize(..3)];
        let cell = (!model.cells.is_empty()).then(|| model.name(0));
        let answer = call(&sandbox, &mut random, change, cell.as_deref(), "code", "x = 1\n");
        let after = sandbox.files.get(&crate::rig::path(NAME)).unwrap();
        if answer["status"] == false {
            assert_eq!(after, text, "seed {seed}: {answer}");
            continue;
        }
        let without_cells = |text: &[u8]| {
            let mut document: Value = serde_json::from_str(&String::from_utf8_lossy(text)).unwrap();
            document["cells"] = Value::Null;
            document
        };
        assert_eq!(without_cells(&after), without_cells(&text), "seed {seed}: {answer}");
        applied += 1;
    }
    assert!(applied > 30, "{applied}");
}

#[test]
fn a_list_of_lines_is_joined_with_or_without_newlines() {
    let cases = [
        (json!(["a = 1", "b = 2"]), "a = 1\nb = 2"),
        (json!(["a = 1\n", "b = 2\n"]), "a = 1\nb = 2\n"),
        (json!(["a = 1\r\n", "b = 2\r\n"]), "a = 1\nb = 2\n"),
        (json!(["a = 1\n", "b = 2"]), "a = 1\nb = 2"),
        (json!(["a = 1\n", "b = 2", "c = 3"]), "a = 1\nb = 2\nc = 3"),
        (json!(["a = 1\n", "\n", "b = 2\n"]), "a = 1\n\nb = 2\n"),
        (json!(["a = 1", "", ""]), "a = 1\n\n"),
        (json!(["a = 1"]), "a = 1"),
        (json!([""]), ""),
    ];
    for (lines, source) in cases {
        let sandbox = Sandbox::default();
        sandbox.put(NAME, "{\"cells\": [{\"id\": \"b\", \"source\": \"x\"}], \"nbformat\": 4}");
        let arguments = json!({"filePath": NAME, "editType": "edit", "cellId": "b", "newCode": lines});
        let answer = sandbox.call("copilot", "edit_notebook_file", arguments);
        let after: Value = serde_json::from_str(&sandbox.text(NAME).unwrap()).unwrap();
        assert_eq!(after["cells"][0]["source"], source, "{lines}: {}", answer.text);
    }
}
