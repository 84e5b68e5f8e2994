// SPDX-License-Identifier: Apache-2.0
// Loading and unloading a model, and which version answers: its rollout.
import { announce, choice, field, h, notice, show, table } from "./element.js";
import { duration, number } from "./format.js";
import * as server from "./server.js";

const PARTS = 10_000;

/** Returns a function that runs the action of a button and shows its outcome in `outcome`. After a
    success `refresh` shows the page again. */
function actor(outcome, refresh) {
  return async (doing, done, action) => {
    const enabled = [...document.querySelectorAll("main button")].filter((one) => !one.disabled);
    for (const one of enabled) one.disabled = true;
    show(outcome, h("p", { class: "quiet" }, doing));
    announce(doing);
    try {
      await action();
      await refresh();
      show(outcome, h("p", { class: "good" }, done));
      announce(done);
    } catch (error) {
      show(outcome, notice(error.message));
    }
    for (const one of enabled) one.disabled = false;
    outcome.focus();
  };
}

function loadCard(model, act) {
  const config = h("textarea", { spellcheck: "false" });
  const dependents = choice("Unload the models that only this one calls, too");
  const base = ["v2", "repository", "models", model];
  const load = h("button", {
    type: "button", class: "main",
    click: () => act(`Loading ${model}…`, `${model} is loaded.`, () => {
      const text = config.value.trim();
      return server.change("POST", server.path(...base, "load"),
                           text ? { parameters: { config: text } } : {});
    }),
  }, "Load or reload");
  const unload = h("button", {
    type: "button", class: "danger",
    click: () => act(`Unloading ${model}…`, `${model} is being unloaded.`, () =>
      server.change("POST", server.path(...base, "unload"),
                    { parameters: { unload_dependents: dependents.box.checked } })),
  }, "Unload");
  return h("section", { class: "card" }, h("h2", null, "Load and unload"),
    h("details", null, h("summary", null, "Load with another configuration"),
      field("Configuration as JSON", config,
            "Instead of config.pbtxt, until the model is loaded from its files again")),
    dependents.element, h("div", { class: "row" }, load, unload));
}

function statusCard(status) {
  return h("section", { class: "card" }, h("h2", null, "Rollout"),
    h("p", null, `State: ${status.state.replace("_", " ")}`),
    status.rollback && h("p", { class: "bad" },
      `Version ${status.rollback.version} was rolled back: ${status.rollback.reason}`),
    status.shadow && h("p", null,
      `Copies for the shadow version: ${number(status.shadow.equal)} equal, `
      + `${number(status.shadow.different)} different, ${number(status.shadow.failed)} failed. `
      + status.shadow.first_difference),
    table("Versions of the rollout",
      [{ title: "Version", number: true }, { title: "Ready" }, { title: "Share", number: true },
       { title: "Requests", number: true }, { title: "Failures", number: true },
       { title: "p50", number: true }, { title: "p99", number: true }],
      status.versions.map((one) => [
        one.version, one.ready ? "yes" : "no", `${(100 * one.parts) / PARTS} %`,
        number(one.requests), number(one.failures), duration(one.p50_us), duration(one.p99_us)])));
}

/** The rows of labels with versions and shares. */
function labelRows(plan) {
  const rows = h("div");
  const add = (label = "", version = "", parts = "") => {
    const row = h("div", { class: "row" },
      field("Label", h("input", { type: "text", value: label, size: 12, spellcheck: "false" })),
      field("Version", h("input", { type: "number", min: 1, value: version, size: 6 })),
      field("Share in %", h("input", { type: "number", min: 0, max: 100, step: 0.01,
                                       value: parts, size: 6 })),
      h("button", { type: "button", click: () => row.remove() }, "Remove"));
    rows.append(row);
  };
  const weights = plan?.split?.weights ?? {};
  for (const [label, version] of Object.entries(plan?.labels ?? {})) {
    const parts = weights[label] ?? weights[String(version)];
    add(label, version, parts === undefined ? "" : (100 * parts) / PARTS);
  }
  if (!plan?.labels) {
    add("stable", 1, 100);
    add("canary", 2, 0);
  }
  const read = () => [...rows.children].map((row) => {
    const [label, version, share] = [...row.querySelectorAll("input")].map((one) => one.value.trim());
    return { label, version: Number(version), share };
  }).filter((one) => one.label !== "");
  return { rows, add, read };
}

function planOf(read, kept) {
  const plan = { ...kept, labels: {} };
  const weights = {};
  for (const { label, version, share } of read) {
    plan.labels[label] = version;
    if (share !== "") weights[label] = Math.round((Number(share) * PARTS) / 100);
  }
  if (Object.keys(weights).length > 0) plan.split = { ...kept.split, weights };
  else delete plan.split;
  return plan;
}

function rolloutCard(model, status, act) {
  const path = server.path("v2", "repository", "models", model, "rollout");
  const { rows, add, read } = labelRows(status?.plan);
  const save = h("button", {
    type: "button", class: "main",
    click: () => act("Setting the rollout…", "The rollout is set.", () =>
      server.change("PUT", path, planOf(read(), status?.plan ?? {}))),
  }, status ? "Change the rollout" : "Begin a rollout");
  const end = status && h("button", {
    type: "button", class: "danger",
    click: () => act("Ending the rollout…", "The rollout has ended.", () =>
      server.change("DELETE", path)),
  }, "End the rollout");
  return h("section", { class: "card" }, h("h2", null, "Labels and shares"),
    h("p", { class: "quiet" }, "Clients can ask for a version by its label. Requests that name no "
      + "version are divided by the shares, which are 100 % together; without a share a label gets "
      + "none of them."),
    rows, h("div", { class: "row" },
      h("button", { type: "button", click: () => add() }, "Add a label"), save, end));
}

async function rolloutOf(model, signal) {
  try {
    return await server.get(server.path("v2", "repository", "models", model, "rollout"), signal);
  } catch (error) {
    if (error instanceof server.Refused && [400, 403, 404].includes(error.status)) return null;
    throw error;
  }
}

export async function managePage({ content, model, signal, session }) {
  const outcome = h("div", { tabindex: "-1" });
  const status = h("div");
  const forms = h("div");
  const mayManage = session.roles.includes("manage") && session.serves_management;
  const refresh = async () => {
    const rollout = await rolloutOf(model, signal);
    if (signal.aborted) return;
    show(status, rollout ? statusCard(rollout)
                         : h("section", { class: "card" }, h("h2", null, "Rollout"),
                             h("p", null, "None: the greatest version that is ready answers.")));
    const act = actor(outcome, refresh);
    if (mayManage) show(forms, loadCard(model, act), rolloutCard(model, rollout, act));
  };
  show(content, outcome, forms, status);
  await refresh();
  if (mayManage || signal.aborted) return;
  show(forms, h("p", { class: "notice calm" }, session.serves_management
    ? "Changes need the role manage."
    : "This server is managed at another address (--admin-port)."));
}
