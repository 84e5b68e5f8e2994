// SPDX-License-Identifier: Apache-2.0
// The overview: the models with their states and what they do now.
import { address, field, h, link, notice, show, table, updateTable } from "./element.js";
import { spark } from "./chart.js";
import { bytes, duration, number } from "./format.js";
import * as server from "./server.js";

const INDEX_INTERVAL_MS = 5000;
const KEPT = 60;

/** The newest points of each model version, by "model\0version". */
class Points {
  constructor(fields) {
    this.fields = fields;
    this.kept = new Map();
  }

  static key(model, version) {
    return `${model}\0${version}`;
  }

  add(model, version, points) {
    const key = Points.key(model, version);
    const all = [...(this.kept.get(key) ?? []), ...points];
    this.kept.set(key, all.slice(-KEPT));
  }

  of(model, version) {
    return this.kept.get(Points.key(model, version)) ?? [];
  }

  /** Returns the newest value of a field; 0 if there is none. */
  newest(model, version, name) {
    return this.of(model, version).at(-1)?.[this.fields.indexOf(name)] ?? 0;
  }

  sum(name) {
    const at = this.fields.indexOf(name);
    return [...this.kept.values()].reduce((total, points) => total + (points.at(-1)?.[at] ?? 0), 0);
  }
}

const COLUMNS = [
  { title: "Model" }, { title: "Version" }, { title: "State" }, { title: "Requests/s", number: true },
  { title: "p50", number: true }, { title: "p99", number: true }, { title: "Waiting", number: true },
  { title: "Batch size", number: true }, { title: "Last minute" },
];

const STATE_CLASS = { READY: "good", LOADING: "warn", UNLOADING: "warn", UNAVAILABLE: "bad" };

function row(entry, points) {
  const { name, version = "", state = "", reason = "" } = entry;
  const value = (field) => points.newest(name, version, field);
  const executions = value("executions");
  const at = points.fields.indexOf("requests");
  const rates = points.of(name, version).map((point) => point[at]);
  return [
    link(["models", name], name),
    version || "–",
    [h("span", { class: STATE_CLASS[state] }, state ? state.toLowerCase() : "not loaded"),
     reason && h("span", { class: "quiet" }, ` ${reason}`)],
    number(value("requests")),
    duration(value("p50_us")),
    duration(value("p99_us")),
    number(value("pending")),
    executions > 0 ? number(value("inferences") / executions) : "–",
    rates.length > 1
      ? spark(rates, `requests per second in the last minute, ${number(rates.at(-1))} now`) : "–",
  ];
}

/** The page for callers that may send requests only: they name the model. */
function showModelForm(content) {
  const name = h("input", { type: "text", class: "whole", required: true, spellcheck: "false" });
  show(content, h("h1", null, "Models"),
    h("p", { class: "notice calm" },
      "Your roles permit requests to models, but not the list of models or their numbers "
      + "(role observe or manage)."),
    h("form", {
      class: "card",
      submit: (event) => {
        event.preventDefault();
        location.hash = address(["models", name.value.trim(), "try"]);
      },
    }, field("Name of a model", name), h("button", { class: "main" }, "Try it")));
}

function figure(title, text, note) {
  return h("div", { class: "card" }, h("h2", null, title), h("p", { class: "figure" }, text),
    note && h("p", { class: "quiet" }, note));
}

export async function overviewPage({ content, session, signal, setConnection }) {
  if (!session.roles.some((role) => role === "observe" || role === "manage")) {
    showModelForm(content);
    return;
  }
  const series = await server.get("/console/v1/series", signal);
  const points = new Points(series.fields);
  for (const one of series.series) {
    if (one.loaded) points.add(one.model, one.version, one.seconds);
  }
  let index = await server.change("POST", "/v2/repository/index", {});
  let use = { cpus: 0, memory_bytes: 0 };
  let shownNames = "";
  const figures = h("div", { class: "cards small" });
  const models = h("div", { class: "card" });
  const problem = h("div");
  if (signal.aborted) return;
  show(content, h("h1", null, session.server.name), figures, problem, models);

  const draw = () => {
    const ready = index.filter((entry) => entry.state === "READY").length;
    show(figures,
      figure("Requests", `${number(points.sum("requests"))}/s`,
             `${number(points.sum("failures"))} failures/s`),
      figure("Waiting", number(points.sum("pending")), "requests in the models' queues"),
      figure("Processor", `${number(use.cpus)} cores`, "used by the server in the last second"),
      figure("Memory", bytes(use.memory_bytes), "of the server's process"),
      figure("Versions ready", `${ready} of ${index.length}`, `server version ${session.server.version}`));
    const rows = index.map((entry) => row(entry, points));
    const names = index.map((entry) => `${entry.name}\0${entry.version ?? ""}`).join("\n");
    const region = models.querySelector(".scroll");
    if (region && names === shownNames) {
      updateTable(region, rows);
      return;
    }
    shownNames = names;
    show(models, h("h2", null, "Models"),
      index.length === 0
        ? h("p", null, "The model repositories have no models.")
        : table("Each loaded version, or the model if none is loaded; live", COLUMNS,
                rows),
      series.omitted > 0 && h("p", { class: "quiet" },
        `${series.omitted} further versions are served, for which no numbers are kept.`));
  };
  draw();

  const refresh = async () => {
    try {
      index = await server.change("POST", "/v2/repository/index", {});
      show(problem);
    } catch (error) {
      // The stream of events says when the server cannot be reached.
      if (error instanceof server.Refused) show(problem, notice(error.message));
    }
  };
  const timer = setInterval(refresh, INDEX_INTERVAL_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
  followEvents({ signal, setConnection, content }, (sample) => {
    use = sample;
    for (const { model, version, point } of sample.points) points.add(model, version, [point]);
    draw();
  });
}

/** Calls `onSample` with each sample until the page is left. Not awaited: the page is shown. */
export function followEvents({ signal, setConnection, content }, onSample) {
  server.events("/console/v1/events", signal,
    (name, value) => name === "sample" && onSample(value), setConnection)
    .catch((error) => signal.aborted || content.prepend(notice(error.message)));
}
