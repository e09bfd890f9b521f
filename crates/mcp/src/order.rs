//! Calls about one file go one after the other, in the order in which they came; all others go side by side.
//!
//! A turn is taken before anything is waited for, so the order of the messages is the order of the turns. Files are
//! told apart by the last part of their path: one file can be named in several ways (relative, in full, through a
//! linked folder), and all of them end alike. Two files of the same name wait for each other; that costs a little time and
//! never a wrong order.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use incise::core::dialect::{Dialect, Tool};
use incise::core::plan::{Operation, Plan};
use incise::core::settings::Settings;
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

/// How many names are remembered before those of calls long done are forgotten.
const MOST_LANES: usize = 256;

/// The fields in which tools name the file that they are about.
const PATH_FIELDS: &[&str] = &["path", "file_path", "filePath"];

/// What a call is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Claim {
    /// These files, by the last part of their paths.
    Files { names: BTreeSet<String>, access: Access },
    /// Anything: it waits for all calls before it, and all calls after it wait for it.
    All,
    /// No file.
    Nothing,
}

/// Whether a call may change what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Look,
    Change,
}

/// The order of one session's calls.
#[derive(Debug, Default)]
pub(crate) struct Order(Mutex<Lanes>);

#[derive(Debug, Default)]
struct Lanes {
    by_name: HashMap<String, Lane>,
    /// The last call about anything.
    all: Option<Done>,
}

/// Who to wait for in front of one name.
#[derive(Debug, Default)]
struct Lane {
    change: Option<Done>,
    looks: Vec<Done>,
}

/// Cancelled when a call is done; never by anyone else.
type Done = CancellationToken;

/// A place in the order, held until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    before: Vec<Done>,
    _done: DropGuard,
}

impl Turn {
    /// Waits until the calls in front are done.
    pub(crate) async fn come(&mut self) {
        while let Some(done) = self.before.last() {
            done.cancelled().await;
            self.before.pop();
        }
    }
}

impl Order {
    /// Takes the next turn for what `claim` says.
    pub(crate) fn take(&self, claim: &Claim) -> Turn {
        let mut lanes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let done = Done::new();
        let mut before: Vec<Done> = Vec::new();
        match claim {
            Claim::Nothing => {}
            Claim::All => {
                before.extend(lanes.all.take());
                for lane in lanes.by_name.values_mut() {
                    before.extend(lane.change.take());
                    before.append(&mut lane.looks);
                }
                lanes.by_name.clear();
                lanes.all = Some(done.clone());
            }
            Claim::Files { names, access } => {
                before.extend(lanes.all.clone());
                lanes.forget_what_is_done();
                for name in names {
                    let lane = lanes.by_name.entry(name.clone()).or_default();
                    before.extend(lane.change.clone());
                    match access {
                        Access::Look => {
                            lane.looks.retain(|look| !look.is_cancelled());
                            lane.looks.push(done.clone());
                        }
                        Access::Change => {
                            before.append(&mut lane.looks);
                            lane.change = Some(done.clone());
                        }
                    }
                }
            }
        }
        before.retain(|done| !done.is_cancelled());
        Turn { before, _done: done.drop_guard() }
    }
}

impl Lanes {
    fn forget_what_is_done(&mut self) {
        if self.by_name.len() >= MOST_LANES {
            self.by_name.retain(|_, lane| {
                lane.change.as_ref().is_some_and(|done| !done.is_cancelled())
                    || lane.looks.iter().any(|done| !done.is_cancelled())
            });
        }
    }
}

/// What a call is about, as far as that shows without opening the workspace.
pub(crate) fn claim(dialect: &Dialect, tool: &Tool, arguments: &Value) -> Claim {
    let reads = tool.effect.leaves_files();
    let access = if reads { Access::Look } else { Access::Change };
    // The text of a patch may name more files than the field beside it.
    let patches = ["patch", "diff", "input", "diff_file"].iter().any(|name| arguments.get(name).is_some());
    if !patches && let Some(name) = named(arguments) {
        return Claim::Files { names: [name].into(), access };
    }
    match dialect.parse(tool, arguments.clone(), &[], &Settings::default()) {
        Ok(Plan::Edit(plan)) => {
            let targets = plan.files.iter().flat_map(|file| &file.operations).filter_map(|op| match op {
                Operation::Move { to, .. } => Some(to),
                _ => None,
            });
            let paths = plan.files.iter().map(|file| &file.path).chain(targets);
            Claim::Files { names: paths.map(|path| last_part(path.as_str())).collect(), access }
        }
        _ if reads => Claim::Nothing,
        _ => Claim::All,
    }
}

fn named(arguments: &Value) -> Option<String> {
    PATH_FIELDS.iter().find_map(|field| arguments.get(field)?.as_str()).map(last_part)
}

fn last_part(path: &str) -> String {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn files(names: &[&str], access: Access) -> Claim {
        Claim::Files { names: names.iter().map(|name| (*name).to_owned()).collect(), access }
    }

    async fn comes(turn: &mut Turn) -> bool {
        tokio::time::timeout(Duration::from_millis(20), turn.come()).await.is_ok()
    }

    #[tokio::test]
    async fn changes_of_one_file_wait_for_each_other_and_others_do_not() {
        let order = Order::default();
        let (a, b) = (files(&["a"], Access::Change), files(&["b"], Access::Change));
        let mut first = order.take(&a);
        let mut second = order.take(&a);
        let mut other = order.take(&b);
        assert!(comes(&mut first).await && comes(&mut other).await);
        assert!(!comes(&mut second).await);
        drop(first);
        assert!(comes(&mut second).await);
    }

    #[tokio::test]
    async fn looks_go_side_by_side_after_the_change_before_them() {
        let order = Order::default();
        let (look, change) = (files(&["a"], Access::Look), files(&["a"], Access::Change));
        let first = order.take(&change);
        let (mut one, mut two) = (order.take(&look), order.take(&look));
        let mut last = order.take(&change);
        assert!(!comes(&mut one).await);
        drop(first);
        assert!(comes(&mut one).await && comes(&mut two).await);
        drop(one);
        assert!(!comes(&mut last).await, "a look is still going on");
        drop(two);
        assert!(comes(&mut last).await);
    }

    #[tokio::test]
    async fn a_call_about_anything_waits_for_all_and_all_for_it() {
        let order = Order::default();
        let a = order.take(&files(&["a"], Access::Change));
        let mut all = order.take(&Claim::All);
        let mut b = order.take(&files(&["b"], Access::Look));
        let mut free = order.take(&Claim::Nothing);
        assert!(!comes(&mut all).await && !comes(&mut b).await);
        assert!(comes(&mut free).await);
        drop(a);
        assert!(comes(&mut all).await && !comes(&mut b).await);
        drop(all);
        assert!(comes(&mut b).await);
    }

    #[test]
    fn names_of_calls_that_are_done_are_forgotten() {
        let order = Order::default();
        for n in 0..10 * MOST_LANES {
            drop(order.take(&files(&[&n.to_string()], Access::Change)));
        }
        assert!(order.0.lock().unwrap().by_name.len() <= MOST_LANES);
    }

    #[test]
    fn the_files_of_a_call_are_seen_however_they_are_named() {
        let of = |dialect: &str, tool: &str, arguments: Value| {
            let dialect = Dialect::named(dialect).unwrap();
            claim(dialect, dialect.tool(tool).unwrap(), &arguments)
        };
        let change = |names: &[&str]| files(names, Access::Change);
        let edit = json!({"path": "./src/../src/a.rs", "old_text": "x", "new_text": "y"});
        assert_eq!(of("incise", "edit_file", edit), change(&["a.rs"]));
        assert_eq!(of("incise", "read_file", json!({"path": "/r/a.rs"})), files(&["a.rs"], Access::Look));
        assert_eq!(of("claude", "Write", json!({"file_path": "/r/b", "content": ""})), change(&["b"]));
        let patch =
            "--- a/x/one\n+++ b/x/one\n@@ -1 +1 @@\n-a\n+b\n--- a/two\n+++ b/two\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(of("incise", "patch", json!({"patch": patch})), change(&["one", "two"]));
        assert_eq!(of("incise", "patch", json!({"patch": "no patch"})), Claim::All);
        assert_eq!(of("incise", "undo_edit", json!({})), Claim::All);
        assert_eq!(of("phoenix", "request_mode_upgrade", json!({})), Claim::Nothing);
        assert_eq!(of("agent-q", "list_directory", json!({})), Claim::Nothing);
    }
}
