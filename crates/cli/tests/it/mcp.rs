//! `slipstitch mcp` as a process: over pipes, over HTTP, and its shutdown.

mod waiting;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResult, ClientConfig, ProtocolVersion};
use rmcp::service::RunningService;
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};

/// How long to wait for anything before a test fails.
const TIMEOUT: Duration = Duration::from_secs(30);

struct Rig(tempfile::TempDir);

impl Rig {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("root")).unwrap();
        Self(folder)
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("root")
    }

    fn put(&self, name: &str, text: &str) {
        std::fs::write(self.root().join(name), text).unwrap();
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.root().join(name)).unwrap()
    }

    /// The program with the root as working folder and a clean environment.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_slipstitch"));
        command.arg("--no-fsync").args(arguments).current_dir(self.root());
        command
            .env("SLIPSTITCH_STATE_DIR", self.0.path().join("state"))
            .env("XDG_CONFIG_HOME", self.0.path().join("config"));
        for name in ["SLIPSTITCH_SESSION", "SLIPSTITCH_AGENT", "SLIPSTITCH_MCP_TOKEN"]
            .iter()
            .chain(slipstitch_mcp::PROJECT_VARIABLES)
        {
            command.env_remove(name);
        }
        command
    }

    fn serve(&self, arguments: &[&str]) -> ServerProcess {
        ServerProcess::start(self.command(&[&["mcp"], arguments].concat()))
    }
}

/// A server with pipes to it. Dropping it kills the process if it is still running.
struct ServerProcess {
    child: Child,
    to: Option<ChildStdin>,
    lines: mpsc::Receiver<Value>,
    next: u64,
}

impl ServerProcess {
    fn start(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = mpsc::channel();
        let from = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in from.lines() {
                let line = line.unwrap();
                let value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        Self { to: child.stdin.take(), child, lines, next: 0 }
    }

    /// Like [`ServerProcess::start`], but nothing reads the server's output.
    fn start_unread(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Self { to: child.stdin.take(), child, lines: mpsc::channel().1, next: 0 }
    }

    fn send(&mut self, line: impl AsRef<[u8]>) {
        let to = self.to.as_mut().unwrap();
        to.write_all(line.as_ref()).unwrap();
        to.write_all(b"\n").unwrap();
    }

    fn read(&self) -> Value {
        self.lines.recv_timeout(TIMEOUT).expect("a line in time")
    }

    fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let (id, method) = (self.next, method.to_owned());
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    /// Sends a request and waits for its response; other messages are skipped.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        loop {
            let answer = self.read();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    fn initialize(&mut self, capabilities: Value) -> Value {
        let client = json!({"name": "pipes", "version": "1"});
        let version = "2025-11-25";
        self.ask(
            "initialize",
            json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": client}),
        )
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let meta = json!({"slipstitch/report": true});
        self.ask("tools/call", json!({"name": tool, "arguments": arguments, "_meta": meta}))["result"].take()
    }

    fn terminate(&self) {
        let kill = format!("kill -TERM {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &kill]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits until the process has exited, and returns whether it succeeded.
    fn wait_for_success(&mut self) -> bool {
        let start = std::time::Instant::now();
        while start.elapsed() < TIMEOUT {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.success();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the server does not exit");
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "old_text": old, "new_text": new})
}

fn code(result: &Value) -> &str {
    result["_meta"]["slipstitch/report"]["code"].as_str().unwrap_or_default()
}

async fn connect(rig: &Rig, lifecycle: ClientLifecycleMode) -> RunningService<RoleClient, ClientConfig> {
    let command = tokio::process::Command::from(rig.command(&["mcp"]));
    ClientConfig::default()
        .serve_with_lifecycle(TokioChildProcess::new(command).unwrap(), lifecycle)
        .await
        .unwrap()
}

async fn call(
    client: &RunningService<RoleClient, ClientConfig>,
    tool: &str,
    arguments: Value,
) -> CallToolResult {
    let Value::Object(arguments) = arguments else { panic!("an object") };
    client.call_tool(CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)).await.unwrap()
}

#[tokio::test]
async fn clients_of_both_eras_start_the_server_and_edit() {
    let stateless = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    for lifecycle in [ClientLifecycleMode::Initialize, stateless] {
        let rig = Rig::new();
        for name in ["a", "b", "c"] {
            rig.put(name, "one\ntwo\n");
        }
        let client = connect(&rig, lifecycle).await;
        assert_eq!(client.list_all_tools().await.unwrap().len(), 4);
        let read = call(&client, "read_file", json!({"path": "a"})).await;
        assert!(read.content[0].as_text().unwrap().text.contains("two"));
        assert_eq!(call(&client, "edit_file", edit("a", "two", "2")).await.is_error, Some(false));
        assert_eq!(call(&client, "edit_file", edit("a", "two", "3")).await.is_error, Some(true));
        let patch: String = ["a", "b", "c"]
            .iter()
            .map(|n| format!("--- a/{n}\n+++ b/{n}\n@@ -1 +1 @@\n-one\n+1\n"))
            .collect();
        assert_eq!(call(&client, "patch", json!({"patch": patch})).await.is_error, Some(false));
        assert_eq!((rig.text("a"), rig.text("c")), ("1\n2\n".into(), "1\ntwo\n".into()));
        assert_eq!(call(&client, "undo_edit", json!({})).await.is_error, Some(false));
        assert_eq!((rig.text("a"), rig.text("c")), ("one\n2\n".into(), "one\ntwo\n".into()));
        client.cancel().await.unwrap();
    }
}

#[test]
fn malformed_messages_are_answered_and_do_no_harm() {
    let rig = Rig::new();
    rig.put("a.txt", "one\n");
    let mut server = rig.serve(&[]);
    // Also before `initialize`.
    server.send("not JSON");
    assert_eq!(server.read()["error"]["code"], -32700);
    server.send(r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#);
    server.initialize(json!({}));
    let deep = format!(
        r#"{{"jsonrpc": "2.0", "id": 9, "method": "ping", "params": {}{}}}"#,
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    let lines: [(&[u8], i64); 12] = [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"x\"", -32700),
        (deep.as_bytes(), -32700),
        (b"[]", -32600),
        (b"[{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}]", -32600),
        (b"null", -32600),
        (b"\"text\"", -32600),
        (b"{\"jsonrpc\": \"2.0\", \"id\": {}, \"method\": \"ping\"}", -32600),
        (b"{\"id\": 1, \"method\": \"ping\"}", -32600),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"nope\"}", -32601),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": []}", -32602),
    ];
    for (line, wanted) in lines {
        server.send(line);
        let answer = server.read();
        assert_eq!(
            answer["error"]["code"],
            wanted,
            "{}: {answer}",
            String::from_utf8_lossy(&line[..line.len().min(80)])
        );
    }
    let long = vec![b'x'; slipstitch_mcp::MAX_LINE + 10];
    server.send(&long);
    let answer = server.read();
    assert!(answer["error"]["message"].as_str().unwrap().contains("longer than"), "{answer}");
    assert_eq!(rig.text("a.txt"), "one\n");
    assert_eq!(
        code(&server.call("edit_file", edit("a.txt", "one", "two"))),
        "applied",
        "the server still works"
    );
    drop(server.to.take());
    assert!(server.wait_for_success());
}

#[test]
fn calls_in_flight_are_finished_when_the_client_closes() {
    let rig = Rig::new();
    rig.put("a.txt", "");
    let mut server = rig.serve(&[]);
    server.initialize(json!({}));
    for n in 0..30 {
        let append = json!({"path": "a.txt", "content": format!("{n}\n"), "mode": "append"});
        let meta = json!({"slipstitch/report": true});
        server.request("tools/call", json!({"name": "write_file", "arguments": append, "_meta": meta}));
    }
    drop(server.to.take());
    for _ in 0..30 {
        assert_eq!(code(&server.read()["result"]), "applied");
    }
    assert!(server.wait_for_success());
    let wanted: String = (0..30).map(|n| format!("{n}\n")).collect();
    assert_eq!(rig.text("a.txt"), wanted, "in the order in which they were sent");
}

#[test]
fn sigterm_leaves_nothing_half_done() {
    let rig = Rig::new();
    rig.put("a.txt", "one\n");
    rig.put("b.txt", "b\n");
    let mut server = rig.serve(&["--dialect", "agent-q"]);
    server.initialize(json!({"elicitation": {}}));
    let propose = json!({"path": "a.txt", "new_content": "two\n", "description": "d"});
    server.request("tools/call", json!({"name": "propose_file_edit", "arguments": propose}));
    assert_eq!(server.read()["method"], "elicitation/create");
    let done = server.call("edit_file", json!({"path": "b.txt", "old_str": "b", "new_str": "B"}));
    assert_eq!(code(&done), "applied");
    server.terminate();
    assert!(server.wait_for_success(), "even though its input is still open");
    assert_eq!((rig.text("a.txt"), rig.text("b.txt")), ("one\n".into(), "B\n".into()));
    let waiting = rig.command(&["review"]).output().unwrap();
    let waiting = String::from_utf8(waiting.stdout).unwrap();
    assert!(waiting.contains("p1"), "the proposal is still pending: {waiting}");
    // The change is the server's, and this process has no terminal.
    let settings = rig.0.path().join("config/slipstitch");
    std::fs::create_dir_all(&settings).unwrap();
    std::fs::write(settings.join("config.toml"), "[undo]\nothers = \"allow\"\n").unwrap();
    let undone = rig.command(&["undo", "c1"]).output().unwrap();
    assert!(undone.status.success() && rig.text("b.txt") == "b\n", "the journal is intact: {undone:?}");
}

/// Opening the journal can take long: recovery reads large files, and another process may hold the journal, as here.
#[test]
fn sigterm_is_honoured_while_the_workspace_is_being_opened() {
    let rig = Rig::new();
    rig.put("a.txt", "one\n");
    let mut server = rig.serve(&[]);
    server.initialize(json!({}));
    assert_eq!(code(&server.call("edit_file", edit("a.txt", "one", "two"))), "applied");
    server.terminate();
    assert!(server.wait_for_success());

    let other = rusqlite::Connection::open(rig.0.path().join("state/journal.db")).unwrap();
    // Not even readers are let in, so that the journal cannot be opened.
    other
        .execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; PRAGMA user_version; COMMIT")
        .unwrap();
    let mut server = rig.serve(&[]);
    server.initialize(json!({}));
    let request = json!({"name": "edit_file", "arguments": edit("a.txt", "two", "three")});
    server.request("tools/call", request);
    server.request("ping", json!({}));
    assert!(server.read()["result"].is_object(), "the ping is answered while the call waits");
    let start = std::time::Instant::now();
    server.terminate();
    assert!(server.wait_for_success());
    // The other process would be waited for much longer.
    assert!(start.elapsed() < std::time::Duration::from_secs(4), "{:?}", start.elapsed());
    assert_eq!(rig.text("a.txt"), "two\n");
}

#[test]
fn the_root_comes_from_options_then_the_host_then_the_working_folder() {
    let rig = Rig::new();
    rig.put("a.txt", "in the working folder\n");
    let other = rig.0.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("a.txt"), "in the other\n").unwrap();
    let read = |command: Command| {
        let mut server = ServerProcess::start(command);
        server.initialize(json!({}));
        server.call("read_file", json!({"path": "a.txt"}))["content"][0]["text"].take().to_string()
    };
    assert!(read(rig.command(&["mcp"])).contains("working folder"));
    let mut host = rig.command(&["mcp"]);
    host.env("CLAUDE_PROJECT_DIR", &other);
    assert!(read(host).contains("in the other"));
    let mut both = rig.command(&["mcp", "--root", "."]);
    both.env("CLAUDE_PROJECT_DIR", &other);
    assert!(read(both).contains("working folder"));
    let other = other.to_str().unwrap();
    assert!(read(rig.command(&["--root", other, "mcp"])).contains("in the other"), "before the command too");
}

#[test]
fn invalid_options_are_reported_with_the_next_step() {
    let rig = Rig::new();
    for (arguments, parts) in [
        (&["--dialect", "native,nexus3"][..], &["`edit_file`", "two servers"][..]),
        (&["--dialect", "nope"], &["`nope`", "`native`"]),
        (&["--root", "missing"], &["`missing`", "--root"]),
        (&["--root", ".", "--root", "missing"], &["`missing`", "--root"]),
        (&["--token", "0123456789abcdef"], &["--http"]),
        (&["--http", "nowhere"], &["127.0.0.1:7777"]),
        (&["--http", "0.0.0.0:0", "--no-token"], &["other machines", "--no-token"]),
        (&["--http", "0", "--no-token", "--token", "0123456789abcdef"], &["--no-token"]),
        (&["--no-token"], &["--http"]),
        (&["--http", "0", "--token", "short"], &["16"]),
        (&["--http", "0", "--allow-host", "*"], &["`*`"]),
        (&["--http", "0", "--allow-origin", "example.com"], &["`example.com`"]),
        (&["--mode", "nope"], &["restricted"]),
    ] {
        let output = rig.command(&[&["mcp"], arguments].concat()).stdin(Stdio::null()).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty(), "standard output belongs to the client");
        assert!(parts.iter().all(|part| stderr.contains(part)), "{arguments:?}: {stderr}");
    }
}

/// A server over HTTP, its address, and what follows on stderr.
fn serve_http(
    rig: &Rig,
    arguments: &[&str],
) -> (ServerProcess, String, BufReader<std::process::ChildStderr>) {
    let mut server = rig.serve(&[&["--http", "0"], arguments].concat());
    let mut stderr = BufReader::new(server.child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    let address = line
        .trim()
        .strip_prefix("slipstitch mcp: listening on http://")
        .and_then(|rest| rest.strip_suffix("/mcp"));
    let address = address.unwrap_or_else(|| panic!("{line}")).to_owned();
    (server, address, stderr)
}

/// The status of an `initialize` request with this header line.
fn http_status(address: &str, authorization: &str) -> String {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{authorization}\r\n\
         Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    String::from_utf8(status.to_vec()).unwrap()
}

#[test]
fn listens_for_http_with_a_generated_token() {
    let rig = Rig::new();
    let token = rig.0.path().join("token");
    let (mut server, address, mut stderr) = serve_http(&rig, &["--token-file", token.to_str().unwrap()]);
    let secret = std::fs::read_to_string(&token).unwrap();
    let bearer = |token: &str| format!("Authorization: Bearer {token}");
    assert_eq!(http_status(&address, &bearer("wrong")), "HTTP/1.1 401");
    assert_eq!(http_status(&address, &bearer(secret.trim())), "HTTP/1.1 200");
    server.terminate();
    assert!(server.wait_for_success());
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains(secret.trim()), "the token is in the file, nowhere else");
}

// An agent that starts the server would read the page's address, and could decide about its own changes.
#[test]
fn the_review_page_beside_the_server_needs_a_terminal() {
    let rig = Rig::new();
    let program = rig.command(&["mcp", "--http", "0", "--no-token", "--review"]);
    // A new session has no terminal, wherever the tests run.
    let mut command = Command::new("/usr/bin/setsid");
    command.arg("--wait").arg(program.get_program()).args(program.get_args()).current_dir(rig.root());
    for (name, value) in program.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("the review page can only be opened at a terminal"), "{stderr}");
    assert!(!stderr.contains("http://"), "{stderr}");
}

#[test]
fn http_needs_a_token_by_default_and_the_server_prints_it() {
    let rig = Rig::new();
    let (mut server, address, mut stderr) = serve_http(&rig, &[]);
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    let header = line.find("Authorization: Bearer ").map(|at| line[at..].trim().to_owned());
    let header = header.unwrap_or_else(|| panic!("{line}"));
    assert_eq!(http_status(&address, "X-No-Token: x"), "HTTP/1.1 401");
    assert_eq!(http_status(&address, &header), "HTTP/1.1 200");
    server.terminate();
    assert!(server.wait_for_success());
    let (_server, _, mut stderr) = serve_http(&rig, &[]);
    let mut other = String::new();
    stderr.read_line(&mut other).unwrap();
    assert_ne!(line, other, "each run has its own");
}

#[test]
fn http_without_a_token_must_be_asked_for() {
    let rig = Rig::new();
    let (_server, address, _) = serve_http(&rig, &["--no-token"]);
    assert_eq!(http_status(&address, "X-No-Token: x"), "HTTP/1.1 200");
}

/// A server that is busy with a call that would take many minutes: each of thousands of edits depends on the one before it and
/// quotes it with blanks that the file does not have, so that all of several megabytes is searched for it.
fn busy_server(rig: &Rig) -> (ServerProcess, u64) {
    let edits: Vec<Value> = (0..6_000)
        .map(|n| json!({"old_string": format!("counter = {n};  \n"), "new_string": format!("counter = {};\n", n + 1)}))
        .collect();
    let mut server = rig.serve(&["--dialect", "claude"]);
    server.initialize(json!({}));
    let read = server.call("Read", json!({"file_path": "small.txt"}));
    assert_eq!(read["isError"], false, "{read}");
    let arguments = json!({"file_path": "big.txt", "edits": edits});
    let id = server.request("tools/call", json!({"name": "MultiEdit", "arguments": arguments}));
    // Most likely it is being resolved by then. If not, it is stopped even earlier.
    std::thread::sleep(Duration::from_millis(500));
    (server, id)
}

#[test]
fn a_long_call_stops_when_it_is_no_longer_wanted() {
    let rig = Rig::new();
    let big = format!("counter = 0;\n{}", "a line that fills the file\n".repeat(300_000));
    rig.put("big.txt", &big);
    rig.put("small.txt", "small\n");

    let (mut server, id) = busy_server(&rig);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    server.send(cancel.to_string());
    // Calls of the same file wait for their turn, so this one is answered only once the other is over.
    let read = server.call("Read", json!({"file_path": "big.txt", "limit": 1}));
    assert!(read["content"][0]["text"].as_str().unwrap().contains("counter = 0;"), "{read}");
    drop(server.to.take());
    assert!(server.wait_for_success(), "nothing keeps it running");

    let (mut server, _) = busy_server(&rig);
    server.terminate();
    assert!(server.wait_for_success(), "SIGTERM does not wait for it");

    let (mut server, id) = busy_server(&rig);
    drop(server.to.take());
    let answer = server.read();
    assert_eq!(answer["id"], id);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("nothing was written"), "{text}");
    assert!(server.wait_for_success(), "the end of the input does not wait for it");

    assert!(rig.text("big.txt") == big, "nothing was written");
}
