use super::*;
use slipstitch_core::guard::Protected;

fn load(user: &str, root: &str) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let user_file = folder.path().join("user.toml");
    std::fs::write(&user_file, user).unwrap();
    let mut config = Config::load(Some(&user_file))?;
    let files = slipstitch_core::ports::memory::MemoryWorkspace::default();
    if !root.is_empty() {
        files.put(&FilePath::from_record(ROOT_FILE).unwrap(), root);
    }
    config.tighten_by_root(&files)?;
    Ok(config)
}

#[test]
fn the_root_file_can_lower_limits_but_not_raise_them() {
    let user = "[limits]\nmax_file_bytes = 1000\nmax_request_bytes = 50\n";
    let config = load(user, "[limits]\nmax_file_bytes = 5000\nmax_request_bytes = 20\n").unwrap();
    assert_eq!((config.policy.max_file_bytes, config.policy.max_request_bytes), (1000, 20));
    let config = load(user, "[limits]\nmax_request_bytes = 5000\n").unwrap();
    assert_eq!(config.policy.max_request_bytes, 50);
    let config = load("", "[files]\nfsync = false\n").unwrap();
    assert_eq!(config.fsync, Fsync::On);
}

#[test]
fn dialect_settings_can_be_set_and_tightened() {
    let user = "[tools.edit]\nrequire_file_hash = true\n[tools.xzatoma]\nmax_file_size = 50\n";
    let root = "[tools.edit]\nrequire_file_hash = false\nenabled = false\nmax_snippet_bytes = 9\n";
    let settings = load(user, root).unwrap().settings;
    assert!(settings.edit.require_file_hash && !settings.edit.is_enabled());
    assert_eq!((settings.edit.max_snippet_bytes, settings.edit.max_line_edit_bytes), (9, 262_144));
    assert_eq!(settings.xzatoma.max_file_size, 50);
}

#[test]
fn the_root_file_can_enable_emacs_but_not_disable_it() {
    let editors = |user, root| load(user, root).unwrap().editors;
    assert!(editors("", "").emacs && editors("", "").emacs().is_some());
    assert!(editors("", "[editors]\nemacs = false\n").emacs);
    let off = "[editors]\nemacs = false\nemacs_server = \"work\"\n";
    assert!(editors(off, "").emacs().is_none());
    let switched = editors(off, "[editors]\nemacs = true\nemacs_server = \"/elsewhere\"\n");
    assert_eq!(switched, Editors { emacs: true, emacs_server: Some("work".into()) });
    let error = load("[editors]\nemacs_server = \"\"\n", "").unwrap_err().to_string();
    assert!(error.contains("editors.emacs_server"), "{error}");
}

#[test]
fn the_root_file_can_disable_evidence_but_not_enable_it() {
    let evidence = |user, root| load(user, root).unwrap().evidence;
    assert_eq!(evidence("", ""), EvidenceSources { enabled: true, git: true });
    let off = "[evidence]\ngit = false\n";
    assert_eq!(evidence(off, ""), EvidenceSources { enabled: true, git: false });
    assert_eq!(evidence("", off), EvidenceSources { enabled: true, git: false });
    assert_eq!(evidence(off, "[evidence]\ngit = true\n"), EvidenceSources { enabled: true, git: false });
    assert!(!evidence("", "[evidence]\nenabled = false\n").enabled);
    assert!(!evidence("[evidence]\nenabled = false\n", "[evidence]\nenabled = true\n").enabled);
}

#[test]
fn the_root_file_cannot_change_retention() {
    let retention = |user, root| load(user, root).unwrap().retention;
    assert_eq!(retention("", ""), Retention { max_bytes: 512 << 20, max_age_days: None });
    let user = "[journal]\nmax_bytes = 1000\nmax_age_days = 7\n";
    let wanted = Retention { max_bytes: 1000, max_age_days: Some(7) };
    assert_eq!(retention(user, ""), wanted);
    assert_eq!(retention(user, "[journal]\nmax_bytes = 1\nmax_age_days = 0\n"), wanted);
}

#[test]
fn the_root_file_can_protect_more_paths_but_not_fewer() {
    let protected = |user, root| load(user, root).unwrap().policy.protected;
    let finds = |protected: &Protected, path: &str| {
        let path = FilePath::from_record(path).unwrap();
        protected.find(&path, &path).is_some()
    };
    let user = "[protected]\nexcept = [\".vscode\"]\npaths = [\"migrations\"]\n";
    let found = protected(user, "[protected]\nrule = \"allow\"\nexcept = [\".git\"]\npaths = [\"infra\"]\n");
    assert_eq!(found.rule, ConsentRule::Ask);
    assert!(finds(&found, ".git/config") && finds(&found, "a/migrations/1") && finds(&found, "infra/x"));
    assert!(!finds(&found, ".vscode/settings.json"));
    let found = protected("[protected]\nrule = \"allow\"\n", "[protected]\nrule = \"deny\"\n");
    assert_eq!(found.rule, ConsentRule::Deny);
    let error = load("[protected]\nrule = \"maybe\"\n", "").unwrap_err().to_string();
    assert!(error.contains("protected.rule") && error.contains("deny"), "{error}");
    let error = load("", "[protected]\npaths = [\"a[\"]\n").unwrap_err().to_string();
    assert!(error.contains("protected.paths") && error.contains("slipstitch.toml"), "{error}");
}

#[test]
fn the_root_file_can_make_groups_and_undo_stricter_but_not_looser() {
    let rules = |user, root| {
        let policy = load(user, root).unwrap().policy;
        let rule = |group| policy.protected.rule_for(group);
        [rule("editors"), rule("credentials"), rule("ci"), policy.undo_others]
    };
    use ConsentRule::{Allow, Ask, Deny};
    assert_eq!(rules("", ""), [Ask; 4]);
    let user =
        "[protected.groups]\neditors = \"allow\"\ncredentials = \"deny\"\n[undo]\nothers = \"allow\"\n";
    assert_eq!(rules(user, ""), [Allow, Deny, Ask, Allow]);
    let root = "[protected.groups]\ncredentials = \"allow\"\nci = \"deny\"\n[undo]\nothers = \"ask\"\n";
    assert_eq!(rules(user, root), [Allow, Deny, Deny, Ask]);
    assert_eq!(rules(user, "[protected]\nrule = \"ask\"\n"), [Ask, Deny, Ask, Allow]);
    assert_eq!(rules("[undo]\nothers = \"deny\"\n", "[undo]\nothers = \"allow\"\n")[3], Deny);
    for (text, key) in [
        ("[protected.groups]\neditor = \"ask\"\n", "unknown group `editor`"),
        ("[protected.groups]\nci = \"never\"\n", "`protected.groups.ci`"),
        ("[undo]\nothers = \"maybe\"\n", "`undo.others`"),
    ] {
        let error = load(text, "").unwrap_err().to_string();
        assert!(error.contains(key), "{error}");
    }
}

#[test]
fn keys_of_the_root_file_that_would_relax_the_settings_are_listed() {
    let ignored = |user, root| -> Vec<String> {
        load(user, root).unwrap().ignored.into_iter().map(|found| found.key).collect()
    };
    assert_eq!(ignored("", "[files]\nfsync = true\n[limits]\nmax_file_bytes = 10\n"), [""; 0]);
    let others = "[protected]\nexcept = [\"x\"]\n[protected.groups]\nci = \"allow\"\nstartup = \"deny\"\n\
                  [journal]\nprivate = [\"a\"]\nprivate_except = [\".env\"]\nmax_age_days = 1\n\
                  [files]\nlegacy_encoding = \"gbk\"\n[editors]\nemacs_server = \"x\"\n";
    assert_eq!(
        ignored("", others),
        [
            "protected.except",
            "protected.groups.ci",
            "journal.private_except",
            "journal.max_age_days",
            "files.legacy_encoding",
            "editors.emacs_server"
        ],
        "in the order of the file"
    );
    let relaxing = "[files]\nfsync = false\nhard_links = \"break\"\n[limits]\nmax_file_bytes = 99999999999\n\
                    [protected]\nrule = \"allow\"\npaths = [\"infra\"]\n[tools.xzatoma]\nmax_file_size = 99999999999\n";
    assert_eq!(
        ignored("", relaxing),
        [
            "files.fsync",
            "files.hard_links",
            "limits.max_file_bytes",
            "protected.rule",
            "tools.xzatoma.max_file_size"
        ]
    );
}

#[test]
fn errors_name_the_file_the_key_and_what_is_expected() {
    for (text, wanted) in [
        (
            "[limits]\nmax_file = 1\n",
            ["`limits.max_file`", "expected `max_request_bytes` or `max_file_bytes`"],
        ),
        (
            "[limits]\nmax_file_bytes = \"big\"\n",
            ["`limits.max_file_bytes`", "expected a non-negative integer"],
        ),
        ("[limits]\nmax_file_bytes = -1\n", ["`limits.max_file_bytes`", "expected a non-negative integer"]),
        ("[files]\nfsync = 1\n", ["`files.fsync`", "expected a boolean"]),
        (
            "[files]\nhard_links = \"x\"\n",
            ["`files.hard_links`", "expected one of `refuse`, `break`, `write-through`"],
        ),
        ("[files]\nlegacy_encoding = \"klingon\"\n", ["`files.legacy_encoding`", "klingon"]),
        ("[tools.edit]\nenable = true\n", ["`tools.edit.enable`", "expected one of `enabled`"]),
        ("[tools.edit]\nenabled = 1\n", ["`tools.edit.enabled`", "expected a boolean"]),
        ("[tools.nonsense]\nx = 1\n", ["`tools.nonsense`", "expected one of `edit`"]),
        ("nonsense = 1\n", ["`nonsense`", "expected one of `limits`"]),
        ("[limits]\nmax_file_bytes = nan\n", ["`limits.max_file_bytes`", "finite"]),
        ("[limits]\nmax_file_bytes = 1.5\n", ["`limits.max_file_bytes`", "expected a non-negative integer"]),
        ("[files]\nlegacy_encoding = 2020-02-02\n", ["`files.legacy_encoding`", "no setting is a date"]),
        (
            "[[rules]]\nverdict = \"ask\"\n[[rules]]\nverdict = 1\n",
            ["`rules[1].verdict`", "expected a string"],
        ),
    ] {
        let user = load(text, "").unwrap_err().to_string();
        assert!(user.contains("user.toml") && wanted.iter().all(|part| user.contains(part)), "{user}");
        if !text.contains("klingon") {
            let root = load("", text).unwrap_err().to_string();
            assert!(root.contains(ROOT_FILE) && wanted.iter().all(|part| root.contains(part)), "{root}");
        }
    }
}

#[test]
fn a_syntax_error_quotes_the_user_s_file_but_not_the_root_file() {
    let user = load("[limits\n", "").unwrap_err().to_string();
    assert!(user.contains("user.toml") && user.contains("1 | [limits"), "{user}");
    let root = load("", "[limits\n").unwrap_err().to_string();
    assert!(root.contains(ROOT_FILE) && !root.contains("[limits"), "{root}");
}

#[test]
fn a_missing_file_is_an_error_if_it_was_given() {
    let missing = Config::load(Some(Path::new("missing.toml"))).unwrap_err();
    assert!(matches!(missing, ConfigError::Io { .. }));
}
