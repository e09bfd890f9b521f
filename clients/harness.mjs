// Temporary roots and MCP servers for the tests written in JavaScript.

import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const here = path.dirname(fileURLToPath(import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? path.join(here, "..", "target");
export const program = process.env.SLIPSTITCH ?? path.join(target, "debug", "slipstitch");

/** Fails the test with `message` unless the condition is true. */
export function check(condition, message) {
  if (!condition) {
    console.error(`FAILED: ${message}`);
    process.exit(1);
  }
}

/** A temporary root with some files, and a state folder next to it. */
export class Root {
  constructor(files = {}) {
    this.outside = fs.mkdtempSync(path.join(os.tmpdir(), "slipstitch-clients-"));
    this.path = path.join(this.outside, "root");
    fs.mkdirSync(this.path);
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  write(name, text) {
    fs.writeFileSync(path.join(this.path, name), text);
  }

  read(name) {
    return fs.readFileSync(path.join(this.path, name), "utf8");
  }

  /** The content of every file in the root, as one string to compare. */
  readAll() {
    return JSON.stringify(fs.readdirSync(this.path).sort().map((name) => [name, this.read(name)]));
  }

  /** The arguments of a server for this root. */
  serverArgs(...args) {
    const state = path.join(this.outside, "state");
    return ["--state-dir", state, "--no-fsync", "mcp", "--root", this.path, ...args];
  }

  /** Environment variables without the user's own settings. */
  env() {
    return { PATH: process.env.PATH, HOME: this.outside };
  }

  close() {
    fs.rmSync(this.outside, { recursive: true });
  }
}

/** Starts a server over HTTP on this machine, at `url` and without a token; `close` ends it. */
export async function startHttpServer(root, ...args) {
  const child = spawn(program, root.serverArgs("--http", "127.0.0.1:0", "--no-token", ...args), {
    stdio: ["ignore", "ignore", "pipe"],
    env: root.env(),
  });
  const exited = new Promise((resolve) => child.on("exit", resolve));
  const url = await new Promise((resolve, reject) => {
    let stderr = "";
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
      const found = stderr.match(/http:\/\/\S+/);
      if (found) resolve(found[0]);
    });
    child.on("exit", () => reject(new Error(`the HTTP server did not start: ${stderr}`)));
  });
  return {
    url,
    async close() {
      child.kill("SIGTERM");
      check((await exited) === 0, "the HTTP server did not exit cleanly");
    },
  };
}

/** Runs an installed npm program, such as the inspector. */
export function runInstalled(name, args, env = {}) {
  const bin = path.join(here, "node_modules", ".bin", name);
  const result = spawnSync(process.execPath, [bin, ...args], {
    encoding: "utf8",
    timeout: 300_000,
    maxBuffer: 64 << 20,
    env: { ...process.env, ...env },
  });
  return { code: result.status, stdout: result.stdout, stderr: result.stderr };
}
