"""Runs the contenders of a comparison in turn, and summarises the ratios of their times."""

import os
import statistics
import subprocess
import sys
import time


class Failed(SystemExit):
    """A contender did not do its work, so that its time means nothing."""


class Process:
    """A command that ran: its time in seconds."""

    def __init__(self, command, cwd=None, stdin=os.devnull, env=None, expect=(0,)):
        command = [str(part) for part in command]
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, str(stdin), os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        here = os.getcwd()
        if cwd is not None:
            os.chdir(cwd)
        try:
            start = time.perf_counter()
            # Cheaper than `subprocess`, whose own work would hide that of a short command.
            pid = os.posix_spawn(command[0], command, env or environment(), file_actions=actions)
            _, status = os.waitpid(pid, 0)
            self.seconds = time.perf_counter() - start
        finally:
            os.chdir(here)
        self.code = os.waitstatus_to_exitcode(status)
        if self.code not in expect:
            raise Failed(f"bench: exit code {self.code} of {' '.join(command)}")


_PEAK = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def peak_memory(command):
    """The peak memory of a command in MiB. A new process counts what its parent had when it was started, so a small one starts
    it: ours may hold a gigabyte of text."""
    helper = [sys.executable, "-I", "-S", "-c", _PEAK, *(str(part) for part in command)]
    done = subprocess.run(helper, env=environment(), stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        raise Failed(f"bench: exit code {done.returncode} of {' '.join(helper[5:])}")
    return int(done.stdout) / 1024


def environment():
    """Environment variables without the user's own settings."""
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C"}


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def interleave(rounds, contenders, rare=()):
    """Calls the contenders in turn, each of which returns seconds: a busy moment of the machine hits all of them. Those
    named in `rare` are slow and get a third of the rounds. The first round, in which caches fill, does not count."""
    times = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, measure in contenders.items():
            if name in rare and number > 1 and number % 3:
                continue
            took = measure()
            if number > 0:
                times[name].append(took)
    return times


class Ratio:
    """How the times of one contender relate to those of another: the median, and the range without the extreme tenths."""

    def __init__(self, times, baseline):
        # Paired by round as far as both have one.
        count = min(len(times), len(baseline))
        ratios = sorted(one / other for one, other in zip(times[-count:], baseline[-count:]))
        cut = count // 10
        self.median = statistics.median(ratios)
        self.low, self.high = ratios[cut], ratios[-1 - cut]

    def inverse(self):
        turned = Ratio.__new__(Ratio)
        turned.median, turned.low, turned.high = 1 / self.median, 1 / self.high, 1 / self.low
        return turned

    def __str__(self):
        return f"{number(self.median)} × ({number(self.low)} to {number(self.high)})"


def number(value):
    """A number with two significant digits, or all those before the point."""
    if value >= 10:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"
