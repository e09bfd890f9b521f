//! Queries and updates the running Emacs servers.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use slipstitch_core::cancel::CancelToken;
use slipstitch_platform::process::RunningProgram;

use crate::auto_save::{self, OpenFile};
use crate::lisp;
use crate::locations::{Found, Server, ServerLocations};
use crate::lock_file::{self, LockState, RealFolders};
use crate::protocol::{self, AskError};
use crate::running;

/// The Emacs servers of this user.
///
/// All of them are asked at the same time. One that does not answer in time does not block an edit: the answer says so, and the
/// lock files show whether the file has unsaved changes there.
#[derive(Debug, Clone)]
pub struct Emacs {
    server: Option<String>,
    locations: ServerLocations,
    timeout: Duration,
    /// The processes that an answer has already counted as impossible to ask. Once is enough.
    reported: Arc<Mutex<HashSet<i32>>>,
}

/// A server as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerStatus {
    /// How messages name it.
    pub name: String,
    /// Its socket or server file; for an Emacs without a server, its working folder.
    pub path: String,
    /// Whether it answered.
    pub state: ServerState,
}

/// Whether a server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerState {
    /// It did.
    Answered {
        /// Its version.
        version: String,
        /// The number of files that it has open.
        open: usize,
        /// How many of them have unsaved changes.
        unsaved: usize,
    },
    /// Nobody listens: a server that ended left its socket or file behind.
    NotRunning,
    /// It did not answer in time.
    Silent,
    /// It cannot be asked, and why.
    Failed(String),
    /// A running Emacs has no server that could be asked.
    NoServer,
}

/// Who has unsaved changes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnsavedChanges {
    /// The index of the file in the list that was asked about.
    pub(crate) file: usize,
    pub(crate) editor: String,
    /// What shows it, if the editor could not be asked: "the lock file `.#name`".
    pub(crate) evidence: Option<String>,
}

/// What is known about buffers before a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    pub(crate) unsaved: Option<UnsavedChanges>,
    /// Whether there is a server to tell about the change. One that starts in the moment until then reads the new text, or
    /// notices by itself that the file has changed.
    pub(crate) has_servers: bool,
    /// The servers that did not answer in time.
    pub(crate) silent: Vec<Server>,
    /// The processes that the warnings count as impossible to ask, because nothing shows whether they have a file open.
    pub(crate) unasked: Vec<i32>,
    pub(crate) warnings: Vec<String>,
}

/// Files, by their absolute names and as messages name them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Files {
    pub(crate) names: Vec<String>,
    pub(crate) shown: Vec<String>,
}

/// What a change did to files that may be open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// The files that exist after it. Those that were moved come first, under their new names.
    pub(crate) remaining: Files,
    /// The old names of moved files.
    pub(crate) moved: Files,
    pub(crate) deleted: Files,
}

impl Effects {
    /// The new names of moved files.
    fn targets(&self) -> impl Iterator<Item = String> {
        self.remaining.names.iter().take(self.moved.names.len()).cloned()
    }
}

impl Emacs {
    /// Time limit for the servers to answer, before and after a change.
    pub const TIMEOUT: Duration = Duration::from_secs(2);

    /// The servers in these locations. `server` is the name of one more, or the path of its socket or server file.
    pub fn new(server: Option<String>, locations: ServerLocations) -> Self {
        Self { server, locations, timeout: Self::TIMEOUT, reported: Arc::default() }
    }

    /// Sets the time limit for the servers to answer.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Every server that was found, and whether it answers.
    pub fn servers(&self) -> Vec<ServerStatus> {
        let Found { servers, without_server } = self.search();
        let answers = self.ask(servers, lisp::status());
        let status = |(server, answer): (Server, Result<String, AskError>)| ServerStatus {
            name: server.describe(),
            path: server.path.display().to_string(),
            state: match answer.map(|answer| parse_status(&answer)) {
                Ok(Some(state)) => state,
                Ok(None) => ServerState::Failed("its answer cannot be parsed".into()),
                Err(AskError::NotRunning) => ServerState::NotRunning,
                Err(AskError::Silent) => ServerState::Silent,
                Err(AskError::Failed(reason)) => ServerState::Failed(reason),
            },
        };
        let unasked = without_server.into_iter().map(|program| ServerStatus {
            name: running::describe(&program),
            path: program.folder.as_deref().unwrap_or(Path::new("")).display().to_string(),
            state: match program.ports.is_empty() {
                true => ServerState::NoServer,
                false => ServerState::Failed(format!(
                    "it {}; {}",
                    running::explain_silence(&program),
                    running::remedy(&program)
                )),
            },
        });
        answers.into_iter().map(status).chain(unasked).collect()
    }

    fn search(&self) -> Found {
        self.locations.search(self.server.as_deref())
    }

    /// Finds out whether one of the files has unsaved changes, from the servers and from lock files. `shown` has the files' names
    /// for messages. A cancelled call asks no server.
    pub(crate) fn survey(&self, names: &[String], shown: &[String], cancel: &CancelToken) -> Survey {
        let Found { servers, without_server } = self.search();
        let mut folders = RealFolders::default();
        let real: Vec<Option<PathBuf>> =
            names.iter().map(|name| folders.real_path(Path::new(name))).collect();
        let lists = self.locations.auto_save_lists();
        let listed = |program: &RunningProgram| auto_save::find_listed(program.pid, &lists, &real);
        let seems_open = |program: &RunningProgram| {
            real.iter().flatten().any(|file| running::seems_to_have_open(program, file))
                || !listed(program).is_empty()
        };
        // What another Emacs does elsewhere is not worth a word.
        let is_relevant = |server: &Server| server.program.as_ref().is_none_or(seems_open);
        let mut survey = Survey { has_servers: !servers.is_empty(), ..Survey::default() };
        let answers = match survey.has_servers && cancel.may_take_long() {
            true => self.ask(servers, &lisp::find_unsaved(names)),
            false => Vec::new(),
        };
        for (server, answer) in answers {
            match answer {
                Ok(answer) => match answer.trim().parse::<usize>() {
                    Ok(file) if file < names.len() => {
                        let editor = server.describe();
                        survey.unsaved = Some(UnsavedChanges { file, editor, evidence: None });
                        return survey;
                    }
                    _ => {}
                },
                Err(AskError::NotRunning) => {}
                Err(AskError::Silent | AskError::Failed(_)) if !is_relevant(&server) => {
                    survey.silent.push(server)
                }
                Err(AskError::Silent) => {
                    let limit = self.timeout.as_secs_f32();
                    survey.warnings.push(format!(
                        "{} did not answer within {limit} s; if it has {} open, its buffer may have unsaved changes \
                         and show the old text; if it still does when Emacs is free again, reload it there (M-x revert-buffer)",
                        server.describe(),
                        describe_files(shown)
                    ));
                    survey.silent.push(server);
                }
                Err(AskError::Failed(reason)) => survey.warnings.push(format!(
                    "{} could not be asked whether it has {} open: {reason}",
                    server.describe(),
                    describe_files(shown)
                )),
            }
        }
        let silent = survey.silent.iter().filter_map(|server| server.program.as_ref());
        survey.unsaved = without_server.iter().chain(silent).find_map(|program| {
            listed(program).into_iter().find_map(|OpenFile { file, auto_save }| {
                let evidence = Some(format!("the auto-save file `{}`", auto_save?));
                Some(UnsavedChanges { file, editor: running::describe(program), evidence })
            })
        });
        if survey.unsaved.is_some() {
            return survey;
        }
        let (here, elsewhere): (Vec<&RunningProgram>, Vec<_>) =
            without_server.iter().partition(|program| seems_open(program));
        for program in here {
            survey.warnings.push(format!(
                "{} {}, so it could not be asked; if it has {} open, its buffer may have unsaved changes or show the old text ({})",
                running::describe(program),
                running::explain_silence(program),
                describe_files(shown),
                running::remedy(program)
            ));
        }
        self.report_unasked(&elsewhere, &mut survey);
        // After the servers: a lock that appears meanwhile counts.
        for (file, path) in real.iter().enumerate() {
            if let Some(path) = path {
                self.check_lock(file, path, &mut survey);
            }
            if survey.unsaved.is_some() {
                break;
            }
        }
        survey
    }

    /// Says that there are Emacs processes that might have any file open, unless an answer has already said so.
    fn report_unasked(&self, programs: &[&RunningProgram], survey: &mut Survey) {
        let home = self.locations.home.as_deref();
        let reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let unasked: Vec<&&RunningProgram> = programs
            .iter()
            .filter(|program| {
                running::may_have_anything_open(program, home) && !reported.contains(&program.pid)
            })
            .collect();
        survey.warnings.push(match unasked[..] {
            [] => return,
            [one] => format!(
                "{} {}, so open buffers could not be checked there ({})",
                running::describe(one),
                running::explain_silence(one),
                running::remedy(one)
            ),
            ref several => format!(
                "{} Emacs processes could not be asked about open buffers (`slipstitch doctor` shows why)",
                several.len()
            ),
        });
        survey.unasked = unasked.iter().map(|program| program.pid).collect();
    }

    /// Remembers that an answer has said that these processes could not be asked.
    pub(crate) fn mark_reported(&self, processes: &[i32]) {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner).extend(processes);
    }

    fn check_lock(&self, file: usize, path: &Path, survey: &mut Survey) {
        match lock_file::find(path) {
            Some(lock) if lock.state == LockState::Stale => survey.warnings.push(format!(
                "ignored the stale lock file `{}`: {} is no longer running",
                lock.name,
                lock.describe_owner()
            )),
            Some(lock) => {
                let editor = lock.describe_owner();
                let evidence = Some(format!("the lock file `{}`", lock.name));
                survey.unsaved = Some(UnsavedChanges { file, editor, evidence });
            }
            None => {}
        }
        if let Some(name) = auto_save::find_newer(path) {
            survey.warnings.push(format!(
                "the auto-save file `{name}` is newer than the file: it has unsaved changes from an Emacs that crashed or did \
                 not answer"
            ));
        }
    }

    /// Brings the buffers up to date after a change: reloads them, except those with unsaved changes, and renames those of moved
    /// files. Returns warnings about buffers for which that was not possible. The servers in `silent` get the request too, but
    /// are not waited for.
    pub(crate) fn follow(&self, effects: &Effects, silent: &[Server]) -> Vec<String> {
        let Effects { remaining, moved, deleted } = effects;
        if remaining.names.is_empty() && deleted.names.is_empty() {
            return Vec::new();
        }
        let moves: Vec<(String, String)> = moved.names.iter().cloned().zip(effects.targets()).collect();
        let expression = lisp::follow(&remaining.names, &moves, &deleted.names);
        let (silent, others): (Vec<Server>, Vec<Server>) =
            self.search().servers.into_iter().partition(|server| silent.contains(server));
        for server in silent {
            // The answer already says that this one was not asked.
            let _ = protocol::evaluate_later(&server, &expression, Instant::now() + self.timeout);
        }
        let mut warnings = Vec::new();
        for (server, answer) in self.ask(others, &expression) {
            let editor = server.describe();
            match answer {
                Ok(answer) => warnings.extend(
                    parse_problems(&answer)
                        .into_iter()
                        .map(|(file, why)| why.describe(&editor, file, effects)),
                ),
                // It was asked before the change, and had nothing unsaved.
                Err(AskError::Silent) => warnings.push(format!(
                    "{editor} did not confirm in time that it reloaded {}",
                    describe_files(if remaining.shown.is_empty() {
                        &deleted.shown
                    } else {
                        &remaining.shown
                    })
                )),
                // Said before the change.
                Err(AskError::NotRunning | AskError::Failed(_)) => {}
            }
        }
        warnings
    }

    /// Asks servers at the same time, so that one that does not answer costs no other its time.
    fn ask(&self, servers: Vec<Server>, expression: &str) -> Vec<(Server, Result<String, AskError>)> {
        let deadline = Instant::now() + self.timeout;
        let answers: Vec<Result<String, AskError>> = match &servers[..] {
            [one] => vec![protocol::evaluate(one, expression, deadline)],
            several => thread::scope(|scope| {
                let ask = |server| scope.spawn(move || protocol::evaluate(server, expression, deadline));
                let waiting: Vec<_> = several.iter().map(ask).collect();
                let failed = |_| Err(AskError::Failed("asking it failed".into()));
                waiting.into_iter().map(|thread| thread.join().unwrap_or_else(failed)).collect()
            }),
        };
        servers.into_iter().zip(answers).collect()
    }
}

impl Default for Emacs {
    /// The servers in the locations that the environment says.
    fn default() -> Self {
        Self::new(None, ServerLocations::of_process())
    }
}

fn describe_files(shown: &[String]) -> String {
    match shown {
        [one] => format!("`{one}`"),
        several => format!("one of {} files", several.len()),
    }
}

/// Parses `"VERSION OPEN UNSAVED"`.
fn parse_status(answer: &str) -> Option<ServerState> {
    let mut words = answer.split(['"', ' ', '\n']).filter(|word| !word.is_empty());
    let version = words.next()?.to_owned();
    let (open, unsaved) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some(ServerState::Answered { version, open, unsaved })
}

/// Why a buffer is not up to date after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    Unsaved,
    Failed,
    Deleted,
    NotRenamed,
}

impl Problem {
    fn describe(self, editor: &str, file: usize, effects: &Effects) -> String {
        let name = |files: &Files| files.shown.get(file).cloned().unwrap_or_else(|| "a file".into());
        match self {
            Self::Unsaved => format!(
                "{editor} did not reload `{}`: it has unsaved changes since the edit began",
                name(&effects.remaining)
            ),
            Self::Failed => {
                format!("{editor} did not reload `{}`: reverting the buffer failed", name(&effects.remaining))
            }
            Self::Deleted => format!(
                "{editor} still has the deleted file `{}` open; saving that buffer creates the file again",
                name(&effects.deleted)
            ),
            Self::NotRenamed => format!(
                "{editor} still has `{0}` open under its old name; saving that buffer creates `{0}` again",
                name(&effects.moved)
            ),
        }
    }
}

/// Parses `((INDEX . WHY) …)`.
fn parse_problems(answer: &str) -> Vec<(usize, Problem)> {
    let words: Vec<&str> = answer.split(['(', ')', ' ', '\n', '.']).filter(|word| !word.is_empty()).collect();
    let parse = |pair: &[&str]| {
        let why = match *pair.get(1)? {
            "unsaved" => Problem::Unsaved,
            "deleted" => Problem::Deleted,
            "renaming" => Problem::NotRenamed,
            _ => Problem::Failed,
        };
        Some((pair.first()?.parse().ok()?, why))
    };
    words.chunks(2).filter_map(parse).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::locations::Processes;

    fn emacs(folder: &Path) -> Emacs {
        let locations = ServerLocations {
            names: Vec::new(),
            socket_folders: vec![folder.to_owned()],
            file_folders: Vec::new(),
            home: None,
            user: slipstitch_platform::process::user(),
            processes: Processes::Ignored,
        };
        Emacs::new(None, locations)
    }

    #[test]
    fn without_servers_and_locks_nothing_is_unsaved() {
        let folder = tempfile::tempdir().unwrap();
        let emacs = emacs(folder.path());
        assert_eq!(emacs.survey(&["/a".into()], &["a".into()], &CancelToken::default()), Survey::default());
        let remaining = Files { names: vec!["/a".into()], shown: vec!["a".into()] };
        assert_eq!(emacs.follow(&Effects { remaining, ..Effects::default() }, &[]), [""; 0]);
        assert_eq!(emacs.servers(), []);
    }

    #[test]
    fn a_silent_server_is_reported_and_does_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let _listener = UnixListener::bind(folder.path().join("busy")).unwrap();
        let emacs = emacs(folder.path()).timeout(Duration::from_millis(20));
        let survey = emacs.survey(&["/a".into()], &["a".into()], &CancelToken::default());
        assert_eq!((survey.unsaved, survey.silent.len()), (None, 1));
        assert!(
            survey.warnings[0].contains("(server `busy`) did not answer within 0.02 s; if it has `a` open")
        );
        assert!(survey.warnings[0].contains("may have unsaved changes"), "{}", survey.warnings[0]);
        assert_eq!(emacs.servers()[0].state, ServerState::Silent);
    }

    #[test]
    fn answers_are_parsed() {
        let answered = ServerState::Answered { version: "28.2".into(), open: 3, unsaved: 1 };
        assert_eq!(parse_status("\"28.2 3 1\"\n"), Some(answered));
        assert_eq!(parse_status("nil\n"), None);
        assert_eq!(parse_problems("nil\n"), []);
        let both = parse_problems("((2 . failed)\n (0 . unsaved))\n");
        assert_eq!(both, [(2, Problem::Failed), (0, Problem::Unsaved)]);
        let gone = parse_problems("((0 . renaming) (1 . deleted))\n");
        assert_eq!(gone, [(0, Problem::NotRenamed), (1, Problem::Deleted)]);
    }
}
