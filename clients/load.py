"""Eight concurrent clients edit the same files, first with a stdio server each, then through one HTTP server: no edit may be
lost, and memory must not grow. Usage: load.py [--unprotected] [EDITS]

With --unprotected the servers take no locks and do not check what they overwrite (`torture worker serve`). The test then
fails if no edit is lost: a test that cannot detect a loss proves nothing."""

import concurrent.futures
import http.client
import json
import re
import sys
import time

from harness import STATELESS_META, TIMEOUT, HttpServer, Root, StdioServer, check

CLIENTS = 8
FILES = 4
# How much memory a server may gain after the first part of the run, in KiB.
MAX_GROWTH = 16 * 1024
DEFAULT_EDITS = {"protected": 8000, "unprotected": 800}


def initial_files():
    """Every client has its own line in every file, so that all of them write the same files."""
    lines = "".join(f"client {number}: 0 edits\n" for number in range(CLIENTS))
    padding = "padding\n" * 300
    return {f"f{number}.txt": padding + lines + padding for number in range(FILES)}


class Client:
    """Counts up in its line of each file, and records which edits were acknowledged."""

    def __init__(self, root, number):
        self.root, self.number = root, number
        self.count = dict.fromkeys(initial_files(), 0)
        self.acknowledged = dict.fromkeys(initial_files(), 0)
        self.refusals = []

    def next_edit(self, turn):
        path = f"f{turn % FILES}.txt"
        line = f"client {self.number}: {{}} edits"
        count = self.count[path]
        return path, {"path": path, "old_text": line.format(count), "new_text": line.format(count + 1)}

    def record(self, path, response):
        """Records the response to an edit. After a refusal, counting continues from what the file has."""
        if "result" in response and not response["result"].get("isError"):
            self.count[path] += 1
            self.acknowledged[path] += 1
            return
        self.refusals.append(f"client {self.number}, `{path}`: {str(response)[:500]}")
        self.count[path] = self.count_in_file(path)

    def count_in_file(self, path):
        found = re.search(rf"^client {self.number}: (\d+) edits$", self.root.read(path), re.MULTILINE)
        return int(found[1]) if found else 0

    def lost_edits(self):
        """The number of acknowledged edits that are not in the files."""
        return sum(acknowledged - self.count_in_file(path) for path, acknowledged in self.acknowledged.items())


def edit_over_stdio(client, edits):
    """Returns the memory of the server after a tenth of the edits and at the end."""
    server = StdioServer(client.root)
    early = None
    for turn in range(edits):
        path, arguments = client.next_edit(turn)
        client.record(path, server.call_tool("edit_file", arguments))
        if turn == min(max(edits // 10, 20), edits - 1):
            early = server.memory()
    late = server.memory()
    check(server.close() == 0, "the server did not exit cleanly")
    return early, late


def edit_over_http(client, port, edits):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    headers = {
        "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "edit_file",
    }
    # A unique name: calls under the same name belong to one session, which runs them one after the other.
    info = {"name": f"load-{client.number}", "version": "1"}
    meta = STATELESS_META | {"io.modelcontextprotocol/clientInfo": info}
    for turn in range(edits):
        path, arguments = client.next_edit(turn)
        params = {"name": "edit_file", "arguments": arguments, "_meta": meta}
        body = {"jsonrpc": "2.0", "id": turn, "method": "tools/call", "params": params}
        connection.request("POST", "/mcp", json.dumps(body), headers)
        text = connection.getresponse().read().decode()
        events = [line[5:] for line in text.splitlines() if line.startswith("data:") and line[5:].strip()]
        client.record(path, json.loads(events[-1] if events else text))
    connection.close()


def run_clients(root, work):
    """Runs all clients concurrently. Returns them, what `work` returned for each, and the seconds it took."""
    clients = [Client(root, number) for number in range(CLIENTS)]
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        results = [future.result() for future in [pool.submit(work, client) for client in clients]]
    return clients, results, time.monotonic() - start


def count_lost(clients):
    return sum(client.lost_edits() for client in clients)


def check_nothing_lost(root, clients, edits):
    refusals = [refusal for client in clients for refusal in client.refusals]
    check(not refusals, f"{len(refusals)} edits were refused: {refusals[:1]}")
    check(count_lost(clients) == 0, f"{count_lost(clients)} acknowledged edits are lost")
    for name, text in initial_files().items():
        share = len([turn for turn in range(edits) if turn % FILES == int(name[1])])
        expected = text.replace(": 0 edits", f": {share} edits")
        check(root.read(name) == expected, f"`{name}` has unexpected content")


def test_protected(edits):
    root = Root(initial_files())
    clients, memory, stdio_time = run_clients(root, lambda client: edit_over_stdio(client, edits))
    check_nothing_lost(root, clients, edits)
    root.close()
    growth = max(late - early for early, late in memory)
    check(growth < MAX_GROWTH, f"a stdio server grew by {growth} KiB")

    root = Root(initial_files())
    server = HttpServer(root)
    clients, _, http_time = run_clients(root, lambda client: edit_over_http(client, server.port, edits))
    check_nothing_lost(root, clients, edits)
    early = server.memory()
    # Once more: memory must not grow with the number of calls.
    for name, text in initial_files().items():
        root.write(name, text)
    clients, _, second_time = run_clients(root, lambda client: edit_over_http(client, server.port, edits))
    check_nothing_lost(root, clients, edits)
    late = server.memory()
    check(late - early < MAX_GROWTH, f"the HTTP server grew by {late - early} KiB")
    check(server.close() == 0, "the server did not exit cleanly")
    root.close()
    total = edits * CLIENTS
    mean_early, mean_late = (sum(column) // CLIENTS for column in zip(*memory))
    print(
        f"load: {CLIENTS} clients, {3 * total} edits, none lost;"
        f" stdio: {total / stdio_time:.0f} edits/s, {mean_early} to {mean_late} KiB per server,"
        f" maximum growth {max(growth, 0)} KiB;"
        f" HTTP: {2 * total / (http_time + second_time):.0f} edits/s, {early} to {late} KiB"
    )


def test_unprotected(edits):
    root = Root(initial_files(), unprotected=True)
    clients, _, _ = run_clients(root, lambda client: edit_over_stdio(client, edits))
    lost_over_stdio = count_lost(clients)
    root.close()
    check(lost_over_stdio > 0, "unprotected stdio servers lost nothing: this test cannot detect a loss")

    root = Root(initial_files(), unprotected=True)
    server = HttpServer(root)
    clients, _, _ = run_clients(root, lambda client: edit_over_http(client, server.port, edits))
    lost_over_http = count_lost(clients)
    server.close()
    root.close()
    check(lost_over_http > 0, "an unprotected HTTP server lost nothing: this test cannot detect a loss")
    print(
        f"load, unprotected: {edits * CLIENTS} edits each,"
        f" {lost_over_stdio} lost over stdio, {lost_over_http} over HTTP"
    )


def main(args):
    mode = "unprotected" if "--unprotected" in args else "protected"
    numbers = [arg for arg in args if arg != "--unprotected"]
    total = int(numbers[0]) if numbers else DEFAULT_EDITS[mode]
    test = test_unprotected if mode == "unprotected" else test_protected
    # Half over stdio, half over HTTP.
    test(max(total // 2 // CLIENTS, FILES))


main(sys.argv[1:])
