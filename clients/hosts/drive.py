"""Drives agent hosts and frameworks with a scripted model: install, connect, `doctor`, edit, refusal, protected path, parallel
calls, uninstall.

Hosts come from the npm registry by name, frameworks from PyPI, into the cache folder. Each runs in a temporary home. One
that cannot be installed is listed with the reason. With --table, the tokens that the model saw are written to docs/mcp.md."""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from frameworks import FRAMEWORKS  # noqa: E402
from harness import PROGRAM, TARGET  # noqa: E402
from hosts import HOSTS  # noqa: E402
from model import Model  # noqa: E402
from table import write_table  # noqa: E402
from terminal import Terminal  # noqa: E402

# In seconds; a host takes a few of them unless the machine is busy.
TIMEOUT = int(os.environ.get("HOST_TIMEOUT", "240"))
INSTALL_TIMEOUT = int(os.environ.get("INSTALL_TIMEOUT", "900"))
PROMPT = "Follow the script."
EDIT, REFUSED, PROTECTED, PARALLEL = range(4)
PROTECTED_FILE = ".github/workflows/ci.yml"
FILES = {
    "notes.txt": "one\ntwo\nthree\n",
    "left.txt": "left = 1\n",
    "right.txt": "right = 1\n",
    "both.txt": "first = 1\nmiddle\nlast = 1\n",
    PROTECTED_FILE: "on: push\n",
}
SCRIPT = [
    [("edit_file", {"path": "notes.txt", "old_text": "two\n", "new_text": "TWO\n"})],
    [("edit_file", {"path": "notes.txt", "old_text": "missing\n", "new_text": "x\n"})],
    [("edit_file", {"path": PROTECTED_FILE, "old_text": "push", "new_text": "pull_request"})],
    [
        ("edit_file", {"path": "left.txt", "old_text": "left = 1", "new_text": "left = 2"}),
        ("edit_file", {"path": "right.txt", "old_text": "right = 1", "new_text": "right = 2"}),
        ("edit_file", {"path": "both.txt", "old_text": "first = 1", "new_text": "first = 2"}),
        ("edit_file", {"path": "both.txt", "old_text": "last = 1", "new_text": "last = 2"}),
    ],
    "The script is done.",
]
FORM_SCRIPT = [SCRIPT[PROTECTED], "The script is done."]


class Failed(Exception):
    """A check that a host did not pass."""


class NotAvailable(Exception):
    """A host that cannot be run here."""


def check(condition, message):
    if not condition:
        raise Failed(message)


def install_package(package, program, cache):
    """The host's program, installed from the registry if the cache does not have it."""
    folder = cache / package.strip("@").replace("/", "-")
    path = folder / "node_modules" / ".bin" / program
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}\n')
        command = ["npm", "install", "--silent", "--no-package-lock", "--no-fund", "--no-audit", package]
        done = run_installer(command, folder)
        if done.returncode or not path.exists():
            raise NotAvailable(f"npm cannot install {package}: {done.stderr.strip()[-200:] or 'no program in it'}")
    return path


def run_installer(command, folder):
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=INSTALL_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise NotAvailable(f"{pathlib.Path(command[0]).name} was not done after {INSTALL_TIMEOUT} s") from None


def run(command, cwd, environment, timeout=TIMEOUT):
    """Runs a command with everything it starts in one process group, which ends with it."""
    process = subprocess.Popen(
        [str(word) for word in command], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        raise Failed(f"no end after {timeout} s: {output[-800:]}") from None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return process.returncode, output


def slipstitch(command, sandbox):
    """Runs one of our commands."""
    code, output = run([PROGRAM, *command], sandbox.project, sandbox.environment)
    check(code == 0, f"{' '.join(command)}: {output}")


class Sandbox:
    """A temporary home, a project and a model."""

    def __init__(self, folder, script):
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir()
        self.project.mkdir()
        for name, text in FILES.items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost"]
        for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
            subprocess.run([*git, *arguments], cwd=self.project, check=True, capture_output=True)
        self.model = Model(script)
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "TERM": "dumb", "CI": "1", "NO_COLOR": "1",
            "LANG": "C.UTF-8", "NO_PROXY": "127.0.0.1,localhost", "npm_config_update_notifier": "false",
        }

    def check_script(self, command):
        """Runs a command that follows the script, and checks the files and what the model saw."""
        code, output = run(command, self.project, self.environment)
        results = self.model.results
        tools = self.model.tool_names[:40]
        seen = f"exit {code}, {len(self.model.requests)} requests, results {results}, tools {tools}: {output[-1500:]}"
        read = lambda name: (self.project / name).read_text()
        check(read("notes.txt") == "one\nTWO\nthree\n", f"the edit was not made; {seen}")
        check(set(results) >= {EDIT, REFUSED, PROTECTED, PARALLEL}, f"the script did not end; {seen}")
        refusal = results[REFUSED][0]
        check("not" in refusal.lower() and "notes.txt" in refusal, f"the model does not see why: {refusal!r}")
        check(read(PROTECTED_FILE) == "on: push\n", "a protected path was changed")
        protected = results[PROTECTED][0]
        # Unattended hosts decline the question or have no one to ask, so the change waits.
        told = re.search(r"declin|wait|pending|review|approv", protected, re.IGNORECASE)
        check(told, f"the model does not see what happened to a protected path: {protected!r}")
        check(read("left.txt") == "left = 2\n" and read("right.txt") == "right = 2\n", f"parallel calls; {seen}")
        check(read("both.txt") == "first = 2\nmiddle\nlast = 2\n", f"parallel calls on one file; {seen}")
        check(len(results[PARALLEL]) >= 1 and all(results[PARALLEL]), f"results of parallel calls: {results[PARALLEL]}")


class HostSession(Sandbox):
    """One host."""

    def __init__(self, host, program, folder, script=SCRIPT):
        super().__init__(folder, script)
        self.host, self.program = host, program
        self.host.prepare(self.home, self.project, self.model)
        node = pathlib.Path(shutil.which("node") or "node").parent
        path = f"{program.parent}:{node}:{os.environ['PATH']}"
        self.environment |= {"PATH": path, **self.host.environment(self.model)}

    def settings(self):
        """Every file in the home that belongs to the host's settings."""
        files = (path for path in self.home.rglob("*") if path.is_file())
        return {str(path.relative_to(self.home)): path.read_bytes() for path in files
                if "slipstitch" not in path.parts}

    def host_command(self, *arguments, timeout=TIMEOUT):
        return run([self.program, *arguments], self.project, self.environment, timeout)

    def run(self):
        install = ["mcp", "install", "--client", self.host.client, "--command", PROGRAM]
        before = self.settings()
        slipstitch([*install, *self.host.install_flags], self)
        slipstitch(["mcp", "uninstall", "--client", self.host.client], self)
        check(self.settings() == before, "uninstall right after install did not restore every byte")
        slipstitch([*install, *self.host.install_flags], self)
        self.check_connected()
        self.check_doctor()
        self.check_script([self.program, *self.host.command(PROMPT)])
        return self.check_uninstall(before)

    def check_form(self):
        """Approves a change of a protected path in the host's own form, at a terminal."""
        slipstitch(["mcp", "install", "--client", self.host.client, "--command", PROGRAM, *self.host.install_flags], self)
        environment = {name: value for name, value in self.environment.items() if name != "CI"}
        changed = lambda: "pull_request" in (self.project / PROTECTED_FILE).read_text()
        with Terminal([self.program, *self.host.interactive_command()], self.project, environment) as terminal:
            terminal.wait_for(lambda: len(terminal.text()) > 100, 30)
            for _ in range(6):
                # The server may not be connected yet; then the model has no tools and says so.
                terminal.press(PROMPT, "\r")
                if terminal.wait_for(lambda: "Decision" in terminal.text(), 15):
                    break
            # An answer that comes faster than a person can read the form counts for nothing.
            terminal.read(2)
            terminal.press(*self.host.approve_keys)
            check(terminal.wait_for(changed, 30), f"the form did not approve the change: {terminal.text()[-1500:]}")
            check(terminal.wait_for(lambda: EDIT in self.model.results, 30), "the model got no answer")
        answer = self.model.results[EDIT][0]
        check("Changed" in answer, f"the model does not see that the change was made: {answer!r}")

    def check_connected(self):
        code, output = self.host_command(*self.host.list_command)
        check("slipstitch" in output, f"the host does not list the server ({code}): {output[-800:]}")
        if self.host.connected:
            line = next(line for line in output.splitlines() if "slipstitch" in line)
            rest = output[output.index(line):]
            check(self.host.connected in rest and "isconnected" not in rest, f"not connected: {output[-800:]}")

    def check_doctor(self):
        """`doctor` asks the host. Hosts have 20 seconds to answer, which a busy machine may exceed."""
        for _ in range(3):
            _, output = run([PROGRAM, "doctor"], self.project, self.environment)
            if "did not answer" not in output:
                break
        expected = "is connected to the server" if self.host.connected else "lists the server"
        check(expected in output, f"doctor: {output}")

    def check_uninstall(self, before):
        """Uninstalls. The files that the host rewrote may differ, but not in what they say about servers."""
        slipstitch(["mcp", "uninstall", "--client", self.host.client], self)
        after = self.settings()
        same = all(after.get(name) == content for name, content in before.items())
        left = [name for name, content in after.items()
                if pathlib.Path(name).suffix in (".json", ".toml", ".jsonc") and b'"slipstitch"' in content
                and self.is_setting(name)]
        check(not left, f"uninstall left the server in {left}")
        return "byte for byte" if same else "entry removed; the host had rewritten the file"

    def is_setting(self, name):
        """Whether a file is one that `install` writes, not a log or a cache."""
        return name in (".claude.json", ".claude/settings.json", ".codex/config.toml", ".copilot/mcp-config.json",
                        ".gemini/settings.json", ".qwen/settings.json", ".config/opencode/opencode.json")


def drive_host(host, cache, folder):
    """Runs all checks with one host; a row for the table."""
    program = install_package(host.package, host.program, cache)
    session = HostSession(host, program, folder)
    try:
        package = json.loads((program.parent.parent / host.package / "package.json").read_text())
        uninstalled = session.run()
        if host.approve_keys:
            check_form(host, program, folder / "terminal")
        tools = slipstitch_tools(session.model.tool_list)
        return row(host.client, package["version"], session, tools, uninstalled)
    finally:
        session.model.close()


def check_form(host, program, folder):
    """Runs the check with the host's form in a separate sandbox."""
    folder.mkdir()
    session = HostSession(host, program, folder, FORM_SCRIPT)
    try:
        session.check_form()
    finally:
        session.model.close()


def drive_framework(name, cache, folder):
    """Runs the script with one framework; a row for the table."""
    python = install_framework(name, cache)
    sandbox = Sandbox(folder, SCRIPT)
    try:
        server = [PROGRAM, "--state-dir", str(folder / "state"), "mcp"]
        sandbox.check_script([python, HERE / "frameworks.py", name, f"{sandbox.model.url}/v1", PROMPT, *server])
        version = f"import importlib.metadata; print(importlib.metadata.version({name!r}))"
        _, version = run([python, "-c", version], folder, sandbox.environment)
        tools = [tool for tool in sandbox.model.tool_list if "final_answer" not in json.dumps(tool)]
        return row(name, version.strip(), sandbox, tools, "–")
    finally:
        sandbox.model.close()


def install_framework(name, cache):
    """The interpreter of an environment with a framework."""
    folder = cache / f"python-{name}"
    done = folder / "installed"
    packages = FRAMEWORKS[name][1]
    if not done.exists() or done.read_text() != " ".join(packages):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=300)
        command = [folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
        installed = run_installer(command, folder)
        if installed.returncode:
            raise NotAvailable(f"pip cannot install it: {installed.stderr.strip()[-200:]}")
        done.write_text(" ".join(packages))
    return folder / "bin" / "python"


def row(name, version, sandbox, tools, uninstall):
    return {"host": name, "version": version, "results": sandbox.model.results, "tools": tools,
            "instructions": seen_instructions(sandbox), "uninstall": uninstall}


def slipstitch_tools(tools):
    """The definitions of our tools, as the host sent them."""
    found = []
    for tool in tools or []:
        if "functionDeclarations" in tool:
            found += slipstitch_tools(tool["functionDeclarations"])
        elif "slipstitch" in json.dumps(tool.get("name") or tool.get("function", {}).get("name") or ""):
            # Codex sends the server's instructions as the description of the namespace.
            is_namespace = tool.get("type") == "namespace"
            found.append({k: v for k, v in tool.items() if k != "description"} if is_namespace else tool)
    return found


def seen_instructions(sandbox):
    """The server's instructions, if the model saw them."""
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "drive", "version": "1"}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    command = [PROGRAM, "mcp", "--root", str(sandbox.project)]
    done = subprocess.run(command, input=json.dumps(request) + "\n", env=sandbox.environment, text=True,
                          capture_output=True, timeout=TIMEOUT, check=True)
    instructions = json.loads(done.stdout.splitlines()[0])["result"]["instructions"]
    joined = lambda text: " ".join(text.split())
    # The first sentence names the root, which a server may not know yet when a host asks.
    _, rest = joined(instructions).split(". ", 1)
    pattern = re.compile("These tools edit files under .{0,400}?" + re.escape(rest))
    texts = (joined(text) for _, body in sandbox.model.requests for text in strings_in(body))
    return next((found.group() for text in texts if (found := pattern.search(text))), "")


def strings_in(value):
    """All strings in a JSON value."""
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings_in(part)


def main():
    drivers = {host.client: (drive_host, host) for host in HOSTS}
    drivers |= {name: (drive_framework, name) for name in FRAMEWORKS}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"hosts and frameworks: {', '.join(drivers)}")
    parser.add_argument("--cache", type=pathlib.Path, default=TARGET / "hosts")
    parser.add_argument("--table", action="store_true", help="write the table in docs/mcp.md")
    parser.add_argument("--keep", action="store_true", help="keep the temporary folders")
    options = parser.parse_args()
    if unknown := set(options.names) - set(drivers):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(drivers)}")
    rows, failed = [], False
    for name in options.names or drivers:
        drive, subject = drivers[name]
        folder = pathlib.Path(tempfile.mkdtemp(prefix="slipstitch-hosts-"))
        try:
            result = drive(subject, options.cache, folder)
            print(f"{name} {result['version']}: passed; uninstall: {result['uninstall']}", flush=True)
            rows.append(result)
        except NotAvailable as reason:
            print(f"{name}: NOT RUN: {reason}", flush=True)
            rows.append({"host": name, "reason": str(reason)})
        except Failed as reason:
            failed = True
            print(f"{name}: FAILED: {reason}", flush=True)
        finally:
            if options.keep:
                print(f"   kept {folder}", file=sys.stderr)
            else:
                shutil.rmtree(folder, ignore_errors=True)
    if options.table and not failed:
        write_table(rows, options.cache)
    sys.exit(failed)


if __name__ == "__main__":
    main()
