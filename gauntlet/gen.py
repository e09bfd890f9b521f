#!/usr/bin/env python3
"""Generate the cases of our own kinds (see README.md and kinds/table.py).

The sources of text, the drafts and most mistakes are those of the given
gauntlet, a folder with gen.py and run.py; nothing of it is copied here.
The output depends only on the seed, the scale and the pairs.
"""

import argparse
import collections
import json
import random
import sys
import zlib


def log(text):
    print(text, file=sys.stderr, flush=True)


def take_turns(pool, rng):
    """The changes of every language in turn, for ever."""
    order = {lang: rng.sample(pool[lang], len(pool[lang])) for lang in sorted(pool)}
    while True:
        langs = sorted(order)
        rng.shuffle(langs)
        for lang in langs:
            for _ in range(min(12, len(order[lang]))):
                change = order[lang].pop(0)
                order[lang].append(change)
                if (yield change):
                    break


# No single file may decide a kind's figures.
MAX_PER_FILE = 3


def cases_of(kind, pool, seed, scale, skip, seen_suffix):
    """The cases of one kind, each without and with the versions seen."""
    rng = random.Random(f"{seed}/{kind.name}")
    count = max(1, round(kind.count * scale))
    made, found = 0, None
    used = collections.Counter()
    changes = take_turns(pool, rng)
    for _ in range(1500 + 400 * count):
        if made >= count:
            break
        change = changes.send(found)
        found = None
        if used[change.source, change.path] >= MAX_PER_FILE:
            continue
        form = kind.forms[made % len(kind.forms)]
        try:
            found = kind.make(change, rng, pool, form)
        except skip:
            continue
        made += 1
        used[found["source"], found["path"]] += found["source"] == change.source
        versions = found.pop("versions", None)
        yield with_id(kind, kind.name, made, found)
        if kind.seen:
            yield with_id(kind, kind.name + seen_suffix, made, {**found, "versions": versions})
    if made < count:
        log(f"  only {made} of {count} for {kind.name}")


def with_id(kind, name, number, case):
    body = json.dumps(case, sort_keys=True).encode()
    return {"id": f"{name}/{number:03d}-{zlib.crc32(body):08x}", "kind": name, "group": kind.group, **case}


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--gauntlet", required=True, help="folder of the given gauntlet")
    ap.add_argument("--pairs", action="append", required=True, help="folder with pairs of source trees")
    ap.add_argument("--out", required=True)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--scale", type=float, default=1.0, help="times the default counts")
    ap.add_argument("--pool", type=int, default=260, help="changes read per language")
    ap.add_argument("--least", type=int, default=20, help="leave out a language with fewer changes")
    ap.add_argument("--only", default="", help="kinds, with commas between")
    args = ap.parse_args()

    sys.path.append(args.gauntlet)
    from gauntlet.cases import Skip
    from gauntlet.pool import build_pool
    from gauntlet.sources import find_pairs, pair_entries
    from kinds.table import KINDS, SEEN

    only = set(filter(None, args.only.split(",")))
    if only - {kind.name for kind in KINDS}:
        ap.error("no such kind: " + ", ".join(sorted(only - {kind.name for kind in KINDS})))
    entries = [e for pair in find_pairs(args.pairs) for e in pair_entries(pair, lambda text: None)]
    pool = build_pool(entries, random.Random(args.seed), args.pool)
    pool = {lang: changes for lang, changes in pool.items() if len(changes) >= args.least}
    log("pool: " + ", ".join(f"{k} {len(v)}" for k, v in sorted(pool.items())))
    counts = collections.Counter()
    with open(args.out, "w", encoding="utf-8") as out:
        for kind in KINDS:
            if only and kind.name not in only:
                continue
            for case in cases_of(kind, pool, args.seed, args.scale, Skip, SEEN):
                counts[case["kind"]] += 1
                out.write(json.dumps(case, ensure_ascii=False) + "\n")
    log(f"{sum(counts.values())} cases of {len(counts)} kinds")


if __name__ == "__main__":
    main()
