#!/usr/bin/env python3
"""`edit_file` of the MCP project's filesystem server. Usage: filesystem_server.py NODE SERVER.js"""

import json
import pathlib
import subprocess
import sys
import tempfile

from case_loop import Refused, serve

# The folder must be there when the server starts; each case has a folder below it.
top = pathlib.Path(tempfile.mkdtemp(prefix="gauntlet-server-")).resolve()
tempfile.tempdir = str(top)
server = subprocess.Popen(
    [*sys.argv[1:], str(top)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
)
last_id = 0


def call(method, params):
    global last_id
    last_id += 1
    send({"id": last_id, "method": method, "params": params})
    while True:
        line = server.stdout.readline()
        if not line:
            sys.exit("the server ended")
        message = json.loads(line)
        if message.get("id") == last_id and "method" not in message:
            return message
        if "id" in message and "method" in message:
            send({"id": message["id"], "error": {"code": -32601, "message": "not known here"}})


def send(message):
    server.stdin.write((json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())
    server.stdin.flush()


def edit(root, request):
    if "old" not in request:
        raise Refused("only texts to replace")
    edits = [{"oldText": request["old"], "newText": request["new"]}]
    arguments = {"path": str(root / request["path"]), "edits": edits}
    answer = call("tools/call", {"name": "edit_file", "arguments": arguments})
    result = answer.get("result", {})
    if "error" in answer or result.get("isError"):
        raise Refused(json.dumps(answer)[:500])


client = {"name": "gauntlet", "version": "1"}
call("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
send({"method": "notifications/initialized"})
serve(edit)
server.stdin.close()
server.wait(10)
