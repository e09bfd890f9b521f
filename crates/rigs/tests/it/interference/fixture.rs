//! A root with two files, a patch for both, and the program run there, optionally under `strace` with injected faults.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The content of both files.
pub(crate) const OLD: &str = "1\n2\n3\n";

/// Their content after [`EDIT`] or [`PATCH_BOTH`].
pub(crate) const NEW: &str = "ONE\n2\n3\n";

/// Arguments of an edit of `a`.
pub(crate) const EDIT: &[&str] = &["edit", "a", "--old", "1", "--new", "ONE"];

/// Arguments of a patch of both files.
pub(crate) const PATCH_BOTH: &[&str] = &["patch", "../p"];

/// Kills the program when it is about to put the second file of a patch into place.
pub(crate) const KILL_AT_SECOND_FILE: &[&str] = &["-e", "inject=renameat2:signal=KILL:when=2"];

/// What `slipstitch doctor` says about a change that it reverted.
pub(crate) const REVERTED: &str = "as they were before it";

const PATCH: &str =
    "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-1\n+ONE\n 2\n--- a/b\n+++ b/b\n@@ -1,2 +1,2 @@\n-1\n+ONE\n 2\n";

/// The folder `root` with the files `a` and `b`; the patch is `../p`.
pub(crate) struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        crate::support::program::build();
        let folder = tempfile::tempdir().unwrap();
        for name in ["root", "config/slipstitch"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let fixture = Self { folder };
        for name in ["a", "b"] {
            fs::write(fixture.path(name), OLD).unwrap();
        }
        fixture.write_patch(PATCH);
        fixture
    }

    /// A fixture in which a patch was killed after `a` and before `b` was written.
    pub(crate) fn killed_midway() -> Self {
        let fixture = Self::new();
        fixture.run(KILL_AT_SECOND_FILE, PATCH_BOTH);
        fixture.assert_files(NEW, OLD);
        fixture
    }

    /// The folder that contains the root.
    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }

    /// A path in the root.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.outside().join("root").join(name)
    }

    pub(crate) fn write_patch(&self, patch: &str) {
        fs::write(self.outside().join("p"), patch).unwrap();
    }

    pub(crate) fn write_config(&self, config: &str) {
        fs::write(self.outside().join("config/slipstitch/config.toml"), config).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The content of both files.
    pub(crate) fn read_both(&self) -> (String, String) {
        (self.read("a"), self.read("b"))
    }

    pub(crate) fn assert_files(&self, a: &str, b: &str) {
        assert_eq!(self.read_both(), (a.to_owned(), b.to_owned()));
    }

    /// The names of everything in the root, sorted.
    pub(crate) fn list(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Appends a line as another program would.
    pub(crate) fn append_foreign_line(&self, name: &str) {
        let text = self.read(name) + "foreign\n";
        fs::write(self.path(name), text).unwrap();
    }

    /// The program, under `strace` with these options if there are any.
    fn command(&self, strace_options: &[&str], args: &[&str]) -> Command {
        let program = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("slipstitch");
        let mut command = match strace_options {
            [] => Command::new(program),
            _ => {
                let mut strace = Command::new("strace");
                strace.args(["-f", "-o", "/dev/null"]).args(strace_options).arg(program);
                strace
            }
        };
        command.current_dir(self.path("")).args(args);
        command.env("SLIPSTITCH_STATE_DIR", self.outside().join("state"));
        command.env("XDG_CONFIG_HOME", self.outside().join("config"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts the program and does not wait for it.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        self.command(&[], args).spawn().unwrap()
    }

    /// The program under a wrapper, with its output in files.
    pub(crate) fn command_under(&self, wrapper: &[&str], args: &[&str]) -> Command {
        let program = self.command(&[], args);
        let mut command = Command::new(wrapper[0]);
        command.args(&wrapper[1..]).arg(program.get_program()).args(program.get_args());
        command
            .current_dir(self.path(""))
            .envs(program.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))));
        let create = |name: &str| fs::File::create(self.outside().join(name)).unwrap();
        command.stdin(Stdio::null()).stdout(create("stdout")).stderr(create("stderr"));
        command
    }

    /// What the program printed into files.
    pub(crate) fn printed(&self) -> String {
        let read = |name: &str| fs::read_to_string(self.outside().join(name)).unwrap();
        read("stdout") + &read("stderr")
    }

    pub(crate) fn run(&self, strace_options: &[&str], args: &[&str]) -> Output {
        self.command(strace_options, args).output().unwrap()
    }

    /// Runs the program without interference and returns what it prints.
    pub(crate) fn output_of(&self, args: &[&str]) -> String {
        text_of(self.run(&[], args))
    }
}

/// Everything that the program printed.
pub(crate) fn text_of(output: Output) -> String {
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}
