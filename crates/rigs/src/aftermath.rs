//! What must be true after an operation was disturbed.

use slipstitch::SqliteJournal;
use slipstitch::core::ports::journal::{ChangeState, Filter, Journal};

use crate::bench::Bench;
use crate::operation::Writing;
use crate::tree::Tree;

/// How the files are after an operation that was disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// As they were.
    Old,
    /// As the operation makes them.
    New,
}

/// Whether the caller was told that the operation succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RenderInput {
    /// It was.
    Success,
    /// It was told of a failure.
    Failure,
    /// It was told nothing.
    Nothing,
}

/// Looks at what a disturbed operation left, starts the program again, and looks again. Answers on which side
/// the files are, or with everything that is wrong.
pub(crate) fn check(bench: &Bench, told: RenderInput) -> Result<Side, Vec<String>> {
    let mut faults = Vec::new();
    if let Err(fault) = check_files(bench, told) {
        faults.push(fault);
    }
    let side = next_start(bench, told, &mut faults);
    if let (Some(side), true) = (side, faults.is_empty())
        && let Err(fault) = carry_on(bench, side)
    {
        faults.push(fault);
    }
    match side {
        Some(side) if faults.is_empty() => Ok(side),
        _ => Err(faults),
    }
}

/// Each file for itself is old or new at any time, unless it is written in place. A process that was able to
/// answer has brought all files to the side that it tells.
pub(crate) fn check_files(bench: &Bench, told: RenderInput) -> Result<(), String> {
    let (seen, _) = bench.seen()?;
    let wanted = match told {
        RenderInput::Success => &bench.new,
        RenderInput::Failure => &bench.old,
        RenderInput::Nothing => {
            let torn =
                seen.torn(&bench.old, &bench.new).filter(|_| bench.operation().writing == Writing::Aside);
            return torn.map_or(Ok(()), |path| Err(format!("`{path}` was neither old nor new")));
        }
    };
    let kind = if told == RenderInput::Success { "success" } else { "failure" };
    seen.difference(wanted).map_or(Ok(()), |difference| Err(format!("told of {kind}, but {difference}")))
}

fn next_start(bench: &Bench, told: RenderInput, faults: &mut Vec<String>) -> Option<Side> {
    let look = || -> Result<(Vec<String>, Tree, Vec<String>), String> {
        let states = bench.journal()?;
        let (seen, temporary) = bench.seen()?;
        Ok((states, seen, temporary))
    };
    let (states, seen, temporary) = match look() {
        Ok(found) => found,
        Err(fault) => {
            faults.push(format!("the next start failed: {fault}"));
            return None;
        }
    };
    if !temporary.is_empty() {
        faults.push(format!("left behind: {}", temporary.join(", ")));
    }
    if states.iter().any(|state| state != "done") {
        faults.push("a change is pending after the next start".into());
    }
    let side = side(bench, &seen);
    match side {
        None => faults.push(mixture(bench, &seen)),
        Some(Side::Old) if told == RenderInput::Success => faults.push("told of success, and lost".into()),
        Some(Side::New) if told == RenderInput::Failure => faults.push("told of failure, and done".into()),
        Some(side) => {
            let wanted = bench.changes + usize::from(side == Side::New);
            if states.len() != wanted {
                faults.push(format!(
                    "the files are {side:?}, and the journal has {} changes, not {wanted}",
                    states.len()
                ));
            }
        }
    }
    side
}

fn side(bench: &Bench, seen: &Tree) -> Option<Side> {
    match seen {
        seen if *seen == bench.old => Some(Side::Old),
        seen if *seen == bench.new => Some(Side::New),
        _ => None,
    }
}

fn mixture(bench: &Bench, seen: &Tree) -> String {
    let from = |tree| seen.difference(tree).unwrap_or_default();
    format!("neither old ({}) nor new ({})", from(&bench.old), from(&bench.new))
}

/// Work goes on: what is not done can be done, what is done can be taken back.
fn carry_on(bench: &Bench, side: Side) -> Result<(), String> {
    let (call, wanted) = match side {
        Side::Old => (bench.operation().call, &bench.new),
        Side::New => (bench.operation().back, &bench.old),
    };
    let answer = bench.run(call)?;
    if !answer.is_success() {
        return Err(format!("afterwards `slipstitch {}` failed: {}", call.join(" "), answer.brief()));
    }
    let (seen, _) = bench.seen()?;
    let difference = seen.after_undo().difference(&wanted.clone().after_undo());
    difference.map_or(Ok(()), |difference| Err(format!("carried on, but {difference}")))
}

/// The same look without a next start, which is the protection that [`check`] watches.
pub(crate) fn check_without_next_start(bench: &Bench) -> Result<Side, Vec<String>> {
    let mut faults = Vec::new();
    let look = || -> Result<_, String> {
        let journal = SqliteJournal::open(&bench.state(), &bench.root().to_string_lossy());
        let changes =
            journal.and_then(|journal| journal.list(&Filter::default())).map_err(|e| e.to_string())?;
        Ok((bench.seen()?, changes))
    };
    let ((seen, temporary), changes) = look().map_err(|fault| vec![fault])?;
    if !temporary.is_empty() {
        faults.push(format!("left behind: {}", temporary.join(", ")));
    }
    if changes.iter().any(|change| change.state == ChangeState::Pending) {
        faults.push("a change is pending".into());
    }
    match side(bench, &seen) {
        Some(side) if faults.is_empty() => return Ok(side),
        Some(_) => {}
        None => faults.push(mixture(bench, &seen)),
    }
    Err(faults)
}
