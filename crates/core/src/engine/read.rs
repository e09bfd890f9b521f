//! Calls that change nothing.

use super::Engine;
use crate::outcome::{Invalid, Unplaced};
use crate::path::FilePath;
use crate::plan::{Folders, LinePrefix, ListPlan, ReadPlan};
use crate::ports::workspace::{OpenResult, WorkspaceError};
use crate::report::{Report, numbered_lines};
use crate::snapshot::Snapshot;

/// Maximum number of lines shown to a caller that does not say how many it wants.
const MAX_LINES: usize = 2_000;

impl Engine<'_> {
    pub(super) fn read(&self, plan: &ReadPlan) -> Report {
        self.try_read(plan).unwrap_or_else(|report| report)
    }

    fn try_read(&self, plan: &ReadPlan) -> Result<Report, Report> {
        self.check_cancelled()?;
        let snapshot = match self.files.open(&plan.path) {
            Err(WorkspaceError::Folder(path)) if plan.folders == Folders::Listed => {
                return Ok(self.list(&ListPlan::new(Some(path))));
            }
            Ok(OpenResult::Large(file)) => match self.read_excerpt(plan, &file)? {
                Some(report) => return Ok(report),
                None => self.scan(&plan.path, file, Some(Vec::new()))?,
            },
            Ok(OpenResult::File(content)) => Snapshot::new(content, self.encoding),
            Ok(OpenResult::Missing { .. }) => return Err(missing(&plan.path)),
            Err(error) => return Err(error.into()),
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
        // A caller without a budget wants the whole file, such as a person at a terminal.
        let max_lines = if plan.budget == usize::MAX { usize::MAX } else { MAX_LINES };
        let last = plan.last.unwrap_or(count.max(first).min(first.saturating_add(max_lines - 1)));
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
        let (text, shown) = numbered_lines(&snapshot, first, last, plan);
        report.text = Some(text);
        if snapshot.has_changed() {
            return Err(WorkspaceError::Conflict { path: plan.path.clone(), found: None }.into());
        }
        self.note_shown(&plan.path, &snapshot);
        if plan.prefix == LinePrefix::Hash {
            self.note_anchors(&plan.path, &snapshot, [first, shown]);
        }
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
}

fn missing(path: &FilePath) -> Report {
    Report::new(Invalid::FileNotFound, format!("`{path}`: no such file")).hint("Check the path.")
}

fn info_text(path: &FilePath, report: &Report) -> String {
    let mut out = format!("path: {path}");
    let mut add = |name: &str, value: String| out.push_str(&format!("\n{name}: {value}"));
    for file in &report.files {
        if let Some(hash) = file.version {
            add("version", hash.short());
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
