//! Runs independent parts of a rig on all cores.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::Findings;

/// Runs `work` on every item, with one thread per core, and merges the findings.
pub(crate) fn run_each<T: Sync>(items: &[T], work: impl Fn(&T) -> Findings + Sync) -> Findings {
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Findings::default());
    let threads = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let findings = work(item);
                    if let Ok(mut total) = total.lock() {
                        total.merge(findings);
                    }
                }
            });
        }
    });
    total.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
}
