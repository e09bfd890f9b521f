//! The secret that clients of an HTTP server must send.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::error::ServeError;
use crate::random;

/// The shortest token.
const MIN_CHARS: usize = 16;
/// How much of a token file is read.
const MAX_FILE_BYTES: u64 = 4096;

/// A bearer token, kept as a hash: comparing hashes takes the same time however much of a guess is right.
#[derive(Clone)]
pub struct Token(blake3::Hash);

impl Token {
    /// A token chosen by the user.
    pub fn new(text: &str) -> Result<Self, ServeError> {
        let text = text.trim();
        if text.len() < MIN_CHARS {
            let message = format!("it has {} characters; the minimum is {MIN_CHARS}", text.len());
            return Err(ServeError::Token(message));
        }
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
        match text.chars().find(|c| !is_allowed(*c)) {
            Some(c) => Err(ServeError::Token(format!("it contains {c:?}, which is not allowed"))),
            None => Ok(Self(blake3::hash(text.as_bytes()))),
        }
    }

    /// A random token, and its text for the user.
    pub fn random() -> Result<(Self, String), ServeError> {
        let text = random::hex::<32>().map_err(|error| ServeError::Token(error.to_string()))?;
        Ok((Self::new(&text)?, text))
    }

    /// The token in a file. A missing file is created with a random token, readable by its owner only.
    pub fn from_file(path: &Path) -> Result<Self, ServeError> {
        let failed = |error: io::Error| ServeError::Token(format!("{}: {error}", path.display()));
        if let Some(folder) =
            path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        }
        let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        match created {
            Ok(mut file) => {
                let (token, text) = Self::random()?;
                file.write_all(format!("{text}\n").as_bytes()).map_err(failed)?;
                Ok(token)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mut text = String::new();
                File::open(path)
                    .map_err(failed)?
                    .take(MAX_FILE_BYTES)
                    .read_to_string(&mut text)
                    .map_err(failed)?;
                Self::new(&text)
            }
            Err(error) => Err(failed(error)),
        }
    }

    pub(super) fn matches(&self, candidate: &str) -> bool {
        // Hashes are compared in constant time.
        blake3::hash(candidate.as_bytes()) == self.0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn rejects_short_tokens_and_odd_characters() {
        assert!(Token::new("short").unwrap_err().to_string().contains("5 characters"));
        assert!(Token::new("with a space inside").unwrap_err().to_string().contains("' '"));
        let token = Token::new(" 0123456789abcdef\n").unwrap();
        assert!(token.matches("0123456789abcdef"));
        assert!(!token.matches("0123456789abcdeF") && !token.matches(""));
        assert!(!format!("{token:?}").contains("0123"));
    }

    #[test]
    fn creates_a_missing_file_for_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let created = Token::from_file(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.trim().len() == 64 && created.matches(text.trim()));
        assert!(Token::from_file(&path).unwrap().matches(text.trim()), "the next start reads it");
    }
}
