//! Paths, symlinks, patches and races that try to leave the root.

mod ground;
mod hand;
mod paths;
mod race;
mod verbs;
mod watch;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use crate::{Outcome, Protection, Scale};
use ground::{Ground, MARK};
use hand::{Engine, Hand, Lexical, Said};
pub use race::run as race;
use verbs::{On, PATCHES, VERBS, Verb};
use watch::Watch;

/// How long one attack may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What no answer may hold: the mark outside, and what stands in files of the system that attacks name.
const FORBIDDEN: &[&str] = &[MARK, "root:x:0:", "PATH=/"];

/// What one attack came to.
#[derive(Debug)]
enum Met {
    /// It was answered; the text says what is wrong with that.
    Answer { done: bool, wrong: Option<String> },
    /// The rig itself is at fault.
    Broken(String),
}

/// Tries every path with every tool, and every hostile patch. With the protection off, a tool that compares
/// paths by the letter takes the engine's place.
pub fn run(_: Scale, protection: Protection) -> Outcome {
    let mut outcome = Outcome::default();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || attack_all(protection, &tell));
    let (mut attacks, mut refused) = (0_u64, 0_u64);
    while let Some(met) = next(&told, &mut outcome) {
        match met {
            Met::Broken(why) => outcome.fault(format!("the rig does not work: {why}")),
            Met::Answer { done, wrong } => {
                attacks += 1;
                refused += u64::from(!done);
                wrong.into_iter().for_each(|wrong| outcome.fault(wrong));
            }
        }
    }
    outcome.count("paths", Ground::new().map_or(0, |ground| paths::all(&ground).len()));
    outcome.count("ways to use a path", VERBS.len());
    outcome.count("hostile patches", PATCHES.len());
    outcome.count("attacks", attacks);
    outcome.count("of them refused", refused);
    outcome
}

fn next(told: &Receiver<Met>, outcome: &mut Outcome) -> Option<Met> {
    match told.recv_timeout(PATIENCE) {
        Ok(met) => Some(met),
        Err(RecvTimeoutError::Disconnected) => None,
        Err(RecvTimeoutError::Timeout) => {
            outcome.fault(format!("an attack was not answered within {} s", PATIENCE.as_secs()));
            None
        }
    }
}

fn attack_all(protection: Protection, tell: &Sender<Met>) {
    for verb in VERBS {
        let done = attack(
            protection,
            tell,
            &format!("{} {} {}", verb.dialect, verb.tool, verb.way),
            |hand, tried| {
                control(hand, verb, protection)?;
                let paths = paths::all(tried.ground);
                paths.iter().try_for_each(|path| {
                    tried.ground.lay_out()?;
                    tried.judge(path, &hand.use_tool(verb, path))
                })
            },
        );
        if let Err(why) = done {
            let _ = tell.send(Met::Broken(why));
        }
    }
    let done = attack(protection, tell, "patch", |hand, tried| {
        PATCHES.iter().try_for_each(|text| tried.judge(text, &hand.patch(text)))
    });
    if let Err(why) = done {
        let _ = tell.send(Met::Broken(why));
    }
}

/// One ground, attacked in one way.
struct Tried<'a> {
    ground: &'a Ground,
    watch: Watch,
    way: &'a str,
    tell: &'a Sender<Met>,
}

fn attack(
    protection: Protection,
    tell: &Sender<Met>,
    way: &str,
    attacks: impl FnOnce(&dyn Hand, &Tried<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{way}: {error}");
    let ground = Ground::new().map_err(failed)?;
    let hand: Box<dyn Hand> = match protection {
        Protection::On => Box::new(Engine::new(&ground)?),
        Protection::Off => Box::new(Lexical(ground.root())),
    };
    let before = ground.untouchable().map_err(failed)?;
    let watch = Watch::new(&[&ground.outside(), &ground.outside().join("folder")]).map_err(failed)?;
    attacks(&*hand, &Tried { ground: &ground, watch, way, tell })?;
    let after = ground.untouchable().map_err(failed)?;
    let changed = before.iter().find(|(path, was)| after.get(*path) != Some(*was)).map(|(path, _)| path);
    let changed = changed.or_else(|| after.keys().find(|path| !before.contains_key(*path)));
    let wrong = changed.map(|path| format!("{way}: `{}` was changed, made or removed", path.display()));
    tell.send(Met::Answer { done: false, wrong }).map_err(|error| error.to_string())
}

impl Tried<'_> {
    /// Looks at what an attack was answered, and at what it did outside.
    fn judge(&self, what: &str, said: &Said) -> Result<(), String> {
        let what: String = what.chars().take(120).collect();
        let events = self.watch.seen().map_err(|error| error.to_string())?;
        let leaked = FORBIDDEN.iter().find(|mark| said.text.contains(**mark));
        let wrong = match (leaked, events.first(), &said.unclear) {
            (Some(mark), ..) => Some(format!("the answer holds `{mark}`")),
            (_, Some(event), _) => Some(format!("outside was touched: {event}")),
            (.., Some(unclear)) => Some(format!("the refusal is not clear: {unclear}")),
            _ => None,
        };
        let wrong = wrong.map(|wrong| format!("{} on {what:?}: {wrong}", self.way));
        self.tell.send(Met::Answer { done: said.done, wrong }).map_err(|error| error.to_string())
    }
}

/// Makes sure that a verb works where it may: attacks with a call that nobody understands show nothing.
fn control(hand: &dyn Hand, verb: &Verb, protection: Protection) -> Result<(), String> {
    let path = match verb.on {
        On::File => "sub/plain.txt",
        On::Nothing => "sub/made.txt",
        On::Folder => "sub",
    };
    let said = hand.use_tool(verb, path);
    if said.done || protection == Protection::Off {
        return Ok(());
    }
    Err(format!("{} {} {} does not work on `{path}`: {}", verb.dialect, verb.tool, verb.way, said.text))
}
