//! Directories that an installation creates for a settings file, so that the removal can delete them again.

use std::io;
use std::path::{Path, PathBuf};

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

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.folders.len()
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
        assert_eq!(created.count(), 2);
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
}
