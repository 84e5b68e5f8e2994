// SPDX-License-Identifier: Apache-2.0
// The end of the server's log, as it is written.
import { choice, field, h, notice, select, show } from "./element.js";
import { clock } from "./format.js";
import * as server from "./server.js";

const KEPT = 2000;
const LEVEL_CLASS = { warning: "warn", error: "bad", verbose: "quiet" };

function lineElement(line) {
  const about = [line.model && `model ${line.model}`, line.request && `request ${line.request}`]
    .filter(Boolean).join(", ");
  return h("div", { class: LEVEL_CLASS[line.level] },
    `${clock(line.time_ms, true)} ${line.level.toUpperCase().padEnd(7)} `
    + `${line.file}:${line.line} ${about ? `(${about}) ` : ""}${line.message}`);
}

export async function logPage({ content, signal, setConnection }) {
  let lines = [];
  let last = 0;
  const level = select([["", "all"], ["warning", "warnings and errors"], ["error", "errors"]]);
  const words = h("input", { type: "search", spellcheck: "false" });
  const follow = choice("Follow the end", { checked: true });
  const list = h("div", { class: "lines", role: "log", "aria-live": "off", tabindex: "0",
                          "aria-label": "Lines of the log" });
  const count = h("p", { class: "quiet", role: "status" });

  const passes = (line) => {
    if (level.value === "error" && line.level !== "error") return false;
    if (level.value === "warning" && !["warning", "error"].includes(line.level)) return false;
    const text = `${line.file} ${line.model} ${line.request} ${line.message}`.toLowerCase();
    return text.includes(words.value.toLowerCase());
  };
  const draw = () => {
    const found = lines.filter(passes);
    const scrolled = list.scrollTop;
    show(list, found.map(lineElement));
    list.scrollTop = follow.box.checked ? list.scrollHeight : scrolled;
    count.textContent = `${found.length} of the last ${lines.length} lines`;
  };
  const add = (document) => {
    const fresh = document.lines.filter((line) => line.number > last);
    if (fresh.length === 0) return;
    lines = [...lines, ...fresh].slice(-KEPT);
    last = fresh.at(-1).number;
    draw();
  };
  const catchUp = async () => {
    const document = await server.get(`/console/v1/log?after=${last}`, signal);
    if (document.last < last) {
      // The server was started again, and counts from one.
      lines = [];
      last = 0;
      add(await server.get("/console/v1/log", signal));
    } else {
      add(document);
    }
  };

  await catchUp();
  if (signal.aborted) return;
  level.addEventListener("change", draw);
  words.addEventListener("input", draw);
  show(content, h("h1", null, "Log"),
    h("div", { class: "card" },
      h("div", { class: "row" }, field("Level", level), field("Containing", words), follow.element),
      count, list));
  draw();
  let wasLost = false;
  server.events("/console/v1/log/events", signal, async (name, document) => {
    if (name !== "lines") return;
    // A line in between was not sent, because there were too many at once.
    if (document.lines.length > 0 && document.lines[0].number > last + 1) await catchUp();
    add(document);
  }, (works, problem) => {
    setConnection(works, problem);
    if (works && wasLost) catchUp().catch(() => {});
    wasLost = !works;
  }).catch((error) => signal.aborted || content.prepend(notice(error.message)));
}
