//! User settings per dialect, with the names from the dialects' documents.

use serde::{Deserialize, Serialize};

use crate::plan::Overwriting;

/// What a session may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Read only.
    Restricted,
    /// Read and write.
    #[default]
    Unrestricted,
}

impl Mode {
    /// The mode's name in settings and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Restricted => "restricted",
            Self::Unrestricted => "unrestricted",
        }
    }

    /// Parses what [`Mode::name`] returns.
    pub fn from_name(name: &str) -> Option<Self> {
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
    /// Adopts the settings of `other` that are stricter, and none that are looser.
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
    /// Whether the dialect's tools are enabled.
    pub enabled: bool,
    /// The maximum size of an old or new snippet in bytes.
    pub max_snippet_bytes: usize,
    /// The maximum size of new content for a line range in bytes.
    pub max_line_edit_bytes: usize,
    /// Whether every call must give the file's hash.
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
    /// The maximum size of a file after an edit in bytes.
    pub max_file_size: u64,
    /// Whether overwriting a non-empty file requires `confirm_overwrite`.
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
    /// Edits that affect more lines than this become proposals.
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
    /// Whether a patch may create or move a file over an existing one.
    pub overwrite: bool,
}

impl Patches {
    /// What to do if a patch creates or moves a file over an existing one.
    pub fn overwriting(&self) -> Overwriting {
        if self.overwrite { Overwriting::Allowed } else { Overwriting::Refused }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: 000-config-defaults
    #[test]
    fn forge_defaults() {
        let Forge { enabled, max_snippet_bytes, max_line_edit_bytes, require_file_hash } = Forge::default();
        assert!(enabled && !require_file_hash);
        assert_eq!((max_snippet_bytes, max_line_edit_bytes), (262_144, 262_144));
    }

    // Shows: 003-size-limit
    #[test]
    fn xzatoma_defaults() {
        assert_eq!(Xzatoma::default(), Xzatoma { max_file_size: 10_485_760, confirm_overwrite: false });
    }
}
