"""A root of its own, and a server in it, for the rigs that are written in Python."""

import json
import os
import pathlib
import queue
import re
import subprocess
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target"))
PROGRAM = os.environ.get("SLIPSTITCH", str(TARGET / "debug" / "slipstitch"))
# The same server without its protections, for rigs that must see what happens then.
TORTURE = os.environ.get("TORTURE", str(TARGET / "debug" / "torture"))
LIMIT = 60

CLIENT = {"name": "slipstitch-clients", "version": "1"}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def check(true, what):
    """Ends the rig if something is not so."""
    if not true:
        raise SystemExit(f"FAILED: {what}")


class Root:
    """A folder with some files, and a state folder beside it; if `weak`, its servers protect nothing."""

    def __init__(self, files=None, weak=False):
        self.weak = weak
        self._folder = tempfile.TemporaryDirectory(prefix="slipstitch-clients-")
        self.outside = pathlib.Path(self._folder.name)
        self.path = self.outside / "root"
        self.path.mkdir()
        for name, text in (files or {}).items():
            self.put(name, text)

    def put(self, name, text):
        (self.path / name).write_bytes(text.encode())

    def get(self, name):
        return (self.path / name).read_bytes().decode()

    def all(self):
        """Every file beneath the root, to see that nothing was written."""
        files = (path for path in self.path.rglob("*") if path.is_file())
        return {str(path.relative_to(self.path)): path.read_bytes() for path in files}

    def command(self, *more):
        state = str(self.outside / "state")
        if self.weak:
            return [TORTURE, "worker", "serve", str(self.path), state, *more]
        return [PROGRAM, "--state-dir", state, "--no-fsync", "mcp", "--root", str(self.path), *more]

    def close(self):
        self._folder.cleanup()


def environment(root):
    """Nothing of the tester's own settings."""
    return {"PATH": os.environ["PATH"], "HOME": str(root.outside)}


def memory(process):
    """What a process holds in memory, in KiB."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


class Stdio:
    """A server that is spoken to line by line, without a library in between."""

    def __init__(self, root, *more, handshake=True):
        self.root = root
        self.process = subprocess.Popen(
            root.command(*more), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=environment(root), cwd=root.outside,
        )
        self._last = 0
        if handshake:
            self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT})
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def line(self):
        line = self.process.stdout.readline()
        check(line, "the server closed its output")
        return json.loads(line)

    def ask(self, method, params=None):
        """Sends a request and returns the answer to it."""
        self._last += 1
        asked = f"rig-{self._last}"
        self.send({"jsonrpc": "2.0", "id": asked, "method": method, "params": params or {}})
        while True:
            answer = self.line()
            if answer.get("id") == asked:
                return answer

    def call(self, tool, arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def memory(self):
        return memory(self.process)

    def close(self):
        self.process.stdin.close()
        code = self.process.wait(LIMIT)
        self.process.stdout.close()
        return code


class Http:
    """A server that listens on this machine; the address is in `url`."""

    def __init__(self, root, *more):
        self.root = root
        self.process = subprocess.Popen(
            root.command("--http", "127.0.0.1:0", *more), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, env=environment(root), cwd=root.outside,
        )
        self._said = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.url = self._said.get(timeout=LIMIT)
        check(self.url, "the HTTP server did not start")
        self.port = int(re.search(r":(\d+)/", self.url)[1])

    def _listen(self):
        for line in self.process.stderr:
            if found := re.search(r"http://\S+", line):
                self._said.put(found[0])
        self._said.put(None)

    def memory(self):
        return memory(self.process)

    def close(self):
        self.process.terminate()
        return self.process.wait(LIMIT)
