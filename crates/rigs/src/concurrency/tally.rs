//! Compares what processes were told with what is in the files and in the journal.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use slipstitch::Workspace;
use slipstitch::core::ports::journal::{ChangeState, Filter};

use super::diary::{Fate, Story};
use super::task::{ANCHOR, HEAD, root};
use crate::Outcome;
use crate::tree::Tree;

/// How a fault names the worst that can happen.
pub(super) const LOST: &str = "an edit was acknowledged and is lost";

/// How often each token is in which file.
type Found<'a> = HashMap<String, BTreeMap<&'a str, u64>>;

/// Counts, and names everything that is not as it was told.
pub(super) fn check(folder: &Path, files: &[String], story: &Story) -> Outcome {
    let mut outcome = Outcome::default();
    // The next start after all the kills.
    journal(folder, story, &mut outcome);
    let mut found = Found::new();
    for file in files {
        match fs::read_to_string(root(folder).join(file)) {
            Ok(text) => lines(file, &text, story, &mut found, &mut outcome),
            Err(error) => outcome.fault(format!("`{file}` cannot be read: {error}")),
        }
    }
    let kept = match Tree::look(&root(folder)) {
        Ok((_, temporary)) => kept(folder, &temporary, story, &found, &mut outcome),
        Err(error) => {
            outcome.fault(format!("the root cannot be looked at: {error}"));
            BTreeSet::new()
        }
    };
    tokens(story, &found, &kept, &mut outcome);
    outcome
}

/// A temporary file may stay if it was the only place of something that a foreign writer wrote, when it was put aside: one
/// that replaces the file may have read it before that, and put it there again. Answers with what is kept so.
fn kept(
    folder: &Path,
    temporary: &[String],
    story: &Story,
    found: &Found<'_>,
    outcome: &mut Outcome,
) -> BTreeSet<String> {
    let mut kept = BTreeSet::new();
    for name in temporary {
        let text = fs::read_to_string(root(folder).join(name)).unwrap_or_default();
        let only: Vec<&str> =
            text.lines().filter(|line| line.starts_with('f') && !found.contains_key(*line)).collect();
        // What was written to it stands at its end.
        let last = text.lines().last().unwrap_or("");
        if only.is_empty() && !story.put_back.contains(last) {
            let lines = text.lines().count();
            outcome.fault(format!(
                "the temporary file `{name}` is left behind ({lines} lines, the last is {last:?})"
            ));
        } else {
            outcome.count("files kept because a foreign writer wrote to them", 1u64);
        }
        kept.extend(only.into_iter().map(str::to_owned));
    }
    kept
}

/// Every line is one that somebody wrote, whole.
fn lines<'a>(file: &'a str, text: &str, story: &Story, found: &mut Found<'a>, outcome: &mut Outcome) {
    if !text.starts_with(HEAD) || !text.ends_with('\n') {
        outcome.fault(format!("`{file}` has lost its first or its last line end"));
    }
    if text.lines().filter(|line| *line == ANCHOR).count() != 1 {
        outcome.fault(format!("`{file}` has not one line `{ANCHOR}`"));
    }
    for line in text.lines().filter(|line| *line != ANCHOR && *line != HEAD) {
        match story.tokens.contains_key(line) {
            true => *found.entry(line.to_owned()).or_default().entry(file).or_default() += 1,
            false => outcome.fault(format!("`{file}` has a line that nobody wrote: {line:?}")),
        }
    }
}

/// Every token is where it was told to be, as often as it was told to be.
fn tokens(story: &Story, found: &Found<'_>, kept: &BTreeSet<String>, outcome: &mut Outcome) {
    let nowhere = BTreeMap::new();
    for (token, (files, fate)) in &story.tokens {
        let places = found.get(token).unwrap_or(&nowhere);
        let counts: Vec<u64> =
            files.iter().map(|file| places.get(file.as_str()).copied().unwrap_or(0)).collect();
        let excused = story.overwritten.contains(token) || kept.contains(token);
        let whose = if token.starts_with('f') { "a foreign writer's line" } else { "an edit" };
        if places.len() > counts.iter().filter(|count| **count > 0).count() {
            outcome.fault(format!("{token}: {whose} is in a file that it was not meant for"));
        }
        let put_back = story.put_back.contains(token);
        if counts.iter().any(|count| *count > 1) && !put_back {
            outcome.fault(format!("{token}: {whose} is there more than once"));
        }
        match fate {
            Fate::Acknowledged if counts.contains(&0) && !excused => {
                outcome.count(format!("lost: {whose}"), 1u64);
                outcome.fault(format!("{token}: {whose} was acknowledged and is lost"));
            }
            Fate::Refused if counts.iter().any(|count| *count > 0) && !put_back => {
                outcome.fault(format!("{token}: {whose} was refused and is there all the same"));
            }
            Fate::Unknown if counts.iter().any(|count| *count != counts[0]) && !excused => {
                outcome.fault(format!("{token}: {whose} of two files is in one of them"));
            }
            _ => {}
        }
    }
}

fn journal(folder: &Path, story: &Story, outcome: &mut Outcome) {
    let opened = Workspace::builder(root(folder))
        .state_dir(folder.join("state"))
        .config(folder.join("config.toml"))
        .open()
        .map_err(|error| error.to_string());
    let changes =
        opened.and_then(|workspace| workspace.log(&Filter::default()).map_err(|error| error.to_string()));
    let changes = match changes {
        Ok(changes) => changes,
        Err(error) => return outcome.fault(format!("the journal cannot be read: {error}")),
    };
    let states: HashMap<String, ChangeState> =
        changes.iter().map(|change| (change.id.to_string(), change.state)).collect();
    for change in &story.changes {
        if states.get(change) != Some(&ChangeState::Done) {
            outcome.fault(format!(
                "{change} was acknowledged, and in the journal it is {:?}",
                states.get(change)
            ));
        }
    }
    let pending = changes.iter().filter(|change| change.state == ChangeState::Pending).count();
    if pending > 0 {
        outcome.fault(format!("{pending} changes are pending after the next start"));
    }
    let most = story.changes.len() + story.count('w', Fate::Unknown);
    if changes.len() - pending > most {
        outcome.fault(format!("the journal has {} changes, and at most {most} were made", changes.len()));
    }
    outcome.count("changes in the journal", changes.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(diary: &str, text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("diary"), diary).unwrap();
        let mut story = Story::default();
        story.read(&folder.path().join("diary")).unwrap();
        let (mut found, mut outcome) = (Found::new(), Outcome::default());
        lines("a", text, &story, &mut found, &mut outcome);
        tokens(&story, &found, &BTreeSet::new(), &mut outcome);
        outcome.faults
    }

    #[test]
    fn what_was_told_is_held_against_what_is_there() {
        assert!(faults("will w1 a\nyes w1 c1\nwill w2 a\n", "tokens:\nw1\nnext\n").is_empty());
        assert!(faults("will w1 a\nyes w1 c1\nover w1\n", "tokens:\nnext\n").is_empty());
        assert_eq!(
            faults("will w1 a\nyes w1 c1\n", "tokens:\nnext\n"),
            ["w1: an edit was acknowledged and is lost"]
        );
        assert_eq!(
            faults("will w1 a\nno w1 conflict\n", "tokens:\nw1\nnext\n"),
            ["w1: an edit was refused and is there all the same"]
        );
        assert_eq!(
            faults("will f1 a\n", "tokens:\nf1\nf1\nnext\n"),
            ["f1: a foreign writer's line is there more than once"]
        );
        assert_eq!(faults("", "tokens:\nw\nnext\n"), ["`a` has a line that nobody wrote: \"w\""]);
        assert_eq!(
            faults("will w1 a,b\n", "tokens:\nw1\nnext\n"),
            ["w1: an edit of two files is in one of them"]
        );
    }
}
