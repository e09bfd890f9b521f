"""How long calls take, beside a peer: the reference file server, run in turn with ours.

Prints the median of a warm edit of a 10 KB file over stdio, less what the transport takes (a `ping`), and the
time from start to first answer. `--check` fails if they are beyond what we want.

The client looks for the answer all the time instead of sleeping: to wake a client that has slept for longer takes the
system longer, in a virtual machine up to 0.2 ms, which no `ping` shows and no server can change. `--sleep` has it sleep."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import time

from rig import CLIENT, HERE, LIMIT, PROGRAM, Root, check, environment

WARM_MS = 0.5
COLD_MS = 20.0
NODE = str(HERE / "node_modules/.bin/node")
PEER = str(HERE / "node_modules/.bin/mcp-server-filesystem")
TEXT = "".join(f"{number:04} the quick brown fox jumps over the lazy dog\n" for number in range(205))


class Server:
    """A server over stdio, spoken to without a library, so that only the server is measured."""

    def __init__(self, root, command, sleeps=True):
        self.rest = b""
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=environment(root), cwd=root.path,
        )
        os.set_blocking(self.process.stdout.fileno(), sleeps)
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self._send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        while True:
            answer = json.loads(self._line())
            if answer.get("id") == 1 and "method" not in answer:
                return answer

    def _line(self):
        """The next line that the server writes."""
        while b"\n" not in self.rest:
            try:
                read = os.read(self.process.stdout.fileno(), 1 << 16)
            except BlockingIOError:
                continue
            check(read, "the server ended")
            self.rest += read
        line, self.rest = self.rest.split(b"\n", 1)
        return line

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(LIMIT)
        finally:
            self.process.kill()
        self.process.stdout.close()


def ours(root):
    return root.command()


def peer(root):
    return [NODE, PEER, str(root.path)]


def our_edit(root, old, new):
    return {"path": "a.txt", "old_text": old, "new_text": new}


def peer_edit(root, old, new):
    return {"path": str(root.path / "a.txt"), "edits": [{"oldText": old, "newText": new}]}


def timed(work):
    """What it returns, and how many milliseconds it took."""
    begin = time.perf_counter()
    result = work()
    return result, (time.perf_counter() - begin) * 1000


def warm(command, arguments, rounds, sleeps):
    """The median of an edit and of a ping, in milliseconds."""
    root = Root({"a.txt": TEXT})
    server = Server(root, command(root), sleeps)
    edits, pings = [], []
    sides = ("0100 the quick brown", "0100 the slow brown")
    for number in range(rounds):
        old, new = sides if number % 2 == 0 else sides[::-1]
        call = {"name": "edit_file", "arguments": arguments(root, old, new)}
        answer, took = timed(lambda: server.ask("tools/call", call))
        check(not answer.get("result", {"isError": True}).get("isError"), f"{answer}")
        check(new in root.get("a.txt"), "the edit is in the file")
        edits.append(took)
        pings.append(timed(lambda: server.ask("ping", {}))[1])
    server.close()
    root.close()
    # The first tenth is for caches to fill.
    return tuple(statistics.median(list[rounds // 10:]) for list in (edits, pings))


def cold(command, rounds):
    """The median time from start to first answer, in milliseconds."""
    root = Root({"a.txt": TEXT})
    times = []
    for _ in range(rounds):
        server, took = timed(lambda: Server(root, command(root)))
        times.append(took)
        server.close()
    root.close()
    return statistics.median(times)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=1500)
    options.add_argument("--sleep", action="store_true", help="the client sleeps until there is an answer")
    options.add_argument("--check", action="store_true", help="fail if it takes longer than wanted")
    options = options.parse_args()
    check(pathlib.Path(PROGRAM).exists(), f"`{PROGRAM}` is not there; `scripts/bench-mcp` builds it")
    (edit, ping), (peers_edit, peers_ping) = (
        warm(command, arguments, options.rounds, options.sleep)
        for command, arguments in ((ours, our_edit), (peer, peer_edit))
    )
    start, peers_start = (cold(command, 11) for command in (ours, peer))
    work, peers_work = edit - ping, peers_edit - peers_ping
    print(f"{'':28}{'slipstitch':>12}{'peer':>12}{'ratio':>8}")
    for what, mine, theirs in [
        ("edit of 10 KB, warm", edit, peers_edit), ("  ping", ping, peers_ping),
        ("  beyond the transport", work, peers_work), ("start to first answer", start, peers_start),
    ]:
        print(f"{what:28}{mine:9.3f} ms{theirs:9.3f} ms{mine / max(theirs, 0.001):8.2f}")
    print(f"wanted: at most {WARM_MS} ms beyond the transport, {COLD_MS:.0f} ms to the first answer")
    if options.check:
        check(work <= WARM_MS, f"an edit takes {work:.3f} ms beyond the transport")
        check(start <= COLD_MS, f"the first answer takes {start:.1f} ms")


main()
