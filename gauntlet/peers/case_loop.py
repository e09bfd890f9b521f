"""Answers the cases of a gauntlet with a tool that edits files: one folder with one file for each case."""

import json
import pathlib
import sys
import tempfile


class Refused(Exception):
    """The tool did not apply the edit."""


def serve(edit):
    """Reads cases from stdin and answers them. `edit(folder, request)` changes the file or raises; any error is a refusal."""
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"id": request["id"]}
        with tempfile.TemporaryDirectory(prefix="gauntlet-") as folder:
            root = pathlib.Path(folder).resolve()
            file = root / request["path"]
            file.parent.mkdir(parents=True, exist_ok=True)
            before = request["before"].encode()
            file.write_bytes(before)
            try:
                edit(root, request)
                answer["after"] = file.read_bytes().decode(errors="replace")
            except Exception as error:  # Whatever it is, the tool says no.
                # What counts is the file: a tool that reports an error after it has written has written.
                after = file.read_bytes() if file.exists() else before
                if after == before:
                    answer["error"] = f"{type(error).__name__}: {error}"
                else:
                    answer["after"] = after.decode(errors="replace")
        print(json.dumps(answer), flush=True)
