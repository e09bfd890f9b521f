"""Malformed and hostile requests. Each must get a clear error or be ignored, leave the server running, and write nothing."""

import http.client
import json
import os
import queue
import socket
import threading
import time

from harness import CLIENT_INFO, STATELESS_META, TIMEOUT, HttpServer, Root, StdioServer, check

FILES = {"a.txt": "one\ntwo\nthree\n", "b.txt": "alpha\n"}
REQUEST = {"jsonrpc": "2.0", "id": 1}


def call(tool, arguments):
    return {**REQUEST, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def edit(**fields):
    return call("edit_file", {"path": "a.txt", "old_text": "one", "new_text": "1", **fields})


def nested(depth, opening, closing):
    return (opening * depth + closing * depth).encode()


# Lines for stdin, each with what must follow: `error`, an error or a refused tool call; `ignored`, no response is required.
LINES = [
    ("invalid JSON", b"{bad", "error"),
    ("truncated object", b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"', "error"),
    ("empty object", {}, "error"),
    ("empty array", [], "error"),
    ("batch", [{**REQUEST, "method": "tools/list"}, edit()], "error"),
    ("null", b"null", "error"),
    ("string", b'"tools/list"', "error"),
    ("number", b"42", "error"),
    ("missing JSON-RPC version", {"id": 1, "method": "tools/list"}, "error"),
    ("old JSON-RPC version", {"jsonrpc": "1.0", "id": 1, "method": "tools/list"}, "error"),
    ("missing method", dict(REQUEST), "error"),
    ("number as method", {**REQUEST, "method": 7}, "error"),
    ("empty method", {**REQUEST, "method": ""}, "error"),
    ("unknown method", {**REQUEST, "method": "tools/destroy"}, "error"),
    ("method of 1 MB", {**REQUEST, "method": "x" * 1_000_000}, "error"),
    ("object as id", {**REQUEST, "id": {}, "method": "tools/list"}, "error"),
    ("array as id", {**REQUEST, "id": [1], "method": "tools/list"}, "error"),
    ("array as params", {**REQUEST, "method": "tools/call", "params": ["edit_file"]}, "error"),
    ("string as params", {**REQUEST, "method": "tools/call", "params": "edit_file"}, "error"),
    ("missing params", {**REQUEST, "method": "tools/call"}, "error"),
    ("missing tool name", {**REQUEST, "method": "tools/call", "params": {"arguments": {}}}, "error"),
    ("number as tool name", call(7, {}), "error"),
    ("unknown tool", call("rm", {"path": "a.txt"}), "error"),
    ("tool name of 100 kB", call("x" * 100_000, {}), "error"),
    ("string as arguments", call("edit_file", "{}"), "error"),
    ("array as arguments", call("edit_file", ["a.txt"]), "error"),
    ("missing arguments", {**REQUEST, "method": "tools/call", "params": {"name": "edit_file"}}, "error"),
    ("arrays nested 100,000 deep", nested(100_000, "[", "]"), "error"),
    ("objects nested 100,000 deep", b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "error"),
    ("arguments nested 5,000 deep", b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"edit_file","arguments":'
     + b'{"edits":' * 5_000 + b"1" + b"}" * 5_000 + b"}}", "error"),
    ("invalid line of 20 MB", b"x" * 20_000_000, "error"),
    ("old_text of 20 MB", edit(old_text="x" * 20_000_000), "error"),
    ("NUL bytes", b"\0\0\0\0", "error"),
    ("invalid UTF-8", b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}', "error"),
    ("lone surrogate", b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"edit_file","arguments":'
     b'{"path":"a.txt","old_text":"\\ud800","new_text":"x"}}}', "error"),
    ("id out of range", b'{"jsonrpc":"2.0","id":1e999,"method":"tools/list"}', "error"),
    ("LSP header", b"Content-Length: 20\r\n\r", "error"),
    ("HTTP request", b"POST /mcp HTTP/1.1", "error"),
    ("blank lines", b"\n\n  \n", "ignored"),
    ("response without a request", {**REQUEST, "id": 99, "result": {}}, "ignored"),
    ("approval without a request", {**REQUEST, "id": 0, "result": {"action": "accept", "content": {"decision": "approve"}}}, "ignored"),
    ("error without a request", {**REQUEST, "id": 99, "error": {"code": 1, "message": "x"}}, "ignored"),
    ("cancellation of an unknown request", {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}}, "ignored"),
    ("unknown notification", {"jsonrpc": "2.0", "method": "notifications/destroy", "params": {"path": "a.txt"}}, "ignored"),
    ("tool call as a notification", {"jsonrpc": "2.0", "method": "tools/call", "params": edit()["params"]}, "ignored"),
    ("`..` at the start of a path", edit(path="../outside.txt"), "error"),
    ("`..` within a path", edit(path="sub/../../outside.txt"), "error"),
    ("absolute path", edit(path="/etc/passwd"), "error"),
    ("URL as path", edit(path="file:///etc/passwd"), "error"),
    ("path with NUL", edit(path="a.txt\0.png"), "error"),
    ("empty path", edit(path=""), "error"),
    ("the root itself", edit(path="."), "error"),
    ("path of 100 kB", edit(path="x/" * 50_000), "error"),
    ("number as path", edit(path=7), "error"),
    ("path through a symlink", edit(path="link/outside.txt"), "error"),
    ("file created through a symlink", call("write_file", {"path": "link/new.txt", "content": "x", "mode": "create"}), "error"),
    ("path of process memory", edit(path="proc/self/mem"), "error"),
    ("overwriting a file outside", call("write_file", {"path": "../outside.txt", "content": "x", "mode": "overwrite"}), "error"),
    ("patch with `..`", call("patch", {"patch": "--- a/../outside.txt\n+++ b/../outside.txt\n@@ -1 +1 @@\n-outside\n+x\n"}), "error"),
    ("patch with an absolute path", call("patch", {"patch": "*** Begin Patch\n*** Add File: /tmp/slipstitch-abuse\n+x\n*** End Patch\n"}), "error"),
    ("patch that deletes outside", call("patch", {"patch": "*** Begin Patch\n*** Delete File: ../outside.txt\n*** End Patch\n"}), "error"),
    ("patch with a line number out of range", call("patch", {"patch": "--- a/a.txt\n+++ b/a.txt\n@@ -99999999999999999999 +1 @@\n-zero\n+x\n"}), "error"),
    ("empty old_text", edit(old_text=""), "error"),
    ("unknown field", edit(force=True), "error"),
    ("negative line", edit(start_line=-1), "error"),
    ("line out of range", edit(start_line=10**30, end_line=10**30), "error"),
    ("100,000 empty edits", call("edit_file", {"path": "a.txt", "edits": [{}] * 100_000}), "error"),
    ("invalid version", edit(version="'; DROP TABLE changes; --"), "error"),
    ("wrong version", edit(version="b3:" + "0" * 64), "error"),
    ("unknown candidate", edit(candidate=3), "error"),
    ("undo of an unknown change", call("undo_edit", {"change": "c999999999"}), "error"),
    ("undo with an invalid id", call("undo_edit", {"change": "1; DROP TABLE changes"}), "error"),
    ("resource outside", {**REQUEST, "method": "resources/read", "params": {"uri": "file:///etc/passwd"}}, "error"),
    ("resource with `..`", {**REQUEST, "method": "resources/read", "params": {"uri": "slipstitch://changes/../../x"}}, "error"),
    ("subscription to an unknown resource", {**REQUEST, "method": "resources/subscribe", "params": {"uri": "file:///etc"}}, "error"),
    ("unknown prompt", {**REQUEST, "method": "prompts/get", "params": {"name": "x"}}, "error"),
]


def is_refusal(response):
    """Whether a response is a well-formed error with a message, or a tool result that is an error with a text."""
    if response.get("jsonrpc") != "2.0":
        return False
    if error := response.get("error"):
        return isinstance(error.get("code"), int) and len(error.get("message", "")) > 3
    result = response.get("result")
    return isinstance(result, dict) and result.get("isError") is True and bool(result["content"][0]["text"])


class ResponseReader:
    """Reads the responses of a server in the background."""

    def __init__(self, server):
        self.responses = queue.Queue()
        self.server = server
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.server.process.stdout:
            self.responses.put(json.loads(line))
        self.responses.put(None)

    def wait_for(self, is_wanted, name):
        """Skips to the first response that is wanted."""
        skipped = []
        while True:
            try:
                response = self.responses.get(timeout=TIMEOUT)
            except queue.Empty:
                check(False, f"{name}: no such response; received {str(skipped)[:500]}")
            check(response is not None, f"{name}: the server exited")
            if is_wanted(response):
                return
            skipped.append(response)


def create_root():
    """A root with a symlink to the folder outside, and a snapshot of everything that must not change."""
    root = Root(FILES)
    (root.outside / "outside.txt").write_text("outside\n")
    os.symlink(root.outside, root.path / "link")
    return root, snapshot(root)


def snapshot(root):
    outside = (root.outside / "outside.txt").read_text()
    names = [name for name in sorted(os.listdir(root.outside)) if name != "state"]
    return root.read_all(), names, outside, os.path.exists("/tmp/slipstitch-abuse")


def test_stdio():
    root, before = create_root()
    server = StdioServer(root)
    reader = ResponseReader(server)
    for number, (name, line, expected) in enumerate(LINES):
        data = line if isinstance(line, bytes) else json.dumps(line).encode()
        server.send_bytes(data + b"\n")
        if expected == "error":
            reader.wait_for(is_refusal, name)
        ping = f"ping-{number}"
        server.send({"jsonrpc": "2.0", "id": ping, "method": "ping"})
        reader.wait_for(lambda response: response.get("id") == ping and "result" in response, name)
        check(snapshot(root) == before, f"{name}: something was written")
    check(server.process.poll() is None, "the server exited")
    server.process.stdin.close()
    check(server.process.wait(TIMEOUT) == 0, "the server did not exit cleanly")
    root.close()
    return len(LINES)


def test_stateless_approval():
    """Approvals that carry their own state: forged, truncated, replayed, or for another change."""
    root, before = create_root()
    server = StdioServer(root, "--dialect", "agent-q", handshake=False)
    meta = {**STATELESS_META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}
    approval = {"approval": {"action": "accept", "content": {"decision": "approve"}}}
    proposal = {"path": "a.txt", "new_content": "1\ntwo\nthree\n", "description": "x"}

    def propose(arguments=proposal, meta=meta, **more):
        params = {"name": "propose_file_edit", "arguments": arguments, "_meta": meta, **more}
        return server.request("tools/call", params)

    count = 0

    def check_not_applied(response, name):
        nonlocal count
        count += 1
        asks_again = response.get("result", {}).get("resultType") == "input_required"
        check(asks_again or is_refusal(response), f"{name}: {response}")
        check(snapshot(root) == before, f"{name}: something was written")

    state = propose()["result"]["requestState"]
    check_not_applied(propose(inputResponses=approval), "approval without state")
    for name, forged in [
        ("forged", "x"), ("empty", ""), ("truncated", state[:-4]), ("reversed", state[::-1]), ("doubled", state * 2),
    ]:
        check_not_applied(propose(inputResponses=approval, requestState=forged), f"{name} state")
    other = {**proposal, "new_content": "evil\n"}
    check_not_applied(propose(other, inputResponses=approval, requestState=state), "state of another change")
    other = {**proposal, "path": "b.txt"}
    check_not_applied(propose(other, inputResponses=approval, requestState=state), "state of another file")
    for name, bad in [
        ("missing protocol version", {key: value for key, value in meta.items() if "protocolVersion" not in key}),
        ("unknown protocol version", {**meta, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}),
        ("number as protocol version", {**meta, "io.modelcontextprotocol/protocolVersion": 7}),
        ("string as capabilities", {**meta, "io.modelcontextprotocol/clientCapabilities": "all"}),
    ]:
        check_not_applied(propose(meta=bad), name)
    # A form that is filled in faster than a person can read it decides nothing.
    response = propose(inputResponses=approval, requestState=propose()["result"]["requestState"])
    check("nobody has decided" in json.dumps(response) and snapshot(root) == before, f"hasty approval: {response}")
    count += 1
    # Genuine state is accepted, once.
    fresh = propose()["result"]["requestState"]
    time.sleep(1.1)
    response = propose(inputResponses=approval, requestState=fresh)
    check("result" in response and root.read("a.txt").startswith("1\n"), f"genuine approval: {response}")
    root.write("a.txt", FILES["a.txt"])
    check_not_applied(propose(inputResponses=approval, requestState=fresh), "replayed state")
    check(server.close() == 0, "the server did not exit cleanly")
    root.close()
    return count


HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
INITIALIZE = {**REQUEST, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT_INFO}}
STATELESS_HEADERS = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "edit_file"}
EDIT = {**edit(), "params": {**edit()["params"], "_meta": STATELESS_META}}


def request(server, method="POST", path="/mcp", body=EDIT, headers=None, without=()):
    """Sends one request on a new connection and returns status and headers. The status is 0 if the server closed the
    connection while the body was being sent, so that its response was lost."""
    sent = {**HEADERS, **STATELESS_HEADERS, "Host": f"127.0.0.1:{server.port}", **(headers or {})}
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)
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
        response = connection.getresponse()
    except ConnectionError:
        return 0, {}
    connection.close()
    return response.status, {name.lower(): value for name, value in response.getheaders()}


def send_raw(server, data):
    """Sends bytes and returns the status of the response; 0 if the connection was closed without one."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            response = connection.recv(4096)
        except TimeoutError:
            raise
        except OSError:
            # The server has already closed its end.
            return 0
    return int(response.split()[1]) if response.startswith(b"HTTP/1.") else 0


def http_cases(server):
    """Requests, each with the acceptable statuses."""
    evil = "http://evil.example"
    body = json.dumps(EDIT).encode()
    return [
        ("foreign origin", {"headers": {"Origin": evil}}, {403}),
        ("origin `null`", {"headers": {"Origin": "null"}}, {403}),
        ("origin with our address as prefix", {"headers": {"Origin": f"http://127.0.0.1:{server.port}.evil.example"}}, {403}),
        ("origin with another port", {"headers": {"Origin": "http://127.0.0.1:1"}}, {403}),
        ("foreign host", {"headers": {"Host": "evil.example"}}, {403, 421}),
        ("foreign host with our port", {"headers": {"Host": f"evil.example:{server.port}"}}, {403, 421}),
        ("host with our address as prefix", {"headers": {"Host": f"127.0.0.1.evil.example:{server.port}"}}, {403, 421}),
        ("host with a user", {"headers": {"Host": f"evil@127.0.0.1:{server.port}"}}, {400, 403, 421}),
        ("missing host", {"without": ("Host",)}, {400, 403, 421}),
        ("form from a foreign origin", {"headers": {"Content-Type": "application/x-www-form-urlencoded", "Origin": evil}}, {403, 415}),
        ("form", {"headers": {"Content-Type": "application/x-www-form-urlencoded"}, "body": b"method=tools/call"}, {415}),
        ("JSON as text/plain", {"headers": {"Content-Type": "text/plain"}}, {415}),
        ("multipart form", {"headers": {"Content-Type": "multipart/form-data; boundary=x"}}, {415}),
        ("missing content type", {"without": ("Content-Type",)}, {400, 415}),
        ("unsupported Accept", {"headers": {"Accept": "text/html"}}, {406}),
        ("invalid JSON", {"body": b"{bad"}, {400}),
        ("empty body", {"body": b""}, {400}),
        ("arrays nested 100,000 deep", {"body": nested(100_000, "[", "]")}, {400}),
        ("batch", {"body": [EDIT, EDIT]}, {400}),
        ("unknown protocol version", {"headers": {"MCP-Protocol-Version": "2099-01-01"}}, {400}),
        ("method header contradicts body", {"headers": {"Mcp-Method": "tools/list"}}, {400}),
        ("tool header contradicts body", {"headers": {"Mcp-Name": "read_file"}}, {400}),
        ("body over the size limit", {"body": b" " * 40_000_000 + body}, {0, 413}),
        ("Content-Length over the size limit", {"headers": {"Content-Length": "99999999999"}}, {413}),
        ("PUT", {"method": "PUT"}, {405}),
        ("PATCH", {"method": "PATCH"}, {405}),
        ("preflight from a foreign origin", {"method": "OPTIONS", "headers": {"Origin": evil, "Access-Control-Request-Method": "POST"}, "body": b""}, {403, 405}),
        ("unknown path", {"path": "/"}, {404}),
        ("URL path with `..`", {"path": "/../../etc/passwd"}, {400, 404}),
        ("URL path of 100 kB", {"path": "/mcp" + "x" * 100_000}, {400, 404, 414, 431}),
        ("stream of an unknown session", {"method": "GET", "headers": {"Mcp-Session-Id": "chosen"}, "without": tuple(STATELESS_HEADERS)}, {400, 404, 405}),
        # An unknown session counts as ended, so success is fine.
        ("end of an unknown session", {"method": "DELETE", "headers": {"Mcp-Session-Id": "chosen"}, "without": tuple(STATELESS_HEADERS)}, {204, 404, 405}),
        ("call in an unknown session", {"body": edit(), "headers": {"Mcp-Session-Id": "chosen", "MCP-Protocol-Version": "2025-11-25"}}, {400, 404}),
    ]


def raw_cases():
    """Invalid HTTP."""
    post = b"POST /mcp HTTP/1.1\r\n"
    host = b"Host: 127.0.0.1\r\n"
    return {
        "TLS handshake": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 10 + b"\r\n\r\n",
        "header of 1 MB": post + b"X: " + b"x" * 1_000_000 + b"\r\n\r\n",
        "two lengths": post + host + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        "invalid chunks": post + host + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nxx\r\n",
        "truncated body": post + host + b"Content-Type: application/json\r\nContent-Length: 999\r\n\r\n{",
    }


def test_http():
    root, before = create_root()
    server = HttpServer(root)
    cases = http_cases(server)
    for name, options, accepted in cases:
        status, headers = request(server, **options)
        check(status in accepted, f"{name}: status {status}, not one of {accepted}")
        check("access-control-allow-origin" not in headers, f"{name}: a foreign page could read the response")
        check(snapshot(root) == before, f"{name}: something was written")
    for name, data in raw_cases().items():
        status = send_raw(server, data)
        check(status == 0 or status >= 400, f"{name}: status {status}")
        check(snapshot(root) == before, f"{name}: something was written")
    # The server chooses the session id, not the client.
    status, headers = request(
        server, body=INITIALIZE, headers={"Mcp-Session-Id": "chosen"}, without=tuple(STATELESS_HEADERS)
    )
    check(status >= 400 or headers.get("mcp-session-id") != "chosen", "the client chose the session id")
    status, _ = request(server)
    check(status == 200 and root.read("a.txt").startswith("1\n"), "a valid call no longer works")
    check(server.close() == 0, "the server did not exit cleanly")
    root.close()
    return len(cases) + len(raw_cases()) + 1


def test_token():
    token = "a-token-that-is-long-enough-0123456789"
    root, before = create_root()
    server = HttpServer(root, "--token", token)
    attempts = [
        {}, {"headers": {"Authorization": "Bearer wrong"}}, {"headers": {"Authorization": "Basic YTpi"}},
        {"headers": {"Authorization": "Bearer "}}, {"path": f"/mcp?token={token}"},
        {"headers": {"Authorization": f"Bearer {token[:-1]}"}},
    ]
    for options in attempts:
        status, headers = request(server, **options)
        check(status == 401, f"{options}: status {status}")
        check("www-authenticate" in headers, f"{options}: the response has no WWW-Authenticate")
        check(snapshot(root) == before, f"{options}: something was written")
    status, _ = request(server, headers={"Authorization": f"Bearer {token}"})
    check(status == 200, "the correct token is rejected")
    check(server.close() == 0, "the server did not exit cleanly")
    root.close()
    return len(attempts)


def test_default_token():
    root, before = create_root()
    server = HttpServer(root, default_token=True)
    attempts = [{}, {"headers": {"Authorization": "Bearer " + "0" * len(server.token)}}]
    for options in attempts:
        status, _ = request(server, **options)
        check(status == 401, f"{options}: status {status} without the server's token")
        check(snapshot(root) == before, f"{options}: something was written")
    status, _ = request(server, headers={"Authorization": f"Bearer {server.token}"})
    check(status == 200, "the printed token is rejected")
    check(server.close() == 0, "the server did not exit cleanly")
    root.close()
    return len(attempts)


def main():
    counts = [test_stdio(), test_stateless_approval(), test_http(), test_token(), test_default_token()]
    print(f"abuse: {sum(counts)} bad requests, none written, no server crashed")


main()
