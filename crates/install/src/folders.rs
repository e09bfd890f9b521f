//! Directories that an installation creates for a settings file, so that the removal can delete them again.

use std::io;
use std::path::{Path, PathBuf};

/// Separates a journal entry's description from the number of created directories.
const SEPARATOR: &str = "; created directories: ";

/// Directories that were created, outermost first. Unless [kept](Self::keep), those that are empty are removed on drop.
#[derive(Debug)]
pub(crate) struct CreatedFolders {
    folders: Vec<PathBuf>,
}

impl CreatedFolders {
    /// Creates the missing directories above a file.
    pub(crate) fn above(file: &Path) -> io::Result<Self> {
        let folder = file.parent().unwrap_or(Path::new("."));
        let missing = folder
            .ancestors()
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
            .map(Path::to_owned);
        let mut folders: Vec<PathBuf> = missing.collect();
        folders.reverse();
        let created = Self { folders };
        std::fs::create_dir_all(folder)?;
        Ok(created)
    }

    pub(crate) fn keep(mut self) {
        self.folders.clear();
    }

    /// Appends the number of directories to a description for the journal.
    pub(crate) fn describe(&self, description: &str) -> String {
        match self.folders.len() {
            0 => description.to_owned(),
            count => format!("{description}{SEPARATOR}{count}"),
        }
    }
}

impl Drop for CreatedFolders {
    fn drop(&mut self) {
        for folder in self.folders.iter().rev() {
            match std::fs::remove_dir(folder) {
                Ok(()) => {}
                // Creating it failed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // It is not empty, so it is in use.
                Err(_) => break,
            }
        }
    }
}

/// How many directories the change with the journal entry `recorded` created; `None` if its description is not
/// `description`.
pub(crate) fn parse_count(recorded: &str, description: &str) -> Option<usize> {
    match recorded.strip_prefix(description)? {
        "" => Some(0),
        rest => rest.strip_prefix(SEPARATOR)?.parse().ok(),
    }
}

/// Removes the innermost `count` directories above a file that no longer exists, as far as they are empty.
pub(crate) fn remove_empty(file: &Path, count: usize) {
    let mut folders: Vec<PathBuf> = file.ancestors().skip(1).take(count).map(Path::to_owned).collect();
    folders.reverse();
    drop(CreatedFolders { folders });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_only_created_and_empty_directories() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("a/b/c/file");
        std::fs::create_dir(root.path().join("a")).unwrap();
        let created = CreatedFolders::above(&file).unwrap();
        assert_eq!(parse_count(&created.describe("zed"), "zed"), Some(2));
        created.keep();
        assert!(file.parent().unwrap().is_dir());
        std::fs::write(root.path().join("a/b/other"), "").unwrap();
        remove_empty(&file, 2);
        assert!(!root.path().join("a/b/c").exists() && root.path().join("a/b/other").exists());
        std::fs::remove_file(root.path().join("a/b/other")).unwrap();
        std::fs::create_dir(root.path().join("a/b/c")).unwrap();
        remove_empty(&file, 2);
        assert!(!root.path().join("a/b").exists() && root.path().join("a").is_dir());
    }

    #[test]
    fn a_failed_installation_leaves_no_directory() {
        let root = tempfile::tempdir().unwrap();
        drop(CreatedFolders::above(&root.path().join("a/b/file")).unwrap());
        assert!(!root.path().join("a").exists());
    }

    #[test]
    fn recognizes_an_installation_by_its_description() {
        assert_eq!(parse_count("zed", "zed"), Some(0));
        assert_eq!(parse_count("zed as x", "zed"), None);
        assert_eq!(parse_count("zed; created directories: x", "zed"), None);
    }
}
