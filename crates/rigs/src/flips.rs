//! Bits of a journal flip, as on a failing disk or in bad memory.
//!
//! Each run flips one bit of a copy of a journal with real changes, or of the log that a killed process leaves next to it, and
//! asks the journal for its own check, as `doctor` does. A flip that it does not report must be harmless: every row of
//! every table is as it was, or in the log as if its last page had not been written any more.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use fastrand::Rng;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::json;
use slipstitch::{Fsync, SqliteJournal, Workspace};

use crate::scratch;
use crate::{Findings, Protection, Scale};

const FILE: &str = "journal.db";
const LOG: &str = "journal.db-wal";
const LOCK: &str = "journal.lock";
/// The bytes before each page of the log.
const FRAME_HEADER: usize = 24;

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
    let written = write_journal(folder.path())?;
    let state = folder.path().join("flipped");
    fs::create_dir(&state)?;
    let mut findings = Findings::default();
    let closed = Journal { state: &state, database: written.closed, log: Vec::new() };
    let killed = Journal { state: &state, database: written.killed, log: written.log };
    for journal in [&closed, &killed] {
        journal.write()?;
        if !is_reported(&state, Protection::On).is_empty() {
            return Ok(Findings::failed("an intact journal is reported as damaged"));
        }
    }
    closed.flip(Target::Database, flips, protection, &mut findings)?;
    killed.flip(Target::Log, flips / 2, protection, &mut findings)?;
    Ok(findings)
}

/// The file in which bits flip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Database,
    /// SQLite's log, as a killed process leaves it.
    Log,
}

/// The files of a journal that nobody has open.
struct Journal<'a> {
    state: &'a Path,
    database: Vec<u8>,
    /// Empty if the journal was closed properly.
    log: Vec<u8>,
}

impl Journal<'_> {
    fn write(&self) -> io::Result<()> {
        for leftover in ["journal.db-wal", "journal.db-shm", "journal.damage"] {
            let _ = fs::remove_file(self.state.join(leftover));
        }
        fs::write(self.state.join(FILE), &self.database)?;
        if self.log.is_empty() { Ok(()) } else { fs::write(self.state.join(LOG), &self.log) }
    }

    fn content(&self) -> io::Result<rusqlite::Result<String>> {
        self.write()?;
        Ok(read_content(&self.state.join(FILE)))
    }

    /// The rows that are left if the last page of the log was never written.
    fn content_without_last_page(&self) -> io::Result<Option<String>> {
        let page_size =
            self.database.get(16..18).map_or(0, |size| usize::from(size[0]) << 8 | usize::from(size[1]));
        let Some(length) = self.log.len().checked_sub(page_size + FRAME_HEADER) else { return Ok(None) };
        let cut = Self { log: self.log[..length].to_vec(), database: self.database.clone(), ..*self };
        Ok(cut.content()?.ok())
    }

    fn flip(
        &self,
        target: Target,
        flips: usize,
        protection: Protection,
        findings: &mut Findings,
    ) -> io::Result<()> {
        let content = self.content()?.map_err(io::Error::other)?;
        let interrupted = self.content_without_last_page()?;
        let (bytes, name) = match target {
            Target::Database => (&self.database, "database"),
            Target::Log => (&self.log, "log"),
        };
        let bits = bytes.len() * 8;
        let mut random = Rng::with_seed(SEED);
        // Half of them at regular distances, so that every part of the file is hit.
        let regular = (0..flips / 2).map(|number| number * (bits / (flips / 2)) + number % 8);
        let chosen: Vec<usize> = regular.chain((0..flips / 2).map(|_| random.usize(..bits))).collect();
        for bit in chosen {
            let mut flipped = Self { database: self.database.clone(), log: self.log.clone(), ..*self };
            let bytes = match target {
                Target::Database => &mut flipped.database,
                Target::Log => &mut flipped.log,
            };
            bytes[bit / 8] ^= 1 << (bit % 8);
            flipped.write()?;
            wait_until_closed(self.state)?;
            findings.count(format!("flipped bits of the {name}"), 1u64);
            let reported = is_reported(self.state, protection);
            // Read from a fresh copy: the check may have opened it for writing.
            let found = flipped.content()?;
            match (reported.is_empty(), found) {
                (true, Ok(found)) if found == content => {
                    findings.count(format!("{name}: harmless, every row is as before"), 1u64);
                }
                (true, Ok(found)) if Some(&found) == interrupted.as_ref() => {
                    findings.count(format!("{name}: in the last page, as if it was never written"), 1u64);
                }
                (true, Ok(_)) => {
                    findings.fail(format!("bit {bit} of the {name}: rows differ, and nothing is reported"));
                }
                (true, Err(error)) => findings
                    .fail(format!("bit {bit} of the {name}: unreadable ({error}), and nothing is reported")),
                (false, _) if reported.iter().any(|problem| problem.contains("the record of")) => {
                    findings.count(format!("{name}: reported with the change or proposal"), 1u64);
                }
                (false, _) => findings.count(format!("{name}: reported otherwise"), 1u64),
            }
        }
        Ok(())
    }
}

/// Waits until nobody holds the lock of the journal that the last check opened. A process that another test starts at the same
/// time has a copy of that handle until it becomes its program, and the next check would take it for someone who uses
/// the journal: the log of a journal in use is not examined.
fn wait_until_closed(state: &Path) -> io::Result<()> {
    match File::open(state.join(LOCK)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        lock => lock?.lock(),
    }
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

/// The bytes of a journal with changes of all kinds.
struct Written {
    /// The database after the last process closed it, which moves everything from the log into it.
    closed: Vec<u8>,
    /// The database and the log while it was open, as a kill would leave them.
    killed: Vec<u8>,
    log: Vec<u8>,
}

fn write_journal(folder: &Path) -> Result<Written, Box<dyn std::error::Error>> {
    let (root, state) = (folder.join("root"), folder.join("state"));
    fs::create_dir(&root)?;
    let config = folder.join("config.toml");
    fs::write(&config, "")?;
    let (mut killed, mut log) = (Vec::new(), Vec::new());
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
        (killed, log) = (fs::read(state.join(FILE))?, fs::read(state.join(LOG))?);
    }
    Ok(Written { closed: fs::read(state.join(FILE))?, killed, log })
}
