//! Merges the sections of one file.

use std::collections::HashMap;

use super::source::{Notes, syntax_error};
use super::{Action, FilePatch, PatchError};

/// Merges `sections` into one entry per file, in the order in which files first occur.
pub(super) fn merge(sections: Vec<FilePatch>, notes: &mut Notes) -> Result<Vec<FilePatch>, PatchError> {
    let mut places: HashMap<Option<String>, usize> = HashMap::new();
    let mut files: Vec<FilePatch> = Vec::new();
    for section in sections {
        match places.get(&section.path) {
            // Deleting and creating a file overwrites it, and a file may be created where another one moves away: keep
            // both steps.
            Some(&place)
                if is_recreated(&files[place], &section)
                    || section.takes_place_of(&files[place])
                    || files[place].takes_place_of(&section) =>
            {
                places.insert(section.path.clone(), files.len());
                files.push(section);
            }
            Some(&place) => join(&mut files[place], section, notes)?,
            None => {
                places.insert(section.path.clone(), files.len());
                files.push(section);
            }
        }
    }
    Ok(files)
}

fn is_recreated(first: &FilePatch, second: &FilePatch) -> bool {
    matches!(first.action, Action::Delete { .. }) && matches!(second.action, Action::Create { .. })
}

impl FilePatch {
    /// The old and the new path, if the file is moved.
    fn moved(&self) -> Option<(String, String)> {
        match (&self.path, &self.action) {
            (Some(path), Action::Update { move_to: Some(to), .. }) => Some((path.clone(), to.clone())),
            _ => None,
        }
    }

    /// Whether this creates a file at the path from which the other one moves a file away.
    pub fn takes_place_of(&self, other: &Self) -> bool {
        self.path == other.path
            && matches!(self.action, Action::Create { .. })
            && matches!(other.action, Action::Update { move_to: Some(_), .. })
    }
}

/// Adds the changes of a second section to the first.
fn join(file: &mut FilePatch, section: FilePatch, notes: &mut Notes) -> Result<(), PatchError> {
    let conflict = conflict(file, &section);
    let moved = file.moved();
    match (&mut file.action, section.action) {
        (
            Action::Update { hunks, move_to, executable },
            Action::Update { hunks: more, move_to: to, executable: mode },
        ) if agree(move_to, &to) && agree(executable, &mode) => {
            hunks.extend(more);
            *move_to = move_to.take().or(to);
            *executable = executable.or(mode);
        }
        (Action::Replace { blocks }, Action::Replace { blocks: more }) => blocks.extend(more),
        _ => return Err(conflict),
    }
    file.crlf |= section.crlf;
    if let Some((path, to)) = moved {
        let message = format!(
            "`{path}` is moved to `{to}` at line {}: these changes were made to the moved file too",
            file.line
        );
        notes.repair(section.line.saturating_sub(1), message)?;
    }
    Ok(())
}

/// Whether two values are equal, or at least one is absent.
fn agree<T: PartialEq>(first: &Option<T>, second: &Option<T>) -> bool {
    first.is_none() || second.is_none() || first == second
}

fn conflict(file: &FilePatch, section: &FilePatch) -> PatchError {
    let path = file.path.as_deref().unwrap_or("the file");
    syntax_error(
        section.line.saturating_sub(1),
        format!(
            "`{path}` is {} at line {} and {} at line {}",
            file.action.verb(),
            file.line,
            section.action.verb(),
            section.line
        ),
        "Create, delete, move or update each file only once in a patch.",
    )
}

impl Action {
    /// The action as a past participle, for messages: `created`, `deleted`, `updated` or `moved`.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Create { .. } => "created",
            Self::Delete { .. } => "deleted",
            Self::Update { move_to: Some(_), .. } => "moved",
            Self::Update { .. } | Self::Replace { .. } => "updated",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hunk::Hunk;

    fn section(path: &str, line: usize, action: Action) -> FilePatch {
        FilePatch { path: Some(path.into()), action, line, crlf: false }
    }

    fn update(line: usize, to: Option<&str>) -> FilePatch {
        let hunks = vec![Hunk { line: Some(line), ..Hunk::default() }];
        section("a", line, Action::Update { hunks, move_to: to.map(Into::into), executable: None })
    }

    fn merged(sections: Vec<FilePatch>) -> Result<Vec<FilePatch>, PatchError> {
        merge(sections, &mut Notes::new(false))
    }

    #[test]
    fn changes_under_the_old_name_of_a_moved_file_are_reported() {
        let sections = vec![update(1, Some("b")), update(9, None)];
        let mut notes = Notes::new(false);
        let files = merge(sections.clone(), &mut notes).unwrap();
        assert_eq!(files.len(), 1);
        assert_eq!(notes.repairs[0].line, 9);
        assert_eq!(
            notes.repairs[0].message,
            "`a` is moved to `b` at line 1: these changes were made to the moved file too"
        );
        assert!(merge(sections, &mut Notes::new(true)).is_err(), "strict");
        // Before the move, the name is right.
        let mut notes = Notes::new(true);
        merge(vec![update(1, None), update(9, Some("b"))], &mut notes).unwrap();
    }

    #[test]
    fn merges_updates_of_one_file_in_order() {
        let other = section("b", 5, Action::Delete { hunks: vec![], executable: false });
        let files = merged(vec![update(1, None), other.clone(), update(9, Some("c"))]).unwrap();
        assert_eq!(files.len(), 2);
        let Action::Update { hunks, move_to, .. } = &files[0].action else { panic!() };
        assert_eq!(hunks.iter().map(|hunk| hunk.line).collect::<Vec<_>>(), [Some(1), Some(9)]);
        assert_eq!(move_to.as_deref(), Some("c"));
        assert_eq!(files[1], other);
    }

    #[test]
    fn a_file_may_be_created_where_another_one_moves_away() {
        let create = section("a", 9, Action::Create { content: "new\n".into(), executable: false });
        for sections in
            [vec![update(1, Some("b")), create.clone()], vec![create.clone(), update(9, Some("b"))]]
        {
            assert_eq!(merged(sections.clone()).unwrap(), sections);
        }
        // Not twice, and not where it stays.
        assert!(merged(vec![update(1, Some("b")), create.clone(), create.clone()]).is_err());
        assert!(merged(vec![update(1, None), create]).is_err());
    }

    #[test]
    fn names_both_conflicting_sections() {
        let delete = section("a", 9, Action::Delete { hunks: vec![], executable: false });
        let error = merged(vec![update(1, None), delete]).unwrap_err();
        assert_eq!(error.message, "`a` is updated at line 1 and deleted at line 9");
        assert!(merged(vec![update(1, Some("b")), update(2, Some("c"))]).is_err());
    }
}
