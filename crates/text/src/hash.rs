//! File versions: digests of the content, never time stamps.

use std::fmt;

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

/// BLAKE3 of a file's raw bytes, written `b3:` and 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash([u8; 32]);

/// The version of a file that a caller expects, in any of the accepted forms.
///
/// A bare digest may be BLAKE3 or SHA-256: comparing it tries both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionClaim {
    kind: Option<DigestKind>,
    digest: [u8; 32],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DigestKind {
    Blake3,
    Sha256,
    /// Not a known form, so it matches nothing.
    Unknown,
}

/// A text that is not a version in an accepted form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a version: expected `b3:` or `sha256:` followed by 64 hex digits, or 64 hex digits alone"
)]
pub struct BadVersion(pub String);

impl ContentHash {
    /// Hashes `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Finalizes `hasher`.
    pub fn finish(hasher: &blake3::Hasher) -> Self {
        Self(*hasher.finalize().as_bytes())
    }

    /// Parses the form that [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        parse_digest(text.strip_prefix("b3:")?).map(Self)
    }
}

impl VersionClaim {
    /// Parses `b3:<hex>`, `sha256:<hex>` or a bare digest of either kind.
    pub fn parse(text: &str) -> Result<Self, BadVersion> {
        let bad = || BadVersion(text.chars().take(80).collect());
        let text = text.trim();
        let (kind, hex) = match text.split_once(':') {
            Some(("b3", hex)) => (Some(DigestKind::Blake3), hex),
            Some(("sha256", hex)) => (Some(DigestKind::Sha256), hex),
            Some(_) => return Err(bad()),
            None => (None, text),
        };
        Ok(Self { kind, digest: parse_digest(hex).ok_or_else(bad)? })
    }

    /// Parses the same forms. Anything else becomes a claim that no content matches.
    pub fn parse_any(text: &str) -> Self {
        Self::parse(text).unwrap_or(Self { kind: Some(DigestKind::Unknown), digest: [0; 32] })
    }

    /// Whether `bytes`, whose hash is `hash`, is the expected content.
    pub fn matches(&self, hash: ContentHash, bytes: &[u8]) -> bool {
        let blake3 = || self.digest == hash.0;
        let sha256 = || self.digest[..] == Sha256::digest(bytes)[..];
        match self.kind {
            Some(DigestKind::Blake3) => blake3(),
            Some(DigestKind::Sha256) => sha256(),
            Some(DigestKind::Unknown) => false,
            None => blake3() || sha256(),
        }
    }

    /// Whether content with this hash can be the expected content. Without the content, a SHA-256 digest cannot be
    /// ruled out.
    pub fn may_match(&self, hash: ContentHash) -> bool {
        match self.kind {
            Some(DigestKind::Blake3) => self.digest == hash.0,
            Some(DigestKind::Unknown) => false,
            Some(DigestKind::Sha256) | None => true,
        }
    }
}

impl From<ContentHash> for VersionClaim {
    fn from(hash: ContentHash) -> Self {
        Self { kind: Some(DigestKind::Blake3), digest: hash.0 }
    }
}

fn parse_digest(hex: &str) -> Option<[u8; 32]> {
    let hex = hex.as_bytes();
    if hex.len() != 64 {
        return None;
    }
    let mut out = [0; 32];
    for (byte, pair) in out.iter_mut().zip(hex.chunks(2)) {
        let high = (pair[0] as char).to_digit(16)?;
        let low = (pair[1] as char).to_digit(16)?;
        *byte = (high * 16 + low) as u8;
    }
    Some(out)
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("b3:")?;
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_version_matches_its_content() {
        let hash = ContentHash::of(b"text");
        let b3 = hash.to_string();
        let sha = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1";
        for claim in [b3.as_str(), &b3[3..], &b3[3..].to_uppercase(), sha, &format!("sha256:{sha}")] {
            let claim = VersionClaim::parse(claim).unwrap();
            assert!(claim.matches(hash, b"text"));
            assert!(!claim.matches(ContentHash::of(b"other"), b"other"));
        }
        assert_eq!(ContentHash::parse(&b3), Some(hash));
    }

    #[test]
    fn a_hash_alone_rules_out_blake3_claims_only() {
        let (hash, other) = (ContentHash::of(b"text"), ContentHash::of(b"other"));
        assert!(VersionClaim::from(hash).may_match(hash) && !VersionClaim::from(hash).may_match(other));
        assert!(VersionClaim::parse(&"0".repeat(64)).unwrap().may_match(other));
        assert!(!VersionClaim::parse_any("nonsense").may_match(hash));
    }

    #[test]
    fn rejects_other_forms() {
        for text in ["", "b3:", "b3:12", "md5:00", "b3:zz", &"g".repeat(64), &"é".repeat(32)] {
            assert!(VersionClaim::parse(text).is_err(), "{text}");
            assert!(!VersionClaim::parse_any(text).matches(ContentHash::of(b""), b""), "{text}");
        }
    }
}
