//! From a patch to a plan: one entry per file, all of them carried out together or not at all.

use crate::outcome::Invalid;
use crate::path::{Absolute, FilePath, RootName};
use crate::plan::ParseError;
use crate::plan::{EditPlan, EditRules, FilePlan, Missing, Operation, Overwriting, Placing, Shrink, Which};
use slipstitch_patch::{
    Action, Block, Fault, FilePatch, Format, Hunk, HunkLine, Options, Patch, PatchError, Role, parse,
};
use slipstitch_text::canonical;
use slipstitch_text::narrow;

/// How a patch is to be read and carried out.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// Its format; found out if none is given.
    pub format: Option<Format>,
    /// How it is to be read.
    pub options: Options,
    /// Which way it is to be carried out.
    pub direction: PatchDirection,
    /// The file that it is about, for a patch that names none or one by another path.
    pub path: Option<&'a FilePath>,
    /// The root's names, for paths given in full.
    pub roots: &'a [RootName],
    /// What files mean that are in the way of files to be made or moved.
    pub over: Overwriting,
    /// How far lines may differ from the file's.
    pub placing: Placing,
}

/// Which way a patch is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchDirection {
    /// As written.
    Forward,
    /// In reverse.
    Reverse,
}

/// Reads a patch and plans it.
pub fn plan(text: &str, terms: &Terms<'_>) -> Result<EditPlan, ParseError> {
    let patch = read(text, terms)?;
    let mut warnings: Vec<String> =
        patch.repairs.iter().map(|repair| format!("patch line {}: {}", repair.line, repair.what)).collect();
    let files = files(&patch, terms, &mut warnings)?;
    Ok(EditPlan { warnings, ..EditPlan::new(files, rules(patch.format, terms.placing)) })
}

/// Reads a patch the way round that is asked for.
pub fn read(text: &str, terms: &Terms<'_>) -> Result<Patch, ParseError> {
    let patch = parse(text, terms.format, terms.options)?;
    Ok(match terms.direction {
        PatchDirection::Forward => patch,
        PatchDirection::Reverse => patch.reversed()?,
    })
}

/// How the edits of a patch are carried out. Whoever names the lines that go, one by one, has said that
/// they may go.
pub fn rules(format: Format, placing: Placing) -> EditRules {
    let shrink = match format {
        Format::Unified | Format::V4a => Shrink::Allowed,
        Format::SearchReplace => Shrink::Guarded,
    };
    EditRules { placing, shrink, ..EditRules::NATIVE }
}

fn files(patch: &Patch, terms: &Terms<'_>, warnings: &mut Vec<String>) -> Result<Vec<FilePlan>, ParseError> {
    let mut plans: Vec<(FilePlan, &FilePatch)> = Vec::new();
    for file in &patch.files {
        let path = path(file, patch, terms, warnings)?;
        let added = operations(file, terms)?;
        match plans.iter_mut().find(|(plan, _)| plan.path == path) {
            None => plans.push((FilePlan { path, version: None, operations: added }, file)),
            Some((plan, first)) => join(plan, first, added, file)?,
        }
    }
    Ok(plans.into_iter().map(|(plan, _)| plan).collect())
}

/// The file that a part of a patch is about.
fn path(
    file: &FilePatch,
    patch: &Patch,
    terms: &Terms<'_>,
    warnings: &mut Vec<String>,
) -> Result<FilePath, ParseError> {
    let named = match &file.path {
        Some(name) => Some(FilePath::parse(name, terms.roots, Absolute::InsideRoot)?),
        None => None,
    };
    match (named, terms.path) {
        (Some(named), None) => Ok(named),
        (None, Some(path)) => Ok(path.clone()),
        (None, None) => Err(refusal(
            format!("patch line {}: the patch does not say which file it is for", file.line),
            "Put the file's name into the patch (`--- a/NAME` and `+++ b/NAME`, `*** Update File: NAME`, or NAME above a block), or name it beside the patch.",
        )),
        (Some(named), Some(path)) if named == *path => Ok(named),
        (Some(_), Some(path)) if patch.files.len() > 1 => Err(refusal(
            format!("the patch is about {} files, and `{path}` was named beside it", patch.files.len()),
            "Leave the path out: the patch names its files itself.",
        )),
        (Some(named), Some(path)) if named.name() == path.name() => {
            warnings
                .push(format!("the patch names `{named}`; it was applied to `{path}`, as named beside it"));
            Ok(path.clone())
        }
        (Some(named), Some(path)) => Err(refusal(
            format!("the patch is for `{named}`, and `{path}` was named beside it"),
            "Leave the path out, or name the same file in both.",
        )),
    }
}

fn refusal(message: impl Into<String>, hint: impl Into<String>) -> ParseError {
    ParseError::new(message, hint)
}

impl From<PatchError> for ParseError {
    fn from(error: PatchError) -> Self {
        let reason = match error.fault {
            Fault::Path => Invalid::BadPath,
            Fault::Unsupported => Invalid::UnsupportedPatch,
            _ => Invalid::BadPatch,
        };
        let message = error.to_string();
        Self { outcome: reason.into(), ..Self::new(message, error.hint) }
    }
}

/// Two parts of a patch about one file: lines changed in both, or the file made anew.
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
            plan.operations = vec![Operation::Overwrite { content, missing: Missing::Fail }];
            plan.operations.push(Operation::SetExecutable(*executable));
        }
        _ if plan.operations.iter().all(on_lines) => plan.operations.extend(added),
        _ => {
            let message = format!(
                "the patch is about `{}` twice, at lines {} and {}, and the two do not go together",
                plan.path, first.line, second.line
            );
            return Err(refusal(message, "Put everything about one file into one part of the patch."));
        }
    }
    Ok(())
}

/// What a part of a patch does to its file.
pub fn operations(file: &FilePatch, terms: &Terms<'_>) -> Result<Vec<Operation>, ParseError> {
    let hunks = |hunks: &[Hunk]| -> Vec<Operation> {
        hunks.iter().map(|hunk| Operation::Hunk(Box::new(with_ends(hunk, file.crlf)))).collect()
    };
    Ok(match &file.action {
        Action::Create { content, executable } => {
            let content = content.clone();
            let made = match terms.over {
                Overwriting::Refused => Operation::Create { content },
                Overwriting::Allowed => Operation::Overwrite { content, missing: Missing::Create },
            };
            let mode = executable.then_some(Operation::SetExecutable(true));
            std::iter::once(made).chain(mode).collect()
        }
        Action::Delete { hunks: list, .. } => hunks(list).into_iter().chain([Operation::Delete]).collect(),
        Action::Update { hunks: list, move_to, executable } => {
            let mut operations = hunks(list);
            operations.extend(executable.map(Operation::SetExecutable));
            if let Some(to) = move_to {
                let to = FilePath::parse(to, terms.roots, Absolute::InsideRoot)?;
                // Some callers name the file itself where it is not to be moved.
                if file.path.as_deref() != Some(to.as_str()) {
                    operations.push(Operation::Move { to, over: terms.over });
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

/// A hunk whose lines say that they end in `\r\n`, as the diff does: a file that has no line ends gets them.
fn with_ends(hunk: &Hunk, crlf: bool) -> Hunk {
    let mut hunk = hunk.clone();
    if crlf {
        let lines = hunk.lines.iter_mut().chain(hunk.alternative.iter_mut().flatten());
        lines.filter(|line| line.newline).for_each(|line| line.text.push('\r'));
    }
    hunk
}

/// A block as an operation. One that says where it stands is placed like a hunk: a number that is off
/// only decides between equal texts.
fn replacement(block: &Block) -> Result<Operation, ParseError> {
    if block.search.is_empty() {
        return Err(refusal(
            "a block with an empty search text makes a file, and other blocks change the same file",
            "Put the whole content of a new file into one block; to insert, name a line beside the place in both texts.",
        ));
    }
    Ok(match block.start_line {
        Some(line) => Operation::Hunk(Box::new(Hunk { line: Some(line), ..as_hunk(block) })),
        None => Operation::Replace {
            old: block.search.clone(),
            new: block.replace.clone(),
            which: Which::Unique,
            within: None,
        },
    })
}

/// The lines that both texts of a block share stay.
fn as_hunk(block: &Block) -> Hunk {
    let (old, new) = (canonical(&block.search), canonical(&block.replace));
    let mut lines = Vec::new();
    let mut push = |role: Role, text: &str| {
        lines.extend(text.lines().map(|line| HunkLine { role, text: line.to_owned(), newline: true }));
    };
    let mut at = 0;
    for swap in narrow(old.as_bytes(), new.as_bytes()) {
        push(Role::Context, &old[at..swap.old.start]);
        push(Role::Removed, &old[swap.old.clone()]);
        push(Role::Added, &new[swap.new]);
        at = swap.old.end;
    }
    push(Role::Context, &old[at..]);
    Hunk { lines, ..Hunk::default() }
}
