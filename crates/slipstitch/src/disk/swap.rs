//! Renames that never lose what they displace.

use std::io;

use rustix::fs::{AtFlags, RenameFlags, linkat, renameat, renameat_with, statat, unlinkat};
use rustix::io::Errno;

use super::place::Place;
use super::temp::Temp;

/// Gives `from` the name `to`, which must be free.
pub(super) fn rename_to_free(from: &Place, to: &Place) -> io::Result<()> {
    match renameat_with(&*from.dir, &from.name, &*to.dir, &to.name, RenameFlags::NOREPLACE) {
        Err(errno) if unsupported(errno) => link_to_free(from, to),
        result => Ok(result?),
    }
}

/// The same where the file system has no such rename: a link fails if the name is taken.
fn link_to_free(from: &Place, to: &Place) -> io::Result<()> {
    match linkat(&*from.dir, &from.name, &*to.dir, &to.name, AtFlags::empty()) {
        Ok(()) => unlinkat(&*from.dir, &from.name, AtFlags::empty()).map_err(|errno| {
            // It has both names now. The new one goes again, if it still is that file's.
            if inode(from).is_some() && inode(from) == inode(to) {
                let _ = unlinkat(&*to.dir, &to.name, AtFlags::empty());
            }
            errno.into()
        }),
        Err(errno) if unsupported(errno) || errno == Errno::PERM => {
            if to.kind()?.is_some() {
                return Err(Errno::EXIST.into());
            }
            rename_over(from, to)
        }
        Err(errno) => Err(errno.into()),
    }
}

/// The file that has a name.
fn inode(place: &Place) -> Option<u64> {
    statat(&*place.dir, &place.name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|found| found.st_ino)
}

/// Gives `from` the name `to`; what had it is gone.
pub(super) fn rename_over(from: &Place, to: &Place) -> io::Result<()> {
    Ok(renameat(&*from.dir, &from.name, &*to.dir, &to.name)?)
}

/// How two names changed places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Swapped {
    /// At once.
    AtOnce,
    /// In steps, because the file system cannot do it at once.
    InSteps,
}

/// Lets two names of one folder change places; `spare` is a third name for file systems that need one. On
/// failure `b` is as it was.
pub(super) fn swap(a: &Place, b: &Place, spare: &mut Temp) -> io::Result<Swapped> {
    match renameat_with(&*a.dir, &a.name, &*b.dir, &b.name, RenameFlags::EXCHANGE) {
        Err(errno) if unsupported(errno) => swap_in_steps(a, b, spare),
        result => {
            result?;
            spare.stays_free();
            Ok(Swapped::AtOnce)
        }
    }
}

/// The same where the file system cannot exchange. There is a moment when `b` is not there; but whatever was there
/// is what `a` is after it, also if someone has put another file there just now.
fn swap_in_steps(a: &Place, b: &Place, spare: &mut Temp) -> io::Result<Swapped> {
    let aside = spare.place().clone();
    let ours = inode(a);
    rename_to_free(b, &aside)?;
    let swapped = rename_to_free(a, b).and_then(|()| {
        // Where the last step fails, the first one is taken back too, unless someone has put another file there.
        rename_over(&aside, a).inspect_err(|_| {
            if inode(b) == ours {
                let _ = rename_to_free(b, a);
            }
        })
    });
    swapped.inspect_err(|_| {
        // Where someone has made a file in that moment, theirs stays and the old one lies beside it.
        if rename_to_free(&aside, b).is_err() {
            spare.keep();
        }
    })?;
    Ok(Swapped::InSteps)
}

fn unsupported(errno: Errno) -> bool {
    [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP].contains(&errno)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cap_std::ambient_authority;
    use cap_std::fs::Dir;
    use std::sync::Arc;

    fn two() -> (tempfile::TempDir, Place, Place) {
        let folder = tempfile::tempdir().unwrap();
        let dir = Arc::new(Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap());
        dir.write("a", "A").unwrap();
        dir.write("b", "B").unwrap();
        let place = |name: &str| Place { dir: Arc::clone(&dir), name: name.into() };
        (folder, place("a"), place("b"))
    }

    fn listing(place: &Place) -> Vec<(String, String)> {
        let names = place.dir.read_dir(".").unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut list: Vec<_> = names.map(|n| (n.clone(), place.dir.read_to_string(n).unwrap())).collect();
        list.sort();
        list
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|&(a, b)| (a.into(), b.into())).collect()
    }

    #[test]
    fn both_ways_of_swapping_do_the_same() {
        for way in [swap, swap_in_steps] {
            let (_folder, a, b) = two();
            way(&a, &b, &mut Temp::name_beside(&b)).unwrap();
            assert_eq!(listing(&a), pairs(&[("a", "B"), ("b", "A")]));
        }
    }

    #[test]
    fn a_swap_that_fails_changes_nothing() {
        for way in [swap, swap_in_steps] {
            let (_folder, a, b) = two();
            a.dir.remove_file("a").unwrap();
            way(&a, &b, &mut Temp::name_beside(&b)).unwrap_err();
            assert_eq!(listing(&a), pairs(&[("b", "B")]));
        }
    }

    #[test]
    fn a_taken_name_is_refused_by_both_ways_of_renaming() {
        for way in [rename_to_free, link_to_free] {
            let (_folder, a, b) = two();
            assert_eq!(way(&a, &b).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(listing(&a), pairs(&[("a", "A"), ("b", "B")]));
            way(&a, &a.beside("c")).unwrap();
            assert_eq!(listing(&a), pairs(&[("b", "B"), ("c", "A")]));
        }
    }
}
