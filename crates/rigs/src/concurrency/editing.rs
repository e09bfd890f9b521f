//! A process that edits through Slipstitch.

use std::time::Instant;

use serde_json::json;
use slipstitch::core::outcome::Status;

use super::diary::{Diary, acknowledged};
use super::hand::Hand;
use super::task::{ANCHOR, Task};
use crate::random::Random;

/// Makes the edits of a task, writing each down before it is asked for and after it is answered.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let task = Task::from_words(words)?;
    let deadline = task.deadline();
    let failed = |error: std::io::Error| format!("the diary cannot be written: {error}");
    let mut diary = Diary::open(&task.diary()).map_err(failed)?;
    let hand = Hand::open(&task)?;
    // The number of the process makes its tokens differ from those of the one that it takes over from.
    let own = std::process::id();
    let mut random = Random::new(u64::from(own));
    let mut done = acknowledged(&task.diary());
    for number in 0.. {
        if done >= task.edits {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(format!("{} made {done} of {} edits in {} s", task.name, task.edits, task.seconds));
        }
        let token = format!("{}-{own}-{number}", task.name);
        let edit = Edit::choose(&task, &mut random);
        let files: Vec<&str> = edit.files.iter().map(String::as_str).collect();
        diary.will(&token, &files).map_err(failed)?;
        let (tool, arguments) = edit.call(&token);
        let report = hand.call(tool, arguments);
        match report.change {
            Some(change) if report.status() == Status::Applied => {
                done += 1;
                diary.yes(&token, &change.to_string()).map_err(failed)?;
            }
            _ => diary.no(&token, report.code()).map_err(failed)?,
        }
    }
    Ok(())
}

/// One edit that adds a token.
struct Edit {
    kind: Kind,
    files: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// In front of the anchor.
    Insert,
    /// At the end.
    Append,
    /// In front of the anchors of two files, or of neither.
    Pair,
}

impl Edit {
    fn choose(task: &Task, random: &mut Random) -> Self {
        let kind = match random.below(10) {
            0 | 1 => Kind::Append,
            2..=4 if task.own_files().len() > 1 => Kind::Pair,
            _ => Kind::Insert,
        };
        let files = match kind {
            Kind::Pair => random.sample(task.own_files().to_vec(), 2),
            _ => random.sample(task.files.clone(), 1),
        };
        Self { kind, files }
    }

    /// The tool call that makes it.
    fn call(&self, token: &str) -> (&'static str, serde_json::Value) {
        let first = self.files.first().map_or("", String::as_str);
        match self.kind {
            Kind::Insert => {
                let new = format!("{token}\n{ANCHOR}");
                ("edit_file", json!({"path": first, "old_text": ANCHOR, "new_text": new}))
            }
            Kind::Append => {
                ("write_file", json!({"path": first, "content": format!("{token}\n"), "mode": "append"}))
            }
            Kind::Pair => {
                let part =
                    |path: &String| format!("*** Update File: {path}\n@@\n-{ANCHOR}\n+{token}\n+{ANCHOR}\n");
                let parts: String = self.files.iter().map(part).collect();
                ("patch", json!({"patch": format!("*** Begin Patch\n{parts}*** End Patch\n")}))
            }
        }
    }
}
