#!/usr/bin/env python3
"""Compare the time per call of two adapters on the same cases.

Runs the two by turns, so that whatever else the machine does slows down both,
and takes each adapter's best median: noise only ever adds time. The times are
those that the adapters measure around the call itself and print at the end.

Usage: time.py --cases FILE [--rounds 5] BEFORE AFTER
"""

import argparse
import re
import subprocess


def median_ms(adapter, cases):
    with open(cases, encoding="utf-8") as f:
        done = subprocess.run([adapter], stdin=f, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, check=True)
    return float(re.search(r"median ([\d.]+) ms", done.stderr).group(1))


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--cases", required=True)
    ap.add_argument("--rounds", type=int, default=5)
    ap.add_argument("before")
    ap.add_argument("after")
    args = ap.parse_args()
    times = {adapter: [] for adapter in (args.before, args.after)}
    for _ in range(args.rounds):
        for adapter, found in times.items():
            found.append(median_ms(adapter, args.cases))
    before, after = (min(found) for found in times.values())
    print(f"median per call: before {before:.3f} ms, after {after:.3f} ms, ratio {after / before:.2f}")


if __name__ == "__main__":
    main()
