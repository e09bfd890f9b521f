//! Progress of a call that touches several files: one step per file that was checked, one when writing begins, and one
//! when everything is done.

use rmcp::model::{ProgressNotificationParam, ProgressToken};

/// How far a call is. Later steps compare greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Progress {
    step: usize,
    files: usize,
}

impl Progress {
    /// The engine has looked for the edits of `checked` files out of `files`.
    pub(crate) fn checked(checked: usize, files: usize) -> Self {
        Self { step: checked, files }
    }

    /// All edits are located and approved; writing begins.
    pub(crate) fn writing(self) -> Self {
        Self { step: self.files + 1, ..self }
    }

    pub(crate) fn done(self) -> Self {
        Self { step: self.files + 2, ..self }
    }

    pub(crate) fn to_notification(self, token: ProgressToken) -> ProgressNotificationParam {
        let Self { step, files } = self;
        let message = match step.checked_sub(files) {
            None | Some(0) => format!("{step} of {files} files checked"),
            Some(1) => format!("writing {files} files"),
            Some(_) => format!("{files} files done"),
        };
        let mut notification = ProgressNotificationParam::new(token, step as f64);
        notification.total = Some(self.done().step as f64);
        notification.message = Some(message);
        notification
    }
}
