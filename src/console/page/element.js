// SPDX-License-Identifier: Apache-2.0
// Elements of the page. Texts from the server become text nodes only, never markup: names of models,
// labels and lines of the log may contain anything.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name, value);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Makes an element. A function among `attributes` listens to the event of that name. Children are
    elements, texts, or lists of them; null and false are left out. */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Makes an SVG element. */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Replaces the children of an element. */
export function show(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** Makes a link to a page of the console. The parts are names as they are. */
export function link(parts, ...children) {
  return h("a", { href: address(parts) }, ...children);
}

/** Returns the address of a page of the console. */
export function address(parts) {
  return "#/" + parts.map(encodeURIComponent).join("/");
}

let fields = 0;

/** Makes a label and its control below each other. `control` is an element without an id. */
export function field(text, control, hint) {
  control.id = `field-${++fields}`;
  const note = hint && h("span", { class: "quiet", id: `${control.id}-hint` }, hint);
  if (note) control.setAttribute("aria-describedby", note.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, text), control, note);
}

/** Makes a check box before its label. */
export function choice(text, attributes) {
  const box = h("input", { type: "checkbox", id: `field-${++fields}`, ...attributes });
  return { box, element: h("div", { class: "choice" }, box, h("label", { for: box.id }, text)) };
}

/** Makes a select. `options` are texts or pairs of a value and a text. */
export function select(options, attributes) {
  return h("select", attributes, options.map((option) => {
    const [value, text] = Array.isArray(option) ? option : [option, option];
    return h("option", { value }, text);
  }));
}

/** Makes a table. `columns` are {title, number}; a row is a list of cells. On a narrow screen each
    row becomes a block; the roles are there because browsers forget them then. */
export function table(caption, columns, rows) {
  const cell = (column, content, index) =>
    h(index === 0 ? "th" : "td",
      { scope: index === 0 ? "row" : null, role: index === 0 ? "rowheader" : "cell",
        class: column.number ? "number" : null, "data-label": column.title }, content);
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", { role: "table" },
      h("caption", null, caption),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, columns.map((column) =>
        h("th", { scope: "col", role: "columnheader", class: column.number ? "number" : null },
          column.title)))),
      h("tbody", { role: "rowgroup" }, rows.map((row) =>
        h("tr", { role: "row" }, row.map((content, index) =>
          cell(columns[index], content, index)))))));
}

/** Replaces the cells of a table that has as many rows, but for the first one of each row: what has
    the focus there keeps it. */
export function updateTable(region, rows) {
  const lines = region.querySelectorAll("tbody tr");
  rows.forEach((row, index) => {
    row.forEach((content, column) => {
      if (column > 0) show(lines[index].children[column], content);
    });
  });
}

/** Makes a list of bars. `items` are {label, value, text}. */
export function bars(items) {
  const most = Math.max(1e-9, ...items.map((item) => item.value));
  return h("ul", { class: "bars" }, items.map((item) => {
    const filled = h("span", { class: "fill" });
    filled.style.width = `${Math.max(0, (100 * item.value) / most)}%`;
    return h("li", null, filled,
      h("span", { class: "label" }, h("span", null, item.label), h("span", null, item.text)));
  }));
}

/** Says something to screen readers without moving the focus. */
export function announce(text) {
  document.getElementById("announcement").textContent = text;
}

/** Makes a box with an error. */
export function notice(text) {
  return h("p", { class: "notice", role: "alert" }, text);
}

/** Offers bytes as a file. */
export function download(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const anchor = h("a", { href: url, download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
