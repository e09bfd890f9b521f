//! A large file is changed without loading it into memory. A separate binary, because it measures the memory of
//! its process.

use std::io::{Seek, SeekFrom, Write};

use serde_json::json;
use slipstitch::{DiskWorkspace, Fsync};
use slipstitch_core::change::{Base, FileChange, PathChange};
use slipstitch_core::engine::{Engine, Request};
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::approver::Auto;
use slipstitch_core::ports::memory::MemoryJournal;
use slipstitch_core::ports::workspace::Workspace;
use slipstitch_core::text::ContentHash;
use slipstitch_core::text::{Span, Splices};

const LEN: usize = 64 << 20;

/// How much the peak of this process's memory may grow, in KiB.
const MAX_GROWTH: u64 = 8 << 10;

/// One test, because the peak of a process only ever rises.
#[test]
fn changing_a_large_file_needs_little_memory() {
    apply_a_change();
    edit_and_undo();
}

fn apply_a_change() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir(&root).unwrap();
    let mut file = std::fs::File::create_new(root.join("large")).unwrap();
    file.set_len(LEN as u64).unwrap();
    file.seek(SeekFrom::Start(LEN as u64 - 3)).unwrap();
    file.write_all(b"end").unwrap();
    let hash_with = |inserted: &[u8]| {
        let block = vec![0; 1 << 20];
        let mut hasher = blake3::Hasher::new();
        for _ in 0..31 {
            hasher.update(&block);
        }
        hasher.update(inserted);
        for _ in 31..63 {
            hasher.update(&block);
        }
        hasher.update(&block[3..]).update(b"end");
        ContentHash::finish(&hasher)
    };
    let splices = Splices::one(LEN, Span::new(31 << 20, 31 << 20), b"new".to_vec());
    let (before, after) = (hash_with(b""), hash_with(b"new"));
    let path = FilePath::from_record("large").unwrap();
    let change = FileChange {
        path,
        base: Base::Content(before),
        path_change: PathChange::Keep,
        splices,
        after: Some(after),
        mode: None,
        executable: None,
        restore: Default::default(),
        edits: Vec::new(),
        notes: Vec::new(),
        totals: None,
    };
    let disk = DiskWorkspace::open(&root, &folder.path().join("locks"), Fsync::Off).unwrap();
    let peak = peak_kib();
    disk.stage(&[change]).unwrap().publish().unwrap();
    assert_little_growth("a change", peak);
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(std::fs::File::open(root.join("large")).unwrap()).unwrap();
    assert_eq!(ContentHash::finish(&hasher), after);
}

/// An exact edit, a line edit and an append, each undone, from the tool call to the file.
fn edit_and_undo() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir(&root).unwrap();
    let lines: String = (0..10_000).map(|number| format!("{number:05} the quick brown fox\n")).collect();
    let mut file = std::fs::File::create_new(root.join("large.txt")).unwrap();
    let mut lines_written = 0;
    for _ in 0..LEN / lines.len() {
        file.write_all(lines.as_bytes()).unwrap();
        lines_written += 10_000;
    }
    file.write_all(b"the only needle\n").unwrap();
    let hash = |root: &std::path::Path| {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(std::fs::File::open(root.join("large.txt")).unwrap()).unwrap();
        ContentHash::finish(&hasher)
    };
    let before = hash(&root);
    let disk = DiskWorkspace::open(&root, &folder.path().join("locks"), Fsync::Off).unwrap();
    let journal = MemoryJournal::default();
    let engine = Engine::new(&disk, &journal).dialects(slipstitch_dialects::builtin()).session("large");
    let call = |tool: &str, arguments: serde_json::Value| {
        let request = Request { dialect: "native".into(), tool: tool.into(), arguments };
        let answer = engine.call(request, &mut Auto);
        assert_eq!(answer.report.code(), "applied", "{tool}: {}", answer.text);
    };
    let peak = peak_kib();
    for (tool, arguments) in [
        (
            "edit_file",
            json!({"path": "large.txt", "old_text": "only needle", "new_text": "needle that is left"}),
        ),
        ("edit_lines", json!({"path": "large.txt", "start_line": 2, "new_text": "the second line"})),
        ("edit_lines", json!({"path": "large.txt", "start_line": lines_written, "new_text": "near the end"})),
        ("write_file", json!({"path": "large.txt", "content": "more\n", "mode": "append"})),
    ] {
        call(tool, arguments);
        assert_ne!(hash(&root), before);
        call("undo_edit", json!({}));
        assert_eq!(hash(&root), before);
    }
    assert_little_growth("edits", peak);
}

fn assert_little_growth(what: &str, peak: Option<u64>) {
    if let (Some(before), Some(after)) = (peak, peak_kib()) {
        assert!(after - before < MAX_GROWTH, "{what}: {} KiB more than before", after - before);
    }
}

/// The peak memory of this process, if the system reports it.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok())
}
