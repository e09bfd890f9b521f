//! The operations that the `kill` and `errors` rigs interrupt, with the files they work on.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// One operation of the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    /// Name in reports.
    pub(crate) name: &'static str,
    /// Calls of `slipstitch` before the operation.
    pub(crate) setup: &'static [&'static [&'static str]],
    /// Arguments of the operation; `{patch}` stands for the path of a file with `patch`.
    pub(crate) args: &'static [&'static str],
    /// A patch for the calls to use.
    pub(crate) patch: &'static str,
    /// Arguments of the call that reverts the operation.
    pub(crate) inverse: &'static [&'static str],
    /// Content of the configuration file.
    pub(crate) config: &'static str,
    /// A file in addition to [`FILES`].
    pub(crate) extra: ExtraFile,
    /// How the operation writes its files.
    pub(crate) writes: WriteStrategy,
    /// The same operation for an editor without protection; empty if such an editor cannot do it.
    pub(crate) naive: &'static [Replacement],
}

/// A file, an old text in it, and the new text.
pub(crate) type Replacement = [&'static str; 3];

/// A file in addition to [`FILES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExtraFile {
    None,
    /// `linked.txt`, a hard link to `a.txt`.
    HardLink,
    /// `large.txt`, which takes many writes.
    Large,
    /// `large.txt`, so large that unchanged parts are copied by the kernel.
    Huge,
}

/// How content gets into a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteStrategy {
    /// Through a temporary file: no reader ever sees a partial file.
    Replace,
    /// In place: after a crash the file is partial until the next start.
    InPlace,
}

/// The files of every operation: path, number of lines, permissions.
const FILES: &[(&str, usize, u32)] =
    &[("a.txt", 40, 0o640), ("b.txt", 30, 0o644), ("deep/c.txt", 20, 0o600), ("other.txt", 3, 0o644)];

const DELETE: &str = "*** Begin Patch\n*** Delete File: b.txt\n*** End Patch\n";
const MOVE: &str = "*** Begin Patch\n*** Update File: b.txt\n*** Move to: deep/moved.txt\n@@\n-b.txt 2\n+b.txt two\n*** End Patch\n";
const MOVE_FAR: &str = "*** Begin Patch\n*** Update File: b.txt\n*** Move to: new/folder/moved.txt\n@@\n-b.txt 2\n+b.txt two\n*** End Patch\n";
const THREE: &str = "*** Begin Patch\n*** Update File: a.txt\n@@\n-a.txt 7\n+a.txt seven\n*** Update File: b.txt\n@@\n-b.txt 7\n+b.txt seven\n*** Update File: deep/c.txt\n@@\n-deep/c.txt 7\n+deep/c.txt seven\n*** End Patch\n";
const MIXED: &str = "*** Begin Patch\n*** Update File: a.txt\n@@\n-a.txt 7\n+a.txt seven\n*** Add File: new/one.txt\n+one\n*** Delete File: deep/c.txt\n*** End Patch\n";
const SWAP: &str = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n-a.txt 7\n+a.txt seven\n*** Update File: b.txt\n*** Move to: deep/c.txt\n*** Update File: deep/c.txt\n*** Move to: a.txt\n*** End Patch\n";
const EXECUTABLE: &str = "diff --git a/b.txt b/b.txt\nold mode 100644\nnew mode 100755\n";

const EDIT: &[&str] = &["edit", "a.txt", "--old", "a.txt 5", "--new", "a.txt five"];
const CREATE: &[&str] = &["write", "new/folder/d.txt", "--content", "new\n"];
const PATCH: &[&str] = &["patch", "{patch}"];
const UNDO: &[&str] = &["undo"];
const REDO: &[&str] = &["redo"];

const fn plain(name: &'static str, args: &'static [&'static str]) -> Operation {
    Operation {
        name,
        setup: &[],
        args,
        patch: "",
        inverse: UNDO,
        config: "",
        extra: ExtraFile::None,
        writes: WriteStrategy::Replace,
        naive: &[],
    }
}

const fn patch(name: &'static str, patch: &'static str) -> Operation {
    Operation { patch, ..plain(name, PATCH) }
}

/// Every operation.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation { naive: &[["a.txt", "a.txt 5", "a.txt five"]], ..plain("replace", EDIT) },
    Operation {
        naive: &[
            ["a.txt", "a.txt 7", "a.txt seven"],
            ["b.txt", "b.txt 7", "b.txt seven"],
            ["deep/c.txt", "deep/c.txt 7", "deep/c.txt seven"],
        ],
        ..patch("patch of three files", THREE)
    },
    plain("replace lines", &["lines", "a.txt", "3-4", "--new", "instead of two"]),
    plain("create in a new folder", CREATE),
    plain("append", &["append", "b.txt", "--content", "one more\n"]),
    plain(
        "overwrite",
        &[
            "write",
            "b.txt",
            "--content",
            "b.txt 1\nb.txt 2\nother lines\nand more\nand more\nand more\nand more\nand more\nand more\nand more\nand more\nand more\nand more\nand more\n",
        ],
    ),
    patch("delete", DELETE),
    patch("move", MOVE),
    patch("edit, create and delete", MIXED),
    patch("rotation of three names", SWAP),
    patch("executable bit", EXECUTABLE),
    Operation { setup: &[EDIT], inverse: REDO, ..plain("undo", UNDO) },
    Operation { setup: &[PATCH], args: UNDO, inverse: REDO, ..patch("undo of a patch", MIXED) },
    Operation { setup: &[PATCH], args: UNDO, inverse: REDO, ..patch("undo of a deletion", DELETE) },
    Operation { setup: &[PATCH], args: UNDO, inverse: REDO, ..patch("undo of a move", MOVE) },
    Operation {
        setup: &[PATCH],
        args: UNDO,
        inverse: REDO,
        ..patch("undo of a move to a new folder", MOVE_FAR)
    },
    Operation { setup: &[CREATE], inverse: REDO, ..plain("undo of a creation", UNDO) },
    Operation { setup: &[EDIT, UNDO], ..plain("redo", REDO) },
    linked(
        "replace through a hard link",
        "[files]\nhard_links = \"write-through\"\n",
        WriteStrategy::InPlace,
    ),
    linked("replace and break a hard link", "[files]\nhard_links = \"break\"\n", WriteStrategy::Replace),
    HUGE,
];

const fn linked(name: &'static str, config: &'static str, writes: WriteStrategy) -> Operation {
    Operation { config, extra: ExtraFile::HardLink, writes, ..plain(name, EDIT) }
}

/// A replacement in a file that takes many writes.
pub(crate) const LARGE: Operation = Operation {
    extra: ExtraFile::Large,
    ..plain(
        "replace in a large file",
        &["edit", "large.txt", "--old", "file: 0000700", "--new", "file: seven hundred"],
    )
};

/// A replacement in the middle of a file of about 1.2 MiB: the kernel copies the parts before and after it.
pub(crate) const HUGE: Operation = Operation {
    extra: ExtraFile::Huge,
    naive: &[["large.txt", "file: 0019000", "file: nineteen thousand"]],
    ..plain(
        "replace in a huge file",
        &["edit", "large.txt", "--old", "file: 0019000", "--new", "file: nineteen thousand"],
    )
};

impl Operation {
    /// Whether its file has a second name.
    pub(crate) fn has_hard_link(&self) -> bool {
        self.extra == ExtraFile::HardLink
    }

    /// Whether it edits a file that the kernel copies in part.
    pub(crate) fn is_huge(&self) -> bool {
        self.extra == ExtraFile::Huge
    }

    /// Creates the files that it works on.
    pub(crate) fn create_files(&self, root: &Path) -> io::Result<()> {
        for &(path, lines, mode) in FILES {
            let file = root.join(path);
            if let Some(folder) = file.parent() {
                fs::create_dir_all(folder)?;
            }
            let text: String = (1..=lines).map(|line| format!("{path} {}\n", label_line(line))).collect();
            fs::write(&file, text)?;
            fs::set_permissions(&file, fs::Permissions::from_mode(mode))?;
        }
        match self.extra {
            ExtraFile::None => Ok(()),
            ExtraFile::HardLink => fs::hard_link(root.join("a.txt"), root.join("linked.txt")),
            ExtraFile::Large => create_large_file(root, 10_000),
            ExtraFile::Huge => create_large_file(root, 39_000),
        }
    }
}

/// Creates a file of numbered lines of 32 bytes.
fn create_large_file(root: &Path, lines: usize) -> io::Result<()> {
    let text: String = (0..lines).map(|line| format!("a line of a large file: {line:07}\n")).collect();
    fs::write(root.join("large.txt"), text)
}

/// A label for a line; no label is a prefix of another.
fn label_line(line: usize) -> String {
    if line < 10 { line.to_string() } else { format!("x{line}") }
}
