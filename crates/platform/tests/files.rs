//! What the library relies on, on every system: these tests run on Linux with and without the feature `portable`, and on
//! Windows.

use std::ffi::OsStr;
use std::io;
use std::io::Write;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use slipstitch_platform::files::{self, Readers};
use slipstitch_platform::info::FileKind;
use slipstitch_platform::problem::{self, Problem};
use slipstitch_platform::{attributes, info, names, private};

fn folder() -> (tempfile::TempDir, Dir) {
    let folder = tempfile::tempdir().unwrap();
    let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
    (folder, dir)
}

fn name(text: &str) -> &OsStr {
    OsStr::new(text)
}

fn is_unsupported(error: &io::Error) -> bool {
    problem::of(error) == Some(Problem::Unsupported)
}

#[test]
fn a_new_file_is_new() {
    let (_folder, dir) = folder();
    let mut file = files::create_new(&dir, name("a"), Readers::Owner).unwrap();
    file.write_all(b"text").unwrap();
    let error = files::create_new(&dir, name("a"), Readers::Default).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    let found = files::stat(&dir, name("a")).unwrap().unwrap();
    assert_eq!((found.kind, found.len, found.links), (FileKind::File, 4, 1));
    assert_eq!(found.id(), info::of(&file).unwrap().id());
    assert_eq!(files::stat(&dir, name("b")).unwrap(), None);
    assert!(files::open(&dir, name("b")).unwrap().is_none());
    assert!(files::is_writable(&dir, name("a")));
}

#[test]
fn names_lead_to_the_files_they_were_given() {
    let (_folder, dir) = folder();
    for text in ["a", "b"] {
        dir.write(text, text).unwrap();
    }
    let rename = files::rename_no_replace((&dir, name("a")), (&dir, name("b"))).unwrap_err();
    assert!(is_unsupported(&rename) || rename.kind() == io::ErrorKind::AlreadyExists, "{rename}");
    assert_eq!(dir.read("b").unwrap(), b"b");
    match files::rename_no_replace((&dir, name("a")), (&dir, name("c"))) {
        Err(error) => assert!(is_unsupported(&error), "{error}"),
        Ok(()) => assert_eq!(dir.read("c").unwrap(), b"a"),
    }
    files::rename((&dir, name("b")), (&dir, name("d"))).unwrap();
    dir.write("e", "e").unwrap();
    files::rename((&dir, name("e")), (&dir, name("d"))).unwrap();
    assert_eq!(dir.read("d").unwrap(), b"e");
    files::remove(&dir, name("d")).unwrap();
    let error = files::remove(&dir, name("d")).unwrap_err();
    assert_eq!(problem::of(&error), Some(Problem::Missing));
}

#[test]
fn an_exchange_or_a_replacement_loses_no_file() {
    let (_folder, dir) = folder();
    for text in ["old", "new"] {
        dir.write(text, text).unwrap();
    }
    match files::exchange((&dir, name("old")), (&dir, name("new"))) {
        Ok(()) => {
            assert_eq!(dir.read("old").unwrap(), b"new");
            assert_eq!(dir.read("new").unwrap(), b"old");
            return;
        }
        Err(error) => assert!(is_unsupported(&error), "{error}"),
    }
    // Someone reads the file meanwhile.
    let reader = files::open(&dir, name("old")).unwrap().unwrap();
    let spare = (&dir, name("spare"));
    if let Some(replaced) = files::replace_through((&dir, name("old")), (&dir, name("new")), spare) {
        replaced.unwrap();
        assert_eq!(dir.read("old").unwrap(), b"new");
        assert_eq!(dir.read("spare").unwrap(), b"old");
        assert!(!dir.exists("new"));
    }
    drop(reader);
}

#[test]
fn folders_are_created_and_removed_when_empty() {
    let (_folder, dir) = folder();
    files::create_folder(&dir, name("sub"), Readers::Default).unwrap();
    let error = files::create_folder(&dir, name("sub"), Readers::Default).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(files::stat(&dir, name("sub")).unwrap().unwrap().kind, FileKind::Folder);
    dir.write("sub/x", "").unwrap();
    let error = files::remove_folder(&dir, name("sub")).unwrap_err();
    assert!(matches!(problem::of(&error), Some(Problem::FolderInUse | Problem::Exists)), "{error}");
    files::sync_folder(&dir).unwrap();
    files::remove(&dir.open_dir("sub").unwrap(), name("x")).unwrap();
    files::remove_folder(&dir, name("sub")).unwrap();
}

#[test]
fn an_open_folder_tells_where_it_is() {
    let (folder, dir) = folder();
    let real = files::real_path(folder.path()).unwrap();
    assert_eq!(files::handle_path(&dir).unwrap(), real);
    assert_eq!(files::real_path(folder.path()).unwrap(), real);
    let record = names::to_record(&real).into_owned();
    assert!(record.starts_with('/') && !record.contains('\\'), "{record}");
    assert_eq!(names::from_record(&record), real);
    assert_eq!(info::of_folder(&dir).unwrap().id(), info::at(folder.path()).unwrap().id());
}

#[test]
fn offsets_are_written_and_read() {
    let (_folder, dir) = folder();
    let file = files::open_or_create(&dir, name("lock")).unwrap();
    files::write_all_at(&file, b"0123456789", 0).unwrap();
    files::write_all_at(&file, b"ab", 4).unwrap();
    let mut read = [0; 4];
    assert_eq!(files::read_at(&file, &mut read, 3).unwrap(), 4);
    assert_eq!(&read, b"3ab6");
    let again = files::open_or_create(&dir, name("lock")).unwrap();
    assert_eq!(info::of(&again).unwrap().len, 10);
}

#[test]
fn a_lock_is_exclusive_and_a_removed_file_is_recognised() {
    let (_folder, dir) = folder();
    let held = files::open_or_create(&dir, name("lock")).unwrap();
    held.try_lock().unwrap();
    let other = files::open_or_create(&dir, name("lock")).unwrap();
    assert!(other.try_lock().is_err());
    drop(held);
    other.try_lock().unwrap();
    assert_eq!(info::of(&other).unwrap().links, 1);
}

#[test]
fn a_file_can_be_made_read_only() {
    let (_folder, dir) = folder();
    let file = files::create_new(&dir, name("a"), Readers::Owner).unwrap();
    attributes::set_mode(&file, 0o444).unwrap();
    assert_eq!(info::of(&file).unwrap().mode & attributes::MODE_BITS, 0o444 & attributes::MODE_BITS);
    attributes::set_mode(&file, 0o644).unwrap();
}

#[test]
fn private_folders_are_created_once() {
    let (folder, _dir) = folder();
    let path = folder.path().join("a/b");
    private::create_folder(&path).unwrap();
    private::create_folder(&path).unwrap();
    assert_eq!(private::exposure(&path).unwrap(), private::Exposure::None);
}

#[test]
fn spellings_of_a_name_fold_as_the_system_does() {
    let (_folder, dir) = folder();
    dir.write("Name", "").unwrap();
    if dir.exists("name") {
        assert_eq!(names::folded(name("Name")), names::folded(name("nAME")));
    }
    assert_ne!(names::folded(name("a")), names::folded(name("b")));
}
