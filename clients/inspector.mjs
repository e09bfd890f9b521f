// Lists and calls tools with the official inspector, with both protocol eras, over stdio and HTTP.

import { Root, check, program, runInstalled, startHttpServer } from "./harness.mjs";

function inspect(root, era, target, ...rest) {
  const args = ["--cli", "--format", "json", "--quiet", "--protocol-era", era, ...rest];
  const { code, stdout, stderr } = runInstalled("mcp-inspector", [...args, ...target], root.env());
  check(code === 0 || code === 5, `the inspector ended with ${code}: ${stderr}${stdout}`);
  return JSON.parse(stdout).result;
}

function testTools(root, era, target) {
  const names = inspect(root, era, target, "--method", "tools/list").tools.map((tool) => tool.name);
  check(names.includes("read_file") && names.includes("edit_file"), `tools: ${names}`);
  const call = (tool, args) => {
    const json = JSON.stringify(args);
    return inspect(root, era, target, "--method", "tools/call", "--tool-name", tool, "--tool-args-json", json);
  };
  const read = call("read_file", { path: "a.txt" });
  check(read.content[0].text.includes("one"), JSON.stringify(read));
  const edit = call("edit_file", { path: "a.txt", old_text: "one", new_text: "1" });
  check(edit.isError !== true && edit.structuredContent === undefined && root.read("a.txt") === "1\ntwo\n", JSON.stringify(edit));
  const refused = call("edit_file", { path: "a.txt", old_text: "nothing like it", new_text: "1" });
  check(refused.isError === true && root.read("a.txt") === "1\ntwo\n", JSON.stringify(refused));
}

for (const era of ["legacy", "modern"]) {
  let root = new Root({ "a.txt": "one\ntwo\n" });
  testTools(root, era, ["--", program, ...root.serverArgs()]);
  root.close();
  root = new Root({ "a.txt": "one\ntwo\n" });
  const server = await startHttpServer(root);
  testTools(root, era, ["--transport", "http", "--server-url", server.url]);
  await server.close();
  root.close();
  console.log(`inspector, ${era}: stdio and HTTP passed`);
}
