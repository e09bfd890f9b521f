//! How a rig is run and what it reports.

use std::fmt;

/// How long a rig runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Seconds, for `cargo test`.
    Quick,
    /// Minutes, for `scripts/torture`.
    Long,
}

/// Whether the protection that a rig tests is active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// As in production: the rig must find no failures.
    On,
    /// Switched off: the rig must find failures.
    Off,
}

/// The result of running a rig.
#[derive(Debug, Default)]
pub struct Findings {
    /// Table rows, for rigs that fill a matrix; cells are separated by `|`.
    pub rows: Vec<String>,
    /// Named counters, in the order in which they are printed.
    pub counts: Vec<(String, u64)>,
    /// Broken guarantees and rig errors, one line each.
    pub failures: Vec<String>,
    /// What could not be tested on this machine, and why.
    pub skipped: Vec<String>,
}

/// How many failures are printed.
const MAX_PRINTED_FAILURES: usize = 20;

impl Findings {
    /// Findings with a single failure, for a rig that could not be set up.
    pub(crate) fn failed(failure: impl Into<String>) -> Self {
        Self { failures: vec![failure.into()], ..Self::default() }
    }

    /// Adds a table row.
    pub(crate) fn add_row(&mut self, cells: impl Into<String>) {
        self.rows.push(cells.into());
    }

    /// Adds to a counter, creating it if necessary.
    pub(crate) fn count(&mut self, name: impl Into<String>, number: impl TryInto<u64>) {
        let (name, number) = (name.into(), number.try_into().unwrap_or(u64::MAX));
        match self.counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum = sum.saturating_add(number),
            None => self.counts.push((name, number)),
        }
    }

    /// The value of a counter; 0 if it does not exist.
    pub fn get_count(&self, name: &str) -> u64 {
        self.counts.iter().find(|(known, _)| known == name).map_or(0, |(_, number)| *number)
    }

    /// Adds a failure.
    pub(crate) fn fail(&mut self, failure: impl Into<String>) {
        self.failures.push(failure.into());
    }

    /// Adds failures, each prefixed with where it happened.
    pub(crate) fn fail_at(&mut self, place: &str, failures: impl IntoIterator<Item = String>) {
        self.failures.extend(failures.into_iter().map(|failure| format!("{place}: {failure}")));
    }

    /// Adds the counts, failures and skips of another part of the rig.
    pub(crate) fn merge(&mut self, other: Self) {
        for (name, number) in other.counts {
            self.count(name, number);
        }
        self.failures.extend(other.failures);
        self.skipped.extend(other.skipped);
    }

    /// Whether this is the result that the rig must have: no failures with the protection on, some with it off
    /// (unless something was skipped).
    pub fn passes(&self, protection: Protection) -> bool {
        match protection {
            Protection::On => self.failures.is_empty(),
            Protection::Off => !self.failures.is_empty() || !self.skipped.is_empty(),
        }
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.rows {
            writeln!(f, "  | {row} |")?;
        }
        for (name, number) in &self.counts {
            writeln!(f, "  {name:<60} {number:>10}")?;
        }
        for reason in &self.skipped {
            writeln!(f, "  SKIPPED: {reason}")?;
        }
        for failure in self.failures.iter().take(MAX_PRINTED_FAILURES) {
            writeln!(f, "  FAILURE: {failure}")?;
        }
        if self.failures.len() > MAX_PRINTED_FAILURES {
            writeln!(f, "  … and {} more failures", self.failures.len() - MAX_PRINTED_FAILURES)?;
        }
        Ok(())
    }
}
