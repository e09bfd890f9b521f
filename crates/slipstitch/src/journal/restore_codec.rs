//! How the journal stores what a change restores besides the content: as JSON, or not at all if there is nothing.

use serde::{Deserialize, Serialize};
use slipstitch_core::change::{Attributes, FolderAttributes, Restore};
use slipstitch_core::path::FilePath;

#[derive(Serialize, Deserialize)]
struct StoredRestore {
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes: Option<StoredAttributes>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    folders: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parents: Vec<StoredFolder>,
}

#[derive(Serialize, Deserialize)]
struct StoredFolder {
    path: String,
    #[serde(flatten)]
    attributes: StoredAttributes,
}

#[derive(Serialize, Deserialize)]
struct StoredAttributes {
    owner: u32,
    group: u32,
    mode: u32,
    /// Names and values, in hexadecimal: both are arbitrary bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    extended: Vec<(String, String)>,
}

pub(super) fn encode(restore: &Restore) -> Option<String> {
    if *restore == Restore::default() {
        return None;
    }
    let attributes = restore.attributes.as_ref().map(StoredAttributes::new);
    let folders = restore.folders.iter().map(ToString::to_string).collect();
    let parents = restore.parents.iter().map(|folder| StoredFolder {
        path: folder.path.to_string(),
        attributes: StoredAttributes::new(&folder.attributes),
    });
    // Numbers and texts only: this cannot fail.
    serde_json::to_string(&StoredRestore { attributes, folders, parents: parents.collect() }).ok()
}

pub(super) fn decode(stored: Option<&str>) -> Result<Restore, String> {
    let Some(stored) = stored else { return Ok(Restore::default()) };
    let stored: StoredRestore = serde_json::from_str(stored).map_err(|error| error.to_string())?;
    let read_path = |text: &String| FilePath::from_record(text).map_err(|error| error.to_string());
    let parents = stored.parents.into_iter().map(|folder| {
        Ok(FolderAttributes { path: read_path(&folder.path)?, attributes: folder.attributes.read()? })
    });
    Ok(Restore {
        attributes: stored.attributes.map(StoredAttributes::read).transpose()?,
        folders: stored.folders.iter().map(read_path).collect::<Result<_, _>>()?,
        parents: parents.collect::<Result<_, String>>()?,
    })
}

impl StoredAttributes {
    fn new(found: &Attributes) -> Self {
        Self {
            owner: found.owner,
            group: found.group,
            mode: found.mode,
            extended: found.extended.iter().map(|(name, value)| (to_hex(name), to_hex(value))).collect(),
        }
    }

    fn read(self) -> Result<Attributes, String> {
        let extended = self.extended.iter().map(|(name, value)| Ok((from_hex(name)?, from_hex(value)?)));
        let extended = extended.collect::<Result<_, String>>()?;
        Ok(Attributes { owner: self.owner, group: self.group, mode: self.mode, extended })
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Result<Vec<u8>, String> {
    let digits = text.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2);
        pair.and_then(|pair| u8::from_str_radix(pair, 16).ok())
    });
    digits.collect::<Option<_>>().ok_or_else(|| format!("`{text}` is not hexadecimal"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding_reverts_encoding() {
        let attributes = Attributes {
            owner: 1,
            group: 2,
            mode: 0o4755,
            extended: vec![(b"user.\xFF".to_vec(), vec![0, 1, 255]), (b"user.empty".to_vec(), vec![])],
        };
        let folders = vec![FilePath::from_record("a").unwrap(), FilePath::from_record("/r/a/b").unwrap()];
        let parents: Vec<FolderAttributes> = folders
            .iter()
            .map(|path| FolderAttributes { path: path.clone(), attributes: attributes.clone() })
            .collect();
        for restore in [
            Restore::default(),
            Restore { attributes: Some(attributes.clone()), ..Restore::default() },
            Restore { folders: folders.clone(), ..Restore::default() },
            Restore { parents: parents.clone(), ..Restore::default() },
            Restore { attributes: Some(attributes), folders, parents },
        ] {
            assert_eq!(decode(encode(&restore).as_deref()), Ok(restore));
        }
        assert_eq!(encode(&Restore::default()), None);
    }

    #[test]
    fn damaged_records_are_errors() {
        for stored in [
            "",
            "{",
            r#"{"folders":[".."]}"#,
            r#"{"parents":[{"path":"..","owner":1,"group":1,"mode":1}]}"#,
            r#"{"parents":[{"path":"a","owner":1,"group":1}]}"#,
            r#"{"attributes":{"owner":1,"group":1,"mode":1,"extended":[["0","00"]]}}"#,
        ] {
            assert!(decode(Some(stored)).is_err(), "{stored}");
        }
    }
}
