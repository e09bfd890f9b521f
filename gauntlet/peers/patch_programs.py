#!/usr/bin/env python3
"""GNU patch and git apply. Usage: patch_programs.py patch|git"""

import subprocess
import sys

from case_loop import Refused, serve

COMMANDS = {
    # As `patch <change.diff` would be typed, but without questions, backups and rejects.
    "patch": ["patch", "--batch", "--forward", "--no-backup-if-mismatch", "--reject-file=-", "--strip=1"],
    "git": ["git", "apply", "--whitespace=nowarn", "-"],
}
command = COMMANDS[sys.argv[1]]


def edit(root, request):
    if "diff" not in request:
        raise Refused("only unified diffs")
    done = subprocess.run(command, cwd=root, input=request["diff"].encode(), capture_output=True)
    if done.returncode:
        raise Refused((done.stdout + done.stderr).decode(errors="replace"))


serve(edit)
