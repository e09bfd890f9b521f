//! Which paths are protected by their names, and the rules of their groups.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::consent::ConsentRule;
use super::globs::{GlobError, PathGlobs};
use super::names::{self, Group};
use super::places::PlaceKind;
use super::{Protection, fold};
use crate::path::FilePath;

/// Which paths are protected, and what happens to changes of them.
#[derive(Debug, Clone)]
pub struct Protected {
    /// What happens to a change of one of them, unless its group has its own rule.
    pub rule: ConsentRule,
    /// The rules of single groups.
    group_rules: BTreeMap<&'static str, ConsentRule>,
    /// Globs in addition to the built-in ones.
    added: Vec<String>,
    /// Exceptions from the built-in ones.
    except: Vec<String>,
    /// The globs of each group; added ones come last.
    matchers: Vec<Matcher>,
    exceptions: PathGlobs,
    /// The folders above the root, if they matter.
    above: Option<FoldersAbove>,
}

/// The folders above the files, and how many.
#[derive(Debug, Clone)]
struct FoldersAbove {
    folded: String,
    count: usize,
}

/// The globs of a group.
#[derive(Debug, Clone)]
struct Matcher {
    group: &'static str,
    what: &'static str,
    globs: PathGlobs,
}

impl Matcher {
    /// Whether its files contain secrets. The root itself may be a folder of them.
    fn is_secret(&self) -> bool {
        matches!(self.group, names::CREDENTIALS | Protected::PRIVATE)
    }
}

/// A name that is not the name of a group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown group `{name}`, expected one of {}", Protected::groups().iter().map(|group| format!("`{}`", group.name)).collect::<Vec<_>>().join(", "))]
pub struct UnknownGroup {
    /// The name.
    pub name: String,
}

impl PartialEq for Protected {
    fn eq(&self, other: &Self) -> bool {
        let key = |one: &Self| (one.rule, one.group_rules.clone(), one.added.clone(), one.except.clone());
        key(self) == key(other)
    }
}

impl Eq for Protected {}

impl Default for Protected {
    fn default() -> Self {
        Self::clone(&BUILTIN)
    }
}

/// What is protected by default. Built once, because an engine is created for every call.
static BUILTIN: LazyLock<Protected> = LazyLock::new(|| Protected {
    rule: ConsentRule::default(),
    group_rules: BTreeMap::new(),
    added: Vec::new(),
    except: Vec::new(),
    matchers: names::GROUPS
        .iter()
        .map(|group| Matcher {
            group: group.name,
            what: group.what,
            globs: PathGlobs::builtin(group.globs.iter().copied()),
        })
        .collect(),
    exceptions: PathGlobs::builtin(names::EXCEPT.iter().copied()),
    above: None,
});

impl Protected {
    /// The kind of paths that the settings add.
    const ADDED: &str = "listed in the settings";

    /// Only these globs of one kind, with exceptions, instead of the built-in ones. [`Protected::find`] then says whether a
    /// path is one of them.
    ///
    /// Like the built-in globs, `globs` and `shared` are lower case, and names or the ends of paths with at most one `*` per name.
    /// `except` can be any globs.
    pub fn only(
        what: &'static str,
        globs: impl IntoIterator<Item = &'static str>,
        shared: impl IntoIterator<Item = &'static str>,
        except: &[String],
    ) -> Result<Self, GlobError> {
        let mut exceptions = PathGlobs::new(except)?;
        exceptions.add_builtin(PathGlobs::builtin(shared));
        Ok(Self {
            rule: ConsentRule::default(),
            group_rules: BTreeMap::new(),
            added: Vec::new(),
            except: Vec::new(),
            matchers: vec![Matcher { group: what, what, globs: PathGlobs::builtin(globs) }],
            exceptions,
            above: None,
        })
    }

    /// The group of paths that the settings add. It has no separate rule.
    pub const ADDED_GROUP: &str = "paths";

    /// The kind of files whose text the journal does not keep, for [`Protected::only`].
    pub const PRIVATE: &str = "private";

    /// The group of files that contain secrets.
    pub const CREDENTIALS: &str = names::CREDENTIALS;

    /// The built-in exceptions.
    pub fn builtin_exceptions() -> &'static [&'static str] {
        names::EXCEPT
    }

    /// The groups of built-in paths.
    pub fn groups() -> &'static [Group] {
        names::GROUPS
    }

    /// What happens to a change of a path in a group.
    pub fn rule_for(&self, group: &str) -> ConsentRule {
        self.group_rules.get(group).copied().unwrap_or(self.rule)
    }

    /// Whether the rule of any group is to deny changes.
    pub(super) fn can_deny(&self) -> bool {
        self.rule == ConsentRule::Deny || self.group_rules.values().any(|rule| *rule == ConsentRule::Deny)
    }

    /// Sets the rule of a group.
    pub fn set_group_rule(&mut self, name: &str, rule: ConsentRule) -> Result<(), UnknownGroup> {
        let group = Self::groups().iter().find(|group| group.name == name);
        let group = group.ok_or_else(|| UnknownGroup { name: name.into() })?;
        self.group_rules.insert(group.name, rule);
        Ok(())
    }

    /// Applies a rule to a group if it is stricter than the current one.
    pub fn tighten_group(&mut self, name: &str, rule: ConsentRule) -> Result<(), UnknownGroup> {
        self.set_group_rule(name, self.rule_for(name).max(rule))
    }

    /// Applies a rule to all groups whose rule is less strict.
    pub fn tighten(&mut self, rule: ConsentRule) {
        self.rule = self.rule.max(rule);
        self.group_rules.values_mut().for_each(|own| *own = (*own).max(rule));
    }

    /// Applies what another set asks for where that is stricter. Its exceptions are ignored: they would loosen this one.
    pub fn tighten_by(&mut self, other: &Self) -> Result<(), GlobError> {
        for group in Self::groups() {
            let rule = self.rule_for(group.name).max(other.rule_for(group.name));
            self.group_rules.insert(group.name, rule);
        }
        self.rule = self.rule.max(other.rule);
        self.add(&other.added)
    }

    /// The globs that the settings add.
    pub fn added(&self) -> &[String] {
        &self.added
    }

    /// The exceptions: the built-in ones, and those in the settings.
    pub fn exceptions(&self) -> impl Iterator<Item = &str> {
        names::EXCEPT.iter().copied().chain(self.except.iter().map(String::as_str))
    }

    /// Also protects paths that match these globs. A glob without `/` matches a name in any folder, one with `/` is
    /// relative to the root; both include everything below. Exceptions do not apply to them.
    pub fn add(&mut self, globs: &[String]) -> Result<(), GlobError> {
        if globs.is_empty() {
            return Ok(());
        }
        self.matchers.push(Matcher {
            group: Self::ADDED_GROUP,
            what: Self::ADDED,
            globs: PathGlobs::new(globs)?,
        });
        self.added.extend_from_slice(globs);
        Ok(())
    }

    /// Exempts paths that match these globs, unless [`Protected::add`] names them.
    pub fn except(&mut self, globs: &[String]) -> Result<(), GlobError> {
        self.except.extend_from_slice(globs);
        self.exceptions = PathGlobs::new(&self.exceptions().collect::<Vec<_>>())?;
        Ok(())
    }

    /// Says where the root is: beneath `.config`, the path `fish/config.fish` is protected as well. What is in the root of
    /// its own accord is not protected by the root's name, or a work tree in `.claude/worktrees` could not be edited without
    /// a question; only secrets are.
    pub fn set_root(&mut self, root: &str) {
        let folded = fold::path(root.trim_matches('/'));
        let names: Vec<&str> = folded.split('/').collect();
        let count = names.len();
        let matters = |matcher: &Matcher| {
            let is_secret = matcher.is_secret() && matcher.globs.matches(&folded);
            is_secret || matcher.globs.continues_after(&names)
        };
        self.above = self.matchers.iter().any(matters).then_some(FoldersAbove { folded, count });
    }

    /// Whether the globs of a matcher match a folded path.
    fn is_match(&self, matcher: &Matcher, path: &FoldedPath<'_>) -> bool {
        let from_above = |above: &FoldersAbove| {
            let skipped = if matcher.is_secret() { 0 } else { above.count };
            matcher.globs.matches_names(&path.names_from_top, skipped)
        };
        let is_relative = matcher.group != Self::ADDED_GROUP && !path.text.starts_with('/');
        matcher.globs.matches_split(path.text, path.names())
            || is_relative && self.above.as_ref().is_some_and(from_above)
    }

    /// Splits a folded path into names, once for all matchers.
    fn split<'a>(&'a self, text: &'a str) -> FoldedPath<'a> {
        let above = self.above.as_ref();
        let mut names_from_top: Vec<&str> =
            above.map_or(Vec::new(), |above| above.folded.split('/').collect());
        let skipped = names_from_top.len();
        names_from_top.extend(text.split('/'));
        FoldedPath { text, names_from_top, skipped }
    }

    /// Why a path is protected by its name, if it is; `real` is the path with symlinks resolved.
    pub fn find(&self, path: &FilePath, real: &FilePath) -> Option<Protection> {
        let protection =
            |matcher: &Matcher, real| Protection { group: matcher.group, what: matcher.what, real };
        let as_written = self.matching(path).map(|matcher| protection(matcher, None));
        let as_resolved = || Some(protection(self.matching(real)?, Some(real.clone())));
        as_written.or_else(|| if real == path { None } else { as_resolved() })
    }

    /// The matcher of a path with the strictest rule; `None` if the rules allow every change of it.
    fn matching(&self, path: &FilePath) -> Option<&Matcher> {
        let folded = fold::path(path.as_str());
        let path = self.split(&folded);
        let is_exception = self.exceptions.matches_split(path.text, path.names());
        let mut strictest = None;
        for matcher in &self.matchers {
            let rule = self.rule_for(matcher.group);
            // Exceptions apply to the built-in globs only.
            let applies = matcher.group == Self::ADDED_GROUP || !is_exception;
            let is_stricter = strictest.is_none_or(|(found, _)| rule > found);
            if applies && is_stricter && rule > ConsentRule::Allow && self.is_match(matcher, &path) {
                strictest = Some((rule, matcher));
            }
        }
        strictest.map(|(_, matcher)| matcher)
    }

    /// The groups that one of these paths belongs to by its name, whatever their rules are.
    pub(in crate::guard) fn groups_of(&self, paths: &[&FilePath]) -> Vec<&'static str> {
        let folded: Vec<String> = paths.iter().map(|path| fold::path(path.as_str())).collect();
        let belongs = |matcher: &Matcher, path: &String| {
            let is_exempt = matcher.group != Self::ADDED_GROUP && self.exceptions.matches(path);
            !is_exempt && self.is_match(matcher, &self.split(path))
        };
        let matching =
            self.matchers.iter().filter(|matcher| folded.iter().any(|path| belongs(matcher, path)));
        matching.map(|matcher| matcher.group).collect()
    }

    /// Why a place is protected, if its group's rule does not allow every change.
    pub(super) fn find_place(&self, kind: PlaceKind, real: &FilePath) -> Option<Protection> {
        let is_exempt = kind.can_be_exempt() && self.exceptions.matches(&fold::path(real.as_str()));
        let is_protected = self.rule_for(kind.group()) > ConsentRule::Allow && !is_exempt;
        is_protected.then(|| Protection { group: kind.group(), what: kind.what(), real: None })
    }
}

/// A folded path.
struct FoldedPath<'a> {
    text: &'a str,
    /// Its names, after those of the folders above the root, if they are known.
    names_from_top: Vec<&'a str>,
    /// How many names come before its own.
    skipped: usize,
}

impl FoldedPath<'_> {
    fn names(&self) -> &[&str] {
        &self.names_from_top[self.skipped..]
    }
}

/// Globs of paths that rules name, in any spelling.
#[derive(Debug, Clone)]
pub(in crate::guard) struct RulePaths(PathGlobs);

impl RulePaths {
    /// Compiles globs as [`Protected::add`] does.
    pub(in crate::guard) fn new(globs: &[String]) -> Result<Self, GlobError> {
        PathGlobs::new(globs).map(Self)
    }

    /// Whether a glob matches the path, or one of its parents.
    pub(in crate::guard) fn matches(&self, path: &FilePath) -> bool {
        self.0.matches(&fold::path(path.as_str()))
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
        for glob in names::GROUPS.iter().flat_map(|group| group.globs).chain(names::EXCEPT) {
            PathGlobs::new(&[glob]).unwrap();
            assert_eq!(&fold::glob(glob), glob);
        }
    }

    #[test]
    fn ci_files_are_protected_under_both_endings() {
        for glob in names::GROUPS.iter().find(|group| group.name == "ci").unwrap().globs {
            if let Some(name) = glob.strip_suffix(".yml") {
                let other = path(&format!("{name}.yaml"));
                assert!(Protected::default().find(&other, &other).is_some(), "{other}");
            }
        }
    }

    #[test]
    fn hook_managers_are_protected_in_all_formats() {
        for name in ["lefthook-local.jsonc", ".lefthook-local.jsonc", ".overcommit.yaml"] {
            assert!(Protected::default().find(&path(name), &path(name)).is_some(), "{name}");
        }
    }

    /// Whether a path is protected in a root.
    fn is_protected_in(root: &str, name: &str) -> bool {
        let mut protected = Protected::default();
        protected.set_root(root);
        protected.find(&path(name), &path(name)).is_some()
    }

    #[test]
    fn folders_above_the_root_count() {
        for (root, name) in [
            ("/home/me/.config", "fish/config.fish"),
            ("/home/me/.Config", "GIT/config"),
            ("/home/me/.config", "slipstitch/config.toml"),
            ("/home/me/.cargo", "config.toml"),
            ("/home/me/.local", "bin/tool"),
            ("/home/me/.local/share", "applications/x.desktop"),
            ("/project/.github", "workflows/ci.yml"),
            ("/home/me/.ssh", "config"),
            ("/home/me/.aws/sso", "cache/token.json"),
            ("/home/me/.config/rclone", "rclone.conf"),
        ] {
            assert!(is_protected_in(root, name), "{root}: {name}");
            assert!(!is_protected_in("/project", name), "{name}");
        }
        for (root, name) in [
            ("/home/me/.config", "notes.md"),
            ("/home/me/.config", "app/fish/config.fish"),
            ("/home/me/.cargo", "registry/src/lib.rs"),
            // Some hosts keep their work trees in folders of theirs.
            ("/project/.claude/worktrees/one", "src/main.rs"),
            ("/home/me/.codex/worktrees/one", "Cargo.toml"),
            ("/home/me/.vim/bundle/mine", "plugin.vim"),
            ("/", "src/main.rs"),
        ] {
            assert!(!is_protected_in(root, name), "{root}: {name}");
        }
    }

    #[test]
    fn settings_relative_to_the_root_stay_relative() {
        let mut protected = Protected::default();
        protected.add(&["**/.config/mine".into(), ".config/other".into()]).unwrap();
        protected.except(&["fish".into()]).unwrap();
        protected.set_root("/home/me/.config");
        let finds = |name: &str| protected.find(&path(name), &path(name)).is_some();
        assert!(!finds("mine/x") && !finds("other/x") && finds(".config/mine/x"));
        assert!(!finds("fish/config.fish"), "exceptions apply");
    }

    #[test]
    fn groups_can_have_their_own_rules() {
        let mut protected = Protected::default();
        protected.set_group_rule("editors", ConsentRule::Allow).unwrap();
        protected.set_group_rule("credentials", ConsentRule::Deny).unwrap();
        let group = |protected: &Protected, name: &str| {
            protected
                .find(&path(name), &path(name))
                .map(|found| (found.group, protected.rule_for(found.group)))
        };
        assert_eq!(group(&protected, ".vscode/tasks.json"), None);
        assert_eq!(group(&protected, ".env"), Some(("credentials", ConsentRule::Deny)));
        // Two groups match: the stricter one counts.
        assert_eq!(group(&protected, ".vscode/.env"), Some(("credentials", ConsentRule::Deny)));
        assert_eq!(group(&protected, ".git/server.key"), Some(("credentials", ConsentRule::Deny)));
        protected.tighten_group("editors", ConsentRule::Ask).unwrap();
        protected.tighten_group("credentials", ConsentRule::Allow).unwrap();
        assert_eq!(group(&protected, ".vscode/tasks.json"), Some(("editors", ConsentRule::Ask)));
        assert_eq!(group(&protected, ".env"), Some(("credentials", ConsentRule::Deny)));
        protected.set_group_rule("editors", ConsentRule::Allow).unwrap();
        protected.tighten(ConsentRule::Deny);
        assert_eq!(group(&protected, ".vscode/tasks.json"), Some(("editors", ConsentRule::Deny)));
        let unknown = protected.set_group_rule("editor", ConsentRule::Allow).unwrap_err().to_string();
        assert!(unknown.contains("`editor`") && unknown.contains("`editors`"), "{unknown}");
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
    #[case(".vscode/tasks.json", "editor configuration")]
    #[case(".mcp.json", "agent configuration")]
    #[case("home/.bashrc", "a startup file")]
    #[case("home/.config/fish/config.fish", "a startup file")]
    #[case(".env.production", "credentials")]
    #[case("keys/server.PEM", "credentials")]
    #[case("lefthook.yaml", "version control")]
    #[case("home/.config/git/config", "version control")]
    #[case(".drone.yaml", "continuous integration")]
    #[case(".helix/config.toml", "editor configuration")]
    #[case(".vscode-server/data/Machine/settings.json", "editor configuration")]
    #[case("opencode.jsonc", "agent configuration")]
    #[case("crush.json", "agent configuration")]
    #[case(".amazonq/mcp.json", "agent configuration")]
    #[case(".qwen/settings.json", "agent configuration")]
    #[case(".copilot/mcp-config.json", "agent configuration")]
    #[case("mcp.json", "agent configuration")]
    #[case(".agents/mcp.json", "agent configuration")]
    #[case(".clinerules/hooks/PreToolUse", "agent configuration")]
    #[case(".github/hooks/pre.json", "agent configuration")]
    #[case(".rovodev/config.yml", "agent configuration")]
    #[case(".local/bin/git", "a startup file")]
    #[case(".bashrc.d/x", "a startup file")]
    #[case(".envrc.local", "a startup file")]
    #[case(".jjconfig.toml", "version control")]
    #[case(".simple-git-hooks.cjs", "version control")]
    #[case("home/.config/sops/age/keys.txt", "credentials")]
    #[case(".github/mcp.json", "agent configuration")]
    #[case("mise.toml", "a startup file")]
    #[case(".cargo/config.toml", "package manager or download tool configuration")]
    #[case("home/.config/pip/pip.conf", "package manager or download tool configuration")]
    #[case(".curlrc", "package manager or download tool configuration")]
    #[case(".rhosts", "credentials")]
    #[case("slipstitch.toml", "Slipstitch's settings")]
    #[case("SLIPSTITCH.TOML.", "Slipstitch's settings")]
    #[case(".config/Cursor/User/settings.json", "editor configuration")]
    #[case("Library/Application Support/Code/User/mcp.json", "editor configuration")]
    #[case(".gitpod.yml", "editor configuration")]
    #[case(".github/copilot/settings.json", "agent configuration")]
    #[case(".claude-plugin/plugin.json", "agent configuration")]
    #[case(".pi/settings.json", "agent configuration")]
    #[case(".Renviron", "a startup file")]
    #[case(".local/share/systemd/user/x.service", "a startup file")]
    #[case(".sl/config", "version control")]
    #[case("ci/build.gitlab-ci.yml", "continuous integration")]
    #[case(".readthedocs.yaml", "continuous integration")]
    #[case(".local/share/nvim/site/plugin/x.vim", "editor configuration")]
    #[case(".serena/project.yml", "agent configuration")]
    #[case("gemini-extension.json", "agent configuration")]
    #[case(".cargo/env", "a startup file")]
    #[case(".lessfilter", "a startup file")]
    #[case(".xonshrc", "a startup file")]
    #[case(".mvn/wrapper/maven-wrapper.properties", "package manager or download tool configuration")]
    #[case("gradle/wrapper/gradle-wrapper.properties", "package manager or download tool configuration")]
    #[case(".ripgreprc", "package manager or download tool configuration")]
    #[case(".pnp.cjs", "package manager or download tool configuration")]
    #[case("deploy/prod.env", "credentials")]
    #[case(".dev.vars", "credentials")]
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
    #[case("example.env")]
    #[case("config/prod.example.env")]
    #[case("src/env.rs")]
    #[case("environment")]
    #[case("docs/git/config")]
    #[case("monkey")]
    #[case("justfile")]
    #[case("Cargo.toml")]
    #[case("lefthook.md")]
    #[case("code/user/settings.json")]
    #[case("src/forge/mod.rs")]
    fn does_not_protect(#[case] name: &str) {
        assert_eq!(Protected::default().find(&path(name), &path(name)), None, "{name}");
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
