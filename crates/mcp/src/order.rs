//! Calls about one file go one after the other, in the order in which they came; all others go side by side.
//!
//! A turn is taken before anything is waited for, so the order of the messages is the order of the turns. Files are told
//! apart by the place where they really are (`order/claim.rs`): one file can be named in several ways, relative, in full,
//! through a symlink, and two files may have the same name in different folders. Finding that out costs a look at the
//! disk, so it is done only when a call meets another one in flight. It is for the order alone; what keeps an edit inside
//! the root is elsewhere.
//!
//! A call whose folder is not known yet may be about any file. It waits like one that is about anything (`undo_edit`)
//! until the client has named its folders, and [`Turn::narrow`] then says what it is really about.
//!
//! | a call | waits for |
//! | --- | --- |
//! | that changes a file | everything before it that is about the file |
//! | that looks at a file | changes of it before it, unless they wait for a person |
//! | that looks at a folder | the same for everything in it |
//!
//! A person may take minutes to look at a change, and what the files hold meanwhile is certain: nothing is written before
//! the answer. So whoever only looks goes on, past that change and past those that wait behind it.

mod claim;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

pub(crate) use claim::{Claim, Ground};

use claim::{About, Access};

/// The order of one session's calls.
#[derive(Debug, Default)]
pub(crate) struct Order(Arc<Mutex<Queue>>);

/// The calls in flight, in the order in which they came.
#[derive(Debug, Default)]
struct Queue {
    calls: Vec<InFlight>,
    next: u64,
}

#[derive(Debug)]
struct InFlight {
    number: u64,
    claim: Claim,
    stage: Stage,
    /// Wakes those who wait for this call; made by the first of them. They also wake when it is gone.
    wakes: Option<watch::Sender<()>>,
}

/// Why a call is not done yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It is worked on, or will be soon.
    Working,
    /// A person has to decide about it first.
    Held,
    /// A person has to decide first about a call that it waits for.
    Behind,
}

/// A place in the order, held until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    queue: Arc<Mutex<Queue>>,
    number: u64,
}

impl Order {
    /// Takes the next turn for what `claim` says.
    pub(crate) fn take(&self, claim: Claim) -> Turn {
        let mut queue = lock(&self.0);
        let number = queue.next;
        queue.next += 1;
        // What is about no file concerns nobody.
        if !matches!(claim.about, About::Nothing) {
            queue.calls.push(InFlight { number, claim, stage: Stage::Working, wakes: None });
        }
        Turn { queue: self.0.clone(), number }
    }
}

impl Turn {
    /// Waits until the calls in front are done.
    pub(crate) async fn come(&self) {
        while let Some(mut front) = self.in_front() {
            // It is another now, or it is gone: either way, look again.
            let _ = front.changed().await;
        }
    }

    /// Says what the call is really about, where that was not known when the turn was taken.
    pub(crate) fn narrow(&self, claim: Claim) {
        let mut queue = lock(&self.queue);
        if let Some(at) = queue.find(self.number) {
            queue.calls[at].claim = claim;
            queue.calls[at].wake();
            queue.look_again(at);
        }
    }

    /// A person is asked about the call; whoever only looks need not wait for that.
    pub(crate) fn hold(&self) {
        self.set(Stage::Held);
    }

    /// The person has answered.
    pub(crate) fn go_on(&self) {
        self.set(Stage::Working);
    }

    fn set(&self, stage: Stage) {
        let mut queue = lock(&self.queue);
        if let Some(at) = queue.find(self.number) {
            queue.calls[at].set(stage);
            if stage == Stage::Working {
                queue.look_again(at);
            }
        }
    }

    /// Wakes when it is worth looking again whether the turn has come; nothing if it has.
    fn in_front(&self) -> Option<watch::Receiver<()>> {
        let mut queue = lock(&self.queue);
        let at = queue.find(self.number)?;
        let (before, rest) = queue.calls.split_at_mut(at);
        let own = rest.first_mut()?;
        let front = before.iter_mut().rev().find_map(|front| front.stops(own).then_some(front));
        // Behind a call that waits for a person, this one does too.
        own.set(match front.as_ref().map(|front| front.stage) {
            Some(Stage::Held | Stage::Behind) => Stage::Behind,
            Some(Stage::Working) | None => Stage::Working,
        });
        Some(front?.wakes.get_or_insert_with(|| watch::channel(()).0).subscribe())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut queue = lock(&self.queue);
        if let Some(at) = queue.find(self.number)
            && queue.calls.remove(at).stage != Stage::Working
        {
            queue.look_again(at);
        }
    }
}

impl Queue {
    fn find(&self, number: u64) -> Option<usize> {
        self.calls.binary_search_by_key(&number, |call| call.number).ok()
    }

    /// Those who came later have to find out anew whether they wait for a person. Until they have, nobody passes them.
    fn look_again(&mut self, from: usize) {
        let behind = self.calls[from..].iter_mut().filter(|call| call.stage == Stage::Behind);
        if behind.map(|call| call.set(Stage::Working)).count() > 0 {
            // They may wait for anyone.
            self.calls.iter().for_each(InFlight::wake);
        }
    }
}

impl InFlight {
    /// Whether a later call has to wait for this one.
    fn stops(&mut self, later: &mut Self) -> bool {
        match (self.claim.access, later.claim.access) {
            (Access::Look, Access::Look) => return false,
            (Access::Change, Access::Look) if self.stage != Stage::Working => return false,
            _ => {}
        }
        match (&mut self.claim.about, &mut later.claim.about) {
            (About::Nothing, _) | (_, About::Nothing) => false,
            (About::Anything, _) | (_, About::Anything) => true,
            (About::Files(files), About::Files(others)) => files.meet(others),
        }
    }

    fn set(&mut self, stage: Stage) {
        if self.stage != stage {
            self.stage = stage;
            self.wake();
        }
    }

    fn wake(&self) {
        if let Some(wakes) = &self.wakes {
            wakes.send_replace(());
        }
    }
}

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn change(names: &[&str]) -> Claim {
        Claim::files(names, Access::Change)
    }

    fn look(names: &[&str]) -> Claim {
        Claim::files(names, Access::Look)
    }

    async fn comes(turn: &Turn) -> bool {
        tokio::time::timeout(Duration::from_millis(20), turn.come()).await.is_ok()
    }

    #[tokio::test]
    async fn changes_of_one_file_wait_for_each_other_and_others_do_not() {
        let order = Order::default();
        let first = order.take(change(&["a"]));
        let second = order.take(change(&["a"]));
        // The same name in another folder is another file.
        let other = order.take(change(&["b", "x/a"]));
        assert!(comes(&first).await && comes(&other).await);
        assert!(!comes(&second).await);
        drop(first);
        assert!(comes(&second).await);
    }

    #[tokio::test]
    async fn a_change_of_many_files_waits_for_all_of_them() {
        let order = Order::default();
        let (a, b) = (order.take(change(&["a"])), order.take(change(&["b"])));
        let both = order.take(change(&["b", "c", "a"]));
        let (c, d) = (order.take(look(&["c"])), order.take(look(&["d"])));
        assert!(comes(&d).await && !comes(&both).await);
        drop(b);
        assert!(!comes(&both).await && !comes(&c).await);
        drop(a);
        assert!(comes(&both).await && !comes(&c).await);
        drop(both);
        assert!(comes(&c).await);
    }

    #[tokio::test]
    async fn looks_go_side_by_side_after_the_change_before_them() {
        let order = Order::default();
        let first = order.take(change(&["a"]));
        let (one, two) = (order.take(look(&["a"])), order.take(look(&["a"])));
        let last = order.take(change(&["a"]));
        assert!(!comes(&one).await);
        drop(first);
        assert!(comes(&one).await && comes(&two).await);
        drop(one);
        assert!(!comes(&last).await, "a look is still going on");
        drop(two);
        assert!(comes(&last).await);
    }

    #[tokio::test]
    async fn a_call_about_anything_waits_for_all_and_all_for_it() {
        let order = Order::default();
        let a = order.take(change(&["a"]));
        let all = order.take(Claim::anything(Access::Change));
        let b = order.take(look(&["b"]));
        let free = order.take(Claim::nothing());
        assert!(!comes(&all).await && !comes(&b).await);
        assert!(comes(&free).await);
        drop(a);
        assert!(comes(&all).await && !comes(&b).await);
        drop(all);
        assert!(comes(&b).await);
    }

    #[tokio::test]
    async fn once_it_is_known_what_a_call_is_about_others_go_on() {
        let order = Order::default();
        let first = order.take(Claim::anything(Access::Change));
        let (same, other) = (order.take(change(&["a"])), order.take(change(&["b"])));
        assert!(!comes(&same).await && !comes(&other).await);
        // Someone who waits is woken, too.
        let waits = tokio::spawn(async move { other.come().await });
        tokio::time::sleep(Duration::from_millis(5)).await;
        first.narrow(change(&["a"]));
        tokio::time::timeout(Duration::from_secs(5), waits).await.expect("woken").unwrap();
        assert!(!comes(&same).await);
        drop(first);
        assert!(comes(&same).await);
    }

    #[tokio::test]
    async fn looks_pass_a_change_that_waits_for_a_person_and_those_behind_it() {
        let order = Order::default();
        let asks = order.take(change(&["a"]));
        let early = order.take(look(&["a"]));
        let behind = order.take(change(&["a", "b"]));
        let late = order.take(look(&["b"]));
        assert!(!comes(&early).await && !comes(&behind).await && !comes(&late).await);
        asks.hold();
        assert!(comes(&early).await);
        drop(early);
        assert!(!comes(&behind).await);
        assert!(comes(&late).await, "the change of `b` waits for the same person");
        drop(late);
        assert!(!comes(&behind).await, "changes wait as before");
        // The person has answered: from now on, what comes later waits again.
        asks.go_on();
        assert!(!comes(&behind).await);
        let (after, later) = (order.take(look(&["a"])), order.take(look(&["b"])));
        assert!(!comes(&after).await && !comes(&later).await);
        drop(asks);
        assert!(comes(&behind).await && !comes(&after).await);
        drop(behind);
        assert!(comes(&after).await && comes(&later).await);
    }

    #[tokio::test]
    async fn a_look_passes_what_is_held_and_waits_for_what_is_not() {
        let order = Order::default();
        let works = order.take(change(&["a"]));
        let asks = order.take(change(&["b"]));
        asks.hold();
        let both = order.take(change(&["a", "b"]));
        assert!(!comes(&both).await);
        let look = order.take(look(&["a"]));
        assert!(!comes(&look).await, "the first change of the file is being made");
        drop(works);
        assert!(comes(&look).await);
    }

    #[tokio::test]
    async fn nobody_passes_a_change_that_waits_for_a_person_no_more() {
        let order = Order::default();
        let asks = order.take(change(&["a"]));
        asks.hold();
        let behind = order.take(change(&["a"]));
        assert!(!comes(&behind).await);
        // It has not looked yet whether its turn has come; it may begin at any time.
        drop(asks);
        let late = order.take(look(&["a"]));
        assert!(!comes(&late).await);
        drop(behind);
        assert!(comes(&late).await);
    }

    #[tokio::test]
    async fn what_becomes_of_others_leaves_those_behind_a_person_where_they_are() {
        let order = Order::default();
        let (asks, other) = (order.take(change(&["a"])), order.take(change(&["x"])));
        asks.hold();
        let behind = Arc::new(order.take(change(&["a", "b"])));
        let waits = behind.clone();
        let waits = tokio::spawn(async move { waits.come().await });
        tokio::time::sleep(Duration::from_millis(5)).await;
        other.hold();
        other.go_on();
        other.narrow(change(&["y"]));
        assert!(comes(&order.take(look(&["b"]))).await);
        drop(asks);
        tokio::time::timeout(Duration::from_secs(5), waits).await.expect("woken").unwrap();
        assert!(!comes(&order.take(look(&["b"]))).await);
    }

    #[tokio::test]
    async fn looks_at_a_folder_wait_for_what_comes_into_it() {
        let order = Order::default();
        let makes = order.take(change(&["sub/new/a", "b"]));
        let (inside, whole, other) =
            (order.take(look(&["sub"])), order.take(look(&[""])), order.take(look(&["su"])));
        assert!(comes(&other).await);
        assert!(!comes(&inside).await && !comes(&whole).await);
        drop(makes);
        assert!(comes(&inside).await && comes(&whole).await);
        let change = order.take(change(&["sub/a"]));
        assert!(!comes(&change).await, "the look goes on");
    }

    #[test]
    fn calls_that_are_done_are_forgotten() {
        let order = Order::default();
        for n in 0..100 {
            drop(order.take(change(&[&n.to_string()])));
        }
        assert!(order.0.lock().unwrap().calls.is_empty());
    }
}
