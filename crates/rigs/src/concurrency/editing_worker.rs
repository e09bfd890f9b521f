//! A process that edits through Slipstitch.

use std::fs::OpenOptions;
use std::io::Write;
use std::time::Instant;

use fastrand::Rng;
use serde_json::json;
use slipstitch::core::outcome::Status;

use super::client::Client;
use super::log::{Log, count_acknowledged};
use super::task::{ANCHOR, Task, progress_file};
use crate::sampling::sample_in_order;

/// Makes the edits of a task, logging each before the call and after the answer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let task = Task::from_args(args)?;
    let deadline = task.deadline();
    let failed = |error: std::io::Error| format!("cannot write the log: {error}");
    let mut log = Log::open(&task.log()).map_err(failed)?;
    let progress = OpenOptions::new().create(true).append(true).open(progress_file(&task.folder));
    let mut progress = progress.map_err(failed)?;
    let client = Client::open(&task)?;
    // The process id distinguishes its tokens from those of the process it replaces.
    let id = std::process::id();
    let mut random = Rng::with_seed(u64::from(id));
    let mut done = count_acknowledged(&task.log());
    for number in 0.. {
        if done >= task.edits {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(format!("{} made {done} of {} edits in {} s", task.name, task.edits, task.seconds));
        }
        let token = format!("{}-{id}-{number}", task.name);
        let edit = Edit::choose(&task, &mut random);
        let files: Vec<&str> = edit.files.iter().map(String::as_str).collect();
        log.attempt(&token, &files).map_err(failed)?;
        let (tool, arguments) = edit.tool_call(&token);
        let report = client.call(tool, arguments);
        match report.change {
            Some(change) if report.status() == Status::Applied => {
                done += 1;
                log.acknowledged(&token, &change.to_string()).map_err(failed)?;
                progress.write_all(b".").map_err(failed)?;
            }
            _ => log.refused(&token, report.code(), &report.message).map_err(failed)?,
        }
    }
    Ok(())
}

/// An edit that adds a token.
struct Edit {
    place: Place,
    files: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the anchor.
    Anchor,
    /// At the end of the file.
    End,
    /// Before the anchors of two files, in one change.
    TwoAnchors,
}

impl Edit {
    fn choose(task: &Task, random: &mut Rng) -> Self {
        let place = match random.usize(..10) {
            0 | 1 => Place::End,
            2..=4 if task.exclusive_files().len() > 1 => Place::TwoAnchors,
            _ => Place::Anchor,
        };
        let files = match place {
            Place::TwoAnchors => sample_in_order(random, task.exclusive_files().to_vec(), 2),
            _ => sample_in_order(random, task.files.clone(), 1),
        };
        Self { place, files }
    }

    /// The tool and its arguments.
    fn tool_call(&self, token: &str) -> (&'static str, serde_json::Value) {
        let first = self.files.first().map_or("", String::as_str);
        match self.place {
            Place::Anchor => {
                let new = format!("{token}\n{ANCHOR}");
                ("edit_file", json!({"path": first, "old_text": ANCHOR, "new_text": new}))
            }
            Place::End => {
                ("write_file", json!({"path": first, "content": format!("{token}\n"), "mode": "append"}))
            }
            Place::TwoAnchors => {
                let section =
                    |path: &String| format!("*** Update File: {path}\n@@\n-{ANCHOR}\n+{token}\n+{ANCHOR}\n");
                let sections: String = self.files.iter().map(section).collect();
                ("patch", json!({"patch": format!("*** Begin Patch\n{sections}*** End Patch\n")}))
            }
        }
    }
}
