//! Damage in SQLite's log (`journal.db-wal`) that a process left behind when it was killed.
//!
//! The first process that opens the database afterwards reads the log up to the first page whose checksum is wrong, and
//! silently drops the rest: that is how SQLite deals with a transaction that was being written. But if a bit of an earlier
//! page has flipped, all changes after it are lost, and nothing tells. So the log is examined before SQLite sees it.
//!
//! What follows the first wrong page decides. The pages of a log carry its number (the "salts"), so those of an older log
//! that was overwritten do not count. A killed process can leave one page half written, and nothing of the same log after
//! it. Everything else is damage. What cannot be told from an interrupted write is damage to the last page of the log, and after a
//! power cut any damage: the transactions that complete changes are not flushed, so any part of several can be missing.
//!
//! Whether a log was left behind is known by a lock that every open journal holds, and whether there was a power cut by
//! the number of the system's start, which is noted in the locked file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use slipstitch_platform::private::{self, owner_only};

use crate::private_files;

/// The file that is locked while a journal is open.
const LOCK: &str = "journal.lock";
/// Where damage is noted: the log does not show it any more once the database was opened.
const NOTES: &str = "journal.damage";
/// How often to try again while another process examines the log, and how long to wait in between.
const ATTEMPTS: usize = 100;
const DELAY: Duration = Duration::from_millis(10);

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// The first four bytes of a log, up to the last bit, which says in which order the bytes of checksums are read.
const MAGIC: u32 = 0x377f_0682;

/// Marks the journal as open for as long as this lives.
#[derive(Debug)]
pub(super) struct OpenMark(#[expect(dead_code, reason = "held for its lock")] File);

impl OpenMark {
    /// Marks the journal as open. If nobody else has it open, looks for damage in the log `wal` and notes it.
    pub(super) fn take(state_dir: &Path, wal: &Path) -> io::Result<Self> {
        let path = state_dir.join(LOCK);
        let mut options = OpenOptions::new();
        let mut file = private_files::open(&path, owner_only(options.create(true).read(true).append(true)))?;
        for _ in 0..ATTEMPTS {
            match file.try_lock() {
                Ok(()) => {
                    let examined = examine(&mut file, wal).and_then(|damage| note(state_dir, damage));
                    // Nobody waits for a lock that is held for longer than this.
                    let _ = private::share_lock(&file);
                    examined?;
                    break;
                }
                Err(TryLockError::WouldBlock) if file.try_lock_shared().is_ok() => break,
                Err(TryLockError::WouldBlock) => thread::sleep(DELAY),
                // A file system without locks.
                Err(TryLockError::Error(_)) => break,
            }
        }
        Ok(Self(file))
    }
}

/// What was noted about damage, in words.
pub(super) fn noted_damage(state_dir: &Path) -> Vec<String> {
    let path = state_dir.join(NOTES);
    let mut notes = String::new();
    if let Ok(mut file) = private_files::open(&path, OpenOptions::new().read(true)) {
        let _ = file.read_to_string(&mut notes);
    }
    let mut damage: Vec<String> = notes.lines().map(str::to_owned).collect();
    if !damage.is_empty() {
        damage.push(format!("remove `{}` once you have seen this", path.display()));
    }
    damage
}

fn note(state_dir: &Path, damage: Option<String>) -> io::Result<()> {
    let Some(damage) = damage else { return Ok(()) };
    let mut options = OpenOptions::new();
    let path = state_dir.join(NOTES);
    let mut notes = private_files::open(&path, owner_only(options.create(true).append(true)))?;
    writeln!(notes, "{damage}")
}

/// Looks for damage in a log that was left behind, and notes the number of the system's start.
fn examine(lock: &mut File, wal: &Path) -> io::Result<Option<String>> {
    let start = slipstitch_platform::process::boot_id();
    let mut noted = String::new();
    lock.read_to_string(&mut noted)?;
    let cause = match !start.is_empty() && noted == start {
        true => Interruption::Kill,
        false => Interruption::PowerCut,
    };
    if noted != start {
        // Without the number, the log is examined less strictly the next time.
        let _ = lock.set_len(0).and_then(|()| lock.write_all(start.as_bytes()));
    }
    match find_damage(wal, cause) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => found,
    }
}

/// What may have interrupted the last write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interruption {
    /// The process was killed, and what it had written is there.
    Kill,
    /// What was not flushed may be missing, in any order.
    PowerCut,
}

/// What is damaged in a log, in words.
fn find_damage(wal: &Path, cause: Interruption) -> io::Result<Option<String>> {
    let file = private_files::open(wal, OpenOptions::new().read(true))?;
    let Some(mut log) = Log::open(file)? else { return Ok(None) };
    if !log.is_header_intact {
        return Ok(Some(describe(wal, "its header is damaged, so nothing in it could be used".into())));
    }
    let mut intact = 0;
    // The first page that is not as it was written, and what follows it.
    loop {
        match log.next_frame()? {
            None => return Ok(None),
            Some(frame) if frame.is_intact && frame.is_current => intact += 1,
            Some(_) => break,
        }
    }
    let mut following = 0;
    while let Some(frame) = log.next_frame()? {
        following += usize::from(frame.is_current && cause == Interruption::Kill);
    }
    if following == 0 {
        return Ok(None);
    }
    let page = intact + 1;
    Ok(Some(describe(wal, format!("page {page} is damaged, and {following} after it were lost with it"))))
}

fn describe(wal: &Path, what: String) -> String {
    format!(
        "`{}` was left behind by a process that ended early, and {what}: the last changes before that may be missing from the \
         journal, though they are in the files",
        wal.display()
    )
}

struct Log {
    file: BufReader<File>,
    is_header_intact: bool,
    is_big_endian: bool,
    page_size: usize,
    salts: [u8; 8],
    /// The checksum up to here.
    sum: [u32; 2],
}

struct Frame {
    /// Whether it belongs to this log and not to an older one that was overwritten.
    is_current: bool,
    is_intact: bool,
}

impl Log {
    /// `None` if it is empty.
    fn open(file: File) -> io::Result<Option<Self>> {
        let mut file = BufReader::new(file);
        let mut header = [0; HEADER];
        if !fill(&mut file, &mut header)? {
            return Ok(None);
        }
        let magic = read_u32(&header, 0);
        let page_size = read_u32(&header, 8) as usize;
        let mut log = Self {
            file,
            is_header_intact: false,
            is_big_endian: magic & 1 == 1,
            page_size,
            salts: [0; 8],
            sum: [0; 2],
        };
        log.salts.copy_from_slice(&header[16..24]);
        log.add_to_sum(&header[..24]);
        log.is_header_intact = magic & !1 == MAGIC
            && page_size.is_power_of_two()
            && (512..=65_536).contains(&page_size)
            && log.sum == [read_u32(&header, 24), read_u32(&header, 28)];
        Ok(Some(log))
    }

    /// `None` at the end, where a page may be incomplete.
    fn next_frame(&mut self) -> io::Result<Option<Frame>> {
        let mut header = [0; FRAME_HEADER];
        let mut page = vec![0; self.page_size];
        if !fill(&mut self.file, &mut header)? || !fill(&mut self.file, &mut page)? {
            return Ok(None);
        }
        self.add_to_sum(&header[..8]);
        self.add_to_sum(&page);
        let noted = [read_u32(&header, 16), read_u32(&header, 20)];
        let frame = Frame { is_current: header[8..16] == self.salts, is_intact: self.sum == noted };
        self.sum = noted;
        Ok(Some(frame))
    }

    fn add_to_sum(&mut self, bytes: &[u8]) {
        let read = |bytes: &[u8]| {
            let word = [bytes[0], bytes[1], bytes[2], bytes[3]];
            if self.is_big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
        };
        let [mut a, mut b] = self.sum;
        for pair in bytes.chunks_exact(8) {
            a = a.wrapping_add(read(pair)).wrapping_add(b);
            b = b.wrapping_add(read(&pair[4..])).wrapping_add(a);
        }
        self.sum = [a, b];
    }
}

fn read_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Fills a buffer; false if the file ends before.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        result => result.map(|()| true),
    }
}

#[cfg(test)]
mod tests;
