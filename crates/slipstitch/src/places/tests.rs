use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;

use slipstitch_platform::files;
use tempfile::TempDir;

use super::place::Found;
use super::*;

/// A root that is no repository, and the user's configuration of Git outside of it.
struct Home {
    folder: TempDir,
    root: PathBuf,
    places: DiskPlaces,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let top = files::real_path(folder.path()).unwrap();
        let root = top.join("root");
        fs::create_dir(&root).unwrap();
        let places = DiskPlaces {
            git: GitPlaces::new(vec![top.join("gitconfig"), top.join("xdg/config")], Vec::new()),
            ..DiskPlaces::new(vec![root.clone()], Vec::new(), top.join("state"))
        };
        Self { folder, root, places }
    }

    fn configure(&self, text: &str) {
        let text = text.replace("ROOT", &self.root_for_git());
        fs::write(self.folder.path().join("gitconfig"), text).unwrap();
    }

    /// Git takes `/` on every system, and a backslash for the start of an escape.
    fn root_for_git(&self) -> String {
        self.root.to_str().unwrap().replace('\\', "/")
    }

    fn find(&self, path: &str) -> Option<PlaceKind> {
        let touched = TouchedPath {
            real: &FilePath::from_record(path).unwrap(),
            id: file_id(&self.root.join(path)),
            has_one_name: false,
            remains: true,
        };
        self.places.find(&[touched])[0].kind
    }
}

fn set_modified(folder: &Path, time: std::time::SystemTime) {
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    options.read(true);
    #[cfg(windows)]
    {
        use std::os::windows::fs::OpenOptionsExt;
        const FILE_WRITE_ATTRIBUTES: u32 = 0x100;
        const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
        options.access_mode(FILE_WRITE_ATTRIBUTES).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    }
    options.open(folder).unwrap().set_modified(time).unwrap();
}

fn file_id(path: &Path) -> Option<FileId> {
    match Found::at(path) {
        Found::Present { id, .. } => Some(id),
        Found::Missing | Found::Unknown => None,
    }
}

#[test]
fn the_user_configuration_of_git_applies_outside_of_repositories() {
    let home = Home::new();
    assert_eq!(home.find("hooks/pre-commit"), None);
    home.configure(
        "[core]\n\thooksPath = ROOT/hooks\n[include]\n\tpath = ROOT/inc\n[alias]\n\tx = !ROOT/bin/x -v\n",
    );
    assert_eq!(home.find("hooks/pre-commit"), Some(PlaceKind::GitCommand));
    assert_eq!(home.find("inc"), Some(PlaceKind::GitConfiguration), "even while it is missing");
    assert_eq!(home.find("bin/x"), Some(PlaceKind::GitCommand));
    assert_eq!(home.find("bin/y"), None);
    fs::write(home.root.join("inc"), "[core]\n\tsshCommand = ../root/ssh.sh\n\teditor = vi\n").unwrap();
    assert_eq!(home.find("ssh.sh"), None, "relative to the work tree, and there is none");
    fs::write(home.root.join("inc"), format!("[core]\n\teditor = {}/ed\n", home.root_for_git())).unwrap();
    assert_eq!(home.find("ed"), Some(PlaceKind::GitCommand), "the included file has changed");
    home.configure("");
    assert_eq!(home.find("hooks/pre-commit"), None);
}

#[test]
fn it_applies_inside_repositories_too() {
    let home = Home::new();
    for part in ["project/.git/objects", "project/.git/refs"] {
        fs::create_dir_all(home.root.join(part)).unwrap();
    }
    fs::write(home.root.join("project/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    home.configure("[core]\n\thooksPath = tools\n\teditor = ROOT/ed\n");
    assert_eq!(home.find("project/tools/pre-push"), Some(PlaceKind::GitCommand));
    assert_eq!(home.find("tools/pre-push"), None);
    assert_eq!(home.find("ed"), Some(PlaceKind::GitCommand));
}

#[cfg(unix)]
#[test]
fn the_files_of_the_user_configuration_are_protected_wherever_they_are() {
    let home = Home::new();
    let outside = home.folder.path();
    symlink(home.root.join("dotfiles/git"), outside.join("gitconfig")).unwrap();
    assert_eq!(home.find("dotfiles/git"), Some(PlaceKind::GitConfiguration), "the target is missing");
    fs::create_dir(home.root.join("dotfiles")).unwrap();
    fs::write(home.root.join("dotfiles/git"), "").unwrap();
    assert_eq!(home.find("dotfiles/git"), Some(PlaceKind::GitConfiguration));
    assert_eq!(home.find("dotfiles/vim"), None);
    fs::create_dir(home.root.join("xdg")).unwrap();
    symlink("root/xdg", outside.join("xdg")).unwrap();
    assert_eq!(home.find("xdg/config"), Some(PlaceKind::GitConfiguration), "beneath a symlink");
    fs::hard_link(home.root.join("dotfiles/git"), home.root.join("plain")).unwrap();
    assert_eq!(home.find("plain"), Some(PlaceKind::GitConfiguration), "a hard link");
}

/// Creates a repository with a configuration.
fn init(home: &Home, git_folder: &str, config: &str) {
    for part in ["objects", "refs"] {
        fs::create_dir_all(home.root.join(git_folder).join(part)).unwrap();
    }
    fs::write(home.root.join(git_folder).join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let config = config.replace("ROOT", &home.root_for_git());
    fs::write(home.root.join(git_folder).join("config"), config).unwrap();
}

#[test]
fn a_repository_next_to_the_file_may_run_it() {
    for (git_folder, config, path) in [
        ("project/.git", "[core]\n\thooksPath = ../hooks\n", "hooks/pre-commit"),
        ("project/.git", "[core]\n\thooksPath = ROOT/hooks\n", "hooks/deep/pre-commit"),
        ("project/.git", "[alias]\n\tx = !../bin/x -v\n", "bin/x"),
        ("project/.git", "[include]\n\tpath = ../../more.inc\n", "more.inc"),
        ("group/project/.git", "[core]\n\thooksPath = ../../hooks\n", "hooks/pre-commit"),
        ("a/project/.git", "[core]\n\thooksPath = ../hooks\n", "a/hooks/pre-commit"),
        ("../beside/.git", "[core]\n\thooksPath = ../root/hooks\n", "hooks/pre-commit"),
        ("mirror.git", "[core]\n\thooksPath = ../hooks\n\tbare = true\n", "hooks/post-receive"),
        ("project/.git", "[core]\n\tworktree = ../../tree\n\thooksPath = hooks\n", "tree/hooks/pre-commit"),
    ] {
        let home = Home::new();
        assert_eq!(home.find(path), None, "{config}");
        init(&home, git_folder, config);
        assert!(home.find(path).is_some(), "{git_folder}: {config}");
        assert_eq!(home.find("other/file"), None, "{git_folder}: {config}");
    }
}

#[test]
fn a_repository_that_appears_later_is_noticed() {
    let home = Home::new();
    fs::create_dir_all(home.root.join("project/src")).unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    for folder in ["", "project"] {
        set_modified(&home.root.join(folder), old);
    }
    assert_eq!(home.find("hooks/x"), None);
    assert_eq!(home.find("hooks/x"), None, "from what is remembered");
    init(&home, "project/.git", "[core]\n\thooksPath = ../hooks\n");
    set_modified(&home.root.join("project"), old);
    assert_eq!(home.find("hooks/x"), Some(PlaceKind::GitCommand), "in a folder that is remembered");
    init(&home, "new/.git", "[core]\n\thooksPath = ../tools\n");
    assert_eq!(home.find("tools/x"), Some(PlaceKind::GitCommand), "in a new folder");
}

#[test]
fn many_new_folders_do_not_hide_a_repository() {
    let home = Home::new();
    init(&home, "zzz/.git", "[core]\n\thooksPath = ../hooks\n");
    for number in 0..3_000 {
        fs::create_dir(home.root.join(format!("a{number}"))).unwrap();
    }
    assert_eq!(home.find("hooks/x"), Some(PlaceKind::GitCommand));
    assert_eq!(home.find("other/x"), None);
}

#[test]
fn a_search_that_is_cut_short_asks() {
    for (listings, entries) in [(20, 1_000), (1_000, 20)] {
        let mut home = Home::new();
        home.places.neighbours = Neighbours::with_limits(neighbours::SearchLimits { listings, entries });
        assert_eq!(home.find("deep/f"), None);
        for number in 0..30 {
            fs::create_dir_all(home.root.join(format!("deep/many{number}/inner"))).unwrap();
        }
        assert_eq!(home.find("deep/f"), Some(PlaceKind::SearchCutShort));
        assert!(home.places.neighbours.listed() <= listings + 3, "with what the first search listed");
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
        set_modified(&home.root.join("deep"), old);
        for _ in 0..2 {
            assert_eq!(home.find("deep/f"), Some(PlaceKind::SearchCutShort), "also from what is remembered");
        }
    }
}

#[test]
fn more_configuration_than_is_read_asks() {
    let home = Home::new();
    let included: String = (0..300).map(|number| format!("path = ROOT/inc{number}\n")).collect();
    home.configure(&format!("[include]\n{included}"));
    assert_eq!(home.find("a.txt"), Some(PlaceKind::SearchCutShort), "too many files");
    home.configure("");
    assert_eq!(home.find("a.txt"), None);
    home.configure(&format!(
        "{}\n[core]\n\thooksPath = ROOT/hooks\n",
        format!("# {}\n", "x".repeat(1_000)).repeat(5_000)
    ));
    assert_eq!(home.find("hooks/x"), Some(PlaceKind::SearchCutShort), "too large a file");
}

#[test]
fn commands_are_understood_as_a_shell_does() {
    for (setting, path) in [
        ("[filter \"x\"]\nclean = 'my tools/clean.sh' %f", "my tools/clean.sh"),
        ("[filter \"x\"]\nclean = sh plain.sh", "plain.sh"),
        ("[filter \"x\"]\nclean = $(git rev-parse --show-toplevel)/tools/z.sh", "tools/z.sh"),
        ("[filter \"x\"]\nclean = \"x=$(tools/w.sh); echo\"", "tools/w.sh"),
        ("[filter \"x\"]\nclean = (tools/v.sh)", "tools/v.sh"),
        ("[filter \"x\"]\nclean = `tools/t.sh`", "tools/t.sh"),
        ("[filter \"x\"]\nclean = sh -c 'cd tools; sh u.sh'", "tools/u.sh"),
        ("[diff]\nexternal = tools/d.sh<x", "tools/d.sh"),
        ("[core]\nsshCommand = tools/a\\\\ b.sh", "tools/a b.sh"),
        ("[core]\neditor = \\\"my tools/ed.sh\\\"", "my tools/ed.sh"),
        ("[core]\neditor = $HOME/root/ed.sh", "deep/root/ed.sh"),
        ("[alias]\nq = \"!cd tools && ./q.sh\"", "tools/q.sh"),
        ("[alias]\nq = \"!f() { sh \\\"$1\\\" run.sh; }; f\"", "deep/run.sh"),
    ] {
        let home = Home::new();
        init(&home, ".git", &format!("{setting}\n"));
        assert_eq!(home.find(path), Some(PlaceKind::GitCommand), "{setting}");
        assert_eq!(home.find("src/main.rs"), None, "{setting}");
    }
    let home = Home::new();
    init(&home, ".git", "[alias]\nq = \"!cd tools && ./q.sh\"\n");
    assert_eq!(home.find("deep/q.sh"), None, "the folder is known");
    let home = Home::new();
    init(&home, ".git", "[alias]\nst = status -sb main\n[core]\npager = less\n");
    for free in ["status", "main", "less"] {
        assert_eq!(home.find(free), None, "{free}");
    }
}

/// What people have in their settings must not make ordinary names a question.
#[test]
fn ordinary_commands_protect_no_ordinary_names() {
    let home = Home::new();
    let config = r#"
[credential "https://github.com"]
	helper =
	helper = !/usr/bin/gh auth git-credential
[credential]
	helper = store --file=secrets
	helper = "!f() { echo username=me; echo \"password=$TOKEN\"; }; f"
[filter "lfs"]
	clean = git-lfs clean -- %f
	smudge = git-lfs smudge -- %f
	process = git-lfs filter-process
[alias]
	lg = log --graph --pretty=format:'%h *%d %s' main
	new = "!f() { git checkout -b \"$1\" main; }; f"
	gone = "!git branch --merged | grep -v '\\*\\|main\\|test' | xargs -n 1 git branch -d"
	t = !cargo test
[core]
	editor = code --wait
	pager = delta --dark
"#;
    init(&home, ".git", config);
    for name in
        ["auth", "secrets", "clean", "smudge", "test", "log", "main", "branch", "password", "f", "checkout"]
    {
        fs::create_dir_all(home.root.join("src").join(name)).unwrap();
        assert_eq!(home.find(name), None, "{name}");
        assert_eq!(home.find(&format!("{name}/a.rs")), None, "{name}");
        assert_eq!(home.find(&format!("src/{name}")), None, "{name}");
    }
    // One program that is not known, and all words count.
    init(
        &home,
        ".git",
        "[alias]\nx = !cat run | sh\n[credential]\nhelper = \"!f() { sh \\\"$1\\\" auth; }; f\"\n",
    );
    for name in ["run", "auth", "src/auth"] {
        assert_eq!(home.find(name), Some(PlaceKind::GitCommand), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_hard_link_leads_to_the_same_place() {
    let home = Home::new();
    init(&home, "project/.git", "[core]\n\thooksPath = ../tools\n");
    for (place, kind) in [
        ("project/.git/hooks/pre-commit", PlaceKind::GitRepository),
        ("tools/pre-push", PlaceKind::GitCommand),
    ] {
        let link = home.root.join("plain");
        let _ = fs::remove_file(&link);
        fs::create_dir_all(home.root.join(place).parent().unwrap()).unwrap();
        fs::write(home.root.join(place), "#!/bin/sh\n").unwrap();
        assert_eq!(home.find("plain"), None);
        fs::hard_link(home.root.join(place), &link).unwrap();
        assert_eq!(home.find("plain"), Some(kind), "{place}");
    }
    fs::write(home.root.join(".env"), "KEY=1\n").unwrap();
    fs::hard_link(home.root.join(".env"), home.root.join("notes.txt")).unwrap();
    let path = FilePath::from_record("notes.txt").unwrap();
    let touched = TouchedPath {
        real: &path,
        id: file_id(&home.root.join("notes.txt")),
        has_one_name: false,
        remains: true,
    };
    assert_eq!(home.places.find(&[touched])[0].other_paths, [FilePath::from_record(".env").unwrap()]);
}

#[test]
fn settings_of_the_environment_apply() {
    let mut home = Home::new();
    init(&home, ".git", "");
    assert_eq!(home.find("hooks/x"), None);
    let setting = |section: &str, key: &str, value: String| crate::git::config::Setting {
        section: section.into(),
        subsection: String::new(),
        key: key.into(),
        value,
    };
    let included = home.root.join("more.inc").display().to_string();
    let settings = vec![setting("core", "hookspath", "hooks".into()), setting("include", "path", included)];
    home.places.git = GitPlaces::new(Vec::new(), settings);
    assert_eq!(home.find("hooks/x"), Some(PlaceKind::GitCommand));
    assert_eq!(home.find("more.inc"), Some(PlaceKind::GitConfiguration));
}

#[test]
fn a_root_inside_a_repository_is_protected() {
    for (git_folder, root) in [("mirror.git", "mirror.git/hooks"), ("project/.git", "project/.git/info")] {
        let mut home = Home::new();
        init(&home, git_folder, "");
        home.root = home.root.join(root);
        fs::create_dir(&home.root).unwrap();
        home.places.roots = vec![home.root.clone()];
        assert_eq!(home.find("post-receive"), Some(PlaceKind::GitRepository), "{root}");
    }
    let mut home = Home::new();
    init(&home, "mirror.git", "");
    init(&home, "mirror.git/main/.git", "");
    home.root = home.root.join("mirror.git/main");
    home.places.roots = vec![home.root.clone()];
    assert_eq!(home.find("src/a.rs"), None, "a work tree in the folder of a bare repository");
}

#[test]
fn work_trees_of_one_git_folder_are_told_apart() {
    let home = Home::new();
    init(&home, "store", "[core]\n\thooksPath = hooks\n");
    for tree in ["one", "two"] {
        fs::create_dir(home.root.join(tree)).unwrap();
        let pointer = format!("gitdir: {}\n", home.root.join("store").display());
        fs::write(home.root.join(tree).join(".git"), pointer).unwrap();
    }
    for tree in ["one", "two", "one"] {
        assert_eq!(home.find(&format!("{tree}/hooks/x")), Some(PlaceKind::GitCommand), "{tree}");
    }
}

#[test]
fn hard_links_to_files_of_the_state_folder_are_recognised_as_soon_as_they_exist() {
    let home = Home::new();
    let state = home.folder.path().join("state");
    fs::create_dir(&state).unwrap();
    fs::write(home.root.join("plain"), "").unwrap();
    assert_eq!(home.find("plain"), None);
    // Until what the folder contains is remembered.
    std::thread::sleep(std::time::Duration::from_millis(60));
    assert_eq!(home.find("plain"), None);
    assert_eq!(home.find("plain"), None, "from what is remembered");
    fs::write(state.join("journal.db"), "").unwrap();
    fs::hard_link(state.join("journal.db"), home.root.join("link")).unwrap();
    assert_eq!(home.find("link"), Some(PlaceKind::State));
    assert_eq!(home.find("plain"), None);
}

#[test]
fn files_of_one_call_are_judged_alike_whether_they_share_folders_or_not() {
    let home = Home::new();
    init(&home, "project/.git", "[core]\n\thooksPath = ../hooks\n");
    let paths = ["hooks/a", "hooks/b", "other/c", "project/src/d", "project/.git/config", "hooks/deep/e"];
    let paths = paths.map(|path| FilePath::from_record(path).unwrap());
    let touched = paths.iter().map(|real| TouchedPath { real, id: None, has_one_name: false, remains: true });
    let together = home.places.find(&touched.collect::<Vec<_>>());
    let together: Vec<_> = together.into_iter().map(|found| found.kind).collect();
    let alone: Vec<_> = paths.iter().map(|path| home.find(path.as_str())).collect();
    assert_eq!(together, alone);
    assert_eq!(together[1], Some(PlaceKind::GitCommand));
    assert_eq!(together[4], Some(PlaceKind::GitRepository));
}

#[test]
fn the_repository_that_the_environment_names_is_protected_with_what_it_runs() {
    let mut home = Home::new();
    let store = home.root.join("store");
    fs::create_dir(&store).unwrap();
    fs::write(store.join("config"), "[core]\n\thooksPath = hooks\n\tfsmonitor = ./watch.sh\n").unwrap();
    assert_eq!((home.find("store/config"), home.find("hooks/pre-commit")), (None, None));
    let named = Repository::with_folders(home.root.clone(), store, None);
    home.places.git = GitPlaces::new(Vec::new(), Vec::new()).with_repository(named);
    assert_eq!(home.find("store/config"), Some(PlaceKind::GitRepository));
    assert_eq!(home.find("hooks/pre-commit"), Some(PlaceKind::GitCommand));
    assert_eq!(home.find("watch.sh"), Some(PlaceKind::GitCommand));
    assert_eq!(home.find("other.sh"), None);
}

#[test]
fn the_command_in_an_ext_url_is_protected() {
    for setting in [
        "[remote \"o\"]\n\turl = ",
        "[remote \"o\"]\n\tpushUrl = ",
        "[submodule \"lib\"]\n\turl = ",
        "[branch \"main\"]\n\tremote = ",
        "[remote]\n\tpushDefault = ",
    ] {
        let home = Home::new();
        init(
            &home,
            ".git",
            &format!("{setting}\"ext::./connect.sh %S\"\n[remote \"p\"]\n\turl = ../other.sh\n"),
        );
        assert_eq!(home.find("connect.sh"), Some(PlaceKind::GitCommand), "{setting}");
        assert_eq!(home.find("other.sh"), None, "{setting}");
    }
    let home = Home::new();
    init(
        &home,
        ".git",
        "[url \"ext::sh connect.sh %S\"]\n\tinsteadOf = here:\n[url \"tools/\"]\n\tinsteadOf = t:\n",
    );
    assert_eq!(home.find("connect.sh"), Some(PlaceKind::GitCommand));
    assert_eq!(home.find("tools/x"), None);
}

#[test]
fn files_that_git_trusts_are_protected() {
    let home = Home::new();
    init(
        &home,
        ".git",
        "[gpg \"ssh\"]\n\tallowedSignersFile = signers\n[http \"https://x\"]\n\tsslCAInfo = ca.crt\n[annex]\n\tfreezecontent-command = ./freeze %path\n[remote \"r\"]\n\tannex-start-command = ./start\n",
    );
    for name in ["signers", "ca.crt"] {
        assert_eq!(home.find(name), Some(PlaceKind::GitConfiguration), "{name}");
    }
    for name in ["freeze", "start"] {
        assert_eq!(home.find(name), Some(PlaceKind::GitCommand), "{name}");
    }
}

#[test]
fn a_missing_place_is_protected_in_every_spelling() {
    let home = Home::new();
    init(&home, ".git", "[core]\n\thooksPath = tools/hooks\n");
    assert_eq!(
        home.find("Tools/HOOKS/pre-commit"),
        Some(PlaceKind::GitCommand),
        "some file systems ignore case"
    );
    assert_eq!(home.find("tools/hook/pre-commit"), None);
}
