//! Paths that a person should agree to first: version control, CI, configuration that runs code, credentials.
//!
//! A path counts as it is written and as it really is, where a symlink leads elsewhere; whether something stands
//! there or not; and in every spelling that some file system takes for the same (`fold`).

mod fold;
mod names;

use std::sync::LazyLock;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::{GuardInput, Refusal, Verdict};
use crate::change::{ChangeSet, PathChange};
use crate::path::FilePath;
use crate::plan::{EditPlan, Operation};
use crate::snapshot::Snapshots;

/// What happens to a change of a protected path. Later is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ProtectedRule {
    /// It is made like any other.
    Allow,
    /// A person must agree.
    #[default]
    Ask,
    /// It is refused.
    Deny,
}

impl ProtectedRule {
    /// Every rule, the mildest first.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];

    /// What it is called in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// Reads what [`ProtectedRule::name`] writes.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }
}

/// A glob that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the glob `{glob}` cannot be used: {reason}")]
pub struct GlobError {
    /// The glob.
    pub glob: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Which paths are protected, and what that means.
#[derive(Debug, Clone)]
pub struct Protected {
    /// What happens to a change of one of them.
    pub rule: ProtectedRule,
    /// Beside those that are protected anyway.
    added: Vec<String>,
    /// Not protected after all.
    except: Vec<String>,
    /// One set of globs per kind, what was added last.
    kinds: Vec<(&'static str, GlobSet)>,
    exceptions: GlobSet,
}

/// What protects a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protection {
    /// What kind of file it is.
    pub what: &'static str,
    /// Where the path really leads, if that is what is protected and not the path as it is written.
    pub real: Option<FilePath>,
}

impl PartialEq for Protected {
    fn eq(&self, other: &Self) -> bool {
        (self.rule, &self.added, &self.except) == (other.rule, &other.added, &other.except)
    }
}

impl Eq for Protected {}

impl Default for Protected {
    fn default() -> Self {
        Self::clone(&ANYWAY)
    }
}

/// What is protected if nothing is set. Made once: engines come and go with every call.
static ANYWAY: LazyLock<Protected> = LazyLock::new(|| Protected {
    rule: ProtectedRule::default(),
    added: Vec::new(),
    except: Vec::new(),
    kinds: names::KINDS.iter().map(|kind| (kind.what, known(kind.globs))).collect(),
    exceptions: known(names::EXCEPT),
});

impl Protected {
    /// What paths are that a person has added.
    const ADDED: &str = "listed in the settings";

    /// Protects what fits these globs, too. One without `/` is a name in any folder, one with `/` starts at
    /// the root; both hold for everything beneath what they name. Exceptions made earlier do not count for them.
    pub fn add(&mut self, globs: &[String]) -> Result<(), GlobError> {
        if globs.is_empty() {
            return Ok(());
        }
        self.kinds.push((Self::ADDED, set(globs)?));
        self.added.extend_from_slice(globs);
        Ok(())
    }

    /// Leaves what fits these globs unprotected, unless [`Protected::add`] names it.
    pub fn except(&mut self, globs: &[String]) -> Result<(), GlobError> {
        self.except.extend_from_slice(globs);
        let all = names::EXCEPT.iter().copied().chain(self.except.iter().map(String::as_str));
        self.exceptions = set(&all.collect::<Vec<_>>())?;
        Ok(())
    }

    /// Why the path is protected, if it is; `real` is where it really leads.
    pub fn find(&self, path: &FilePath, real: &FilePath) -> Option<Protection> {
        let written = self.kind(path).map(|what| Protection { what, real: None });
        written.or_else(|| Some(Protection { what: self.kind(real)?, real: Some(real.clone()) }))
    }

    fn kind(&self, path: &FilePath) -> Option<&'static str> {
        let path = fold::path(path.as_str());
        let excepted = fits(&self.exceptions, &path);
        // An exception from what is protected anyway is none from what was added.
        let counts = |what: &str| what == Self::ADDED || !excepted;
        self.kinds.iter().find(|(what, globs)| counts(what) && fits(globs, &path)).map(|(what, _)| *what)
    }
}

/// Whether the globs name the path or a folder above it. To look at each of them is cheaper than globs that end
/// in `/**`: names without wildcards need no regular expression.
fn fits(globs: &GlobSet, path: &str) -> bool {
    let above = path.match_indices('/').map(|(at, _)| &path[..at]);
    above.chain([path]).any(|path| globs.is_match(path))
}

/// The globs of the tables above, which a test reads.
fn known(globs: &[&str]) -> GlobSet {
    set(globs).unwrap_or_default()
}

fn set<T: AsRef<str>>(globs: &[T]) -> Result<GlobSet, GlobError> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs.iter().map(AsRef::as_ref) {
        let failed = |reason: String| GlobError { glob: glob.into(), reason };
        let path = glob.trim_start_matches("./").trim_end_matches('/');
        if path.trim_start_matches('/').is_empty() {
            return Err(failed("it names nothing".into()));
        }
        if path.starts_with('!') {
            return Err(failed("a `!` takes nothing back; write such globs into `except`".into()));
        }
        let path = match path.strip_prefix('/') {
            Some(from_root) => fold::glob(from_root),
            None if path.contains('/') => fold::glob(path),
            None => format!("**/{}", fold::glob(path)),
        };
        let glob = GlobBuilder::new(&path).literal_separator(true).build();
        builder.add(glob.map_err(|error| failed(error.kind().to_string()))?);
    }
    builder.build().map_err(|error| GlobError { glob: String::new(), reason: error.to_string() })
}

pub(super) fn judge(input: &GuardInput<'_>) -> Verdict {
    match input.changes {
        Some(changes) => judge_changes(changes, input.seen, &input.policy.protected),
        None => judge_plan(input.plan, input.seen, &input.policy.protected),
    }
}

/// Judges a change by the paths that it writes, removes or moves.
pub(super) fn judge_changes(changes: &ChangeSet, seen: &Snapshots, policy: &Protected) -> Verdict {
    let paths = changes.files().iter().flat_map(|file| {
        let target = match &file.path_change {
            PathChange::Move(to) => Some(to),
            PathChange::Keep | PathChange::Delete => None,
        };
        std::iter::once(&file.path).chain(target)
    });
    verdict(paths, seen, policy)
}

/// Before the places are known, only a refusal counts: it is not worth looking for them.
fn judge_plan(plan: &EditPlan, seen: &Snapshots, policy: &Protected) -> Verdict {
    let paths = plan.files.iter().flat_map(|file| {
        let targets = file.operations.iter().filter_map(|operation| match operation {
            Operation::Move { to, .. } => Some(to),
            _ => None,
        });
        std::iter::once(&file.path).chain(targets)
    });
    match verdict(paths, seen, policy) {
        Verdict::Refuse(refusal) => Verdict::Refuse(refusal),
        _ => Verdict::Pass,
    }
}

fn verdict<'a>(paths: impl Iterator<Item = &'a FilePath>, seen: &Snapshots, policy: &Protected) -> Verdict {
    if policy.rule == ProtectedRule::Allow {
        return Verdict::Pass;
    }
    let mut reasons: Vec<String> = Vec::new();
    for path in paths {
        let Some(protection) = policy.find(path, seen.real_path(path)) else { continue };
        if policy.rule == ProtectedRule::Deny {
            return Verdict::Refuse(Refusal::Protected { path: path.clone(), protection });
        }
        let reason = format!("`{path}` {}", protection.said());
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    if reasons.is_empty() { Verdict::Pass } else { Verdict::Ask(reasons.join("; ")) }
}

impl Protection {
    /// What is said of the path.
    pub(super) fn said(&self) -> String {
        match &self.real {
            None => format!("is protected ({})", self.what),
            Some(real) => format!("leads to `{real}`, which is protected ({})", self.what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn path(text: &str) -> FilePath {
        FilePath::from_record(text).unwrap()
    }

    #[test]
    fn every_glob_of_the_tables_can_be_read_and_is_in_folded_spelling() {
        for glob in names::KINDS.iter().flat_map(|kind| kind.globs).chain(names::EXCEPT) {
            set(&[glob]).unwrap();
            assert_eq!(&fold::glob(glob), glob);
        }
    }

    #[rstest]
    #[case(".git/config", "version control")]
    #[case("sub/module/.git", "version control")]
    #[case(".GIT/Hooks/pre-commit", "version control")]
    #[case(".g\u{200c}it/config", "version control")]
    #[case(".git /config", "version control")]
    #[case("GIT~1/config", "version control")]
    #[case("mirror.git/hooks/update", "version control")]
    #[case(".github/workflows/new.yml", "continuous integration")]
    #[case("one/.GitHub/Workflows/ci.yml", "continuous integration")]
    #[case("Jenkinsfile", "continuous integration")]
    #[case(".vscode/tasks.json", "the configuration of an editor")]
    #[case(".mcp.json", "the configuration of an agent")]
    #[case("home/.bashrc", "a start-up file")]
    #[case("home/.config/fish/config.fish", "a start-up file")]
    #[case(".env.production", "credentials")]
    #[case("keys/server.PEM", "credentials")]
    #[case("slipstitch.toml", "the settings of Slipstitch")]
    #[case("SLIPSTITCH.TOML.", "the settings of Slipstitch")]
    fn these_are_protected(#[case] name: &str, #[case] what: &str) {
        let found = Protected::default().find(&path(name), &path(name));
        assert_eq!(found.map(|found| found.what), Some(what), "{name}");
    }

    #[rstest]
    #[case("src/main.rs")]
    #[case("gitconfig")]
    #[case(".gitignore")]
    #[case(".github/CODEOWNERS")]
    #[case("CLAUDE.md")]
    #[case(".env.example")]
    #[case("environment")]
    #[case("docs/git/config")]
    #[case("monkey")]
    fn these_are_not(#[case] name: &str) {
        assert_eq!(Protected::default().find(&path(name), &path(name)), None, "{name}");
    }

    #[test]
    fn where_a_path_really_leads_counts() {
        let protected = Protected::default();
        let found = protected.find(&path("docs/notes"), &path(".git/hooks/pre-push")).unwrap();
        assert_eq!(found.said(), "leads to `.git/hooks/pre-push`, which is protected (version control)");
        // A symlink that is protected stays so when it leads to a file that is not.
        assert!(protected.find(&path(".bashrc"), &path("dotfiles/bash")).is_some());
    }

    #[test]
    fn globs_add_and_except() {
        let mut protected = Protected::default();
        protected.add(&["Migrations".into(), "/deploy/*.yml".into(), "infra/".into()]).unwrap();
        protected.except(&["*.pem".into(), "infra".into()]).unwrap();
        let kind = |name: &str| protected.find(&path(name), &path(name)).map(|found| found.what);
        assert_eq!(kind("app/migrations/1.sql"), Some(Protected::ADDED));
        assert_eq!(kind("deploy/A.yml"), Some(Protected::ADDED));
        assert_eq!(kind("app/deploy/a.yml"), None);
        assert_eq!(kind("deploy/sub/a.yml"), None);
        assert_eq!(kind("infra/main.tf"), Some(Protected::ADDED));
        assert_eq!(kind("a.pem"), None);
        assert_eq!(kind("a.key"), Some("credentials"));
    }

    #[rstest]
    #[case("!.git", "except")]
    #[case("a[", "unclosed")]
    #[case("/", "nothing")]
    fn a_glob_that_cannot_be_read_is_named(#[case] glob: &str, #[case] said: &str) {
        let error = Protected::default().add(&[glob.into()]).unwrap_err().to_string();
        assert!(error.contains(glob) && error.contains(said), "{error}");
    }
}
