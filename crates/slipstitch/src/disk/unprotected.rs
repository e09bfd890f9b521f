//! A switch for rigs that start a whole program: everything that it opens goes without protection.
//!
//! Only the feature `rig` has it, which no program that users get turns on.

use std::sync::atomic::{AtomicBool, Ordering};

static ALL: AtomicBool = AtomicBool::new(false);

/// Lets every workspace that this process opens from now on take no locks and not look at what it displaces, so that a
/// rig can see what both are for.
pub fn unprotect_all() {
    ALL.store(true, Ordering::Relaxed);
}

pub(super) fn is_on() -> bool {
    ALL.load(Ordering::Relaxed)
}
