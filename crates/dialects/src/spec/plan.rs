//! Plans from the fields of described tools.

use serde_json::Value;

use super::{Action, EmptyOld, Existing, Field, Paths, RULES, Role, Spec};
use crate::read_plan;
use slipstitch_core::dialect::Arguments;
use slipstitch_core::path::{Absolute, FilePath, RootName};
use slipstitch_core::plan::patch::{PatchDirection, PatchOptions, plan as plan_patch};
use slipstitch_core::plan::{
    Batch, EditPlan, EditRules, FilePlan, Footer, IfMissing, LinePrefix, Operation, ParseError, Plan, ReadOn,
    ReadPlan, Sketch, Tolerance, Which,
};
use slipstitch_patch::Format;

/// Parses a call of a described tool, whose arguments match the schema.
pub(super) fn parse(spec: &Spec, arguments: Arguments<'_>) -> Result<Plan, ParseError> {
    let call = Values { fields: spec.fields, values: &arguments.fields };
    let description = call.text(Role::Purpose).map(str::to_owned);
    let mut plan = match spec.action {
        Action::Replace(empty) => {
            let plan = EditPlan::new(replacements(spec, &call, empty, arguments.roots)?, RULES);
            Plan::Edit(EditPlan { warnings: arguments.warnings, ..plan })
        }
        Action::Write(existing) => {
            let content = call.text(Role::Content).unwrap_or_default().to_owned();
            let operation = match existing {
                Existing::Overwritten => Operation::Overwrite { content, if_missing: IfMissing::Create },
                Existing::Refused => Operation::Create { content },
            };
            edit_plan(call.path(spec, arguments.roots)?, vec![operation], arguments.warnings)?
        }
        Action::Sketch => {
            let operation = Operation::Sketch(Sketch::new(call.text(Role::Content).unwrap_or_default()));
            edit_plan(call.path(spec, arguments.roots)?, vec![operation], arguments.warnings)?
        }
        Action::Read(prefix) => read(spec, &call, prefix, arguments.roots)?,
        Action::Patch(format) => {
            let text = call.text(Role::Patch).unwrap_or_default();
            Plan::Edit(patch_plan(text, format, None, &arguments)?)
        }
        Action::Blocks => {
            let path = call.path(spec, arguments.roots)?;
            let text = call.text(Role::Patch).unwrap_or_default();
            let plan = patch_plan(text, Some(Format::SearchReplace), Some(&path), &arguments)?;
            Plan::Edit(EditPlan { rules: EditRules { batch: Batch::InOrder, ..plan.rules }, ..plan })
        }
    };
    if let Plan::Edit(plan) = &mut plan {
        plan.description = description;
    }
    Ok(plan)
}

/// The values of a call, by the roles of their fields.
#[derive(Clone, Copy)]
struct Values<'a> {
    fields: &'static [Field],
    values: &'a Value,
}

impl<'a> Values<'a> {
    fn get(&self, role: Role) -> Option<&'a Value> {
        let field = self.fields.iter().find(|field| field.role == role)?;
        self.values.get(field.name)
    }

    fn text(&self, role: Role) -> Option<&'a str> {
        self.get(role)?.as_str()
    }

    fn number(&self, role: Role) -> Option<usize> {
        usize::try_from(self.get(role)?.as_u64()?).ok()
    }

    fn path(&self, spec: &Spec, roots: &[RootName]) -> Result<FilePath, ParseError> {
        resolve_path(self.text(Role::Path).unwrap_or_default(), spec.paths, roots)
    }

    /// The items of the list of edits; `None` if the tool takes a single edit.
    fn edits(&self) -> Option<Vec<Self>> {
        let field = self.fields.iter().find(|field| field.role == Role::Edits)?;
        let items = self.values.get(field.name)?.as_array()?;
        Some(items.iter().map(|values| Values { fields: field.items, values }).collect())
    }

    fn replacement(&self) -> Operation {
        let is_set = |role| self.get(role).and_then(Value::as_bool) == Some(true);
        let which = match self.number(Role::Expected) {
            _ if is_set(Role::All) => Which::All,
            None | Some(1) => Which::Unique,
            Some(count) => Which::Exactly(count),
        };
        let text = |role| self.text(role).unwrap_or_default().to_owned();
        Operation::Replace { old: text(Role::Old), new: text(Role::New), which, within: None }
    }
}

/// A file as a tool family writes its path.
pub(crate) fn resolve_path(text: &str, paths: Paths, roots: &[RootName]) -> Result<FilePath, ParseError> {
    let relative = match (paths, text.split_once('/')) {
        (Paths::WithRootName, Some((first, rest))) if !rest.is_empty() => {
            let names_root =
                |root: &RootName| root.prefix.is_empty() && root.name.ends_with(&format!("/{first}"));
            if !first.is_empty() && roots.iter().any(names_root) { rest } else { text }
        }
        _ => text,
    };
    Ok(FilePath::parse(relative, roots, Absolute::InsideRoot)?)
}

/// Plans operations on one file.
pub(crate) fn edit_plan(
    path: FilePath,
    operations: Vec<Operation>,
    warnings: Vec<String>,
) -> Result<Plan, ParseError> {
    let files = vec![FilePlan { path, version: None, operations }];
    Ok(Plan::Edit(EditPlan { warnings, ..EditPlan::new(files, RULES) }))
}

/// Plans the edits of a patch.
pub(crate) fn patch_plan(
    text: &str,
    format: Option<Format>,
    path: Option<&FilePath>,
    arguments: &Arguments<'_>,
) -> Result<EditPlan, ParseError> {
    let options = PatchOptions {
        format,
        parse_options: Default::default(),
        direction: PatchDirection::Forward,
        path,
        roots: arguments.roots,
        overwriting: arguments.settings.patch.overwriting(),
        tolerance: Tolerance::Recover,
    };
    let mut plan = plan_patch(text, &options)?;
    plan.warnings.splice(0..0, arguments.warnings.iter().cloned());
    Ok(plan)
}

/// The replacements of a call, by file: a single one, several in one file, or several in several files.
fn replacements(
    spec: &Spec,
    call: &Values<'_>,
    empty: EmptyOld,
    roots: &[RootName],
) -> Result<Vec<FilePlan>, ParseError> {
    let Some(edits) = call.edits() else {
        let path = call.path(spec, roots)?;
        let operation = match (call.replacement(), empty) {
            (Operation::Replace { old, new, .. }, EmptyOld::Creates) if old.is_empty() => {
                Operation::Fill { content: new }
            }
            (operation, _) => operation,
        };
        return Ok(vec![FilePlan { path, version: None, operations: vec![operation] }]);
    };
    if edits.is_empty() {
        let list = spec.fields.iter().find(|field| field.role == Role::Edits).map_or("", |field| field.name);
        return Err(ParseError::new(format!("`{list}` is an empty list"), "Put at least one edit into it."));
    }
    let mut files: Vec<FilePlan> = Vec::new();
    for edit in edits {
        let path = match (edit.get(Role::Path), call.get(Role::Path)) {
            (None, _) => call.path(spec, roots)?,
            (Some(_), None) => edit.path(spec, roots)?,
            (Some(_), Some(_)) => {
                let (own, whole) = (edit.path(spec, roots)?, call.path(spec, roots)?);
                if own != whole {
                    return Err(ParseError::new(
                        format!("the call is about `{whole}`, but one of its edits about `{own}`"),
                        "Send one call for each file.",
                    ));
                }
                whole
            }
        };
        let operation = edit.replacement();
        match files.iter_mut().find(|file| file.path == path) {
            Some(file) => file.operations.push(operation),
            None => files.push(FilePlan { path, version: None, operations: vec![operation] }),
        }
    }
    Ok(files)
}

fn read(spec: &Spec, call: &Values<'_>, prefix: LinePrefix, roots: &[RootName]) -> Result<Plan, ParseError> {
    let path = call.path(spec, roots)?;
    let range = match call.get(Role::Range).and_then(Value::as_array) {
        Some(range) if range.iter().any(|line| *line != 0) => view_range(range)?,
        _ => {
            let first = call.number(Role::First).or_else(|| Some(call.number(Role::FirstFromZero)? + 1));
            let limit = call.number(Role::Limit);
            let last = limit.map(|limit| first.unwrap_or(1).saturating_add(limit - 1));
            [first, call.number(Role::Last).or(last)]
        }
    };
    Ok(match read_plan(path, range, Footer::Unusual) {
        Plan::Read(plan) => {
            let counts_from_zero = |field: &Field| field.role == Role::FirstFromZero && field.is_listed;
            let read_on =
                if spec.fields.iter().any(counts_from_zero) { ReadOn::Offset } else { ReadOn::Line };
            Plan::Read(ReadPlan { prefix, read_on, ..plan })
        }
        plan => plan,
    })
}

/// `[11, 20]`, or `[11, -1]` for everything from line 11.
fn view_range(range: &[Value]) -> Result<[Option<usize>; 2], ParseError> {
    let line =
        |value: &Value| value.as_u64().and_then(|line| usize::try_from(line).ok()).filter(|line| *line > 0);
    match range {
        [first, last] if last.as_i64() == Some(-1) && line(first).is_some() => Ok([line(first), None]),
        [first, last] if line(first).is_some() && line(first) <= line(last) => Ok([line(first), line(last)]),
        _ => Err(ParseError::new(
            "the range of lines is not a first and a last line",
            "Send the first and the last line, counting from 1, such as [11, 20]; [11, -1] shows everything from line 11.",
        )),
    }
}
