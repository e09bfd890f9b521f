"""Throughput: large files, many places, many files."""

import json
import os
import subprocess

from measure import Process, Took, interleave, peak_memory
from row import GIT, PATCH, SED, US, YARDSTICK, Row, scenario

COPY = "copy + fsync + rename"


def _write_large(path, size):
    block = b"".join(b"%07d the quick brown fox jumps over the lazy dog\n" % n for n in range(20_000))
    with open(path, "wb") as file:
        left = size
        while left > 0:
            file.write(block)
            left -= len(block)
        file.write(b"the only needle\nthe last line\n")
    with open(path, "rb") as file:
        return sum(part.count(b"\n") for part in iter(lambda: file.read(1 << 24), b""))


@scenario(
    Row("large-edit", "exact edit in 1 GB, fsync", COPY, 1.5, memory=32),
    Row("large-line", "last line of 1 GB, fsync", COPY, 1.5),
    Row("large-undo", "undo of an edit in 1 GB, fsync", COPY, 2),
)
def large(folder, options, edit, line, undo):
    ours, theirs = folder.root / "large.txt", folder.path / "plain.txt"
    lines = _write_large(ours, (1 << 30) if not options.quick else (64 << 20))
    os.link(ours, theirs)
    # The name of the baseline gets a separate file.
    Process([YARDSTICK, "copy", theirs])
    edit_args = ("edit", "large.txt", "--old", "only needle", "--new", "only nail")
    line_args = ("lines", "large.txt", lines, "--new", "changed")

    def run(*args):
        os.sync()
        return folder.ours(*args, fsync=True).took

    def peer(*command):
        os.sync()
        took = Process(command).took
        return took + Process(["/bin/sync", theirs]).took

    def copy():
        os.sync()
        return Process([YARDSTICK, "copy", theirs]).took

    rounds = options.rounds(4)
    times = interleave(rounds, {
        COPY: copy,
        edit.name: lambda: run(*edit_args),
        undo.name: lambda: run("undo"),
        line.name: lambda: run(*line_args),
        "undo of the line": lambda: run("undo"),
    })
    memory = {args[0]: peak_memory(folder.command(*args)) for args in (edit_args, ("undo",), line_args)}
    sed = [peer(SED, "-i", f"{lines}s/.*/changed/", theirs)]
    return [
        edit.result({COPY: times[COPY], US: times[edit.name]}, memory["edit"]),
        line.result({COPY: times[COPY], US: times[line.name], "sed": sed}, memory["lines"]),
        undo.result({COPY: times[COPY], US: times[undo.name]}, memory["undo"]),
    ]


def _code(count):
    return [f"    let value_{n} = compute({n}, {n * 7 % 1000});\n" for n in range(count)]


@scenario(
    Row("miss-recovery", "edit that needs recovery, 1 M lines", "memmem scan", 30),
    Row("miss-drift", "edit whose context changed, 1 M lines", "memmem scan", 30),
    Row("miss", "text that is nowhere, 1 M lines", "memmem scan", 30),
    in_memory=True,
)
def misses(folder, options, recovery, drift, miss):
    count = options.size(1_000_000)
    lines = _code(count)
    file = folder.write("a.rs", "".join(lines))
    at = count // 2
    quoted = lines[at:at + 4]
    # Indented less than in the file; one context line that has changed since; a text that is nowhere.
    reindented = "".join(line[2:] for line in quoted)
    drifted = quoted[0] + quoted[1].replace("compute", "calculate") + "".join(quoted[2:])
    texts = {
        recovery.name: (reindented, reindented.replace(f"value_{at + 3} =", f"result_{at + 3} =")),
        drift.name: (drifted, drifted.replace(f"value_{at + 3} =", f"result_{at + 3} =")),
        miss.name: ("fn nothing_like_this() -> Absent {\n    todo_elsewhere();\n}\n", "x\n"),
    }

    def ours(old, new):
        call = {"path": "a.rs", "old_text": old, "new_text": new, "dry_run": True}
        request = folder.path / "request.json"
        request.write_text(json.dumps(call))
        return folder.ours("call", "edit_file", "-", stdin=request, expect=(0, 1)).took

    def scan():
        command = [YARDSTICK, "scan", file, "fn nothing_like_this()", "5"]
        return Took(*map(float, subprocess.run(command, capture_output=True, check=True).stdout.split()))

    contenders = {"memmem scan": scan}
    contenders |= {name: (lambda pair=pair: ours(*pair)) for name, pair in texts.items()}
    times = interleave(options.rounds(10), contenders)
    return [row.result({"memmem scan": times["memmem scan"], US: times[row.name]}) for row in (recovery, drift, miss)]


@scenario(Row("hunks", "patch with 10,000 hunks on 1 M lines", "patch", 0.9), in_memory=True)
def hunks(folder, options, row):
    count = options.size(1_000_000)
    old = _code(count)
    new = [line.replace("compute", "evaluate") if n % 100 == 50 else line for n, line in enumerate(old)]
    ours, theirs = folder.write("a.rs", "".join(old)), folder.path / "plain.rs"
    theirs.write_text("".join(old))
    parts = ["--- a/a.rs\n+++ b/a.rs\n"]
    for n in range(50, count, 100):
        body = "".join(f" {line}" for line in old[n - 3:n]) + f"-{old[n]}+{new[n]}"
        body += "".join(f" {line}" for line in old[n + 1:n + 4])
        parts.append(f"@@ -{n - 2},7 +{n - 2},7 @@\n{body}")
    diff = folder.path / "hunks.diff"
    diff.write_text("".join(parts))
    turn = {US: False, "patch": False}

    def reverse(name):
        turn[name] = not turn[name]
        return [] if turn[name] else ["-R"]

    def check():
        expected = new if turn[US] else old
        assert ours.read_text() == "".join(expected), "the hunks are not in the file"

    times = interleave(options.rounds(6), {
        "patch": lambda: Process([PATCH, "--silent", *reverse("patch"), theirs, diff]).took,
        US: lambda: folder.ours("patch", *reverse(US), diff).took,
    })
    check()
    return [row.result(times)]


@scenario(Row("replace-all", "replace-all with 1 M hits", "sed", 2), in_memory=True)
def replace_all(folder, options, row):
    count = options.size(1_000_000)
    text = "".join(f"{n:07} the quick brown fox jumps over it\n" for n in range(count))
    folder.write("a.txt", text)
    theirs = folder.path / "plain.txt"
    theirs.write_text(text)
    words = {US: ["quick", "swift"], "sed": ["quick", "swift"]}

    def next_edit():
        old, new = words[US]
        words[US].reverse()
        return "edit", "a.txt", "--old", old, "--new", new, "--all"

    def ours():
        return folder.ours(*next_edit()).took

    def sed():
        old, new = words["sed"]
        words["sed"].reverse()
        return Process([SED, "-i", f"s/{old}/{new}/g", theirs]).took

    times = interleave(options.rounds(6), {"sed": sed, US: ours})
    return [row.result(times, peak_memory(folder.command(*next_edit())))]


@scenario(
    Row("rewrite-third", "whole-file write, a third of 350,000 lines changed", "git diff", 1),
    Row("rewrite-all", "whole-file write, every one of 350,000 lines changed", "git diff (every line)", 1),
    in_memory=True,
)
def rewrites(folder, options, third, every):
    count = options.size(350_000)
    old = _code(count)
    texts = {
        third: [line.replace("compute", "evaluate") if n % 3 == 0 else line for n, line in enumerate(old)],
        every: [line.replace("compute", "evaluate") for line in old],
    }
    results = []
    before = folder.path / "before.rs"
    before.write_text("".join(old))
    for row, new in texts.items():
        after = folder.path / f"{row.name}.rs"
        after.write_text("".join(new))
        folder.write("a.rs", "".join(old))
        sources = [after, before]

        def write():
            source = sources[0]
            sources.reverse()
            return folder.ours("write", "a.rs", "--from", source).took

        def diff():
            command = [GIT, "diff", "--no-index", "--no-color", before, after]
            return Process(command, expect=(0, 1)).took

        results.append(row.result(interleave(options.rounds(4), {row.baseline: diff, US: write})))
    return results


@scenario(Row("patch-1000", "patch over 1,000 files, without fsync", "git apply", 1.5), in_memory=True)
def patch_files(folder, options, row):
    count = 1000 if not options.quick else 200
    text = "".join(f"line {n} of the file\n" for n in range(40))
    theirs = folder.path / "plain"
    theirs.mkdir()
    parts = []
    for number in range(count):
        for root in (folder.root, theirs):
            path = root / f"d{number % 20}" / f"f{number}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        name = path.relative_to(theirs)
        context = "".join(f" line {n} of the file\n" for n in range(17, 20))
        after = "".join(f" line {n} of the file\n" for n in range(21, 24))
        hunk = f"@@ -18,7 +18,7 @@\n{context}-line 20 of the file\n+line twenty of the file\n{after}"
        parts.append(f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n{hunk}")
    diff = folder.path / "files.diff"
    diff.write_text("".join(parts))
    turns = dict.fromkeys((US, "git apply", "patch"), False)

    def reverse(name):
        turns[name] = not turns[name]
        return [] if turns[name] else ["-R"]

    def patch():
        return Process([PATCH, "-p1", "--silent", *reverse("patch"), "-i", diff], cwd=folder.path / "third").took

    subprocess.run(["cp", "-r", theirs, folder.path / "third"], check=True)
    times = interleave(options.rounds(8), {
        "git apply": lambda: Process([GIT, "apply", *reverse("git apply"), diff], cwd=theirs).took,
        US: lambda: folder.ours("patch", *reverse(US), diff).took,
        "patch": patch,
    })
    return [row.result(times)]


@scenario(Row("read-lines", "read 100 lines of 1 M", "sed", 3), in_memory=True)
def read_lines(folder, options, row):
    count = options.size(1_000_000)
    file = folder.write("a.rs", "".join(_code(count)))
    first, last = count // 2, count // 2 + 99
    times = interleave(options.rounds(30), {
        "sed": lambda: Process([SED, "-n", f"{first},{last}p;{last}q", file]).took,
        US: lambda: folder.ours("read", "a.rs", "--lines", f"{first}-{last}").took,
    })
    return [row.result(times)]


SCENARIOS = [large, misses, hunks, replace_all, rewrites, patch_files, read_lines]
