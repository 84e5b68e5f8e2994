// SPDX-License-Identifier: Apache-2.0
// The pages of one model: its numbers, its configuration, and links to the other ones.
import { bars, field, h, link, notice, select, show, table } from "./element.js";
import { chart } from "./chart.js";
import { bytes, duration, number } from "./format.js";
import { followEvents } from "./overview.js";
import { managePage } from "./manage.js";
import { tryPage } from "./try.js";
import * as server from "./server.js";

const STATE_INTERVAL_MS = 2000;
const RANGES = { seconds: 120_000, ten_seconds: 3_600_000 };
const KEPT = { seconds: 120, ten_seconds: 360 };

const TABS = [
  ["", "Numbers"], ["config", "Configuration"], ["try", "Try it"], ["manage", "Manage"],
];

function tabs(model, current) {
  return h("nav", { "aria-label": "Pages of the model" }, TABS.map(([name, title]) => {
    const anchor = link(["models", model, ...(name ? [name] : [])], title);
    if (name === current) anchor.setAttribute("aria-current", "page");
    return anchor;
  }), link(["api", model], "OpenAPI"));
}

export async function modelPage(page) {
  const [model = "", tab = ""] = page.parts;
  const body = h("div");
  const make = { config: configPage, try: tryPage, manage: managePage }[tab] ?? numbersPage;
  show(page.content, h("h1", null, model), tabs(model, tab), body);
  await make({ ...page, content: body, model });
}

function lines(fields, points, names) {
  return names.map(([name, title]) => {
    const at = fields.indexOf(name);
    return { name: title, points: points.map((point) => [point[0], point[at]]) };
  });
}

function charts(fields, points, span) {
  const rate = { text: (value) => `${number(value)}/s`, span };
  const time = { text: duration, span };
  const plain = { text: number, span };
  const sizes = points.map((point) => {
    const executions = point[fields.indexOf("executions")];
    return [point[0], executions > 0 ? point[fields.indexOf("inferences")] / executions : 0];
  });
  return [
    chart("Requests", lines(fields, points, [["requests", "succeeded"], ["failures", "failed"]]), rate),
    chart("Latency", lines(fields, points, [["p50_us", "p50"], ["p90_us", "p90"], ["p99_us", "p99"]]),
          time),
    chart("Time of a request", lines(fields, points, [["queue_us", "in the queue"],
                                                      ["compute_us", "computing"]]), time),
    chart("Waiting requests", lines(fields, points, [["pending", "waiting"]]), plain),
    chart("Batch size", [{ name: "inferences per execution", points: sizes }], plain),
  ];
}

function batches(version) {
  if (version.closed.length === 0) return h("p", null, "No batch has been executed.");
  const total = version.closed.reduce((sum, one) => sum + one.count, 0);
  return bars(version.closed.map((one) => ({
    label: one.text, value: one.count,
    text: `${number(one.count)} (${number((100 * one.count) / total)} %)`,
  })));
}

function sizes(version) {
  return table("Executions by batch size",
    [{ title: "Batch size", number: true }, { title: "Executions", number: true },
     { title: "Mean computation", number: true }],
    version.batch_sizes.map((one) => [
      one.size, number(one.count), duration(one.compute_ns / 1000 / Math.max(1, one.count))]));
}

function facts(version) {
  const rows = [
    ["Inferences", number(version.inferences)], ["Executions", number(version.executions)],
    ["Waiting", number(version.pending)],
    ["Last inference", version.last_inference_ms
      ? new Date(version.last_inference_ms).toLocaleString() : "none"],
    ...Object.entries(version.failures).filter(([, count]) => count > 0)
      .map(([reason, count]) => [`Failed (${reason.toLowerCase()})`, number(count)]),
    version.times.cache_hit.count + version.times.cache_miss.count > 0
      && ["Answers from the cache", `${number(version.times.cache_hit.count)} of `
        + number(version.times.cache_hit.count + version.times.cache_miss.count)],
    version.latency_objective_us > 0
      && ["Latency objective", duration(version.latency_objective_us)],
    version.batch_size_limit > 0
      && ["Batches", `up to ${number(version.batch_size_limit)} (measured)`],
    ...version.memory.map((one) => [`Memory (${one.type} ${one.id})`, bytes(one.bytes)]),
  ].filter(Boolean);
  return h("dl", null, rows.map(([name, value]) => [h("dt", null, name), h("dd", null, value)]));
}

function cores(version) {
  if (version.cores.length === 0) return h("p", null, "The models share the processors without a plan.");
  return table("Instances and their processors",
    [{ title: "Instances", number: true }, { title: "Threads of each", number: true },
     { title: "Processors" }, { title: "Decided by" }],
    version.cores.map((one) => [one.instances, one.threads, one.cpus || "any", one.set_by]));
}

function sequenceCounts({ sequences }) {
  const ended = Object.entries(sequences.ended).filter(([, count]) => count > 0)
    .map(([reason, count]) => `${number(count)} ${reason}`).join(", ");
  return h("p", null, `${number(sequences.active)} active, ${number(sequences.backlog)} waiting; `
    + `${number(sequences.slots_in_use)} of ${number(sequences.slots)} slots in use. `
    + `Ended: ${ended || "none"}.`);
}

function sequenceList(list) {
  return table("Open sequences",
    [{ title: "Id" }, { title: "Instance" }, { title: "Slot", number: true },
     { title: "Waiting", number: true }, { title: "Idle", number: true },
     { title: "Age", number: true }],
    list.map((one) => [String(one.id), one.instance ?? "waits for a slot", one.slot ?? "–",
                       number(one.queued), duration(one.idle_us), duration(one.age_us)]));
}

/** Returns the open sequences, or null: the model has none, or the server does not list them. */
async function openSequences(model, version, signal) {
  try {
    return (await server.get(server.modelPath(model, version, "sequences"), signal)).sequences;
  } catch (error) {
    if (error instanceof server.Refused) return null;
    throw error;
  }
}

async function numbersPage({ content, model, signal, setConnection, session }) {
  if (!session.roles.some((role) => role === "observe" || role === "manage")) {
    show(content, h("p", { class: "notice calm" }, "The numbers need the role observe or manage."));
    return;
  }
  const seriesPath = server.path("console", "v1", "models", model, "series");
  const statePath = server.path("console", "v1", "models", model, "state");
  let history = await server.get(seriesPath, signal);
  const versions = history.series.map((one) => one.version);
  const version = select(versions);
  version.value = history.series.findLast?.((one) => one.loaded)?.version ?? versions.at(-1) ?? "";
  const range = select([["seconds", "2 minutes"], ["ten_seconds", "1 hour"]]);
  const graphs = h("div", { class: "cards wide" });
  const state = h("div", { class: "columns" });
  if (signal.aborted) return;

  const current = () => history.series.find((one) => one.version === version.value);
  const draw = () => {
    const series = current();
    show(graphs, series === undefined
      ? h("p", null, "There are no numbers of this model yet.")
      : charts(history.fields, series[range.value], RANGES[range.value]));
  };
  const drawState = async () => {
    let versionsNow = [];
    try {
      versionsNow = (await server.get(statePath, signal)).versions;
    } catch (error) {
      if (signal.aborted || !(error instanceof server.Refused)) return;
      show(state, notice(error.message));
      return;
    }
    const now = versionsNow.find((one) => one.version === version.value);
    const list = now?.sequences ? await openSequences(model, version.value, signal) : null;
    // What the reader is in with the keyboard is left as it is.
    if (signal.aborted || state.contains(document.activeElement)) return;
    if (now === undefined) {
      show(state, h("p", null, "This version is not loaded."));
      return;
    }
    show(state,
      h("section", { class: "card" }, h("h2", null, "Now"), facts(now)),
      h("section", { class: "card" }, h("h2", null, "Why batches were closed"), batches(now)),
      now.batch_sizes.length > 0
        && h("section", { class: "card" }, h("h2", null, "Batches"), sizes(now)),
      h("section", { class: "card" }, h("h2", null, "Instances and cores"), cores(now)),
      now.sequences && h("section", { class: "card" }, h("h2", null, "Sequences"),
        sequenceCounts(now), list && list.length > 0 && sequenceList(list)));
  };
  const reload = async () => {
    history = await server.get(seriesPath, signal);
    draw();
  };

  version.addEventListener("change", () => {
    draw();
    drawState();
  });
  range.addEventListener("change", reload);
  show(content,
    h("div", { class: "row" }, field("Version", version), field("Time", range)), graphs, state);
  draw();
  await drawState();
  const timer = setInterval(drawState, STATE_INTERVAL_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
  let samples = 0;
  followEvents({ signal, setConnection, content }, (sample) => {
    for (const one of sample.points) {
      if (one.model !== model) continue;
      const series = history.series.find((known) => known.version === one.version);
      if (series === undefined) {
        history.series.push({ model, version: one.version, loaded: true, seconds: [one.point],
                               ten_seconds: [] });
        version.append(h("option", { value: one.version }, one.version));
      } else {
        series.seconds = [...series.seconds, one.point].slice(-KEPT.seconds);
      }
    }
    // The points of ten seconds are the server's.
    if (range.value === "seconds") draw();
    else if (++samples % 10 === 0) reload().catch(() => {});
  });
}

function originText(one) {
  if (one.origin === "file") return `${one.file}:${one.line}:${one.column}`;
  return `${one.origin}: ${one.reason}`;
}

async function configPage({ content, model, signal }) {
  const explained = server.path("console", "v1", "models", model, "explain");
  const words = h("input", { type: "search", spellcheck: "false" });
  const list = h("div", { class: "card" });
  let fields = [];
  try {
    fields = (await server.get(explained, signal)).fields;
  } catch (error) {
    if (!(error instanceof server.Refused) || error.status === 401) throw error;
    show(content, notice(error.message));
    return;
  }
  if (signal.aborted) return;
  const draw = () => {
    const wanted = words.value.toLowerCase();
    const found = fields.filter((one) =>
      `${one.path} ${one.value} ${originText(one)}`.toLowerCase().includes(wanted));
    show(list, table("The configuration with which the model serves, and the origin of each value",
      [{ title: "Field" }, { title: "Value" }, { title: "Origin" }],
      found.map((one) => [h("code", null, one.path), h("code", null, one.value), originText(one)])));
  };
  words.addEventListener("input", draw);
  show(content, field("Containing", words), list);
  draw();
}
