// A root of its own, and a server in it, for the rigs that are written in JavaScript.

import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const here = path.dirname(fileURLToPath(import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? path.join(here, "..", "target");
export const program = process.env.SLIPSTITCH ?? path.join(target, "debug", "slipstitch");

/** Ends the rig if something is not so. */
export function check(truth, what) {
  if (!truth) {
    console.error(`FAILED: ${what}`);
    process.exit(1);
  }
}

/** A folder with some files, and a state folder beside it. */
export class Root {
  constructor(files = {}) {
    this.outside = fs.mkdtempSync(path.join(os.tmpdir(), "slipstitch-clients-"));
    this.path = path.join(this.outside, "root");
    fs.mkdirSync(this.path);
    for (const [name, text] of Object.entries(files)) this.put(name, text);
  }

  put(name, text) {
    fs.writeFileSync(path.join(this.path, name), text);
  }

  get(name) {
    return fs.readFileSync(path.join(this.path, name), "utf8");
  }

  all() {
    return JSON.stringify(fs.readdirSync(this.path).sort().map((name) => [name, this.get(name)]));
  }

  args(...more) {
    const state = path.join(this.outside, "state");
    return ["--state-dir", state, "--no-fsync", "mcp", "--root", this.path, ...more];
  }

  env() {
    return { PATH: process.env.PATH, HOME: this.outside };
  }

  close() {
    fs.rmSync(this.outside, { recursive: true });
  }
}

/** Starts a server that listens on this machine; `url` is where, `close` ends it. */
export async function http(root, ...more) {
  const child = spawn(program, root.args("--http", "127.0.0.1:0", ...more), {
    stdio: ["ignore", "ignore", "pipe"],
    env: root.env(),
  });
  const ended = new Promise((done) => child.on("exit", done));
  const url = await new Promise((found, failed) => {
    let said = "";
    child.stderr.on("data", (part) => {
      said += part;
      const address = said.match(/http:\/\/\S+/);
      if (address) found(address[0]);
    });
    child.on("exit", () => failed(new Error(`the HTTP server did not start: ${said}`)));
  });
  return {
    url,
    async close() {
      child.kill("SIGTERM");
      check((await ended) === 0, "the HTTP server stops when it is told to");
    },
  };
}

/** Runs one of the installed programs, such as the inspector. */
export function run(name, args, env = {}) {
  const bin = path.join(here, "node_modules", ".bin", name);
  const done = spawnSync(process.execPath, [bin, ...args], {
    encoding: "utf8",
    timeout: 300_000,
    maxBuffer: 64 << 20,
    env: { ...process.env, ...env },
  });
  return { code: done.status, out: done.stdout, err: done.stderr };
}
