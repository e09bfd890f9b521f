//! Changes to the cells of a Jupyter notebook.

use std::fmt;

/// A change to one cell of a notebook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellEdit {
    /// The cell, or the one that the new cell comes after.
    pub place: CellPlace,
    /// What to do.
    pub change: CellChange,
}

/// A place in a notebook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellPlace {
    /// The cell with this id. `cell-3` also names the fourth cell, if that has no id.
    Id(String),
    /// Before the first cell.
    Start,
    /// After the last cell.
    End,
}

/// What to do with a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellChange {
    /// Replace its source. Everything else in the cell is kept.
    Replace {
        /// The new source.
        source: String,
        /// What the caller takes the cell for.
        content: Option<CellContent>,
    },
    /// Insert a cell after the place.
    Insert {
        /// The source.
        source: String,
        /// What the cell contains.
        content: CellContent,
    },
    /// Delete the cell.
    Delete,
}

/// What a cell contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellContent {
    /// Code, in this language if the caller names one.
    Code(Option<String>),
    /// Markdown.
    Markdown,
    /// Text that is neither.
    Raw,
}

impl CellContent {
    /// The value of `cell_type` in the file.
    pub fn cell_type(&self) -> &'static str {
        match self {
            Self::Code(_) => "code",
            Self::Markdown => "markdown",
            Self::Raw => "raw",
        }
    }
}

impl CellEdit {
    /// The source that the change writes.
    pub fn source(&self) -> &str {
        match &self.change {
            CellChange::Replace { source, .. } | CellChange::Insert { source, .. } => source,
            CellChange::Delete => "",
        }
    }
}

impl fmt::Display for CellContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.cell_type())
    }
}
