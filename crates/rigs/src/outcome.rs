//! What a rig is asked and what it answers.

use std::fmt;

/// How long a rig runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Seconds: for every run of the tests.
    Quick,
    /// Minutes: for `scripts/torture`.
    Long,
}

/// Whether the protection that a rig watches works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// As users have it: the rig must find nothing.
    On,
    /// Switched off: the rig must find something.
    Off,
}

/// What a rig found.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The rows of a table, if what was found is one: cells between `|`.
    pub rows: Vec<String>,
    /// What was counted, in the order in which a table shows it.
    pub figures: Vec<(String, u64)>,
    /// What went wrong, one line each.
    pub faults: Vec<String>,
    /// What could not be tried here, and why.
    pub skipped: Vec<String>,
}

impl Outcome {
    /// Adds a row of the table.
    pub fn row(&mut self, cells: impl Into<String>) {
        self.rows.push(cells.into());
    }

    /// Adds to a figure, which is new if it has not been counted yet.
    pub fn count(&mut self, what: impl Into<String>, number: impl TryInto<u64>) {
        let (what, number) = (what.into(), number.try_into().unwrap_or(u64::MAX));
        match self.figures.iter_mut().find(|(known, _)| *known == what) {
            Some((_, sum)) => *sum = sum.saturating_add(number),
            None => self.figures.push((what, number)),
        }
    }

    /// A figure; 0 if it was never counted.
    pub fn figure(&self, what: &str) -> u64 {
        self.figures.iter().find(|(known, _)| known == what).map_or(0, |(_, number)| *number)
    }

    /// Adds a fault.
    pub fn fault(&mut self, what: impl Into<String>) {
        self.faults.push(what.into());
    }

    /// Adds what another part of the rig found.
    pub fn merge(&mut self, other: Self) {
        for (what, number) in other.figures {
            self.count(what, number);
        }
        self.faults.extend(other.faults);
        self.skipped.extend(other.skipped);
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.rows {
            writeln!(f, "  | {row} |")?;
        }
        for (what, number) in &self.figures {
            writeln!(f, "  {what:<60} {number:>10}")?;
        }
        for reason in &self.skipped {
            writeln!(f, "  SKIPPED: {reason}")?;
        }
        for fault in self.faults.iter().take(20) {
            writeln!(f, "  FAULT: {fault}")?;
        }
        if self.faults.len() > 20 {
            writeln!(f, "  … and {} more faults", self.faults.len() - 20)?;
        }
        Ok(())
    }
}
