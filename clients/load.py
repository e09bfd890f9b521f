"""Eight clients at once, each with a server of its own on the same root, and as many over one HTTP server: no
edit is lost, and memory stays flat. Usage: load.py [EDITS]"""

import concurrent.futures
import http.client
import json
import re
import sys

from rig import LIMIT, MODERN, Http, Root, Stdio, check

CLIENTS = 8
FILES = 4
# How much more memory a server may hold at the end than after its first tenth of the work, in KiB.
GROWTH = 16 * 1024


def files():
    """Every client has a line of its own in every file, so that all of them write the same files."""
    lines = "".join(f"client {number}: 0 edits\n" for number in range(CLIENTS))
    padding = "a line that nobody edits\n" * 300
    return {f"f{number}.txt": padding + lines + padding for number in range(FILES)}


def one_edit(number, count):
    """The arguments of a client's edit: it counts up in its own line of one of the files."""
    path, before = f"f{count % FILES}.txt", count // FILES
    line = f"client {number}: {{}} edits"
    return {"path": path, "old_text": line.format(before), "new_text": line.format(before + 1)}


def done(answer, what):
    result = answer.get("result", {})
    check(result.get("structuredContent", {}).get("status") == "applied", f"{what}: {str(answer)[:500]}")


def over_stdio(root, number, edits):
    server = Stdio(root)
    early = None
    for count in range(edits):
        done(server.call("edit_file", one_edit(number, count)), f"client {number}, edit {count}")
        if count == max(edits // 10, 20):
            early = server.memory()
    late = server.memory()
    check(server.close() == 0, "the server ends well")
    return early, late


def over_http(url, number, edits):
    port = int(re.search(r":(\d+)/", url)[1])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)
    headers = {
        "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "edit_file",
    }
    for count in range(edits):
        params = {"name": "edit_file", "arguments": one_edit(number, count), "_meta": MODERN}
        body = {"jsonrpc": "2.0", "id": count, "method": "tools/call", "params": params}
        connection.request("POST", "/mcp", json.dumps(body), headers)
        text = connection.getresponse().read().decode()
        events = [line[5:] for line in text.splitlines() if line.startswith("data:") and line[5:].strip()]
        done(json.loads(events[-1] if events else text), f"client {number}, edit {count}")
    connection.close()


def together(work):
    """What eight clients return that all work at once."""
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        return [waiting.result() for waiting in [pool.submit(work, number) for number in range(CLIENTS)]]


def nothing_is_lost(root, edits):
    for name, text in files().items():
        place = int(name[1])
        share = len([count for count in range(edits) if count % FILES == place])
        check(root.get(name) == text.replace(": 0 edits", f": {share} edits"), f"`{name}` lost an edit")


def main(total):
    edits = total // 2 // CLIENTS
    root = Root(files())
    memory = together(lambda number: over_stdio(root, number, edits))
    nothing_is_lost(root, edits)
    root.close()
    growth = max(late - early for early, late in memory)
    check(growth < GROWTH, f"a server grew by {growth} KiB")

    root = Root(files())
    server = Http(root)
    together(lambda number: over_http(server.url, number, edits))
    nothing_is_lost(root, edits)
    early = server.memory()
    # The same again: what the server keeps must not grow with the calls that it has answered.
    for name, text in files().items():
        root.put(name, text)
    together(lambda number: over_http(server.url, number, edits))
    nothing_is_lost(root, edits)
    grown = server.memory() - early
    check(grown < GROWTH, f"the HTTP server grew by {grown} KiB")
    check(server.close() == 0, "the server ends well")
    root.close()
    print(
        f"load: {CLIENTS} clients, {3 * edits * CLIENTS} edits, none lost; memory grew by {max(growth, 0)} KiB"
        f" over stdio and {max(grown, 0)} KiB over HTTP"
    )


main(int(sys.argv[1]) if len(sys.argv) > 1 else 800)
