//! Two files, a patch for both, and the program run there, traced and disturbed as a test wants it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Once;

const PATCH: &str =
    "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-1\n+ONE\n 2\n--- a/b\n+++ b/b\n@@ -1,2 +1,2 @@\n-1\n+ONE\n 2\n";

static BUILT: Once = Once::new();

/// A root with the files `a` and `b`; the patch is `../p`.
pub(crate) struct Rig {
    folder: tempfile::TempDir,
}

impl Rig {
    pub(crate) fn new() -> Self {
        BUILT.call_once(crate::program::build);
        let folder = tempfile::tempdir().unwrap();
        for name in ["root", "config/slipstitch"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let rig = Self { folder };
        for name in ["a", "b"] {
            fs::write(rig.at(name), "1\n2\n3\n").unwrap();
        }
        fs::write(rig.outside().join("p"), PATCH).unwrap();
        rig
    }

    /// The folder that the root is in.
    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.outside().join("root").join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    /// Both files.
    pub(crate) fn both(&self) -> (String, String) {
        (self.text("a"), self.text("b"))
    }

    /// Everything that is in the root, by name.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.at("")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn add(&self, name: &str) {
        let text = self.text(name) + "foreign\n";
        fs::write(self.at(name), text).unwrap();
    }

    /// The program, traced and disturbed as the options say.
    pub(crate) fn command(&self, inject: &[&str], arguments: &[&str]) -> Command {
        let program = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("slipstitch");
        let mut command = match inject {
            [] => Command::new(program),
            _ => {
                let mut strace = Command::new("strace");
                strace.args(["-f", "-o", "/dev/null"]).args(inject).arg(program);
                strace
            }
        };
        command.current_dir(self.at("")).args(arguments);
        command.env("SLIPSTITCH_STATE_DIR", self.outside().join("state"));
        command.env("XDG_CONFIG_HOME", self.outside().join("config"));
        command
    }

    pub(crate) fn run(&self, inject: &[&str], arguments: &[&str]) -> Output {
        self.command(inject, arguments).output().unwrap()
    }

    pub(crate) fn said(&self, arguments: &[&str]) -> String {
        told(self.run(&[], arguments))
    }

    /// Kills the program when it is about to put the second file of a patch in its place.
    pub(crate) fn kill_half_way(&self) {
        self.run(&["-e", "inject=renameat2:signal=KILL:when=2"], &["patch", "../p"]);
        assert_eq!((self.text("a").as_str(), self.text("b").as_str()), ("ONE\n2\n3\n", "1\n2\n3\n"));
    }
}

/// All that the program said.
pub(crate) fn told(output: Output) -> String {
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}
