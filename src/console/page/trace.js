// SPDX-License-Identifier: Apache-2.0
// The requests that were traced through the console, and the flame of one of them.
import { h, link, show, table } from "./element.js";
import { clock, duration } from "./format.js";
import * as server from "./server.js";

const TRIES = 20;
const INTERVAL_MS = 150;

/** Returns the spans as a list from the outside to the inside, with depths. Spans whose parent is
    unknown are on the outside. */
export function inOrder(spans) {
  const inside = new Map();
  const known = new Set(spans.map((span) => span.id));
  for (const span of spans) {
    const parent = known.has(span.parent) ? span.parent : "";
    inside.set(parent, [...(inside.get(parent) ?? []), span]);
  }
  const list = [];
  const seen = new Set();
  const walk = (parent, depth) => {
    const children = (inside.get(parent) ?? []).sort((a, b) => a.start_us - b.start_us);
    for (const span of children) {
      if (seen.has(span.id)) continue;
      seen.add(span.id);
      list.push({ span, depth });
      walk(span.id, depth + 1);
    }
  };
  walk("", 0);
  return list;
}

function details(span) {
  const attributes = Object.entries(span.attributes);
  return [
    h("h2", null, span.name),
    h("p", null, `Began after ${duration(span.start_us) === "–" ? "0 µs" : duration(span.start_us)}, `
      + `took ${duration(span.duration_us)}.`),
    attributes.length > 0 && h("dl", null, attributes.map(([name, value]) =>
      [h("dt", null, name), h("dd", null, String(value))])),
    span.events.length > 0 && table("Events", [{ title: "After", number: true }, { title: "Event" }],
      span.events.map((event) => [duration(event.at_us) === "–" ? "0 µs" : duration(event.at_us),
                                  event.name])),
    span.dropped_events > 0 && h("p", { class: "quiet" },
      `${span.dropped_events} further events were not kept.`),
  ];
}

/** Makes the flame of a trace: a row for each span, below the span that it is a part of. */
export function flame(trace) {
  const total = Math.max(1e-3, ...trace.spans.map((span) => span.start_us + span.duration_us));
  const chosen = h("div", { class: "card", "aria-live": "polite" },
    h("p", { class: "quiet" }, "Choose a row to see its details."));
  const rows = inOrder(trace.spans).map(({ span, depth }) => {
    const bar = h("span", { class: `span ${["queue", "compute"].includes(span.name) ? span.name : ""}` });
    bar.style.left = `${(100 * span.start_us) / total}%`;
    bar.style.width = `${(100 * span.duration_us) / total}%`;
    const name = h("span", { class: "name" }, h("span", null, span.name),
                   h("span", null, duration(span.duration_us)));
    name.style.paddingLeft = `${Math.min(depth, 12)}rem`;
    return h("li", null, h("button", { type: "button", click: () => show(chosen, details(span)) },
                           name, h("span", { class: "track", "aria-hidden": "true" }, bar)));
  });
  return h("div", { class: "columns" },
    h("section", { class: "card" }, h("h2", null, `Flame: ${duration(total)}`),
      h("ul", { class: "flame" }, rows),
      trace.dropped > 0 && h("p", { class: "quiet" }, `${trace.dropped} spans were not kept.`)),
    chosen);
}

/** Returns a trace when it is complete, or what there is of it after a while. */
export async function fetchTrace(id, signal) {
  for (let tried = 1; ; ++tried) {
    try {
      const trace = await server.get(server.path("console", "v1", "traces", id), signal);
      if (trace.complete || tried === TRIES) return trace;
    } catch (error) {
      const isEarly = error instanceof server.Refused && error.status === 404 && tried < TRIES;
      if (!isEarly) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  }
}

export async function tracePage({ content, parts, signal }) {
  if (parts[0]) {
    const trace = await fetchTrace(parts[0], signal);
    if (signal.aborted) return;
    show(content, h("h1", null, `Trace of ${clock(trace.time_ms)}`),
      h("p", { class: "quiet mono" }, trace.id), flame(trace));
    return;
  }
  const { traces } = await server.get("/console/v1/traces", signal);
  if (signal.aborted) return;
  show(content, h("h1", null, "Traces"),
    h("p", null, "Requests that were sent from “Try it” with “Trace this request”. The last 32 are "
      + "kept until the server stops."),
    traces.length === 0
      ? h("p", null, "There are none yet.")
      : h("div", { class: "card" }, table("Traced requests, the newest first",
          [{ title: "Time" }, { title: "Model" }, { title: "Duration", number: true }],
          traces.map((trace) => [link(["traces", trace.id], clock(trace.time_ms, true)), trace.name,
                                 trace.complete ? duration(trace.duration_us) : "in progress"]))));
}
