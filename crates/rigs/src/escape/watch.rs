//! Sees every file outside that is opened, read or changed, whatever the answer says.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// A watch on folders.
#[derive(Debug)]
pub(super) struct Watch {
    events: OwnedFd,
}

impl Watch {
    /// Watches these folders; what is beneath theirs is not seen.
    pub(super) fn new(folders: &[&Path]) -> io::Result<Self> {
        let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        for folder in folders {
            inotify::add_watch(&events, *folder, WatchFlags::ALL_EVENTS)?;
        }
        Ok(Self { events })
    }

    /// What happened since the last look, in words; nothing if nothing did.
    pub(super) fn seen(&self) -> io::Result<Vec<String>> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.events, &mut buffer);
        let mut seen = Vec::new();
        loop {
            match reader.next() {
                Ok(event) if event.events().contains(ReadFlags::IGNORED) => {}
                Ok(event) => {
                    let name = event.file_name().map_or(".".into(), |name| name.to_string_lossy());
                    seen.push(format!("{:?} of `{name}`", event.events()));
                }
                Err(Errno::WOULDBLOCK) => return Ok(seen),
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}
