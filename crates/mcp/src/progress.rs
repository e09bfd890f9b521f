//! How far a call about many files is, as its client is told: a step for each file that was looked through, one when
//! writing begins, one when all is done.

use rmcp::model::{ProgressNotificationParam, ProgressToken};

/// A step; later ones are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Step {
    at: usize,
    files: usize,
}

impl Step {
    /// So many files of a call have been looked through for their places.
    pub(crate) fn placed(count: usize, files: usize) -> Self {
        Self { at: count, files }
    }

    /// All places are found, and nothing is in the way.
    pub(crate) fn writing(self) -> Self {
        Self { at: self.files + 1, ..self }
    }

    pub(crate) fn done(self) -> Self {
        Self { at: self.files + 2, ..self }
    }

    /// The same in the words of the protocol.
    pub(crate) fn told(self, to: ProgressToken) -> ProgressNotificationParam {
        let Self { at, files } = self;
        let message = match at.checked_sub(files) {
            None | Some(0) => format!("{at} of {files} files looked through"),
            Some(1) => format!("every place is found; writing {files} files"),
            Some(_) => format!("{files} files are done"),
        };
        let mut told = ProgressNotificationParam::new(to, at as f64);
        told.total = Some(self.done().at as f64);
        told.message = Some(message);
        told
    }
}
