//! User settings per dialect, with the names from the dialects' documents.

use std::num::NonZeroUsize;

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
        self.edit.enabled = match (self.edit.enabled, other.edit.enabled) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (own, _) => own,
        };
        self.edit.approval = self.edit.approval.max(other.edit.approval);
        self.edit.max_snippet_bytes = self.edit.max_snippet_bytes.min(other.edit.max_snippet_bytes);
        self.edit.max_line_edit_bytes = self.edit.max_line_edit_bytes.min(other.edit.max_line_edit_bytes);
        self.edit.require_file_hash |= other.edit.require_file_hash;
        self.xzatoma.max_file_size = self.xzatoma.max_file_size.min(other.xzatoma.max_file_size);
        self.xzatoma.confirm_overwrite |= other.xzatoma.confirm_overwrite;
        self.xzatoma.reduction_from_lines =
            self.xzatoma.reduction_from_lines.min(other.xzatoma.reduction_from_lines);
        self.xzatoma.reduction_to_one_in =
            self.xzatoma.reduction_to_one_in.min(other.xzatoma.reduction_to_one_in);
        self.xzatoma.confirm_reduction &= other.xzatoma.confirm_reduction;
        self.xzatoma.edit_without_old_text =
            self.xzatoma.edit_without_old_text.min(other.xzatoma.edit_without_old_text);
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
    /// Whether the dialect's tools are enabled. Without this key they are off, until someone chooses the dialect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether edits need the user's approval.
    pub approval: Approval,
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
            enabled: None,
            approval: Approval::Auto,
            max_snippet_bytes: 262_144,
            max_line_edit_bytes: 262_144,
            require_file_hash: false,
        }
    }
}

impl Forge {
    /// Whether the tools are enabled for a caller that has chosen the dialect.
    pub fn is_enabled(&self) -> bool {
        self.enabled != Some(false)
    }
}

/// Whether a tool's changes need the user's approval, from loose to strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Approval {
    /// Only where another rule asks for it.
    #[default]
    Auto,
    /// Always.
    Ask,
    /// No change is allowed.
    Deny,
}

/// What `edit` mode does without `old_text`, from strict to loose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WithoutOldText {
    /// It is an error.
    #[default]
    Error,
    /// It overwrites the file, as before strict mode. Overwriting a file that has text needs a confirmation.
    Overwrite,
}

/// Settings of the dialect `xzatoma`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Xzatoma {
    /// The maximum size of a file after an edit in bytes.
    pub max_file_size: u64,
    /// Whether overwriting a non-empty file requires `confirm_overwrite`.
    pub confirm_overwrite: bool,
    /// The safety check applies to files with at least this many lines.
    pub reduction_from_lines: usize,
    /// An edit that leaves less than one in this many lines is refused.
    pub reduction_to_one_in: NonZeroUsize,
    /// Whether `confirm_reduction` overrides the safety check.
    pub confirm_reduction: bool,
    /// What `edit` mode does without `old_text`.
    pub edit_without_old_text: WithoutOldText,
}

/// One in three lines.
const ONE_IN_THREE: NonZeroUsize = NonZeroUsize::new(3).unwrap();

impl Default for Xzatoma {
    fn default() -> Self {
        Self {
            max_file_size: 10 << 20,
            confirm_overwrite: true,
            reduction_from_lines: 20,
            reduction_to_one_in: ONE_IN_THREE,
            confirm_reduction: true,
            edit_without_old_text: WithoutOldText::Error,
        }
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
        let Forge { enabled, approval, max_snippet_bytes, max_line_edit_bytes, require_file_hash } =
            Forge::default();
        assert!(enabled != Some(true) && !require_file_hash);
        assert_eq!(approval, Approval::Auto);
        assert_eq!((max_snippet_bytes, max_line_edit_bytes), (262_144, 262_144));
    }

    // Shows: 003-size-limit
    #[test]
    fn xzatoma_defaults() {
        let settings = Xzatoma::default();
        assert_eq!((settings.max_file_size, settings.confirm_overwrite), (10_485_760, true));
        assert_eq!((settings.reduction_from_lines, settings.reduction_to_one_in.get()), (20, 3));
        assert_eq!(settings.edit_without_old_text, WithoutOldText::Error);
    }

    #[test]
    fn the_root_file_can_switch_forge_off_and_make_it_stricter() {
        let tightened = |own: Forge, other: Forge| {
            let mut settings = Settings { edit: own, ..Settings::default() };
            settings.tighten(&Settings { edit: other, ..Settings::default() });
            settings.edit
        };
        let enabled = |enabled| Forge { enabled, ..Forge::default() };
        assert!(!tightened(enabled(Some(true)), enabled(Some(false))).is_enabled());
        assert!(!tightened(enabled(Some(false)), enabled(Some(true))).is_enabled());
        assert!(tightened(enabled(None), enabled(Some(true))).is_enabled());
        let approval = |approval| Forge { approval, ..Forge::default() };
        assert_eq!(tightened(approval(Approval::Ask), approval(Approval::Auto)).approval, Approval::Ask);
        assert_eq!(tightened(approval(Approval::Ask), approval(Approval::Deny)).approval, Approval::Deny);
    }

    #[test]
    fn the_root_file_cannot_loosen_the_safety_check() {
        let loose = Xzatoma {
            reduction_from_lines: 100,
            reduction_to_one_in: NonZeroUsize::new(10).unwrap(),
            edit_without_old_text: WithoutOldText::Overwrite,
            ..Xzatoma::default()
        };
        let mut settings = Settings::default();
        settings.tighten(&Settings { xzatoma: loose, ..Settings::default() });
        assert_eq!(settings.xzatoma, Xzatoma::default());
        let strict = Xzatoma { confirm_reduction: false, reduction_from_lines: 5, ..Xzatoma::default() };
        settings.tighten(&Settings { xzatoma: strict.clone(), ..Settings::default() });
        assert_eq!(settings.xzatoma, strict);
    }
}
