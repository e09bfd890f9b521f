//! Turns a patch into a plan: one entry per file, applied all or none.

use std::collections::BTreeMap;

use crate::path::{Absolute, FilePath, RootName};
use crate::plan::{
    EditPlan, EditRules, FilePlan, IfMissing, Operation, Overwriting, Shrink, Tolerance, Which,
};
use crate::plan::{ParseError, ParseProblem};
use slipstitch_patch::{Action, Block, FilePatch, Format, Hunk, HunkLine, ParseOptions, Patch, Role, parse};
use slipstitch_text::canonical;
use slipstitch_text::diff_lines;

/// How to parse and apply a patch.
#[derive(Debug, Clone, Copy)]
pub struct PatchOptions<'a> {
    /// The format; detected if `None`.
    pub format: Option<Format>,
    /// How to parse it.
    pub parse_options: ParseOptions,
    /// Whether to apply or reverse it.
    pub direction: PatchDirection,
    /// The path given in the call, for a patch that names no file or names it by another path.
    pub path: Option<&'a FilePath>,
    /// The root's names, for absolute paths.
    pub roots: &'a [RootName],
    /// What to do if the patch creates or moves a file over an existing one.
    pub overwriting: Overwriting,
    /// How far the lines may differ from the file's.
    pub tolerance: Tolerance,
}

/// Whether to apply or reverse a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchDirection {
    /// Apply it as written.
    Forward,
    /// Reverse it.
    Reverse,
}

/// Parses a patch and plans its edits.
pub fn plan(text: &str, options: &PatchOptions<'_>) -> Result<EditPlan, ParseError> {
    let mut patch = read(text, options)?;
    let mut warnings: Vec<String> = patch
        .repairs
        .iter()
        .map(|repair| format!("patch line {}: {}", repair.line, repair.message))
        .collect();
    let files = files(&mut patch, options, &mut warnings)?;
    Ok(EditPlan { warnings, ..EditPlan::new(files, rules(patch.format, options.tolerance)) })
}

/// Parses a patch, and reverses it if requested.
pub fn read(text: &str, options: &PatchOptions<'_>) -> Result<Patch, ParseError> {
    let names_optional = options.path.is_some();
    let patch = parse(text, options.format, ParseOptions { names_optional, ..options.parse_options })?;
    Ok(match options.direction {
        PatchDirection::Forward => patch,
        PatchDirection::Reverse => patch.reversed()?,
    })
}

/// The rules for the edits of a patch. Diffs list every removed line, so the shrink guard does not apply
/// to them.
pub fn rules(format: Format, tolerance: Tolerance) -> EditRules {
    let shrink = match format {
        Format::Unified | Format::V4a => Shrink::Allowed,
        Format::SearchReplace => Shrink::Guarded,
    };
    EditRules { tolerance, shrink, ..EditRules::NATIVE }
}

/// The plans of the files. Takes the hunks out of the patch, because copying many of them takes as long as parsing them.
fn files(
    patch: &mut Patch,
    options: &PatchOptions<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<FilePlan>, ParseError> {
    let mut plans: Vec<FilePlan> = Vec::new();
    // For each path, the first plan and its section, and whether there is another plan.
    let mut known: BTreeMap<FilePath, (usize, usize, bool)> = BTreeMap::new();
    for section in 0..patch.files.len() {
        let path = path(&patch.files[section], patch, options, warnings)?;
        let added = take_operations(&mut patch.files[section], options)?;
        let file = &patch.files[section];
        let Some((plan, first, has_another)) = known.get_mut(&path) else {
            known.insert(path.clone(), (plans.len(), section, false));
            plans.push(FilePlan { path, version: None, operations: added });
            continue;
        };
        let first = &patch.files[*first];
        // A file moves away, and another one is created in its place.
        if !*has_another && (first.takes_place_of(file) || file.takes_place_of(first)) {
            *has_another = true;
            plans.push(FilePlan { path, version: None, operations: added });
        } else {
            join(&mut plans[*plan], first, added, file)?;
        }
    }
    Ok(plans)
}

/// The file that a section of a patch is for.
fn path(
    file: &FilePatch,
    patch: &Patch,
    options: &PatchOptions<'_>,
    warnings: &mut Vec<String>,
) -> Result<FilePath, ParseError> {
    let named = match &file.path {
        Some(name) => Some(FilePath::parse(name, options.roots, Absolute::InsideRoot)?),
        None => None,
    };
    match (named, options.path) {
        (Some(named), None) => Ok(named),
        (None, Some(path)) => Ok(path.clone()),
        (None, None) => Err(ParseError::invalid(
            ParseProblem::PatchWithoutPath { line: file.line },
            "Put the path into the patch (`--- a/PATH` and `+++ b/PATH`, `*** Update File: PATH`, or PATH above a block), or give it separately.",
        )),
        (Some(named), Some(path)) if named == *path => Ok(named),
        (Some(_), Some(path)) if patch.files.len() > 1 => Err(ParseError::invalid(
            ParseProblem::PatchForSeveralFiles { count: patch.files.len(), path: path.clone() },
            "Leave the path out; the patch names its files.",
        )),
        (Some(named), Some(path)) if named.name() == path.name() => {
            warnings.push(format!("the patch names `{named}`; it was applied to the given path `{path}`"));
            Ok(path.clone())
        }
        (Some(named), Some(path)) => Err(ParseError::invalid(
            ParseProblem::PatchForOtherFile { named, path: path.clone() },
            "Leave the path out, or name the same file in both.",
        )),
    }
}

/// Combines two sections for one file: both change lines, or the file is deleted and created again.
fn join(
    plan: &mut FilePlan,
    first: &FilePatch,
    added: Vec<Operation>,
    second: &FilePatch,
) -> Result<(), ParseError> {
    let on_lines =
        |operation: &Operation| matches!(operation, Operation::Hunk(_) | Operation::Replace { .. });
    let deleted = matches!(first.action, Action::Delete { .. });
    match &second.action {
        Action::Create { content, executable } if deleted => {
            let content = content.clone();
            plan.operations = vec![Operation::Overwrite { content, if_missing: IfMissing::Fail }];
            plan.operations.push(Operation::SetExecutable(*executable));
        }
        _ if plan.operations.iter().all(on_lines) => plan.operations.extend(added),
        _ => {
            let problem = ParseProblem::PatchSections {
                path: plan.path.clone(),
                first: first.line,
                second: second.line,
            };
            return Err(ParseError::invalid(
                problem,
                "Put all changes to one file into one section of the patch.",
            ));
        }
    }
    Ok(())
}

/// The operations of a section of a patch.
pub fn operations(file: &FilePatch, options: &PatchOptions<'_>) -> Result<Vec<Operation>, ParseError> {
    take_operations(&mut file.clone(), options)
}

/// Like [`operations`]; leaves the section without its hunks.
fn take_operations(file: &mut FilePatch, options: &PatchOptions<'_>) -> Result<Vec<Operation>, ParseError> {
    let crlf = file.crlf;
    let as_operation = |hunk: Hunk| Operation::Hunk(Box::new(with_crlf(hunk, crlf)));
    // A hunk that changes nothing needs no place in the file.
    let parsed = options.parse_options;
    let is_needed = |hunk: &Hunk| parsed.strict || parsed.keep_idle_hunks || !hunk.changes_nothing();
    Ok(match &mut file.action {
        Action::Create { content, executable } => {
            let content = content.clone();
            let create = match options.overwriting {
                Overwriting::Refused => Operation::Create { content },
                Overwriting::Allowed => Operation::Overwrite { content, if_missing: IfMissing::Create },
            };
            let mode = executable.then_some(Operation::SetExecutable(true));
            std::iter::once(create).chain(mode).collect()
        }
        Action::Delete { hunks, .. } => {
            std::mem::take(hunks).into_iter().map(as_operation).chain([Operation::Delete]).collect()
        }
        Action::Update { hunks, move_to, executable } => {
            let mut operations: Vec<Operation> =
                std::mem::take(hunks).into_iter().filter(is_needed).map(as_operation).collect();
            operations.extend(executable.map(Operation::SetExecutable));
            if let Some(to) = move_to {
                let to = FilePath::parse(to, options.roots, Absolute::InsideRoot)?;
                // Some callers write the file's own path here when it is not moved.
                if file.path.as_deref() != Some(to.as_str()) {
                    operations.push(Operation::Move { to, overwriting: options.overwriting });
                }
            }
            operations
        }
        Action::Replace { blocks } => match &blocks[..] {
            [Block { search, replace, .. }] if search.is_empty() => {
                vec![Operation::Fill { content: replace.clone() }]
            }
            _ => blocks.iter().map(replacement).collect::<Result<_, _>>()?,
        },
    })
}

/// Adds `\r` to the lines of a hunk from a CRLF diff, so that a file without line endings gets CRLF.
fn with_crlf(mut hunk: Hunk, crlf: bool) -> Hunk {
    if crlf {
        let readings = hunk.alternatives.iter_mut().flat_map(|reading| &mut reading.lines);
        let lines = hunk.lines.iter_mut().chain(readings);
        lines.filter(|line| line.newline).for_each(|line| line.text.push('\r'));
    }
    hunk
}

/// Converts a block to an operation. A block with a line number is placed like a hunk: the number only decides
/// between equal matches.
pub fn replacement(block: &Block) -> Result<Operation, ParseError> {
    if block.search.is_empty() {
        return Err(ParseError::invalid(
            ParseProblem::EmptySearch,
            "Put the whole content of a new file into one block. To insert text, repeat a line next to the place in both texts.",
        ));
    }
    Ok(match block.start_line {
        Some(line) if !is_numbered(&block.search) => {
            Operation::Hunk(Box::new(Hunk { line: Some(line), ..as_hunk(block) }))
        }
        _ => Operation::Replace {
            old: block.search.clone(),
            new: block.replace.clone(),
            which: Which::UniqueLines,
            within: None,
        },
    })
}

/// Whether every line has a number in front of it, as viewers print it. Such a text is found as a snippet, without the
/// numbers.
fn is_numbered(text: &str) -> bool {
    text.lines().all(|line| {
        let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < line.trim_start().len() && rest.trim_start().starts_with('|')
    })
}

/// Converts a block to a hunk. Lines that both texts share become context.
fn as_hunk(block: &Block) -> Hunk {
    let (old, new) = (canonical(&block.search), canonical(&block.replace));
    let mut lines = Vec::new();
    let mut push = |role: Role, text: &str| {
        lines.extend(text.lines().map(|line| HunkLine { role, text: line.to_owned(), newline: true }));
    };
    let mut at = 0;
    for change in diff_lines(old.as_bytes(), new.as_bytes()) {
        push(Role::Context, &old[at..change.old.start]);
        push(Role::Removed, &old[change.old.clone()]);
        push(Role::Added, &new[change.new]);
        at = change.old.end;
    }
    push(Role::Context, &old[at..]);
    Hunk { lines, ..Hunk::default() }
}
