//! Answers the cases of an edit gauntlet, one JSON object per line, without a disk or a server.
//!
//! A line is `{id, path, before, …}` with one request: `old` and `new`, `edits` (a list of those for one call), `diff`
//! or `v4a`. `versions` are texts of the file that the caller has seen, most likely first. The answer is `{id, after}`
//! or `{id, error}`. At the end, call times are printed to stderr.
//!
//! With `--follow`, the answer to a refused request also says what a caller gets that does what the first answer tells
//! it to: `second` is `{resend, candidate, copy, read}`, each `{after}`, `{error}`, or null if the answer offers no such thing.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "a program around the engine: it reads stdin, prints and measures time"
)]

mod rebase;
mod second;
mod session;

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use session::Session;

type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    let follow = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--follow") => true,
        Some(other) => return Err(format!("unknown argument {other}; the only option is --follow").into()),
    };
    let mut out = std::io::stdout().lock();
    let mut times = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line?)?;
        let session = Session::new(&case)?;
        let (tool, arguments) = request(&case);
        let start = Instant::now();
        let answer = session.call(tool, arguments);
        times.push(start.elapsed());
        let mut result = session.result(&answer);
        if follow && result.get("error").is_some() {
            result["second"] = second::calls(&case, &session, tool, &answer.report)?;
        }
        result["id"] = case["id"].clone();
        writeln!(out, "{result}")?;
        out.flush()?;
    }
    print_times(&mut times);
    Ok(())
}

/// The tool and the arguments of a case's request.
fn request(case: &Value) -> (&'static str, Value) {
    let path = &case["path"];
    if let Value::String(old) = &case["old"] {
        return ("edit_file", json!({"path": path, "old_text": old, "new_text": case["new"]}));
    }
    if let Value::Array(edits) = &case["edits"] {
        let edits: Vec<Value> =
            edits.iter().map(|edit| json!({"old_text": edit["old"], "new_text": edit["new"]})).collect();
        return ("edit_file", json!({"path": path, "edits": edits}));
    }
    match &case["diff"] {
        Value::String(diff) => ("patch", json!({"path": path, "patch": diff})),
        _ => ("patch", json!({"patch": case["v4a"]})),
    }
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
