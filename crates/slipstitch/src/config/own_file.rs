//! Whose settings may relax what needs a person's decision.
//!
//! A process chooses its settings file: by `--config`, and by the variables that say where settings are. An agent with a shell could
//! write a file that lets everything pass, name it, and accept its own proposals in the user's journal. So the first process that
//! uses a state folder records where the user's settings file is. From then on, another file may ask for more approval than that
//! one, but not for less, unless a process with a terminal names it.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use slipstitch_platform::private::owner_only;

use super::{Config, ConfigError};
use crate::private_files;

/// The file in the state folder with the path of the user's settings file.
pub const RECORD: &str = "settings-file";

/// Whether any settings file may relax what needs a person's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Relaxing {
    /// Only the one that the state folder has recorded as the user's.
    #[default]
    ByOwnFile,
    /// Any: the program chose it, or somebody at a terminal did.
    ByAny,
}

impl Config {
    /// Drops what relaxes decisions if these settings come from a file that is not the user's: `explicit`, or the one that the
    /// environment names.
    pub(crate) fn hold_to_own_file(
        &mut self,
        state_dir: &Path,
        explicit: Option<&Path>,
        relaxing: Relaxing,
    ) -> Result<(), ConfigError> {
        let usual = Self::file(None).map(absolute);
        let recorded = read_record(state_dir);
        if let (Some(usual), true) = (&usual, recorded.is_none() || relaxing == Relaxing::ByAny)
            && recorded.as_ref() != Some(usual)
        {
            let _ = write_record(state_dir, usual);
        }
        let own = recorded.or(usual);
        let given = explicit.map(|path| absolute(path.to_owned())).or_else(|| Self::file(None).map(absolute));
        if relaxing == Relaxing::ByOwnFile && given != own {
            // A file that is not there relaxes nothing. One that cannot be read may forbid something.
            let own = own.filter(|path| path.exists()).map(|path| Self::load(Some(&path))).transpose()?;
            self.hold_to(&own.unwrap_or_default(), given.as_deref())?;
        }
        Ok(())
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
        let text = given.and_then(|path| std::fs::read_to_string(path).ok());
        if let Some(Ok(ignored)) = text.map(|text| self.find_ignored(&text, &name)) {
            self.ignored = ignored;
        }
        Ok(())
    }
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
             [tools.agent-q]\nalways_propose = true\n",
        );
        write_record(folder.0.path(), &own).unwrap();
        let given = folder.write(
            "given.toml",
            "[review]\nunattended = true\n[undo]\nothers = \"allow\"\n[limits]\nmax_file_bytes = 7\n\
             [protected]\nrule = \"allow\"\nexcept = [\".git\"]\npaths = [\"given\"]\n\
             [[rules]]\npaths = \"docs/**\"\nverdict = \"deny\"\n",
        );
        let config = folder.load(&given, Relaxing::ByOwnFile);
        let protected = &config.policy.protected;
        assert!(!config.review.unattended && config.settings.agent_q.always_propose);
        assert_eq!(config.settings.edit.approval, Approval::Deny);
        assert_eq!(config.policy.undo_others, ConsentRule::Ask);
        assert_eq!((protected.rule, protected.rule_for("ci")), (ConsentRule::Ask, ConsentRule::Deny));
        assert_eq!(protected.rule_for("editors"), ConsentRule::Allow, "both allow it");
        assert_eq!(protected.added(), ["own", "given"]);
        assert!(!protected.exceptions().any(|glob| glob == ".git"));
        assert_eq!((config.policy.rules.user.len(), config.policy.rules.added.len()), (1, 1));
        assert_eq!(config.policy.max_file_bytes, 7, "other keys are in effect");
        let ignored: Vec<&str> = config.ignored.iter().map(|found| found.key.as_str()).collect();
        assert_eq!(ignored, ["protected.rule", "review.unattended", "undo.others"]);
        let message = config.ignored[0].to_string();
        assert!(message.contains("given.toml") && message.contains("without a terminal"), "{message}");
        // Somebody at a terminal may choose another file for once.
        let chosen = folder.load(&given, Relaxing::ByAny);
        assert!(chosen.review.unattended && chosen.ignored.is_empty());
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
