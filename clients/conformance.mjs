// Runs the official conformance suite for both protocol versions. conformance.json lists the checks that are expected to
// fail, with the suite's message and the reason. Any other failure fails this test, and so does an entry whose check passes
// or fails with a different message.

import fs from "node:fs";
import path from "node:path";

import { Root, check, here, runInstalled, startHttpServer } from "./harness.mjs";

const EXPECTED = JSON.parse(fs.readFileSync(path.join(here, "conformance.json"), "utf8"));

/** The number of passed checks, and a map from failed ones (`scenario: check`) to the suite's message. */
function readResults(folder) {
  const failed = new Map();
  let passed = 0;
  for (const entry of fs.readdirSync(folder)) {
    const scenario = entry.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
    const checks = JSON.parse(fs.readFileSync(path.join(folder, entry, "checks.json"), "utf8"));
    for (const { id, status, errorMessage } of checks) {
      if (status === "SUCCESS") passed += 1;
      if (status === "FAILURE" || status === "WARNING") failed.set(`${scenario}: ${id}`, errorMessage ?? "");
    }
  }
  return { failed, passed };
}

/** Runs the suite for one protocol version. */
async function runSuite(version) {
  const root = new Root({ "a.txt": "one\n" });
  const folder = path.join(root.outside, "results");
  const server = await startHttpServer(root);
  const args = ["server", "--url", server.url, "--suite", "all", "--spec-version", version, "-o", folder];
  const suite = runInstalled("conformance", args);
  check(suite.stdout.includes("=== SUMMARY ==="), `the suite did not finish: ${suite.stderr}${suite.stdout}`);
  await server.close();
  const results = readResults(folder);
  root.close();
  return results;
}

const differences = [];
for (const [version, expected] of Object.entries(EXPECTED)) {
  const before = differences.length;
  const { failed, passed } = await runSuite(version);
  check(passed > 20, `only ${passed} checks of ${version} passed`);
  for (const [name, message] of failed) {
    if (!(name in expected)) differences.push(`${version}: unexpected failure: ${name}: ${message}`);
    else if (!message.includes(expected[name].message))
      differences.push(`${version}: ${name} fails with a different message: ${message}`);
  }
  for (const name of Object.keys(expected)) {
    if (!failed.has(name)) differences.push(`${version}: ${name} passes now: remove it from conformance.json`);
  }
  const asExpected = differences.length === before ? " as expected" : "";
  console.log(`conformance, ${version}: ${passed} checks passed, ${failed.size} failed${asExpected}`);
}
check(differences.length === 0, `differences from conformance.json:\n${differences.join("\n")}`);
