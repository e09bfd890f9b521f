"""Eight clients at once, each with a server of its own on the same root, and as many over one HTTP server: no
edit is lost, and memory stays flat. Usage: load.py [EDITS]

load.py --unprotected [EDITS] does the same with servers that take no locks and do not look at what they displace
(`torture worker serve`). It fails if nothing is lost then: a rig that cannot see a loss shows nothing."""

import concurrent.futures
import http.client
import json
import re
import sys
import time

from rig import LIMIT, MODERN, Http, Root, Stdio, check

CLIENTS = 8
FILES = 4
# How much more memory a server may hold at the end than after its first tenth of the work, in KiB.
GROWTH = 16 * 1024
# How many edits the normal run has, and the one without protection.
EDITS = {True: 8000, False: 800}


def files():
    """Every client has a line of its own in every file, so that all of them write the same files."""
    lines = "".join(f"client {number}: 0 edits\n" for number in range(CLIENTS))
    padding = "a line that nobody edits\n" * 300
    return {f"f{number}.txt": padding + lines + padding for number in range(FILES)}


class Client:
    """Counts up in its own line of the files, one after the other, and remembers what it was told."""

    def __init__(self, root, number):
        self.root, self.number = root, number
        self.count = dict.fromkeys(files(), 0)
        self.told = dict.fromkeys(files(), 0)
        self.refused = []

    def next_edit(self, turn):
        path = f"f{turn % FILES}.txt"
        line = f"client {self.number}: {{}} edits"
        before = self.count[path]
        return path, {"path": path, "old_text": line.format(before), "new_text": line.format(before + 1)}

    def hear(self, path, answer):
        """Takes an answer. After a refusal it goes on from what the file says now."""
        if answer.get("result", {}).get("structuredContent", {}).get("status") == "applied":
            self.count[path] += 1
            self.told[path] += 1
            return
        self.refused.append(f"client {self.number}, `{path}`: {str(answer)[:500]}")
        self.count[path] = self.shown(path)

    def shown(self, path):
        found = re.search(rf"^client {self.number}: (\d+) edits$", self.root.get(path), re.MULTILINE)
        return int(found[1]) if found else 0

    def lost(self):
        """How many edits it was told of that are not in the files."""
        return sum(told - self.shown(path) for path, told in self.told.items())


def over_stdio(client, edits):
    server = Stdio(client.root)
    early = None
    for turn in range(edits):
        path, arguments = client.next_edit(turn)
        client.hear(path, server.call("edit_file", arguments))
        if turn == min(max(edits // 10, 20), edits - 1):
            early = server.memory()
    late = server.memory()
    check(server.close() == 0, "the server ends well")
    return early, late


def over_http(client, url, edits):
    port = int(re.search(r":(\d+)/", url)[1])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)
    headers = {
        "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "edit_file",
    }
    # A name of its own: calls under one name belong to one session, which has them one after the other.
    name = {"name": f"load-{client.number}", "version": "1"}
    meta = MODERN | {"io.modelcontextprotocol/clientInfo": name}
    for turn in range(edits):
        path, arguments = client.next_edit(turn)
        params = {"name": "edit_file", "arguments": arguments, "_meta": meta}
        body = {"jsonrpc": "2.0", "id": turn, "method": "tools/call", "params": params}
        connection.request("POST", "/mcp", json.dumps(body), headers)
        text = connection.getresponse().read().decode()
        events = [line[5:] for line in text.splitlines() if line.startswith("data:") and line[5:].strip()]
        client.hear(path, json.loads(events[-1] if events else text))
    connection.close()


def together(root, work):
    """Lets eight clients work at once; returns them, what each returned, and how long it took."""
    clients = [Client(root, number) for number in range(CLIENTS)]
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        returned = [waiting.result() for waiting in [pool.submit(work, client) for client in clients]]
    return clients, returned, time.monotonic() - begin


def losses(clients):
    return sum(client.lost() for client in clients)


def nothing_is_lost(root, clients, edits):
    refused = [refusal for client in clients for refusal in client.refused]
    check(not refused, f"{len(refused)} edits were refused: {refused[:1]}")
    check(losses(clients) == 0, f"{losses(clients)} edits that were told as done are lost")
    for name, text in files().items():
        share = len([turn for turn in range(edits) if turn % FILES == int(name[1])])
        check(root.get(name) == text.replace(": 0 edits", f": {share} edits"), f"`{name}` is not what it should be")


def protected(edits):
    root = Root(files())
    clients, memory, stdio_time = together(root, lambda client: over_stdio(client, edits))
    nothing_is_lost(root, clients, edits)
    root.close()
    growth = max(late - early for early, late in memory)
    check(growth < GROWTH, f"a server grew by {growth} KiB")

    root = Root(files())
    server = Http(root)
    clients, _, http_time = together(root, lambda client: over_http(client, server.url, edits))
    nothing_is_lost(root, clients, edits)
    early = server.memory()
    # The same again: what the server keeps must not grow with the calls that it has answered.
    for name, text in files().items():
        root.put(name, text)
    clients, _, more_time = together(root, lambda client: over_http(client, server.url, edits))
    nothing_is_lost(root, clients, edits)
    late = server.memory()
    check(late - early < GROWTH, f"the HTTP server grew by {late - early} KiB")
    check(server.close() == 0, "the server ends well")
    root.close()
    told = edits * CLIENTS
    mean = [sum(column) // CLIENTS for column in zip(*memory)]
    print(
        f"load: {CLIENTS} clients, {3 * told} edits, none lost;"
        f" stdio {told / stdio_time:.0f} edits/s, memory {mean[0]} to {mean[1]} KiB each, at most {max(growth, 0)} more;"
        f" HTTP {2 * told / (http_time + more_time):.0f} edits/s, memory {early} to {late} KiB"
    )


def unprotected(edits):
    found = {}
    for kind in ["stdio", "HTTP"]:
        root = Root(files(), weak=True)
        server = Http(root) if kind == "HTTP" else None
        work = (lambda client: over_http(client, server.url, edits)) if server else lambda client: over_stdio(client, edits)
        clients, _, _ = together(root, work)
        found[kind] = losses(clients)
        if server:
            server.close()
        root.close()
        check(found[kind] > 0, f"servers without protection lost nothing over {kind}: this rig sees no losses")
    print(f"load, unprotected: of {edits * CLIENTS} edits each, lost {found['stdio']} over stdio, {found['HTTP']} over HTTP")


def main(words):
    whole = "--unprotected" not in words
    numbers = [word for word in words if word != "--unprotected"]
    total = int(numbers[0]) if numbers else EDITS[whole]
    (protected if whole else unprotected)(max(total // 2 // CLIENTS, FILES))


main(sys.argv[1:])
