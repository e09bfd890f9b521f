"""Hosts at a pseudoterminal: what they show, and keys for them."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

# Escape sequences that move the cursor or set colours.
ESCAPES = re.compile(rb"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][0-9A-B]|[=>78cDEHM])")
# What hosts ask the terminal at the start, and what a terminal answers.
QUERIES = {
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[c": b"\x1b[?62;c",
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
}


class Terminal:
    """A command at a terminal. It ends with the block."""

    def __init__(self, command, cwd, environment):
        self.shown = b""
        self.pid, self.stream = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execve(str(command[0]), [str(word) for word in command], {**environment, "TERM": "xterm-256color"})
        fcntl.ioctl(self.stream, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 120, 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)
        os.close(self.stream)

    def read(self, seconds):
        """Reads what the command shows for a while."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            ready, _, _ = select.select([self.stream], [], [], left)
            if not ready:
                return
            try:
                data = os.read(self.stream, 1 << 16)
            except OSError:
                return
            self.shown += data
            for query, answer in QUERIES.items():
                if query in data:
                    os.write(self.stream, answer)

    def text(self):
        """Everything that was shown, without layout."""
        return re.sub(r"\s+", " ", ESCAPES.sub(b" ", self.shown).decode(errors="replace"))

    def wait_for(self, condition, seconds):
        """Whether a condition comes true in time."""
        end = time.monotonic() + seconds
        while not (fulfilled := condition()) and time.monotonic() < end:
            self.read(0.3)
        return fulfilled

    def press(self, *keys):
        """Sends keys, slowly enough that they are not taken for pasted text."""
        for key in keys:
            os.write(self.stream, key.encode())
            self.read(1)
