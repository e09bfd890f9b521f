//! Bits of a journal flip, as on a failing disk or in bad memory.
//!
//! Each run flips one bit of a copy of a journal with real changes, and asks the journal for its own check, as `doctor`
//! does. A flip that it does not report must be harmless: every row of every table is as it was.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fastrand::Rng;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::json;
use slipstitch::{Fsync, SqliteJournal, Workspace};

use crate::scratch;
use crate::{Findings, Protection, Scale};

const FILE: &str = "journal.db";

/// The seed of the random bits.
const SEED: u64 = 15;

pub(crate) fn run(scale: Scale, protection: Protection) -> Findings {
    let flips = match scale {
        Scale::Quick => 400,
        Scale::Long => 20_000,
    };
    match flip_bits(flips, protection) {
        Ok(findings) => findings,
        Err(error) => Findings::failed(format!("the rig could not be set up: {error}")),
    }
}

fn flip_bits(flips: usize, protection: Protection) -> Result<Findings, Box<dyn std::error::Error>> {
    let folder = scratch::create_in_memory()?;
    let original = write_journal(folder.path())?;
    let state = folder.path().join("flipped");
    fs::create_dir(&state)?;
    fs::write(state.join(FILE), &original)?;
    let content = read_content(&state.join(FILE))?;
    let mut findings = Findings::default();
    if !is_reported(&state, Protection::On).is_empty() {
        return Ok(Findings::failed("the intact journal is reported as damaged"));
    }
    let bits = original.len() * 8;
    let mut random = Rng::with_seed(SEED);
    // Half of them at regular distances, so that every part of the file is hit.
    let regular = (0..flips / 2).map(|number| number * (bits / (flips / 2)) + number % 8);
    let chosen: Vec<usize> = regular.chain((0..flips / 2).map(|_| random.usize(..bits))).collect();
    for bit in chosen {
        let mut flipped = original.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        for leftover in ["journal.db-wal", "journal.db-shm"] {
            let _ = fs::remove_file(state.join(leftover));
        }
        fs::write(state.join(FILE), &flipped)?;
        findings.count("flipped bits", 1u64);
        let reported = is_reported(&state, protection);
        // Read from a fresh copy: the check may have opened it for writing.
        fs::write(state.join(FILE), &flipped)?;
        let found = read_content(&state.join(FILE));
        match (reported.is_empty(), found) {
            (true, Ok(found)) if found == content => findings.count("harmless: every row is as before", 1u64),
            (true, Ok(_)) => findings.fail(format!("bit {bit}: rows differ, and nothing is reported")),
            (true, Err(error)) => {
                findings.fail(format!("bit {bit}: unreadable ({error}), and nothing is reported"))
            }
            (false, _) if reported.iter().any(|problem| problem.contains("the record of")) => {
                findings.count("reported with the change or proposal", 1u64);
            }
            (false, _) => findings.count("reported otherwise", 1u64),
        }
    }
    Ok(findings)
}

/// What the check of a journal reports. Without protection, only what SQLite's quick check finds counts.
fn is_reported(state: &Path, protection: Protection) -> Vec<String> {
    match protection {
        Protection::On => {
            let check = SqliteJournal::open(state, "/").and_then(|journal| journal.check());
            check.map_or_else(|error| vec![error.to_string()], |check| check.damage)
        }
        Protection::Off => {
            let check = Connection::open(state.join(FILE)).and_then(|connection| {
                connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
            });
            match check {
                Ok(verdict) if verdict == "ok" => Vec::new(),
                Ok(problem) => vec![problem],
                Err(error) => vec![error.to_string()],
            }
        }
    }
}

/// Every row of every table, as text.
fn read_content(file: &Path) -> rusqlite::Result<String> {
    let connection = Connection::open(file)?;
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    let names: Vec<String> =
        connection.prepare(tables)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut content = String::new();
    for name in names {
        let mut select = connection.prepare(&format!("SELECT * FROM \"{name}\" NOT INDEXED"))?;
        let columns = select.column_count();
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let _ = write!(content, "{name}");
            for column in 0..columns {
                let _ = match row.get_ref(column)? {
                    ValueRef::Null => write!(content, "|-"),
                    ValueRef::Integer(number) => write!(content, "|{number}"),
                    ValueRef::Real(number) => write!(content, "|{number:?}"),
                    ValueRef::Text(text) => write!(content, "|{:?}", text),
                    ValueRef::Blob(bytes) => write!(content, "|x{bytes:?}"),
                };
            }
            content.push('\n');
        }
    }
    Ok(content)
}

/// Makes changes of all kinds and returns the bytes of the journal.
fn write_journal(folder: &Path) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let (root, state) = (folder.join("root"), folder.join("state"));
    fs::create_dir(&root)?;
    let config = folder.join("config.toml");
    fs::write(&config, "")?;
    for session in ["a", "b"] {
        let builder = Workspace::builder(&root).state_dir(&state).config(&config).fsync(Fsync::Off);
        let workspace = builder.session(session).agent("rig").open()?;
        let call =
            |tool: &str, arguments: serde_json::Value| workspace.call("native", tool, arguments).report;
        for number in 0..12 {
            let path = format!("{session}/file{}.txt", number % 4);
            let lines: String = (0..40).map(|line| format!("line {line} of {path}\n")).collect();
            call("write_file", json!({"path": path, "content": lines, "mode": "create"}));
            call("read_file", json!({"path": path}));
            let (old, new) = (format!("line {number} of"), format!("LINE {number}, changed, of"));
            call("edit_file", json!({"path": path, "old_text": old, "new_text": new, "description": "why"}));
            if number % 4 == 3 {
                call("undo_edit", json!({}));
            }
            // Refused, and remembered with its candidates.
            call(
                "edit_file",
                json!({"path": path, "old_text": format!("line 3{number} off {path}"), "new_text": "x"}),
            );
        }
        // Waits for review, because the path is protected.
        call(
            "write_file",
            json!({"path": format!("{session}/Jenkinsfile"), "content": "x\n", "mode": "create"}),
        );
        let moved = format!("--- a/{session}/file0.txt\n+++ /dev/null\n");
        call("patch", json!({"patch": moved}));
        let outside = root.join(session).join("file1.txt");
        fs::write(&outside, fs::read_to_string(&outside)?.replace("line 20", "by hand"))?;
        call(
            "edit_lines",
            json!({"path": format!("{session}/file1.txt"), "start_line": 2, "end_line": 2, "new_text": "2\n"}),
        );
    }
    // Closing the last connection moves everything from the log into the database.
    Ok(fs::read(state.join(FILE))?)
}
