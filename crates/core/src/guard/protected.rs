//! Asks for approval of changes to protected paths: version control, CI, configuration that runs code, credentials.
//!
//! A path is checked as written and as resolved through symlinks, whether or not a file exists there, and in every
//! spelling that some file system treats as the same name (`fold`).

mod fold;
mod names;

use std::sync::LazyLock;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::{GuardInput, Refusal, Verdict};
use crate::change::{ChangeSet, PathChange};
use crate::path::FilePath;
use crate::plan::{EditPlan, Operation};
use crate::snapshot::Snapshots;

/// What happens to a change of a protected path, from lenient to strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ProtectedRule {
    /// It is applied like any other.
    Allow,
    /// It needs the user's approval.
    #[default]
    Ask,
    /// It is refused.
    Deny,
}

impl ProtectedRule {
    /// Every rule, from lenient to strict.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];

    /// Its name in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// The rule with that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }
}

/// An invalid glob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the glob `{glob}` cannot be used: {reason}")]
pub struct GlobError {
    /// The glob.
    pub glob: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Which paths are protected, and what happens to changes of them.
#[derive(Debug, Clone)]
pub struct Protected {
    /// What happens to a change of one of them.
    pub rule: ProtectedRule,
    /// Globs in addition to the built-in ones.
    added: Vec<String>,
    /// Exceptions from the built-in ones.
    except: Vec<String>,
    /// The globs of each kind; added ones come last.
    kinds: Vec<(&'static str, GlobSet)>,
    exceptions: GlobSet,
}

/// Why a path is protected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protection {
    /// The kind of file.
    pub what: &'static str,
    /// The resolved path, if that is protected and not the path as written.
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
        Self::clone(&BUILTIN)
    }
}

/// What is protected by default. Compiled once, because an engine is created for every call.
static BUILTIN: LazyLock<Protected> = LazyLock::new(|| Protected {
    rule: ProtectedRule::default(),
    added: Vec::new(),
    except: Vec::new(),
    kinds: names::KINDS.iter().map(|kind| (kind.what, compile_builtin(kind.globs))).collect(),
    exceptions: compile_builtin(names::EXCEPT),
});

impl Protected {
    /// The kind of paths that the settings add.
    const ADDED: &str = "listed in the settings";

    /// Only these globs of one kind, with exceptions, instead of the built-in ones. [`Protected::find`] then says whether a
    /// path is one of them.
    pub fn only(what: &'static str, globs: &[&str], except: &[&str]) -> Result<Self, GlobError> {
        Ok(Self {
            rule: ProtectedRule::default(),
            added: Vec::new(),
            except: Vec::new(),
            kinds: vec![(what, compile(globs)?)],
            exceptions: compile(except)?,
        })
    }

    /// Also protects paths that match these globs. A glob without `/` matches a name in any folder, one with `/` is
    /// relative to the root; both include everything below. Exceptions do not apply to them.
    pub fn add(&mut self, globs: &[String]) -> Result<(), GlobError> {
        if globs.is_empty() {
            return Ok(());
        }
        self.kinds.push((Self::ADDED, compile(globs)?));
        self.added.extend_from_slice(globs);
        Ok(())
    }

    /// Exempts paths that match these globs, unless [`Protected::add`] names them.
    pub fn except(&mut self, globs: &[String]) -> Result<(), GlobError> {
        self.except.extend_from_slice(globs);
        let all = names::EXCEPT.iter().copied().chain(self.except.iter().map(String::as_str));
        self.exceptions = compile(&all.collect::<Vec<_>>())?;
        Ok(())
    }

    /// Why a path is protected, if it is; `real` is the path with symlinks resolved.
    pub fn find(&self, path: &FilePath, real: &FilePath) -> Option<Protection> {
        let as_written = self.kind(path).map(|what| Protection { what, real: None });
        as_written.or_else(|| Some(Protection { what: self.kind(real)?, real: Some(real.clone()) }))
    }

    fn kind(&self, path: &FilePath) -> Option<&'static str> {
        let path = fold::path(path.as_str());
        let is_exception = matches_path(&self.exceptions, &path);
        // Exceptions apply to the built-in globs only.
        let applies = |what: &str| what == Self::ADDED || !is_exception;
        let kind = self.kinds.iter().find(|(what, globs)| applies(what) && matches_path(globs, &path));
        kind.map(|(what, _)| *what)
    }
}

/// Whether the globs match the path or one of its parents. Matching each parent is cheaper than globs that end in `/**`:
/// names without wildcards need no regular expression.
fn matches_path(globs: &GlobSet, path: &str) -> bool {
    let parents = path.match_indices('/').map(|(at, _)| &path[..at]);
    parents.chain([path]).any(|path| globs.is_match(path))
}

/// Compiles built-in globs, which a test validates.
fn compile_builtin(globs: &[&str]) -> GlobSet {
    compile(globs).unwrap_or_default()
}

fn compile<T: AsRef<str>>(globs: &[T]) -> Result<GlobSet, GlobError> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs.iter().map(AsRef::as_ref) {
        let failed = |reason: String| GlobError { glob: glob.into(), reason };
        let path = glob.trim_start_matches("./").trim_end_matches('/');
        if path.trim_start_matches('/').is_empty() {
            return Err(failed("it matches nothing".into()));
        }
        if path.starts_with('!') {
            return Err(failed("`!` is not supported; put such globs into `except`".into()));
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
        Some(changes) => judge_changes(changes, input.snapshots, &input.policy.protected),
        None => judge_plan(input.plan, input.snapshots, &input.policy.protected),
    }
}

/// Checks the paths that a change writes, deletes or moves.
pub(super) fn judge_changes(changes: &ChangeSet, snapshots: &Snapshots, policy: &Protected) -> Verdict {
    let paths = changes.files().iter().flat_map(|file| {
        let target = match &file.path_change {
            PathChange::Move(to) => Some(to),
            PathChange::Keep | PathChange::Delete => None,
        };
        std::iter::once(&file.path).chain(target)
    });
    verdict(paths, snapshots, policy)
}

/// Before the places are resolved, only a refusal matters: it saves resolving them.
fn judge_plan(plan: &EditPlan, snapshots: &Snapshots, policy: &Protected) -> Verdict {
    let paths = plan.files.iter().flat_map(|file| {
        let targets = file.operations.iter().filter_map(|operation| match operation {
            Operation::Move { to, .. } => Some(to),
            _ => None,
        });
        std::iter::once(&file.path).chain(targets)
    });
    match verdict(paths, snapshots, policy) {
        Verdict::Refuse(refusal) => Verdict::Refuse(refusal),
        _ => Verdict::Pass,
    }
}

fn verdict<'a>(
    paths: impl Iterator<Item = &'a FilePath>,
    snapshots: &Snapshots,
    policy: &Protected,
) -> Verdict {
    if policy.rule == ProtectedRule::Allow {
        return Verdict::Pass;
    }
    let mut reasons: Vec<String> = Vec::new();
    for path in paths {
        let Some(protection) = policy.find(path, snapshots.real_path(path)) else { continue };
        if policy.rule == ProtectedRule::Deny {
            return Verdict::Refuse(Refusal::Protected { path: path.clone(), protection });
        }
        let reason = format!("`{path}` {}", protection.describe());
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    if reasons.is_empty() { Verdict::Pass } else { Verdict::Ask(reasons.join("; ")) }
}

impl Protection {
    /// The rest of a sentence that starts with the path.
    pub(super) fn describe(&self) -> String {
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
    fn builtin_globs_are_valid_and_folded() {
        for glob in names::KINDS.iter().flat_map(|kind| kind.globs).chain(names::EXCEPT) {
            compile(&[glob]).unwrap();
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
    fn protects(#[case] name: &str, #[case] what: &str) {
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
    fn does_not_protect(#[case] name: &str) {
        assert_eq!(Protected::default().find(&path(name), &path(name)), None, "{name}");
    }

    #[test]
    fn checks_the_path_as_written_and_as_resolved() {
        let protected = Protected::default();
        let found = protected.find(&path("docs/notes"), &path(".git/hooks/pre-push")).unwrap();
        assert_eq!(found.describe(), "leads to `.git/hooks/pre-push`, which is protected (version control)");
        // A protected symlink to an unprotected file is protected.
        assert!(protected.find(&path(".bashrc"), &path("dotfiles/bash")).is_some());
    }

    #[test]
    fn settings_add_globs_and_exceptions() {
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
    fn rejects_invalid_globs(#[case] glob: &str, #[case] reason: &str) {
        let error = Protected::default().add(&[glob.into()]).unwrap_err().to_string();
        assert!(error.contains(glob) && error.contains(reason), "{error}");
    }
}
