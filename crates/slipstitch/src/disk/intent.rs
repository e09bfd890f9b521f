//! What the journal keeps of a change on its way to the disk, so that another process can settle it.

use serde::{Deserialize, Serialize};
use slipstitch_core::text::ContentHash;

/// The steps of a change, in their order, and the folders made for it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Intent {
    pub(super) steps: Vec<StepIntent>,
    pub(super) folders: Vec<String>,
}

/// The files that a text of ours is about, as it names them: relative to the root that the change was begun in, or in full.
/// None if it cannot be read.
pub(crate) fn files_in(intent: &str) -> Vec<String> {
    let intent = serde_json::from_str::<Intent>(intent).ok();
    intent.into_iter().flat_map(|intent| intent.steps).map(|step| step.path).collect()
}

/// One name, and what is to become of it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StepIntent {
    pub(super) path: String,
    #[serde(flatten)]
    pub(super) work: WorkIntent,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "work", rename_all = "snake_case")]
pub(super) enum WorkIntent {
    /// The file `temp` takes the name.
    Create { temp: String, inode: u64, after: Hash },
    /// The file `temp` takes the name, and what had it gets the name `temp`; `spare` is for file systems that
    /// need a step more.
    Replace { temp: String, spare: String, inode: u64, before: Hash, after: Hash },
    /// What has the name gets the name `aside`.
    Remove { aside: String, before: Hash },
    /// The content is written into the file; both contents are in the state folder.
    InPlace { copies: String, before: Hash, after: Hash },
}

/// A content hash as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Hash(pub(super) ContentHash);

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        hash.0.to_string()
    }
}

impl TryFrom<String> for Hash {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        ContentHash::parse(&text).map(Self).ok_or_else(|| format!("`{text}` is not a hash"))
    }
}
