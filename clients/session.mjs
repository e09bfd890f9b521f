// Runs an edit session with the official TypeScript clients, over stdio and HTTP: version 2 with both protocol versions, and
// version 1.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { Root, check, program, startHttpServer } from "./harness.mjs";

const FILES = {
  "a.txt": "function area(w, h) {\n  const result = w * h;\n  return result;\n}\n",
  "b.txt": "one\ntwo\nthree\n",
  "c.txt": "alpha\nbeta\n",
};
const PATCH = `*** Begin Patch
*** Update File: a.txt
@@
-function area(w, h) {
+function area(width, h) {
*** Update File: b.txt
@@
 one
-two
+2
*** Add File: d.txt
+new
*** End Patch
`;

/** Read, edit, be refused as stale, edit with inexact whitespace, patch three files, undo. */
async function runSession(client, root) {
  const call = async (name, args) => {
    const result = await client.callTool({ name, arguments: args });
    const text = result.content.map((part) => part.text).join("");
    return { isError: result.isError === true, text, data: result.structuredContent ?? {} };
  };
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  check(["read_file", "edit_file", "patch", "undo_edit"].every((name) => names.includes(name)), names);

  let result = await call("read_file", { path: "a.txt" });
  check(!result.isError && result.text.includes("w * h"), result.text);
  const version = result.text.match(/^version: (\S+)/m)[1];

  result = await call("edit_file", { path: "a.txt", old_text: "w * h", new_text: "h * w", version });
  check(!result.isError && result.data.status === "applied", result.text);
  check(root.read("a.txt").includes("h * w"), "the edit is not in the file");

  // Another program changed the same line, so the edit cannot be carried over.
  const kept = root.read("a.txt") + "// another program\n";
  root.write("a.txt", kept.replace("h * w", "h * w * 1"));
  let before = root.readAll();
  const stale = result.data.files[0].version;
  result = await call("edit_file", { path: "a.txt", old_text: "h * w", new_text: "0", version: stale });
  check(result.isError && !result.data.code && result.text.includes("has changed since the given version"), result.text);
  check(root.readAll() === before, "a stale edit changed a file");
  root.write("a.txt", kept);

  result = await call("edit_file", {
    path: "a.txt",
    old_text: "  const result = h * w; \n  return result;  \n",
    new_text: "  return h * w;\n",
  });
  check(!result.isError && result.data.status === "applied", result.text);
  check(root.read("a.txt").includes("{\n  return h * w;\n}"), root.read("a.txt"));

  before = root.readAll();
  result = await call("patch", { patch: PATCH });
  check(!result.isError && result.data.files.length === 3, result.text);
  check(root.read("a.txt").includes("width") && root.read("d.txt") === "new\n", result.text);
  result = await call("undo_edit", {});
  check(!result.isError && root.readAll() === before, `undo: ${result.text}`);
}

// The session checks the structured content too.
const OPTIONS = ["--structured", "--tools", "default,undo_edit"];
const info = { name: "slipstitch-clients", version: "1" };
const modern = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
const CLIENTS = [
  ["version 2, 2026-07-28", () => new Client(info, modern), StdioClientTransport, StreamableHTTPClientTransport],
  ["version 2, initialize", () => new Client(info), StdioClientTransport, StreamableHTTPClientTransport],
  ["version 1, initialize", () => new ClientV1(info), StdioV1, HttpV1],
];

for (const [name, create, Stdio, Http] of CLIENTS) {
  let root = new Root(FILES);
  let client = create();
  await client.connect(new Stdio({ command: program, args: root.serverArgs(...OPTIONS), env: root.env() }));
  await runSession(client, root);
  await client.close();
  root.close();

  root = new Root(FILES);
  const server = await startHttpServer(root, ...OPTIONS);
  client = create();
  await client.connect(new Http(new URL(server.url)));
  await runSession(client, root);
  await client.close();
  await server.close();
  root.close();
  console.log(`TypeScript client, ${name}: stdio and HTTP passed`);
}
