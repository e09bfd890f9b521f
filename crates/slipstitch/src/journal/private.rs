//! Private files: their text is kept in memory, as long as the process runs, and never in the database.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use slipstitch_core::guard::{GlobError, Protected};
use slipstitch_core::path::FilePath;
use slipstitch_core::plan::ChangeId;
use slipstitch_core::ports::journal::{FileRecord, RecordedText};
use slipstitch_core::text::Splices;

/// Names that usually mean a secret, in addition to the protected paths that are [credentials](Protected::CREDENTIALS).
const ALSO_PRIVATE: &[&str] = &[
    ".envrc",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    "*.tfvars",
    "credentials.json",
    "client_secret*.json",
    "service-account*.json",
    "*.asc",
];

/// Names like those that are meant to be shared, in addition to the exceptions of protected paths.
const ALSO_SHARED: &[&str] = &["*.pub"];

/// Built-in private files, with further exceptions.
fn builtin(except: &[String]) -> Result<Protected, GlobError> {
    let credentials = Protected::groups().iter().filter(|group| group.name == Protected::CREDENTIALS);
    let globs = credentials.flat_map(|group| group.globs).chain(ALSO_PRIVATE).copied();
    let shared = Protected::builtin_exceptions().iter().chain(ALSO_SHARED).copied();
    Protected::only(Protected::PRIVATE, globs, shared, except)
}

/// How many bytes of text are kept. The oldest changes are dropped first.
const MAX_BYTES: usize = 64 << 20;

/// Which files are private.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateFiles(Protected);

impl Default for PrivateFiles {
    fn default() -> Self {
        // A test shows that the built-in globs are valid.
        Self(builtin(&[]).unwrap_or_default())
    }
}

impl PrivateFiles {
    /// Also makes the files private that match these globs, which are like those of protected paths.
    pub fn add(&mut self, globs: &[String]) -> Result<(), GlobError> {
        self.0.add(globs)
    }

    /// Exempts files from the built-in globs.
    pub fn except(&mut self, globs: &[String]) -> Result<(), GlobError> {
        self.0 = builtin(globs)?;
        Ok(())
    }

    /// The exempt globs.
    pub fn exceptions(&self) -> impl Iterator<Item = &str> {
        self.0.exceptions()
    }

    /// Says where the root is; see [`Protected::set_root`].
    pub fn set_root(&mut self, root: &str) {
        self.0.set_root(root);
    }

    /// Whether the file at a path is private.
    pub fn contains(&self, path: &FilePath) -> bool {
        self.0.find(path, path).is_some()
    }
}

/// Texts of private files that this process knows.
#[derive(Debug, Default)]
pub(super) struct PrivateTexts {
    /// The inverse splices of changes, by change and position of the file.
    inverses: Mutex<BTreeMap<(ChangeId, usize), Splices>>,
    /// What sessions remember, by session and name.
    memory: Mutex<BTreeMap<(String, String), String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PrivateTexts {
    /// Keeps the inverses of a change's private files.
    pub(super) fn keep(&self, id: ChangeId, files: &[FileRecord]) {
        let mut inverses = lock(&self.inverses);
        for (position, file) in files.iter().enumerate() {
            if file.text == RecordedText::Private {
                inverses.insert((id, position), file.inverse.splices.clone());
            }
        }
        let mut bytes: usize = inverses.values().map(Splices::new_len).sum();
        while bytes > MAX_BYTES
            && let Some((_, dropped)) = inverses.pop_first()
        {
            bytes -= dropped.new_len();
        }
    }

    /// Adds the inverses that are known to the files of a change.
    pub(super) fn restore(&self, id: ChangeId, files: &mut [FileRecord]) {
        let inverses = lock(&self.inverses);
        for (position, file) in files.iter_mut().enumerate() {
            if file.text == RecordedText::Withheld
                && let Some(splices) = inverses.get(&(id, position))
            {
                file.inverse.splices = splices.clone();
                file.text = RecordedText::Private;
            }
        }
    }

    /// Whether there are inverses of a change.
    pub(super) fn knows(&self, id: ChangeId) -> bool {
        lock(&self.inverses).range((id, 0)..).next().is_some_and(|((known, _), _)| *known == id)
    }

    /// Drops the inverses of a change.
    pub(super) fn forget(&self, id: ChangeId) {
        lock(&self.inverses).retain(|(known, _), _| *known != id);
    }

    /// Drops what sessions remember.
    pub(super) fn forget_memory(&self) {
        lock(&self.memory).clear();
    }

    pub(super) fn remember(&self, session: &str, values: &[(String, String)]) {
        let values = values.iter().map(|(name, text)| ((session.to_owned(), name.clone()), text.clone()));
        lock(&self.memory).extend(values);
    }

    /// Drops values that are stored elsewhere from now on.
    pub(super) fn replace(&self, session: &str, values: &[(String, String)]) {
        let mut memory = lock(&self.memory);
        for (name, _) in values {
            memory.remove(&(session.to_owned(), name.clone()));
        }
    }

    /// Adds the values of a session whose names start with `prefix` to what is stored, sorted by name.
    pub(super) fn recall(
        &self,
        session: &str,
        prefix: &str,
        stored: Vec<(String, String)>,
    ) -> Vec<(String, String)> {
        let memory = lock(&self.memory);
        let own = memory.iter().filter(|((owner, name), _)| owner == session && name.starts_with(prefix));
        let mut all: BTreeMap<String, String> = stored.into_iter().collect();
        all.extend(own.map(|((_, name), text)| (name.clone(), text.clone())));
        all.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_private() {
        assert!(builtin(&[]).is_ok());
        let mut files = PrivateFiles::default();
        let is_private =
            |files: &PrivateFiles, path: &str| files.contains(&FilePath::from_record(path).unwrap());
        for path in [
            ".env",
            "a/.env.local",
            "tls/server.pem",
            "id_ed25519",
            ".ssh/config",
            ".ENV",
            ".kube/config",
            ".docker/config.json",
            "x.ppk",
            ".envrc",
            "config/secrets.yaml",
            "prod.tfvars",
            "credentials.json",
            "private.asc",
        ] {
            assert!(is_private(&files, path), "{path}");
        }
        for path in [".env.example", "id_rsa.pub", "environment", "src/key.rs", "keys.md"] {
            assert!(!is_private(&files, path), "{path}");
        }
        files.except(&[".env".into()]).unwrap();
        files.add(&["secrets/**".into(), "*.vault".into()]).unwrap();
        assert!(
            !is_private(&files, ".env") && is_private(&files, "secrets/a") && is_private(&files, "x.vault")
        );
    }

    /// One list decides what credentials are.
    #[test]
    fn every_protected_credential_is_private() {
        let files = PrivateFiles::default();
        let group = Protected::groups().iter().find(|group| group.name == Protected::CREDENTIALS).unwrap();
        for glob in group.globs.iter().chain(ALSO_PRIVATE) {
            let path = glob.replace("**/", "home/").replace('*', "x");
            assert!(files.contains(&FilePath::from_record(&path).unwrap()), "{glob}");
        }
    }
}
