//! `slipstitch edit`: replace text.

use std::path::PathBuf;

use anstyle::AnsiColor;
use clap::Args;
use slipstitch::Workspace;
use slipstitch::core::outcome::{Outcome, Status, Unplaced};
use slipstitch::core::path::FilePath;
use slipstitch::core::plan::{
    EditPlan, EditRules, FilePlan, LineRange, Operation, Plan, Run, Tolerance, Which,
};
use slipstitch::core::report::Report;
use slipstitch::core::text::display::{escape_controls, escape_text};

use crate::change::{ChangeOptions, shrink_rule};
use crate::error::CommandError;
use crate::file_argument::file_name;
use crate::file_set::FileSet;
use crate::global::Global;
use crate::output::{self, CommandResult};
use crate::progress::Progress;
use crate::prompt::Answer;
use crate::{diff, input, lines, prompt, render, wording};

const EXAMPLES: &str = "\
Examples:
  slipstitch edit src/main.rs --old 'retries = 3' --new 'retries = 5'
  slipstitch edit config.ini --old 'port=80' --new 'port=8080' --hint 10-20
  slipstitch edit notes.txt --old colour --new color --all --dry-run
  slipstitch edit 'src/**/*.rs' --old old_name --new new_name --all
  slipstitch edit a.txt --old-file old.txt --new-file - < new.txt

--old and --new are taken literally: `\\n` is a backslash and an n. --old-file and --new-file
include the file's final newline. The old text must match exactly, apart from line endings. With
--recover it may differ in form, such as indentation or quotation marks; on a terminal you are
asked. Of several files, those without the old text are skipped, and all others change together or
not at all.";

/// Replace text that occurs exactly once in a file, or everywhere in many files
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Edit {
    /// The files, relative to the working folder or to `--root`, or globs such as 'src/**/*.rs'
    #[arg(value_name = "FILE", required = true, value_parser = file_name(), value_hint = clap::ValueHint::AnyPath)]
    files: Vec<String>,
    /// The text to replace
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    #[arg(required_unless_present = "old_file", conflicts_with = "old_file")]
    old: Option<String>,
    /// Read the text to replace from a file; `-` is standard input
    #[arg(long, value_name = "FILE")]
    old_file: Option<PathBuf>,
    /// The new text; empty deletes the old text
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    #[arg(required_unless_present = "new_file", conflicts_with = "new_file")]
    new: Option<String>,
    /// Read the new text from a file; `-` is standard input
    #[arg(long, value_name = "FILE")]
    new_file: Option<PathBuf>,
    /// Replace every occurrence
    #[arg(long)]
    all: bool,
    /// Only consider matches inside these lines, such as 10-20, 10 or 10-
    #[arg(long, value_name = "LINES", value_parser = lines::parse_range)]
    hint: Option<LineRange>,
    /// If the old text has no exact match, accept the only place that differs from it in form
    #[arg(long)]
    recover: bool,
    /// Allow the edit to remove more than two thirds of a file's lines
    #[arg(long)]
    allow_shrink: bool,
    #[command(flatten)]
    options: ChangeOptions,
}

impl Edit {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let is_stdin = |file: &Option<PathBuf>| file.as_deref().is_some_and(input::is_stdin);
        if is_stdin(&self.old_file) && is_stdin(&self.new_file) {
            let message = "the old and the new text cannot both be read from standard input";
            let hint = "Pass one of them with `--old` or `--new`, or in a file.";
            return Err(CommandError::usage(message, hint));
        }
        let operation = Operation::Replace {
            old: input::read_text_or_file(self.old, self.old_file.as_deref())?,
            new: input::read_text_or_file(self.new, self.new_file.as_deref())?,
            which: if self.all { Which::All } else { Which::Unique },
            within: self.hint,
        };
        let _progress = Progress::start(format!("Searching {}", describe_files(&self.files)), global);
        let workspace = global.open()?;
        let files = FileSet::new(&self.files, &workspace, global)?;
        let rules = EditRules {
            shrink: shrink_rule(self.allow_shrink),
            tolerance: if self.recover { Tolerance::Recover } else { Tolerance::Exact },
            ..EditRules::NATIVE
        };
        let report = match files.single() {
            Some(path) => edit_file(&self.options, path, operation, rules, &workspace, global),
            None => edit_files(&self.options, &files, &operation, rules, &workspace)?,
        };
        Ok(Box::new(report))
    }
}

/// The files, for a line of progress.
fn describe_files(files: &[String]) -> String {
    match files {
        [one] => escape_text(one),
        several => format!("{} files", several.len()),
    }
}

/// Edits one file. If the text is not there as given, someone at a terminal can accept the place that recovery finds.
fn edit_file(
    options: &ChangeOptions,
    path: &FilePath,
    operation: Operation,
    rules: EditRules,
    workspace: &Workspace,
    global: &Global,
) -> Report {
    let plan = |rules: EditRules| {
        let file = FilePlan {
            path: path.clone(),
            version: options.version.clone(),
            operations: vec![operation.clone()],
        };
        EditPlan::new(vec![file], rules)
    };
    let report = options.run_plan(workspace, plan(rules), "edit");
    if report.outcome != Outcome::Unplaced(Unplaced::NoMatch) || rules.tolerance != Tolerance::Exact {
        return report;
    }
    let recovering = EditRules { tolerance: Tolerance::Recover, ..rules };
    let mut tried = workspace.run(Plan::Edit(EditPlan { run: Run::Dry, ..plan(recovering) }), "edit");
    if tried.status() != Status::WouldApply {
        return report;
    }
    wording::address_a_person(&mut tried);
    match prompt::ask(
        &show_preview(&tried, global),
        "The old text has no exact match. Make this edit instead?",
    ) {
        Answer::Yes => {
            let mut done = options.run_plan(workspace, plan(recovering), "edit");
            // What was shown before the question is not repeated, if it is what happened.
            if !global.json && done.diff == tried.diff {
                done.diff = None;
                done.warnings.retain(|warning| !tried.warnings.contains(warning));
            }
            return done;
        }
        Answer::No => return report,
        Answer::Nobody => {}
    }
    let hint = report.hint.clone().unwrap_or_default();
    report.hint(
        format!(
            "{hint} `--recover` would apply it at the only place that differs in form; `--dry-run` shows it."
        )
        .trim_start(),
    )
}

/// What an edit would do, and how that differs from the request.
fn show_preview(tried: &Report, global: &Global) -> Vec<u8> {
    let mut shown = output::message_text(global);
    if let Some(diff) = &tried.diff {
        diff::write_colored(diff.as_bytes(), &mut shown);
    }
    for warning in &tried.warnings {
        render::write_labelled(AnsiColor::Yellow, "note", &escape_controls(warning), &mut shown);
    }
    shown.bytes
}

/// Edits many files together. Files that were found by a glob and do not have the old text are skipped.
fn edit_files(
    options: &ChangeOptions,
    files: &FileSet,
    operation: &Operation,
    rules: EditRules,
    workspace: &Workspace,
) -> Result<Report, CommandError> {
    if options.version.is_some() {
        return Err(CommandError::usage("`--version` is for one file", "Leave it out, or name one file."));
    }
    let file_plan =
        |path: &FilePath| FilePlan { path: path.clone(), version: None, operations: vec![operation.clone()] };
    let (mut matching, mut done) = (Vec::new(), Vec::new());
    for path in &files.found {
        let plan = EditPlan { run: Run::Dry, ..EditPlan::new(vec![file_plan(path)], rules) };
        match workspace.run(Plan::Edit(plan), "edit").outcome {
            Outcome::Unplaced(Unplaced::NoMatch | Unplaced::BinaryFile) => {}
            Outcome::AlreadyApplied => done.push(path),
            _ => matching.push(path),
        }
    }
    // Files that have the new text already are only of interest if there is nothing else.
    if matching.is_empty() && files.named.is_empty() {
        matching = done;
    }
    let plans: Vec<FilePlan> = files.named.iter().chain(matching).map(file_plan).collect();
    if plans.is_empty() {
        let count = files.found.len();
        let message = format!("the old text is in none of the {count} files");
        return Err(Report::new(Unplaced::NoMatch, message).hint("Check the text and the files.").into());
    }
    Ok(options.run_plan(workspace, EditPlan::new(plans, rules), "edit"))
}
