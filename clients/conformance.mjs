// The official conformance suite, for both eras. What it finds wanting is listed in conformance.json, with
// what it says and why that is so. Anything else that it finds fails the run; so does an entry that no
// longer applies, or that fails with other words than it says.

import fs from "node:fs";
import path from "node:path";

import { Root, check, here, http, run } from "./rig.mjs";

const EXPECTED = JSON.parse(fs.readFileSync(path.join(here, "conformance.json"), "utf8"));

/** Every check that did not pass, by scenario and name, with what the suite says of it. */
function failures(folder) {
  const found = new Map();
  let passed = 0;
  for (const entry of fs.readdirSync(folder)) {
    const scenario = entry.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
    const checks = JSON.parse(fs.readFileSync(path.join(folder, entry, "checks.json"), "utf8"));
    for (const { id, status, errorMessage } of checks) {
      if (status === "SUCCESS") passed += 1;
      if (status === "FAILURE" || status === "WARNING") found.set(`${scenario}: ${id}`, errorMessage ?? "");
    }
  }
  return { found, passed };
}

let wrong = 0;
const say = (text) => {
  console.error(text);
  wrong += 1;
};

for (const [version, expected] of Object.entries(EXPECTED)) {
  const root = new Root({ "a.txt": "one\n" });
  const results = path.join(root.outside, "results");
  const server = await http(root);
  const args = ["server", "--url", server.url, "--suite", "all", "--spec-version", version, "-o", results];
  const suite = run("conformance", args);
  check(suite.out.includes("=== SUMMARY ==="), `the suite did not finish: ${suite.err}${suite.out}`);
  await server.close();
  const { found, passed } = failures(results);
  root.close();
  check(passed > 20, `only ${passed} checks of ${version} passed`);
  for (const [name, message] of found) {
    if (!(name in expected)) say(`${version}: unexpected failure: ${name}: ${message}`);
    else if (!message.includes(expected[name].says)) say(`${version}: ${name} fails in another way: ${message}`);
  }
  for (const name of Object.keys(expected)) {
    if (!found.has(name)) say(`${version}: ${name} passes now: take it out of conformance.json`);
  }
  const why = wrong === 0 ? ", each for a stated reason" : "";
  console.log(`conformance, ${version}: ${passed} checks pass, ${found.size} do not${why}`);
}
check(wrong === 0, `${wrong} differences from conformance.json`);
