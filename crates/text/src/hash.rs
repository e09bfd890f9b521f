//! File versions: digests of the content, never time stamps.

use std::fmt;

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

/// BLAKE3 of a file's raw bytes, written `b3:` and 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash([u8; 32]);

/// The version of a file that a caller expects, in any of the accepted forms.
///
/// A bare digest may be BLAKE3 or SHA-256: comparing it tries both. A digest may be abbreviated to its first digits, as
/// answers do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionClaim {
    kind: Option<DigestKind>,
    /// The first hex digits of the digest, or all of them, in lower case.
    hex: String,
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
    "`{0}` is not a version: expected the hex digits of a hash, or at least its first {MIN_DIGITS}, with or without `b3:` or `sha256:` before them"
)]
pub struct BadVersion(pub String);

/// The number of hex digits in a digest.
const DIGITS: usize = 64;

/// The number of hex digits in an abbreviated hash. A file would need millions of versions before two of them are likely
/// to share as many.
const SHORT_DIGITS: usize = 12;

/// The fewest hex digits that name a version.
const MIN_DIGITS: usize = 4;

impl ContentHash {
    /// Hashes `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Finalizes `hasher`.
    pub fn finish(hasher: &blake3::Hasher) -> Self {
        Self(*hasher.finalize().as_bytes())
    }

    pub(crate) fn from_blake3(hash: blake3::Hash) -> Self {
        Self(*hash.as_bytes())
    }

    /// Parses the form that [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        parse_digest(text.strip_prefix("b3:")?).map(Self)
    }

    /// The hash abbreviated for answers: `b3:` and its first 12 hex digits.
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate("b3:".len() + SHORT_DIGITS);
        text
    }

    fn starts_with(&self, hex: &str) -> bool {
        blake3::Hash::from_bytes(self.0).to_hex().starts_with(hex)
    }
}

/// Hashes content that comes in many short pieces.
///
/// BLAKE3 hashes a long block several chunks at a time, but short pieces one chunk after the other. So short pieces are
/// collected first.
#[derive(Debug)]
pub(crate) struct PieceHasher {
    hasher: blake3::Hasher,
    block: Vec<u8>,
    block_len: usize,
}

impl PieceHasher {
    /// Long enough for the widest SIMD instructions, and short enough for the processor's cache.
    const MAX_BLOCK: usize = 64 * 1024;

    /// For content of `len` bytes.
    pub(crate) fn new(len: usize) -> Self {
        let block_len = len.clamp(1, Self::MAX_BLOCK);
        Self { hasher: blake3::Hasher::new(), block: Vec::with_capacity(block_len), block_len }
    }

    pub(crate) fn update(&mut self, mut piece: &[u8]) {
        if !self.block.is_empty() {
            let (fits, rest) = piece.split_at(piece.len().min(self.block_len - self.block.len()));
            self.block.extend_from_slice(fits);
            piece = rest;
            if self.block.len() < self.block_len {
                return;
            }
            self.hasher.update(&self.block);
            self.block.clear();
        }
        // A long piece is hashed in place.
        let (blocks, rest) = piece.split_at(piece.len() - piece.len() % self.block_len);
        self.hasher.update(blocks);
        self.block.extend_from_slice(rest);
    }

    pub(crate) fn finish(mut self) -> ContentHash {
        self.hasher.update(&self.block);
        ContentHash::finish(&self.hasher)
    }
}

impl VersionClaim {
    /// Parses `b3:<hex>`, `sha256:<hex>` or a bare digest of either kind, whole or abbreviated to its first digits.
    pub fn parse(text: &str) -> Result<Self, BadVersion> {
        let bad = || BadVersion(text.chars().take(80).collect());
        let text = text.trim();
        let (kind, hex) = match text.split_once(':') {
            Some(("b3", hex)) => (Some(DigestKind::Blake3), hex),
            Some(("sha256", hex)) => (Some(DigestKind::Sha256), hex),
            Some(_) => return Err(bad()),
            None => (None, text),
        };
        // Models copy the ellipsis that often follows an abbreviation.
        let hex = hex.trim_end_matches('…').trim_end_matches('.');
        let is_hex = hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hex || !(MIN_DIGITS..=DIGITS).contains(&hex.len()) {
            return Err(bad());
        }
        Ok(Self { kind, hex: hex.to_ascii_lowercase() })
    }

    /// Parses the same forms. Anything else becomes a claim that no content matches.
    pub fn parse_any(text: &str) -> Self {
        Self::parse(text).unwrap_or(Self { kind: Some(DigestKind::Unknown), hex: String::new() })
    }

    /// Whether `bytes`, whose hash is `hash`, is the expected content.
    pub fn matches(&self, hash: ContentHash, bytes: &[u8]) -> bool {
        self.matches_with(hash, || bytes)
    }

    /// Like [`VersionClaim::matches`]; asks for the content only if the hash does not decide.
    pub fn matches_with<'a>(&self, hash: ContentHash, bytes: impl FnOnce() -> &'a [u8]) -> bool {
        let blake3 = || hash.starts_with(&self.hex);
        let sha256 = || hex_digits(&Sha256::digest(bytes())).starts_with(&self.hex);
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
            Some(DigestKind::Blake3) => hash.starts_with(&self.hex),
            Some(DigestKind::Unknown) => false,
            Some(DigestKind::Sha256) | None => true,
        }
    }

    /// Whether it is so short that several versions of a file may well match it.
    pub fn may_be_ambiguous(&self) -> bool {
        self.kind != Some(DigestKind::Unknown) && self.hex.len() < SHORT_DIGITS
    }
}

impl fmt::Display for VersionClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Some(DigestKind::Blake3) => "b3:",
            Some(DigestKind::Sha256) => "sha256:",
            Some(DigestKind::Unknown) | None => "",
        })?;
        f.write_str(&self.hex)
    }
}

impl From<ContentHash> for VersionClaim {
    fn from(hash: ContentHash) -> Self {
        Self { kind: Some(DigestKind::Blake3), hex: blake3::Hash::from_bytes(hash.0).to_hex().to_string() }
    }
}

fn hex_digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn parse_digest(hex: &str) -> Option<[u8; 32]> {
    let hex = hex.as_bytes();
    if hex.len() != DIGITS {
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
    fn a_version_may_be_abbreviated() {
        let hash = ContentHash::of(b"text");
        assert_eq!(hash.short(), hash.to_string()[..15]);
        let short = hash.short();
        for claim in [&short, &short[3..], &short[..7], &format!("{short}…"), "sha256:982d9e3eb996", "982d"]
        {
            let claim = VersionClaim::parse(claim).unwrap();
            assert!(claim.matches(hash, b"text") && !claim.matches(ContentHash::of(b"x"), b"x"), "{claim}");
        }
        assert!(VersionClaim::parse("982d9e3eb99").unwrap().may_be_ambiguous());
        assert!(!VersionClaim::parse(&short).unwrap().may_be_ambiguous());
    }

    #[test]
    fn pieces_of_any_length_hash_like_the_whole() {
        let max = PieceHasher::MAX_BLOCK;
        let text: Vec<u8> = (0..3 * max + 7).map(|at| (at % 251) as u8).collect();
        for len in [0, 1, 100, max - 1, max, max + 1, text.len()] {
            for step in [1, 64, 1000, max - 1, max, max + 1, 2 * max + 3] {
                let mut hasher = PieceHasher::new(len);
                text[..len].chunks(step).for_each(|piece| hasher.update(piece));
                assert_eq!(hasher.finish(), ContentHash::of(&text[..len]), "{len} bytes in pieces of {step}");
            }
        }
    }

    #[test]
    fn rejects_other_forms() {
        for text in
            ["", "b3:", "b3:123", "md5:0000", "b3:zzzz", &"0".repeat(65), &"g".repeat(64), &"é".repeat(32)]
        {
            assert!(VersionClaim::parse(text).is_err(), "{text}");
            assert!(!VersionClaim::parse_any(text).matches(ContentHash::of(b""), b""), "{text}");
        }
    }
}
