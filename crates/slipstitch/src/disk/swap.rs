//! Renames that never lose the file they displace.

use std::io;

use slipstitch_platform::files;
use slipstitch_platform::problem::{self, Problem};

use super::lookup::Location;
use super::temp::TempFile;

/// Renames `from` to `to`; fails if `to` exists.
pub(super) fn rename_no_replace(from: &Location, to: &Location) -> io::Result<()> {
    match files::rename_no_replace(from.parts(), to.parts()) {
        Err(error) if is_unsupported(&error) => link_and_unlink(from, to),
        result => result,
    }
}

/// Does the same on file systems without such a rename: `link` fails if the name exists.
fn link_and_unlink(from: &Location, to: &Location) -> io::Result<()> {
    match files::link(from.parts(), to.parts()) {
        Ok(()) => files::remove(&from.dir, &from.name).inspect_err(|_| {
            // The file now has both names. Remove the new one, if it still belongs to that file.
            if inode_at(from).is_some() && inode_at(from) == inode_at(to) {
                let _ = files::remove(&to.dir, &to.name);
            }
        }),
        Err(error) if is_unsupported(&error) || problem::is_not_permitted(&error) => {
            if to.file_type()?.is_some() {
                return Err(problem::exists());
            }
            rename_replacing(from, to)
        }
        Err(error) => Err(error),
    }
}

fn inode_at(location: &Location) -> Option<u64> {
    files::stat(&location.dir, &location.name).ok()?.map(|found| found.inode)
}

/// Renames `from` to `to`; a file at `to` is lost.
pub(super) fn rename_replacing(from: &Location, to: &Location) -> io::Result<()> {
    files::rename(from.parts(), to.parts())
}

/// How two files exchanged their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SwapMethod {
    /// Atomically.
    Exchange,
    /// By three renames, because the file system cannot exchange names.
    Renames,
}

/// Exchanges two names of one folder. On failure `b` is unchanged.
///
/// `spare` is a third name for file systems that cannot exchange names.
pub(super) fn swap(a: &Location, b: &Location, spare: &mut TempFile) -> io::Result<SwapMethod> {
    match files::exchange(a.parts(), b.parts()) {
        Err(error) if is_unsupported(&error) => swap_by_renames(a, b, spare),
        result => {
            result?;
            spare.set_never_used();
            Ok(SwapMethod::Exchange)
        }
    }
}

/// Does the same with three renames.
///
/// For a moment `b` does not exist. Whatever was at `b` before ends up at `a`, even a file that another
/// program put there just now.
fn swap_by_renames(a: &Location, b: &Location, spare: &mut TempFile) -> io::Result<SwapMethod> {
    let aside = spare.location().clone();
    let new_inode = inode_at(a);
    if aside.file_type()?.is_some() {
        return Err(problem::exists());
    }
    let placed = match files::replace_through(b.parts(), a.parts(), aside.parts()) {
        // It may have set the file at `b` aside before it failed.
        Some(Err(error)) if aside.file_type()?.is_none() => return Err(error),
        Some(placed) => placed,
        None => {
            // One call takes whatever is at `b` now. A link and an unlink would lose what another program saves in between.
            rename_replacing(b, &aside)?;
            rename_no_replace(a, b)
        }
    };
    let swapped = placed.and_then(|()| {
        rename_replacing(&aside, a).inspect_err(|_| {
            // Undo the second rename, unless another program has replaced the file meanwhile.
            if inode_at(b) == new_inode {
                let _ = rename_no_replace(b, a);
            }
        })
    });
    swapped.inspect_err(|_| {
        // If another program has created a file at `b` meanwhile, that file stays and the old one is kept
        // under its spare name.
        if rename_no_replace(&aside, b).is_err() {
            spare.keep();
        }
    })?;
    Ok(SwapMethod::Renames)
}

fn is_unsupported(error: &io::Error) -> bool {
    problem::of(error) == Some(Problem::Unsupported)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cap_std::ambient_authority;
    use cap_std::fs::Dir;
    use std::sync::Arc;

    /// The files `a` and `b`, with the contents `A` and `B`.
    fn two_files() -> (tempfile::TempDir, Location, Location) {
        let folder = tempfile::tempdir().unwrap();
        let dir = Arc::new(Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap());
        dir.write("a", "A").unwrap();
        dir.write("b", "B").unwrap();
        let location = |name: &str| Location { dir: Arc::clone(&dir), name: name.into() };
        (folder, location("a"), location("b"))
    }

    fn assert_files(location: &Location, wanted: &[(&str, &str)]) {
        let dir = &location.dir;
        let names = dir.read_dir(".").unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut found: Vec<_> = names.map(|n| (n.clone(), dir.read_to_string(n).unwrap())).collect();
        found.sort();
        let wanted: Vec<_> = wanted.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn both_swaps_exchange_the_files() {
        for swap in [swap, swap_by_renames] {
            let (_folder, a, b) = two_files();
            swap(&a, &b, &mut TempFile::next_to(&b)).unwrap();
            assert_files(&a, &[("a", "B"), ("b", "A")]);
        }
    }

    #[test]
    fn a_failed_swap_changes_nothing() {
        for swap in [swap, swap_by_renames] {
            let (_folder, a, b) = two_files();
            a.dir.remove_file("a").unwrap();
            swap(&a, &b, &mut TempFile::next_to(&b)).unwrap_err();
            assert_files(&a, &[("b", "B")]);
        }
    }

    #[test]
    fn both_renames_refuse_an_existing_name() {
        for rename in [rename_no_replace, link_and_unlink] {
            let (_folder, a, b) = two_files();
            assert_eq!(rename(&a, &b).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            assert_files(&a, &[("a", "A"), ("b", "B")]);
            rename(&a, &a.sibling("c")).unwrap();
            assert_files(&a, &[("b", "B"), ("c", "A")]);
        }
    }
}
