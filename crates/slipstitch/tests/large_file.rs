//! A large file is changed without loading it into memory. A separate binary, because it measures the memory of
//! its process.

use std::io::{Seek, SeekFrom, Write};

use slipstitch::{DiskWorkspace, Fsync};
use slipstitch_core::change::{Base, FileChange, PathChange};
use slipstitch_core::path::FilePath;
use slipstitch_core::ports::workspace::Workspace;
use slipstitch_core::text::ContentHash;
use slipstitch_core::text::{Span, Splices};

const LEN: usize = 64 << 20;

#[test]
fn changing_a_large_file_needs_little_memory() {
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
    if let (Some(before), Some(after)) = (peak, peak_kib()) {
        assert!(after - before < 8 << 10, "{} KiB more than before", after - before);
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(std::fs::File::open(root.join("large")).unwrap()).unwrap();
    assert_eq!(ContentHash::finish(&hasher), after);
}

/// The peak memory of this process, if the system reports it.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok())
}
