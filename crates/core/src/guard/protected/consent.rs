//! What happens to a change that may need the user's consent.

/// What happens to a change that may need the user's consent, from lenient to strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ConsentRule {
    /// It is applied like any other.
    Allow,
    /// It needs the user's approval.
    #[default]
    Ask,
    /// It is refused.
    Deny,
}

impl ConsentRule {
    /// Every rule, from lenient to strict.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];

    /// Its name in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// The rule with that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }
}
