//! What the environment says about Git: where its configuration is, settings and commands in variables, and the repository.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::command_words::CommandWords;
use crate::git::Repository;
use crate::git::config::Setting;

/// How many settings are read from variables.
const MAX_SETTINGS: usize = 1_000;
/// How much of the list of users is read.
const MAX_USERS_BYTES: u64 = 1 << 20;

/// Variables with a command or a folder of commands, and the settings that they replace.
const COMMAND_VARIABLES: &[(&str, &str)] = &[
    ("GIT_EDITOR", "core.editor"),
    ("VISUAL", "core.editor"),
    ("EDITOR", "core.editor"),
    ("GIT_SEQUENCE_EDITOR", "sequence.editor"),
    ("GIT_PAGER", "core.pager"),
    ("PAGER", "core.pager"),
    ("GIT_SSH_COMMAND", "core.sshCommand"),
    ("GIT_SSH", "core.sshCommand"),
    ("GIT_PROXY_COMMAND", "core.gitProxy"),
    ("GIT_ASKPASS", "core.askPass"),
    ("SSH_ASKPASS", "core.askPass"),
    ("GIT_EXTERNAL_DIFF", "diff.external"),
    ("GIT_TEMPLATE_DIR", "init.templateDir"),
    // Git looks for its commands there; they run like hooks.
    ("GIT_EXEC_PATH", "core.hooksPath"),
];

/// Looks up an environment variable.
type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The configuration files of the system and of the user.
pub(super) fn user_files(variables: Variables<'_>) -> Vec<PathBuf> {
    let variable = |name: &str| variables(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let mut files = vec![variable("GIT_CONFIG_SYSTEM").unwrap_or_else(|| "/etc/gitconfig".into())];
    match (variable("GIT_CONFIG_GLOBAL"), variable("HOME")) {
        (Some(global), _) => files.push(global),
        (None, Some(home)) => {
            let xdg = variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
            files.extend([xdg.join("git/config"), home.join(".gitconfig")]);
        }
        (None, None) => {}
    }
    files
}

/// The settings in `GIT_CONFIG_COUNT` with its keys and values, in `GIT_CONFIG_PARAMETERS`, which `git -c` sets, and in
/// variables of their own.
pub(super) fn settings(variables: Variables<'_>) -> Vec<Setting> {
    let variable = |name: &str| variables(name)?.into_string().ok();
    let count = variable("GIT_CONFIG_COUNT").and_then(|count| count.trim().parse().ok()).unwrap_or(0);
    let counted = (0..count.min(MAX_SETTINGS)).filter_map(|number| {
        setting(
            &variable(&format!("GIT_CONFIG_KEY_{number}"))?,
            &variable(&format!("GIT_CONFIG_VALUE_{number}"))?,
        )
    });
    let parameters = variable("GIT_CONFIG_PARAMETERS").unwrap_or_default();
    let parameters = CommandWords::parse(&parameters).words;
    let given = parameters.iter().filter_map(|word| word.split_once('=')).filter_map(|(k, v)| setting(k, v));
    let commands = COMMAND_VARIABLES.iter().filter_map(|(name, key)| setting(key, &variable(name)?));
    let work_tree = work_tree(variables).and_then(|folder| setting("core.worktree", folder.to_str()?));
    counted.chain(given).chain(commands).chain(work_tree).filter(|one| !one.value.is_empty()).collect()
}

/// The repository that `GIT_DIR` names, whatever folder Git runs in.
pub(super) fn repository(variables: Variables<'_>) -> Option<Repository> {
    let own = folder("GIT_DIR", variables)?;
    let work_tree = work_tree(variables).or_else(|| std::env::current_dir().ok())?;
    let common = folder("GIT_COMMON_DIR", variables);
    Some(Repository::with_folders(work_tree, own, common))
}

fn work_tree(variables: Variables<'_>) -> Option<PathBuf> {
    folder("GIT_WORK_TREE", variables)
}

/// The folder that a variable names, as an absolute path.
fn folder(name: &str, variables: Variables<'_>) -> Option<PathBuf> {
    let value = variables(name).filter(|value| !value.is_empty())?;
    std::path::absolute(Path::new(&value)).ok()
}

/// A setting by its name, such as `core.hooksPath` or `filter.x.clean`.
fn setting(name: &str, value: &str) -> Option<Setting> {
    let (section, rest) = name.split_once('.')?;
    let (subsection, key) = rest.rsplit_once('.').unwrap_or(("", rest));
    Some(Setting {
        section: section.to_lowercase(),
        subsection: subsection.to_owned(),
        key: key.to_lowercase(),
        value: value.to_owned(),
    })
}

/// Expands `~/` and `~user/` at the start of a path.
pub(super) fn expand_home(value: &str) -> PathBuf {
    let Some((user, rest)) = value.strip_prefix('~').and_then(|value| value.split_once('/')) else {
        return value.into();
    };
    let home = match user {
        "" => std::env::var_os("HOME").filter(|value| !value.is_empty()).map(PathBuf::from),
        user => home_of(user),
    };
    home.map_or_else(|| value.into(), |home| home.join(rest))
}

/// The home folder of a user by the system's list.
fn home_of(user: &str) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    fs::File::open("/etc/passwd").ok()?.take(MAX_USERS_BYTES).read_to_end(&mut bytes).ok()?;
    let users = String::from_utf8_lossy(&bytes);
    let line = users.lines().find(|line| line.split(':').next() == Some(user))?;
    line.split(':').nth(5).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_make_settings() {
        let variables = |name: &str| {
            let value = match name {
                "GIT_CONFIG_COUNT" => "2",
                "GIT_CONFIG_KEY_0" => "core.hooksPath",
                "GIT_CONFIG_VALUE_0" => "hooks=a",
                "GIT_CONFIG_KEY_1" => "filter.my.filter.Clean",
                "GIT_CONFIG_VALUE_1" => "tools/x %f",
                "GIT_CONFIG_PARAMETERS" => "'core.editor=my ed' 'alias.x'='!y'",
                _ => return None,
            };
            Some(OsString::from(value))
        };
        let found: Vec<_> =
            settings(&variables).into_iter().map(|one| (one.section, one.key, one.value)).collect();
        let expected = [
            ("core", "hookspath", "hooks=a"),
            ("filter", "clean", "tools/x %f"),
            ("core", "editor", "my ed"),
            ("alias", "x", "!y"),
        ];
        for (section, key, value) in expected {
            let wanted = (section.to_owned(), key.to_owned(), value.to_owned());
            assert!(found.contains(&wanted), "{wanted:?} in {found:?}");
        }
        assert_eq!(settings(&|_| None), []);
    }

    #[test]
    fn commands_in_variables_are_settings_too() {
        let variables = |name: &str| match name {
            "GIT_SSH_COMMAND" => Some(OsString::from("tools/ssh.sh -x")),
            "GIT_EXEC_PATH" => Some("/exec".into()),
            "GIT_WORK_TREE" => Some("/tree".into()),
            "EDITOR" => Some("".into()),
            _ => None,
        };
        let found: Vec<_> =
            settings(&variables).into_iter().map(|one| (one.section, one.key, one.value)).collect();
        // On Windows, with the current drive.
        let tree = std::path::absolute("/tree").unwrap();
        let expected = [
            ("core", "sshcommand", "tools/ssh.sh -x"),
            ("core", "hookspath", "/exec"),
            ("core", "worktree", tree.to_str().unwrap()),
        ];
        assert_eq!(found, expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())));
    }

    #[test]
    fn homes_of_users_are_known() {
        assert_eq!(expand_home("~root/x"), home_of("root").unwrap().join("x"));
        assert_eq!(expand_home("~nobody-of-this-name/x"), PathBuf::from("~nobody-of-this-name/x"));
        assert_eq!(expand_home("a~/x"), PathBuf::from("a~/x"));
    }
}
