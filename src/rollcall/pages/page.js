"use strict";
// Text from logs is untrusted: it is added with textContent only.
const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("page");
const ROWS_SHOWN = 50;
const VERDICT_CLASSES = new Map([["breaks", "breaks"], ["at risk", "risk"], ["unknown", "risk"], ["safe", "safe"]]);
const WORST_FIRST = [...VERDICT_CLASSES.keys()];

function add(parent, tag, text, className) {
  const element = document.createElement(tag);
  if (text !== undefined && text !== null) element.textContent = text;
  if (className) element.className = className;
  parent.append(element);
  return element;
}

function compare(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

function showTable(columns, rows, details) {
  const entries = rows.map((cells, index) => ({
    cells,
    lines: details[index],
    text: [...cells, ...(details[index] ?? [])].join("\n").toLowerCase(),
  }));
  let sorting = null, shown = ROWS_SHOWN, found = entries;
  const tools = add(main, "div", null, "tools");
  const search = add(tools, "input");
  search.type = "search";
  search.placeholder = "Filter rows by words";
  search.setAttribute("aria-label", "Filter rows by words");
  const count = add(tools, "span");
  const table = add(add(main, "div", null, "scroll"), "table");
  const heads = add(add(table, "thead"), "tr");
  const body = add(table, "tbody");
  const more = add(main, "button", "Show more");
  const verdict = columns.indexOf("verdict");
  const toSort = (cell, column) => (column === verdict ? WORST_FIRST.indexOf(cell) : cell);

  columns.forEach((name, column) => {
    const head = add(heads, "th", name, typeof rows[0]?.[column] === "number" ? "number" : "");
    head.tabIndex = 0;
    const sort = () => {
      const down = sorting?.column === column && !sorting.down;
      sorting = { column, down };
      for (const other of heads.children) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      draw();
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
  });

  function drawRow(entry) {
    const row = add(body, "tr");
    entry.cells.forEach((cell, column) => {
      const number = typeof cell === "number";
      const text = number ? cell.toLocaleString("en") : cell;
      add(row, "td", text, number ? "number" : column === verdict ? VERDICT_CLASSES.get(cell) : "");
    });
    if (!entry.lines?.length) return;
    row.className = "opens";
    let detail = null;
    row.addEventListener("click", () => {
      if (detail) { detail.remove(); detail = null; return; }
      detail = document.createElement("tr");
      detail.className = "detail";
      add(detail, "td", entry.lines.join("\n")).colSpan = columns.length;
      row.after(detail);
    });
  }

  function draw() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = entries.filter((entry) => words.every((word) => entry.text.includes(word)));
    if (sorting) {
      const { column, down } = sorting;
      const key = (entry) => toSort(entry.cells[column], column);
      found = [...found].sort((a, b) => compare(key(a), key(b)) * (down ? -1 : 1));
    }
    body.replaceChildren();
    found.slice(0, shown).forEach(drawRow);
    count.textContent = `${found.length.toLocaleString("en")} of ${entries.length.toLocaleString("en")}`;
    more.hidden = found.length <= shown;
  }

  search.addEventListener("input", () => { shown = ROWS_SHOWN; draw(); });
  more.addEventListener("click", () => { shown += 5 * ROWS_SHOWN; draw(); });
  draw();
}

const COLOURS = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#bcbd22", "#17becf", "#3f51b5", "#009688", "#9e9e9e"];

// Charts are drawn once: these colours are readable on white, on black and on paper.
Chart.defaults.color = "#808080";
Chart.defaults.borderColor = "#8884";

function canvas(title, height) {
  add(main, "h2", title);
  const frame = add(main, "div", null, "chart tall");
  if (height) frame.style.height = `${height}px`;
  return add(frame, "canvas");
}

function showTimeline({ days, series }) {
  if (!days.length) return;
  new Chart(canvas("Library versions per day"), {
    type: days.length > 1 ? "line" : "bar",
    data: {
      labels: days,
      datasets: series.map((line, index) => ({
        ...line,
        fill: index === 0 ? "origin" : "-1",
        maxBarThickness: 160,
        pointRadius: days.length > 40 ? 0 : 2,
        borderWidth: 1,
        borderColor: COLOURS[index % COLOURS.length],
        backgroundColor: COLOURS[index % COLOURS.length] + "99",
      })),
    },
    options: {
      animation: false,
      maintainAspectRatio: false,
      interaction: { mode: "index", intersect: false },
      scales: {
        x: { stacked: true },
        y: { stacked: true, beginAtZero: true, ticks: { precision: 0 }, title: { display: true, text: "applications" } },
      },
    },
  });
}

const MINUTE = 60_000, DAY = 1440 * MINUTE;
const STEPS = [1, 5, 15, 60, 180, 360, 720, 1440, 2 * 1440, 7 * 1440, 14 * 1440, 28 * 1440, 91 * 1440].map((minutes) => minutes * MINUTE);

// An axis with ticks at whole minutes, hours or days, so that no two labels are equal.
function timeAxis(times) {
  const low = Math.min(...times), high = Math.max(...times);
  const step = STEPS.find((step) => (high - low) / step <= 7) ?? STEPS.at(-1) * Math.ceil((high - low) / STEPS.at(-1) / 7);
  return { step, first: Math.floor(low / step) * step, last: (Math.floor(high / step) + 1) * step };
}

function showStarts({ brokers, points }) {
  if (!points.length) return;
  const { step, first, last } = timeAxis(points.map((point) => point.x));
  const time = (value) => new Date(value).toISOString().slice(0, 16).replace("T", " ");
  const colour = (point) => (point.raw?.flapping ? "#d62728" : "#1f77b4");
  new Chart(canvas("Broker starts", Math.max(180, 90 + 18 * brokers.length)), {
    type: "scatter",
    data: { datasets: [{ data: points, clip: false, pointRadius: 5, pointBackgroundColor: colour, pointBorderColor: colour }] },
    options: {
      animation: false,
      maintainAspectRatio: false,
      plugins: {
        legend: { display: false },
        tooltip: { callbacks: { label: (item) => `${brokers[item.raw.y]}: ${time(item.raw.x)} UTC${item.raw.flapping ? ", flapping" : ""}` } },
      },
      scales: {
        x: {
          type: "linear", min: first, max: last,
          ticks: { stepSize: step, callback: (value) => time(value).slice(0, step < DAY ? 16 : 10), maxRotation: 0, autoSkip: true },
        },
        y: { min: -1, max: brokers.length, reverse: true, ticks: { stepSize: 1, autoSkip: false, callback: (row) => brokers[row] ?? "" } },
      },
    },
  });
}

add(main, "h1", data.title);
add(main, "p", data.headline, "headline");
for (const line of data.notes) add(main, "p", line, "note");
for (const line of data.warnings) add(main, "p", `warning: ${line}`, "note warning");
add(main, "h2", data.listed);
if (data.details.length) add(main, "p", "Click a row to show evidence and remedies.", "note");
showTable(data.columns, data.rows, data.details);
showTimeline(data.timeline);
showStarts(data.starts);
document.body.dataset.ready = "yes";
