//! Everything that a file is beside its bytes, through every kind of change: kept, or refused with the reason.

mod actor;
mod traits;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::geteuid;
use tempfile::TempDir;

use crate::{Outcome, Protection, Scale, mount, program};
use actor::{Actor, Answer, Verb};
use traits::{Looks, SeenBy, TRAITS, Trait, twin_of};

/// The user without rights.
const NOBODY: u32 = 65534;

/// The file's bytes at the start.
const TEXT: &str = "one\nand more\n";

/// Tries every trait with every kind of change, as root and as a user without rights. With the protection off, a
/// temporary file is renamed over the old one and nothing is carried over.
pub fn run(_: Scale, protection: Protection) -> Outcome {
    let mut outcome = Outcome::default();
    if !geteuid().is_root() {
        outcome.skipped.push("only root can give files to others and set all attributes".into());
        return outcome;
    }
    let tools = match Tools::new() {
        Ok(tools) => tools,
        Err(why) => {
            outcome.fault(format!("the rig does not work: {why}"));
            return outcome;
        }
    };
    let mut actors = match protection {
        Protection::Off => vec![Actor::Naive],
        Protection::On => vec![Actor::Program { program: tools.program.clone(), user: None }],
    };
    if protection == Protection::On {
        match mount::run(Command::new("setpriv").arg("--version")) {
            Ok(()) => actors.push(Actor::Program { program: tools.program.clone(), user: Some(NOBODY) }),
            Err(why) => outcome.skipped.push(format!("no other user can be tried: {why}")),
        }
    }
    outcome.row("who | what | replace | append | overwrite | move | undo");
    for actor in &actors {
        matrix(actor, &mut outcome);
    }
    outcome
}

fn matrix(actor: &Actor, outcome: &mut Outcome) {
    let (mut kept, mut refused) = (0_u64, 0_u64);
    for having in TRAITS {
        let mut row = Vec::new();
        for verb in Verb::ALL {
            if matches!(actor, Actor::Program { user: Some(_), .. }) && having.seen_by == SeenBy::Root {
                row.push("not visible".into());
                continue;
            }
            match attempt(actor, having, verb) {
                Ok(Met::Kept) => {
                    kept += 1;
                    row.push("kept".into());
                }
                Ok(Met::Refused(code)) => {
                    refused += 1;
                    row.push(code);
                }
                Ok(Met::Unable(why)) => {
                    outcome.skipped.push(format!("{}: {why}", having.name));
                    row.push("not tried".into());
                }
                Ok(Met::Lost(what)) => {
                    outcome.fault(format!("{}, {}, {verb:?}: lost {what}", actor.name(), having.name));
                    row.push("LOST".into());
                }
                Err(why) => outcome.fault(format!("{}, {}, {verb:?}: {why}", actor.name(), having.name)),
            }
        }
        outcome.row(format!("{} | {} | {}", actor.name(), having.name, row.join(" | ")));
    }
    outcome.count(format!("{}: kept", actor.name()), kept);
    outcome.count(format!("{}: refused", actor.name()), refused);
}

/// What came of one cell of the matrix.
enum Met {
    Kept,
    Refused(String),
    Lost(String),
    Unable(String),
}

fn attempt(actor: &Actor, having: &Trait, verb: Verb) -> Result<Met, String> {
    let failed = |error: std::io::Error| error.to_string();
    let folder = lay_out(having, actor).map_err(failed)?;
    let file = folder.path().join("root/f");
    if let Err(error) = (having.give)(&file) {
        return Ok(Met::Unable(format!("this file system or machine cannot have it: {error}")));
    }
    let before = (Looks::of(&file).map_err(failed)?, inode(&file)?);
    let answer = actor.act(verb, folder.path())?;
    let (name, bytes) = match (&answer, verb) {
        (Answer::Done, Verb::Move) => (file.with_file_name("g"), verb.result(TEXT)),
        (Answer::Done, _) => (file.clone(), verb.result(TEXT)),
        (Answer::Refused(_), _) => (file.clone(), TEXT.to_owned()),
    };
    let after = fs::read_to_string(&name).map_err(|error| format!("`{}`: {error}", name.display()))?;
    if after != bytes {
        return Ok(Met::Lost(format!("the bytes: {after:?}")));
    }
    if verb == Verb::Move && matches!(answer, Answer::Done) && file.symlink_metadata().is_ok() {
        return Ok(Met::Lost("the move: the old name is still there".into()));
    }
    if let Some(lost) = before.0.lost(&Looks::of(&name).map_err(failed)?) {
        return Ok(Met::Lost(lost));
    }
    if let Some(lost) = twin_lost(having, &file, &name, &answer, before.1)? {
        return Ok(Met::Lost(lost));
    }
    Ok(match answer {
        Answer::Done => Met::Kept,
        Answer::Refused(code) => Met::Refused(code),
    })
}

/// Whether the other name of a file with two is as the policy says.
fn twin_lost(
    having: &Trait,
    file: &Path,
    name: &Path,
    answer: &Answer,
    before: u64,
) -> Result<Option<String>, String> {
    let twin = twin_of(file);
    if twin.symlink_metadata().is_err() {
        return Ok(None);
    }
    if inode(&twin)? != before {
        return Ok(Some("the other name: it is another file now".into()));
    }
    let together = inode(&twin)? == inode(name)?;
    let text = fs::read_to_string(&twin).map_err(|error| error.to_string())?;
    Ok(match (having.links, answer) {
        ("break", Answer::Done) if text != TEXT => Some("the other name's bytes, which a break keeps".into()),
        ("break", Answer::Done) => None,
        _ if !together => Some("the link to the other name".into()),
        _ => None,
    })
}

fn inode(file: &Path) -> Result<u64, String> {
    fs::metadata(file).map(|found| found.ino()).map_err(|error| format!("`{}`: {error}", file.display()))
}

/// A root with one file, which belongs to whoever is to change it.
fn lay_out(having: &Trait, actor: &Actor) -> std::io::Result<TempDir> {
    // On the disk: file systems in memory do not keep every attribute.
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("root");
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
    fs::create_dir(&root)?;
    fs::create_dir(folder.path().join("state"))?;
    fs::write(root.join("f"), TEXT)?;
    let config = format!("[editors]\nemacs = false\n[files]\nhard_links = \"{}\"\n", having.links);
    fs::write(folder.path().join("config.toml"), config)?;
    let rename = "diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n";
    fs::write(folder.path().join("move.diff"), rename)?;
    if let Actor::Program { user: Some(user), .. } = actor {
        for path in [root.clone(), root.join("f"), folder.path().join("state")] {
            chown(path, Some(*user), Some(*user))?;
        }
    }
    Ok(folder)
}

/// The program where every user can run it.
struct Tools {
    program: PathBuf,
    _folder: TempDir,
}

impl Tools {
    fn new() -> Result<Self, String> {
        let found = program::find("slipstitch")?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let program = folder.path().join("slipstitch");
        let open = |path: &Path| fs::set_permissions(path, Permissions::from_mode(0o755));
        fs::copy(found, &program).and_then(|_| open(&program)).map_err(|error| error.to_string())?;
        open(folder.path()).map_err(|error| error.to_string())?;
        Ok(Self { program, _folder: folder })
    }
}
