//! Emacs' auto-save files, and the lists of them.
//!
//! By default, Emacs writes the unsaved text of a buffer to `#name#` after some seconds, and deletes that file when the buffer is
//! saved. Each time, it also writes the names of the files that it has open to `auto-save-list/.saves-PID-HOST~` in its own
//! folder: two lines for each buffer, the file and its auto-save file. So an Emacs that cannot be asked still shows what it
//! has open, even with lock files off.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Maximum size of a list that is read.
const MAX_LIST_BYTES: u64 = 1 << 20;

/// A file that an Emacs lists as open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenFile {
    /// The index of the file among those that were looked for.
    pub(crate) file: usize,
    /// The name of its auto-save file, if that has unsaved changes.
    pub(crate) auto_save: Option<String>,
}

/// The file where Emacs keeps the unsaved text of a buffer in case it crashes, if it is newer than the file itself.
pub(crate) fn find_newer(file: &Path) -> Option<String> {
    let name = format!("#{}#", file.file_name()?.to_str()?);
    is_newer(&file.with_file_name(&name), file).then_some(name)
}

/// Which of some files a process lists as open. The files are given with symlinks resolved; `folders` may contain the list.
pub(crate) fn find_listed(pid: i32, folders: &[PathBuf], files: &[Option<PathBuf>]) -> Vec<OpenFile> {
    let mut open = Vec::new();
    for list in folders.iter().filter_map(|folder| read_list(pid, folder)) {
        let lines: Vec<&str> = list.lines().collect();
        for pair in lines.chunks_exact(2) {
            // A buffer without a file has an empty line.
            let visited = Path::new(pair[0]);
            if !visited.is_absolute() {
                continue;
            }
            let real = fs::canonicalize(visited).unwrap_or_else(|_| visited.to_owned());
            let Some(file) = files.iter().position(|file| file.as_ref() == Some(&real)) else { continue };
            let copy = Path::new(pair[1]);
            let auto_save = is_newer(copy, &real)
                .then(|| copy.file_name().unwrap_or_default().to_string_lossy().into_owned());
            open.push(OpenFile { file, auto_save });
        }
    }
    open
}

/// The list of a process in a folder. Its name ends with that of the machine, which may be written in several ways.
fn read_list(pid: i32, folder: &Path) -> Option<String> {
    let start = format!(".saves-{pid}-");
    let entries = fs::read_dir(folder).ok()?;
    let list = entries
        .flatten()
        .find(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(&start)))?;
    let mut text = String::new();
    fs::File::open(list.path()).ok()?.take(MAX_LIST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

fn is_newer(copy: &Path, file: &Path) -> bool {
    let changed = |path: &Path| fs::symlink_metadata(path).and_then(|found| found.modified()).ok();
    changed(copy).is_some_and(|copy| changed(file).is_some_and(|file| copy > file))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn a_list_shows_open_files_and_unsaved_changes() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let lists = root.join("auto-save-list");
        fs::create_dir(&lists).unwrap();
        for name in ["a.txt", "#a.txt#", "b.txt", "#b.txt#", "c.txt"] {
            fs::write(root.join(name), name).unwrap();
        }
        let past = SystemTime::now() - Duration::from_secs(60);
        for older in ["a.txt", "#b.txt#"] {
            fs::File::options().write(true).open(root.join(older)).unwrap().set_modified(past).unwrap();
        }
        let at = |name: &str| root.join(name).display().to_string();
        let pairs = [at("a.txt"), at("#a.txt#"), String::new(), at("#scratch#"), at("b.txt"), at("#b.txt#")];
        fs::write(lists.join(".saves-7-host~"), pairs.join("\n") + "\n").unwrap();
        fs::write(lists.join(".saves-77-host~"), [at("c.txt"), at("#c.txt#")].join("\n")).unwrap();
        let files: Vec<Option<PathBuf>> =
            ["c.txt", "b.txt", "a.txt"].iter().map(|name| Some(root.join(name))).chain([None]).collect();
        let found = find_listed(7, &[root.join("none"), lists.clone()], &files);
        let unsaved = OpenFile { file: 2, auto_save: Some("#a.txt#".into()) };
        assert_eq!(found, [unsaved, OpenFile { file: 1, auto_save: None }]);
        assert_eq!(
            find_listed(77, std::slice::from_ref(&lists), &files),
            [OpenFile { file: 0, auto_save: None }]
        );
        assert_eq!(find_listed(8, &[lists], &files), []);
    }
}
