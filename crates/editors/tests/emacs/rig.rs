//! A folder to edit, and Emacs processes that have its files open.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use slipstitch::Workspace;
use slipstitch::core::engine::Answer;
use slipstitch_editors::{Emacs, Processes, ServerLocations};

/// How long a condition may take on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until a condition holds.
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "waited too long: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A folder with a root, a home and places for sockets.
pub(crate) struct Rig {
    folder: tempfile::TempDir,
    timeout: Duration,
    processes: Processes,
}

impl Rig {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["root", "home", "run"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        // Other tests run their own Emacs at the same time.
        let rig = Self { folder, timeout: PATIENCE, processes: Processes::Ignored };
        for (name, text) in files {
            fs::write(rig.path(name), text).unwrap();
        }
        rig
    }

    /// Sets how long an edit waits for Emacs.
    pub(crate) fn waiting(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Looks for servers among the running processes, too. Those of other tests may be stopped, so nobody waits long.
    pub(crate) fn searching_processes(self) -> Self {
        Self { processes: Processes::Searched, timeout: Duration::from_secs(10), ..self }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("root").join(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn file(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn emacs(&self) -> Emacs {
        self.emacs_with(None)
    }

    fn emacs_with(&self, server: Option<String>) -> Emacs {
        let places = ServerLocations {
            names: Vec::new(),
            socket_folders: vec![self.folder.path().join("run/emacs")],
            file_folders: vec![self.home().join(".emacs.d/server")],
            home: Some(self.home()),
            user: ServerLocations::of_process().user,
            processes: self.processes,
        };
        Emacs::new(server, places).timeout(self.timeout)
    }

    pub(crate) fn open(&self) -> Workspace {
        self.builder("").emacs(self.emacs()).open().unwrap()
    }

    /// A workspace with these settings, which asks the servers of this user.
    pub(crate) fn builder(&self, settings: &str) -> slipstitch::Builder {
        let config = self.folder.path().join("config.toml");
        fs::write(&config, settings).unwrap();
        Workspace::builder(self.folder.path().join("root"))
            .state_dir(self.folder.path().join("state"))
            .config(config)
    }

    pub(crate) fn edit(&self, name: &str, old: &str, new: &str) -> Answer {
        if self.processes == Processes::Searched {
            // The list of processes is used for half a second.
            std::thread::sleep(Duration::from_millis(500));
        }
        self.open().call("agent-q", "edit_file", json!({"path": name, "old_str": old, "new_str": new}))
    }

    /// Makes an edit with one more server configured, by the path of its socket or server file.
    pub(crate) fn edit_asking(&self, server: &Path, name: &str, old: &str, new: &str) -> Answer {
        let emacs = self.emacs_with(Some(server.display().to_string()));
        let workspace = self.builder("").emacs(emacs).open().unwrap();
        workspace.call("agent-q", "edit_file", json!({"path": name, "old_str": old, "new_str": new}))
    }

    /// Makes an edit that must succeed without a warning.
    pub(crate) fn edit_cleanly(&self, name: &str, old: &str, new: &str) {
        let answer = self.edit(name, old, new);
        assert!(answer.report.is_success() && answer.report.warnings.is_empty(), "{}", answer.text);
    }

    fn emacs_command(&self) -> Command {
        let mut command = Command::new("emacs");
        command
            .arg("--quick")
            .env("HOME", self.home())
            .env("XDG_RUNTIME_DIR", self.folder.path().join("run"))
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("EMACS_SOCKET_NAME")
            .env_remove("EMACS_SERVER_FILE")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Starts a server on a socket.
    pub(crate) fn daemon(&self, name: &str) -> Daemon<'_> {
        let mut command = self.emacs_command();
        command.arg(format!("--fg-daemon={name}"));
        let socket = self.folder.path().join("run/emacs").join(name);
        Daemon::start(self, command, "--socket-name", socket)
    }

    /// Starts a server on a socket in a folder that nobody else knows.
    pub(crate) fn hidden_daemon(&self, name: &str) -> Daemon<'_> {
        let folder = self.folder.path().join("hidden");
        fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
        let mut command = self.emacs_command();
        command
            .args(["--eval", &format!("(setq server-socket-dir {})", quoted(&folder))])
            .arg(format!("--fg-daemon={name}"));
        Daemon::start(self, command, "--socket-name", folder.join(name))
    }

    /// Starts a server on a TCP port, with its server file in an unusual folder, and changes a file in it without a lock file.
    pub(crate) fn hidden_tcp_emacs(&self, name: &str) -> Process {
        let folder = self.folder.path().join("hidden");
        fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
        let ready = self.folder.path().join("ready");
        let script = format!(
            "(progn (setq create-lockfiles nil server-use-tcp t server-auth-dir (file-name-as-directory {})) \
             (run-with-timer 0.1 nil (lambda () \
             (with-current-buffer (find-file-noselect {}) (insert \"mine\")) (write-region \"\" nil {}))))",
            quoted(&folder),
            quoted(&self.path(name)),
            quoted(&ready)
        );
        let mut command = self.emacs_command();
        command.current_dir(self.home()).args(["--eval", &script, "--fg-daemon=hidden"]);
        let process = Process::spawn(&mut command);
        wait_until("Emacs has changed the file and listens", || {
            ready.exists() && folder.join("hidden").exists()
        });
        process
    }

    /// Starts an Emacs in a folder that changes a file, leaves no lock file, and has no server.
    pub(crate) fn emacs_that_cannot_be_asked(&self, folder: &Path, name: &str) -> Process {
        let ready = self.folder.path().join("ready");
        let script = format!(
            "(run-with-timer 0.1 nil (lambda () (setq create-lockfiles nil) \
             (with-current-buffer (find-file-noselect {}) (insert \"mine\")) \
             (server-start t) (write-region \"\" nil {})))",
            quoted(&self.path(name)),
            quoted(&ready)
        );
        let mut command = self.emacs_command();
        command.current_dir(folder).args(["--eval", &script, "--fg-daemon=gone"]);
        let process = Process::spawn(&mut command);
        wait_until("Emacs has changed the file", || ready.exists());
        process
    }

    /// Starts an Emacs in a terminal that loads a script, without a server and without lock files. The script ends with `(ready)`.
    pub(crate) fn emacs_in_a_terminal(&self, script: &str) -> Terminal {
        let ready = self.folder.path().join("ready");
        let _ = fs::remove_file(&ready);
        let startup = self.home().join("startup.el");
        let text = format!(
            "(setq create-lockfiles nil inhibit-startup-screen t) \
             (defun ready () (write-region (number-to-string (emacs-pid)) nil {})) \
             (run-with-timer 0.1 nil (lambda () {script}))",
            quoted(&ready)
        );
        fs::write(&startup, text).unwrap();
        let emacs = format!("exec emacs -nw --quick --load {}", quoted(&startup));
        let mut command = Command::new("script");
        let process = Process::spawn(
            command
                .args(["--quiet", "--command", &emacs, "/dev/null"])
                .env("HOME", self.home())
                .env("TERM", "xterm")
                .env_remove("XDG_CONFIG_HOME")
                .current_dir(self.home())
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null()),
        );
        wait_until("Emacs has run the script", || {
            fs::read_to_string(&ready).is_ok_and(|pid| !pid.is_empty())
        });
        Terminal { emacs: fs::read_to_string(&ready).unwrap(), _script: process }
    }

    /// Starts a server on a TCP port.
    pub(crate) fn tcp_daemon(&self, name: &str) -> Daemon<'_> {
        let folder = self.home().join(".emacs.d/server");
        // Emacs refuses a folder that others can read.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).unwrap();
        let settings =
            format!("(setq server-use-tcp t server-auth-dir {}/)", quoted(&folder)).replace("\"/)", "/\")");
        let mut command = self.emacs_command();
        command.args(["--eval", &settings]).arg(format!("--fg-daemon={name}"));
        Daemon::start(self, command, "--server-file", folder.join(name))
    }

    /// Starts an Emacs without a server that changes a file and does not save it.
    pub(crate) fn emacs_without_server(&self, name: &str) -> Process {
        let ready = self.folder.path().join("ready");
        let script = format!(
            "(with-current-buffer (find-file-noselect {}) (insert \"mine\") \
             (write-region \"\" nil {}) (while t (sleep-for 1)))",
            quoted(&self.path(name)),
            quoted(&ready)
        );
        let process = Process::spawn(self.emacs_command().args(["--batch", "--eval", &script]));
        wait_until("Emacs has changed the file", || ready.exists());
        process
    }
}

/// A Lisp string.
fn quoted(path: &Path) -> String {
    Value::from(path.to_str().unwrap()).to_string()
}

/// A running program. Dropping it stops the program, also when a test fails.
pub(crate) struct Process(Child);

impl Process {
    fn spawn(command: &mut Command) -> Self {
        Self(command.spawn().expect("these tests need Emacs: apt-get install emacs-nox"))
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Sends a signal, such as `STOP`.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    /// Kills the program without giving it a chance to clean up.
    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An Emacs in a terminal.
pub(crate) struct Terminal {
    /// The number of the Emacs process.
    pub(crate) emacs: String,
    _script: Process,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Killed without a chance to write anything.
        let _ = Command::new("kill").args(["-s", "KILL", &self.emacs]).status();
    }
}

/// An Emacs server.
pub(crate) struct Daemon<'a> {
    rig: &'a Rig,
    pub(crate) process: Process,
    option: &'static str,
    pub(crate) address: PathBuf,
}

impl<'a> Daemon<'a> {
    fn start(rig: &'a Rig, mut command: Command, option: &'static str, address: PathBuf) -> Self {
        let daemon = Self { rig, process: Process::spawn(&mut command), option, address };
        wait_until("Emacs starts", || daemon.try_eval("t").is_some());
        daemon
    }

    /// Evaluates an expression through `emacsclient`, so that what Emacs has is seen by other means than ours.
    fn try_eval(&self, expression: &str) -> Option<String> {
        if !self.address.exists() {
            return None;
        }
        let done = Command::new("emacsclient")
            .arg(self.option)
            .arg(&self.address)
            .args(["--eval", expression])
            .env_remove("ALTERNATE_EDITOR")
            .output()
            .unwrap();
        done.status.success().then(|| String::from_utf8(done.stdout).unwrap().trim_end().to_owned())
    }

    pub(crate) fn eval(&self, expression: &str) -> String {
        self.try_eval(expression).unwrap_or_else(|| panic!("Emacs cannot evaluate {expression}"))
    }

    /// Evaluates an expression in the buffer that visits a file of the root, opening it if necessary.
    pub(crate) fn in_buffer(&self, name: &str, expression: &str) -> String {
        let file = quoted(&self.rig.path(name));
        self.eval(&format!("(with-current-buffer (find-file-noselect {file}) {expression})"))
    }

    /// The text of an open buffer, without touching the file.
    pub(crate) fn buffer(&self, name: &str) -> String {
        let file = quoted(&self.rig.path(name));
        let shown = self.eval(&format!(
            "(with-current-buffer (get-file-buffer {file}) (require 'json) \
             (json-encode (save-restriction (widen) (buffer-string))))"
        ));
        let printed: String = serde_json::from_str(&shown).unwrap();
        serde_json::from_str(&printed).unwrap()
    }

    /// Types text at the end of a file's buffer and does not save it.
    pub(crate) fn type_into(&self, name: &str) {
        self.in_buffer(name, "(progn (goto-char (point-max)) (insert \"mine\\n\"))");
    }
}
