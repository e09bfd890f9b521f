// Passes every tool through the converters of SDKs from the npm registry, as hosts do, and calls one as they call it.
//
// Usage: node schemas.mjs DIALECT...
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio";
import { mcpTools } from "@anthropic-ai/sdk/helpers/beta/mcp";
import { mcpToTool } from "@google/genai";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { mcpToFunctionTool } from "@openai/agents";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? join(here, "../../target");
const program = process.env.SLIPSTITCH ?? join(target, "debug/slipstitch");

const folder = mkdtempSync(join(tmpdir(), "slipstitch-sdks-"));
const file = join(folder, "a.txt");
const server = (dialect, ...more) => ({
  command: program,
  args: ["--state-dir", `${folder}-state`, "mcp", "--root", folder, "--dialect", dialect, ...more],
});

const fields = (schema) => Object.keys(schema.properties ?? {}).sort();
const allowsNull = (schema) =>
  [schema.type].flat().includes("null") || schema.nullable === true || "enum" in schema
  || (schema.anyOf ?? []).some(allowsNull);

/** Checks that a converted schema has all fields and that optional ones can be left out. */
function checkSchema(name, schema, converted) {
  assert.deepEqual(fields(converted), fields(schema), `${name}: ${JSON.stringify(converted)}`);
  for (const field of fields(schema)) {
    const isOptional = !(schema.required ?? []).includes(field);
    const canBeOmitted = !(converted.required ?? []).includes(field) || allowsNull(converted.properties[field]);
    assert.ok(!isOptional || canBeOmitted, `${name}.${field}: ${JSON.stringify(converted.properties[field])}`);
  }
}

async function checkDialect(dialect) {
  const client = new Client({ name: "sdks", version: "1" });
  await client.connect(new StdioClientTransport(server(dialect, "--tools", "all")));
  const { tools } = await client.listTools();
  const google = (await mcpToTool(client).tool()).functionDeclarations;
  const anthropic = mcpTools(tools, client);
  const mcpServer = { name: "slipstitch", cacheToolsList: false };
  for (const tool of tools) {
    const name = `${dialect}.${tool.name}`;
    const schema = tool.inputSchema;
    const declaration = google.find((other) => other.name === tool.name);
    checkSchema(`Google, ${name}`, schema, declaration.parametersJsonSchema ?? declaration.parameters);
    checkSchema(`Anthropic, ${name}`, schema, anthropic.find((other) => other.name === tool.name).input_schema);
    const strict = mcpToFunctionTool(tool, mcpServer, true);
    checkSchema(`OpenAI, ${name}`, schema, strict.parameters);
    // A tool without fields is sent as it is.
    assert.ok(strict.strict || fields(schema).length === 0, `OpenAI, ${name} is not strict`);
    assert.deepEqual([...strict.parameters.required].sort(), fields(schema), `OpenAI, ${name}`);
  }
  await client.close();
  return tools.length;
}

/** The AI SDK validates what a model sends, and gives it the content of the result. */
async function checkCall() {
  writeFileSync(file, "one\ntwo\n");
  const client = await createMCPClient({ transport: new StdioTransport(server("native")) });
  const tool = (await client.tools()).edit_file;
  const schema = await tool.inputSchema.jsonSchema;
  const blank = Object.fromEntries(fields(schema).map((field) => [field, null]));
  const call = { ...blank, path: "a.txt", old_text: "one", new_text: "1" };
  const result = await tool.execute(call, { toolCallId: "1", messages: [] });
  await client.close();
  assert.match(result.content[0].text, /^Changed/);
  assert.equal(readFileSync(file, "utf8"), "1\ntwo\n");
}

let count = 0;
try {
  for (const dialect of process.argv.slice(2)) count += await checkDialect(dialect);
  await checkCall();
} finally {
  rmSync(folder, { recursive: true });
  rmSync(`${folder}-state`, { recursive: true, force: true });
}
const version = (name) => {
  const path = createRequire(import.meta.url).resolve.paths(name)[0];
  return `${name} ${JSON.parse(readFileSync(join(path, name, "package.json"), "utf8")).version}`;
};
const names = ["@google/genai", "@anthropic-ai/sdk", "@openai/agents", "@ai-sdk/mcp"];
console.log(`schema converters: ${count} tools passed (${names.map(version).join(", ")})`);
process.exit(0);
