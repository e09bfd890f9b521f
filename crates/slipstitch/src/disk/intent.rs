//! What the journal stores about a change before it is published, so that another process can recover it.

use serde::{Deserialize, Serialize};
use slipstitch_core::text::ContentHash;

use super::lock::LockKey;

/// The steps of a change in order, and its folders.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Intent {
    pub(super) steps: Vec<StepIntent>,
    /// The folders that were created for the change.
    pub(super) folders: Vec<String>,
    /// The folders that the change removes, if they are empty once it is made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) emptied_folders: Vec<String>,
}

/// The paths of the files in a serialised intent: relative to the root in which the change was begun, or
/// absolute. Empty if the intent cannot be parsed.
pub(crate) fn intent_paths(intent: &str) -> Vec<String> {
    let intent = serde_json::from_str::<Intent>(intent).ok();
    intent.into_iter().flat_map(|intent| intent.steps).map(|step| step.path).collect()
}

/// One step: a name, and what the change does to it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StepIntent {
    pub(super) path: String,
    #[serde(flatten)]
    pub(super) kind: StepIntentKind,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum StepIntentKind {
    /// Renames the file `temp` to the name.
    Create { temp: String, inode: u64, after: HashText },
    /// Exchanges the names of the file and the file `temp`. `spare` is a third name for file systems that
    /// cannot exchange.
    Replace { temp: String, spare: String, inode: u64, before: HashText, after: HashText },
    /// Renames the file to `aside`, which is next to it or `elsewhere`.
    Remove {
        aside: String,
        before: HashText,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        elsewhere: Option<AsideElsewhere>,
    },
    /// Writes into the file; the state folder has a backup of both contents.
    InPlace { backup: String, before: HashText, after: HashText },
}

impl StepIntentKind {
    /// Where a removed file is set aside, if that is not next to its name.
    pub(super) fn aside_elsewhere(&self) -> Option<&AsideElsewhere> {
        match self {
            Self::Remove { elsewhere, .. } => elsewhere.as_ref(),
            _ => None,
        }
    }
}

/// Where a file is set aside whose folder may be removed with it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct AsideElsewhere {
    pub(super) path: String,
    /// The lock of the removed file, which cannot be derived once its folder is gone.
    pub(super) lock: LockKey,
}

/// A content hash that is serialised as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct HashText(pub(super) ContentHash);

impl From<HashText> for String {
    fn from(hash: HashText) -> Self {
        hash.0.to_string()
    }
}

impl TryFrom<String> for HashText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        ContentHash::parse(&text).map(Self).ok_or_else(|| format!("`{text}` is not a hash"))
    }
}
