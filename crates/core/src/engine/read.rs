//! Calls that change nothing.

use super::Engine;
use crate::outcome::{Invalid, Outcome, Unplaced};
use crate::path::FilePath;
use crate::plan::{Folders, ReadPlan};
use crate::ports::workspace::{EntryKind, FolderEntry, WorkspaceError};
use crate::report::{Report, numbered_lines};
use crate::snapshot::Snapshot;

impl Engine<'_> {
    pub(super) fn read(&self, plan: &ReadPlan) -> Report {
        self.try_read(plan).unwrap_or_else(|report| report)
    }

    fn try_read(&self, plan: &ReadPlan) -> Result<Report, Report> {
        self.check_cancelled()?;
        let snapshot = match self.snapshot(&plan.path) {
            Err(WorkspaceError::Folder(path)) if plan.folders == Folders::Listed => {
                return Ok(self.list(Some(&path)));
            }
            found => found?.ok_or_else(|| missing(&plan.path))?,
        };
        self.check_cancelled()?;
        if snapshot.is_binary() {
            return Err(Report::new(
                Unplaced::BinaryFile,
                format!("`{}` is binary: it contains NUL bytes", plan.path),
            )
            .hint("Only text can be shown."));
        }
        let count = snapshot.line_count();
        let first = plan.first.unwrap_or(1);
        let last = plan.last.unwrap_or(count.max(first));
        if last < first || first < 1 || (first > count && first > 1) {
            let lines = if count == 1 { "1 line".into() } else { format!("{count} lines") };
            let requested = match plan.last {
                Some(last) if last == first => format!("line {first}"),
                Some(last) => format!("lines {first}-{last}"),
                None => format!("lines from {first}"),
            };
            let message = format!("`{}` has {lines}, but the request is for {requested}", plan.path);
            return Err(Report::new(Unplaced::OutOfRange, message).hint("Give lines that the file has."));
        }
        let mut report = Report::shown(&plan.path, &snapshot, format!("`{}`, {count} lines", plan.path));
        report.text = Some(numbered_lines(&snapshot, first, last, plan));
        self.note_shown(&plan.path, &snapshot);
        Ok(report)
    }

    pub(super) fn info(&self, path: &FilePath) -> Report {
        match self.read_existing(path) {
            Err(report) => report,
            Ok(snapshot) => {
                let mut report = Report::shown(path, &snapshot, format!("`{path}` exists"));
                report.text = Some(info_text(path, &report));
                report
            }
        }
    }

    fn read_existing(&self, path: &FilePath) -> Result<Snapshot, Report> {
        self.snapshot(path)?.ok_or_else(|| missing(path))
    }

    pub(super) fn list(&self, folder: Option<&FilePath>) -> Report {
        let entries = match self.files.list(folder) {
            Ok(entries) => entries,
            Err(error) => return error.into(),
        };
        let name = folder.map_or("the root".into(), |path| format!("`{path}`"));
        let count = if entries.len() == 1 { "1 entry".into() } else { format!("{} entries", entries.len()) };
        let mut report = Report::new(Outcome::Shown, format!("{name}: {count}"));
        report.text = Some(list_text(&report.message, &entries));
        report
    }
}

fn missing(path: &FilePath) -> Report {
    Report::new(Invalid::FileNotFound, format!("`{path}`: no such file")).hint("Check the path.")
}

/// How many entries of a folder are listed.
const MAX_ENTRIES: usize = 1000;

fn list_text(title: &str, entries: &[FolderEntry]) -> String {
    let mut out = title.to_owned();
    for entry in entries.iter().take(MAX_ENTRIES) {
        let line = match entry.kind {
            EntryKind::File => format!("\n{} ({} bytes)", entry.name, entry.size),
            EntryKind::Folder => format!("\n{}/", entry.name),
            EntryKind::Other => format!("\n{} (not a regular file)", entry.name),
        };
        out.push_str(&line);
    }
    if entries.len() > MAX_ENTRIES {
        out.push_str(&format!("\n[… {} more …]", entries.len() - MAX_ENTRIES));
    }
    out
}

fn info_text(path: &FilePath, report: &Report) -> String {
    let mut out = format!("path: {path}");
    let mut add = |name: &str, value: String| out.push_str(&format!("\n{name}: {value}"));
    for file in &report.files {
        if let Some(hash) = file.hash {
            add("version", hash.to_string());
        }
        add("bytes", file.bytes.to_string());
        if let Some(lines) = file.lines {
            let mixed = if file.mixed_newlines { " (mixed)" } else { "" };
            let mark = if file.bom { " with a byte order mark" } else { "" };
            add("lines", lines.to_string());
            add("line endings", format!("{}{mixed}", file.newline.name()));
            add("encoding", format!("{}{mark}", file.encoding));
        } else {
            add("binary", "yes".into());
        }
        if let Some(mode) = &file.mode {
            add("mode", mode.clone());
        }
        add("writable", if file.writable == Some(false) { "no".into() } else { "yes".into() });
    }
    out
}
