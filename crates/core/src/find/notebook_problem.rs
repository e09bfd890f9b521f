//! Why a cell of a notebook cannot be changed.

use slipstitch_text::display::quote_names;

/// Why a cell cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotebookProblem {
    /// The file is not a notebook.
    #[error("the file is not a Jupyter notebook: {0}")]
    NotANotebook(&'static str),
    /// There is no such cell.
    #[error("the notebook has no cell `{cell}`; {}", name_cells(.known, *.more))]
    NoCell {
        /// What the caller calls it.
        cell: String,
        /// What the first cells are called.
        known: Vec<String>,
        /// How many more there are.
        more: usize,
    },
    /// An id does not say which cell is meant.
    #[error("more than one cell of the notebook has the id `{0}`")]
    SameId(String),
    /// The cell is of another type.
    #[error("the cell `{cell}` is a {found} cell, not a {expected} cell")]
    OtherType {
        /// The cell.
        cell: String,
        /// Its type.
        found: String,
        /// The type that the caller expects.
        expected: &'static str,
    },
    /// The notebook's code is in another language.
    #[error("the notebook's language is {found}, not {expected}")]
    OtherLanguage {
        /// The notebook's.
        found: String,
        /// The caller's.
        expected: String,
    },
}

impl NotebookProblem {
    /// What the caller can do next.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::NotANotebook(_) | Self::SameId(_) => "Edit the file as text instead.",
            Self::NoCell { .. } => "Read the notebook for the ids of its cells.",
            Self::OtherType { .. } => {
                "To change the type of a cell, delete it and insert another; otherwise leave the type out."
            }
            Self::OtherLanguage { .. } => "Send code in the notebook's language.",
        }
    }
}

fn name_cells(known: &[String], more: usize) -> String {
    let names = quote_names(known.iter().map(String::as_str));
    match (known.len(), more) {
        (0, _) => "it has no cells".into(),
        (_, 0) => format!("its cells are {names}"),
        _ => format!("its cells are {names} and {more} more"),
    }
}
