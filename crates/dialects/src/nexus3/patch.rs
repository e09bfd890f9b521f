//! `patch`: applies a unified diff to one file, which the call names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use slipstitch_core::dialect::read;
use slipstitch_core::dialect::{Arguments, Effect, Tool, schema};
use slipstitch_core::path::{Absolute, FilePath, RootName};
use slipstitch_core::plan::ParseError;
use slipstitch_core::plan::patch::{PatchDirection, PatchOptions, operations, read as read_patch, rules};
use slipstitch_core::plan::{EditPlan, FetchPlan, FilePlan, Plan, Run, Tolerance};
use slipstitch_patch::{Action, FilePatch, Format, ParseOptions, Patch};

pub(super) const NAME: &str = "patch";

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    aliases: &["patch_from_file"],
    title: "Apply a unified diff to a file",
    about: "Applies a unified diff to one file, all of its hunks or none. Send diff or diff_file. In strict mode context \
            must match exactly; tolerant allows whitespace differences, fuzzy allows similar context. Removed lines must \
            always match, apart from whitespace.",
    effect: Effect::Edits,
    empty_is_value: &[],
    example: r#"{"target": "foo.py", "diff": "--- a/foo.py\n+++ b/foo.py\n@@ -1,2 +1,3 @@\n import os\n+import sys\n \n"}"#,
    schema: schema::of::<PatchFile>,
    parse,
};

#[derive(Deserialize, JsonSchema)]
struct PatchFile {
    /// Unified diff content (inline)
    diff: Option<String>,
    /// Path to .diff/.patch file to read
    diff_file: Option<String>,
    /// Target file to patch (required)
    target: String,
    /// Matching strictness
    #[serde(default)]
    mode: Mode,
    /// Similarity threshold for fuzzy mode (0.5-1.0)
    #[serde(default = "default_threshold")]
    #[schemars(range(min = 0.5, max = 1.0))]
    fuzzy_threshold: f64,
    /// Refuse a diff with wrong counts instead of repairing it
    #[serde(default)]
    strict_validation: bool,
    /// Validate without applying
    #[serde(default)]
    dry_run: bool,
}

fn default_threshold() -> f64 {
    0.8
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Strict,
    Tolerant,
    Fuzzy,
}

impl PatchFile {
    fn tolerance(&self) -> Tolerance {
        match self.mode {
            Mode::Strict if self.strict_validation => Tolerance::Exact,
            Mode::Strict => Tolerance::TrailingWhitespace,
            Mode::Tolerant => Tolerance::Whitespace,
            Mode::Fuzzy => Tolerance::similar(self.fuzzy_threshold),
        }
    }

    /// How to parse the diff. In strict mode a bad `@@` line is an error; the other modes place its hunk by its lines.
    fn parse_options(&self) -> ParseOptions {
        ParseOptions {
            strict: self.strict_validation,
            complete_headers: self.mode == Mode::Strict || self.strict_validation,
            absolute_paths: true,
            // "Fails on any difference": a hunk that changes nothing has context too.
            keep_idle_hunks: true,
            ..ParseOptions::default()
        }
    }
}

fn parse(arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let fields: PatchFile = read(arguments.fields)?;
    let path = |text: &str| FilePath::parse(text, arguments.roots, Absolute::InsideRoot);
    let target = path(&fields.target)?;
    let diff = match (&fields.diff, &fields.diff_file) {
        (Some(diff), None) => diff,
        (None, Some(file)) => {
            let path = path(file)?;
            return Ok(Plan::Fetch(FetchPlan { path, named_in: "diff_file", text_for: "diff" }));
        }
        (Some(_), Some(_)) => {
            return Err(ParseError::new(
                "Cannot use both `diff` and `diff_file`",
                "Send the diff in `diff`, or the path of a file that contains it in `diff_file`.",
            ));
        }
        (None, None) => {
            return Err(ParseError::new(
                "`patch` needs `diff` or `diff_file`",
                "Send the diff in `diff`, or the path of a file that contains it in `diff_file`; `target` (or `path`) is the file to patch.",
            ));
        }
    };
    let options = PatchOptions {
        format: Some(Format::Unified),
        parse_options: fields.parse_options(),
        direction: PatchDirection::Forward,
        path: Some(&target),
        roots: arguments.roots,
        overwriting: arguments.settings.patch.overwriting(),
        tolerance: fields.tolerance(),
    };
    let patch = read_patch(diff, &options)?;
    let mut warnings = arguments.warnings;
    warnings
        .extend(patch.repairs.iter().map(|repair| format!("Diff line {}: {}", repair.line, repair.message)));
    let patch = with_relative_paths(patch, arguments.roots)?;
    let part = part_for(&target, &patch, &mut warnings)?;
    expect_hunks_for(&target, part)?;
    let operations = operations(&hunks_only(part, &mut warnings), &options)?;
    let rules = rules(Format::Unified, options.tolerance);
    let run = if fields.dry_run { Run::Dry } else { Run::Real };
    let files = vec![FilePlan { path: target, version: None, operations }];
    Ok(Plan::Edit(EditPlan { run, warnings, ..EditPlan::new(files, rules) }))
}

/// The diff with the paths of its headers relative to the root. They are informational, but must be inside it.
fn with_relative_paths(mut patch: Patch, roots: &[RootName]) -> Result<Patch, ParseError> {
    let relative = |path: &mut String| {
        *path = FilePath::parse(path, roots, Absolute::InsideRoot)?.to_string();
        Ok::<_, ParseError>(())
    };
    for file in &mut patch.files {
        file.path.as_mut().map(relative).transpose()?;
        if let Action::Update { move_to, .. } = &mut file.action {
            move_to.as_mut().map(relative).transpose()?;
        }
    }
    Ok(patch)
}

/// The file section of a diff that applies to the target: the only one, or the one with the target's name.
fn part_for<'p>(
    target: &FilePath,
    patch: &'p Patch,
    warnings: &mut Vec<String>,
) -> Result<&'p FilePatch, ParseError> {
    let name = target.name();
    let has_name = |path: &str| path.rsplit('/').next() == Some(name);
    let named = |file: &&FilePatch| {
        file.path.as_deref().is_some_and(has_name) || moved_to(file).is_some_and(has_name)
    };
    if let [only] = &patch.files[..] {
        if let Some(path) = only.path.as_deref().filter(|_| !named(&only)) {
            warnings.push(format!("Diff is for {path}, applying its hunks to {target}"));
        }
        return Ok(only);
    }
    let mut parts: Vec<&FilePatch> = patch.files.iter().filter(named).collect();
    if parts.len() > 1 {
        let same = |file: &&&FilePatch| file.path.as_deref() == Some(target.as_str());
        if let Some(exact) = parts.iter().find(same) {
            parts = vec![exact];
        }
    }
    let count = patch.files.len();
    match parts[..] {
        [part] => {
            warnings.push(format!("Diff contains {count} files, applying only hunks for {name}"));
            Ok(part)
        }
        [] => Err(ParseError::new(
            format!("Diff contains {count} files, but none of them is {name}"),
            format!("The diff is for {}. Send one of them as `target`.", names(patch.files.iter())),
        )),
        ref several => Err(ParseError::new(
            format!("Diff contains {} files named {name}: {}", several.len(), names(several.iter().copied())),
            "Send only the hunks for `target`.",
        )),
    }
}

/// Refuses a section that would create or delete the target although it names another file, or delete it without listing
/// its lines. Headers are informational: they cannot decide that the target's text goes.
fn expect_hunks_for(target: &FilePath, part: &FilePatch) -> Result<(), ParseError> {
    let (what, has_hunks) = match &part.action {
        Action::Create { .. } => ("creates", true),
        Action::Delete { hunks, .. } => ("deletes", !hunks.is_empty()),
        Action::Update { hunks, .. } if hunks.is_empty() => {
            return Err(ParseError::new(
                format!("The diff has no hunks for {target}"),
                "Only hunks (`@@ -1,2 +1,3 @@` and lines) are applied; modes and renames are not.",
            ));
        }
        Action::Update { .. } | Action::Replace { .. } => return Ok(()),
    };
    if let Some(path) = part.path.as_deref().filter(|path| path.rsplit('/').next() != Some(target.name())) {
        return Err(ParseError::new(
            format!("The diff {what} {path}, but the target is {target}"),
            format!("Send a diff that changes lines of {target}, or {path} as `target`."),
        ));
    }
    if !has_hunks {
        return Err(ParseError::new(
            format!("The diff deletes {target} without listing its lines"),
            "Send a diff whose hunks remove every line of the file.",
        ));
    }
    Ok(())
}

fn moved_to(file: &FilePatch) -> Option<&str> {
    match &file.action {
        Action::Update { move_to, .. } => move_to.as_deref(),
        Action::Create { .. } | Action::Delete { .. } | Action::Replace { .. } => None,
    }
}

fn names<'a>(files: impl Iterator<Item = &'a FilePatch>) -> String {
    let names: Vec<&str> = files.filter_map(|file| file.path.as_deref()).collect();
    names.join(", ")
}

/// The file section without its rename and mode: the call names the file, and headers are informational.
fn hunks_only(part: &FilePatch, warnings: &mut Vec<String>) -> FilePatch {
    let mut part = part.clone();
    if let Action::Update { move_to, executable, .. } = &mut part.action {
        let rename = move_to.take().map(|to| format!("rename to {to}"));
        let mode = executable.take().map(|_| "file mode".to_owned());
        let ignored = [rename, mode].into_iter().flatten();
        warnings.extend(
            ignored.map(|what| format!("Ignored the {what} in the diff: `patch` changes lines only")),
        );
    }
    part
}

#[cfg(test)]
mod tests {
    use super::super::DIALECT;
    use slipstitch_core::path::RootName;
    use slipstitch_core::plan::{ParseError, Plan};
    use slipstitch_core::settings::Settings;

    fn parse(old: &str, new: &str) -> Result<Vec<String>, ParseError> {
        let diff = format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n");
        let call = serde_json::json!({"target": "src/foo.py", "diff": diff});
        let roots = [RootName::first("/root")];
        match DIALECT.parse(&super::TOOL, call, &roots, &Settings::default())? {
            Plan::Edit(plan) => Ok(plan.warnings),
            other => panic!("{other:?}"),
        }
    }

    // Shows: 004-patch-target, 004-patch-absolute-header
    #[test]
    fn absolute_headers_beneath_the_root_are_informational() {
        assert_eq!(parse("/root/src/foo.py", "/root/src/foo.py").unwrap(), Vec::<String>::new());
        assert_eq!(parse("/root/src/foo.py.orig", "/root/src/foo.py").unwrap(), Vec::<String>::new());
        let other = parse("/root/lib/bar.py", "/root/lib/bar.py").unwrap();
        assert_eq!(other, ["Diff is for lib/bar.py, applying its hunks to src/foo.py"]);
    }

    // Shows: 004-patch-traversal
    #[test]
    fn absolute_headers_outside_the_root_are_refused() {
        for (old, new) in [
            ("/etc/foo.py", "/etc/foo.py"),
            ("/etc/foo.py", "/root/src/foo.py"),
            ("/root/src/foo.py", "/etc/foo.py"),
            ("a/src/foo.py", "/etc/foo.py"),
            ("/dev/null", "/etc/foo.py"),
            ("/root/../etc/foo.py", "/root/../etc/foo.py"),
        ] {
            assert!(parse(old, new).is_err(), "{old} {new}");
        }
    }
}
