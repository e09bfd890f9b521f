"""Queries of a journal with many changes, compared with a journal of few."""

from latency import alternating
from measure import Process, interleave
from mcp import OURS, Server
from row import PROGRAM, US, Row, scenario

FEW = "100 changes"


def _fill(folder, name, changes):
    """Makes real changes in a new root, and returns its folder."""
    root = folder.path / name / "root"
    root.mkdir(parents=True)
    for file in ("first.txt", "a.txt"):
        (root / file).write_text("000100 the quick brown fox\n")
    command = [PROGRAM, "--state-dir", root.parent / "state", "--no-fsync", "mcp", "--root", root]
    server = Server(command, root)
    server.call(OURS.call(root, "first.txt", [("quick", "slow")]))
    calls = alternating(lambda old, new: OURS.call(root, "a.txt", [(old, new)]))
    for _ in range(changes - 1):
        server.call(next(calls))
    server.close()
    return root


@scenario(
    Row("log", "`log` of 50 rows after 100,000 changes", FEW, 2),
    Row("log-file", "`log --file` of a file that was changed once, long ago", FEW, 2),
    Row("undo-fresh", "`undo` in a session without changes, after 100,000", FEW, 2),
    in_memory=True,
)
def history(folder, options, *rows):
    commands = {
        "log": ["log"],
        "log-file": ["log", "--file", "first.txt"],
        "undo-fresh": ["undo", "--session", "fresh"],
    }
    roots = {FEW: _fill(folder, "few", 100), US: _fill(folder, "many", options.size(100_000))}

    def run(root, args):
        command = [PROGRAM, "--root", root, "--state-dir", root.parent / "state", "--no-fsync", *args]
        return Process(command, expect=(0, 1)).took

    return [
        row.result(interleave(options.rounds(20), {
            name: (lambda root=root: run(root, commands[row.name])) for name, root in roots.items()
        }))
        for row in rows
    ]


SCENARIOS = [history]
