//! What the person in charge has set: per dialect, with the names that the dialects' documents use.

use serde::{Deserialize, Serialize};

use crate::plan::Overwriting;

/// What a session may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Look, but not write.
    Restricted,
    /// Everything.
    #[default]
    Unrestricted,
}

impl Mode {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Restricted => "restricted",
            Self::Unrestricted => "unrestricted",
        }
    }

    /// Reads what [`Mode::name`] writes.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Restricted, Self::Unrestricted].into_iter().find(|mode| mode.name() == name)
    }
}

/// The settings of all dialects.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// `[tools.edit]`, of the dialect `forge`.
    pub edit: Forge,
    /// `[tools.xzatoma]`.
    pub xzatoma: Xzatoma,
    /// `[tools.agent-q]`.
    #[serde(rename = "agent-q")]
    pub agent_q: AgentQ,
    /// `[tools.patch]`, of all tools that take patches.
    pub patch: Patches,
}

impl Settings {
    /// Takes over what `other` sets more tightly, and nothing that it sets more loosely.
    pub fn tighten(&mut self, other: &Self) {
        self.edit.enabled &= other.edit.enabled;
        self.edit.max_snippet_bytes = self.edit.max_snippet_bytes.min(other.edit.max_snippet_bytes);
        self.edit.max_line_edit_bytes = self.edit.max_line_edit_bytes.min(other.edit.max_line_edit_bytes);
        self.edit.require_file_hash |= other.edit.require_file_hash;
        self.xzatoma.max_file_size = self.xzatoma.max_file_size.min(other.xzatoma.max_file_size);
        self.xzatoma.confirm_overwrite |= other.xzatoma.confirm_overwrite;
        self.agent_q.propose_over_lines =
            self.agent_q.propose_over_lines.min(other.agent_q.propose_over_lines);
        self.agent_q.always_propose |= other.agent_q.always_propose;
        self.patch.overwrite &= other.patch.overwrite;
    }
}

/// Settings of the dialect `forge`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Forge {
    /// Choosing the dialect enables it; this can switch it off.
    pub enabled: bool,
    /// The most bytes of an old or new snippet.
    pub max_snippet_bytes: usize,
    /// The most bytes of new content for a line range.
    pub max_line_edit_bytes: usize,
    /// Whether every call must name the file's hash.
    pub require_file_hash: bool,
}

impl Default for Forge {
    fn default() -> Self {
        Self {
            enabled: true,
            max_snippet_bytes: 262_144,
            max_line_edit_bytes: 262_144,
            require_file_hash: false,
        }
    }
}

/// Settings of the dialect `xzatoma`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Xzatoma {
    /// The most bytes of a file after an edit.
    pub max_file_size: u64,
    /// Whether overwriting a file that has text needs `confirm_overwrite`.
    pub confirm_overwrite: bool,
}

impl Default for Xzatoma {
    fn default() -> Self {
        Self { max_file_size: 10 << 20, confirm_overwrite: false }
    }
}

/// Settings of the dialect `agent-q`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentQ {
    /// An edit that affects more lines becomes a proposal.
    pub propose_over_lines: usize,
    /// Whether every edit becomes a proposal.
    pub always_propose: bool,
}

impl Default for AgentQ {
    fn default() -> Self {
        Self { propose_over_lines: 50, always_propose: false }
    }
}

/// Settings of the tools that take patches.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Patches {
    /// Whether a patch may make or move a file where there is one already.
    pub overwrite: bool,
}

impl Patches {
    /// What a file in the way of a patch means.
    pub fn over(&self) -> Overwriting {
        if self.overwrite { Overwriting::Allowed } else { Overwriting::Refused }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: 000-config-defaults
    #[test]
    fn the_defaults_of_forge() {
        let Forge { enabled, max_snippet_bytes, max_line_edit_bytes, require_file_hash } = Forge::default();
        assert!(enabled && !require_file_hash);
        assert_eq!((max_snippet_bytes, max_line_edit_bytes), (262_144, 262_144));
    }

    // Shows: 003-size-limit
    #[test]
    fn the_defaults_of_xzatoma() {
        assert_eq!(Xzatoma::default(), Xzatoma { max_file_size: 10_485_760, confirm_overwrite: false });
    }
}
