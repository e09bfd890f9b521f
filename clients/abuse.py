"""Malformed and hostile requests. Each must get a clear error or be passed over, leave the server alive, and
write nothing."""

import http.client
import json
import os
import queue
import socket
import threading

from rig import CLIENT, LIMIT, MODERN, Http, Root, Stdio, check

FILES = {"a.txt": "one\ntwo\nthree\n", "b.txt": "alpha\n"}
OK = {"jsonrpc": "2.0", "id": 1}


def call(tool, arguments, **more):
    return {**OK, "method": "tools/call", "params": {"name": tool, "arguments": arguments, **more}}


def edit(**fields):
    return call("edit_file", {"path": "a.txt", "old_text": "one", "new_text": "1", **fields})


def nested(depth, opening, closing):
    return (opening * depth + closing * depth).encode()


# Lines for standard input. `error`: an error or a refusal must come back. `pass`: nothing needs to.
LINES = [
    ("no JSON", b"{bad", "error"),
    ("half an object", b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"', "error"),
    ("an empty object", {}, "error"),
    ("an empty list", [], "error"),
    ("a batch", [{**OK, "method": "tools/list"}, edit()], "error"),
    ("null", b"null", "error"),
    ("a text", b'"tools/list"', "error"),
    ("a number", b"42", "error"),
    ("no version of JSON-RPC", {"id": 1, "method": "tools/list"}, "error"),
    ("an old version of JSON-RPC", {"jsonrpc": "1.0", "id": 1, "method": "tools/list"}, "error"),
    ("no method", dict(OK), "error"),
    ("a number as the method", {**OK, "method": 7}, "error"),
    ("an empty method", {**OK, "method": ""}, "error"),
    ("an unknown method", {**OK, "method": "tools/destroy"}, "error"),
    ("a method of a megabyte", {**OK, "method": "x" * 1_000_000}, "error"),
    ("an object as the id", {**OK, "id": {}, "method": "tools/list"}, "error"),
    ("a list as the id", {**OK, "id": [1], "method": "tools/list"}, "error"),
    ("a list as the parameters", {**OK, "method": "tools/call", "params": ["edit_file"]}, "error"),
    ("a text as the parameters", {**OK, "method": "tools/call", "params": "edit_file"}, "error"),
    ("no parameters", {**OK, "method": "tools/call"}, "error"),
    ("no tool", {**OK, "method": "tools/call", "params": {"arguments": {}}}, "error"),
    ("a number as the tool", call(7, {}), "error"),
    ("an unknown tool", call("rm", {"path": "a.txt"}), "error"),
    ("a tool's name of 100 kilobytes", call("x" * 100_000, {}), "error"),
    ("a text as the arguments", call("edit_file", "{}"), "error"),
    ("a list as the arguments", call("edit_file", ["a.txt"]), "error"),
    ("no arguments", {**OK, "method": "tools/call", "params": {"name": "edit_file"}}, "error"),
    ("brackets 100,000 deep", nested(100_000, "[", "]"), "error"),
    ("objects 100,000 deep", b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "error"),
    ("arguments 5,000 deep", b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"edit_file","arguments":'
     + b'{"edits":' * 5_000 + b"1" + b"}" * 5_000 + b"}}", "error"),
    ("a line of 20 megabytes that is no JSON", b"x" * 20_000_000, "error"),
    ("an old text of 20 megabytes", edit(old_text="x" * 20_000_000), "error"),
    ("NUL bytes", b"\0\0\0\0", "error"),
    ("bytes that are not UTF-8", b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}', "error"),
    ("half a surrogate", b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"edit_file","arguments":'
     b'{"path":"a.txt","old_text":"\\ud800","new_text":"x"}}}', "error"),
    ("a number beyond all numbers", b'{"jsonrpc":"2.0","id":1e999,"method":"tools/list"}', "error"),
    ("headers as editors send them", b"Content-Length: 20\r\n\r", "error"),
    ("an HTTP request", b"POST /mcp HTTP/1.1", "error"),
    ("blank lines", b"\n\n  \n", "pass"),
    ("an answer to nothing", {**OK, "id": 99, "result": {}}, "pass"),
    ("an agreement that nobody asked for", {**OK, "id": 0, "result": {"action": "accept", "content": {"verdict": "approve"}}}, "pass"),
    ("an error for nothing", {**OK, "id": 99, "error": {"code": 1, "message": "x"}}, "pass"),
    ("the end of a call that is not there", {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}}, "pass"),
    ("an unknown notification", {"jsonrpc": "2.0", "method": "notifications/destroy", "params": {"path": "a.txt"}}, "pass"),
    ("a call as a notification", {"jsonrpc": "2.0", "method": "tools/call", "params": edit()["params"]}, "pass"),
    ("a path upwards", edit(path="../outside.txt"), "error"),
    ("a path upwards in the middle", edit(path="sub/../../outside.txt"), "error"),
    ("a path from the top", edit(path="/etc/passwd"), "error"),
    ("a URL", edit(path="file:///etc/passwd"), "error"),
    ("a path with NUL", edit(path="a.txt\0.png"), "error"),
    ("an empty path", edit(path=""), "error"),
    ("the root itself", edit(path="."), "error"),
    ("a path of 100 kilobytes", edit(path="x/" * 50_000), "error"),
    ("a number as the path", edit(path=7), "error"),
    ("through a symlink", edit(path="way/outside.txt"), "error"),
    ("making a file through a symlink", call("write_file", {"path": "way/new.txt", "content": "x", "mode": "create"}), "error"),
    ("the memory of this process", edit(path="proc/self/mem"), "error"),
    ("writing over the outside", call("write_file", {"path": "../outside.txt", "content": "x", "mode": "overwrite"}), "error"),
    ("a patch upwards", call("patch", {"patch": "--- a/../outside.txt\n+++ b/../outside.txt\n@@ -1 +1 @@\n-outside\n+x\n"}), "error"),
    ("a patch from the top", call("patch", {"patch": "*** Begin Patch\n*** Add File: /tmp/slipstitch-abuse\n+x\n*** End Patch\n"}), "error"),
    ("a patch that deletes upwards", call("patch", {"patch": "*** Begin Patch\n*** Delete File: ../outside.txt\n*** End Patch\n"}), "error"),
    ("a patch with a hunk number beyond all numbers", call("patch", {"patch": "--- a/a.txt\n+++ b/a.txt\n@@ -99999999999999999999 +1 @@\n-zero\n+x\n"}), "error"),
    ("an empty old text", edit(old_text=""), "error"),
    ("an unknown field", edit(force=True), "error"),
    ("a negative line", edit(start_line=-1), "error"),
    ("a line beyond all lines", edit(start_line=10**30, end_line=10**30), "error"),
    ("100,000 empty edits", call("edit_file", {"path": "a.txt", "edits": [{}] * 100_000}), "error"),
    ("a version that is none", edit(version="'; DROP TABLE changes; --"), "error"),
    ("another file's version", edit(version="b3:" + "0" * 64), "error"),
    ("a candidate that was not offered", edit(candidate=3), "error"),
    ("undoing a change that is not there", call("undo_edit", {"change": "c999999999"}), "error"),
    ("undoing what is no change", call("undo_edit", {"change": "1; DROP TABLE changes"}), "error"),
    ("a resource outside", {**OK, "method": "resources/read", "params": {"uri": "file:///etc/passwd"}}, "error"),
    ("a resource upwards", {**OK, "method": "resources/read", "params": {"uri": "slipstitch://changes/../../x"}}, "error"),
    ("watching what is not there", {**OK, "method": "resources/subscribe", "params": {"uri": "file:///etc"}}, "error"),
    ("an unknown prompt", {**OK, "method": "prompts/get", "params": {"name": "x"}}, "error"),
]


def is_refusal(answer):
    """Whether it is a well-formed error that says something, or a refusal of a tool that does."""
    if answer.get("jsonrpc") != "2.0":
        return False
    if error := answer.get("error"):
        return isinstance(error.get("code"), int) and len(error.get("message", "")) > 3
    result = answer.get("result")
    return isinstance(result, dict) and result.get("isError") is True and bool(result["content"][0]["text"])


class Listener:
    """What a server says, as it comes."""

    def __init__(self, server):
        self.said = queue.Queue()
        self.server = server
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self.server.process.stdout:
            self.said.put(json.loads(line))
        self.said.put(None)

    def until(self, wanted, what):
        """Everything up to the first answer that is wanted."""
        heard = []
        while True:
            try:
                answer = self.said.get(timeout=LIMIT)
            except queue.Empty:
                check(False, f"{what}: no such answer; heard {str(heard)[:500]}")
            check(answer is not None, f"{what}: the server has ended")
            heard.append(answer)
            if wanted(answer):
                return heard


def prepare():
    root = Root(FILES)
    (root.outside / "outside.txt").write_text("outside\n")
    os.symlink(root.outside, root.path / "way")
    return root, everything(root)


def everything(root):
    outside = (root.outside / "outside.txt").read_text(), sorted(os.listdir(root.outside))
    elsewhere = os.path.exists("/tmp/slipstitch-abuse")
    return root.all(), [name for name in outside[1] if name != "state"], outside[0], elsewhere


def over_stdio():
    root, before = prepare()
    server = Stdio(root)
    listener = Listener(server)
    for number, (what, line, expected) in enumerate(LINES):
        data = line if isinstance(line, bytes) else json.dumps(line).encode()
        server.send_bytes(data + b"\n")
        if expected == "error":
            listener.until(is_refusal, what)
        server.send({"jsonrpc": "2.0", "id": f"alive-{number}", "method": "ping"})
        listener.until(lambda answer: answer.get("id") == f"alive-{number}" and "result" in answer, what)
        check(everything(root) == before, f"{what}: something was written")
    check(server.process.poll() is None, "the server is alive")
    server.process.stdin.close()
    check(server.process.wait(LIMIT) == 0, "the server ends well")
    root.close()
    return len(LINES)


def over_the_stateless_era():
    """Calls that carry their own state: forged, cut, replayed, for another change, or by someone else."""
    root, before = prepare()
    server = Stdio(root, "--dialect", "agent-q", handshake=False)
    meta = {**MODERN, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}
    agreed = {"approval": {"action": "accept", "content": {"verdict": "approve"}}}
    proposal = {"path": "a.txt", "new_content": "1\ntwo\nthree\n", "description": "x"}

    def ask(arguments=proposal, meta=meta, **more):
        return server.ask("tools/call", {"name": "propose_file_edit", "arguments": arguments, "_meta": meta, **more})

    count = 0

    def nothing(answer, what):
        nonlocal count
        count += 1
        asked_again = answer.get("result", {}).get("resultType") == "input_required"
        check(asked_again or is_refusal(answer), f"{what}: {answer}")
        check(everything(root) == before, f"{what}: something was written")

    state = ask()["result"]["requestState"]
    nothing(ask(inputResponses=agreed), "an agreement without state")
    for what, forged in [("forged", "x"), ("empty", ""), ("cut", state[:-4]), ("turned", state[::-1]), ("doubled", state * 2)]:
        nothing(ask(inputResponses=agreed, requestState=forged), f"{what} state")
    other = {**proposal, "new_content": "evil\n"}
    nothing(ask(other, inputResponses=agreed, requestState=state), "state of another change")
    nothing(ask({**proposal, "path": "b.txt"}, inputResponses=agreed, requestState=state), "state of another file")
    for what, bad in [
        ("no era", {key: value for key, value in meta.items() if "protocolVersion" not in key}),
        ("an unknown era", {**meta, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}),
        ("a number as the era", {**meta, "io.modelcontextprotocol/protocolVersion": 7}),
        ("a text as the capabilities", {**meta, "io.modelcontextprotocol/clientCapabilities": "all"}),
    ]:
        nothing(ask(meta=bad), what)
    # The true state is good once.
    fresh = ask()["result"]["requestState"]
    done = ask(inputResponses=agreed, requestState=fresh)
    check("result" in done and root.get("a.txt").startswith("1\n"), f"an honest agreement: {done}")
    root.put("a.txt", FILES["a.txt"])
    nothing(ask(inputResponses=agreed, requestState=fresh), "replayed state")
    check(server.close() == 0, "the server ends well")
    root.close()
    return count


HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
HELLO = {**OK, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}}
MODERN_HEADERS = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "edit_file"}
EDIT = {**edit(), "params": {**edit()["params"], "_meta": MODERN}}


def request(server, method="POST", path="/mcp", body=EDIT, headers=None, without=()):
    """One request on a connection of its own: the status, the headers, the body. The status is 0 if the server
    closed the connection while the body was still on its way, and the answer was lost with it."""
    sent = {**HEADERS, **MODERN_HEADERS, "Host": f"127.0.0.1:{server.port}", **(headers or {})}
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=LIMIT)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in sent.items():
        if name not in without:
            connection.putheader(name, value)
    if "Content-Length" not in sent and method not in ("GET", "DELETE"):
        connection.putheader("Content-Length", str(len(data)))
    connection.endheaders()
    try:
        connection.send(data if method not in ("GET", "DELETE") else b"")
    except (BrokenPipeError, ConnectionResetError):
        pass
    try:
        answer = connection.getresponse()
    except ConnectionError:
        return 0, {}, b""
    result = answer.status, dict(answer.getheaders()), answer.read() if answer.status >= 400 else b""
    connection.close()
    return result


def raw(server, data):
    """Bytes as they are; the status of what comes back, or 0 if the connection was closed without a word."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(4096)
        except TimeoutError:
            raise
        except OSError:
            # The server has closed its end already.
            return 0
    return int(answer.split()[1]) if answer.startswith(b"HTTP/1.") else 0


def http_cases(server):
    """Each with the statuses that are right for it."""
    evil = "http://evil.example"
    body = json.dumps(EDIT).encode()
    return [
        ("a foreign origin", {"headers": {"Origin": evil}}, {403}),
        ("an origin that hides", {"headers": {"Origin": "null"}}, {403}),
        ("an origin that starts like ours", {"headers": {"Origin": f"http://127.0.0.1:{server.port}.evil.example"}}, {403}),
        ("our address with another port", {"headers": {"Origin": "http://127.0.0.1:1"}}, {403}),
        ("a foreign host", {"headers": {"Host": "evil.example"}}, {403, 421}),
        ("a foreign host with our port", {"headers": {"Host": f"evil.example:{server.port}"}}, {403, 421}),
        ("a host that starts like ours", {"headers": {"Host": f"127.0.0.1.evil.example:{server.port}"}}, {403, 421}),
        ("a host with a user", {"headers": {"Host": f"evil@127.0.0.1:{server.port}"}}, {400, 403, 421}),
        ("no host", {"without": ("Host",)}, {400, 403, 421}),
        ("a form of another site", {"headers": {"Content-Type": "application/x-www-form-urlencoded", "Origin": evil}}, {403, 415}),
        ("a form", {"headers": {"Content-Type": "application/x-www-form-urlencoded"}, "body": b"method=tools/call"}, {415}),
        ("JSON as plain text", {"headers": {"Content-Type": "text/plain"}}, {415}),
        ("a form in parts", {"headers": {"Content-Type": "multipart/form-data; boundary=x"}}, {415}),
        ("no type", {"without": ("Content-Type",)}, {400, 415}),
        ("an answer in a form that we have not", {"headers": {"Accept": "text/html"}}, {406}),
        ("no JSON", {"body": b"{bad"}, {400}),
        ("nothing", {"body": b""}, {400}),
        ("brackets 100,000 deep", {"body": nested(100_000, "[", "]")}, {400}),
        ("a batch", {"body": [EDIT, EDIT]}, {400}),
        ("an era that is none", {"headers": {"MCP-Protocol-Version": "2099-01-01"}}, {400}),
        ("a header that names another method", {"headers": {"Mcp-Method": "tools/list"}}, {400}),
        ("a header that names another tool", {"headers": {"Mcp-Name": "read_file"}}, {400}),
        ("a body beyond the limit", {"body": b" " * 40_000_000 + body}, {0, 413}),
        ("a body that says it is beyond the limit", {"headers": {"Content-Length": "99999999999"}}, {413}),
        ("another method", {"method": "PUT"}, {405}),
        ("one more", {"method": "PATCH"}, {405}),
        ("a look ahead from a foreign origin", {"method": "OPTIONS", "headers": {"Origin": evil, "Access-Control-Request-Method": "POST"}, "body": b""}, {403, 405}),
        ("another path", {"path": "/"}, {404}),
        ("a path upwards", {"path": "/../../etc/passwd"}, {400, 404}),
        ("a path of 100 kilobytes", {"path": "/mcp" + "x" * 100_000}, {400, 404, 414, 431}),
        ("a session that is not there", {"method": "GET", "headers": {"Mcp-Session-Id": "chosen"}, "without": tuple(MODERN_HEADERS)}, {400, 404, 405}),
        # It has ended, whoever asks: no error is due.
        ("the end of a session that is not there", {"method": "DELETE", "headers": {"Mcp-Session-Id": "chosen"}, "without": tuple(MODERN_HEADERS)}, {204, 404, 405}),
        ("a call in a session that is not there", {"body": edit(), "headers": {"Mcp-Session-Id": "chosen", "MCP-Protocol-Version": "2025-11-25"}}, {400, 404}),
    ]


def over_http():
    root, before = prepare()
    server = Http(root)
    cases = http_cases(server)
    for what, how, wanted in cases:
        status, headers, _ = request(server, **how)
        check(status in wanted, f"{what}: status {status}, not one of {wanted}")
        check(headers.get("access-control-allow-origin") is None, f"{what}: a foreign page could read the answer")
        check(everything(root) == before, f"{what}: something was written")
    bytes_of = {
        "bytes that are no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 10 + b"\r\n\r\n",
        "a header of a megabyte": b"POST /mcp HTTP/1.1\r\nX: " + b"x" * 1_000_000 + b"\r\n\r\n",
        "two lengths": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        "chunks that are none": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nxx\r\n",
        "half a body": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{",
    }
    for what, data in bytes_of.items():
        status = raw(server, data)
        check(status == 0 or status >= 400, f"{what}: status {status}")
        check(everything(root) == before, f"{what}: something was written")
    # A session's name is the server's to choose.
    status, headers, _ = request(server, body=HELLO, headers={"Mcp-Session-Id": "chosen"}, without=tuple(MODERN_HEADERS))
    lower = {name.lower(): value for name, value in headers.items()}
    check(status >= 400 or lower.get("mcp-session-id") != "chosen", "a session was made under the caller's name")
    check(request(server)[0] == 200 and root.get("a.txt").startswith("1\n"), "an honest call is answered still")
    check(server.close() == 0, "the server ends well")
    root.close()
    return len(cases) + len(bytes_of) + 1


def with_a_token():
    root, before = prepare()
    server = Http(root, "--token", "a-token-that-is-long-enough-0123456789")
    attempts = [
        {}, {"headers": {"Authorization": "Bearer wrong"}}, {"headers": {"Authorization": "Basic YTpi"}},
        {"headers": {"Authorization": "Bearer "}}, {"path": "/mcp?token=a-token-that-is-long-enough-0123456789"},
        {"headers": {"Authorization": "Bearer a-token-that-is-long-enough-012345678"}},
    ]
    for how in attempts:
        status, headers, _ = request(server, **how)
        check(status == 401, f"{how}: status {status}")
        check("www-authenticate" in {name.lower() for name in headers}, f"{how}: how to prove oneself is not said")
        check(everything(root) == before, f"{how}: something was written")
    good = {"Authorization": "Bearer a-token-that-is-long-enough-0123456789"}
    check(request(server, headers=good)[0] == 200, "the right token is taken")
    check(server.close() == 0, "the server ends well")
    root.close()
    return len(attempts)


def main():
    counts = [over_stdio(), over_the_stateless_era(), over_http(), with_a_token()]
    print(f"abuse: {sum(counts)} requests, each refused in plain words, nothing written, every server alive")


main()
