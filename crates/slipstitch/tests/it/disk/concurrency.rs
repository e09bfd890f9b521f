use std::sync::Barrier;
#[cfg(unix)]
use std::time::Duration;

use crate::support::{TestDisk, content, created, edited, file};
use slipstitch_core::ports::workspace::{ReadResult, Workspace, WorkspaceError};

#[test]
fn concurrent_edits_are_all_kept() {
    const EDITS: usize = 200;
    let test = TestDisk::new();
    test.put("log", "");
    let start = Barrier::new(2);
    std::thread::scope(|threads| {
        for name in ["a", "b"] {
            let (test, start) = (&test, &start);
            threads.spawn(move || {
                let disk = test.reopen();
                start.wait();
                for n in 0..EDITS {
                    loop {
                        let seen = disk.read(&file("log")).unwrap();
                        // Windows replaces a file in two steps, and its name is free in between.
                        if cfg!(windows) && matches!(seen, ReadResult::Missing { .. }) {
                            continue;
                        }
                        let before = String::from_utf8(content(seen)).unwrap();
                        let after = format!("{before}{name}{n}\n");
                        let change = edited("log", &before, &after);
                        match disk.stage(&[change]).and_then(|mut staged| staged.publish()) {
                            Ok(_) => break,
                            Err(WorkspaceError::Conflict { .. }) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
            });
        }
    });
    let text = test.text("log");
    for name in ["a", "b"] {
        let own: Vec<_> = text.lines().filter(|line| line.starts_with(name)).collect();
        assert_eq!(own, (0..EDITS).map(|n| format!("{name}{n}")).collect::<Vec<_>>());
    }
    assert_eq!(test.listing(), ["log"]);
}

#[test]
fn one_of_two_concurrent_creates_succeeds() {
    for round in 0..50 {
        let test = TestDisk::new();
        let start = Barrier::new(2);
        let path = format!("new/{round}/x");
        let successes: usize = std::thread::scope(|threads| {
            let (test, start, path) = (&test, &start, &path);
            let create = |text: &'static str| {
                threads.spawn(move || {
                    start.wait();
                    test.commit(&[created(path, text)]).is_ok() as usize
                })
            };
            let (one, two) = (create("one"), create("two"));
            one.join().unwrap() + two.join().unwrap()
        });
        assert_eq!(successes, 1);
        assert!(["one", "two"].contains(&test.text(&path).as_str()));
        assert_eq!(test.listing().len(), 3);
    }
}

#[cfg(unix)]
#[test]
fn a_staged_file_is_locked_under_every_path() {
    let test = TestDisk::new();
    test.put("d/x", "text");
    std::os::unix::fs::symlink("d", test.at("link")).unwrap();
    let _staged = test.disk.stage(&[test.edit("d/x", "one")]).unwrap();
    let other = test.reopen().with_lock_wait(Duration::from_millis(50));
    let error = other.stage(&[edited("link/x", "text", "two")]).err().unwrap();
    assert!(matches!(error, WorkspaceError::Locked { holder: Some(_), .. }), "{error}");
}

#[test]
fn opposite_lock_orders_do_not_deadlock() {
    let test = TestDisk::new();
    test.put("a", "0");
    test.put("b", "0");
    std::thread::scope(|threads| {
        for order in [["a", "b"], ["b", "a"]] {
            let test = &test;
            threads.spawn(move || {
                for _ in 0..100 {
                    let changes = order.map(|path| edited(path, "0", "1"));
                    drop(test.disk.stage(&changes).unwrap());
                }
            });
        }
    });
    assert_eq!(test.listing(), ["a", "b"]);
}
