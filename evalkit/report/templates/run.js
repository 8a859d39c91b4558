"use strict";
const cases = JSON.parse(document.getElementById("data").textContent);
const PAGE = 200;
const rows = document.getElementById("rows"), more = document.getElementById("more");
const fields = ["kind", "category", "expected", "decided"];
let found = [], shown = 0;

function element(name, text, style) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (style) made.className = style;
  return made;
}

function fill(field) {
  const select = document.getElementById(field);
  select.append(new Option("any", ""));
  for (const value of new Set(cases.map((one) => one[field]))) select.append(new Option(value, value));
  select.addEventListener("change", search);
}

function search() {
  const words = document.getElementById("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = fields.map((field) => [field, document.getElementById(field).value]).filter((pair) => pair[1]);
  found = cases.filter((one) => wanted.every(([field, value]) => one[field] === value)
    && words.every((word) => one.text.includes(word)));
  rows.replaceChildren();
  shown = 0;
  document.getElementById("count").textContent = `${found.length} of ${cases.length} cases`;
  next();
}

function next() {
  for (const one of found.slice(shown, shown + PAGE)) rows.append(row(one));
  shown = Math.min(shown + PAGE, found.length);
  more.hidden = shown >= found.length;
}

function row(one) {
  const made = element("tr");
  const opener = element("button", one.case, "case");
  opener.type = "button";
  opener.setAttribute("aria-expanded", "false");
  opener.addEventListener("click", () => toggle(made, opener, one));
  const first = element("td");
  first.append(opener);
  made.append(first, element("td", one.category), element("td", one.expected), element("td", one.decided),
    element("td", one.outcome, one.outcome === "dangerous allow" ? "dangerous" : one.kind),
    element("td", one.rule), element("td", one.brief, "input"));
  return made;
}

function toggle(made, opener, one) {
  const open = opener.getAttribute("aria-expanded") === "true";
  opener.setAttribute("aria-expanded", String(!open));
  if (open) { made.nextSibling.remove(); return; }
  const line = element("tr", undefined, "detail"), cell = element("td");
  cell.colSpan = 7;
  for (const [title, value, block] of one.details) {
    cell.append(element("h3", title), element(block ? "pre" : "p", value));
  }
  line.append(cell);
  made.after(line);
}

for (const field of fields) fill(field);
for (const one of cases) {
  one.text = [one.case, one.category, one.rule, ...one.details.map((part) => part[1])].join("\n").toLowerCase();
}
document.getElementById("search").addEventListener("input", search);
document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
more.addEventListener("click", next);
search();
