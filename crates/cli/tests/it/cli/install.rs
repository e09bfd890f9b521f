//! `mcp install` and `mcp uninstall`: every host, with every kind of settings file.

mod detection;
mod files;
mod hosts;
mod permissions;
mod secrets;
mod uninstall;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::rig::{Rig, Run};
use hosts::{HOSTS, host};

#[test]
fn every_host_is_tested_and_documented() {
    let tested: Vec<&str> = HOSTS.iter().map(|host| host.client).collect();
    let supported: Vec<&str> = slipstitch_install::HOSTS.iter().map(|host| host.id).collect();
    assert_eq!(tested, supported);
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mcp-install.md");
    let document = fs::read_to_string(document).unwrap();
    for host in HOSTS {
        let row = document.lines().find(|line| line.starts_with(&format!("| `{}` |", host.client)));
        let row = row.unwrap_or_else(|| panic!("{} is not documented", host.client));
        let project = host.project.map_or("none".into(), |file| format!("`{file}`"));
        assert!(row.ends_with(&format!("| {project} | `{}` |", host.key)), "{row}");
    }
}

#[test]
fn install_creates_the_file_and_uninstall_deletes_it() {
    for host in HOSTS {
        let rig = Rig::new();
        let run = host.install(&rig, &[]);
        run.assert_done();
        assert!(run.err.contains("slipstitch mcp uninstall --client"), "{run:?}");
        let text = fs::read_to_string(host.file(&rig)).unwrap();
        assert_eq!(host.document(&text), json!({host.key: {"slipstitch": host.entry(&[])}}), "{text}");
        host.run(&rig, "uninstall", &[]).assert_done();
        assert!(!host.file(&rig).exists(), "{}", host.client);
    }
}

#[test]
fn an_existing_entry_is_replaced_only_by_force() {
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
        let now = host.document(&fs::read_to_string(host.file(&rig)).unwrap());
        assert_eq!(now[host.key]["slipstitch"], host.entry(&["--dialect", "codex"]));
    }
}

#[test]
fn project_settings_are_separate_from_the_user_s() {
    for host in HOSTS {
        let rig = Rig::new();
        let run = host.run(&rig, "install", &["--project"]);
        let Some(project) = host.project else {
            run.assert_failed(2, &["no project settings file", "--project"]);
            continue;
        };
        run.assert_done();
        assert!(!host.file(&rig).exists(), "the user's file is untouched");
        assert!(run.err.contains("on the PATH"), "{run:?}");
        // A project's file is shared with other machines, so it must not contain a path of this one.
        let entry = &mut host.entry(&[]);
        let text = rig.get(project);
        let document = match host.client {
            // The project's file is JSON, with a mapping.
            "continue" => {
                entry.as_object_mut().unwrap().remove("name");
                serde_json::from_str(&text).unwrap()
            }
            _ => host.document(&text),
        };
        assert_eq!(document[host.key]["slipstitch"], *entry);
        host.run(&rig, "uninstall", &["--project"]).assert_done();
        assert!(!rig.root().join(project).exists());
        let elsewhere = rig.outside().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let root = elsewhere.to_str().unwrap();
        let run = host.run(&rig, "install", &["--project", "--root", root]);
        run.assert_done();
        let command = format!("uninstall --client {} --project --root {root}", host.client);
        assert!(run.err.contains(&command), "{run:?}");
        assert!(elsewhere.join(project).exists(), "`--root` is the project");
    }
}

#[test]
fn print_shows_the_entry_and_writes_nothing() {
    for host in HOSTS {
        let rig = Rig::new();
        let run = host.install(&rig, &["--print", "--name", "x", "--", "--mode", "restricted"]);
        run.assert_done();
        let mut expected = host.entry(&["--mode", "restricted"]);
        if ["goose", "continue"].contains(&host.client) {
            expected["name"] = "x".into();
        }
        assert_eq!(host.document(&run.out), json!({host.key: {"x": expected}}), "{run:?}");
        assert!(run.err.contains(host.user), "{run:?}");
        assert!(!host.file(&rig).exists() && !rig.outside().join("state").exists());
    }
}

#[test]
fn roots_become_absolute() {
    let host = host("claude-code");
    let rig = Rig::new();
    fs::create_dir(rig.root().join("sub")).unwrap();
    host.install(&rig, &["--root", "sub"]).assert_done();
    let text = fs::read_to_string(host.file(&rig)).unwrap();
    let sub = rig.root().join("sub").canonicalize().unwrap();
    let expected = host.entry(&["--root", sub.to_str().unwrap()]);
    assert_eq!(host.document(&text)["mcpServers"]["slipstitch"], expected);
    host.install(&rig, &["--root", "gone", "--name", "y"]).assert_failed(2, &["gone", "--root"]);
    host.install(&rig, &["--dialect", "klingon", "--name", "y"]).assert_failed(2, &["klingon", "`native`"]);
    host.install(&rig, &["--name", "a b"]).assert_failed(2, &["letters"]);
}

#[test]
fn a_program_outside_the_path_is_named_by_its_full_path() {
    let host = host("claude-code");
    let rig = Rig::new();
    let run = host.run(&rig, "install", &[]);
    run.assert_done();
    let text = fs::read_to_string(host.file(&rig)).unwrap();
    let command = host.document(&text)["mcpServers"]["slipstitch"]["command"].as_str().unwrap().to_owned();
    let program = assert_cmd::cargo::cargo_bin!("slipstitch").canonicalize().unwrap();
    assert_eq!(command, program.to_str().unwrap());
    let rig = Rig::new();
    let mut command = rig.command();
    command.env("PATH", program.parent().unwrap()).args(["mcp", "install", "--client", "claude-code"]);
    Run::of(&mut command).assert_done();
    let text = fs::read_to_string(host.file(&rig)).unwrap();
    assert_eq!(host.document(&text)["mcpServers"]["slipstitch"]["command"], "slipstitch");
}

#[test]
fn json_output_is_one_object() {
    let rig = Rig::new();
    let (code, report) = rig.json(["mcp", "install", "--client", "zed"]);
    assert_eq!((code, report["code"].as_str()), (0, Some("installed")), "{report}");
    let (code, report) = rig.json(["mcp", "uninstall", "--client", "zed"]);
    assert_eq!((code, report["code"].as_str()), (0, Some("uninstalled")), "{report}");
    rig.run(["mcp", "install", "--client", "nope"]).assert_failed(2, &["claude-code", "opencode"]);
}

#[test]
fn rejects_what_the_server_would_reject_with_the_same_message() {
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
    for (index, host) in HOSTS.iter().enumerate() {
        // The check is the same for all hosts.
        for extra in refused.iter().take(if index == 0 { refused.len() } else { 1 }) {
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
                let arguments: Vec<&str> = extra.iter().copied().filter(|word| *word != "--").collect();
                let server = rig.run(["mcp"].iter().chain(&arguments));
                let first_line = |run: &Run| run.err.lines().next().unwrap_or_default().to_owned();
                assert_eq!(first_line(&run), first_line(&server), "{words:?}");
                let left: Vec<_> =
                    fs::read_dir(rig.outside()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
                assert_eq!(left, ["root"], "{words:?}");
            }
        }
    }
}

#[test]
fn rejects_arguments_that_a_host_cannot_use() {
    let host = host("claude-code");
    let rig = Rig::new();
    for (words, reason) in [
        (&["--http", "127.0.0.1:0"][..], "standard input and output"),
        (&["uninstall", "--client", "zed"], "`install` or `uninstall`"),
        (&["--help"], "help"),
    ] {
        let run = host.install(&rig, &[&["--"], words].concat());
        run.assert_failed(2, &["a host cannot start the server", reason, "Nothing was written"]);
        assert!(!host.file(&rig).exists());
    }
}

/// The files below a directory with their content.
fn snapshot(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(snapshot(&path)),
            false => files.push((path.clone(), fs::read(&path).unwrap())),
        }
    }
    files.sort();
    files
}

/// The files of the home directory, without the program's own state.
fn home(rig: &Rig) -> Vec<(PathBuf, Vec<u8>)> {
    let state = rig.outside().join("state");
    snapshot(rig.outside()).into_iter().filter(|(path, _)| !path.starts_with(&state)).collect()
}
