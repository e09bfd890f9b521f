//! Runs every folder of `fixtures/<dialect>/<behaviour>/`: in memory, through the program, and through its MCP server.
//!
//! | file | meaning |
//! | --- | --- |
//! | `request.json` | `{"tool", "arguments"}`, or `{"calls": [...]}` of them made one after the other in one session; `"mode"` and `"shows"` (requirements) beside them |
//! | `config.toml` | settings; may be missing |
//! | `before/` | the files at the start |
//! | `after/` | the files at the end; if it is missing, they are as before |
//! | `report.json` | what the last report must hold: objects may hold more, `{"$contains": "…"}` is part of a text |
//! | `payload.json` | what the last answer must hold as data, in the same way; may be missing |
//! | `answer.txt` | the last answer in the dialect's words, hashes as `<hash>`; may be missing |

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};
use slipstitch::config::Config;
use slipstitch::core::engine::{Engine, Request};
use slipstitch::core::path::FilePath;
use slipstitch::core::ports::approver::Auto;
use slipstitch::core::ports::memory::{MemoryJournal, MemoryWorkspace};
use slipstitch::core::settings::Mode;

type Tree = BTreeMap<String, Vec<u8>>;

struct Fixture {
    dialect: String,
    calls: Vec<(String, Value)>,
    before: Tree,
    after: Tree,
    mode: Mode,
    config: Option<PathBuf>,
    report: Value,
    payload: Option<Value>,
    answer: Option<String>,
}

/// What a way of running a fixture leaves behind.
struct Outcome {
    report: Value,
    payload: Value,
    answer: String,
    after: Tree,
}

fn main() {
    let arguments = Arguments::from_args();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut trials = Vec::new();
    for dialect in folders(&fixtures) {
        for behaviour in folders(&dialect) {
            let name = format!("{}/{}", file_name(&dialect), file_name(&behaviour));
            let ways = [
                ("memory", in_memory as fn(&Fixture) -> Outcome),
                ("program", by_program),
                ("mcp", by_server),
            ];
            for (way, run) in ways {
                let folder = behaviour.clone();
                trials.push(Trial::test(format!("{name}::{way}"), move || check(&folder, run)));
            }
        }
    }
    assert!(!trials.is_empty(), "there are fixtures");
    libtest_mimic::run(&arguments, trials).exit();
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).unwrap_or_else(|error| panic!("{}: {error}", parent.display()));
    let mut folders: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn check(folder: &Path, run: fn(&Fixture) -> Outcome) -> Result<(), Failed> {
    let fixture = load(folder)?;
    let outcome = run(&fixture);
    if outcome.after != fixture.after {
        let (wanted, found) = (shown(&fixture.after), shown(&outcome.after));
        return Err(
            format!("files differ\nwanted: {wanted}\nfound:  {found}\nanswer: {}", outcome.answer).into()
        );
    }
    fits(&fixture.report, &outcome.report, "report")
        .map_err(|why| format!("{why}\nanswer: {}\nreport: {:#}", outcome.answer, outcome.report))?;
    if let Some(payload) = &fixture.payload {
        fits(payload, &outcome.payload, "payload")
            .map_err(|why| format!("{why}\npayload: {:#}", outcome.payload))?;
    }
    if let Some(answer) = &fixture.answer
        && *answer != outcome.answer
    {
        return Err(format!("answers differ\nwanted:\n{answer}\nfound:\n{}", outcome.answer).into());
    }
    Ok(())
}

fn load(folder: &Path) -> Result<Fixture, Failed> {
    let json = |name: &str| -> Result<Value, Failed> {
        let text = fs::read_to_string(folder.join(name)).map_err(|error| format!("{name}: {error}"))?;
        serde_json::from_str(&text).map_err(|error| format!("{name}: {error}").into())
    };
    let mut request = json("request.json")?;
    let mode = match request["mode"].as_str() {
        Some(name) => Mode::named(name).ok_or("request.json: unknown mode")?,
        None => Mode::default(),
    };
    let requests = match request["calls"].take() {
        Value::Array(list) => list,
        _ => vec![request],
    };
    let calls = requests
        .into_iter()
        .map(|mut call| (call["tool"].as_str().expect("a tool's name").to_owned(), call["arguments"].take()))
        .collect();
    let before = tree(&folder.join("before"));
    let after = folder.join("after");
    Ok(Fixture {
        dialect: file_name(folder.parent().unwrap()),
        calls,
        after: if after.exists() { tree(&after) } else { before.clone() },
        before,
        mode,
        config: Some(folder.join("config.toml")).filter(|path| path.exists()),
        report: json("report.json")?,
        payload: if folder.join("payload.json").exists() { Some(json("payload.json")?) } else { None },
        answer: fs::read_to_string(folder.join("answer.txt")).ok(),
    })
}

fn tree(top: &Path) -> Tree {
    let mut found = Tree::new();
    let mut open = vec![top.to_path_buf()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn in_memory(fixture: &Fixture) -> Outcome {
    let files = MemoryWorkspace::default();
    for (name, bytes) in &fixture.before {
        files.put(&FilePath::from_record(name).unwrap(), bytes.clone());
    }
    let config = match &fixture.config {
        Some(path) => Config::load(Some(path)).unwrap(),
        None => Config::default(),
    };
    let journal = MemoryJournal::default();
    let engine = Engine::new(&files, &journal)
        .dialects(slipstitch::dialects::builtin())
        .policy(&config.policy)
        .settings(&config.settings)
        .mode(fixture.mode)
        .encoding(config.encoding)
        .session("fixture");
    let mut last = None;
    for (tool, arguments) in &fixture.calls {
        let request =
            Request { dialect: fixture.dialect.clone(), tool: tool.clone(), arguments: arguments.clone() };
        last = Some(engine.call(request, &mut Auto));
    }
    let answer = last.expect("at least one call");
    Outcome {
        report: serde_json::to_value(&answer.report).unwrap(),
        payload: answer.payload.unwrap_or_default(),
        answer: without_hashes(&format!("{}\n", answer.text)),
        after: files.all().into_iter().map(|(path, bytes)| (path.to_string(), bytes)).collect(),
    }
}

/// Two runs on two copies: one for the report, one for the words.
fn by_program(fixture: &Fixture) -> Outcome {
    let (structured, code, after) = run_program(fixture, &["--json"]);
    let (words, code_again, again) = run_program(fixture, &[]);
    assert_eq!(after, again, "what is printed makes no difference to the files");
    let mut report: Value =
        serde_json::from_str(&structured).unwrap_or_else(|error| panic!("{error}: {structured}"));
    let payload = report["payload"].take();
    let wanted = match report["status"].as_str() {
        Some("refused") => 1,
        Some("invalid") => 2,
        Some("failed") => 3,
        _ => 0,
    };
    assert_eq!(
        (code, code_again),
        (Some(wanted), Some(wanted)),
        "the exit status tells the same: {structured}"
    );
    Outcome { report, payload, answer: without_hashes(&words), after }
}

/// A folder with the fixture's files in `root/`.
fn laid_out(fixture: &Fixture) -> (tempfile::TempDir, PathBuf) {
    let top = tempfile::tempdir().unwrap();
    let root = top.path().join("root");
    fs::create_dir(&root).unwrap();
    for (name, bytes) in &fixture.before {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    (top, root)
}

/// One server over standard input and output, one call after the other.
fn by_server(fixture: &Fixture) -> Outcome {
    let (top, root) = laid_out(fixture);
    let mut server = Command::new(env!("CARGO_BIN_EXE_slipstitch"))
        .args(["--root", root.to_str().unwrap(), "--session", "fixture", "--no-fsync"])
        .args(fixture.config.iter().flat_map(|path| [Path::new("--config"), path]))
        .args(["mcp", "--dialect", &fixture.dialect, "--mode", fixture.mode.name()])
        .env("SLIPSTITCH_STATE_DIR", top.path().join("state"))
        .env("XDG_CONFIG_HOME", top.path().join("config"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut to, from) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
    let mut from = BufReader::new(from);
    let mut ask = |request: Value| -> Value {
        writeln!(to, "{request}").unwrap();
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    };
    ask(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "fixtures", "version": "1"},
    }}));
    let mut last = Value::Null;
    for (number, (tool, arguments)) in (1..).zip(&fixture.calls) {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"slipstitch/report": true}});
        last = ask(json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}));
        assert_eq!(last["id"], number, "{last}");
    }
    drop(to);
    assert!(server.wait().unwrap().success());
    served(&last, tree(&root))
}

/// What the server answered to the last call, and that its parts agree.
fn served(last: &Value, after: Tree) -> Outcome {
    let error = &last["error"];
    if error["code"] == -32602 && error["data"]["code"] == "unknown_tool" {
        // The protocol says so itself: a call of a tool that is not there is a fault of the client.
        let answer = without_hashes(&format!("{}\n", error["message"].as_str().expect("a text")));
        return Outcome { report: error["data"].clone(), payload: Value::Null, answer, after };
    }
    assert!(error.is_null(), "what a model can do wrong is never a fault of the protocol: {last}");
    let result = &last["result"];
    let mut report = result["_meta"]["slipstitch/report"].clone();
    let failed = ["refused", "invalid", "failed"].contains(&report["status"].as_str().expect("a status"));
    assert_eq!(result["isError"], failed, "{result}");
    let text = result["content"][0]["text"].as_str().expect("a text");
    match &result["structuredContent"] {
        Value::Null => assert_eq!(report["status"], "shown", "only texts of files come without a status"),
        brief => {
            assert_eq!((&brief["answer"], &brief["status"]), (&json!(text), &report["status"]));
            assert_eq!(brief["code"], report["code"]);
        }
    }
    let payload = report["payload"].take();
    Outcome { report, payload, answer: without_hashes(&format!("{text}\n")), after }
}

/// Everything the last call prints, and the files afterwards.
fn run_program(fixture: &Fixture, flags: &[&str]) -> (String, Option<i32>, Tree) {
    let (top, root) = laid_out(fixture);
    let mut printed = String::new();
    let mut code = None;
    for (tool, arguments) in &fixture.calls {
        let output = Command::new(env!("CARGO_BIN_EXE_slipstitch"))
            .args(["--root", root.to_str().unwrap(), "--session", "fixture", "--no-fsync"])
            .args(fixture.config.iter().flat_map(|path| [Path::new("--config"), path]))
            .args(["call", "--dialect", &fixture.dialect, "--mode", fixture.mode.name()])
            .args(flags)
            .args([tool.as_str(), &arguments.to_string()])
            .env("SLIPSTITCH_STATE_DIR", top.path().join("state"))
            .env("XDG_CONFIG_HOME", top.path().join("config"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        code = output.status.code();
        printed = String::from_utf8(output.stdout).unwrap();
        if printed.is_empty() {
            printed = error;
        }
    }
    (printed, code, tree(&root))
}

/// Whether everything that `wanted` asks for is in `found`.
fn fits(wanted: &Value, found: &Value, place: &str) -> Result<(), String> {
    match (wanted, found) {
        (Value::Object(fields), Value::String(text)) if fields.contains_key("$contains") => {
            let part = fields["$contains"].as_str().unwrap_or_default();
            if text.contains(part) {
                Ok(())
            } else {
                Err(format!("{place}: {text:?} does not hold {part:?}"))
            }
        }
        (Value::Object(fields), Value::Object(there)) => fields.iter().try_for_each(|(name, value)| {
            fits(value, there.get(name).unwrap_or(&Value::Null), &format!("{place}.{name}"))
        }),
        (Value::Array(items), Value::Array(there)) if items.len() == there.len() => items
            .iter()
            .zip(there)
            .enumerate()
            .try_for_each(|(n, (item, found))| fits(item, found, &format!("{place}[{n}]"))),
        _ if wanted == found => Ok(()),
        _ => Err(format!("{place}: wanted {wanted}, found {found}")),
    }
}

fn without_hashes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("b3:") {
        let (before, hash) = rest.split_at(at);
        out.push_str(before);
        out.push_str("<hash>");
        rest = hash[3..].trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    out + rest
}

fn shown(tree: &Tree) -> String {
    let files: Vec<String> =
        tree.iter().map(|(name, bytes)| format!("{name}: {:?}", String::from_utf8_lossy(bytes))).collect();
    files.join("; ")
}
