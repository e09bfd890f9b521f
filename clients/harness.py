"""Temporary roots and MCP servers for the tests written in Python."""

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
# Has the same server without its protections.
TORTURE = os.environ.get("TORTURE", str(TARGET / "debug" / "torture"))
# In seconds.
TIMEOUT = 60

# Every dialect.
DIALECTS = (
    "native", "forge", "phoenix", "agent-q", "xzatoma", "nexus3", "claude", "codex", "gemini", "qwen", "opencode", "cline", "roo",
    "zed", "cursor", "copilot", "copilot-cli", "goose", "openhands", "aider", "hashline",
)

CLIENT_INFO = {"name": "slipstitch-clients", "version": "1"}
# The `_meta` of a stateless request.
STATELESS_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def check(condition, message):
    """Fails the test with `message` unless the condition is true."""
    if not condition:
        raise SystemExit(f"FAILED: {message}")


class Root:
    """A temporary root with some files, and a state folder next to it. With `unprotected`, its servers take no locks and
    check nothing."""

    def __init__(self, files=None, unprotected=False):
        self.unprotected = unprotected
        self._folder = tempfile.TemporaryDirectory(prefix="slipstitch-clients-")
        self.outside = pathlib.Path(self._folder.name)
        self.path = self.outside / "root"
        self.path.mkdir()
        for name, text in (files or {}).items():
            self.write(name, text)

    def write(self, name, text):
        (self.path / name).write_bytes(text.encode())

    def read(self, name):
        return (self.path / name).read_bytes().decode()

    def read_all(self):
        """The content of every file beneath the root, by path."""
        files = (path for path in self.path.rglob("*") if path.is_file())
        return {str(path.relative_to(self.path)): path.read_bytes() for path in files}

    def command(self, *args):
        """The command line of a server for this root."""
        state = str(self.outside / "state")
        if self.unprotected:
            return [TORTURE, "worker", "serve", str(self.path), state, *args]
        return [PROGRAM, "--state-dir", state, "--no-fsync", "mcp", "--root", str(self.path), *args]

    def environment(self):
        """Environment variables without the user's own settings."""
        return {"PATH": os.environ["PATH"], "HOME": str(self.outside)}

    def close(self):
        self._folder.cleanup()


def resident_memory(process):
    """The resident memory of a process in KiB."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


class StdioServer:
    """A server over stdio, without a client library in between."""

    def __init__(self, root, *args, handshake=True):
        self.process = subprocess.Popen(
            root.command(*args), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=root.environment(), cwd=root.outside,
        )
        self._last_id = 0
        if handshake:
            self.request(
                "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT_INFO}
            )
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def receive(self):
        line = self.process.stdout.readline()
        check(line, "the server closed its output")
        return json.loads(line)

    def request(self, method, params=None):
        """Sends a request and returns the response."""
        self._last_id += 1
        request_id = f"test-{self._last_id}"
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}})
        while True:
            response = self.receive()
            if response.get("id") == request_id:
                return response

    def call_tool(self, tool, arguments):
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def memory(self):
        return resident_memory(self.process)

    def close(self):
        """Ends the server and returns its exit code."""
        self.process.stdin.close()
        code = self.process.wait(TIMEOUT)
        self.process.stdout.close()
        return code


class HttpServer:
    """A server over HTTP on this machine, at `url`. `args` may say which token it needs; it has none otherwise."""

    def __init__(self, root, *args, default_token=False):
        # The unprotected server never has a token.
        has_token = default_token or root.unprotected or any(arg.startswith("--token") for arg in args)
        if not has_token:
            args = ("--no-token", *args)
        self.process = subprocess.Popen(
            root.command("--http", "127.0.0.1:0", *args), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, env=root.environment(), cwd=root.outside,
        )
        self._urls, self._tokens = queue.Queue(), queue.Queue()
        threading.Thread(target=self._read_stderr, daemon=True).start()
        self.url = self._urls.get(timeout=TIMEOUT)
        check(self.url, "the HTTP server did not start")
        # The token that the server has made itself.
        self.token = self._tokens.get(timeout=TIMEOUT) if default_token else None
        self.port = int(re.search(r":(\d+)/", self.url)[1])

    def _read_stderr(self):
        for line in self.process.stderr:
            if found := re.search(r"http://\S+", line):
                self._urls.put(found[0])
            if found := re.search(r"Bearer (\S+)", line):
                self._tokens.put(found[1])
        self._urls.put(None)

    def memory(self):
        return resident_memory(self.process)

    def close(self):
        """Ends the server and returns its exit code."""
        self.process.terminate()
        return self.process.wait(TIMEOUT)
