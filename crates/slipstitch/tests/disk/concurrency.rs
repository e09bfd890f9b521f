use std::sync::Barrier;
use std::time::Duration;

use crate::rig::{Rig, content, created, edited, file};
use slipstitch_core::ports::workspace::{Workspace, WorkspaceError};

#[test]
fn edits_by_two_writers_are_all_kept() {
    const EACH: usize = 200;
    let rig = Rig::new();
    rig.put("log", "");
    let start = Barrier::new(2);
    std::thread::scope(|threads| {
        for name in ["a", "b"] {
            let (rig, start) = (&rig, &start);
            threads.spawn(move || {
                let disk = rig.again();
                start.wait();
                for n in 0..EACH {
                    loop {
                        let before = String::from_utf8(content(disk.read(&file("log")).unwrap())).unwrap();
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
    let text = rig.text("log");
    for name in ["a", "b"] {
        let mine: Vec<_> = text.lines().filter(|line| line.starts_with(name)).collect();
        assert_eq!(mine, (0..EACH).map(|n| format!("{name}{n}")).collect::<Vec<_>>());
    }
    assert_eq!(rig.listing(), ["log"]);
}

#[test]
fn one_of_two_creators_wins_and_no_folder_is_lost() {
    for round in 0..50 {
        let rig = Rig::new();
        let start = Barrier::new(2);
        let path = format!("new/{round}/x");
        let won: usize = std::thread::scope(|threads| {
            let (rig, start, path) = (&rig, &start, &path);
            let run = |text: &'static str| {
                threads.spawn(move || {
                    start.wait();
                    rig.commit(&[created(path, text)]).is_ok() as usize
                })
            };
            let (one, two) = (run("one"), run("two"));
            one.join().unwrap() + two.join().unwrap()
        });
        assert_eq!(won, 1);
        assert!(["one", "two"].contains(&rig.text(&path).as_str()));
        assert_eq!(rig.listing().len(), 3);
    }
}

#[test]
fn a_staged_file_is_locked_by_every_path_to_it() {
    let rig = Rig::new();
    rig.put("d/x", "text");
    std::os::unix::fs::symlink("d", rig.at("way")).unwrap();
    let _staged = rig.disk.stage(&[rig.edit("d/x", "one")]).unwrap();
    let other = rig.again().with_lock_wait(Duration::from_millis(50));
    let error = other.stage(&[edited("way/x", "text", "two")]).err().unwrap();
    assert!(matches!(error, WorkspaceError::Locked { holder: Some(_), .. }), "{error}");
}

#[test]
fn opposite_orders_do_not_wait_for_each_other() {
    let rig = Rig::new();
    rig.put("a", "0");
    rig.put("b", "0");
    std::thread::scope(|threads| {
        for order in [["a", "b"], ["b", "a"]] {
            let rig = &rig;
            threads.spawn(move || {
                for _ in 0..100 {
                    let changes = order.map(|path| edited(path, "0", "1"));
                    drop(rig.disk.stage(&changes).unwrap());
                }
            });
        }
    });
    assert_eq!(rig.listing(), ["a", "b"]);
}
