// Licensed under the Apache License, Version 2.0; see LICENSE.
// Draws the charts, sorts tables, changes between light and dark. The page is complete without it but for the charts,
// whose numbers are in tables. Expressions of charts are interpreted: the page forbids eval.
const transforms = load("vega-dataflow").transforms;
for (const name of ["vega-encode", "vega-transforms", "vega-view-transforms"]) Object.assign(transforms, load(name));
const { View } = load("vega-view");
const { parse } = load("vega-parser");
const { expressionInterpreter } = load("vega-interpreter");

const root = document.documentElement;
const prefers_dark = window.matchMedia("(prefers-color-scheme: dark)");
const charts = [];

function theme() { return root.dataset.theme || (prefers_dark.matches ? "dark" : "light"); }

// A chart and how to draw it again.
function make_chart(element) {
  const source = document.getElementById(element.dataset.spec);
  return { element, spec: JSON.parse(source.textContent), view: null, drawn: "" };
}

function draw(chart, name) {
  const width = Math.floor(chart.element.clientWidth);
  const state = name + " " + width;
  if (width === 0 || state === chart.drawn) return;
  chart.drawn = state;
  if (chart.view) chart.view.finalize();
  chart.element.textContent = "";
  const runtime = parse(Object.assign({}, chart.spec, { width }), themes[name], { ast: true });
  const cells = chart.spec.usermeta && chart.spec.usermeta.cells;
  chart.view = new View(runtime, { expr: expressionInterpreter, renderer: cells > 500 ? "canvas" : "svg" });
  chart.view.initialize(chart.element).run();
}

// One chart per task, so that the page answers in between.
function draw_all(name = theme()) {
  const waiting = charts.slice();
  function next() {
    const chart = waiting.shift();
    if (!chart) { root.dataset.drawn = name; return; }
    draw(chart, name);
    setTimeout(next, 0);
  }
  delete root.dataset.drawn;
  next();
}

function show_theme() {
  const button = document.getElementById("theme");
  button.textContent = theme() === "dark" ? "Light" : "Dark";
  button.setAttribute("aria-label", "Change to " + (theme() === "dark" ? "light" : "dark") + " colours");
  draw_all();
}

function sort_key(row, column, numeric) {
  const cell = row.cells[column];
  const key = "k" in cell.dataset ? cell.dataset.k : cell.textContent.trim();
  return numeric ? (key === "" ? NaN : Number(key)) : key;
}

// Rows without a value stay last in both directions; equal ones keep their order.
function compare(a, b, numeric, direction) {
  if (!numeric) return direction * a.localeCompare(b, "en", { numeric: true });
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return direction * (a < b ? -1 : a > b ? 1 : 0);
}

function sort_by(button) {
  const header = button.closest("th"), table = button.closest("table"), body = table.tBodies[0];
  const numeric = header.classList.contains("number");
  const now = header.getAttribute("aria-sort");
  const descending = now ? now === "ascending" : numeric;
  const keyed = Array.from(body.rows, (row) => ({ row, key: sort_key(row, header.cellIndex, numeric) }));
  keyed.sort((a, b) => compare(a.key, b.key, numeric, descending ? -1 : 1));
  for (const other of header.parentNode.cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", descending ? "descending" : "ascending");
  body.append(...keyed.map((entry) => entry.row));
}

function when_resized(action) {
  let timer = 0;
  window.addEventListener("resize", () => { clearTimeout(timer); timer = setTimeout(action, 100); });
}

function start() {
  for (const element of document.querySelectorAll(".chart")) charts.push(make_chart(element));
  for (const button of document.querySelectorAll("th button")) button.addEventListener("click", () => sort_by(button));
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = theme() === "dark" ? "light" : "dark";
    show_theme();
  });
  prefers_dark.addEventListener("change", show_theme);
  when_resized(() => draw_all());
  window.addEventListener("beforeprint", () => charts.forEach((chart) => draw(chart, "light")));
  window.addEventListener("afterprint", () => draw_all());
  root.classList.add("scripted");
  // After the first paint: what is read first is there first.
  requestAnimationFrame(() => setTimeout(show_theme, 0));
}
start();
