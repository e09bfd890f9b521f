//! File metadata through every kind of change: kept, or the change is refused with a reason.

mod cases;
mod editor;

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::geteuid;
use tempfile::TempDir;

use crate::{Findings, Protection, Scale, program};
use cases::{CASES, Case, Metadata, VisibleTo, second_name};
use editor::{Change, Editor, Response};

/// The uid and gid of an unprivileged user.
const NOBODY: u32 = 65534;

/// The initial content of the file.
const TEXT: &str = "one\nand more\n";

/// Tries every case with every kind of change, as root and as an unprivileged user. With the protection off, a temporary
/// file is renamed over the old one and nothing is carried over.
pub(crate) fn run(_: Scale, protection: Protection) -> Findings {
    let mut findings = Findings::default();
    if !geteuid().is_root() {
        findings.skipped.push("changing owners and setting all attributes needs root".into());
        return findings;
    }
    let program = match SharedProgram::new() {
        Ok(program) => program,
        Err(error) => return Findings::failed(format!("rig error: {error}")),
    };
    let slipstitch = |user| Editor::Slipstitch { program: program.path.clone(), user };
    let mut editors = match protection {
        Protection::Off => vec![Editor::RenameOver],
        Protection::On => vec![slipstitch(None)],
    };
    if protection == Protection::On {
        match program::run(Command::new("setpriv").arg("--version")) {
            Ok(()) => editors.push(slipstitch(Some(NOBODY))),
            Err(reason) => findings.skipped.push(format!("as an unprivileged user: {reason}")),
        }
    }
    findings.add_row("editor | metadata | replace | append | overwrite | move | undo | undo of a deletion");
    for editor in &editors {
        run_matrix(editor, &mut findings);
    }
    findings
}

fn run_matrix(editor: &Editor, findings: &mut Findings) {
    let (mut kept, mut refused) = (0_u64, 0_u64);
    for case in CASES {
        let mut row = Vec::new();
        for change in Change::ALL {
            if matches!(editor, Editor::Slipstitch { user: Some(_), .. })
                && case.visible_to == VisibleTo::Root
            {
                row.push("not visible".into());
                continue;
            }
            let place = format!("{}, {}, {change:?}", editor.name(), case.name);
            match try_change(editor, case, change) {
                Ok(Attempt::Kept) => {
                    kept += 1;
                    row.push("kept".into());
                }
                Ok(Attempt::Refused(code)) => {
                    refused += 1;
                    row.push(code);
                }
                Ok(Attempt::Unsupported(reason)) => {
                    findings.skipped.push(format!("{}: {reason}", case.name));
                    row.push("skipped".into());
                }
                Ok(Attempt::Lost(what)) => {
                    findings.fail(format!("{place}: lost {what}"));
                    row.push("LOST".into());
                }
                Err(error) => findings.fail(format!("{place}: {error}")),
            }
        }
        findings.add_row(format!("{} | {} | {}", editor.name(), case.name, row.join(" | ")));
    }
    findings.count(format!("{}: kept", editor.name()), kept);
    findings.count(format!("{}: refused", editor.name()), refused);
}

/// The result in one cell of the matrix.
enum Attempt {
    Kept,
    /// Refused with this code.
    Refused(String),
    /// What was lost.
    Lost(String),
    /// The machine cannot set this metadata, and why.
    Unsupported(String),
}

fn try_change(editor: &Editor, case: &Case, change: Change) -> Result<Attempt, String> {
    let failed = |error: std::io::Error| error.to_string();
    let folder = create_root(case, editor).map_err(failed)?;
    let file = folder.path().join("root/f");
    if let Err(error) = (case.apply)(&file) {
        return Ok(Attempt::Unsupported(format!("not supported here: {error}")));
    }
    let (before, inode) = (Metadata::read(&file).map_err(failed)?, read_inode(&file)?);
    let response = editor.make_change(change, folder.path())?;
    if let (Response::Refused(code), Change::UndoDeletion, Err(_)) =
        (&response, change, file.symlink_metadata())
    {
        // The deletion was made; its undo said what it cannot restore, and created nothing.
        let left = fs::read_dir(folder.path().join("root")).map_err(failed)?.flatten();
        let left: Vec<String> = left.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        return Ok(match left.iter().any(|name| name.starts_with(crate::TEMP_PREFIX)) {
            true => Attempt::Lost(format!("nothing, but it left {}", left.join(", "))),
            false => Attempt::Refused(code.clone()),
        });
    }
    let (path, expected) = match (&response, change) {
        (Response::Applied, Change::Move) => (file.with_file_name("g"), change.apply_to(TEXT)),
        (Response::Applied, _) => (file.clone(), change.apply_to(TEXT)),
        (Response::Refused(_), _) => (file.clone(), TEXT.to_owned()),
    };
    let content = fs::read_to_string(&path).map_err(|error| format!("`{}`: {error}", path.display()))?;
    if content != expected {
        return Ok(Attempt::Lost(format!("the content: {content:?}")));
    }
    if change == Change::Move && matches!(response, Response::Applied) && file.symlink_metadata().is_ok() {
        return Ok(Attempt::Lost("the move: the old name still exists".into()));
    }
    if let Some(lost) = before.first_loss(&Metadata::read(&path).map_err(failed)?) {
        return Ok(Attempt::Lost(lost));
    }
    if let Some(lost) = find_hard_link_loss(case, &file, &path, &response, inode)? {
        return Ok(Attempt::Lost(lost));
    }
    Ok(match response {
        Response::Applied => Attempt::Kept,
        Response::Refused(code) => Attempt::Refused(code),
    })
}

/// Checks that the second name of a hard-linked file is what the policy promises.
fn find_hard_link_loss(
    case: &Case,
    file: &Path,
    path: &Path,
    response: &Response,
    inode_before: u64,
) -> Result<Option<String>, String> {
    let second = second_name(file);
    if second.symlink_metadata().is_err() {
        return Ok(None);
    }
    if read_inode(&second)? != inode_before {
        return Ok(Some("the second name: it is a different file now".into()));
    }
    let is_linked = read_inode(&second)? == read_inode(path)?;
    let text = fs::read_to_string(&second).map_err(|error| error.to_string())?;
    Ok(match (case.hard_links, response) {
        ("break", Response::Applied) if text != TEXT => {
            Some("the content of the second name, which `break` keeps".into())
        }
        ("break", Response::Applied) => None,
        _ if !is_linked => Some("the hard link to the second name".into()),
        _ => None,
    })
}

fn read_inode(file: &Path) -> Result<u64, String> {
    fs::metadata(file).map(|found| found.ino()).map_err(|error| format!("`{}`: {error}", file.display()))
}

/// Creates a root with one file, owned by the user who will change it.
fn create_root(case: &Case, editor: &Editor) -> std::io::Result<TempDir> {
    // Not in memory: tmpfs does not support every attribute.
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("root");
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
    fs::create_dir(&root)?;
    DirBuilder::new().mode(0o700).create(folder.path().join("state"))?;
    fs::write(root.join("f"), TEXT)?;
    let config = format!("[editors]\nemacs = false\n[files]\nhard_links = \"{}\"\n", case.hard_links);
    fs::write(folder.path().join("config.toml"), config)?;
    let delete = "*** Begin Patch\n*** Delete File: f\n*** End Patch\n";
    fs::write(folder.path().join("delete.diff"), delete)?;
    let rename = "diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n";
    fs::write(folder.path().join("move.diff"), rename)?;
    if let Editor::Slipstitch { user: Some(user), .. } = editor {
        for path in [root.clone(), root.join("f"), folder.path().join("state")] {
            chown(path, Some(*user), Some(*user))?;
        }
    }
    Ok(folder)
}

/// A copy of `slipstitch` that every user can run.
struct SharedProgram {
    path: PathBuf,
    _folder: TempDir,
}

impl SharedProgram {
    fn new() -> Result<Self, String> {
        let original = program::find("slipstitch")?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = folder.path().join("slipstitch");
        let share = |path: &Path| fs::set_permissions(path, Permissions::from_mode(0o755));
        fs::copy(original, &path).and_then(|_| share(&path)).map_err(|error| error.to_string())?;
        share(folder.path()).map_err(|error| error.to_string())?;
        Ok(Self { path, _folder: folder })
    }
}
