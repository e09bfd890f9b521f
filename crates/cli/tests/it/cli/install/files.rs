//! Settings files of every kind, and those that cannot be edited.

use std::fs;

use serde_json::json;

use super::super::rig::Rig;
use super::hosts::{Format, HOSTS, host, one_per_kind};

#[test]
fn install_keeps_other_bytes_and_uninstall_restores_the_file() {
    for host in one_per_kind() {
        for (kind, before) in host.files() {
            let rig = Rig::new();
            let case = format!("{}, {kind}: {before:?}", host.client);
            host.write_file(&rig, before.as_bytes());
            let run = host.install(&rig, &["--dialect", "native,codex"]);
            assert_eq!(run.code, 0, "{case}: {run:?}");
            let after = fs::read_to_string(host.file(&rig)).unwrap();
            assert_only_added(&before, &after);
            let without_bom = |text: &str| text.trim_start_matches('\u{feff}').to_owned();
            let mut expected = match without_bom(&before) {
                text if text.trim().is_empty() => json!({}),
                text => host.document(&text),
            };
            if expected[host.key].is_array() {
                expected[host.key] = json!({});
            }
            expected[host.key]["slipstitch"] = host.entry(&["--dialect", "native,codex"]);
            assert_eq!(host.document(&without_bom(&after)), expected, "{case}");
            host.run(&rig, "uninstall", &[]).assert_done();
            assert_eq!(fs::read(host.file(&rig)).unwrap(), before.as_bytes(), "{case}");
        }
    }
}

/// Asserts that `after` contains every byte of `before`, in the same order.
fn assert_only_added(before: &str, after: &str) {
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
fn an_invalid_file_is_left_alone_and_the_entry_shown() {
    for host in HOSTS {
        let broken: &[&[u8]] = match host.format {
            Format::Json => &[
                b"{\"a\": ",
                b"{\"a\": 1 \"b\": 2}",
                b"[1]",
                b"\"x\"",
                b"{'a': 1}",
                b"{\"a\": \"\xff\"}",
                b"{\"a\": 1, \"a\": 2}",
            ],
            Format::Toml => &[b"a = ", b"[a\n", b"a = 1\na = 2\n", b"a = \"\xff\"\n"],
            Format::Yaml => &[b"a: [1", b"- 1\n", b"a: b: c\n", b"a: 1\n---\nb: 2\n", b"a: \"\xff\"\n"],
        };
        for text in broken {
            let rig = Rig::new();
            host.write_file(&rig, text);
            let run = host.install(&rig, &[]);
            run.assert_failed(1, &["cannot be edited safely", "by hand", "slipstitch", host.key]);
            host.run(&rig, "uninstall", &[]).assert_failed(1, &["cannot be edited safely", host.key]);
            assert_eq!(fs::read(host.file(&rig)).unwrap(), *text, "{}", host.client);
        }
    }
}

#[test]
fn symlinked_settings_stay_symlinked() {
    let host = host("claude-code");
    let rig = Rig::new();
    let kept = rig.outside().join("dotfiles");
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("claude"), "{}\n").unwrap();
    std::os::unix::fs::symlink(kept.join("claude"), host.file(&rig)).unwrap();
    host.install(&rig, &[]).assert_done();
    assert!(host.file(&rig).is_symlink());
    assert!(fs::read_to_string(kept.join("claude")).unwrap().contains("slipstitch"));
    host.run(&rig, "uninstall", &[]).assert_done();
    assert_eq!(fs::read_to_string(kept.join("claude")).unwrap(), "{}\n");
}

#[test]
fn warns_about_comments_where_the_host_reads_plain_json() {
    for (host, warned) in [(host("claude-code"), true), (host("vscode"), false)] {
        let rig = Rig::new();
        host.write_file(&rig, b"{\n  // mine\n}\n");
        let run = host.install(&rig, &[]);
        run.assert_done();
        assert_eq!(run.err.contains("plain JSON"), warned, "{run:?}");
    }
}

#[test]
fn a_failed_installation_leaves_no_directory() {
    let rig = Rig::new();
    fs::write(rig.outside().join("state"), "not a directory").unwrap();
    let run = host("zed").install(&rig, &[]);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(!rig.outside().join(".config").exists());
}

#[test]
fn dangling_symlinks_are_refused() {
    use std::os::unix::fs::symlink;
    let claude = host("claude-code");
    let rig = Rig::new();
    symlink(rig.outside().join("dotfiles/claude"), claude.file(&rig)).unwrap();
    claude
        .install(&rig, &[])
        .assert_failed(1, &["is a symlink to", "dotfiles/claude`, which does not exist"]);
    claude.run(&rig, "uninstall", &[]).assert_failed(1, &["is a symlink to", "which does not exist"]);
    assert!(claude.file(&rig).is_symlink() && !rig.outside().join("dotfiles").exists());
    // So are dangling directories.
    symlink("gone", rig.outside().join(".config")).unwrap();
    host("zed").install(&rig, &[]).assert_failed(1, &["/.config` is a symlink to `gone`"]);
    assert!(!rig.outside().join("gone").exists());
}

#[test]
fn settings_that_are_not_files_are_refused() {
    let gemini = host("gemini");
    let rig = Rig::new();
    fs::create_dir_all(gemini.file(&rig)).unwrap();
    gemini.install(&rig, &[]).assert_failed(3, &["settings.json` cannot be used: it is a directory"]);
    fs::remove_dir(gemini.file(&rig)).unwrap();
    // Nothing waits for somebody to write into the pipe.
    let made = std::process::Command::new("mkfifo").arg(gemini.file(&rig)).status().unwrap();
    assert!(made.success());
    for command in ["install", "uninstall"] {
        let run = gemini.run(&rig, command, &[]);
        run.assert_failed(3, &["settings.json` cannot be used: it is not a regular file"]);
    }
}
