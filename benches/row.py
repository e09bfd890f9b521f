"""A row of the results, and the folders in which it is measured."""

import os
import pathlib
import shutil
import tempfile

from measure import Process, Ratio

PROGRAM = os.environ.get("SLIPSTITCH", "")
YARDSTICK = os.environ.get("YARDSTICK", "")
# The Debian package, not a wrapper that comes first in the PATH.
GIT = "/usr/bin/git" if os.path.exists("/usr/bin/git") else shutil.which("git")
SED, PATCH = shutil.which("sed"), shutil.which("patch")
US = "slipstitch"


class Row:
    """A comparison with a goal: at most (or, for speed-ups, at least) `goal` times the baseline."""

    def __init__(self, name, title, baseline, goal, faster=False, memory=None):
        self.name, self.title, self.baseline = name, title, baseline
        self.goal, self.faster, self.memory_goal = goal, faster, memory

    def result(self, times, memory=None):
        """What `times` of all contenders, by name, say about this row."""
        return Result(self, times, memory)


class Result:
    def __init__(self, row, times, memory):
        self.row, self.memory = row, memory
        self.times = times
        self.ratios = {name: self._ratio(name, "clock") for name in times if name != row.baseline}
        self.ours = self.ratios.pop(US)
        self.cpu = self._ratio(US, "cpu")

    def _ratio(self, name, clock):
        ratio = Ratio(self.times[name], self.times[self.row.baseline], clock)
        return ratio.inverse() if self.row.faster else ratio

    def is_met(self):
        met = self.ours.median >= self.row.goal if self.row.faster else self.ours.median <= self.row.goal
        return met and (self.row.memory_goal is None or self.memory <= self.row.memory_goal)


class Scenario:
    """A function that measures one or more rows in a separate folder."""

    def __init__(self, run, rows, in_memory):
        self.run, self.rows, self.in_memory = run, rows, in_memory

    def measure(self, options):
        place = "/dev/shm" if self.in_memory and os.path.isdir("/dev/shm") else options.disk
        with tempfile.TemporaryDirectory(prefix="slipstitch-bench-", dir=place) as folder:
            return self.run(Folder(pathlib.Path(folder)), options, *self.rows)


class Folder:
    """A temporary folder with a root and a state folder."""

    def __init__(self, path):
        self.path, self.root, self.state = path, path / "root", path / "state"
        self.root.mkdir()

    def write(self, name, text):
        (self.root / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return self.root / name

    def ours(self, *args, stdin=os.devnull, fsync=False, expect=(0,), state=None):
        """Runs our program and returns the process."""
        return Process(self.command(*args, fsync=fsync, state=state), stdin=stdin, expect=expect)

    def command(self, *args, fsync=False, state=None):
        """The command that runs our program."""
        flags = [] if fsync else ["--no-fsync"]
        return [PROGRAM, "--root", self.root, "--state-dir", state or self.state, *flags, *args]


def scenario(*rows, in_memory=False):
    """Declares a scenario; it returns the results of its rows in their order."""
    return lambda run: Scenario(run, rows, in_memory)
