//! Whose settings may relax what needs a person's decision.
//!
//! A process chooses its settings file: by `--config`, and by the variables that say where settings are. An agent with a shell could
//! write a file that lets everything pass, name it, and accept its own proposals in the user's journal. So the first process that
//! uses a state folder records where the user's settings file is. From then on, another file may ask for more approval than that
//! one, but not for less. Somebody at a terminal may use another file, unless there is a review passphrase: otherwise people who do
//! not know it could relax what it protects. Only [`trust`] changes the record.
//!
//! If a state folder has a journal but no record, it was made by an older version, or somebody removed the record. Then the
//! environment of the first process to come along says nothing about the user, so the account's own folder counts.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use slipstitch_platform::private::{self, owner_only};

use super::{Config, ConfigError};
use crate::{journal, passphrase, private_files};

/// The file in the state folder with the path of the user's settings file.
pub const RECORD: &str = "settings-file";

/// Whether any settings file may relax what needs a person's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Relaxing {
    /// Only the one that the state folder has recorded as the user's.
    #[default]
    ByOwnFile,
    /// Any file, because somebody is at a terminal; but only the user's own if there is a review passphrase.
    AtTerminal,
    /// Any file, because the program chose it.
    ByAny,
}

/// Records where the user's settings file is. The caller has made sure that a person wants this.
pub fn trust(state_dir: &Path, file: &Path) -> io::Result<PathBuf> {
    let file = absolute(file.to_owned());
    write_record(state_dir, &file).map(|()| file)
}

/// The settings file that the state folder has recorded as the user's.
pub fn trusted(state_dir: &Path) -> Option<PathBuf> {
    read_record(state_dir)
}

impl Config {
    /// Drops what relaxes decisions if these settings come from a file that is not the user's: `explicit`, or the one that the
    /// environment names. Returns the user's file, which is recorded now.
    pub(crate) fn hold_to_own_file(
        &mut self,
        state_dir: &Path,
        explicit: Option<&Path>,
        relaxing: Relaxing,
    ) -> Result<Option<PathBuf>, ConfigError> {
        let usual = Self::file(None).map(absolute);
        let own_file = find_own_file(state_dir, usual.clone(), relaxing);
        let given = explicit.map(|path| absolute(path.to_owned())).or(usual);
        if relaxing == Relaxing::ByAny || given == own_file {
            return Ok(own_file);
        }
        // A missing file relaxes nothing. An unreadable one may forbid something.
        let own = own_file.as_ref().filter(|path| path.exists()).map(|path| Self::load(Some(path)));
        let own = own.transpose()?.unwrap_or_default();
        let needs_passphrase = own.review.passphrase || passphrase::is_set(state_dir);
        if relaxing != Relaxing::AtTerminal || needs_passphrase {
            self.hold_to(&own, given.as_deref())?;
        }
        Ok(own_file)
    }

    /// Takes back what relaxes the user's settings about decisions.
    fn hold_to(&mut self, own: &Self, given: Option<&Path>) -> Result<(), ConfigError> {
        let name = given.map_or_else(String::new, |path| path.display().to_string());
        let mut protected = own.policy.protected.clone();
        protected
            .tighten_by(&self.policy.protected)
            .map_err(|error| ConfigError::glob(Path::new(&name), "protected.paths", error))?;
        self.policy.protected = protected;
        self.policy.undo_others = self.policy.undo_others.max(own.policy.undo_others);
        self.policy.rules.added =
            std::mem::replace(&mut self.policy.rules.user, own.policy.rules.user.clone());
        self.written_rules.extend(own.written_rules.iter().cloned());
        let (tools, own_tools) = (&mut self.settings, &own.settings);
        tools.edit.approval = tools.edit.approval.max(own_tools.edit.approval);
        tools.xzatoma.confirm_overwrite |= own_tools.xzatoma.confirm_overwrite;
        tools.agent_q.always_propose |= own_tools.agent_q.always_propose;
        tools.agent_q.propose_over_lines =
            tools.agent_q.propose_over_lines.min(own_tools.agent_q.propose_over_lines);
        self.review.unattended &= own.review.unattended;
        self.review.passphrase |= own.review.passphrase;
        self.review.forms &= own.review.forms;
        // A file that may not relax anything may not make the journal forget anything either.
        self.retention = self.retention.clone().or_longer(&own.retention);
        let text = given.and_then(|path| std::fs::read_to_string(path).ok());
        if let Some(text) = text
            && let Ok(table) = text.parse()
        {
            self.ignored = self.find_ignored(&table, &text, &name);
        }
        Ok(())
    }
}

/// The user's settings file. If none is recorded yet but it is known, it is recorded.
fn find_own_file(state_dir: &Path, usual: Option<PathBuf>, relaxing: Relaxing) -> Option<PathBuf> {
    if let Some(recorded) = read_record(state_dir) {
        return Some(recorded);
    }
    let is_new = !journal::exists_in(state_dir);
    let is_chosen = match relaxing {
        Relaxing::ByAny => true,
        Relaxing::AtTerminal => !passphrase::is_set(state_dir),
        Relaxing::ByOwnFile => false,
    };
    let own = match is_new || is_chosen {
        true => usual,
        false => private::account_config_folder().map(|folder| absolute(folder.join(super::USER_FILE))),
    };
    if let Some(own) = &own {
        let _ = write_record(state_dir, own);
    }
    own
}

fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

fn read_record(state_dir: &Path) -> Option<PathBuf> {
    let mut text = String::new();
    let file = private_files::open(&state_dir.join(RECORD), OpenOptions::new().read(true)).ok()?;
    file.take(1 << 16).read_to_string(&mut text).ok()?;
    Some(text.trim_end_matches('\n')).filter(|text| !text.is_empty()).map(PathBuf::from)
}

fn write_record(state_dir: &Path, path: &Path) -> io::Result<()> {
    let text = path.to_str().ok_or(io::ErrorKind::InvalidData)?;
    let mut options = OpenOptions::new();
    let options = owner_only(options.write(true).create(true).truncate(true));
    let mut file = private_files::open(&state_dir.join(RECORD), options)?;
    file.write_all(format!("{text}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstitch_core::guard::ConsentRule;
    use slipstitch_core::settings::Approval;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn write(&self, name: &str, text: &str) -> PathBuf {
            let path = self.0.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        }

        fn load(&self, explicit: &Path, relaxing: Relaxing) -> Config {
            let mut config = Config::load(Some(explicit)).unwrap();
            config.hold_to_own_file(self.0.path(), Some(explicit), relaxing).unwrap();
            config
        }
    }

    #[test]
    fn another_file_can_only_tighten() {
        let folder = Folder::new();
        let own = folder.write(
            "own.toml",
            "[protected]\npaths = [\"own\"]\n[protected.groups]\neditors = \"allow\"\nci = \"deny\"\n\
             [[rules]]\npaths = \"src/**\"\nverdict = \"ask\"\n[tools.edit]\napproval = \"deny\"\n\
             [tools.agent-q]\nalways_propose = true\n[review]\nforms = false\n",
        );
        write_record(folder.0.path(), &own).unwrap();
        let given = folder.write(
            "given.toml",
            "[review]\nunattended = true\nforms = true\n[undo]\nothers = \"allow\"\n[limits]\nmax_file_bytes = 7\n\
             [protected]\nrule = \"allow\"\nexcept = [\".git\"]\npaths = [\"given\"]\n\
             [[rules]]\npaths = \"docs/**\"\nverdict = \"deny\"\n",
        );
        let config = folder.load(&given, Relaxing::ByOwnFile);
        let protected = &config.policy.protected;
        assert!(!config.review.unattended && !config.review.forms && config.settings.agent_q.always_propose);
        assert_eq!(config.settings.edit.approval, Approval::Deny);
        assert_eq!(config.policy.undo_others, ConsentRule::Ask);
        assert_eq!((protected.rule, protected.rule_for("ci")), (ConsentRule::Ask, ConsentRule::Deny));
        assert_eq!(protected.rule_for("editors"), ConsentRule::Allow, "both allow it");
        assert_eq!(protected.added(), ["own", "given"]);
        assert!(!protected.exceptions().any(|glob| glob == ".git"));
        assert_eq!((config.policy.rules.user.len(), config.policy.rules.added.len()), (1, 1));
        assert_eq!(config.policy.max_file_bytes, 7, "other keys are in effect");
        let ignored: Vec<&str> = config.ignored.iter().map(|found| found.key.as_str()).collect();
        let expected =
            ["review.unattended", "review.forms", "undo.others", "protected.rule", "protected.except"];
        assert_eq!(ignored, expected);
        let message = config.ignored[0].to_string();
        assert!(message.contains("given.toml") && message.contains("your usual settings file"), "{message}");
        // Somebody at a terminal may choose another file for one command; the record stays.
        for relaxing in [Relaxing::AtTerminal, Relaxing::ByAny] {
            let chosen = folder.load(&given, relaxing);
            assert!(chosen.review.unattended && chosen.ignored.is_empty(), "{relaxing:?}");
            assert_eq!(trusted(folder.0.path()), Some(own.clone()), "{relaxing:?}");
        }
        assert_eq!(trust(folder.0.path(), &given).unwrap(), given);
        assert!(folder.load(&given, Relaxing::ByOwnFile).review.unattended);
    }

    /// At a terminal, another file could allow what needs the passphrase.
    #[test]
    fn with_a_passphrase_another_file_relaxes_nothing_at_a_terminal_either() {
        let folder = Folder::new();
        let given = folder.write("given.toml", "[protected]\nrule = \"allow\"\n");
        let rule = |folder: &Folder| folder.load(&given, Relaxing::AtTerminal).policy.protected.rule;
        let own = folder.write("own.toml", "");
        write_record(folder.0.path(), &own).unwrap();
        assert_eq!(rule(&folder), ConsentRule::Allow);
        passphrase::replace(folder.0.path(), Some("correct horse")).unwrap();
        assert_eq!(rule(&folder), ConsentRule::Ask);
        // The settings can require one that is not set yet.
        passphrase::replace(folder.0.path(), None).unwrap();
        folder.write("own.toml", "[review]\npassphrase = true\n");
        assert_eq!(rule(&folder), ConsentRule::Ask);
        assert_eq!(folder.load(&given, Relaxing::ByAny).policy.protected.rule, ConsentRule::Allow);
    }

    #[test]
    fn another_file_cannot_shorten_the_journal() {
        let folder = Folder::new();
        let own = folder.write("own.toml", "[journal]\nmax_bytes = 1000000\nmax_age_days = 30\n");
        write_record(folder.0.path(), &own).unwrap();
        let given = folder.write("given.toml", "[journal]\nmax_bytes = 1\nmax_age_days = 1\n");
        let retention = folder.load(&given, Relaxing::ByOwnFile).retention;
        assert_eq!((retention.max_bytes, retention.max_age_days), (1_000_000, Some(30)));
        let given = folder.write("given.toml", "[journal]\nmax_bytes = 2000000\n");
        let retention = folder.load(&given, Relaxing::ByOwnFile).retention;
        assert_eq!((retention.max_bytes, retention.max_age_days), (2_000_000, None), "it may keep more");
    }

    /// The first process to come along could name its own file.
    #[test]
    fn a_journal_without_a_record_belongs_to_the_account() {
        let usual = || Some(PathBuf::from("/elsewhere/slipstitch/config.toml"));
        let account = private::account_config_folder().map(|folder| folder.join("slipstitch/config.toml"));
        let found = |relaxing: Relaxing, has_journal: bool, has_passphrase: bool| {
            let folder = Folder::new();
            if has_journal {
                folder.write("journal.db", "");
            }
            if has_passphrase {
                passphrase::replace(folder.0.path(), Some("correct horse")).unwrap();
            }
            let found = find_own_file(folder.0.path(), usual(), relaxing);
            assert_eq!(trusted(folder.0.path()), found, "it is recorded");
            found
        };
        assert_eq!(found(Relaxing::ByOwnFile, false, false), usual(), "a new folder");
        assert_eq!(found(Relaxing::ByOwnFile, true, false), account);
        assert_eq!(found(Relaxing::AtTerminal, true, false), usual());
        assert_eq!(found(Relaxing::AtTerminal, true, true), account);
        assert_eq!(found(Relaxing::ByAny, true, true), usual());
    }

    #[test]
    fn the_users_own_file_may_relax_under_any_name() {
        let folder = Folder::new();
        let own = folder.write("own.toml", "[review]\nunattended = true\n");
        write_record(folder.0.path(), &own).unwrap();
        assert!(folder.load(&own, Relaxing::ByOwnFile).review.unattended);
        // What the user forbids is not known then, so nothing is allowed.
        std::fs::write(&own, "[[rules").unwrap();
        let given = folder.write("given.toml", "");
        let mut config = Config::load(Some(&given)).unwrap();
        let held = config.hold_to_own_file(folder.0.path(), Some(&given), Relaxing::ByOwnFile);
        assert!(held.is_err(), "{held:?}");
        std::fs::remove_file(&own).unwrap();
        let given = folder.write("given.toml", "[review]\nunattended = true\n");
        assert!(
            !folder.load(&given, Relaxing::ByOwnFile).review.unattended,
            "a missing file relaxes nothing"
        );
    }
}
