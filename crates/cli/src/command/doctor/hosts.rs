//! Whether the agent hosts that have Slipstitch in their settings see it.

use std::path::Path;
use std::thread;
use std::time::Duration;

use slipstitch_install::{HOSTS, Health, Scope, ServerName, Target};

use super::{Findings, Grade};

/// How long all hosts together have to answer. Some start every server they know first.
const TIMEOUT: Duration = Duration::from_secs(20);

impl Findings {
    /// Asks each host whose settings have the server, all at once.
    pub(super) fn hosts(&mut self, root: &Path) {
        let scopes = [Scope::User, Scope::Project(root.to_owned())];
        let targets = HOSTS
            .iter()
            .flat_map(|host| scopes.clone().map(|scope| Target { host, scope, name: ServerName::default() }));
        let mut installed: Vec<Target> = Vec::new();
        for target in targets {
            let is_asked = installed.iter().any(|other| other.host.id == target.host.id);
            match target.is_installed() {
                Ok(true) if !is_asked => installed.push(target),
                Ok(_) => {}
                // It is in a project's settings only for hosts that have such a file.
                Err(slipstitch_install::Error::NoProjectFile { .. } | slipstitch_install::Error::NoHome) => {}
                Err(error) => self.add(target.host.name, Grade::Note, error.to_string()),
            }
        }
        let answers: Vec<(Target, Health)> = thread::scope(|scope| {
            let ask = |target: Target| scope.spawn(move || (target.ask_host(root, TIMEOUT), target));
            let asked: Vec<_> = installed.into_iter().map(ask).collect();
            asked
                .into_iter()
                .filter_map(|thread| thread.join().ok())
                .map(|(health, target)| (target, health))
                .collect()
        });
        for (target, health) in answers {
            let file = target.file().map(|file| file.display().to_string()).unwrap_or_default();
            let (grade, detail) = describe(&health);
            self.add(target.host.name, grade, format!("{detail} ({file})"));
        }
    }
}

fn describe(health: &Health) -> (Grade, String) {
    match health {
        Health::Connected => (Grade::Good, "is connected to the server".into()),
        Health::Listed => (Grade::Good, "lists the server; it does not say whether it works".into()),
        Health::Failed(words) => (Grade::Bad, format!("cannot use the server; it says: {words}")),
        Health::Missing => {
            (Grade::Bad, "does not list the server, although its settings have it; it may read other settings or not trust this folder".into())
        }
        Health::Silent => {
            (Grade::Note, format!("did not answer within {} seconds", TIMEOUT.as_secs()))
        }
        Health::Unknown(reason) => (Grade::Note, format!("has the server in its settings; {reason}")),
        _ => (Grade::Note, "gave an unknown answer".into()),
    }
}
