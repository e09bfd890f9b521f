//! A switch for rigs that run a whole program without the workspace's protections.
//!
//! It exists only with the feature `rig`, which no released program enables.

use std::sync::atomic::{AtomicBool, Ordering};

static DISABLED: AtomicBool = AtomicBool::new(false);

/// Makes every workspace that this process opens from now on take no locks and not verify the files that it
/// displaces, so that a rig can show what these protections are for.
pub fn disable_protections() {
    DISABLED.store(true, Ordering::Relaxed);
}

pub(super) fn are_disabled() -> bool {
    DISABLED.load(Ordering::Relaxed)
}
