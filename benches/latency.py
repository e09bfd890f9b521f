"""Latency: short edits, cold and warm."""

import itertools
import os

from mcp import OURS, REFERENCE, RUST
from measure import Process, interleave, measured, median
from row import PATCH, US, YARDSTICK, Row, scenario

PEER, RUST_PEER = "server-filesystem", "rust-mcp-filesystem"
TEXTS = ("000100 the quick brown", "000100 the slow brown")


def numbered_lines(size):
    """Lines with numbers, as many as fit into `size` bytes."""
    line = "{:06} the quick brown fox jumps over the lazy dog\n"
    return "".join(line.format(number) for number in range(size // len(line.format(0))))


def alternating(make):
    """Calls that replace a text and then put it back, in turn."""
    return itertools.cycle([make(*TEXTS), make(*TEXTS[::-1])])


def _cold(folder, options, row, fsync):
    file = folder.write("a.txt", numbered_lines(10_000))
    copy = folder.write("b.txt", file.read_text())
    turns = alternating(lambda old, new: ["edit", "a.txt", "--old", old, "--new", new])
    folder.ours(*next(turns), fsync=fsync)
    diffs = alternating(lambda old, new: _write_diff(folder, old, new))

    def patch():
        return Process([PATCH, "--silent", copy, next(diffs)]).took

    return interleave(options.rounds(200), {
        "hello world": lambda: Process([YARDSTICK, "hello"]).took,
        US: lambda: folder.ours(*next(turns), fsync=fsync).took,
        "patch": patch,
    })


def _write_diff(folder, old, new):
    rest = " fox jumps over the lazy dog"
    path = folder.path / f"{new.split()[2]}.diff"
    path.write_text(f"--- b.txt\n+++ b.txt\n@@ -101 +101 @@\n-{old}{rest}\n+{new}{rest}\n")
    return path


@scenario(Row("cold-cli-memory", "cold CLI edit of 10 KB, in memory without fsync", "hello world", 2.5), in_memory=True)
def cold_cli_memory(folder, options, row):
    return [row.result(_cold(folder, options, row, fsync=False))]


@scenario(Row("cold-cli-disk", "cold CLI edit of 10 KB, on disk with fsync", "hello world", 3))
def cold_cli_disk(folder, options, row):
    return [row.result(_cold(folder, options, row, fsync=True))]


class WarmServer:
    """A running server with a separate file, which it edits back and forth."""

    def __init__(self, kind, folder, text, batch):
        self.root = folder / "root"
        self.root.mkdir(parents=True)
        self.file = self.root / "a.txt"
        self.file.write_text(text)
        self.server = kind.start(self.root)
        self.calls = alternating(lambda old, new: (kind.call(self.root, "a.txt", [(old, new)]), new))
        self.batch = batch

    def edit(self):
        """The median time of a few edits."""
        times = []
        for _ in range(self.batch):
            call, new = next(self.calls)
            times.append(measured(lambda: self.server.call(call), self.server.cpu))
        assert new in self.file.read_text(), "the edit is not in the file"
        return median(times)

    def close(self):
        self.server.close()


def _warm(folder, options, size, kinds, others=None, rounds=40):
    text = numbered_lines(size)
    batch = 5 if size > 100_000 else 20
    servers = {name: WarmServer(kind, folder.path / name, text, batch) for name, kind in kinds.items()}
    contenders = {name: server.edit for name, server in servers.items()} | (others or {})
    try:
        return interleave(options.rounds(rounds), contenders, rare=[PEER, RUST_PEER] if size > 100_000 else [])
    finally:
        for server in servers.values():
            server.close()


ALL = {PEER: REFERENCE, US: OURS, RUST_PEER: RUST}


@scenario(Row("warm-10k", "warm MCP edit of 10 KB, tmpfs", PEER, 12, faster=True), in_memory=True)
def warm_10k(folder, options, row):
    return [row.result(_warm(folder, options, 10_000, ALL))]


@scenario(Row("warm-1m", "warm MCP edit of 1 MB, tmpfs", PEER, 18, faster=True), in_memory=True)
def warm_1m(folder, options, row):
    return [row.result(_warm(folder, options, 1_000_000, ALL))]


def _warm_on_disk(folder, options, size):
    baseline, text = "write + fsync + rename", numbered_lines(size).encode()
    batch = 5 if size > 100_000 else 20
    plain = folder.path / "plain.txt"

    def replace():
        temp = plain.with_suffix(".new")
        with open(temp, "wb", buffering=0) as file:
            file.write(text)
            os.fsync(file.fileno())
        os.rename(temp, plain)

    others = {baseline: lambda: median([measured(replace) for _ in range(batch)])}
    return _warm(folder, options, size, {US: OURS}, others)


@scenario(Row("warm-disk-10k", "warm MCP edit of 10 KB, on disk with fsync", "write + fsync + rename", 1.6))
def warm_disk_10k(folder, options, row):
    return [row.result(_warm_on_disk(folder, options, 10_000))]


@scenario(Row("warm-disk-1m", "warm MCP edit of 1 MB, on disk with fsync", "write + fsync + rename", 1.3))
def warm_disk_1m(folder, options, row):
    return [row.result(_warm_on_disk(folder, options, 1_000_000))]


@scenario(Row("cold-mcp", "cold MCP server to its first edit", PEER, 150, faster=True), in_memory=True)
def cold_mcp(folder, options, row):
    def contender(name, kind):
        root = folder.path / name / "root"
        root.mkdir(parents=True)
        (root / "a.txt").write_text(numbered_lines(10_000))
        calls = alternating(lambda old, new: kind.call(root, "a.txt", [(old, new)]))

        def measure():
            started = []

            def first_edit():
                started.append(kind.start(root))
                started[0].call(next(calls))

            took = measured(first_edit, lambda: started[0].cpu() if started else 0)
            started[0].close()
            return took

        return measure

    contenders = {name: contender(name, kind) for name, kind in ALL.items()}
    return [row.result(interleave(options.rounds(15), contenders))]


@scenario(Row("many-edits", "1,000 edits of 1 MB in one call, warm MCP", "one edit", 5), in_memory=True)
def many_edits(folder, options, row):
    text = numbered_lines(1_000_000)
    count = 1000 if not options.quick else 200

    def contender(name, kind, edits):
        server = WarmServer(kind, folder.path / name, text, 1)
        old = [(f"{n:06} the quick", f"{n:06} the slow!") for n in range(1000, 1000 + 10 * edits, 10)]
        back = [(new, old) for old, new in old]
        turns = itertools.cycle(kind.call(server.root, "a.txt", pairs) for pairs in (old, back))
        return server, lambda: measured(lambda: server.server.call(next(turns)), server.server.cpu)

    pairs = {
        "one edit": contender("one", OURS, 1), US: contender("many", OURS, count),
        "one edit of the peer": contender("peer-one", REFERENCE, 1), PEER: contender("peer-many", REFERENCE, count),
    }
    try:
        times = interleave(options.rounds(12), {name: measure for name, (_, measure) in pairs.items()})
    finally:
        for server, _ in pairs.values():
            server.close()
    # The peer is compared with its own single edit.
    scale = median(times["one edit"]).clock / median(times.pop("one edit of the peer")).clock
    times[PEER] = [one.scaled(scale) for one in times[PEER]]
    return [row.result(times)]


SCENARIOS = [cold_cli_memory, cold_cli_disk, cold_mcp, warm_10k, warm_1m, warm_disk_10k, warm_disk_1m, many_edits]
