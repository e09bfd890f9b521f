#!/usr/bin/env python3
"""Run an adapter over cases, grade its answers, and print a table per group.

Cases are those of gen.py here or of the given gauntlet; the adapter protocol
and the grades are the given gauntlet's (see its run.py), with two more fields
in a request: `edits`, a list of {old, new} for one call, and `versions`. One
grade is stricter: text at another depth, or lines joined or split, is wrong
here and not almost right.

With --follow the adapter also says what a second call gives that does what a
refusal says: resend the edit with the file's text, choose candidate 1, copy the
lines of candidate 1, or read the named lines. It follows right refusals too, and what that writes is counted.

Usage:
    run.py run --gauntlet DIR --cases FILE --name NAME [--follow] [--out FILE]
               [--forms F,...] [--kinds K,...] -- COMMAND ...
    run.py show --gauntlet DIR --cases FILE RESULTS [--kind K] [--grade wrong] [--n 3]
               [--second resend|candidate|copy|read]
"""

import argparse
import collections
import importlib.util
import json
import os
import sys

REQUEST = ("id", "path", "before", "old", "new", "edits", "diff", "v4a", "versions", "plain")
WAYS = ("resend", "candidate", "copy", "read")


def load_given(folder):
    """The given gauntlet's run.py, as a module."""
    spec = importlib.util.spec_from_file_location("given_run", os.path.join(folder, "run.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_harm(result):
    """Whether text changed where it should not have."""
    return result["detail"] in ("misplaced", "applied")


def grade_strictly(given, case, answer):
    """The given grade, but white space is part of the text where it has a
    meaning: a line at another depth, joined or split is wrong."""
    grade, detail = given.grade(case, answer)
    if grade == "almost":
        texts = [[line.rstrip() for line in text.split("\n") if line.strip()]
                 for text in (answer["after"], case["expected"])]
        if texts[0] != texts[1]:
            return "wrong", "indentation" if not detail else detail
    return grade, detail


def grade_second(given, case, answer):
    """The grade of each way to follow a refusal; none if it was not offered."""
    grades = {}
    for way in WAYS:
        second = (answer.get("second") or {}).get(way)
        if second:
            grade, detail = grade_strictly(given, case, second)
            grades[way] = {"grade": grade, "detail": detail, **second}
    return grades


def ask_all(given, args):
    command = args.command + ["--follow"] * args.follow
    adapter = given.Adapter(command, args.timeout)
    for case in given.read_cases(args.cases, args.forms, args.kinds):
        answer, took = adapter.ask({k: case[k] for k in REQUEST if k in case})
        if answer.get("id", case["id"]) != case["id"]:
            sys.exit(f"adapter answered {answer['id']} to {case['id']}")
        grade, detail = grade_strictly(given, case, answer)
        result = {"id": case["id"], "kind": case["kind"], "group": case.get("group", "given kinds"),
                  "form": case["form"], "lang": case["lang"], "refuse": case["expected"] is None,
                  "grade": grade, "detail": detail, "ms": took * 1000,
                  "after": answer.get("after"), "error": answer.get("error")}
        if args.follow and "after" not in answer:
            result["second"] = grade_second(given, case, answer)
        yield result
    adapter.finish()


def grouped(results, key):
    groups = collections.OrderedDict()
    for result in results:
        groups.setdefault(result[key], []).append(result)
    return groups


def print_group(given, group, results):
    print(f"\n-- {group}")
    print(f"{'':26}{'n':>5}" + "".join(f"{g:>9}" for g in given.GRADES) +
          f"{'misplaced':>11}{'right %':>9}{'ms p50':>9}{'ms p95':>9}")
    for kind, rows in grouped(results, "kind").items():
        print_row(given, kind, rows)
    for form, rows in grouped(results, "form").items():
        print_row(given, f"  {form}: must apply", [r for r in rows if not r["refuse"]])
        print_row(given, f"  {form}: must refuse", [r for r in rows if r["refuse"]])


def print_row(given, name, rows):
    if not rows:
        return
    count = collections.Counter(r["grade"] for r in rows)
    ms = [r["ms"] for r in rows]
    print(f"{name:26}{len(rows):5}" + "".join(f"{count[g]:9}" for g in given.GRADES) +
          f"{sum(map(is_harm, rows)):11}{100 * count['right'] / len(rows):9.1f}"
          f"{given.percentile(ms, .5):9.2f}{given.percentile(ms, .95):9.2f}")


def print_second(results):
    """What became of the requests that were refused although they can be placed."""
    refused = [r for r in results if "second" in r and not r["refuse"]]
    if refused:
        print_second_right(refused)
    refused = [r for r in results if "second" in r and r["refuse"]]
    if refused:
        print_second_harm(refused)


def print_second_right(refused):
    print("\n-- second call, of requests that were refused and have a right answer")
    print(f"{'':26}{'n':>5}" + "".join(f"{way:>11}{'right':>7}{'refused':>9}{'wrong':>7}" for way in WAYS) +
          f"{'either right %':>16}")
    for kind, rows in [*grouped(refused, "kind").items(), ("all", refused)]:
        line = f"{kind:26}{len(rows):5}"
        for way in WAYS:
            grades = collections.Counter(r["second"][way]["grade"] for r in rows if way in r["second"])
            wrong = grades["wrong"] + grades["almost"]
            line += f"{sum(grades.values()):11}{grades['right']:7}{grades['refused']:9}{wrong:7}"
        right = sum(any(s["grade"] == "right" for s in r["second"].values()) for r in rows)
        print(line + f"{100 * right / len(rows):16.1f}")


def print_second_harm(refused):
    """What a caller writes that follows the hint of a refusal that was right."""
    print("\n-- second call, of requests that were rightly refused")
    print(f"{'':26}{'n':>5}" + "".join(f"{way:>11}{'written':>9}" for way in WAYS) + f"{'any written %':>16}")
    for kind, rows in [*grouped(refused, "kind").items(), ("all", refused)]:
        line = f"{kind:26}{len(rows):5}"
        for way in WAYS:
            offered = [r["second"][way] for r in rows if way in r["second"]]
            line += f"{len(offered):11}{sum(map(is_written, offered)):9}"
        harmed = sum(any(map(is_written, r["second"].values())) for r in rows)
        print(line + f"{100 * harmed / len(rows):16.1f}")


def is_written(second):
    return second["grade"] == "wrong"


def do_run(given, args):
    results = list(ask_all(given, args))
    print(f"== {args.name}")
    if not args.second_only:
        for group, rows in grouped(results, "group").items():
            print_group(given, group, rows)
        print()
        print_row(given, "all", results)
    print_second(results)
    faults = collections.Counter(r["detail"] for r in results if r["detail"] in ("crash", "timeout"))
    if faults:
        print("faults:", dict(faults))
    if args.out:
        with open(args.out, "w", encoding="utf-8") as f:
            json.dump({"name": args.name, "results": results}, f)


def do_show(given, args):
    """The given gauntlet's display; with --second, of the second answers."""
    if args.second:
        with open(args.results, encoding="utf-8") as f:
            data = json.load(f)
        data["results"] = [{**r, **{"after": None, "error": None}, **r["second"][args.second]}
                           for r in data["results"] if args.second in r.get("second", {})]
        args.results += "." + args.second
        with open(args.results, "w", encoding="utf-8") as f:
            json.dump(data, f)
    given.do_show(args)


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    sub = ap.add_subparsers(dest="what", required=True)
    p = sub.add_parser("run")
    p.add_argument("--name", required=True)
    p.add_argument("--forms", default="")
    p.add_argument("--kinds", default="")
    p.add_argument("--follow", action="store_true")
    p.add_argument("--second-only", action="store_true", help="print only what the second calls gave")
    p.add_argument("--timeout", type=float, default=20)
    p.add_argument("--out", default="")
    p.add_argument("command", nargs="+")
    p.set_defaults(go=do_run)
    p = sub.add_parser("show")
    p.add_argument("results")
    p.add_argument("--kind", default="")
    p.add_argument("--grade", default="wrong")
    p.add_argument("--detail", default="")
    p.add_argument("--second", default="", choices=("", *WAYS))
    p.add_argument("--n", type=int, default=3)
    p.add_argument("--skip", type=int, default=0)
    p.set_defaults(go=do_show)
    for p in sub.choices.values():
        p.add_argument("--gauntlet", required=True, help="folder of the given gauntlet")
        p.add_argument("--cases", required=True)
    args = ap.parse_args()
    args.go(load_given(args.gauntlet), args)


if __name__ == "__main__":
    main()
