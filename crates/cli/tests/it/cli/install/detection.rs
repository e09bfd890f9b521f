//! Hosts that are found, shown and asked.

use std::fs;
use std::path::PathBuf;

use super::super::rig::{Rig, Run};
use super::home;
use super::hosts::{HOSTS, host};

#[test]
fn dry_runs_show_the_change_and_write_nothing() {
    for host in HOSTS {
        let rig = Rig::new();
        let run = host.install(&rig, &["--dry-run"]);
        run.assert_done();
        assert!(
            run.err.contains("Would add") && run.out.lines().all(|line| line.starts_with("+ ")),
            "{run:?}"
        );
        assert!(home(&rig).is_empty() && !rig.outside().join("state").exists(), "{}", host.client);
        host.install(&rig, &[]).assert_done();
        let installed = home(&rig);
        let run = host.run(&rig, "uninstall", &["--dry-run"]);
        run.assert_done();
        assert!(
            run.err.contains("Would remove") && run.out.lines().all(|line| line.starts_with("- ")),
            "{run:?}"
        );
        assert_eq!(home(&rig), installed);
    }
}

#[test]
fn without_a_client_the_hosts_that_are_there_are_found() {
    let rig = Rig::new();
    rig.run(["mcp", "install", "--all"]).assert_failed(1, &["no agent host was found", "--client"]);
    for folder in [".cursor", ".config/zed", ".codex"] {
        fs::create_dir_all(rig.outside().join(folder)).unwrap();
    }
    // There is no terminal in the test.
    let run = rig.run(["mcp", "install"]);
    run.assert_failed(2, &["codex, cursor, zed", "--all", "--dry-run"]);
    assert!(home(&rig).is_empty());
    let (code, planned) = rig.json(["mcp", "install", "--all", "--dry-run"]);
    let hosts: Vec<&str> =
        planned["hosts"].as_array().unwrap().iter().map(|host| host["host"].as_str().unwrap()).collect();
    assert_eq!((code, hosts.as_slice()), (0, &["codex", "cursor", "zed"][..]));
    // Each part of the output says which file it is about.
    let run = rig.run(["mcp", "install", "--all", "--dry-run"]);
    let named: Vec<&str> = run.out.lines().filter(|line| line.starts_with("# ")).collect();
    let ends = [".codex/config.toml", ".cursor/mcp.json", ".config/zed/settings.json"];
    assert!(named.len() == 3 && named.iter().zip(ends).all(|(line, end)| line.ends_with(end)), "{run:?}");
    assert!(home(&rig).is_empty());
    rig.run(["mcp", "install", "--all"]).assert_done();
    assert_eq!(home(&rig).len(), 3);
    // One that is refused does not stop the others.
    rig.run(["mcp", "uninstall", "--client", "codex,zed"]).assert_done();
    fs::write(rig.outside().join(".codex/config.toml"), "[broken").unwrap();
    let run = rig.run(["mcp", "install", "--all"]);
    assert_eq!(run.code, 1, "{run:?}");
    let said = ["cannot be edited safely", "already has this entry", "settings.json` for Zed"];
    assert!(said.iter().all(|text| run.err.contains(text)), "{run:?}");
    assert!(rig.outside().join(".config/zed/settings.json").exists());
    fs::remove_file(rig.outside().join(".codex/config.toml")).unwrap();
    rig.run(["mcp", "uninstall", "--all"]).assert_done();
    assert!(home(&rig).is_empty());
}

#[test]
fn a_program_on_the_path_shows_that_a_host_is_there() {
    let rig = Rig::new();
    let programs = rig.outside().join("bin");
    fs::create_dir(&programs).unwrap();
    fs::write(programs.join("gemini"), "").unwrap();
    let mut command = rig.command();
    command.env("PATH", &programs).args(["mcp", "install", "--all", "--scope", "project"]);
    Run::of(&mut command).assert_done();
    assert!(rig.root().join(".gemini/settings.json").exists());
}

/// A host's program that prints a list.
#[cfg(unix)]
fn fake_host(rig: &Rig, name: &str, script: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let programs = rig.outside().join("bin");
    fs::create_dir_all(&programs).unwrap();
    fs::write(programs.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(programs.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    programs
}

#[test]
#[cfg(unix)]
fn doctor_asks_each_host_that_has_the_server() {
    for (client, program, script, code, said) in [
        (
            "claude-code",
            "claude",
            "[ \"$*\" = 'mcp list' ] && echo 'slipstitch: x mcp - ✓ Connected'",
            0,
            "is connected",
        ),
        ("claude-code", "claude", "echo 'slipstitch: x mcp - ✗ Failed to connect'", 3, "Failed to connect"),
        ("claude-code", "claude", "echo 'No MCP servers configured'", 3, "does not list the server"),
        ("codex", "codex", "echo '[{\"name\": \"slipstitch\"}]'", 0, "lists the server"),
        ("zed", "zed", "exit 1", 0, "has no command that lists its servers"),
    ] {
        let rig = Rig::new();
        let programs = fake_host(&rig, program, script);
        host(client).install(&rig, &[]).assert_done();
        let mut command = rig.command();
        command.env("PATH", format!("{}:/usr/bin:/bin", programs.display())).arg("doctor");
        let run = Run::of(&mut command);
        assert_eq!(run.code, code, "{run:?}");
        assert!(run.out.contains(said), "{run:?}");
    }
    let rig = Rig::new();
    let run = rig.run(["doctor"]);
    assert!(!run.out.contains("Claude Code"), "a host without the server is not asked: {run:?}");
}
