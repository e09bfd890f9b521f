#!/usr/bin/env node
// Runs the program of the package for this system, which npm installed as an optional dependency.
"use strict";
const { spawnSync } = require("node:child_process");
const os = require("node:os");

const name = `@slipstitch/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "slipstitch.exe" : "slipstitch";
let program;
try {
  program = require.resolve(`${name}/${file}`);
} catch {
  console.error(`slipstitch: the package ${name} is missing. Either there is no build for this system, or optional`);
  console.error("dependencies were not installed; see https://github.com/slipstitch/slipstitch/releases for all builds.");
  process.exit(1);
}
// The program gets signals from the terminal itself; this process only waits for it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
const result = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (result.error) {
  console.error(`slipstitch: cannot run ${program}: ${result.error.message}`);
  process.exit(1);
}
process.exit(result.status ?? 128 + os.constants.signals[result.signal]);
