//! The kinds of operations, each with the files that it works on.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// One kind of operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    /// What it is called in tables.
    pub(crate) name: &'static str,
    /// Calls that come before it.
    pub(crate) first: &'static [&'static [&'static str]],
    /// The call itself; `{patch}` stands for the path of `patch`.
    pub(crate) call: &'static [&'static str],
    /// A patch that the calls use.
    pub(crate) patch: &'static str,
    /// What takes it back.
    pub(crate) back: &'static [&'static str],
    /// The settings.
    pub(crate) config: &'static str,
    /// What there is besides the usual files.
    pub(crate) extra: Extra,
    /// Whether a reader may see half a file until the next start.
    pub(crate) writing: Writing,
}

/// What there is besides the usual files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extra {
    /// Nothing.
    None,
    /// A second name for `a.txt`: `linked.txt`.
    Link,
    /// A file that takes many writes: `large.txt`.
    Large,
    /// The same, and so long that the kernel copies what stays of it.
    Huge,
}

/// How content gets into a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writing {
    /// Under another name first: nobody ever sees half of it.
    Aside,
    /// In place: a crash leaves half of it, until the next start.
    InPlace,
}

/// One file of the start: its path, how many lines it has, its permissions.
const FILES: &[(&str, usize, u32)] =
    &[("a.txt", 40, 0o640), ("b.txt", 30, 0o644), ("deep/c.txt", 20, 0o600), ("other.txt", 3, 0o644)];

const DELETE: &str = "*** Begin Patch\n*** Delete File: b.txt\n*** End Patch\n";
const MOVE: &str = "*** Begin Patch\n*** Update File: b.txt\n*** Move to: deep/moved.txt\n@@\n-b.txt 2\n+b.txt two\n*** End Patch\n";
const THREE: &str = "*** Begin Patch\n*** Update File: a.txt\n@@\n-a.txt 7\n+a.txt seven\n*** Update File: b.txt\n@@\n-b.txt 7\n+b.txt seven\n*** Update File: deep/c.txt\n@@\n-deep/c.txt 7\n+deep/c.txt seven\n*** End Patch\n";
const MIXED: &str = "*** Begin Patch\n*** Update File: a.txt\n@@\n-a.txt 7\n+a.txt seven\n*** Add File: new/one.txt\n+one\n*** Delete File: deep/c.txt\n*** End Patch\n";
const EXECUTABLE: &str = "diff --git a/b.txt b/b.txt\nold mode 100644\nnew mode 100755\n";

const EDIT: &[&str] = &["edit", "a.txt", "--old", "a.txt 5", "--new", "a.txt five"];
const PATCH: &[&str] = &["patch", "{patch}"];
const UNDO: &[&str] = &["undo"];
const REDO: &[&str] = &["redo"];

const fn plain(name: &'static str, call: &'static [&'static str]) -> Operation {
    Operation {
        name,
        first: &[],
        call,
        patch: "",
        back: UNDO,
        config: "",
        extra: Extra::None,
        writing: Writing::Aside,
    }
}

const fn patch(name: &'static str, patch: &'static str) -> Operation {
    Operation { patch, ..plain(name, PATCH) }
}

/// Every kind.
pub(crate) const OPERATIONS: &[Operation] = &[
    plain("replace", EDIT),
    patch("patch of three files", THREE),
    plain("lines", &["lines", "a.txt", "3-4", "--new", "instead of two"]),
    plain("create in a new folder", &["write", "new/folder/d.txt", "--content", "new\n"]),
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
    patch("change, create and delete", MIXED),
    patch("executable bit", EXECUTABLE),
    Operation { first: &[EDIT], back: REDO, ..plain("undo", UNDO) },
    Operation { first: &[PATCH], back: REDO, ..patch("undo of a patch", MIXED) }.calling(UNDO),
    Operation { first: &[EDIT, UNDO], ..plain("redo", REDO) },
    linked("replace in place, links kept", "[files]\nhard_links = \"write-through\"\n", Writing::InPlace),
    linked("replace, links broken", "[files]\nhard_links = \"break\"\n", Writing::Aside),
    HUGE,
];

const fn linked(name: &'static str, config: &'static str, writing: Writing) -> Operation {
    Operation { config, extra: Extra::Link, writing, ..plain(name, EDIT) }
}

/// A replacement in a file that takes many writes.
pub(crate) const LARGE: Operation = Operation {
    extra: Extra::Large,
    ..plain(
        "replace in a large file",
        &["edit", "large.txt", "--old", "file: 0000700", "--new", "file: seven hundred"],
    )
};

/// A replacement in the middle of a file of about 1.2 MiB: what is before it and what is after it is copied by the kernel.
pub(crate) const HUGE: Operation = Operation {
    extra: Extra::Huge,
    ..plain(
        "replace in a file that the kernel copies",
        &["edit", "large.txt", "--old", "file: 0019000", "--new", "file: nineteen thousand"],
    )
};

/// How an editor without protection does the same; there is none for most kinds.
pub(crate) fn naive(operation: &Operation) -> &'static [[&'static str; 3]] {
    match operation.name {
        "replace" => &[["a.txt", "a.txt 5", "a.txt five"]],
        "patch of three files" => &[
            ["a.txt", "a.txt 7", "a.txt seven"],
            ["b.txt", "b.txt 7", "b.txt seven"],
            ["deep/c.txt", "deep/c.txt 7", "deep/c.txt seven"],
        ],
        "replace in a file that the kernel copies" => {
            &[["large.txt", "file: 0019000", "file: nineteen thousand"]]
        }
        _ => &[],
    }
}

impl Operation {
    const fn calling(self, call: &'static [&'static str]) -> Self {
        Self { call, ..self }
    }

    /// Whether it is about a file that the kernel copies.
    pub(crate) fn is_huge(&self) -> bool {
        self.extra == Extra::Huge
    }

    /// Makes the files that it works on.
    pub(crate) fn files(&self, root: &Path) -> io::Result<()> {
        for &(path, lines, mode) in FILES {
            let file = root.join(path);
            if let Some(folder) = file.parent() {
                fs::create_dir_all(folder)?;
            }
            let text: String = (1..=lines).map(|line| format!("{path} {}\n", name(line))).collect();
            fs::write(&file, text)?;
            fs::set_permissions(&file, fs::Permissions::from_mode(mode))?;
        }
        match self.extra {
            Extra::None => Ok(()),
            Extra::Link => fs::hard_link(root.join("a.txt"), root.join("linked.txt")),
            Extra::Large => long_file(root, 10_000),
            Extra::Huge => long_file(root, 39_000),
        }
    }
}

/// Makes a file of lines of 32 bytes, each with its number.
fn long_file(root: &Path, lines: usize) -> io::Result<()> {
    let text: String = (0..lines).map(|line| format!("a line of a large file: {line:07}\n")).collect();
    fs::write(root.join("large.txt"), text)
}

/// What a line is called: no name is the beginning of another one's.
fn name(line: usize) -> String {
    if line < 10 { line.to_string() } else { format!("x{line}") }
}
