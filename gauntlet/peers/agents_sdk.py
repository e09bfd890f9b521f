#!/usr/bin/env python3
"""The V4A patches of OpenAI's Agents SDK: `agents.apply_diff`, without the rest of the package, which needs a dozen others."""

import importlib.util
import pathlib
import sys

from case_loop import Refused, serve

location = pathlib.Path(importlib.util.find_spec("agents").submodule_search_locations[0])
spec = importlib.util.spec_from_file_location("apply_diff", location / "apply_diff.py")
module = importlib.util.module_from_spec(spec)
sys.modules["apply_diff"] = module
spec.loader.exec_module(module)

# The function gets the body of a patch; the caller takes off the envelope.
ENVELOPE = ("*** Begin Patch", "*** End Patch", "*** Update File:")


def edit(root, request):
    if "v4a" not in request:
        raise Refused("only V4A patches")
    file = root / request["path"]
    body = "\n".join(line for line in request["v4a"].split("\n") if not line.startswith(ENVELOPE))
    before = file.read_bytes().decode()
    file.write_bytes(module.apply_diff(before, body).encode())


serve(edit)
