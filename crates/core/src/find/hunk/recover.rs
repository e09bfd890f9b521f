//! Recovery of hunks that match nowhere, with the same strategies as for old text. A hunk's line number, scopes and
//! end-of-file marker narrow the search further.

use super::search::ambiguous;
use super::variant::Variant;
use super::{HunkFinder, PendingHunk};
use crate::find::block::MAX_RARE;
use crate::find::error::Reason;
use crate::find::punctuation::line_key;
use crate::find::recover::{Recovery, STRATEGIES, ScriptSearch, Strategy};
use crate::find::recovered_edit::apply_recovered_lines;
use crate::find::resolved_edit::ResolvedEdit;
use crate::find::script::Script;
use crate::find::search_index::{SearchIndex, squashed_hash};
use crate::plan::Placing;

/// The cost of indexing a line: it is read, folded and hashed.
const LINE_COST: usize = 8;

impl HunkFinder<'_> {
    /// Recovers a hunk whose place is beyond doubt despite its mistakes; `None` if there is no such place.
    pub(super) fn recover(
        &self,
        pending: &PendingHunk<'_>,
        stated: Option<usize>,
    ) -> Option<Result<ResolvedEdit, Reason>> {
        if self.placing != Placing::Recover || pending.variants[0].is_blank() {
            return None;
        }
        let blocks = self.scopes.blocks(&pending.hunk.scopes, &self.table, &self.budget).ok()?;
        let lines = match &blocks[..] {
            [block] => block.lines.clone(),
            _ => return None,
        };
        let count = lines.len();
        let within = self.table.span(lines.start, lines.end);
        let scoped;
        let index = if count == self.table.count() {
            self.search_index.get_or_init(|| SearchIndex::with_lookup(within, self.snapshot))
        } else {
            self.recovery_budget.spend(LINE_COST * count);
            scoped = SearchIndex::new(within, self.snapshot);
            &scoped
        };
        self.recovery_budget.spend(LINE_COST * if has_rare_line(pending, index) { MAX_RARE } else { count });
        if self.recovery_budget.is_spent() {
            return None;
        }
        let scripts: Vec<Script> = pending.variants.iter().map(script).collect();
        for strategy in STRATEGIES {
            let recoveries: Vec<Recovery> = scripts
                .iter()
                .zip(&pending.variants)
                .map(|(script, variant)| self.try_variant(*strategy, script, variant, pending, stated, index))
                .filter(|recovery| *recovery != Recovery::NotFound)
                .collect();
            if let Some(recovery) = combine_variants(recoveries) {
                return Some(self.finish(recovery, pending));
            }
        }
        None
    }

    fn try_variant(
        &self,
        strategy: Strategy,
        script: &Script,
        variant: &Variant<'_>,
        pending: &PendingHunk<'_>,
        stated: Option<usize>,
        index: &SearchIndex<'_>,
    ) -> Recovery {
        let last = (pending.hunk.at_end || variant.ends_file()).then(|| self.table.count());
        let search = ScriptSearch { script, classes: &[], line: stated.map(|at| at + 1), last };
        search.try_strategy(strategy, index)
    }

    fn finish(&self, recovery: Recovery, pending: &PendingHunk<'_>) -> Result<ResolvedEdit, Reason> {
        match recovery {
            Recovery::Found(found) => {
                let name = format!("Hunk {} ({}% similarity)", pending.number, found.percent);
                apply_recovered_lines(&name, found, self.newline, self.snapshot)
            }
            Recovery::Ambiguous(lines) => {
                let count = lines.len();
                Err(ambiguous(lines.into_iter().map(|lines| lines.start - 1), count))
            }
            Recovery::Unmergeable(lines, _) => Err(Reason::UnclearIndent { line: lines.start }),
            Recovery::AlreadyApplied(_) | Recovery::NotFound => Err(Reason::HUNK_MISSING),
        }
    }
}

/// Whether every variant has a line that is rare enough to be looked up.
fn has_rare_line(pending: &PendingHunk<'_>, index: &SearchIndex<'_>) -> bool {
    pending.variants.iter().all(|variant| {
        variant.old().filter(|line| !line.text.trim().is_empty()).any(|line| {
            index
                .occurrences(squashed_hash(&line_key(line.text)))
                .is_some_and(|lines| lines.len() <= MAX_RARE)
        })
    })
}

fn script(variant: &Variant<'_>) -> Script {
    Script::of_lines(variant.lines.iter().map(|line| (line.role, line.text)))
}

/// Combines the results of all variants: one place if they agree on it. Of two matches at the same place, the one
/// with fewer differences.
fn combine_variants(recoveries: Vec<Recovery>) -> Option<Recovery> {
    let mut best: Option<Recovery> = None;
    for recovery in recoveries {
        best = Some(match (best, recovery) {
            (None, recovery) => recovery,
            (Some(Recovery::Found(a)), Recovery::Found(b)) if a.at == b.at => {
                Recovery::Found(if b.differences.len() < a.differences.len() { b } else { a })
            }
            (Some(Recovery::Found(a)), Recovery::Found(b)) => Recovery::Ambiguous(vec![a.lines, b.lines]),
            (Some(Recovery::Found(a)), _) => Recovery::Found(a),
            (Some(_), Recovery::Found(b)) => Recovery::Found(b),
            (Some(first), _) => first,
        });
    }
    best
}
