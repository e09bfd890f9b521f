"""Compares the latency of our server with the reference file server, in the same run.

Prints the median of a warm edit of a 10 KB file over stdio, also without the transport (a `ping`), and the time from start
to the first response. `--check` fails if they exceed our limits.

The client polls for the response instead of blocking. Waking a client that has slept for longer takes the system longer, in
a virtual machine up to 0.2 ms, which no `ping` shows and no server can change. `--sleep` makes it block."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import time

from harness import CLIENT_INFO, HERE, PROGRAM, TIMEOUT, Root, check

# Limits in milliseconds.
MAX_EDIT_MS = 0.5
MAX_START_MS = 20.0
NODE = str(HERE / "node_modules/.bin/node")
REFERENCE = str(HERE / "node_modules/.bin/mcp-server-filesystem")
TEXT = "".join(f"{number:04} the quick brown fox jumps over the lazy dog\n" for number in range(205))


class Server:
    """A server over stdio, without a client library, so that only the server is measured."""

    def __init__(self, root, command, blocking=True):
        self.buffer = b""
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=root.environment(), cwd=root.path,
        )
        os.set_blocking(self.process.stdout.fileno(), blocking)
        self.request(
            "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT_INFO}
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self._send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        while True:
            response = json.loads(self._read_line())
            if response.get("id") == 1 and "method" not in response:
                return response

    def _read_line(self):
        while b"\n" not in self.buffer:
            try:
                data = os.read(self.process.stdout.fileno(), 1 << 16)
            except BlockingIOError:
                continue
            check(data, "the server exited")
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(TIMEOUT)
        finally:
            self.process.kill()
        self.process.stdout.close()


def our_command(root):
    return root.command()


def reference_command(root):
    return [NODE, REFERENCE, str(root.path)]


def our_edit(root, old, new):
    return {"path": "a.txt", "old_text": old, "new_text": new}


def reference_edit(root, old, new):
    return {"path": str(root.path / "a.txt"), "edits": [{"oldText": old, "newText": new}]}


def measure(work):
    """The result of `work`, and how many milliseconds it took."""
    start = time.perf_counter()
    result = work()
    return result, (time.perf_counter() - start) * 1000


def measure_warm(command, arguments, rounds, blocking):
    """The median of an edit and of a ping, in milliseconds."""
    root = Root({"a.txt": TEXT})
    server = Server(root, command(root), blocking)
    edits, pings = [], []
    texts = ("0100 the quick brown", "0100 the slow brown")
    for number in range(rounds):
        old, new = texts if number % 2 == 0 else texts[::-1]
        call = {"name": "edit_file", "arguments": arguments(root, old, new)}
        response, took = measure(lambda: server.request("tools/call", call))
        check(not response.get("result", {"isError": True}).get("isError"), f"{response}")
        check(new in root.read("a.txt"), "the edit is not in the file")
        edits.append(took)
        pings.append(measure(lambda: server.request("ping", {}))[1])
    server.close()
    root.close()
    # Without the first tenth, in which caches fill.
    return tuple(statistics.median(times[rounds // 10:]) for times in (edits, pings))


def measure_start(command, rounds):
    """The median time from start to the first response, in milliseconds."""
    root = Root({"a.txt": TEXT})
    times = []
    for _ in range(rounds):
        server, took = measure(lambda: Server(root, command(root)))
        times.append(took)
        server.close()
    root.close()
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1500, help="number of warm edits (default: %(default)s)")
    parser.add_argument("--sleep", action="store_true", help="block until there is a response instead of polling")
    parser.add_argument("--check", action="store_true", help="fail if a limit is exceeded")
    options = parser.parse_args()
    check(pathlib.Path(PROGRAM).exists(), f"`{PROGRAM}` does not exist; `scripts/bench-mcp` builds it")
    edit, ping = measure_warm(our_command, our_edit, options.rounds, options.sleep)
    reference_edit_time, reference_ping = measure_warm(
        reference_command, reference_edit, options.rounds, options.sleep
    )
    start, reference_start = (measure_start(command, 11) for command in (our_command, reference_command))
    work = edit - ping
    print(f"{'':28}{'slipstitch':>12}{'reference':>12}{'ratio':>8}")
    for name, ours, reference in [
        ("warm edit of 10 KB", edit, reference_edit_time),
        ("  ping", ping, reference_ping),
        ("  without transport", work, reference_edit_time - reference_ping),
        ("start to first response", start, reference_start),
    ]:
        print(f"{name:28}{ours:9.3f} ms{reference:9.3f} ms{ours / max(reference, 0.001):8.2f}")
    print(f"limits: {MAX_EDIT_MS} ms for an edit without transport, {MAX_START_MS:.0f} ms to the first response")
    if options.check:
        check(work <= MAX_EDIT_MS, f"an edit takes {work:.3f} ms without transport")
        check(start <= MAX_START_MS, f"the first response takes {start:.1f} ms")


main()
