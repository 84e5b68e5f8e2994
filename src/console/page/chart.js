// SPDX-License-Identifier: Apache-2.0
// Charts over time, as SVG. Lines differ in their dashes, too, not by colour alone.
import { h, svg } from "./element.js";
import { clock } from "./format.js";

const WIDTH = 600;
const HEIGHT = 190;
const LEFT = 64;
const BOTTOM = 22;
const TOP = 10;

/** Returns a number of which a few multiples make good marks up to `most`. */
function step(most) {
  const power = 10 ** Math.floor(Math.log10(most / 3));
  return [1, 2, 5, 10].map((factor) => factor * power).find((size) => most / size <= 4) ?? power * 10;
}

function path(points, x, y) {
  return points.map(([time, value], index) =>
    `${index === 0 ? "M" : "L"}${x(time).toFixed(1)} ${y(value).toFixed(1)}`).join("");
}

/** Makes a chart. `lines` are {name, points}, where points are pairs of milliseconds and a value;
    `text` returns a value as text; `span` is the shown time in milliseconds. */
export function chart(title, lines, { text, span }) {
  const end = Math.max(0, ...lines.flatMap((line) => line.points.slice(-1).map(([time]) => time)));
  const begin = end - span;
  const shown = lines.map((line) => ({
    ...line, points: line.points.filter(([time]) => time >= begin),
  }));
  const most = Math.max(...shown.flatMap((line) => line.points.map(([, value]) => value)), 0) || 1;
  const x = (time) => LEFT + ((time - begin) / span) * (WIDTH - LEFT - 8);
  const y = (value) => TOP + (1 - value / most) * (HEIGHT - TOP - BOTTOM);
  const marks = [];
  for (let value = 0; value <= most * 1.0001; value += step(most)) marks.push(value);
  const latest = shown.map((line) => {
    const value = line.points.at(-1)?.[1];
    return value === undefined ? `${line.name}: no data` : `${line.name}: ${text(value)}`;
  });
  return h("figure", { class: "card" },
    h("figcaption", null, h("h2", null, title)),
    svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img",
                 "aria-label": `${title}. Latest: ${latest.join("; ")}. Highest: ${text(most)}` },
      marks.map((value) => [
        svg("line", { class: "grid", x1: LEFT, x2: WIDTH - 8, y1: y(value), y2: y(value) }),
        svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" },
            value === 0 ? "0" : text(value)),
      ]),
      end > 0 && [0, 0.5, 1].map((part) =>
        svg("text", { x: LEFT + part * (WIDTH - LEFT - 8), y: HEIGHT - 6,
                      "text-anchor": ["start", "middle", "end"][part * 2] },
            clock(begin + part * span))),
      shown.map((line, index) =>
        svg("path", { class: `s${index + 1}`, d: path(line.points, x, y) }))),
    h("ul", { class: "legend" }, shown.map((line, index) =>
      h("li", null,
        svg("svg", { viewBox: "0 0 30 8", "aria-hidden": "true" },
            svg("line", { class: `s${index + 1}`, x1: 0, x2: 30, y1: 4, y2: 4, "stroke-width": 3 })),
        latest[index]))));
}

/** Makes a small line without axes. */
export function spark(values, label) {
  const most = Math.max(...values, 1e-9);
  const x = (index) => (values.length < 2 ? 0 : (100 * index) / (values.length - 1));
  const y = (value) => 22 - (20 * value) / most;
  return svg("svg", { class: "spark", viewBox: "0 0 100 24", preserveAspectRatio: "none",
                      role: "img", "aria-label": label },
    svg("path", { d: path(values.map((value, index) => [index, value]), x, y) }));
}
