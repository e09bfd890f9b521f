// Keys, live updates and signed forms for the review page. Without this script, it can only be read.
"use strict";

const select = (query, root = document) => root.querySelector(query);
const selectAll = (query, root = document) => [...root.querySelectorAll(query)];
const layoutKey = "slipstitch-unified";
const secretKey = "slipstitch-secret";
const projectKey = "slipstitch-project";
let isDirty = false;
let current = 0;
let updates = 0;
// The last activity when the page was rendered.
let activity = document.body.dataset.activity;

// The printed address has a token; sending it back opens the page. Reading the address does not use it up.
const door = select("#door");
if (door) door.submit();

// The secret that signs forms. Storage belongs to this port, unlike cookies, which every server on this machine gets.
const entry = select("#entry");
if (entry) {
  // Another project's proposals have the same ids.
  if (sessionStorage.getItem(projectKey) !== entry.dataset.project) sessionStorage.clear();
  sessionStorage.setItem(projectKey, entry.dataset.project);
  localStorage.setItem(secretKey, entry.dataset.secret);
  location.replace(select("a", entry).href);
}
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || select("input[name=secret]", form)) return;
  const field = document.createElement("input");
  Object.assign(field, { type: "hidden", name: "secret", value: localStorage.getItem(secretKey) || "" });
  form.append(field);
});

function hunks() { return selectAll(".hunk"); }

function focusHunk(index) {
  const all = hunks();
  if (!all.length) return;
  current = Math.max(0, Math.min(index, all.length - 1));
  all[current].focus({ preventScroll: true });
  all[current].scrollIntoView({ block: "nearest" });
}

function choose(value) {
  const hunk = hunks()[current];
  const input = hunk && select(`input[type=radio][value=${value}]`, hunk);
  if (!input) return;
  input.checked = true;
  input.dispatchEvent(new Event("change", { bubbles: true }));
  if (value === "edit") {
    const more = select("a.more", hunk);
    const focus = () => select("textarea", hunk).focus();
    if (more) load(more, false).then(focus); else focus();
  }
}

function reason() {
  const hunk = hunks()[current];
  const field = hunk && select(".for-reject input", hunk);
  const target = field && field.offsetParent ? field : select("#reason");
  if (target) target.focus();
}

function showTally() {
  const tally = select("#tally");
  if (!tally) return;
  const names = { accept: "accepted", reject: "rejected", edit: "edited" };
  const counts = Object.entries(names).map(([value, name]) => [selectAll(`input[type=radio][value=${value}]:checked`).length, name]);
  const open = hunks().length - counts.reduce((sum, [count]) => sum + count, 0);
  const parts = counts.filter(([count]) => count).map(([count, name]) => `${count} ${name}`);
  if (open > 0) parts.push(`${open} open`);
  tally.textContent = parts.join(" · ");
  // Rejected and edited hunks stay as they are.
  const label = select("#accept-label");
  if (label) label.textContent = counts.slice(1).some(([count]) => count) ? "Accept the rest" : "Accept all";
}

function nextItem(step) {
  const items = selectAll("aside .item");
  const index = items.findIndex((item) => item.hasAttribute("aria-current"));
  const target = items[index + step];
  if (target) location.assign(target.href);
}

function submit(action) {
  const button = select(`#decision button[name=action][value=${action}]`);
  if (button) button.form.requestSubmit(button);
}

// To the whole file of the current hunk, and back.
function wholeFile() {
  const hunk = hunks()[current];
  const link = select("#back") || (hunk && select("a.whole", hunk.closest(".file")));
  if (link) location.assign(link.href);
}

function toggleLayout() {
  const unified = document.body.classList.toggle("unified");
  sessionStorage.setItem(layoutKey, unified ? "yes" : "");
  labelLayout();
}

// The list starts at the top; the open item may be further down.
function showCurrentItem() {
  const list = select("#list");
  const item = select(".item[aria-current]", list);
  if (!item) return;
  const [area, place] = [list.getBoundingClientRect(), item.getBoundingClientRect()];
  if (place.top < area.top || place.bottom > area.bottom) list.scrollTop += place.top - area.top - (area.height - place.height) / 2;
}

function labelLayout() {
  const unified = document.body.classList.contains("unified");
  for (const button of selectAll(".layout")) {
    button.hidden = innerWidth <= 1000;
    button.firstChild.textContent = unified ? "Side by side " : "Unified ";
  }
}

// Decides the selected proposals, or the one that is shown if none is.
function submitAll(action) {
  if (!select(".pick input:checked")) return submit(action);
  const button = select(`#batch button[value=${action}]`);
  button.form.requestSubmit(button);
}

// Selects the proposal that is shown, to be decided with others.
function pick() {
  const item = select("aside .item[aria-current]");
  const box = item && item.parentElement.matches(".pick") && select("input", item.parentElement);
  if (box) box.checked = !box.checked;
}

const keys = {
  m: pick,
  j: () => focusHunk(current + 1), k: () => focusHunk(current - 1),
  J: () => nextItem(1), K: () => nextItem(-1),
  a: () => choose("accept"), r: () => choose("reject"), e: () => choose("edit"), c: reason,
  A: () => submitAll("accept"), R: () => submitAll("reject"),
  u: () => select("#revert") && select("#revert").form.requestSubmit(select("#revert")),
  w: wholeFile,
  x: toggleLayout, "/": () => select("#search").focus(), "?": () => select("#help").showModal(),
  Enter: () => select("#next") ? location.assign(select("#next").href) : submit("send"),
};

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.key === "Escape" && target.matches("input, textarea")) return target.blur();
  if (target.matches("textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.matches("input:not([type=radio], [type=checkbox])")) {
    if (event.key === "Enter" && target.form && target.form.id === "decision") { event.preventDefault(); submit("send"); }
    return;
  }
  if (event.key === "Enter" && target.matches("a, button, summary")) return;
  const act = keys[event.key];
  if (act) { event.preventDefault(); act(); }
});

document.addEventListener("submit", (event) => { if (event.target.matches("#batch")) addChoices(event.target); }, true);
document.addEventListener("change", (event) => {
  if (event.target.closest("#decision")) { isDirty = true; showTally(); keepChoices(); }
});
document.addEventListener("input", (event) => { if (event.target.closest("#decision")) { isDirty = true; keepChoices(); } });
document.addEventListener("focusin", (event) => {
  const hunk = event.target.closest(".hunk");
  if (hunk) current = hunks().indexOf(hunk);
});
document.addEventListener("click", async (event) => {
  if (event.target.closest(".layout")) return toggleLayout();
  if (event.target.closest("#show-help")) return select("#help").showModal();
  const more = event.target.closest("a.more");
  if (!more) return;
  event.preventDefault();
  await load(more, true);
});

// Replaces the link to a hunk by its lines, and its empty text field by one with the text. A part of a file comes with links to
// the parts above and below; the one that leads back is not needed.
async function load(more, takesFocus) {
  if (more.dataset.loading) return;
  more.dataset.loading = "yes";
  const answer = await fetch(more.href);
  if (!answer.ok) return delete more.dataset.loading;
  const part = new DOMParser().parseFromString(await answer.text(), "text/html").body.firstElementChild;
  const rows = select(".split", part);
  const field = select("textarea", part);
  const old = field && document.getElementById(field.id);
  if (old && !old.name) { old.replaceWith(field); restoreChoices(); }
  if (more.matches(".above")) more.replaceWith(...selectAll(".above", part), rows);
  else more.replaceWith(rows, ...selectAll(".below", part));
  observeMore();
  if (takesFocus) rows.focus();
}

const nearby = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) { nearby.unobserve(entry.target); load(entry.target, false); }
}, { rootMargin: "600px" });
function observeMore() { for (const more of selectAll("a.more[data-auto]")) nearby.observe(more); }

// What was chosen so far outlives a look at another proposal or at the whole file, and a decision that could not be carried out.
function choicesKey(address = select("#decision").dataset.address) { return `slipstitch-choices ${address}`; }
function keepChoices() {
  const fields = [...new FormData(select("#decision"))].filter(([name]) => name !== "action" && name !== "secret");
  sessionStorage.setItem(choicesKey(), JSON.stringify(fields));
}

// Choices for single hunks also count if several proposals are decided at once.
function addChoices(form) {
  for (const old of selectAll(".chosen", form)) old.remove();
  for (const box of selectAll(".pick input:checked")) {
    for (const [name, value] of JSON.parse(sessionStorage.getItem(choicesKey(`/review/${box.value}`)) || "[]")) {
      const field = document.createElement("input");
      Object.assign(field, { type: "hidden", className: "chosen", name: `${box.value}.${name}`, value });
      form.append(field);
    }
  }
}

function restoreChoices() {
  const kept = select("#decision") && sessionStorage.getItem(choicesKey());
  if (!kept) return;
  for (const [name, value] of JSON.parse(kept)) {
    for (const field of selectAll("#decision [name]")) {
      if (field.name !== name) continue;
      if (field.type === "radio") field.checked = field.checked || field.value === value;
      else field.value = value;
    }
  }
  isDirty = true;
}

// What the server drew, apart from how long ago that was.
function fingerprint(content) {
  const copy = content.cloneNode(true);
  for (const why of selectAll(".why", copy)) why.remove();
  return copy.innerHTML;
}

// Only the response to the form says why a decision was refused. Keep it until something else is opened, in place of a note that
// says the same.
function keepProblem(content, problem) {
  const { about } = select(".note", problem).dataset;
  for (const note of selectAll(".note", content)) if (note.dataset.about === about) note.remove();
  (select(".why", content) || select("h1", content)).after(problem);
}

// Replaces the list, and the content too unless a decision is being made.
async function update() {
  const turn = ++updates;
  const answer = await fetch(location.href);
  const text = answer.ok && await answer.text();
  // A later update has started meanwhile.
  if (!text || turn !== updates) return;
  const fresh = new DOMParser().parseFromString(text, "text/html");
  activity = fresh.body.dataset.activity;
  const focused = document.activeElement && document.activeElement.id;
  if (!select("#list form:focus-within")) {
    const picked = selectAll(".pick input:checked").map((box) => box.id);
    select("#list").replaceChildren(...select("#list", fresh).childNodes);
    for (const id of picked) if (document.getElementById(id)) document.getElementById(id).checked = true;
  }
  select("nav").replaceChildren(...select("nav", fresh).childNodes);
  const open = select("#decision");
  const stays = select("#decision", fresh);
  const content = select("#content", fresh);
  const isNew = fingerprint(content) !== shown;
  if (isNew && (!isDirty || (open && !stays))) {
    const isOvertaken = isDirty && open && !stays;
    const problem = select("#problem");
    shown = fingerprint(content);
    select("#content").replaceChildren(...content.childNodes);
    if (problem) keepProblem(select("#content"), problem);
    if (isOvertaken) tell("Decided elsewhere meanwhile.", " What you had chosen was not sent.");
    document.title = fresh.title;
    isDirty = false;
    nameProposal();
    restoreChoices();
  }
  if (focused && document.getElementById(focused)) document.getElementById(focused).focus({ preventScroll: true });
  labelLayout();
  showTally();
  observeMore();
}

// Shows a note above the content.
function tell(title, text) {
  const note = document.createElement("div");
  note.className = "note";
  note.setAttribute("role", "status");
  const strong = document.createElement("b");
  strong.textContent = title;
  note.append(strong, text);
  (select("#content .why") || select("#content h1")).after(note);
}

function listen() {
  const events = new EventSource("/events");
  events.addEventListener("changed", (event) => { if (event.data !== activity) update(); });
  events.onopen = () => { select("#connection").hidden = true; };
  events.onerror = () => {
    const note = select("#connection");
    note.hidden = false;
    // A restarted server does not know this page.
    if (events.readyState === EventSource.CLOSED) note.textContent = "Connection lost. Open the address that was printed last.";
  };
}

// The list of what waits starts with the oldest. Once that is shown, an update must not put another one in its place.
function nameProposal() {
  const decision = select("#decision");
  if (location.pathname === "/review" && decision) history.replaceState(null, "", decision.dataset.address + location.search);
}

nameProposal();
let shown = fingerprint(select("#content"));
restoreChoices();
showCurrentItem();
if (sessionStorage.getItem(layoutKey)) document.body.classList.add("unified");
addEventListener("resize", labelLayout);
labelLayout();
showTally();
observeMore();
if (select("#back") && select(".row.d, .row.a")) select(".row.d, .row.a").scrollIntoView({ block: "center" });
if (select("#connection") && location.pathname !== "/") listen();
