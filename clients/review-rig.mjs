// The review page in headless Chromium, for its tests.
//
// Screenshots are written to target/review-screenshots. CHROMIUM is the browser to use.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import axe from "axe-core";
import { chromium } from "playwright-core";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { Root, check, here, program } from "./harness.mjs";

const screenshots = path.join(process.env.CARGO_TARGET_DIR ?? path.join(here, "..", "target"), "review-screenshots");
const RULES = '[[rules]]\npaths = ["**"]\nverdict = "ask"\nreason = "everything is reviewed here"\n[review]\nunattended = true\n';
/** A root whose every change is reviewed, with a page and an MCP client. */
export class Review {
  static async start(files, options = {}) {
    const review = new Review();
    review.root = new Root();
    for (const [name, text] of Object.entries(files)) review.write(name, text);
    const settings = path.join(review.root.outside, ".config", "slipstitch");
    fs.mkdirSync(settings, { recursive: true });
    fs.writeFileSync(path.join(settings, "config.toml"), RULES);
    review.state = path.join(review.root.outside, "state");
    if (options.passphrase) review.setPassphrase(options.passphrase);
    if (!options.isUnattended) review.url = await review.serve();
    review.client = await review.connect(options.agent ?? "claude-code");
    return review;
  }

  write(name, text) {
    fs.mkdirSync(path.dirname(path.join(this.root.path, name)), { recursive: true });
    this.root.write(name, text);
  }

  serve(...options) {
    const args = ["--state-dir", this.state, "--no-fsync", "--root", this.root.path, "review", "--web", ...options];
    this.server = spawn(program, args, { env: this.root.env(), stdio: ["ignore", "ignore", "pipe"] });
    return new Promise((resolve, reject) => {
      let output = "";
      this.server.stderr.on("data", (data) => {
        output += data;
        const found = output.match(/http:\S+/g);
        if (!found) return;
        resolve(found[0]);
        // The one for another browser, once this one was opened.
        this.nextUrl = found.at(-1);
      });
      this.server.on("exit", () => reject(new Error(`the page did not start: ${output}`)));
    });
  }

  /** Sets the passphrase at a terminal, which is the only place where it can be set. */
  setPassphrase(text) {
    const command = `${program} --state-dir ${this.state} --root ${this.root.path} review passphrase`;
    const done = spawnSync("script", ["-qec", command, "/dev/null"], { env: this.root.env(), input: `${text}\n${text}\n`, timeout: 20_000 });
    check(done.status === 0, `the passphrase is set: ${done.stdout} ${done.stderr}`);
  }

  async connect(agent) {
    const client = new Client({ name: agent, version: "1" });
    const args = this.root.serverArgs();
    await client.connect(new StdioClientTransport({ command: program, args, env: this.root.env(), stderr: "ignore" }));
    return client;
  }

  /** Starts a call; its answer is a promise. */
  edit(edits, description, client = this.client) {
    const answer = client.callTool({ name: "edit_file", arguments: { ...edits, description } });
    return answer.then((result) => result.content.map((part) => part.text).join(""));
  }

  async close() {
    await this.client.close();
    this.server.removeAllListeners("exit");
    this.server.kill("SIGINT");
    // Pages are still open; the server must not wait for them.
    const stopped = await Promise.race([new Promise((resolve) => this.server.on("exit", () => resolve(true))), new Promise((resolve) => setTimeout(resolve, 5000))]);
    check(stopped, "the server stops when it is interrupted");
    this.root.close();
  }
}

const installed = spawnSync("sh", ["-c", "command -v chromium chromium-browser google-chrome | head -n 1"], { encoding: "utf8" });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? installed.stdout.trim(),
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
fs.mkdirSync(screenshots, { recursive: true });

export async function open(review, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => { if (message.type() === "error") problems.push(message.text()); });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("dialog", (dialog) => { problems.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { if (!request.url().startsWith(new URL(review.url).origin)) problems.push(`an external request: ${request.url()}`); });
  page.problems = problems;
  page.setDefaultTimeout(30_000);
  await page.goto(review.url);
  return page;
}

/** Keeps a screenshot, and checks the page for what people who cannot see it well would stumble over. */
export async function look(page, name) {
  await page.screenshot({ path: path.join(screenshots, `${name}.png`) });
  // The page's own policy forbids scripts from elsewhere, so axe is evaluated by the debugger.
  const found = await page.evaluate(`${axe.source}; axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })`);
  const violations = found.violations.map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.html + " " + node.failureSummary).slice(0, 2).join("; ")}`);
  check(violations.length === 0, `${name}: ${violations.join("\n")}`);
  check(page.problems.length === 0, `${name}: ${page.problems.join("\n")}`);
}

/** Runs the test that is named on the command line, or all; `measurements` only run by their name. */
export async function runTests(tests, measurements = []) {
  for (const test of [...measurements.filter((test) => process.argv[2] === test.name), ...tests]) {
    if (process.argv[2] && process.argv[2] !== test.name) continue;
    try {
      await test();
    } catch (error) {
      for (const context of browser.contexts()) for (const page of context.pages()) await page.screenshot({ path: path.join(screenshots, "failed.png") });
      console.error(`FAILED: ${test.name}: ${error.stack}`);
      process.exit(1);
    }
    console.log(`review page: ${test.name} passed`);
  }
  await browser.close();
  console.log(`review page: screenshots in ${screenshots}`);
}
