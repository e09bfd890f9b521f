//! Folders that an installation makes for a host's file, so that `uninstall` can take them away again.

use std::io;
use std::path::{Path, PathBuf};

/// Between the arguments and the number in the journal's description.
const NOTE: &str = "; folders made: ";

/// Folders that were made, the outermost first. Dropping it removes them again if they are empty.
#[derive(Debug)]
pub(super) struct Made {
    folders: Vec<PathBuf>,
}

impl Made {
    /// Makes the folder of a file that is not there yet, and those above it.
    pub(super) fn above(file: &Path) -> io::Result<Self> {
        let folder = file.parent().unwrap_or(Path::new("."));
        let missing: Vec<PathBuf> = folder
            .ancestors()
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
            .map(Path::to_owned)
            .collect();
        let made = Self { folders: missing.into_iter().rev().collect() };
        std::fs::create_dir_all(folder)?;
        Ok(made)
    }

    /// Leaves them where they are.
    pub(super) fn keep(mut self) {
        self.folders.clear();
    }

    /// What the journal is told of an installation.
    pub(super) fn note(&self, arguments: &str) -> String {
        match self.folders.len() {
            0 => arguments.to_owned(),
            count => format!("{arguments}{NOTE}{count}"),
        }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for folder in self.folders.iter().rev() {
            // One that is not empty is in use.
            if std::fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}

/// How many folders the installation made that has this description; `None` if it is not one with these arguments.
pub(super) fn noted(description: &str, arguments: &str) -> Option<usize> {
    match description.strip_prefix(arguments)? {
        "" => Some(0),
        rest => rest.strip_prefix(NOTE)?.parse().ok(),
    }
}

/// Removes the folders that were made for a file which is gone, if nothing else is in them.
pub(super) fn remove(file: &Path, count: usize) {
    let folders: Vec<PathBuf> = file.ancestors().skip(1).take(count).map(Path::to_owned).collect();
    drop(Made { folders: folders.into_iter().rev().collect() });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_made_and_is_empty_goes() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("a/b/c/file");
        std::fs::create_dir(root.path().join("a")).unwrap();
        let made = Made::above(&file).unwrap();
        let note = made.note("--client zed");
        assert_eq!(noted(&note, "--client zed"), Some(2));
        made.keep();
        assert!(file.parent().unwrap().is_dir());
        std::fs::write(root.path().join("a/b/other"), "").unwrap();
        remove(&file, 2);
        assert!(!root.path().join("a/b/c").exists() && root.path().join("a/b/other").exists());
        std::fs::remove_file(root.path().join("a/b/other")).unwrap();
        remove(&file, 2);
        assert!(!root.path().join("a/b/c").exists() && root.path().join("a").is_dir());
    }

    #[test]
    fn a_failure_leaves_no_folder() {
        let root = tempfile::tempdir().unwrap();
        drop(Made::above(&root.path().join("a/b/file")).unwrap());
        assert!(!root.path().join("a").exists());
    }

    #[test]
    fn an_installation_is_known_by_its_arguments() {
        assert_eq!(noted("--client zed", "--client zed"), Some(0));
        assert_eq!(noted("--client zed --name x", "--client zed"), None);
        assert_eq!(noted("--client zed; folders made: x", "--client zed"), None);
    }
}
