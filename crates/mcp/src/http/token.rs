//! The secret that clients of an HTTP server must send.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use slipstitch_platform::{info, private, process};

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
        Self::parse(text).map_err(ServeError::Token)
    }

    /// The error says what is wrong with the text, without showing it.
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.len() < MIN_CHARS {
            return Err(format!("it has {} characters; the minimum is {MIN_CHARS}", text.len()));
        }
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
        match text.chars().find(|c| !is_allowed(*c)) {
            Some(c) => Err(format!("it contains {c:?}, which is not allowed")),
            None => Ok(Self(blake3::hash(text.as_bytes()))),
        }
    }

    /// A random token, and its text for the user.
    pub fn random() -> Result<(Self, String), ServeError> {
        let text = random::hex::<32>().map_err(|error| ServeError::Token(error.to_string()))?;
        Ok((Self::new(&text)?, text))
    }

    /// The token in a file. A missing file is created with a random token, readable by its owner only. A file that others
    /// can read or write is refused.
    pub fn from_file(path: &Path) -> Result<Self, ServeError> {
        let failed = |error: io::Error| {
            let next_step =
                "Check the permissions of the file and its folder, or name another file with `--token-file`.";
            bad_file(path, error.to_string(), next_step)
        };
        let bad_text = |problem: String| {
            let next_step = "Delete the file: the next start creates it with a random token. Or write one line to it with \
                             at least 16 letters, digits or the characters - . _ ~ + / =.";
            bad_file(path, problem, next_step)
        };
        if let Some(folder) =
            path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        {
            private::create_folder(folder).map_err(failed)?;
        }
        let created = private::owner_only(OpenOptions::new().write(true).create_new(true)).open(path);
        match created {
            Ok(mut file) => {
                let (token, text) = Self::random()?;
                file.write_all(format!("{text}\n").as_bytes()).map_err(failed)?;
                Ok(token)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let file = private::no_wait(OpenOptions::new().read(true)).open(path).map_err(failed)?;
                check_file(&file, path)?;
                let mut bytes = Vec::new();
                file.take(MAX_FILE_BYTES).read_to_end(&mut bytes).map_err(failed)?;
                let text = String::from_utf8(bytes).map_err(|_| bad_text("it is not text".into()))?;
                Self::parse(&text).map_err(bad_text)
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Refuses a token file that is beneath one of the roots: whoever edits files there could read or replace it.
    pub fn check_outside(path: &Path, roots: &[PathBuf]) -> Result<(), ServeError> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        // A symlink beneath a root could be replaced, so its own place counts as well as its target's.
        let folder = path.parent().map(resolve);
        let named = folder.zip(path.file_name()).map(|(folder, name)| folder.join(name));
        let places = [Some(resolve(&path)), named];
        let is_inside = |root: &PathBuf| {
            let root = resolve(root);
            places.iter().flatten().any(|place| place.starts_with(&root))
        };
        match roots.iter().find(|root| is_inside(root)) {
            None => Ok(()),
            Some(root) => Err(bad_file(
                &path,
                format!("it is beneath the root `{}`, where clients can read and change it", root.display()),
                "Name a file outside of the roots with `--token-file`.",
            )),
        }
    }

    pub(super) fn matches(&self, candidate: &str) -> bool {
        // Hashes are compared in constant time.
        blake3::hash(candidate.as_bytes()) == self.0
    }
}

/// A path with symlinks resolved. The end of it may be missing.
fn resolve(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    match existing {
        Some((folder, real)) => match path.strip_prefix(folder) {
            Ok(rest) if rest != Path::new("") => real.join(rest),
            _ => real,
        },
        None => path.to_owned(),
    }
}

/// Checks that only its owner can read or write a token file, under this name only.
fn check_file(file: &File, path: &Path) -> Result<(), ServeError> {
    let refused = |problem: String, next_step: String| Err(bad_file(path, problem, next_step));
    let new_file = "Delete it: the next start creates it with a random token.";
    match (info::of(file), private::open_to_others(file)) {
        (Err(error), _) | (_, Err(error)) => {
            refused(error.to_string(), "Name another file with `--token-file`.".into())
        }
        (Ok(found), _) if !found.is_file() => {
            refused("it is no regular file".into(), "Name another file with `--token-file`.".into())
        }
        (Ok(found), _) if ![process::ADMINISTRATOR, process::user()].contains(&found.owner) => {
            refused(format!("it belongs to another user (uid {})", found.owner), new_file.into())
        }
        (Ok(_), Ok(Some(mode))) => {
            let next_step = format!(
                "Run `chmod 600 {}`. If someone may have read it, delete it instead: the next start creates it with a \
                 random token.",
                path.display()
            );
            refused(format!("others can read or write it (mode {mode:o})"), next_step)
        }
        (Ok(found), _) if found.links > 1 => {
            refused("it has a second name (a hard link), by which others may read it".into(), new_file.into())
        }
        (Ok(_), Ok(None)) => Ok(()),
    }
}

fn bad_file(path: &Path, problem: String, next_step: impl Into<String>) -> ServeError {
    ServeError::TokenFile { path: path.to_owned(), problem, next_step: next_step.into() }
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
        for mode in [0o640, 0o604, 0o620, 0o602] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let error = Token::from_file(&path).unwrap_err();
            assert!(error.to_string().contains("others can read or write it"), "{error}");
            assert!(error.hint().contains("chmod 600"), "{}", error.hint());
        }
    }

    #[test]
    fn a_bad_file_is_named_with_its_problem_and_the_next_step() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let put = |name: &str, text: &[u8]| {
            std::fs::write(at(name), text).unwrap();
            std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(0o600)).unwrap();
        };
        put("short", b"abc");
        put("spaces", b"one two three four five");
        put("binary", b"\xff\xfe0123456789abcdef");
        put("empty", b"");
        put("linked", b"0123456789abcdef");
        std::fs::hard_link(at("linked"), at("other name")).unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        for (name, problem, next_step) in [
            ("short", "3 characters", "Delete the file"),
            ("spaces", "' '", "Delete the file"),
            ("binary", "not text", "Delete the file"),
            ("empty", "0 characters", "Delete the file"),
            ("linked", "hard link", "Delete it"),
            ("folder", "no regular file", "--token-file"),
            ("short/token", "Not a directory", "--token-file"),
        ] {
            let error = Token::from_file(&at(name)).unwrap_err();
            let (message, hint) = (error.to_string(), error.hint());
            assert!(message.contains(at(name).to_str().unwrap()) && message.contains(problem), "{message}");
            assert!(hint.contains(next_step), "{name}: {hint}");
        }
        put("other", b"0123456789abcdef");
        if std::os::unix::fs::chown(at("other"), Some(4321), None).is_ok() {
            let error = Token::from_file(&at("other")).unwrap_err();
            assert!(error.to_string().contains("another user (uid 4321)"), "{error}");
        }
    }

    #[test]
    fn a_file_beneath_a_root_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("root/sub")).unwrap();
        std::os::unix::fs::symlink(at("root/sub"), at("link")).unwrap();
        for inside in ["root/token", "root/new/token", "link/token", "link"] {
            let error = Token::check_outside(&at(inside), &[at("root")]).unwrap_err().to_string();
            assert!(error.contains("beneath the root"), "{error}");
        }
        for outside in ["token", "new/token", "root2", "root/../token"] {
            Token::check_outside(&at(outside), &[at("root")]).unwrap();
        }
    }
}
