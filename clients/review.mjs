// Tests the review page in headless Chromium, with a real MCP client whose calls wait for the decisions.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { spawn, spawnSync } from "node:child_process";
import http from "node:http";

import { check, program } from "./harness.mjs";
import { Review, look, open, runTests } from "./review-rig.mjs";

const CLIENT = `import time

TIMEOUT = 30  # seconds


class Client:
    def __init__(self, http, retries=3):
        self.http = http
        self.retries = retries

    def send(self, part):
        response = self.http.put(part.url, part.body)
        return response.status

    def close(self):
        self.http.close()


def connect(url):
    return Client(open(url))


def main():
    client = connect("http://localhost")
    print(client.send("part"))
    client.close()
`;

async function hunksAndHistory() {
  const review = await Review.start({ "upload/client.py": CLIENT });
  const page = await open(review);
  await page.getByText("Nothing to review", { exact: true }).first().waitFor();
  await look(page, "empty");
  const answer = review.edit({
    path: "upload/client.py",
    edits: [
      { old_text: "TIMEOUT = 30", new_text: "TIMEOUT = 300" },
      { old_text: "        response = self.http.put(part.url, part.body)\n        return response.status\n", new_text: "        for attempt in range(self.retries):\n            response = self.http.put(part.url, part.body)\n            if response.ok:\n                return response.status\n        raise UploadError(part, response)\n" },
      { old_text: '    print(client.send("part"))', new_text: '    print(client.send("the part"))' },
    ],
  }, "Retry failed uploads");
  // It appears without a reload.
  await page.getByRole("heading", { name: "Retry failed uploads" }).waitFor();
  await page.getByText("The agent is waiting").waitFor();
  await look(page, "proposal");
  // One hunk is rejected with a reason, one accepted, one edited; with the keyboard alone.
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("r");
  await page.keyboard.press("c");
  await page.keyboard.type("Keep 30 s: the proxy cuts at 60.");
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("a");
  await page.keyboard.press("j");
  await page.keyboard.press("e");
  await page.keyboard.press("Control+a");
  await page.keyboard.type('    print(client.send("one part"))\n');
  await page.keyboard.press("Escape");
  await look(page, "decided-by-hunk");
  await page.keyboard.press("Enter");
  await page.getByText("The agent gets this answer").waitFor();
  await look(page, "decision");
  const told = await answer;
  check(told.includes("Keep 30 s: the proxy cuts at 60.") && told.includes("hunk 1"), `the call gets the reason: ${told}`);
  check(told.includes("one part"), `the call gets what was written: ${told}`);
  check(!told.includes("slipstitch review"), `the call is not told how to accept: ${told}`);
  const text = review.root.read("upload/client.py");
  check(text.includes("TIMEOUT = 30  #") && text.includes("UploadError") && text.includes('send("one part")') && !text.includes("the part"), text);
  // Undo and redo from the history, with the keyboard.
  await page.goto(new URL("/history", page.url()).href);
  await page.getByText("What this would write").click();
  const preview = page.locator("details.preview .row.a");
  check((await preview.allInnerTexts()).some((row) => row.includes('send("part")')), "the preview has the lines that come back");
  await look(page, "history");
  await page.keyboard.press("u");
  await page.getByRole("heading", { name: "Undo of c1" }).waitFor();
  check(review.root.read("upload/client.py") === CLIENT, "undo restores every byte");
  await page.goto(new URL("/history/c1", page.url()).href);
  await page.keyboard.press("u");
  await page.getByRole("heading", { name: "Redo of" }).waitFor();
  check(review.root.read("upload/client.py") === text, "redo writes it again");
  await page.goto(new URL("/history?agent=nobody", page.url()).href);
  await page.getByText("Nothing matches.").waitFor();
  await page.goto(new URL("/history?since=soon", page.url()).href);
  await page.getByText("`soon` is not a time").waitFor();
  await page.goto(new URL("/statistics", page.url()).href);
  await look(page, "statistics");
  await review.close();
}

async function twoProposalsAndConflict() {
  const review = await Review.start({ "a.txt": "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n" });
  const page = await open(review);
  const other = await review.connect("codex");
  const first = review.edit({ path: "a.txt", old_text: "two", new_text: "2" }, "Second line");
  await page.getByRole("heading", { name: "Second line" }).waitFor();
  const second = review.edit({ path: "a.txt", old_text: "seven", new_text: "7" }, "Seventh line", other);
  await page.locator("aside").getByRole("link", { name: /Seventh line/ }).waitFor();
  await page.keyboard.press("A");
  await page.getByText("The agent gets this answer").waitFor();
  check((await first).includes("was accepted") && review.root.read("a.txt").startsWith("one\n2\n"), "the first is applied");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Seventh line" }).waitFor();
  check((await page.locator(".note").innerText()).includes("Now: Would change `a.txt` at line 7"), "the page says what would be written now");
  await look(page, "carried-over");
  await page.keyboard.press("A");
  await page.getByText("The agent gets this answer").waitFor();
  await second;
  check(review.root.read("a.txt") === "one\n2\nthree\nfour\nfive\nsix\n7\neight\n", "both are applied");
  // A conflict shows both sides, and nothing is written.
  const third = review.edit({ path: "a.txt", old_text: "four", new_text: "4" }, "Fourth line");
  await page.locator("aside").getByRole("link", { name: /Fourth line/ }).click();
  await page.getByRole("heading", { name: "Fourth line" }).waitFor();
  review.write("a.txt", "one\n2\nthree\nFOUR\nfive\nsix\n7\neight\n");
  await page.keyboard.press("A");
  await page.getByText("Not written.").waitFor();
  check(await page.getByText("FOUR").count() > 0, "the present line is shown");
  check(await page.getByText("it was made for").count() > 0, "what was expected is shown");
  page.problems.length = 0; // The browser reports the status of the refused form.
  await look(page, "conflict");
  check(review.root.read("a.txt").includes("FOUR"), "nothing is written");
  await page.fill("#reason", "It changed meanwhile.");
  await page.getByRole("button", { name: /Reject all/ }).click();
  await page.getByText("The agent gets this answer").waitFor();
  check((await third).includes("It changed meanwhile."), "the agent gets the reason");
  await other.close();
  await review.close();
}

async function smallDarkAndHostile() {
  const bad = '<img src=x onerror=alert(1)>\u202e<script>alert(2)</script>';
  const review = await Review.start({ "web/<b>pager.ts": `const size = 10;\nconst text = "${bad}";\n` }, { agent: bad });
  const page = await open(review, { viewport: { width: 375, height: 720 }, colorScheme: "dark", isMobile: true, hasTouch: true });
  const answer = review.edit({ path: "web/<b>pager.ts", old_text: "size = 10", new_text: `size = 25; // ${bad}` }, `Larger pages ${bad}`);
  await page.getByRole("heading", { name: /Larger pages/ }).waitFor();
  await look(page, "phone-dark");
  check(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is wider than the phone");
  const shown = await page.evaluate("document.body.innerText");
  check(!shown.includes("\u202e") && shown.includes("<script>alert(2)"), `text stays text: ${shown}`);
  check(await page.locator("main script, main img, aside img").count() === 0, "no element comes from the agent");
  await page.fill("#reason", bad);
  await page.getByRole("button", { name: /Reject all/ }).tap();
  await page.getByText("The agent gets this answer").waitFor();
  await look(page, "phone-decided");
  await answer;
  await page.goto(new URL("/history", page.url()).href);
  await look(page, "phone-history");
  await review.close();
}

async function passphrase() {
  const review = await Review.start({ "a.txt": "one\n" }, { passphrase: "open sesame" });
  const page = await open(review);
  const answer = review.edit({ path: "a.txt", old_text: "one", new_text: "1" }, "Use digits");
  await page.getByLabel("Enter the review passphrase to decide").waitFor();
  await look(page, "locked");
  await page.getByLabel("Enter the review passphrase to decide").fill("guess");
  await page.getByRole("button", { name: "Unlock" }).click();
  await page.getByText("the passphrase is wrong").waitFor();
  check(await page.getByRole("button", { name: /Accept all/ }).count() === 0, "nothing can be accepted yet");
  page.problems.length = 0;
  await page.getByLabel("Enter the review passphrase to decide").fill("open sesame");
  await page.getByRole("button", { name: "Unlock" }).click();
  await page.getByRole("button", { name: /Accept all/ }).click();
  await page.getByText("The agent gets this answer").waitFor();
  await answer;
  check(review.root.read("a.txt") === "1\n", "accepted after the passphrase");
  // In another browser, and with nothing left to decide, an undo needs it too.
  const other = await open({ url: review.nextUrl });
  await other.goto(new URL("/history", page.url()).href);
  check(await other.getByRole("button", { name: /Undo/ }).count() === 0, "nothing can be undone yet");
  await other.getByLabel("Enter the review passphrase to decide").fill("guess");
  await other.getByRole("button", { name: "Unlock" }).click();
  await other.getByText("the passphrase is wrong").waitFor();
  other.problems.length = 0;
  await look(other, "locked-history");
  await other.getByLabel("Enter the review passphrase to decide").fill("open sesame");
  await other.getByRole("button", { name: "Unlock" }).click();
  await other.getByRole("button", { name: /Undo/ }).click();
  await other.getByRole("heading", { name: "Undo of c1" }).waitFor();
  check(review.root.read("a.txt") === "one\n", "undone after the passphrase");
  await review.close();
}

/** Whoever rejects or edits a hunk and then accepts all means the rest, also of several proposals. */
async function acceptTheRest() {
  const lines = [...Array(30).keys()].map((line) => `line ${line}\n`).join("");
  const review = await Review.start({ "a.txt": lines, "b.txt": lines, "c.txt": lines }, { isUnattended: true });
  const edits = [3, 14, 25].map((line) => ({ old_text: `line ${line}\n`, new_text: `LINE ${line}\n` }));
  for (const name of ["a.txt", "b.txt", "c.txt"]) await review.edit({ path: name, edits }, `Shout in ${name}`);
  review.url = await review.serve();
  const page = await open(review);
  const choose = async (name) => {
    await page.getByRole("heading", { name: `Shout in ${name}` }).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.keyboard.press("r");
    await page.keyboard.press("j");
    await page.keyboard.press("e");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("fourteen");
    await page.keyboard.press("Escape");
  };
  const wanted = lines.replace("line 14\n", "fourteen\n").replace("line 25\n", "LINE 25\n");
  await choose("a.txt");
  await page.getByRole("button", { name: "Accept the rest" }).waitFor();
  await page.keyboard.press("A");
  await page.getByText("The agent gets this answer").waitFor();
  check(review.root.read("a.txt") === wanted, review.root.read("a.txt"));
  await page.keyboard.press("Enter");
  await choose("b.txt");
  await page.keyboard.press("m");
  await page.keyboard.press("J");
  await page.getByRole("heading", { name: "Shout in c.txt" }).waitFor();
  await page.getByLabel(/Select Shout in b.txt/).check();
  await page.getByLabel(/Select Shout in c.txt/).check();
  await page.keyboard.press("A");
  await page.getByText("Nothing to review", { exact: true }).first().waitFor();
  check(review.root.read("b.txt") === wanted, `what was chosen before counts: ${review.root.read("b.txt")}`);
  check(review.root.read("c.txt").includes("LINE 3\n"), "the other one is accepted whole");
  await review.close();
}

/** A list stays limited after a decision, shows what is open, and finds text in diffs. */
async function longAndFilteredList() {
  const names = [...Array(24).keys()].map((number) => `file${number}.txt`);
  const review = await Review.start(Object.fromEntries(names.map((name) => [name, "one\n"])), { isUnattended: true });
  for (const name of names) await review.edit({ path: name, old_text: "one", new_text: `one of ${name === "file7.txt" ? "needle" : "many"}` }, `Change ${name}`);
  review.url = await review.serve();
  const page = await open(review);
  await page.goto(new URL("/review/p23", page.url()).href);
  const current = page.locator("aside .item[aria-current]");
  check(await current.evaluate((item) => item.getBoundingClientRect().bottom <= innerHeight && item.getBoundingClientRect().top > 0), "the list shows what is open");
  await look(page, "long-list");
  await page.keyboard.press("/");
  await page.keyboard.type("needle");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Change file7.txt" }).waitFor();
  check(await page.locator("aside .item").count() === 1, "text in diffs is found");
  await page.goto(new URL("/review?file=file3.txt&since=1h", page.url()).href);
  await page.getByRole("heading", { name: "Change file3.txt" }).waitFor();
  await page.keyboard.press("A");
  await page.getByText("The agent gets this answer").waitFor();
  check(page.url().includes("file=file3.txt"), page.url());
  check(await page.locator("aside .item").count() === 1, "only what was selected is listed");
  await review.close();
}

/** Several proposals are selected and decided at once; bars of the charts lead to what they count. */
async function severalAndStatistics() {
  const review = await Review.start({ "a.txt": "one\n", "b.txt": "one\n", "c.txt": "one\n" }, { isUnattended: true });
  await review.edit({ path: "c.txt", old_text: "nowhere", new_text: "1" }, "No such text");
  for (const name of ["a.txt", "b.txt", "c.txt"]) await review.edit({ path: name, old_text: "one", new_text: "1" }, `Digits in ${name}`);
  review.url = await review.serve();
  const page = await open(review);
  await page.getByRole("heading", { name: "Digits in a.txt" }).waitFor();
  check(!(await page.getByRole("button", { name: "Accept selected" }).isVisible()), "nothing is selected yet");
  await page.keyboard.press("m");
  await page.getByLabel(/Select Digits in b.txt/).check();
  await look(page, "selected");
  await page.keyboard.press("A");
  await page.getByText("Waiting · 1").waitFor();
  check(["a.txt", "b.txt", "c.txt"].map((name) => review.root.read(name)).join("") === "1\n1\none\n", "the selected ones are written");
  await page.goto(new URL("/statistics", page.url()).href);
  const chart = page.getByRole("region", { name: "Why calls were not applied" });
  await chart.getByRole("link").first().click();
  await page.getByText(/Only calls not applied because of/).waitFor();
  const calls = page.getByRole("region", { name: "Calls", exact: true });
  check((await calls.innerText()).includes("c.txt"), `the call behind the bar is listed: ${await calls.innerText()}`);
  await look(page, "statistics-cause");
  const unlinked = await page.evaluate('document.querySelectorAll(".chart meter:not(a meter), .chart rect:not(a rect, .swatch rect)").length');
  check(unlinked === 0, `every bar is a link: ${unlinked}`);
  check(await page.evaluate('[...document.querySelectorAll(".chart")].every((chart) => chart.querySelector("table, .empty"))'), "every chart has a table");
  await review.close();
}

/** Another server on this machine gets the cookie, but cannot decide with it. */
async function stolenCookie() {
  const review = await Review.start({ "a.txt": "one\n" });
  const page = await open(review);
  const answer = review.edit({ path: "a.txt", old_text: "one", new_text: "1" }, "Use digits");
  await page.getByRole("heading", { name: "Use digits" }).waitFor();
  let cookie = "";
  const other = http.createServer((request, response) => { cookie = request.headers.cookie ?? cookie; response.end("hello"); }).listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  const visit = await page.context().newPage();
  await visit.goto(`http://127.0.0.1:${other.address().port}/`);
  check(cookie.includes("slipstitch_review_"), `browsers send cookies to every port: ${cookie}`);
  check(!(await visit.evaluate("localStorage.length")), "but storage belongs to one port");
  const target = new URL("/review/p1", page.url());
  const headers = { cookie, origin: target.origin, "content-type": "application/x-www-form-urlencoded" };
  const shown = await (await fetch(target, { headers })).text();
  check(!/[0-9a-f]{48}/.test(shown), "no page tells the secret");
  const refused = await fetch(target, { method: "POST", headers, body: `action=accept&secret=${cookie.split("=")[1]}` });
  check(refused.status === 403, `the cookie alone decides nothing: ${refused.status}`);
  check((await fetch(review.url)).status === 401, "the address works once");
  await visit.close();
  other.close();
  other.closeAllConnections();
  await page.keyboard.press("A");
  await page.getByText("The agent gets this answer").waitFor();
  await answer;
  check(review.root.read("a.txt") === "1\n", "the page itself decides");
  await review.close();
}

/** A page of another site, which frames the review page and posts to it. */
async function foreignSite() {
  const review = await Review.start({ "a.txt": "one\n" });
  const page = await open(review);
  const answer = review.edit({ path: "a.txt", old_text: "one", new_text: "1" }, "Use digits");
  await page.getByRole("heading", { name: "Use digits" }).waitFor();
  const target = new URL("/review/p1", page.url()).href;
  const attack = `<iframe src="${target}"></iframe><form id=f method=post action="${target}"><input name=action value=accept></form>`;
  const site = http.createServer((_, response) => response.setHeader("content-type", "text/html").end(attack)).listen(0, "127.0.0.1");
  await new Promise((resolve) => site.once("listening", resolve));
  // The same browser, so that the cookie would be there; another origin on another name.
  const evil = await page.context().newPage();
  await evil.goto(`http://localhost:${site.address().port}/`);
  const frame = evil.frames()[1];
  check(!(await frame.content()).includes("Use digits"), "the page cannot be framed");
  const [refused] = await Promise.all([
    evil.waitForResponse((response) => response.request().method() === "POST"),
    evil.evaluate("document.getElementById('f').submit()"),
  ]);
  check(refused.status() === 403, `a foreign form is refused: ${refused.status()}`);
  check(review.root.read("a.txt") === "one\n", "a foreign form decides nothing");
  await evil.close();
  site.close();
  site.closeAllConnections();
  await page.keyboard.press("R");
  await answer;
  await review.close();
}

/** The page beside a server over HTTP: the call over HTTP waits for the decision on the page. */
async function besideHttpServer() {
  const review = await Review.start({ "a.txt": "one\n" });
  const args = review.root.serverArgs("--http", "127.0.0.1:0", "--no-token", "--review");
  const server = spawn(program, args, { env: review.root.env(), stdio: ["ignore", "ignore", "pipe"] });
  const [page, mcp] = await new Promise((resolve, reject) => {
    let output = "";
    server.on("exit", () => reject(new Error(`the server did not start: ${output}`)));
    server.stderr.on("data", (data) => {
      output += data;
      const found = [/review page: (\S+)\n/, /listening on (\S+)\n/].map((pattern) => output.match(pattern)?.[1]);
      if (found.every(Boolean)) resolve(found);
    });
  });
  server.removeAllListeners("exit");
  const client = new Client({ name: "over-http", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp)));
  const shown = await open({ url: page });
  const answer = review.edit({ path: "a.txt", old_text: "one", new_text: "1" }, "Use digits", client);
  await shown.getByRole("heading", { name: "Use digits" }).waitFor();
  await shown.getByText("over-http").first().waitFor();
  await shown.keyboard.press("A");
  await shown.getByText("The agent gets this answer").waitFor();
  check((await answer).includes("was accepted by review page"), await answer);
  check(review.root.read("a.txt") === "1\n", "it is written");
  check((await fetch(mcp.replace("/mcp", "/review"))).status === 404, "the page is not at the server's own address");
  await client.close();
  server.kill("SIGINT");
  await review.close();
}

/** A file that is longer than what is drawn at once, and choices that outlive a look at it. */
async function wholeFile() {
  const lines = [...Array(1200).keys()].map((line) => `def f${line}():\n    return ${line}\n`).join("");
  const review = await Review.start({ "long.py": lines, "b.txt": "x\n" });
  const page = await open(review);
  const answer = review.edit({ path: "long.py", edits: [
    { old_text: "    return 700\n", new_text: "    return 7000\n" },
    { old_text: "    return 900\n", new_text: "    return 9000\n" },
  ] }, "Larger numbers");
  await page.getByRole("heading", { name: "Larger numbers" }).waitFor();
  await page.locator(".hh").getByText("def f700()").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("r");
  await page.keyboard.press("c");
  await page.keyboard.type("Too large.");
  await page.keyboard.press("Escape");
  await page.keyboard.press("w");
  await page.getByText("All lines of the file").waitFor();
  await page.locator(".row").getByText("return 7000").first().waitFor();
  await look(page, "whole-file");
  const drawn = await page.locator(".row").count();
  check(drawn < 2000, `not everything is in the document at once: ${drawn}`);
  await page.getByRole("link", { name: "Show the lines above" }).click();
  await page.locator(".row").getByText("def f500()").first().waitFor();
  await page.evaluate("document.querySelector('main').scrollTo(0, 1e7)");
  await page.locator(".row").getByText("return 9000").first().waitFor();
  await page.keyboard.press("w");
  await page.getByText("1 rejected · 1 open").waitFor();
  check(await page.inputValue("#reason-1") === "Too large.", "the choices are kept");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("a");
  await page.keyboard.press("Enter");
  await page.getByText("The agent gets this answer").waitFor();
  check((await answer).includes("Too large."), await answer);
  const text = review.root.read("long.py");
  check(text.includes("return 700\n") && text.includes("return 9000\n"), "one hunk of two");
  await review.close();
}

/** 5,000 changed lines in 50 files. */
async function large() {
  const files = {};
  const names = [...Array(50).keys()].map((number) => `src/file${number}.py`);
  const lines = (word) => [...Array(100).keys()].map((line) => `value_${line} = "${word}"  # line ${line}\n`).join("");
  for (const name of names) files[name] = lines("old");
  const review = await Review.start(files);
  const page = await open(review);
  const change = names.map((name) => `--- a/${name}\n+++ b/${name}\n@@ -1,100 +1,100 @@\n${lines("old").replace(/^/gm, "-").slice(0, -1)}${lines("new").replace(/^/gm, "+").slice(0, -1)}`).join("");
  const answer = review.client.callTool({ name: "patch", arguments: { patch: change } });
  await page.getByRole("heading", { name: "Change 50 files" }).waitFor();
  const begin = Date.now();
  await page.reload();
  await page.getByRole("heading", { name: "Change 50 files" }).waitFor();
  const opened = Date.now() - begin;
  const rows = await page.locator(".row").count();
  check(rows < 4000, `not everything is in the document at once: ${rows}`);
  await page.evaluate("document.querySelector('main').scrollTo(0, 1e7)");
  await page.locator("#hunk-50 .row").first().waitFor();
  console.log(`review page: 5,000 changed lines in 50 files opened in ${opened} ms, ${rows} rows drawn at first`);
  // Frames while somebody scrolls through it, 120 pixels at a time, as a wheel does.
  const frames = await page.evaluate(async () => {
    const main = document.querySelector("main");
    const took = [];
    for (let y = 0; y < Math.min(main.scrollHeight, 9_000); y += 120) {
      const begin = performance.now();
      main.scrollTo(0, y);
      await new Promise(requestAnimationFrame);
      took.push(performance.now() - begin);
    }
    return took.sort((a, b) => a - b);
  });
  const frame = (share) => frames[Math.floor((frames.length - 1) * share)].toFixed(0);
  console.log(`review page: a step of scrolling takes ${frame(0.5)} ms (median), ${frame(0.99)} ms (1 in 100)`);
  await page.keyboard.press("A");
  await page.getByText("The agent gets this answer").waitFor({ timeout: 60_000 }); // A debug build writes 50 files.
  await answer;
  check(review.root.read("src/file49.py").includes("new"), "all files are written");
  await review.close();
}

/** How long 2,000 waiting proposals take to be listed. Not a test: run it by its name, with a release build as SLIPSTITCH. */
async function measureQueue() {
  const review = await Review.start({ "a.txt": [...Array(2000).keys()].map((line) => `line ${line}\n`).join("") }, { isUnattended: true });
  for (let line = 0; line < 2000; line++) await review.edit({ path: "a.txt", old_text: `line ${line}\n`, new_text: `Line ${line}\n` }, `Line ${line}`);
  const best = (times) => Math.min(...times).toFixed(0);
  const list = () => {
    const begin = performance.now();
    const args = ["--state-dir", review.state, "--root", review.root.path, "review", "list"];
    const done = spawnSync(program, args, { env: review.root.env(), maxBuffer: 1 << 28 });
    check(done.stdout.toString().split("\n").length > 2000, "all are listed");
    return performance.now() - begin;
  };
  console.log(`2,000 proposals: \`review list\` takes ${best([list(), list(), list(), list(), list()])} ms (best of 5)`);
  review.url = await review.serve();
  const page = await open(review);
  const times = [];
  for (let run = 0; run < 5; run++) {
    const begin = performance.now();
    await page.goto(new URL("/review", page.url()).href);
    await page.getByText("Waiting · 2000").waitFor();
    times.push(performance.now() - begin);
  }
  console.log(`2,000 proposals: the page opens in ${best(times)} ms (best of 5)`);
  await review.close();
}

await runTests([hunksAndHistory, twoProposalsAndConflict, smallDarkAndHostile, passphrase, acceptTheRest, longAndFilteredList, severalAndStatistics, stolenCookie, foreignSite, besideHttpServer, wholeFile, large], [measureQueue]);
