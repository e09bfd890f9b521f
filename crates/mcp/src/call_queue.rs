//! Runs calls that touch the same file one after another, in the order in which they arrived. All others run concurrently.
//!
//! A call joins the queue before it waits for anything, so the order of the messages is the order of the turns. Files are
//! identified by their real location (`call_queue/file_access.rs`), because one file can be named in several ways:
//! relative, absolute, through a symlink. Finding the location reads the disk, so it is done only when a call meets another
//! one in the queue. It is used for ordering only; keeping edits inside the root is enforced elsewhere.
//!
//! A call whose root is not known yet may touch any file. It waits like one that may touch every file (`undo_edit`) until
//! the client has listed its roots, and [`Turn::set_access`] then narrows it down.
//!
//! | a call that | waits for |
//! | --- | --- |
//! | writes a file | all earlier calls that touch the file |
//! | reads a file | earlier writes to it, unless they are waiting for approval |
//! | lists a folder | the same, for everything in the folder |
//!
//! The user may take minutes to review a change, and nothing is written before the answer, so it is certain what the files
//! contain meanwhile. That is why reads pass a change that is waiting for approval, and those waiting behind it.

mod file_access;
mod touched_files;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

pub(crate) use file_access::FileAccess;
pub(crate) use touched_files::touched_files;

use file_access::{AccessKind, Scope};

/// The order of one session's calls.
#[derive(Debug, Default)]
pub(crate) struct CallQueue(Arc<Mutex<Entries>>);

/// The calls in the queue, in the order in which they arrived.
#[derive(Debug, Default)]
struct Entries {
    entries: Vec<Entry>,
    next_number: u64,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    access: FileAccess,
    stage: Stage,
    /// Wakes the calls that wait for this one, also by being dropped. Created by the first of them.
    waker: Option<watch::Sender<()>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Running, or waiting for a call that is.
    Running,
    /// Waiting for the user's approval.
    AwaitingApproval,
    /// Waiting for a call that is itself waiting for approval.
    BehindApproval,
}

/// A call's position in the queue, given up when dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    queue: Arc<Mutex<Entries>>,
    number: u64,
}

impl CallQueue {
    /// Adds a call at the end of the queue.
    pub(crate) fn join(&self, access: FileAccess) -> Turn {
        let mut queue = lock(&self.0);
        let number = queue.next_number;
        queue.next_number += 1;
        // A call that touches no file blocks nothing.
        if !matches!(access.scope, Scope::NoFiles) {
            queue.entries.push(Entry { number, access, stage: Stage::Running, waker: None });
        }
        Turn { queue: self.0.clone(), number }
    }
}

impl Turn {
    /// Waits until no earlier call blocks this one.
    pub(crate) async fn wait(&self) {
        while let Some(mut blocker) = self.find_blocker() {
            // An error means that the blocker has left the queue. Either way, check again.
            let _ = blocker.changed().await;
        }
    }

    /// Narrows down what the call touches, if that was not known when it joined the queue.
    pub(crate) fn set_access(&self, access: FileAccess) {
        let mut queue = lock(&self.queue);
        if let Some(index) = queue.find(self.number) {
            queue.entries[index].access = access;
            queue.entries[index].wake();
            queue.recheck_from(index);
        }
    }

    /// Marks the call as waiting for approval, which lets reads pass it.
    pub(crate) fn pause_for_approval(&self) {
        self.set_stage(Stage::AwaitingApproval);
    }

    /// Marks the call as running again.
    pub(crate) fn resume(&self) {
        self.set_stage(Stage::Running);
    }

    fn set_stage(&self, stage: Stage) {
        let mut queue = lock(&self.queue);
        if let Some(index) = queue.find(self.number) {
            queue.entries[index].set_stage(stage);
            if stage == Stage::Running {
                queue.recheck_from(index);
            }
        }
    }

    /// A receiver that changes when the call that blocks this one changes or leaves; `None` if nothing blocks it.
    fn find_blocker(&self) -> Option<watch::Receiver<()>> {
        let mut queue = lock(&self.queue);
        let index = queue.find(self.number)?;
        let (earlier, rest) = queue.entries.split_at_mut(index);
        let own = rest.first_mut()?;
        let blocker = earlier.iter_mut().rev().find_map(|entry| entry.blocks(own).then_some(entry));
        own.set_stage(match blocker.as_ref().map(|entry| entry.stage) {
            Some(Stage::AwaitingApproval | Stage::BehindApproval) => Stage::BehindApproval,
            Some(Stage::Running) | None => Stage::Running,
        });
        Some(blocker?.waker.get_or_insert_with(|| watch::channel(()).0).subscribe())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut queue = lock(&self.queue);
        if let Some(index) = queue.find(self.number)
            && queue.entries.remove(index).stage != Stage::Running
        {
            queue.recheck_from(index);
        }
    }
}

impl Entries {
    fn find(&self, number: u64) -> Option<usize> {
        self.entries.binary_search_by_key(&number, |entry| entry.number).ok()
    }

    /// Makes later calls check again whether they wait for an approval. Until they have, reads do not pass them.
    fn recheck_from(&mut self, index: usize) {
        let behind = self.entries[index..].iter_mut().filter(|entry| entry.stage == Stage::BehindApproval);
        if behind.map(|entry| entry.set_stage(Stage::Running)).count() > 0 {
            // Their blocker may be any call.
            self.entries.iter().for_each(Entry::wake);
        }
    }
}

impl Entry {
    /// Whether a later call has to wait for this one.
    fn blocks(&mut self, later: &mut Self) -> bool {
        match (self.access.kind, later.access.kind) {
            (AccessKind::Read, AccessKind::Read) => return false,
            (AccessKind::Write, AccessKind::Read) if self.stage != Stage::Running => return false,
            _ => {}
        }
        match (&mut self.access.scope, &mut later.access.scope) {
            (Scope::NoFiles, _) | (_, Scope::NoFiles) => false,
            (Scope::AllFiles, _) | (_, Scope::AllFiles) => true,
            (Scope::Files(files), Scope::Files(others)) => files.overlaps(others),
        }
    }

    fn set_stage(&mut self, stage: Stage) {
        if self.stage != stage {
            self.stage = stage;
            self.wake();
        }
    }

    fn wake(&self) {
        if let Some(waker) = &self.waker {
            waker.send_replace(());
        }
    }
}

fn lock(queue: &Mutex<Entries>) -> MutexGuard<'_, Entries> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn write(names: &[&str]) -> FileAccess {
        FileAccess::to_files(names, AccessKind::Write)
    }

    fn read(names: &[&str]) -> FileAccess {
        FileAccess::to_files(names, AccessKind::Read)
    }

    async fn is_ready(turn: &Turn) -> bool {
        tokio::time::timeout(Duration::from_millis(20), turn.wait()).await.is_ok()
    }

    /// Waits for a turn in the background.
    async fn wait_in_background(turn: Arc<Turn>) -> tokio::task::JoinHandle<()> {
        let waiting = tokio::spawn(async move { turn.wait().await });
        tokio::time::sleep(Duration::from_millis(5)).await;
        waiting
    }

    async fn assert_woken(waiting: tokio::task::JoinHandle<()>) {
        tokio::time::timeout(Duration::from_secs(5), waiting).await.expect("woken").unwrap();
    }

    #[tokio::test]
    async fn only_writes_to_the_same_file_wait_for_each_other() {
        let queue = CallQueue::default();
        let first = queue.join(write(&["a"]));
        let second = queue.join(write(&["a"]));
        // The same name in another folder is another file.
        let other = queue.join(write(&["b", "x/a"]));
        assert!(is_ready(&first).await && is_ready(&other).await);
        assert!(!is_ready(&second).await);
        drop(first);
        assert!(is_ready(&second).await);
    }

    #[tokio::test]
    async fn a_write_to_several_files_waits_for_all_of_them() {
        let queue = CallQueue::default();
        let (a, b) = (queue.join(write(&["a"])), queue.join(write(&["b"])));
        let both = queue.join(write(&["b", "c", "a"]));
        let (c, d) = (queue.join(read(&["c"])), queue.join(read(&["d"])));
        assert!(is_ready(&d).await && !is_ready(&both).await);
        drop(b);
        assert!(!is_ready(&both).await && !is_ready(&c).await);
        drop(a);
        assert!(is_ready(&both).await && !is_ready(&c).await);
        drop(both);
        assert!(is_ready(&c).await);
    }

    #[tokio::test]
    async fn reads_wait_for_the_write_before_them_and_run_concurrently() {
        let queue = CallQueue::default();
        let first = queue.join(write(&["a"]));
        let (one, two) = (queue.join(read(&["a"])), queue.join(read(&["a"])));
        let last = queue.join(write(&["a"]));
        assert!(!is_ready(&one).await);
        drop(first);
        assert!(is_ready(&one).await && is_ready(&two).await);
        drop(one);
        assert!(!is_ready(&last).await, "one read is still running");
        drop(two);
        assert!(is_ready(&last).await);
    }

    #[tokio::test]
    async fn a_call_that_may_touch_all_files_waits_for_all_and_blocks_all() {
        let queue = CallQueue::default();
        let a = queue.join(write(&["a"]));
        let all = queue.join(FileAccess::to_all_files(AccessKind::Write));
        let b = queue.join(read(&["b"]));
        let none = queue.join(FileAccess::to_no_files());
        assert!(!is_ready(&all).await && !is_ready(&b).await);
        assert!(is_ready(&none).await);
        drop(a);
        assert!(is_ready(&all).await && !is_ready(&b).await);
        drop(all);
        assert!(is_ready(&b).await);
    }

    #[tokio::test]
    async fn narrowing_a_call_down_wakes_those_it_no_longer_blocks() {
        let queue = CallQueue::default();
        let first = queue.join(FileAccess::to_all_files(AccessKind::Write));
        let (same, other) = (queue.join(write(&["a"])), queue.join(write(&["b"])));
        assert!(!is_ready(&same).await && !is_ready(&other).await);
        let waiting = wait_in_background(Arc::new(other)).await;
        first.set_access(write(&["a"]));
        assert_woken(waiting).await;
        assert!(!is_ready(&same).await);
        drop(first);
        assert!(is_ready(&same).await);
    }

    #[tokio::test]
    async fn reads_pass_a_write_that_awaits_approval_and_those_behind_it() {
        let queue = CallQueue::default();
        let asking = queue.join(write(&["a"]));
        let early = queue.join(read(&["a"]));
        let behind = queue.join(write(&["a", "b"]));
        let late = queue.join(read(&["b"]));
        assert!(!is_ready(&early).await && !is_ready(&behind).await && !is_ready(&late).await);
        asking.pause_for_approval();
        assert!(is_ready(&early).await);
        drop(early);
        assert!(!is_ready(&behind).await);
        assert!(is_ready(&late).await, "the write to `b` waits for the same approval");
        drop(late);
        assert!(!is_ready(&behind).await, "writes still wait");
        // After the answer, later reads wait again.
        asking.resume();
        assert!(!is_ready(&behind).await);
        let (after, later) = (queue.join(read(&["a"])), queue.join(read(&["b"])));
        assert!(!is_ready(&after).await && !is_ready(&later).await);
        drop(asking);
        assert!(is_ready(&behind).await && !is_ready(&after).await);
        drop(behind);
        assert!(is_ready(&after).await && is_ready(&later).await);
    }

    #[tokio::test]
    async fn a_read_waits_for_a_running_write_even_if_another_awaits_approval() {
        let queue = CallQueue::default();
        let running = queue.join(write(&["a"]));
        let asking = queue.join(write(&["b"]));
        asking.pause_for_approval();
        let both = queue.join(write(&["a", "b"]));
        assert!(!is_ready(&both).await);
        let read = queue.join(read(&["a"]));
        assert!(!is_ready(&read).await, "the first write to the file is running");
        drop(running);
        assert!(is_ready(&read).await);
    }

    #[tokio::test]
    async fn reads_do_not_pass_a_write_whose_approval_has_ended() {
        let queue = CallQueue::default();
        let asking = queue.join(write(&["a"]));
        asking.pause_for_approval();
        let behind = queue.join(write(&["a"]));
        assert!(!is_ready(&behind).await);
        // `behind` has not checked its turn again yet, but may start at any time.
        drop(asking);
        let late = queue.join(read(&["a"]));
        assert!(!is_ready(&late).await);
        drop(behind);
        assert!(is_ready(&late).await);
    }

    #[tokio::test]
    async fn unrelated_calls_do_not_affect_those_behind_an_approval() {
        let queue = CallQueue::default();
        let (asking, other) = (queue.join(write(&["a"])), queue.join(write(&["x"])));
        asking.pause_for_approval();
        let behind = Arc::new(queue.join(write(&["a", "b"])));
        let waiting = wait_in_background(behind.clone()).await;
        other.pause_for_approval();
        other.resume();
        other.set_access(write(&["y"]));
        assert!(is_ready(&queue.join(read(&["b"]))).await);
        drop(asking);
        assert_woken(waiting).await;
        assert!(!is_ready(&queue.join(read(&["b"]))).await);
    }

    #[tokio::test]
    async fn listing_a_folder_waits_for_writes_inside_it() {
        let queue = CallQueue::default();
        let creating = queue.join(write(&["sub/new/a", "b"]));
        let (inside, whole, other) =
            (queue.join(read(&["sub"])), queue.join(read(&[""])), queue.join(read(&["su"])));
        assert!(is_ready(&other).await);
        assert!(!is_ready(&inside).await && !is_ready(&whole).await);
        drop(creating);
        assert!(is_ready(&inside).await && is_ready(&whole).await);
        let write = queue.join(write(&["sub/a"]));
        assert!(!is_ready(&write).await, "the folder is still being listed");
    }

    #[test]
    fn finished_calls_leave_the_queue() {
        let queue = CallQueue::default();
        for n in 0..100 {
            drop(queue.join(write(&[&n.to_string()])));
        }
        assert!(queue.0.lock().unwrap().entries.is_empty());
    }
}
