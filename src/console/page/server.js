// SPDX-License-Identifier: Apache-2.0
// Requests to the server that has sent this page, and the token of whoever uses it. The token is
// kept for this tab alone (sessionStorage), and goes into the field Authorization only.

const TOKEN = "nereid-token";

/** An answer with another status than 2xx. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export function token() {
  return sessionStorage.getItem(TOKEN) ?? "";
}

export function setToken(text) {
  if (text) sessionStorage.setItem(TOKEN, text);
  else sessionStorage.removeItem(TOKEN);
}

function headersWith(headers) {
  return token() ? { ...headers, Authorization: `Bearer ${token()}` } : { ...headers };
}

async function refusal(reply) {
  const text = await reply.text();
  let message = text;
  try {
    message = JSON.parse(text).error ?? text;
  } catch {
    // Not JSON: the text itself.
  }
  return new Refused(reply.status, String(message || `status ${reply.status}`));
}

/** Sends a request and returns its reply. Throws Refused for an error of the server, and TypeError
    if it cannot be reached. */
export async function send(method, path, { body, headers, signal } = {}) {
  const reply = await fetch(path, {
    method, body, signal, headers: headersWith(headers), cache: "no-cache", redirect: "error",
  });
  if (!reply.ok) throw await refusal(reply);
  return reply;
}

/** Returns the document of a path. */
export async function get(path, signal) {
  return (await send("GET", path, { signal })).json();
}

/** Sends a value as JSON and returns the document of the reply; null if it is empty. */
export async function change(method, path, value) {
  const body = value === undefined ? undefined : JSON.stringify(value);
  const text = await (await send(method, path, { body })).text();
  return text ? JSON.parse(text) : null;
}

/** Returns a path from names, which are encoded. */
export function path(...names) {
  return "/" + names.map(encodeURIComponent).join("/");
}

/** Returns the path of a model, or of one of its versions, below /v2. */
export function modelPath(model, version, ...rest) {
  return path("v2", "models", model, ...(version ? ["versions", version] : []), ...rest);
}

function parseEvent(block) {
  let name = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice(7);
    if (line.startsWith("data: ")) data.push(line.slice(6));
  }
  return { name, data: data.join("\n") };
}

/** Calls `onEvent(name, value)` for each server-sent event of a reply, until it ends. */
export async function readEvents(reply, onEvent) {
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  while (true) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event.data) onEvent(event.name, JSON.parse(event.data));
    }
  }
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Receives server-sent events until `signal` is aborted. Connects again, less and less often, while
    the server cannot be reached. (EventSource cannot send a token.) `onEvent(name, value)` gets each
    event; `onState(true)` is called when events come, `onState(false, text)` when they stop. Ends
    with Refused if the server refuses the caller. */
export async function events(streamPath, signal, onEvent, onState) {
  let wait = 500;
  while (!signal.aborted) {
    let problem = "the server has ended the stream";
    try {
      const reply = await send("GET", streamPath, { signal });
      wait = 500;
      onState(true);
      await readEvents(reply, onEvent);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refused && error.status < 500) throw error;
      problem = error instanceof Refused ? error.message : "the server cannot be reached";
    }
    if (signal.aborted) return;
    onState(false, problem);
    await pause(wait, signal);
    wait = Math.min(wait * 2, 10_000);
  }
}
