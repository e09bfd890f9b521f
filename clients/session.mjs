// The official TypeScript clients run a whole edit session: version 2 in both eras, version 1 in its own,
// each over both transports.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { Root, check, http, program } from "./rig.mjs";

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

async function session(client, root) {
  const call = async (name, args) => {
    const result = await client.callTool({ name, arguments: args });
    const text = result.content.map((part) => part.text).join("");
    return { bad: result.isError === true, text, data: result.structuredContent ?? {} };
  };
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  check(["read_file", "edit_file", "patch", "undo_edit"].every((name) => names.includes(name)), names);

  let answer = await call("read_file", { path: "a.txt" });
  check(!answer.bad && answer.text.includes("w * h"), answer.text);
  const version = answer.text.match(/^version: (\S+)/m)[1];

  answer = await call("edit_file", { path: "a.txt", old_text: "w * h", new_text: "h * w", version });
  check(!answer.bad && answer.data.status === "applied", answer.text);
  check(root.get("a.txt").includes("h * w"), "the edit is in the file");

  // Someone else is at the same line: the edit cannot be carried over.
  const kept = root.get("a.txt") + "// someone else\n";
  root.put("a.txt", kept.replace("h * w", "h * w * 1"));
  let before = root.all();
  const stale = answer.data.files[0].version;
  answer = await call("edit_file", { path: "a.txt", old_text: "h * w", new_text: "0", version: stale });
  check(answer.bad && answer.data.code === "stale_file", answer.text);
  check(root.all() === before, "a stale edit writes nothing");
  root.put("a.txt", kept);

  answer = await call("edit_file", {
    path: "a.txt",
    old_text: "  const result = h * w; \n  return result;  \n",
    new_text: "  return h * w;\n",
  });
  check(!answer.bad && answer.data.status === "applied", answer.text);
  check(root.get("a.txt").includes("{\n  return h * w;\n}"), root.get("a.txt"));

  before = root.all();
  answer = await call("patch", { patch: PATCH });
  check(!answer.bad && answer.data.files.length === 3, answer.text);
  check(root.get("a.txt").includes("width") && root.get("d.txt") === "new\n", answer.text);
  answer = await call("undo_edit", {});
  check(!answer.bad && root.all() === before, `undo: ${answer.text}`);
}

const info = { name: "slipstitch-clients", version: "1" };
const modern = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
const KINDS = [
  ["version 2, 2026-07-28", () => new Client(info, modern), StdioClientTransport, StreamableHTTPClientTransport],
  ["version 2, initialize", () => new Client(info), StdioClientTransport, StreamableHTTPClientTransport],
  ["version 1, initialize", () => new OldClient(info), OldStdio, OldHttp],
];

for (const [kind, make, Stdio, Http] of KINDS) {
  let root = new Root(FILES);
  let client = make();
  await client.connect(new Stdio({ command: program, args: root.args(), env: root.env() }));
  await session(client, root);
  await client.close();
  root.close();

  root = new Root(FILES);
  const server = await http(root);
  client = make();
  await client.connect(new Http(new URL(server.url)));
  await session(client, root);
  await client.close();
  await server.close();
  root.close();
  console.log(`TypeScript client, ${kind}: stdio and HTTP`);
}
