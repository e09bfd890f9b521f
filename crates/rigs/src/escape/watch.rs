//! Notices every access to a folder with inotify, whatever a tool's response says.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// A watch on some folders.
#[derive(Debug)]
pub(super) struct Watch {
    events: OwnedFd,
}

impl Watch {
    /// Watches these folders and the files in them, but not their subfolders.
    pub(super) fn new(folders: &[&Path]) -> io::Result<Self> {
        let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        // Every access starts with another event. A close alone comes from before the watch: another test may have forked
        // while a folder was open, and its child closes it later.
        let accesses = WatchFlags::ALL_EVENTS.difference(WatchFlags::CLOSE);
        for folder in folders {
            inotify::add_watch(&events, *folder, accesses)?;
        }
        Ok(Self { events })
    }

    /// Describes the events since the last call.
    pub(super) fn drain_events(&self) -> io::Result<Vec<String>> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.events, &mut buffer);
        let mut events = Vec::new();
        loop {
            match reader.next() {
                Ok(event) if event.events().contains(ReadFlags::IGNORED) => {}
                Ok(event) => {
                    let name = event.file_name().map_or(".".into(), |name| name.to_string_lossy());
                    events.push(format!("{:?} of `{name}`", event.events()));
                }
                Err(Errno::WOULDBLOCK) => return Ok(events),
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}
