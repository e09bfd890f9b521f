//! Cells of Jupyter notebooks.
//!
//! A cell is named by its id, so there is nothing to search for. The hard part is leaving the rest of the file alone: parsing a
//! notebook and writing it again changes its indentation, escapes, numbers and the order of its fields. So the file is never
//! written as a whole. We find the list of cells, the cell and its source in the text, and a change is a splice there, in the
//! file's own layout.

mod json;
mod layout;

use serde_json::Value;

use super::error::Reason;
use super::notebook_problem::NotebookProblem;
use super::resolved_edit::{ResolvedEdit, resolved_at};
use crate::plan::{CellChange, CellContent, CellEdit, CellPlace, EditRules};
use crate::snapshot::Snapshot;
use json::Member;
use layout::{Layout, quote, source_like};
use slipstitch_text::{ContentHash, Span, canonical};

/// Maximum number of cells that a message names.
const MAX_NAMED: usize = 30;
/// How many hex digits the id of a new cell has, as in Jupyter.
const ID_DIGITS: usize = 8;

/// The fields that are read besides the list of cells. Where one is repeated, programs take the last, so a change to another
/// would have no effect.
const ROOT_FIELDS: [&str; 3] = ["metadata", "nbformat", "nbformat_minor"];
/// The fields of a cell that are read or changed.
const CELL_FIELDS: [&str; 3] = ["cell_type", "id", "source"];

/// Finds the cell that a change is about, and the text to write there.
pub(super) fn resolve_cell(
    edit: usize,
    change: &CellEdit,
    rules: EditRules,
    snapshot: &Snapshot,
) -> Result<ResolvedEdit, Reason> {
    let text = snapshot.text();
    let splice = Notebook::parse(text).and_then(|notebook| notebook.splice(change));
    let CellSplice { at, new, note } = splice.map_err(Reason::Notebook)?;
    let resolved = resolved_at(edit, at, new, rules.newline, snapshot)?;
    Ok(ResolvedEdit { notes: note.into_iter().collect(), ..resolved })
}

/// New text for a part of the file.
struct CellSplice {
    at: Span,
    new: String,
    note: Option<String>,
}

/// The places of a notebook's cells in its text.
struct Notebook<'t> {
    text: &'t [u8],
    fields: Vec<Member>,
    /// Where the field with the cells starts, and its value.
    list: (usize, Span),
    cells: Vec<Cell>,
}

/// The places of a cell and its fields.
struct Cell {
    at: Span,
    fields: Vec<Member>,
    id: Option<String>,
}

impl Cell {
    fn field(&self, name: &str) -> Option<Span> {
        field(&self.fields, name)
    }
}

fn field(fields: &[Member], name: &str) -> Option<Span> {
    fields.iter().find(|field| field.name == name).map(|field| field.value)
}

/// Whether one of these fields occurs more than once.
fn has_repeated(fields: &[Member], names: &[&str]) -> bool {
    names.iter().any(|name| fields.iter().filter(|field| field.name == *name).nth(1).is_some())
}

impl<'t> Notebook<'t> {
    fn parse(text: &'t [u8]) -> Result<Self, NotebookProblem> {
        let problem = NotebookProblem::NotANotebook;
        let root = json::document(text).ok_or(problem("it is not JSON"))?;
        let fields = json::members(text, root).ok_or(problem("it is not a JSON object"))?;
        let mut lists = fields.iter().filter(|field| field.name == "cells");
        let (Some(list), None) = (lists.next(), lists.next()) else {
            return Err(problem("it does not have one list `cells`"));
        };
        if has_repeated(&fields, &ROOT_FIELDS) {
            return Err(problem("one of its fields occurs more than once"));
        }
        let list = (list.start, list.value);
        let spans = json::items(text, list.1).ok_or(problem("`cells` is not a list"))?;
        let cell = |at: Span| {
            let fields = json::members(text, at)?;
            let id = field(&fields, "id").and_then(|at| json::parse(text, at));
            Some(Cell { at, fields, id })
        };
        let cells = spans.into_iter().map(cell).collect::<Option<Vec<_>>>();
        let cells = cells.ok_or(problem("`cells` contains items that are not cells"))?;
        if cells.iter().any(|cell| has_repeated(&cell.fields, &CELL_FIELDS)) {
            return Err(problem("a field of one of its cells occurs more than once"));
        }
        Ok(Self { text, fields, list, cells })
    }

    fn splice(&self, edit: &CellEdit) -> Result<CellSplice, NotebookProblem> {
        let source = canonical(edit.source());
        match &edit.change {
            CellChange::Replace { content, .. } => {
                let index = self.index_at(&edit.place)?;
                self.replace(index, &source, content.as_ref())
            }
            CellChange::Insert { content, .. } => self.insert(&edit.place, &source, content),
            CellChange::Delete => Ok(self.delete(self.index_at(&edit.place)?)),
        }
    }

    fn replace(
        &self,
        index: usize,
        source: &str,
        content: Option<&CellContent>,
    ) -> Result<CellSplice, NotebookProblem> {
        let cell = &self.cells[index];
        if let Some(content) = content {
            self.check_type(index, content)?;
        }
        let at = cell.field("source").ok_or(NotebookProblem::NotANotebook("the cell has no source"))?;
        let new = source_like(self.text, at, &Layout::of_cell(self.text, cell), source);
        Ok(CellSplice { at, new, note: None })
    }

    fn insert(
        &self,
        place: &CellPlace,
        source: &str,
        content: &CellContent,
    ) -> Result<CellSplice, NotebookProblem> {
        let (field, list) = self.list;
        self.check_language(content)?;
        let id = self.uses_ids().then(|| self.new_id(source));
        let note = id.as_ref().map(|id| format!("the new cell is `{id}`"));
        let after = match place {
            CellPlace::Start => None,
            CellPlace::End => self.cells.len().checked_sub(1),
            CellPlace::Id(_) => Some(self.index_at(place)?),
        };
        let Some(neighbour) = self.cells.get(after.unwrap_or(0)) else {
            let layout = Layout::of_first_cell(self.text, &self.fields, field);
            let cell = layout.object(&new_cell(content, id, layout.source_lines(source)));
            return Ok(CellSplice { at: list, new: layout.list_of_one(&cell, field, self.text), note });
        };
        let layout = Layout::of_cell(self.text, neighbour);
        let source = match neighbour.field("source") {
            Some(at) if json::items(self.text, at).is_none() => quote(source),
            _ => layout.source_lines(source),
        };
        let cell = layout.object(&new_cell(content, id, source));
        let separator = layout.separator(self.text, neighbour.at.start());
        let (at, new) = match after {
            Some(_) => (neighbour.at.end(), separator + &cell),
            None => (neighbour.at.start(), cell + &separator),
        };
        Ok(CellSplice { at: Span::new(at, at), new, note })
    }

    /// Deletes a cell and the comma that separates it from another one.
    fn delete(&self, index: usize) -> CellSplice {
        let cell = &self.cells[index];
        let before = index.checked_sub(1).and_then(|before| self.cells.get(before));
        let (at, new) = match (self.cells.get(index + 1), before) {
            (Some(next), _) => (Span::new(cell.at.start(), next.at.start()), ""),
            (None, Some(before)) => (Span::new(before.at.end(), cell.at.end()), ""),
            (None, None) => (self.list.1, "[]"),
        };
        CellSplice { at, new: new.into(), note: None }
    }

    /// The cell that a place names.
    fn index_at(&self, place: &CellPlace) -> Result<usize, NotebookProblem> {
        let name = match place {
            CellPlace::Id(name) => name.as_str(),
            CellPlace::Start => "TOP",
            CellPlace::End => "BOTTOM",
        };
        let mut found = (0..self.cells.len()).filter(|index| self.name(*index) == name);
        match (found.next(), found.next()) {
            (Some(index), None) => Ok(index),
            (Some(_), Some(_)) => Err(NotebookProblem::SameId(name.into())),
            (None, _) => {
                let known = (0..self.cells.len().min(MAX_NAMED)).map(|index| self.name(index)).collect();
                let more = self.cells.len().saturating_sub(MAX_NAMED);
                Err(NotebookProblem::NoCell { cell: name.into(), known, more })
            }
        }
    }

    /// What a cell is called: its id, or its number from 0.
    fn name(&self, index: usize) -> String {
        self.cells[index].id.clone().unwrap_or_else(|| format!("cell-{index}"))
    }

    fn check_type(&self, index: usize, content: &CellContent) -> Result<(), NotebookProblem> {
        let found = self.cells[index].field("cell_type").and_then(|at| json::parse::<String>(self.text, at));
        match found {
            Some(found) if found != content.cell_type() => {
                let (cell, expected) = (self.name(index), content.cell_type());
                Err(NotebookProblem::OtherType { cell, found, expected })
            }
            _ => self.check_language(content),
        }
    }

    /// Refuses code in a language other than the notebook's, because its kernel could not run it.
    fn check_language(&self, content: &CellContent) -> Result<(), NotebookProblem> {
        let CellContent::Code(Some(expected)) = content else { return Ok(()) };
        let metadata = field(&self.fields, "metadata");
        let metadata = metadata.and_then(|at| json::parse::<Value>(self.text, at)).unwrap_or_default();
        let named = [&metadata["language_info"]["name"], &metadata["kernelspec"]["language"]];
        let named: Vec<&str> = named.into_iter().filter_map(Value::as_str).collect();
        if named.is_empty() || named.iter().any(|name| name.eq_ignore_ascii_case(expected)) {
            return Ok(());
        }
        Err(NotebookProblem::OtherLanguage { found: named[0].into(), expected: expected.clone() })
    }

    /// Whether the notebook's format has ids, as it does since 4.5.
    fn uses_ids(&self) -> bool {
        let number = |name| field(&self.fields, name).and_then(|at| json::parse::<u64>(self.text, at));
        number("nbformat") > Some(4) || (number("nbformat"), number("nbformat_minor")) >= (Some(4), Some(5))
    }

    /// An id that no cell has yet. The same call on the same file gives the same id.
    fn new_id(&self, source: &str) -> String {
        let file = ContentHash::of(self.text);
        let ids = (0_u64..).map(|attempt| {
            let hash = ContentHash::of(format!("{file} {attempt} {source}").as_bytes()).to_string();
            hash.trim_start_matches("b3:").chars().take(ID_DIGITS).collect::<String>()
        });
        let is_new = |id: &String| self.cells.iter().all(|cell| cell.id.as_ref() != Some(id));
        ids.into_iter().find(is_new).unwrap_or_default()
    }
}

/// The fields of a new cell, in the order in which Jupyter writes them.
fn new_cell(content: &CellContent, id: Option<String>, source: String) -> Vec<(&'static str, String)> {
    let is_code = matches!(content, CellContent::Code(_));
    let mut fields = vec![("cell_type", quote(content.cell_type()))];
    fields.extend(is_code.then(|| ("execution_count", "null".into())));
    fields.extend(id.map(|id| ("id", quote(&id))));
    fields.push(("metadata", "{}".into()));
    fields.extend(is_code.then(|| ("outputs", "[]".into())));
    fields.push(("source", source));
    fields
}
