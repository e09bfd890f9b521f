#!/usr/bin/env python3
"""Add up what scripts/gauntlet wrote: a row per seed, and one for all of them.

Usage:
    summary.py CACHE SEED ...

CACHE is the folder with the results; SCALE (default 1) is that of the runs.
Prints a Markdown table. `typo` and `stale` of the given kinds are left out of
the first column: with the text alone, many of them cannot be decided.
"""

import json
import os
import sys

COLUMNS = ("seed", "given kinds right", "wrong", "own kinds right", "wrong", "natural twins, seen", "made twins, seen",
           "stale, seen", "second call right", "wrong")


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)["results"]


def share(rows, is_good):
    """How many rows are good, and how many there are."""
    return sum(map(is_good, rows)), len(rows)


def is_right(row):
    return row["grade"] == "right"


def is_wrong(row):
    return row["grade"] == "wrong"


def is_settled(row):
    """Whether a second call was right."""
    return any(map(is_right, row["second"].values()))


def is_spoilt(row):
    """Whether a second call wrote something else."""
    return any(second["grade"] in ("wrong", "almost") for second in row["second"].values())


def figures(given, own):
    """The columns of one seed, each as a count and a total."""
    plain = [r for r in given if not r["kind"].endswith(("stale", "typo"))]
    seen = {kind: [r for r in own if r["kind"] == f"{kind}, seen"]
            for kind in ("twin-natural", "twin-made", "stale-untouched")}
    again = [r for r in given + own if "second" in r and not r["refuse"]]
    return [share(plain, is_right), share(given, is_wrong), share(own, is_right), share(own, is_wrong),
            share(seen["twin-natural"], is_right), share(seen["twin-made"], is_right),
            share(seen["stale-untouched"], is_right), share(again, is_settled), share(again, is_spoilt)]


def row(name, columns):
    cells = [str(good) if COLUMNS[n + 1] == "wrong" else f"{100 * good / total:.1f} % of {total:,}"
             for n, (good, total) in enumerate(columns)]
    return f"| {' | '.join([name, *cells])} |"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    cache, seeds, scale = sys.argv[1], sys.argv[2:], os.environ.get("SCALE", "1")
    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}")
    rows = []
    for seed in seeds:
        given, own = (load(os.path.join(cache, f"{kind}-{seed}-{scale}.json"))
                      for kind in ("given-second", "own-results"))
        rows.append(figures(given, own))
        print(row(seed, rows[-1]))
    print(row("all", [tuple(map(sum, zip(*column))) for column in zip(*rows)]))


if __name__ == "__main__":
    main()
