//! Lines named by number and hash: which version of the file do the numbers count in?
//!
//! A hash of eight bits can show that a line is not the one that was meant, but not which line was. Take an edit of `12:5b`
//! where line 12 was a closing brace when it was read. Since then, two lines were inserted above it. If line 12 is another
//! closing brace now, its hash is the same and the edit would land in the wrong block. So the hashes are compared with
//! the version whose lines the session was shown, and the place is carried over from there to the current text. If that
//! version and the current one both have the hashes, but at different places, the edit is refused.

use std::fmt::Write;

use super::Engine;
use crate::outcome::Unplaced;
use crate::path::FilePath;
use crate::plan::{EditPlan, LineAnchor};
use crate::ports::versions::VersionSource;
use crate::report::Report;
use crate::snapshot::{FileContent, Snapshot, Snapshots};
use slipstitch_text::{ContentHash, VersionClaim, diff_lines};

/// The key under which a session's journal keeps which lines of a file were shown with hashes.
const SHOWN_LINES: &str = "anchors:";
/// How many separate ranges of lines are kept.
const MAX_RANGES: usize = 32;
/// How many lines are shown before and after a line whose hash differs, and how many such lines.
const CONTEXT: usize = 2;
const MAX_SHOWN: usize = 5;

/// The lines of a file that were shown with hashes, and their version.
#[derive(Debug, PartialEq, Eq)]
struct ShownLines {
    version: ContentHash,
    /// First and last line of each range.
    ranges: Vec<(usize, usize)>,
}

impl ShownLines {
    fn parse(text: &str) -> Option<Self> {
        let (version, ranges) = text.split_once(' ')?;
        let range = |text: &str| {
            let (first, last) = text.split_once('-')?;
            Some((first.parse().ok()?, last.parse().ok()?))
        };
        let ranges = ranges.split(',').map(range).collect::<Option<_>>()?;
        Some(Self { version: ContentHash::parse(version)?, ranges })
    }

    fn has(&self, anchor: &LineAnchor) -> bool {
        self.ranges.iter().any(|&(first, last)| first <= anchor.line && anchor.line <= last)
    }
}

impl std::fmt::Display for ShownLines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ranges: Vec<String> = self.ranges.iter().map(|(first, last)| format!("{first}-{last}")).collect();
        write!(f, "{} {}", self.version, ranges.join(","))
    }
}

impl Engine<'_> {
    /// Keeps which lines a read showed with hashes.
    pub(super) fn note_anchors(&self, path: &FilePath, snapshot: &Snapshot, [first, last]: [usize; 2]) {
        let version = snapshot.hash();
        let mut ranges = match self.shown_lines(path) {
            Some(shown) if shown.version == version => shown.ranges,
            _ => Vec::new(),
        };
        ranges.retain(|range| !(first <= range.0 && range.1 <= last));
        ranges.push((first, last));
        ranges.drain(..ranges.len().saturating_sub(MAX_RANGES));
        let text = ShownLines { version, ranges }.to_string();
        // Without it, the hashes are compared with the current text alone.
        let _ = self.journal.remember(self.session, &[(format!("{SHOWN_LINES}{path}"), text)]);
    }

    fn shown_lines(&self, path: &FilePath) -> Option<ShownLines> {
        let key = format!("{SHOWN_LINES}{path}");
        let found = self.journal.recall(self.session, &key).unwrap_or_default();
        found.iter().find(|(name, _)| *name == key).and_then(|(_, text)| ShownLines::parse(text))
    }

    /// The plan for the version that its anchors are from; `None` if it has none, or if they are from the current one.
    pub(super) fn apply_anchors(
        &self,
        plan: &EditPlan,
        snapshots: &Snapshots,
    ) -> Result<Option<EditPlan>, Report> {
        let [file] = &plan.files[..] else { return Ok(None) };
        let (anchors, path) = (&plan.anchors[..], &file.path);
        let Some(now) = snapshots.get(path).filter(|now| !anchors.is_empty() && !now.is_binary()) else {
            return Ok(None);
        };
        let is_named = |snapshot: &Snapshot| match &file.version {
            Some(claim) => claim.matches(snapshot.hash(), snapshot.bytes()),
            None => true,
        };
        let shown = self.shown_lines(path).filter(|shown| anchors.iter().all(|anchor| shown.has(anchor)));
        let is_shown =
            |snapshot: &Snapshot| shown.as_ref().is_some_and(|shown| shown.version == snapshot.hash());
        let now_agrees = is_named(now) && agrees(now, anchors);
        if now_agrees && is_shown(now) {
            return Ok(None);
        }
        let mut earlier = self.earlier_texts(path, now);
        if let Some(shown) = &shown
            && !is_shown(now)
            && !earlier.iter().any(is_shown)
        {
            earlier.extend(self.rebuild_shown(path, now, shown)?);
        }
        // Without the version that was shown, hashes that fit are no proof.
        let is_lost = shown.is_some() && !is_shown(now) && !earlier.iter().any(is_shown);
        earlier.retain(|version| is_named(version) && agrees(version, anchors));
        if let Some(at) = earlier.iter().position(is_shown) {
            // The caller has seen these lines since in no other version, except in answers to its edits.
            earlier = vec![earlier.swap_remove(at)];
        }
        if is_lost && (now_agrees || !earlier.is_empty()) {
            return Err(in_doubt(path, now, anchors));
        }
        let Some(from) = earlier.first() else {
            return if now_agrees { Ok(None) } else { Err(mismatch(path, now, anchors)) };
        };
        let places = |version: &Snapshot| -> Vec<Option<usize>> {
            anchors.iter().map(|anchor| carry_over_line(anchor.line, version, now)).collect()
        };
        let mut all = earlier.iter().map(places).collect::<Vec<_>>();
        all.extend(now_agrees.then(|| anchors.iter().map(|anchor| Some(anchor.line)).collect()));
        if all.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(in_doubt(path, now, anchors));
        }
        // Also if the current text fits: lines between the anchors may have changed, and only the version that was
        // shown tells.
        let Ok(version) = VersionClaim::parse(&from.hash().to_string()) else { return Ok(None) };
        let mut plan = plan.clone();
        plan.files[0].version = Some(version);
        Ok(Some(plan))
    }

    /// The stored texts of a file that the session was shown, newest first, without the current one.
    fn earlier_texts(&self, path: &FilePath, now: &Snapshot) -> Vec<Snapshot> {
        let known = self.known_versions(path, now).into_iter();
        let shown = known.filter(|version| version.source == VersionSource::Shown);
        shown.filter_map(|version| self.earlier_snapshot(version.bytes, now)).collect()
    }

    /// The version whose lines were shown, if the journal can reconstruct it. Only the last texts are kept, and every edit adds
    /// one.
    fn rebuild_shown(
        &self,
        path: &FilePath,
        now: &Snapshot,
        shown: &ShownLines,
    ) -> Result<Option<Snapshot>, Report> {
        let Ok(claim) = VersionClaim::parse(&shown.version.to_string()) else { return Ok(None) };
        let found = self.find_earlier_version(path, now, &claim)?;
        Ok(found.and_then(|version| self.earlier_snapshot(version.bytes, now)))
    }

    fn earlier_snapshot(&self, bytes: Vec<u8>, now: &Snapshot) -> Option<Snapshot> {
        let content = FileContent { bytes: bytes.into(), meta: now.meta().clone() };
        Some(Snapshot::new(content, self.encoding)).filter(|version| !version.is_binary())
    }

    /// The refusal of an edit whose lines changed since they were shown.
    pub(super) fn report_changed_anchors(&self, plan: &EditPlan, snapshots: &Snapshots) -> Option<Report> {
        let file = plan.files.first().filter(|_| !plan.anchors.is_empty())?;
        let now = snapshots.get(&file.path)?;
        let message =
            format!("the lines that the edit names in `{}` have changed since they were shown", file.path);
        Some(refuse(message, &file.path, now, &plan.anchors))
    }
}

fn agrees(snapshot: &Snapshot, anchors: &[LineAnchor]) -> bool {
    let count = snapshot.line_count();
    let fits = |anchor: &LineAnchor| {
        anchor.line <= count && LineAnchor::of(anchor.line, &snapshot.line(anchor.line)) == *anchor
    };
    anchors.iter().all(fits)
}

/// The current number of a line; `None` if the line changed.
fn carry_over_line(line: usize, old: &Snapshot, now: &Snapshot) -> Option<usize> {
    let at = old.line_span(line).start();
    let mut now_at = at;
    for change in diff_lines(old.text(), now.text()) {
        if change.old.end <= at {
            now_at = change.new.end + (at - change.old.end);
        } else if change.old.start <= at {
            return None;
        } else {
            break;
        }
    }
    Some(now.line_of(now_at))
}

fn mismatch(path: &FilePath, now: &Snapshot, anchors: &[LineAnchor]) -> Report {
    let count = now.line_count();
    let wrong: Vec<&LineAnchor> =
        anchors.iter().filter(|anchor| !agrees(now, std::slice::from_ref(anchor))).collect();
    let message = match wrong.first() {
        Some(anchor) if anchor.line > count => {
            let lines = if count == 1 { "1 line".into() } else { format!("{count} lines") };
            format!("`{path}` has {lines}, so there is no line {anchor}")
        }
        Some(anchor) => {
            let found = LineAnchor::of(anchor.line, &now.line(anchor.line));
            format!("line {} of `{path}` is {found}, not {anchor}", anchor.line)
        }
        // A version was named that is not the current one and is not known.
        None => format!("`{path}` is not the version that the edit names"),
    };
    refuse(message, path, now, anchors)
}

fn in_doubt(path: &FilePath, now: &Snapshot, anchors: &[LineAnchor]) -> Report {
    let names: Vec<String> = anchors.iter().map(ToString::to_string).collect();
    let message = format!(
        "`{path}` changed since its lines were shown: {} may mean what was shown then or what is there now",
        names.join(", ")
    );
    let lines = fresh_anchors(now, anchors);
    let hint = format!("Read the lines again, which settles it. They are now:\n{lines}");
    Report::new(Unplaced::UnexpectedLines, message).hint(hint)
}

/// A refusal that shows the lines around the anchors as they are now.
fn refuse(message: String, path: &FilePath, now: &Snapshot, anchors: &[LineAnchor]) -> Report {
    let lines = fresh_anchors(now, anchors);
    let hint = match lines.is_empty() {
        true => format!("Read `{path}` again."),
        false => format!("Use the anchors of the file as it is now, or read it again:\n{lines}"),
    };
    Report::new(Unplaced::UnexpectedLines, message).hint(hint)
}

/// The lines around the anchors with their current anchors; `>>>` marks the lines whose hash differs.
fn fresh_anchors(now: &Snapshot, anchors: &[LineAnchor]) -> String {
    let count = now.line_count();
    let mut out = String::new();
    let mut shown = 0;
    let mut named: Vec<&LineAnchor> = anchors.iter().filter(|anchor| anchor.line <= count).collect();
    named.sort_by_key(|anchor| anchor.line);
    for anchor in named.iter().take(MAX_SHOWN) {
        let first = anchor.line.saturating_sub(CONTEXT).max(shown + 1);
        for line in first..=(anchor.line + CONTEXT).min(count) {
            let text = now.line(line);
            let is_wrong =
                |anchor: &&LineAnchor| anchor.line == line && **anchor != LineAnchor::of(line, &text);
            let mark = if named.iter().any(is_wrong) { ">>>" } else { "   " };
            let _ = writeln!(out, "{mark} {}|{text}", LineAnchor::of(line, &text));
            shown = line;
        }
    }
    out.truncate(out.trim_end_matches('\n').len());
    out
}
