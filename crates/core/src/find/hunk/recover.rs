//! Hunks whose lines are not in the file as they say: the ladder of recovery that old texts descend, with what a
//! hunk says besides about its place.

use super::place::ambiguous;
use super::reading::Reading;
use super::{Desk, Task};
use crate::find::block::RARE;
use crate::find::error::Reason;
use crate::find::punctuation::key;
use crate::find::recover::{Attempt, Search, WAYS, Way};
use crate::find::script::Script;
use crate::find::terrain::{Terrain, squashed_hash};
use crate::find::text::{Answer, fitted_as};
use crate::plan::Placing;

/// What a look at a line costs: it is read, folded and hashed.
const COST: usize = 8;

impl Desk<'_> {
    /// The one place of a hunk that is in the file with mistakes that leave no doubt; `None` if there is none.
    pub(super) fn recovered(&self, task: &Task<'_>, wanted: Option<usize>) -> Option<Result<Answer, Reason>> {
        if self.placing != Placing::Recover || task.readings[0].is_blank() {
            return None;
        }
        let blocks = self.scopes.blocks(&task.hunk.scopes, &self.page, &self.budget).ok()?;
        let lines = match &blocks[..] {
            [block] => block.lines.clone(),
            _ => return None,
        };
        let count = lines.len();
        let within = self.page.span(lines.start, lines.end);
        let scoped;
        let terrain = if count == self.page.count() {
            self.terrain.get_or_init(|| Terrain::indexed(within, self.snapshot))
        } else {
            self.recoveries.spend(COST * count);
            scoped = Terrain::new(within, self.snapshot);
            &scoped
        };
        self.recoveries.spend(COST * if is_known(task, terrain) { RARE } else { count });
        if self.recoveries.is_spent() {
            return None;
        }
        let scripts: Vec<Script> = task.readings.iter().map(script).collect();
        for way in WAYS {
            let attempts: Vec<Attempt> = scripts
                .iter()
                .zip(&task.readings)
                .map(|(script, reading)| self.attempt(*way, script, reading, task, wanted, terrain))
                .filter(|attempt| *attempt != Attempt::Nothing)
                .collect();
            if let Some(attempt) = likeliest(attempts) {
                return Some(self.settled(attempt, task));
            }
        }
        None
    }

    fn attempt(
        &self,
        way: Way,
        script: &Script,
        reading: &Reading<'_>,
        task: &Task<'_>,
        wanted: Option<usize>,
        terrain: &Terrain<'_>,
    ) -> Attempt {
        let last = (task.hunk.at_end || reading.ends_file()).then(|| self.page.count());
        let search = Search { script, classes: &[], line: wanted.map(|at| at + 1), last };
        search.go(way, terrain)
    }

    fn settled(&self, attempt: Attempt, task: &Task<'_>) -> Result<Answer, Reason> {
        match attempt {
            Attempt::One(found) => {
                let name = format!("Hunk {} ({}% similarity)", task.number, found.percent);
                fitted_as(&name, found, self.newline, self.snapshot)
            }
            Attempt::Several(lines) => {
                let count = lines.len();
                Err(ambiguous(lines.into_iter().map(|lines| lines.start - 1), count))
            }
            Attempt::Unfit(lines, _) => Err(Reason::UnclearIndent { line: lines.start }),
            Attempt::AlreadyThere(_) | Attempt::Nothing => Err(Reason::HUNK_MISSING),
        }
    }
}

/// Whether every way to read a hunk has a line that can be looked up.
fn is_known(task: &Task<'_>, terrain: &Terrain<'_>) -> bool {
    task.readings.iter().all(|reading| {
        reading.old().filter(|line| !line.text.trim().is_empty()).any(|line| {
            terrain.places(squashed_hash(&key(line.text))).is_some_and(|places| places.len() <= RARE)
        })
    })
}

fn script(reading: &Reading<'_>) -> Script {
    Script::of_lines(reading.lines.iter().map(|line| (line.role, line.text)))
}

/// What the ways to read a hunk come to: one place, if all agree; of two in the same place the one with fewer
/// mistakes.
fn likeliest(attempts: Vec<Attempt>) -> Option<Attempt> {
    let mut best: Option<Attempt> = None;
    for attempt in attempts {
        best = Some(match (best, attempt) {
            (None, attempt) => attempt,
            (Some(Attempt::One(a)), Attempt::One(b)) if a.at == b.at => {
                Attempt::One(if b.differences.len() < a.differences.len() { b } else { a })
            }
            (Some(Attempt::One(a)), Attempt::One(b)) => Attempt::Several(vec![a.lines, b.lines]),
            (Some(Attempt::One(a)), _) => Attempt::One(a),
            (Some(_), Attempt::One(b)) => Attempt::One(b),
            (Some(first), _) => first,
        });
    }
    best
}
