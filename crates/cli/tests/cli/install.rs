//! `mcp install` and `mcp uninstall`: every host, every state that its file can be in.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::rig::{Rig, Run};

/// A host as these tests know it, apart from the program's own table.
struct Host {
    client: &'static str,
    /// Beneath the home folder.
    user: &'static str,
    /// Beneath the project.
    project: Option<&'static str>,
    form: Form,
    key: &'static str,
    /// What an entry has besides the program and its arguments.
    extra: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Json,
    Toml,
    Yaml,
}

const HOSTS: &[Host] = &[
    Host {
        client: "claude-code",
        user: ".claude.json",
        project: Some(".mcp.json"),
        form: Form::Json,
        key: "mcpServers",
        extra: r#"{"type": "stdio", "env": {}}"#,
    },
    Host {
        client: "codex",
        user: ".codex/config.toml",
        project: Some(".codex/config.toml"),
        form: Form::Toml,
        key: "mcp_servers",
        extra: "{}",
    },
    Host {
        client: "cursor",
        user: ".cursor/mcp.json",
        project: Some(".cursor/mcp.json"),
        form: Form::Json,
        key: "mcpServers",
        extra: r#"{"type": "stdio"}"#,
    },
    Host {
        client: "vscode",
        user: ".config/Code/User/mcp.json",
        project: Some(".vscode/mcp.json"),
        form: Form::Json,
        key: "servers",
        extra: r#"{"type": "stdio"}"#,
    },
    Host {
        client: "zed",
        user: ".config/zed/settings.json",
        project: Some(".zed/settings.json"),
        form: Form::Json,
        key: "context_servers",
        extra: r#"{"source": "custom", "env": {}}"#,
    },
    Host {
        client: "goose",
        user: ".config/goose/config.yaml",
        project: None,
        form: Form::Yaml,
        key: "extensions",
        extra: r#"{"enabled": true, "type": "stdio", "name": "slipstitch", "envs": {}, "env_keys": [], "timeout": 300,
            "description": "Edits files at the right place or not at all, and takes edits back"}"#,
    },
    Host {
        client: "opencode",
        user: ".config/opencode/opencode.json",
        project: Some("opencode.json"),
        form: Form::Json,
        key: "mcp",
        extra: r#"{"type": "local", "enabled": true}"#,
    },
];

impl Host {
    fn file(&self, rig: &Rig) -> PathBuf {
        rig.outside().join(self.user)
    }

    fn put(&self, rig: &Rig, text: &[u8]) {
        fs::create_dir_all(self.file(rig).parent().unwrap()).unwrap();
        fs::write(self.file(rig), text).unwrap();
    }

    fn run(&self, rig: &Rig, step: &str, extra: &[&str]) -> Run {
        rig.run(["mcp", step, "--client", self.client].iter().chain(extra))
    }

    /// Installs with a program's name that is the same on every machine.
    fn install(&self, rig: &Rig, extra: &[&str]) -> Run {
        self.run(rig, "install", &[&["--command", "slipstitch"], extra].concat())
    }

    /// The file as a real parser reads it.
    fn read(&self, text: &str) -> Value {
        match self.form {
            // Comments are taken out of the tests' own texts, in which they have lines of their own.
            Form::Json => {
                let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                serde_json::from_str(&lines.collect::<Vec<_>>().join("\n")).unwrap()
            }
            Form::Toml => serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap(),
            Form::Yaml => serde_saphyr::from_str(text).unwrap(),
        }
    }

    fn entry(&self, arguments: &[&str]) -> Value {
        let mut entry: Value = serde_json::from_str(self.extra).unwrap();
        let words = |first: &[&str]| json!(first.iter().chain(arguments).collect::<Vec<_>>());
        match self.client {
            "opencode" => entry["command"] = words(&["slipstitch", "mcp"]),
            "goose" => (entry["cmd"], entry["args"]) = ("slipstitch".into(), words(&["mcp"])),
            _ => (entry["command"], entry["args"]) = ("slipstitch".into(), words(&["mcp"])),
        }
        entry
    }

    /// Files that people may have, without an entry of ours.
    fn files(&self) -> Vec<(&'static str, String)> {
        let key = self.key;
        let texts = match self.form {
            Form::Json => vec![
                ("empty object", "{}".into()),
                ("no servers", "{\n  \"theme\": \"é\",\n  \"n\": 1.50\n}\n".into()),
                (
                    "other servers",
                    format!(
                        "{{\n\t\"{key}\": {{\n\t\t\"a\": {{ \"command\": \"a\" }}\n\t}},\n\t\"z\": [ ]\n}}"
                    ),
                ),
                ("one line", format!("{{\"{key}\":{{\"a\":{{\"command\":\"a\"}}}},\"z\":1}}\n")),
                (
                    "comments",
                    format!(
                        "// mine\n{{\n  \"{key}\": {{\n    // the first\n    \"a\": {{}}\n    // the end\n  }}\n}}\n"
                    ),
                ),
            ],
            Form::Toml => vec![
                ("no servers", "model = \"é\" # mine\nn = 1.50\n".into()),
                (
                    "other servers",
                    format!("a = 1\n\n[{key}.a]\ncommand = 'a'\n\n[{key}.a.env]\nX = \"1\"\n\n[tail]\nb = 2"),
                ),
                ("comments", format!("# mine\n[{key}]\n# the end\n")),
                ("no last line end", "a = 1".into()),
            ],
            Form::Yaml => vec![
                ("no servers", "MODEL: é # mine\nn: 1.50\n".into()),
                (
                    "other servers",
                    format!("A: 1\n{key}:\n    a:\n        cmd: a\n        args: [x]\n\nZ: 2\n"),
                ),
                ("comments", format!("# mine\n{key}:\n  # the first\n  a:\n    cmd: a # x\n# the end\n")),
                ("empty mapping", format!("{key}: {{}}\nZ: 1")),
                ("no value", format!("A: 1\n{key}:\n")),
            ],
        };
        let crlf: Vec<_> =
            texts.iter().map(|(_, text): &(_, String)| ("CRLF", text.replace('\n', "\r\n"))).collect();
        let marked = texts.iter().map(|(_, text)| ("byte order mark", format!("\u{feff}{text}"))).collect();
        [texts, crlf, marked, vec![("empty", String::new()), ("blank", "\n\n".into())]].concat()
    }
}

#[test]
fn install_makes_the_file_and_uninstall_removes_it() {
    for host in HOSTS {
        let rig = Rig::new();
        let run = host.install(&rig, &[]);
        run.assert_done();
        assert!(run.err.contains("slipstitch mcp uninstall --client"), "{run:?}");
        let text = fs::read_to_string(host.file(&rig)).unwrap();
        assert_eq!(host.read(&text), json!({host.key: {"slipstitch": host.entry(&[])}}), "{text}");
        host.run(&rig, "uninstall", &[]).assert_done();
        assert!(!host.file(&rig).exists(), "{}", host.client);
    }
}

#[test]
fn the_rest_of_a_file_stays_and_uninstall_restores_every_byte() {
    for host in HOSTS {
        for (kind, before) in host.files() {
            let rig = Rig::new();
            let what = format!("{}, {kind}: {before:?}", host.client);
            host.put(&rig, before.as_bytes());
            let run = host.install(&rig, &["--dialect", "native,codex"]);
            assert_eq!(run.code, 0, "{what}: {run:?}");
            let after = fs::read_to_string(host.file(&rig)).unwrap();
            only_added(&before, &after);
            let plain = |text: &str| text.trim_start_matches('\u{feff}').to_owned();
            let mut wanted = match plain(&before) {
                text if text.trim().is_empty() => json!({}),
                text => host.read(&text),
            };
            wanted[host.key]["slipstitch"] = host.entry(&["--dialect", "native,codex"]);
            assert_eq!(host.read(&plain(&after)), wanted, "{what}");
            host.run(&rig, "uninstall", &[]).assert_done();
            assert_eq!(fs::read(host.file(&rig)).unwrap(), before.as_bytes(), "{what}");
        }
    }
}

/// Every byte that was there is there still, in the same order.
fn only_added(before: &str, after: &str) {
    let mut rest = after.bytes();
    for byte in before.bytes() {
        assert!(rest.any(|found| found == byte), "{before:?} is not all in {after:?}");
    }
    assert_eq!(before.contains("\r\n"), after.contains("\r\n"));
    if before.contains("\r\n") {
        assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
    }
}

#[test]
fn an_entry_that_is_there_already_is_left_alone() {
    for host in HOSTS {
        let rig = Rig::new();
        host.install(&rig, &[]).assert_done();
        let text = fs::read(host.file(&rig)).unwrap();
        let again = host.install(&rig, &[]);
        again.assert_done();
        assert!(again.err.contains("already"), "{again:?}");
        let other = host.install(&rig, &["--dialect", "codex"]);
        other.assert_failed(1, &["different", "--force", "--name"]);
        assert_eq!(fs::read(host.file(&rig)).unwrap(), text, "{}", host.client);
        host.install(&rig, &["--dialect", "codex", "--force"]).assert_done();
        let now = host.read(&fs::read_to_string(host.file(&rig)).unwrap());
        assert_eq!(now[host.key]["slipstitch"], host.entry(&["--dialect", "codex"]));
    }
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone_and_the_entry_shown() {
    for host in HOSTS {
        let broken: &[&[u8]] = match host.form {
            Form::Json => &[
                b"{\"a\": ",
                b"{\"a\": 1 \"b\": 2}",
                b"[1]",
                b"\"x\"",
                b"{'a': 1}",
                b"{\"a\": \"\xff\"}",
                b"{\"a\": 1, \"a\": 2}",
            ],
            Form::Toml => &[b"a = ", b"[a\n", b"a = 1\na = 2\n", b"a = \"\xff\"\n"],
            Form::Yaml => &[b"a: [1", b"- 1\n", b"a: b: c\n", b"a: 1\n---\nb: 2\n", b"a: \"\xff\"\n"],
        };
        for text in broken {
            let rig = Rig::new();
            host.put(&rig, text);
            let run = host.install(&rig, &[]);
            run.assert_failed(1, &["cannot be edited safely", "by hand", "slipstitch", host.key]);
            host.run(&rig, "uninstall", &[]).assert_failed(1, &["cannot be edited safely", host.key]);
            assert_eq!(fs::read(host.file(&rig)).unwrap(), *text, "{}", host.client);
        }
    }
}

#[test]
fn work_done_since_is_kept_by_uninstall() {
    for host in HOSTS {
        for (kind, before) in host.files() {
            let rig = Rig::new();
            host.put(&rig, before.as_bytes());
            host.install(&rig, &[]).assert_done();
            host.install(&rig, &["--name", "second"]).assert_done();
            host.run(&rig, "uninstall", &[]).assert_done();
            let text = fs::read_to_string(host.file(&rig)).unwrap();
            let text = text.trim_start_matches('\u{feff}');
            let now = host.read(text);
            assert!(now[host.key].get("slipstitch").is_none(), "{}, {kind}: {text:?}", host.client);
            assert!(now[host.key].get("second").is_some(), "{}, {kind}: {text:?}", host.client);
        }
    }
}

#[test]
fn what_is_not_there_is_not_taken_out() {
    for host in HOSTS {
        let rig = Rig::new();
        let run = host.run(&rig, "uninstall", &[]);
        run.assert_done();
        assert!(run.err.contains("has no server `slipstitch`"), "{run:?}");
        assert!(!host.file(&rig).exists() && !host.file(&rig).parent().unwrap().join(".codex").exists());
        let (_, text) = &host.files()[0];
        host.put(&rig, text.as_bytes());
        host.run(&rig, "uninstall", &[]).assert_done();
        assert_eq!(fs::read(host.file(&rig)).unwrap(), text.as_bytes());
    }
}

#[test]
fn another_program_under_our_name_is_not_taken_out() {
    let rig = Rig::new();
    let text = r#"{"mcpServers": {"slipstitch": {"command": "other"}}}"#;
    HOSTS[0].put(&rig, text.as_bytes());
    HOSTS[0].run(&rig, "uninstall", &[]).assert_failed(1, &["another program", "--force"]);
    assert_eq!(fs::read_to_string(HOSTS[0].file(&rig)).unwrap(), text);
    HOSTS[0].run(&rig, "uninstall", &["--force"]).assert_done();
    assert_eq!(fs::read_to_string(HOSTS[0].file(&rig)).unwrap(), r#"{"mcpServers": {}}"#);
}

#[test]
fn a_project_has_a_file_of_its_own() {
    for host in HOSTS {
        let rig = Rig::new();
        let run = host.run(&rig, "install", &["--project"]);
        let Some(project) = host.project else {
            run.assert_failed(2, &["no files of projects", "--project"]);
            continue;
        };
        run.assert_done();
        assert!(!host.file(&rig).exists(), "the user's file is another");
        assert!(run.err.contains("on the PATH"), "no program of that name is there: {run:?}");
        // A project's file goes to other machines, so it has no path of this one.
        assert_eq!(host.read(&rig.get(project))[host.key]["slipstitch"], host.entry(&[]));
        host.run(&rig, "uninstall", &["--project"]).assert_done();
        assert!(!rig.root().join(project).exists());
        let elsewhere = rig.outside().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let root = elsewhere.to_str().unwrap();
        host.run(&rig, "install", &["--project", "--root", root]).assert_done();
        assert!(elsewhere.join(project).exists(), "`--root` names the project");
    }
}

#[test]
fn print_shows_the_entry_and_writes_nothing() {
    for host in HOSTS {
        let rig = Rig::new();
        let run = host.install(&rig, &["--print", "--name", "x", "--", "--mode", "restricted"]);
        run.assert_done();
        let mut wanted = host.entry(&["--mode", "restricted"]);
        if host.client == "goose" {
            wanted["name"] = "x".into();
        }
        assert_eq!(host.read(&run.out), json!({host.key: {"x": wanted}}), "{run:?}");
        assert!(run.err.contains(host.user), "{run:?}");
        assert!(!host.file(&rig).exists() && !rig.outside().join("state").exists());
    }
}

#[test]
fn a_root_is_passed_on_in_full() {
    let rig = Rig::new();
    fs::create_dir(rig.root().join("sub")).unwrap();
    HOSTS[0].install(&rig, &["--root", "sub"]).assert_done();
    let text = fs::read_to_string(HOSTS[0].file(&rig)).unwrap();
    let sub = rig.root().join("sub").canonicalize().unwrap();
    let wanted = HOSTS[0].entry(&["--root", sub.to_str().unwrap()]);
    assert_eq!(HOSTS[0].read(&text)["mcpServers"]["slipstitch"], wanted);
    HOSTS[0].install(&rig, &["--root", "gone", "--name", "y"]).assert_failed(2, &["gone", "--root"]);
    HOSTS[0]
        .install(&rig, &["--dialect", "klingon", "--name", "y"])
        .assert_failed(2, &["klingon", "`native`"]);
    HOSTS[0].install(&rig, &["--name", "a b"]).assert_failed(2, &["letters"]);
}

#[test]
fn a_program_that_is_not_on_the_path_is_named_in_full() {
    let rig = Rig::new();
    let run = HOSTS[0].run(&rig, "install", &[]);
    run.assert_done();
    let text = fs::read_to_string(HOSTS[0].file(&rig)).unwrap();
    let command = HOSTS[0].read(&text)["mcpServers"]["slipstitch"]["command"].as_str().unwrap().to_owned();
    let program = assert_cmd::cargo::cargo_bin!("slipstitch").canonicalize().unwrap();
    assert_eq!(command, program.to_str().unwrap());
    let rig = Rig::new();
    let mut command = rig.command();
    command.env("PATH", program.parent().unwrap()).args(["mcp", "install", "--client", "claude-code"]);
    Run::of(&mut command).assert_done();
    let text = fs::read_to_string(HOSTS[0].file(&rig)).unwrap();
    assert_eq!(HOSTS[0].read(&text)["mcpServers"]["slipstitch"]["command"], "slipstitch");
}

#[test]
fn a_link_to_a_file_kept_elsewhere_stays_a_link() {
    let rig = Rig::new();
    let kept = rig.outside().join("dotfiles");
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("claude"), "{}\n").unwrap();
    std::os::unix::fs::symlink(kept.join("claude"), HOSTS[0].file(&rig)).unwrap();
    HOSTS[0].install(&rig, &[]).assert_done();
    assert!(HOSTS[0].file(&rig).is_symlink());
    assert!(fs::read_to_string(kept.join("claude")).unwrap().contains("slipstitch"));
    HOSTS[0].run(&rig, "uninstall", &[]).assert_done();
    assert_eq!(fs::read_to_string(kept.join("claude")).unwrap(), "{}\n");
}

#[test]
fn a_host_that_reads_plain_json_is_warned_of_comments() {
    for (client, warned) in [(&HOSTS[0], true), (&HOSTS[3], false)] {
        let rig = Rig::new();
        client.put(&rig, b"{\n  // mine\n}\n");
        let run = client.install(&rig, &[]);
        run.assert_done();
        assert_eq!(run.err.contains("plain JSON"), warned, "{run:?}");
    }
}

#[test]
fn programs_get_one_object() {
    let rig = Rig::new();
    let (code, report) = rig.json(["mcp", "install", "--client", "zed"]);
    assert_eq!((code, report["code"].as_str()), (0, Some("installed")), "{report}");
    let (code, report) = rig.json(["mcp", "uninstall", "--client", "zed"]);
    assert_eq!((code, report["code"].as_str()), (0, Some("uninstalled")), "{report}");
    rig.run(["mcp", "install", "--client", "nope"]).assert_failed(2, &["claude-code", "opencode"]);
}

#[test]
fn what_the_server_would_refuse_is_refused_in_the_same_words_and_nothing_is_written() {
    let refused: &[&[&str]] = &[
        &["--dialect", "native,nexus3"],
        &["--dialect", "klingon"],
        &["--dialect", ""],
        &["--", "--dialect", "klingon"],
        &["--", "--mode", "sometimes"],
        &["--", "--patience", "0"],
        &["--", "--no-such-option"],
        &["--", "--token", "0123456789abcdef0123"],
        &["--", "--root", "/no/such/folder"],
        &["--", "surplus"],
    ];
    for (number, host) in HOSTS.iter().enumerate() {
        // What is refused is the same for all hosts.
        for extra in refused.iter().take(if number == 0 { refused.len() } else { 1 }) {
            for print in [false, true] {
                let rig = Rig::new();
                let (before, after): (Vec<&str>, Vec<&str>) =
                    match extra.iter().position(|word| *word == "--") {
                        Some(at) => (vec![], extra[at..].to_vec()),
                        None => (extra.to_vec(), vec![]),
                    };
                let words = [&before[..], if print { &["--print"] } else { &[] }, &after].concat();
                let run = host.install(&rig, &words);
                assert_eq!((run.code, run.out.as_str()), (2, ""), "{words:?}: {run:?}");
                let server: Vec<&str> = extra.iter().copied().filter(|word| *word != "--").collect();
                let said = rig.run(["mcp"].iter().chain(&server));
                let first = |run: &Run| run.err.lines().next().unwrap_or_default().to_owned();
                assert_eq!(first(&run), first(&said), "{words:?}");
                let left: Vec<_> =
                    fs::read_dir(rig.outside()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
                assert_eq!(left, ["root"], "{words:?}");
            }
        }
    }
}

#[test]
fn a_server_that_a_host_cannot_speak_with_is_refused() {
    let rig = Rig::new();
    for (words, said) in [
        (&["--http", "127.0.0.1:0"][..], "standard input and output"),
        (&["uninstall", "--client", "zed"], "`install` or `uninstall`"),
        (&["--help"], "help"),
    ] {
        let run = HOSTS[0].install(&rig, &[&["--"], words].concat());
        run.assert_failed(2, &["a host cannot use the server", said, "Nothing was written"]);
        assert!(!HOSTS[0].file(&rig).exists());
    }
}

#[test]
fn only_our_own_entry_is_shown_and_no_secret() {
    let rig = Rig::new();
    let host = &HOSTS[0];
    let secret = r#"{"mcpServers":{"a":{"env":{"KEY":"s3cret"}},"slipstitch":{"command":"slipstitch","args":["mcp"],"env":{"T":"t0ken"}}}}"#;
    for text in [secret.to_owned(), secret.replace(',', ",\n")] {
        host.put(&rig, text.as_bytes());
        let run = host.install(&rig, &["--dialect", "codex", "--force"]);
        run.assert_done();
        let (_, json) =
            rig.json(["mcp", "install", "--client", "claude-code", "--command", "slipstitch", "--force"]);
        let gone = host.run(&rig, "uninstall", &["--force"]);
        gone.assert_done();
        for said in [format!("{run:?}"), json.to_string(), format!("{gone:?}")] {
            assert!(!said.contains("s3cret") && !said.contains("t0ken"), "{said}");
        }
        assert!(run.out.lines().any(|line| line.starts_with("+ ") && line.contains("--dialect")), "{run:?}");
        assert!(run.out.lines().any(|line| line.starts_with("- ") && line.contains("\"T\"")), "{run:?}");
        assert!(gone.out.lines().any(|line| line.starts_with("- ")), "{gone:?}");
    }
}

#[test]
fn uninstall_takes_the_folders_that_install_made_and_no_others() {
    for host in HOSTS.iter().filter(|host| host.user.contains('/')) {
        let rig = Rig::new();
        let top = rig.outside().join(host.user.split('/').next().unwrap());
        host.install(&rig, &[]).assert_done();
        assert!(top.is_dir());
        host.run(&rig, "uninstall", &[]).assert_done();
        assert!(!top.exists(), "{}: what it made is gone", host.client);

        fs::create_dir(&top).unwrap();
        host.install(&rig, &[]).assert_done();
        host.run(&rig, "uninstall", &[]).assert_done();
        assert!(
            top.is_dir() && fs::read_dir(&top).unwrap().count() == 0,
            "{}: it was there before",
            host.client
        );

        fs::remove_dir(&top).unwrap();
        host.install(&rig, &[]).assert_done();
        let other = host.file(&rig).with_file_name("other");
        fs::write(&other, "").unwrap();
        host.run(&rig, "uninstall", &[]).assert_done();
        assert!(other.exists(), "{}: another file is in it", host.client);
    }
}

#[test]
fn a_file_that_cannot_be_made_leaves_no_folder() {
    let rig = Rig::new();
    fs::write(rig.outside().join("state"), "no folder").unwrap();
    let run = HOSTS[4].install(&rig, &[]);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(!rig.outside().join(".config").exists());
}

#[test]
fn what_force_replaced_comes_back_if_it_was_someone_elses_and_goes_if_it_was_ours() {
    let host = &HOSTS[0];
    let rig = Rig::new();
    host.put(&rig, b"{}\n");
    host.install(&rig, &[]).assert_done();
    host.install(&rig, &["--dialect", "codex", "--force"]).assert_done();
    let run = host.run(&rig, "uninstall", &[]);
    run.assert_done();
    assert!(!run.err.contains("is there again"), "{run:?}");
    assert_eq!(fs::read_to_string(host.file(&rig)).unwrap(), "{}\n");

    let theirs = r#"{"mcpServers": {"slipstitch": {"command": "other"}}}"#;
    host.put(&rig, theirs.as_bytes());
    host.install(&rig, &["--force"]).assert_done();
    let run = host.run(&rig, "uninstall", &[]);
    run.assert_done();
    assert!(run.err.contains("is there again"), "{run:?}");
    assert_eq!(fs::read_to_string(host.file(&rig)).unwrap(), theirs);
}

#[test]
fn entries_of_others_are_shown_without_their_secrets() {
    let json = |key: &str, entry: Value| json!({key: {"slipstitch": entry}}).to_string();
    let url = "https://me:s3cret@host.example/mcp?key=s3cret#s3cret";
    let cases = [
        (
            6,
            json("mcp", json!({"type": "local", "command": ["other"], "environment": {"KEY": "s3cret"}})),
            "KEY",
        ),
        (
            6,
            json("mcp", json!({"type": "remote", "url": url, "headers": {"KEY": "s3cret"}})),
            "host.example/mcp\"",
        ),
        (6, json("mcp", json!({"url": "x", "oauth": {"clientSecret": "s3cret", "n": 1}})), "clientSecret"),
        (4, json("context_servers", json!({"command": {"path": "p", "env": {"KEY": "s3cret"}}})), "KEY"),
        (0, json("mcpServers", json!({"command": "other", "apiKey": "s3cret"})), "apiKey"),
        (
            1,
            format!(
                "[mcp_servers.slipstitch]\nurl = \"{url}\"\nbearer_token = \"s3cret\"\nhttp_headers = {{ KEY = \"s3cret\" }}\n"
            ),
            "http_headers = { KEY = ",
        ),
        (
            1,
            "[mcp_servers.slipstitch]\ncommand = \"other\"\n[mcp_servers.slipstitch.env]\nKEY = \"s3cret\"\n"
                .into(),
            "KEY",
        ),
        (
            5,
            "extensions:\n  slipstitch:\n    cmd: other\n    envs:\n      KEY: s3cret\n    token: s3cret\n"
                .into(),
            "KEY",
        ),
    ];
    for (host, text, named) in cases {
        let host = &HOSTS[host];
        for arguments in [&["install", "--command", "slipstitch", "--force"][..], &["uninstall", "--force"]] {
            let rig = Rig::new();
            let words = || [&["mcp", arguments[0], "--client", host.client], &arguments[1..]].concat();
            host.put(&rig, text.as_bytes());
            let run = rig.run(words());
            run.assert_done();
            assert!(!format!("{run:?}").contains("s3cret"), "{run:?}");
            let gone = |text: &str| text.lines().any(|line| line.starts_with("- ") && line.contains(named));
            assert!(gone(&run.out), "`{named}` is not shown: {run:?}");
            host.put(&rig, text.as_bytes());
            let (code, report) = rig.json(words());
            assert_eq!(code, 0, "{report}");
            assert!(!report.to_string().contains("s3cret"), "{report}");
            assert!(gone(report["text"].as_str().unwrap()), "{report}");
        }
        // One that comes back is someone else's, too.
        let rig = Rig::new();
        host.put(&rig, text.as_bytes());
        host.install(&rig, &["--force"]).assert_done();
        let back = host.run(&rig, "uninstall", &[]);
        back.assert_done();
        assert!(back.err.contains("is there again") && back.out.contains(named), "{back:?}");
        assert!(!format!("{back:?}").contains("s3cret"), "{back:?}");
    }
}

#[test]
fn a_link_to_nothing_is_called_one() {
    use std::os::unix::fs::symlink;
    let rig = Rig::new();
    symlink(rig.outside().join("dotfiles/claude"), HOSTS[0].file(&rig)).unwrap();
    HOSTS[0].install(&rig, &[]).assert_failed(1, &["is a link to", "dotfiles/claude`, which is not there"]);
    HOSTS[0].run(&rig, "uninstall", &[]).assert_failed(1, &["is a link to", "which is not there"]);
    assert!(HOSTS[0].file(&rig).is_symlink() && !rig.outside().join("dotfiles").exists());
    // The folder may be one as well.
    symlink("gone", rig.outside().join(".config")).unwrap();
    HOSTS[4].install(&rig, &[]).assert_failed(1, &["/.config` is a link to `gone`"]);
    assert!(!rig.outside().join("gone").exists());
}
