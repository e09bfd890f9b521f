//! `slipstitch doctor` on changes that were cut short in another root.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use slipstitch::SqliteJournal;
use slipstitch::core::ports::journal::{Journal, Kind, Origin, Record};

use crate::rig::{Rig, Run};

/// Leaves a change behind that was begun in `begun` and is about a file in `other`, too.
fn cut_short(state: &Path, begun: &Path, other: &Path) {
    let before = slipstitch::core::text::ContentHash::of(b"").to_string();
    let step =
        serde_json::json!({"path": other.join("a.txt"), "kind": "remove", "aside": "x", "before": before});
    let intent = serde_json::json!({"steps": [step], "folders": []});
    let record = Record {
        intent: Some(intent.to_string()),
        origin: Origin { session: "s".into(), agent: None, dialect: "native".into(), tool: "t".into() },
        kind: Kind::Edit,
        description: None,
        approval: "auto".into(),
        files: Vec::new(),
        diff: String::new(),
    };
    let journal = SqliteJournal::open(state, begun.to_str().unwrap()).unwrap();
    journal.begin(&record).unwrap();
}

/// The command that is named, as a shell splits it.
fn command(run: &Run) -> Vec<String> {
    let line =
        run.out.lines().find(|line| line.contains("to settle it: ")).unwrap_or_else(|| panic!("{run:?}"));
    let command = line.split("to settle it: ").nth(1).unwrap();
    let script = format!("printf '%s\\0' {command}");
    let words = Command::new("bash").args(["-c", &script]).output().unwrap().stdout;
    let words = String::from_utf8(words).unwrap();
    words.trim_end_matches('\0').split('\0').map(ToOwned::to_owned).collect()
}

fn folder(rig: &Rig, name: &str) -> PathBuf {
    let folder = rig.outside().join(name);
    fs::create_dir(&folder).unwrap();
    folder.canonicalize().unwrap()
}

#[test]
fn the_command_for_a_change_elsewhere_can_be_used_as_it_is() {
    for name in ["plain", "e 1", "it's `x` $(y)", "two\nlines"] {
        let rig = Rig::new();
        let (here, begun, state) =
            (rig.root().canonicalize().unwrap(), folder(&rig, name), folder(&rig, "s t"));
        cut_short(&state, &begun, &here);
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let run = rig.run(["doctor", "--state-dir", &text(&state)]);
        assert_eq!(run.code, 3, "{run:?}");
        let words = [
            "slipstitch",
            "--root",
            &text(&begun),
            "--root",
            &text(&here),
            "--state-dir",
            &text(&state),
            "doctor",
        ];
        assert_eq!(command(&run), words, "{run:?}");
        // One that is open already is named once.
        let run = rig.run(["doctor", "--state-dir", &text(&state), "--root", ".", "--root", &text(&begun)]);
        assert_eq!(command(&run), words, "{run:?}");
    }
}

#[test]
fn a_state_folder_that_was_not_given_is_not_named() {
    let rig = Rig::new();
    let (here, begun) = (rig.root().canonicalize().unwrap(), folder(&rig, "begun"));
    cut_short(&folder(&rig, "state"), &begun, &here);
    let words = ["slipstitch", "--root", begun.to_str().unwrap(), "--root", here.to_str().unwrap(), "doctor"];
    assert_eq!(command(&rig.run(["doctor"])), words);
}
