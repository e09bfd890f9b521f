//! Probes what the file system of a root supports.

use std::io;
use std::sync::Arc;

use serde::Serialize;
use slipstitch_platform::files::{self, Readers};

use super::DiskWorkspace;
use super::lookup::Location;
use super::temp::{TempFactory, TempFile};

/// What a root's file system supports. Without one of these, changes are made in another way, and the
/// receipt says which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FsFeatures {
    /// The kernel resolves paths beneath the root (`openat2`).
    pub resolve_beneath: bool,
    /// Temporary files need no name (`O_TMPFILE`).
    pub unnamed_files: bool,
    /// Two files can exchange their names atomically.
    pub exchange: bool,
    /// A copied file can share its blocks with the original.
    pub shared_blocks: bool,
}

impl DiskWorkspace {
    /// Probes the file system of each root, by creating and removing two small files.
    pub fn probe_features(&self) -> Vec<(String, io::Result<FsFeatures>)> {
        self.roots.iter().map(|(name, dir)| (name.to_owned(), self.probe(dir))).collect()
    }

    fn probe(&self, dir: &Arc<cap_std::fs::Dir>) -> io::Result<FsFeatures> {
        let location = Location { dir: Arc::clone(dir), name: "probe".into() };
        let mut temps = TempFactory::new(self.cleanup.new_list(), self.named_temps);
        let (mut a, file_a) = temps.create(&location, Readers::Owner)?;
        let (mut b, file_b) = temps.create(&location, Readers::Owner)?;
        let unnamed_files = a.is_unnamed();
        let mut name = |temp: &mut TempFile| {
            temps.cleanup.add_temp(temp.location())?;
            temp.link()
        };
        name(&mut a)?;
        name(&mut b)?;
        let exchange = files::exchange(a.location().parts(), b.location().parts()).is_ok();
        Ok(FsFeatures {
            resolve_beneath: files::can_resolve_beneath(dir),
            unnamed_files,
            exchange,
            shared_blocks: files::can_share_blocks(&file_a, &file_b),
        })
    }
}
