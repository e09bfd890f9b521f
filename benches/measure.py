"""Runs the contenders of a comparison in turn, and summarises the ratios of their times."""

import os
import pathlib
import statistics
import subprocess
import sys
import time
from typing import NamedTuple


class Failed(SystemExit):
    """A contender did not do its work, so that its time means nothing."""


class Took(NamedTuple):
    """How long something took: seconds on the clock, and seconds of a processor, which other programs change less."""

    clock: float
    cpu: float

    def __add__(self, other):
        return Took(self.clock + other.clock, self.cpu + other.cpu)

    def scaled(self, factor):
        return Took(self.clock * factor, self.cpu * factor)


class Process:
    """A command that ran, and how long it took."""

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
            _, status, usage = os.wait4(pid, 0)
            self.took = Took(time.perf_counter() - start, usage.ru_utime + usage.ru_stime)
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


def measured(work, cpu_clock=time.process_time):
    """How long a function takes. `cpu_clock` reads the processor time of what does the work."""
    cpu, start = cpu_clock(), time.perf_counter()
    work()
    clock = time.perf_counter() - start
    return Took(clock, cpu_clock() - cpu)


def cpu_of(pid):
    """The processor time that the threads of a running process have used, in seconds."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except OSError:
            pass  # The thread has ended since.
    return total / 1e9


def median(list_of_took):
    """The median of each."""
    return Took(*(statistics.median(values) for values in zip(*list_of_took)))


def interleave(rounds, contenders, rare=()):
    """Calls the contenders in turn, each of which says how long it took: a busy moment of the machine hits all of them. Those
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

    def __init__(self, times, baseline, clock="clock"):
        times, baseline = ([max(getattr(took, clock), 1e-6) for took in all_took] for all_took in (times, baseline))
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
