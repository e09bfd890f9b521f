//! Compares the answers that the workers got with the files and the journal.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use slipstitch::Workspace;
use slipstitch::core::ports::journal::{ChangeState, Filter};

use super::log::{MergedLog, TokenStatus};
use super::task::{ANCHOR, HEADER, root_path};
use crate::Findings;
use crate::tree::Tree;

/// Part of the failure for a lost edit.
pub(super) const LOST_EDIT: &str = "an edit was acknowledged and is lost";

/// For each token, how often it occurs in which file.
type Occurrences<'a> = HashMap<String, BTreeMap<&'a str, u64>>;

/// Checks journal and files after a run.
pub(super) fn check(folder: &Path, files: &[String], log: &MergedLog) -> Findings {
    let mut findings = Findings::default();
    // Opens the workspace, which recovers what the kills left pending.
    check_journal(folder, log, &mut findings);
    let mut found = Occurrences::new();
    for file in files {
        match fs::read_to_string(root_path(folder).join(file)) {
            Ok(text) => check_lines(file, &text, log, &mut found, &mut findings),
            Err(error) => findings.fail(format!("cannot read `{file}`: {error}")),
        }
    }
    let kept = match Tree::read(&root_path(folder)) {
        Ok((_, temporary)) => check_temporary_files(folder, &temporary, log, &found, &mut findings),
        Err(error) => {
            findings.fail(format!("cannot read the root: {error}"));
            BTreeSet::new()
        }
    };
    check_tokens(log, &found, &kept, &mut findings);
    findings
}

/// A temporary file may remain if it was the only copy of a foreign writer's line when it was set aside. (A foreign writer
/// that replaces the file may have read the line before that, and written it again.) Returns the lines that only exist there.
fn check_temporary_files(
    folder: &Path,
    temporary: &[String],
    log: &MergedLog,
    found: &Occurrences<'_>,
    findings: &mut Findings,
) -> BTreeSet<String> {
    let mut kept = BTreeSet::new();
    // When someone saves to a name that is missing for a moment, the old file is kept next to it, whatever it contains.
    let mut gaps_left = log.saves_into_gaps;
    for name in temporary {
        let text = fs::read_to_string(root_path(folder).join(name)).unwrap_or_default();
        // Whoever saved to a name that was missing cannot tell what was saved there last; that is kept too.
        let may_be_kept =
            |line: &str| line.starts_with('f') || log.saves_into_gaps > 0 && line.starts_with('w');
        let only_here: Vec<&str> =
            text.lines().filter(|line| may_be_kept(line) && !found.contains_key(*line)).collect();
        // A foreign line was appended, so it is the last one.
        let last = text.lines().last().unwrap_or("");
        let is_from_gap = only_here.is_empty() && !log.restored.contains(last) && gaps_left > 0;
        gaps_left -= usize::from(is_from_gap);
        if only_here.is_empty() && !log.restored.contains(last) && !is_from_gap {
            let lines = text.lines().count();
            findings
                .fail(format!("temporary file `{name}` left behind ({lines} lines, the last is {last:?})"));
        } else {
            findings.count("files kept because a foreign writer wrote to them", 1u64);
        }
        kept.extend(only_here.into_iter().map(str::to_owned));
    }
    kept
}

/// Every line must be one that some worker wrote, complete.
fn check_lines<'a>(
    file: &'a str,
    text: &str,
    log: &MergedLog,
    found: &mut Occurrences<'a>,
    findings: &mut Findings,
) {
    if !text.starts_with(HEADER) || !text.ends_with('\n') {
        findings.fail(format!("`{file}` lost its first line or its final newline"));
    }
    let anchors = text.lines().filter(|line| *line == ANCHOR).count();
    if anchors != 1 {
        findings.fail(format!("`{file}` has {anchors} lines `{ANCHOR}` instead of one"));
    }
    for line in text.lines().filter(|line| *line != ANCHOR && *line != HEADER) {
        match log.tokens.contains_key(line) {
            true => *found.entry(line.to_owned()).or_default().entry(file).or_default() += 1,
            false => findings.fail(format!("`{file}` has a line that no worker wrote: {line:?}")),
        }
    }
}

/// Every token must be in the right files, and there as often as its status says.
fn check_tokens(log: &MergedLog, found: &Occurrences<'_>, kept: &BTreeSet<String>, findings: &mut Findings) {
    let nowhere = BTreeMap::new();
    for (token, (files, status)) in &log.tokens {
        let occurrences = found.get(token).unwrap_or(&nowhere);
        let counts: Vec<u64> =
            files.iter().map(|file| occurrences.get(file.as_str()).copied().unwrap_or(0)).collect();
        let may_be_missing = log.overwritten.contains(token) || kept.contains(token);
        let what = if token.starts_with('f') { "a foreign writer's line" } else { "an edit" };
        if occurrences.len() > counts.iter().filter(|count| **count > 0).count() {
            findings.fail(format!("{token}: {what} is in the wrong file"));
        }
        let restored = log.restored.contains(token);
        // An edit never occurs twice, even if a foreign writer has read it while it was visible for a moment.
        if counts.iter().any(|count| *count > 1) && (!restored || token.starts_with('w')) {
            findings.fail(format!("{token}: {what} occurs more than once"));
        }
        match status {
            TokenStatus::Acknowledged if counts.contains(&0) && !may_be_missing => {
                findings.count(format!("lost: {what}"), 1u64);
                findings.fail(format!("{token}: {what} was acknowledged and is lost"));
            }
            TokenStatus::Refused if counts.iter().any(|count| *count > 0) && !restored => {
                let code = log.refusals.get(token).map_or("", String::as_str);
                findings.fail(format!("{token}: {what} was refused ({code}) but is in the file"));
            }
            TokenStatus::Unknown if counts.iter().any(|count| *count != counts[0]) && !may_be_missing => {
                findings.fail(format!("{token}: {what} of two files is in only one of them"));
            }
            _ => {}
        }
    }
}

/// The journal must have every acknowledged change as done, nothing pending, and nothing that no worker asked for.
fn check_journal(folder: &Path, log: &MergedLog, findings: &mut Findings) {
    let opened = Workspace::builder(root_path(folder))
        .state_dir(folder.join("state"))
        .config(folder.join("config.toml"))
        .open()
        .map_err(|error| error.to_string());
    let changes =
        opened.and_then(|workspace| workspace.log(&Filter::default()).map_err(|error| error.to_string()));
    let changes = match changes {
        Ok(changes) => changes,
        Err(error) => return findings.fail(format!("cannot read the journal: {error}")),
    };
    let states: HashMap<String, ChangeState> =
        changes.iter().map(|change| (change.id.to_string(), change.state)).collect();
    for change in &log.changes {
        let state = states.get(change);
        if state != Some(&ChangeState::Done) {
            findings.fail(format!("{change} was acknowledged, but its state in the journal is {state:?}"));
        }
    }
    let pending = changes.iter().filter(|change| change.state == ChangeState::Pending).count();
    if pending > 0 {
        findings.fail(format!("{pending} changes are pending after the next start"));
    }
    let max = log.changes.len() + log.unanswered();
    if changes.len() - pending > max {
        findings.fail(format!("the journal has {} changes, but at most {max} were made", changes.len()));
    }
    findings.count("changes in the journal", changes.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failures(log_text: &str, text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("log"), log_text).unwrap();
        let mut log = MergedLog::default();
        log.read(&folder.path().join("log")).unwrap();
        let (mut found, mut findings) = (Occurrences::new(), Findings::default());
        check_lines("a", text, &log, &mut found, &mut findings);
        check_tokens(&log, &found, &BTreeSet::new(), &mut findings);
        findings.failures
    }

    #[test]
    fn accepts_files_that_match_the_log() {
        let log = "attempt w1 a\nacknowledged w1 c1\nattempt w2 a\n";
        assert!(failures(log, "tokens:\nw1\nnext\n").is_empty());
        let log = "attempt w1 a\nacknowledged w1 c1\noverwritten w1\n";
        assert!(failures(log, "tokens:\nnext\n").is_empty());
    }

    #[test]
    fn reports_tokens_that_contradict_the_log() {
        assert_eq!(
            failures("attempt w1 a\nacknowledged w1 c1\n", "tokens:\nnext\n"),
            ["w1: an edit was acknowledged and is lost"]
        );
        assert_eq!(
            failures("attempt w1 a\nrefused w1 conflict it changed\n", "tokens:\nw1\nnext\n"),
            ["w1: an edit was refused (conflict: it changed) but is in the file"]
        );
        assert_eq!(
            failures("attempt f1 a\n", "tokens:\nf1\nf1\nnext\n"),
            ["f1: a foreign writer's line occurs more than once"]
        );
        assert_eq!(
            failures("attempt w1 a\nacknowledged w1 c1\nrestored w1\n", "tokens:\nw1\nw1\nnext\n"),
            ["w1: an edit occurs more than once"]
        );
        assert_eq!(failures("", "tokens:\nw\nnext\n"), ["`a` has a line that no worker wrote: \"w\""]);
        assert_eq!(
            failures("attempt w1 a,b\n", "tokens:\nw1\nnext\n"),
            ["w1: an edit of two files is in only one of them"]
        );
    }
}
