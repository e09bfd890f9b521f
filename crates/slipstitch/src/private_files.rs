//! Files and folders of the state folder: never reached through a symlink.
//!
//! What is written there (locks, the journal, copies of files) must not end up in a file that someone else chose. Each
//! open refuses a symlink itself, so that nothing can be swapped in between; the checks here are for a clear message.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use slipstitch_platform::{info, private};

/// What is expected at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    File,
    Folder,
}

/// Checks that there is a regular file or a folder at `path`, or nothing. Returns whether there is something.
pub(crate) fn check(path: &Path, expected: Expected) -> io::Result<bool> {
    let kind = match path.symlink_metadata() {
        Ok(found) => found.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let (is_expected, wanted) = match expected {
        Expected::File => (kind.is_file(), "a regular file"),
        Expected::Folder => (kind.is_dir(), "a folder"),
    };
    if is_expected {
        return Ok(true);
    }
    let found = if kind.is_symlink() { "a symlink, which is not followed" } else { "something else" };
    Err(io::Error::other(format!("`{}` must be {wanted} but is {found}; remove it", path.display())))
}

/// Creates a folder for its owner only, unless it exists.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    match check(path, Expected::Folder)? {
        true => Ok(()),
        false => private::create_folder(path),
    }
}

/// Opens a file with these options; fails with a clear message for a symlink, a pipe, or a file that has a second name
/// elsewhere, because what is written here would appear there.
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = private::no_follow(options)
        .open(path)
        .map_err(|error| check(path, Expected::File).err().unwrap_or(error))?;
    let found = info::of(&file)?;
    let problem = match (found.is_file(), found.links) {
        (true, 0 | 1) => return Ok(file),
        (true, _) => "has a second name (a hard link)",
        (false, _) => "is no regular file",
    };
    Err(io::Error::other(format!("`{}` {problem}; remove it", path.display())))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn pipes_and_files_with_a_second_name_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .unwrap();
        std::fs::write(at("target"), "kept").unwrap();
        std::fs::hard_link(at("target"), at("link")).unwrap();
        for name in ["pipe", "link"] {
            for options in [OpenOptions::new().append(true), OpenOptions::new().read(true).append(true)] {
                let error = open(&at(name), options.create(true)).unwrap_err().to_string();
                assert!(error.contains(&format!("{name}` ")) && error.contains("remove it"), "{error}");
            }
        }
    }

    #[test]
    fn a_symlink_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("target"), "kept").unwrap();
        symlink(at("target"), at("file")).unwrap();
        symlink(folder.path(), at("folder")).unwrap();
        let error = open(&at("file"), OpenOptions::new().append(true).create(true)).unwrap_err().to_string();
        assert!(error.contains("file` must be a regular file but is a symlink"), "{error}");
        let error = create_folder(&at("folder")).unwrap_err().to_string();
        assert!(error.contains("folder` must be a folder but is a symlink"), "{error}");
        assert!(open(&at("target"), OpenOptions::new().read(true)).is_ok());
        assert!(create_folder(&at("new")).is_ok());
    }
}
