//! The secret that clients of an HTTP server know.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::approval::seal::{hex, random};
use crate::error::ServeError;

/// The fewest characters of a token.
const LEAST: usize = 16;
/// The most that is read of a token's file.
const MOST: u64 = 4096;

/// A bearer token. It is kept as a hash: comparing hashes takes the same time however much of a guess is right.
#[derive(Clone)]
pub struct Token(blake3::Hash);

impl Token {
    /// A token that someone chose.
    pub fn new(text: &str) -> Result<Self, ServeError> {
        let text = text.trim();
        if text.len() < LEAST {
            return Err(ServeError::Token(format!(
                "it has {} characters, and {LEAST} are the fewest",
                text.len()
            )));
        }
        let fine = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
        match text.chars().find(|c| !fine(*c)) {
            Some(c) => Err(ServeError::Token(format!("it holds {c:?}, which a header cannot carry"))),
            None => Ok(Self(blake3::hash(text.as_bytes()))),
        }
    }

    /// The token in a file. If there is no such file, it is made, for its owner only, with a token that nobody can
    /// guess.
    pub fn from_file(path: &Path) -> Result<Self, ServeError> {
        let failed = |error: io::Error| ServeError::Token(format!("{}: {error}", path.display()));
        if let Some(folder) =
            path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        }
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        match made {
            Ok(mut file) => {
                let text = hex(&random::<32>().map_err(failed)?);
                file.write_all(format!("{text}\n").as_bytes()).map_err(failed)?;
                Self::new(&text)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mut text = String::new();
                File::open(path).map_err(failed)?.take(MOST).read_to_string(&mut text).map_err(failed)?;
                Self::new(&text)
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Whether a client knows it.
    pub(super) fn is(&self, guess: &str) -> bool {
        // This comparison of hashes takes the same time whatever they are.
        blake3::hash(guess.as_bytes()) == self.0
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
    fn short_and_odd_tokens_are_refused() {
        assert!(Token::new("short").unwrap_err().to_string().contains("5 characters"));
        assert!(Token::new("with a blank inside").unwrap_err().to_string().contains("' '"));
        let token = Token::new(" 0123456789abcdef\n").unwrap();
        assert!(token.is("0123456789abcdef") && !token.is("0123456789abcdeF") && !token.is(""));
        assert!(!format!("{token:?}").contains("0123"));
    }

    #[test]
    fn a_missing_file_is_made_for_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let made = Token::from_file(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.trim().len() == 64 && made.is(text.trim()));
        assert!(Token::from_file(&path).unwrap().is(text.trim()), "it is read the next time");
    }
}
