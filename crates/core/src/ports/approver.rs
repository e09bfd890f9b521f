//! The port to whoever consents to a change.

use crate::guard::{Care, Checked};
use crate::ports::journal::Origin;

/// Whoever consents to a change: a policy, a person at a terminal, a host's dialog.
pub trait Approver: Send {
    /// Decides on a checked change.
    fn decide(&mut self, question: &Question<'_>) -> Decision;

    /// Hears how far a call is: so many of its files have been looked through for their places. May be told the same again
    /// if someone else writes a file meanwhile and the call is tried anew.
    fn placed(&mut self, files: usize, of: usize) {
        let _ = (files, of);
    }

    /// Decides whether a session that may only look may write from now on.
    fn grant(&mut self, wish: &Wish<'_>) -> Decision {
        Decision::Pend {
            how: format!(
                "A person can allow it with: slipstitch mode unrestricted --session {}",
                wish.session
            ),
        }
    }
}

/// A change that someone is asked about.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The change, with what the guards had to say.
    pub checked: &'a Checked,
    /// Where it comes from.
    pub origin: &'a Origin,
    /// What it is for.
    pub description: Option<&'a str>,
    /// The change as a unified diff.
    pub diff: &'a str,
}

/// A session's wish to write.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    /// The session.
    pub session: &'a str,
    /// What for, in the model's words.
    pub reason: Option<&'a str>,
}

/// An approver's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Go ahead.
    Approve {
        /// Who said so, for the journal.
        by: String,
    },
    /// No.
    Decline {
        /// Who said so.
        by: String,
        /// Why, for the model.
        reason: String,
    },
    /// Not yet: the change waits for a person.
    Pend {
        /// How the person can look at it and decide.
        how: String,
    },
}

/// Agrees to everything that passed the guards, unless one of them asks for a person.
#[derive(Debug, Clone, Copy, Default)]
pub struct Auto;

impl Approver for Auto {
    fn decide(&mut self, question: &Question<'_>) -> Decision {
        match (question.checked.asks(), question.checked.care()) {
            ([], Care::Usual) => Decision::Approve { by: "auto".into() },
            ([], Care::Cautious) => Decision::Approve { by: "auto (cautious)".into() },
            _ => Decision::Pend { how: "Nothing was written yet; a person decides.".into() },
        }
    }
}

/// A person who has looked at a change and agreed to it.
#[derive(Debug, Clone)]
pub struct Person {
    /// The person's name.
    pub name: String,
}

impl Approver for Person {
    fn decide(&mut self, _: &Question<'_>) -> Decision {
        Decision::Approve { by: self.name.clone() }
    }
}
