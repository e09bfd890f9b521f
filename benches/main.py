"""Measures the rows of docs/performance.md; `scripts/bench` builds what is measured and runs this."""

import argparse
import json
import os
import pathlib
import sys
import time

import files
import history
import latency
import report
from measure import Took
from row import Result

HERE = pathlib.Path(__file__).resolve().parent
SCENARIOS = latency.SCENARIOS + files.SCENARIOS + history.SCENARIOS
ROWS = {row.name: row for scenario in SCENARIOS for row in scenario.rows}
SAVED = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target")) / "bench.json"


class Options:
    """How much is measured, and where."""

    def __init__(self, quick, disk):
        self.quick, self.disk = quick, disk

    def rounds(self, usual):
        return max(3, usual // 3) if self.quick else usual

    def size(self, usual):
        return usual // 10 if self.quick else usual


def parse():
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measures Slipstitch beside its peers.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="measure these rows only (default: all)")
    parser.add_argument("--only", action="append", default=[], metavar="ROW", help="the same, as an option")
    parser.add_argument("--quick", action="store_true", help="smaller inputs and fewer rounds; docs are not written")
    parser.add_argument("--check", action="store_true", help="fail if a goal is missed")
    parser.add_argument("--list", action="store_true", help="list the rows and their goals")
    parser.add_argument("--disk", default="/var/tmp", help="a folder on a disk, for what is flushed (default: %(default)s)")
    parser.add_argument("--render", action="store_true", help="write the docs again from the last complete run")
    options = parser.parse_args()
    options.rows += options.only
    unknown = [name for name in options.rows if name not in ROWS]
    if unknown:
        parser.error(f"unknown row `{unknown[0]}`; the rows are {', '.join(ROWS)}")
    return options


def measure(options):
    results = []
    for scenario in SCENARIOS:
        wanted = [row for row in scenario.rows if not options.rows or row.name in options.rows]
        if not wanted:
            continue
        start = time.monotonic()
        measured = scenario.measure(Options(options.quick, options.disk))
        took = time.monotonic() - start
        for result in measured:
            if result.row in wanted:
                results.append(result)
                print(f"{report.line(result)}", flush=True)
        print(f"  ({took:.0f} s)", file=sys.stderr, flush=True)
    return results


def _loaded(saved):
    times = {name: [Took(*one) for one in times] for name, times in saved["times"].items()}
    return Result(ROWS[saved["row"]], times, saved["memory"])


def main():
    options = parse()
    if options.list:
        for row in ROWS.values():
            print(f"{row.name:16} {report.goal(row):10} of {row.baseline}: {row.title}")
        return
    if options.render:
        saved = json.loads(SAVED.read_text())
        results = [_loaded(one) for one in saved["results"]]
        report.write(HERE.parent / "docs", results, saved["machine"])
        return
    print(report.HEADING)
    results = measure(options)
    missed = [result.row.name for result in results if not result.is_met()]
    print(f"{len(results) - len(missed)} of {len(results)} goals met" + (f"; missed: {', '.join(missed)}" if missed else ""))
    if not options.quick and not options.rows:
        machine = report.machine()
        rows = [{"row": one.row.name, "times": one.times, "memory": one.memory} for one in results]
        SAVED.write_text(json.dumps({"machine": machine, "results": rows}))
        report.write(HERE.parent / "docs", results, machine)
        print("written: docs/performance.md")
    if options.check and missed:
        sys.exit(1)


main()
