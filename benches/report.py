"""Prints results, and writes docs/performance.md."""

import os
import pathlib
import platform

import plot
from measure import median, number
from row import US

HEADING = f"{'row':16} {'slipstitch':40} {'goal':12} {'':4} peers"
INTRODUCTION = """# Performance

`scripts/bench` measures these rows and writes this page. Slipstitch, its peers and the baseline run in turn, so that a busy moment
hits all of them, and only ratios of one run are compared: the median, and in parentheses the range without the extreme tenths.
The column "CPU" is the same ratio in processor time (user and system), which depends less on what else the machine does.
`scripts/bench --check` fails if a goal is missed, `--quick` uses smaller inputs, and `scripts/bench ROW` measures one row.
"""


def goal(row):
    sign = "≥" if row.faster else "≤"
    memory = f", ≤ {row.memory_goal} MB" if row.memory_goal else ""
    return f"{sign} {row.goal:g} ×{memory}"


def _memory(result):
    return f", {result.memory:.0f} MB" if result.memory else ""


def line(result):
    """A result as a line of text."""
    peers = ", ".join(f"{name} {ratio}" for name, ratio in result.ratios.items())
    ours = f"{result.ours}{_memory(result)}, CPU {number(result.cpu.median)} ×"
    mark = "ok" if result.is_met() else "MISS"
    return f"{result.row.name:16} {ours:40} {goal(result.row):12} {mark:4} of {result.row.baseline}; {peers}"


def machine():
    """What the numbers depend on, without anything that names the machine."""
    model = "unknown processor"
    for entry in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if entry.startswith("model name"):
            model = entry.split(":", 1)[1].strip()
            break
    return f"{os.cpu_count()} × {model}, Linux {platform.release().split('-')[0]}"


def _milliseconds(times):
    value = median(times).clock * 1000
    return f"{value:.0f} ms" if value >= 100 else f"{value:.3g} ms"


def _table(results):
    rows = ["| work | compared with | goal | slipstitch | CPU | peers | time |", "| --- | --- | --- | --- | ---: | --- | ---: |"]
    for result in results:
        row = result.row
        mark = "" if result.is_met() else " **missed**"
        verb = "faster than " if row.faster else ""
        peers = ", ".join(f"{name} {number(ratio.median)} ×" for name, ratio in result.ratios.items())
        rows.append(
            f"| {row.title} | {verb}{row.baseline} | {goal(row)} | {result.ours}{_memory(result)}{mark} "
            f"| {number(result.cpu.median)} × | {peers} | {_milliseconds(result.times[US])} |"
        )
    return "\n".join(rows)


def write(docs, results, described):
    """Writes docs/performance.md and its plots. The text below the marker is written by hand and kept."""
    folder = docs / "performance"
    folder.mkdir(exist_ok=True)
    (folder / "overhead.svg").write_text(plot.overhead([one for one in results if not one.row.faster]))
    (folder / "speedup.svg").write_text(plot.speedup([one for one in results if one.row.faster]))
    page = docs / "performance.md"
    marker = "<!-- Written by hand from here on. -->\n"
    kept = page.read_text().split(marker, 1)[-1] if page.exists() and marker in page.read_text() else ""
    met = sum(result.is_met() for result in results)
    page.write_text(
        f"{INTRODUCTION}\n"
        f"Measured on {described}. {met} of {len(results)} goals are met.\n\n"
        "![Time relative to the baseline](performance/overhead.svg)\n\n"
        "![Speed-up over the reference MCP file server](performance/speedup.svg)\n\n"
        f"{_table(results)}\n\n{marker}{kept}"
    )
