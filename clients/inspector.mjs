// The official inspector lists and calls tools, in both eras, over both transports.

import { Root, check, http, program, run } from "./rig.mjs";

function inspect(root, era, target, ...rest) {
  const args = ["--cli", "--format", "json", "--quiet", "--protocol-era", era, ...rest];
  const { code, out, err } = run("mcp-inspector", [...args, ...target], root.env());
  check(code === 0 || code === 5, `the inspector ended with ${code}: ${err}${out}`);
  return { code, result: JSON.parse(out).result };
}

function look(root, era, target) {
  const names = inspect(root, era, target, "--method", "tools/list").result.tools.map((tool) => tool.name);
  check(names.includes("read_file") && names.includes("edit_file"), `tools: ${names}`);
  const call = (tool, args) => {
    const json = JSON.stringify(args);
    return inspect(root, era, target, "--method", "tools/call", "--tool-name", tool, "--tool-args-json", json);
  };
  const read = call("read_file", { path: "a.txt" }).result;
  check(read.content[0].text.includes("one"), JSON.stringify(read));
  const edit = call("edit_file", { path: "a.txt", old_text: "one", new_text: "1" }).result;
  check(edit.structuredContent.status === "applied" && root.get("a.txt") === "1\ntwo\n", JSON.stringify(edit));
  const refused = call("edit_file", { path: "a.txt", old_text: "nothing like it", new_text: "1" }).result;
  check(refused.isError === true && root.get("a.txt") === "1\ntwo\n", JSON.stringify(refused));
}

for (const era of ["legacy", "modern"]) {
  let root = new Root({ "a.txt": "one\ntwo\n" });
  look(root, era, ["--", program, ...root.args()]);
  root.close();
  root = new Root({ "a.txt": "one\ntwo\n" });
  const server = await http(root);
  look(root, era, ["--transport", "http", "--server-url", server.url]);
  await server.close();
  root.close();
  console.log(`inspector, ${era}: stdio and HTTP`);
}
