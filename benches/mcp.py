"""A minimal MCP client over stdio, so that only the server is measured."""

import json
import os
import pathlib
import subprocess

from measure import Failed, cpu_of, environment

PEERS = pathlib.Path(os.environ.get("PEERS", "."))


class Server:
    """A running server. The client polls for answers: waking a client that sleeps can take a virtual machine longer than
    the edit, and no server can change that."""

    def __init__(self, command, cwd):
        self._buffer = b""
        self.process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=environment(), cwd=cwd, bufsize=0,
        )
        os.set_blocking(self.process.stdout.fileno(), False)
        client = {"name": "slipstitch-bench", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def request(self, method, params):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.exchange(json.dumps(message).encode() + b"\n")

    def exchange(self, message):
        """Sends a request that is already serialised, and waits for its response."""
        self.process.stdin.write(message)
        while True:
            line = self._read_line()
            # Servers also send notifications and requests of their own.
            if b'"id":1' in line and b'"method"' not in line[:200]:
                return line

    def _read_line(self):
        while b"\n" not in self._buffer:
            try:
                data = os.read(self.process.stdout.fileno(), 1 << 20)
            except BlockingIOError:
                continue
            if not data:
                raise Failed("bench: a server exited")
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line

    def call(self, message):
        """Makes a tool call, which must succeed."""
        answer = self.exchange(message)
        if b'"isError":true' in answer or b'"error":' in answer[:60]:
            raise Failed(f"bench: {answer[:400]}")

    def cpu(self):
        """The processor time that the server has used so far, in seconds."""
        return cpu_of(self.process.pid)

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


class Kind:
    """A server program: how it is started, and how it is asked to edit a file."""

    def __init__(self, command, edits):
        self.command = command
        self._edits = edits

    def start(self, root):
        return Server(self.command(root), root)

    def call(self, root, name, pairs):
        """A serialised call that replaces the first text of each pair by the second."""
        arguments = self._edits(root, name, pairs)
        params = {"name": "edit_file", "arguments": arguments}
        return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode() + b"\n"


def _ours(root, name, pairs):
    edits = [{"old_text": old, "new_text": new} for old, new in pairs]
    return {"path": name, **edits[0]} if len(edits) == 1 else {"path": name, "edits": edits}


def _theirs(root, name, pairs):
    edits = [{"oldText": old, "newText": new} for old, new in pairs]
    return {"path": str(root / name), "edits": edits}


def _our_command(root):
    return [os.environ["SLIPSTITCH"], "--state-dir", root.parent / "state", "mcp", "--root", root]


OURS = Kind(_our_command, _ours)
REFERENCE = Kind(lambda root: ["/usr/bin/env", "node", PEERS / "node_modules/.bin/mcp-server-filesystem", root], _theirs)
RUST = Kind(lambda root: [PEERS / "bin/rust-mcp-filesystem", "--allow-write", root], _theirs)
