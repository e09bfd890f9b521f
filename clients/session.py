"""Runs an edit session with the official Python client, with both protocol versions, over stdio and HTTP."""

import asyncio

from mcp import Client, StdioServerParameters

from harness import HttpServer, Root, check

FILES = {
    "a.txt": "def area(w, h):\n    result = w * h\n    return result\n",
    "b.txt": "one\ntwo\nthree\n",
    "c.txt": "alpha\nbeta\n",
}
# The session checks the structured content too.
OPTIONS = ("--structured", "--tools", "default,undo_edit")
PATCH = """\
--- a/a.txt
+++ b/a.txt
@@ -1,1 +1,1 @@
-def area(w, h):
+def area(width, h):
--- a/b.txt
+++ b/b.txt
@@ -1,3 +1,3 @@
 one
-two
+2
 three
--- a/c.txt
+++ b/c.txt
@@ -1,2 +1,3 @@
 alpha
 beta
+gamma
"""


async def run_session(client, root):
    """Read, edit, be refused as stale, edit with inexact whitespace, patch three files, undo."""
    tools = {tool.name for tool in (await client.list_tools()).tools}
    check({"read_file", "edit_file", "patch", "undo_edit"} <= tools, f"tools: {tools}")

    async def call(tool, **arguments):
        result = await client.call_tool(tool, arguments)
        text = "".join(part.text for part in result.content)
        return result, text, (result.structured_content or {})

    result, text, _ = await call("read_file", path="a.txt")
    check(not result.is_error and "result = w * h" in text, text)
    version = next(line for line in text.splitlines() if line.startswith("version: ")).split()[1]

    result, text, data = await call(
        "edit_file", path="a.txt", old_text="w * h", new_text="h * w", version=version
    )
    check(not result.is_error and data["status"] == "applied", text)
    check("result = h * w" in root.read("a.txt"), "the edit is not in the file")

    # Another program changed the same line, so the edit cannot be carried over.
    kept = root.read("a.txt") + "# another program\n"
    root.write("a.txt", kept.replace("h * w", "h * w * 1"))
    before = root.read("a.txt")
    result, text, data = await call(
        "edit_file", path="a.txt", old_text="h * w", new_text="0", version=data["files"][0]["version"]
    )
    check(result.is_error and not data and "has changed since the given version" in text, text)
    check(root.read("a.txt") == before, "a stale edit changed a file")
    root.write("a.txt", kept)

    result, text, data = await call(
        "edit_file", path="a.txt", old_text="    result = h * w  \n    return result \n",
        new_text="    return h * w\n",
    )
    check(not result.is_error and data["status"] == "applied", text)
    check(root.read("a.txt") == "def area(w, h):\n    return h * w\n# another program\n", root.read("a.txt"))

    before = root.read_all()
    result, text, data = await call("patch", patch=PATCH)
    check(not result.is_error and len(data["files"]) == 3, text)
    check("width" in root.read("a.txt") and "2\n" in root.read("b.txt") and "gamma" in root.read("c.txt"), text)
    result, text, _ = await call("undo_edit")
    check(not result.is_error and root.read_all() == before, f"undo: {text}")


async def main():
    for mode in ("legacy", "2026-07-28", "auto"):
        root = Root(FILES)
        program, *arguments = root.command(*OPTIONS)
        server = StdioServerParameters(command=program, args=arguments, env=root.environment())
        async with Client(server, mode=mode) as client:
            await run_session(client, root)
        root.close()
        root = Root(FILES)
        http = HttpServer(root, *OPTIONS)
        async with Client(http.url, mode=mode) as client:
            await run_session(client, root)
        check(http.close() == 0, "the HTTP server did not exit cleanly")
        root.close()
        print(f"Python client, {mode}: stdio and HTTP passed")


asyncio.run(main())
