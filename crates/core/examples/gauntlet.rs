//! Answers the cases of an edit gauntlet, one JSON object per line, without a disk or a server.
//!
//! A line is `{id, path, before, old, new}`, `{id, path, before, diff}` or `{id, path, before, v4a}`; the answer
//! is `{id, after}` or `{id, error}`. At the end, call times are printed to stderr.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "a program around the engine: it reads stdin, prints and measures time"
)]

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use slipstitch_core::engine::{Engine, Request};
use slipstitch_core::outcome::Status;
use slipstitch_core::path::{Absolute, FilePath};
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::memory::{MemoryJournal, MemoryWorkspace};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    let mut times = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line?)?;
        let start = Instant::now();
        let answer = answer(&case)?;
        times.push(start.elapsed());
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    print_times(&mut times);
    Ok(())
}

/// Runs the call of one case on a new file.
fn answer(case: &Value) -> Result<Value, Box<dyn std::error::Error>> {
    let text = |name: &str| case[name].as_str().unwrap_or_default();
    let files = MemoryWorkspace::default();
    let path = FilePath::parse(text("path"), &[], Absolute::Refused)?;
    files.put(&path, text("before"));
    let journal = MemoryJournal::default();
    let engine = Engine::new(&files, &journal).dialects(slipstitch_dialects::builtin()).session("gauntlet");
    let (tool, arguments) = match (&case["old"], &case["diff"]) {
        (Value::String(old), _) => {
            ("edit_file", json!({"path": text("path"), "old_text": old, "new_text": text("new")}))
        }
        (_, Value::String(diff)) => ("patch", json!({"path": text("path"), "patch": diff})),
        _ => ("patch", json!({"patch": text("v4a")})),
    };
    let request = Request { dialect: "native".into(), tool: tool.into(), arguments };
    let answer = engine.call(request, &mut Auto);
    let after = files.get(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(match answer.report.status() {
        Status::Applied | Status::NoChange => json!({"id": case["id"], "after": after.unwrap_or_default()}),
        _ => json!({"id": case["id"], "error": answer.text}),
    })
}

/// Prints the median, the 95th percentile and the maximum.
fn print_times(times: &mut [Duration]) {
    times.sort();
    if let Some(last) = times.len().checked_sub(1) {
        let at = |percent: usize| times[last * percent / 100].as_secs_f64() * 1000.0;
        eprintln!(
            "{} calls: median {:.3} ms, 95 % {:.3} ms, most {:.3} ms",
            last + 1,
            at(50),
            at(95),
            at(100)
        );
    }
}
