// Tests the keys of the review page, and those of its states that are easy to forget.

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { check, program } from "./harness.mjs";
import { Review, look, open, runTests } from "./review-rig.mjs";

/** Runs `slipstitch review` as somebody else would, in a terminal of their own. */
function elsewhere(review, ...args) {
  const done = spawnSync(program, ["--state-dir", review.state, "--root", review.root.path, "review", ...args], { env: review.root.env(), encoding: "utf8" });
  check(done.status === 0, `${args.join(" ")}: ${done.stderr}`);
}

/** Makes sure that the page is no wider than a phone, and keeps a dark screenshot. */
async function lookOnPhone(review, cookies, address, name) {
  const context = await cookies.browser().newContext({ viewport: { width: 375, height: 720 }, colorScheme: "dark", isMobile: true, hasTouch: true, reducedMotion: "reduce" });
  await context.addCookies(await cookies.cookies());
  const page = await context.newPage();
  page.problems = [];
  await page.goto(address);
  await page.locator("h1").waitFor();
  check(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), `${name}: nothing is wider than the phone`);
  await look(page, `${name}-phone`);
  await context.close();
}

/** Changes that are more or less than lines of text. */
async function unusualChanges() {
  const review = await Review.start({ "run.sh": "#!/bin/sh\necho hi\n", "old name.txt": "kept\n", "ws.txt": "one\n  two\n", "long.js": `${"let a = 1; ".repeat(2000)}\n${"let c = 3; ".repeat(900)}let b = 2; ${"let c = 3; ".repeat(900)}\n`, "gone.txt": "gone\n", "del.txt": "one\ntwo\n" }, { isUnattended: true });
  fs.writeFileSync(path.join(review.root.path, "blob.bin"), Buffer.from([0, 1, 2, 97, 10]));
  const patch = (text) => ["patch", { patch: text }];
  const edit = (file, from, to) => ["edit_file", { path: file, old_text: from, new_text: to }];
  const states = [
    ["binary", ["write_file", { path: "blob.bin", content: "text\n", mode: "overwrite" }], ["the file was binary"]],
    ["mode", patch("diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"), ["mode 100644 to 100755", "the file itself"]],
    ["name", patch("diff --git a/old name.txt b/new name.txt\nsimilarity index 100%\nrename from old name.txt\nrename to new name.txt\n"), ["moved to "]],
    ["blanks", edit("ws.txt", "  two", "\ttwo"), ["··", "→"]],
    ["long-line", edit("long.js", "let b = 2; ", "let b = 22; "), ["let b = 22", " characters …]"]],
    ["deleted", patch("*** Begin Patch\n*** Delete File: del.txt\n*** End Patch"), ["deleted"]],
    ["missing", edit("gone.txt", "gone", "here"), ["was deleted or moved"]],
  ];
  for (const [name, [tool, args]] of states) {
    const result = await review.client.callTool({ name: tool, arguments: { ...args, description: `State: ${name}` } });
    check(result.content[0].text.includes("waiting for review"), `${name}: ${result.content[0].text}`);
  }
  fs.rmSync(path.join(review.root.path, "gone.txt"));
  review.url = await review.serve();
  const page = await open(review);
  await page.getByRole("heading", { name: "State: binary" }).waitFor();
  for (const [index, [name, , parts]] of states.entries()) {
    await page.goto(new URL(`/review/p${index + 1}`, page.url()).href);
    await page.getByRole("heading", { name: `State: ${name}` }).waitFor();
    const shown = await page.locator("main").innerText();
    const isWhole = ["mode", "name", "deleted"].includes(name);
    check(await page.locator("label.edit").count() === (isWhole ? 0 : 1), `${name}: only lines can be edited`);
    for (const part of parts) check(shown.includes(part), `${name}: "${part}" is missing: ${shown.slice(0, 2000)}`);
    await look(page, `state-${name}`);
    await lookOnPhone(review, page.context(), page.url(), `state-${name}`);
  }
  // All but the last can be accepted.
  for (const index of states.keys()) {
    await page.goto(new URL(`/review/p${index + 1}`, page.url()).href);
    await page.keyboard.press("A");
    await page.getByText(index < states.length - 1 ? "The agent gets this answer" : "Not written.").waitFor();
  }
  check(fs.statSync(path.join(review.root.path, "run.sh")).mode & 0o100, "it is executable");
  check(review.root.read("new name.txt") === "kept\n" && !fs.existsSync(path.join(review.root.path, "del.txt")), "moved and deleted");
  elsewhere(review, "reject", `p${states.length}`);
  await page.goto(new URL("/review", page.url()).href);
  await page.getByText("The last change was").waitFor();
  page.problems.length = 0;
  await look(page, "state-nothing-left");
  await lookOnPhone(review, page.context(), new URL("/statistics?agent=claude-code", page.url()).href, "statistics");
  await review.close();
}

async function editedIntoNothing() {
  const review = await Review.start({ "a.txt": "one\ntwo\nthree\n" });
  const page = await open(review);
  const answer = review.edit({ path: "a.txt", old_text: "two", new_text: "2" }, "Use digits");
  await page.getByRole("heading", { name: "Use digits" }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("e");
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.getByPlaceholder("these lines are removed").waitFor();
  await look(page, "state-edited-into-nothing");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Enter");
  await page.getByText("The agent gets this answer").waitFor();
  check(review.root.read("a.txt") === "one\nthree\n", review.root.read("a.txt"));
  check((await answer).includes("-two"), `the agent reads what was written: ${await answer}`);
  await review.close();
}

/** Somebody else decides while this person is choosing, or a moment before they send. */
async function twoPeople() {
  const review = await Review.start({ "a.txt": "one\ntwo\n" });
  const page = await open(review);
  const first = review.edit({ path: "a.txt", old_text: "one", new_text: "1" }, "First line");
  await page.getByRole("heading", { name: "First line" }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("a");
  await page.getByText("1 accepted").waitFor();
  elsewhere(review, "reject", "p1", "--reason", "Not this one.");
  await page.getByText("Decided elsewhere meanwhile.").waitFor();
  await page.getByText("Not this one.").first().waitFor();
  await look(page, "state-overtaken");
  check((await first).includes("Not this one."), await first);
  // A page that does not learn of it in time.
  const second = review.edit({ path: "a.txt", old_text: "two", new_text: "2" }, "Second line");
  await page.locator("aside").getByRole("link", { name: /Second line/ }).waitFor();
  await page.context().route("**/events", (route) => route.abort());
  await page.goto(new URL("/review/p2", page.url()).href);
  await page.getByRole("heading", { name: "Second line" }).waitFor();
  elsewhere(review, "reject", "p2", "--reason", "Nor this one.");
  await page.keyboard.press("A");
  await page.getByText("p2 was already rejected").waitFor();
  await page.context().unroute("**/events");
  page.problems.length = 0;
  await look(page, "state-too-late");
  check(review.root.read("a.txt") === "one\ntwo\n", "the first decision counts");
  await second;
  await review.close();
}

async function connectionLost() {
  const review = await Review.start({ "a.txt": "one\n" });
  const page = await open(review);
  const answer = review.edit({ path: "a.txt", old_text: "one", new_text: "1" }, "Use digits");
  await page.getByRole("heading", { name: "Use digits" }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("r");
  review.server.removeAllListeners("exit");
  review.server.kill("SIGKILL");
  await page.getByText("Connection lost. Trying again…").waitFor();
  page.problems.length = 0; // The browser reports that it cannot connect.
  await look(page, "state-connection-lost");
  check(await page.isChecked("#reject-1"), "the choices stay");
  // A server at the same address that does not know this page.
  const port = new URL(page.url()).port;
  review.url = await review.serve("--port", port);
  await page.getByText("Open the address that was printed last").waitFor();
  await page.goto(review.url);
  await page.getByRole("heading", { name: "Use digits" }).waitFor();
  await page.keyboard.press("R");
  await page.getByText("The agent gets this answer").waitFor();
  await answer;
  await review.close();
}

/** Every key of the help does what it says. */
async function keys() {
  const review = await Review.start({ "a.txt": "one\n", "b.txt": "one\n" }, { isUnattended: true });
  for (const name of ["a.txt", "b.txt"]) await review.edit({ path: name, old_text: "one", new_text: "1" }, `Digits in ${name}`);
  review.url = await review.serve();
  const page = await open(review);
  const heading = (name) => page.getByRole("heading", { name: `Digits in ${name}` }).waitFor();
  await heading("a.txt");
  await page.keyboard.press("J");
  await heading("b.txt");
  await page.keyboard.press("K");
  await heading("a.txt");
  const columns = () => page.evaluate("getComputedStyle(document.querySelector('.split')).gridTemplateColumns.split(' ').length");
  check(await columns() === 2, "side by side");
  await page.keyboard.press("x");
  check(await columns() === 1, "unified");
  await look(page, "keys-unified");
  await page.keyboard.press("x");
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await look(page, "keys-help");
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await page.keyboard.type("b.txt");
  await page.keyboard.press("Enter");
  await heading("b.txt");
  check(await page.locator("aside .item").count() === 1, "only what was searched for is listed");
  await page.keyboard.press("j");
  const focused = () => page.evaluate("document.activeElement.id");
  check(await focused() === "hunk-1", await focused());
  await page.keyboard.press("c");
  check(await focused() === "reason", `without a rejected hunk, the reason is for everything: ${await focused()}`);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Enter");
  await page.getByText("Hunk 1 is not decided yet").waitFor();
  page.problems.length = 0;
  // Something else happens; the reason stays.
  review.write("bb.txt", "one\n");
  await review.edit({ path: "bb.txt", old_text: "one", new_text: "1" }, "Digits in bb.txt");
  await page.locator("aside").getByRole("link", { name: /Digits in bb.txt/ }).waitFor();
  check(await page.getByText("Hunk 1 is not decided yet").count() === 1, "an update leaves the reason in view");
  await look(page, "keys-undecided");
  await review.close();
}

await runTests([unusualChanges, editedIntoNothing, twoPeople, connectionLost, keys]);
