#!/usr/bin/env python3
"""Prints the results of several tools as a Markdown table. Usage: table.py RESULTS.json...

Each file is what the gauntlet's `run.py run --out` writes; forms that a tool does not know are left out of its file.
"""

import collections
import json
import sys

FORMS = {"replace": "text to replace", "udiff": "unified diff", "v4a": "V4A patch"}


def percent(count, total):
    return f"{100 * count / total:.1f} %"


rows = collections.defaultdict(list)
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    for form in FORMS:
        results = [result for result in data["results"] if result["form"] == form]
        if not results:
            continue
        count = collections.Counter(result["grade"] for result in results)
        detail = collections.Counter(result["detail"] for result in results if result["grade"] == "wrong")
        # An edit outside its place, or one that should have been refused, is the harm.
        misplaced = detail["misplaced"] + detail["applied"]
        cells = [count["right"], count["almost"], count["refused"], detail["untouched"], detail["in place"], misplaced]
        rows[form].append((data["name"], len(results), cells))

HEADS = ["edit as", "tool", "right", "but for white space", "refused", "“done”, unchanged", "wrong text", "wrong place"]
print("| " + " | ".join(HEADS) + " |")
print("| --- | --- |" + " ---: |" * (len(HEADS) - 2))
for form, name in FORMS.items():
    for index, (tool, total, cells) in enumerate(rows[form]):
        first = f"{name} ({total:,} cases)" if index == 0 else ""
        print(f"| {first} | {tool} | " + " | ".join(percent(cell, total) for cell in cells) + " |")
