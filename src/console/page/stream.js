// SPDX-License-Identifier: Apache-2.0
// Requests to decoupled models, which send any number of answers: the route generate_stream.
import { announce, h, show } from "./element.js";
import { pythonQuote, shellQuote } from "./snippet.js";
import * as server from "./server.js";
import { jsonOf } from "./tensor.js";

/** Returns whether an error of the route infer says that the model needs a stream. */
export function needsStream(error) {
  return error instanceof server.Refused && /decoupled/.test(error.message);
}

/** Returns the body of generate_stream: an object of values and lists. */
function bodyOf(tensors) {
  const raw = tensors.find((one) => one.raw);
  if (raw) {
    throw new Error(`The model sends a stream of answers, and input ${raw.name} has bytes: such `
      + "requests need gRPC. Give numbers or text here.");
  }
  const members = tensors.map((one) => {
    const values = one.data.map(jsonOf);
    const text = values.length === 1 ? values[0] : `[${values.join(",")}]`;
    return `${JSON.stringify(one.name)}:${text}`;
  });
  return `{${members.join(",")}}`;
}

function lines(url, body, isGuarded) {
  const token = isGuarded ? ' \\\n  -H "Authorization: Bearer $TOKEN"' : "";
  const headers = isGuarded ? ', headers={"Authorization": "Bearer " + TOKEN}' : "";
  return {
    shell: `curl -N ${shellQuote(url)}${token} \\\n  -d ${shellQuote(body)}`,
    python: ["import json, urllib.request", "",
      `request = urllib.request.Request(${pythonQuote(url)}, ${pythonQuote(body)}.encode()${headers})`,
      "for line in urllib.request.urlopen(request):",
      '    if line.startswith(b"data: "):', "        print(json.loads(line[6:]))"].join("\n"),
  };
}

/** Sends the request and shows each answer as it comes. */
export async function streamRequest(request, answer, signal) {
  const body = bodyOf(request.tensors);
  const path = server.modelPath(request.model, request.version, "generate_stream");
  const list = h("div", { class: "lines short", role: "log", tabindex: "0", "aria-label": "Answers" });
  const count = h("p", { class: "quiet", role: "status" }, "Waiting for the first answer…");
  const { shell, python } = lines(location.origin + path, body, request.isGuarded);
  show(answer, h("section", { class: "card" }, h("h2", null, "Answers"), count, list),
    h("section", { class: "card" }, h("h2", null, "The same request elsewhere"),
      h("h3", null, "Shell"), h("pre", { tabindex: "0" }, shell),
      h("h3", null, "Python"), h("pre", { tabindex: "0" }, python)));
  const reply = await server.send("POST", path, { body, signal });
  let received = 0;
  await server.readEvents(reply, (_, value) => {
    ++received;
    list.append(h("div", null, JSON.stringify(value)));
    list.scrollTop = list.scrollHeight;
    count.textContent = `${received} answers so far`;
  });
  count.textContent = `${received} answers; the stream has ended.`;
  announce(count.textContent);
}
