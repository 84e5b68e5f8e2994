// SPDX-License-Identifier: Apache-2.0
// A form for a request, made of the model's metadata, and the answer beside it.
import { announce, choice, download, field, h, link, notice, select, show } from "./element.js";
import { answerCards } from "./answer.js";
import { duration, shape as shapeText } from "./format.js";
import { curlLines, fileName, pythonLines, readsFile } from "./snippet.js";
import * as server from "./server.js";
import { needsStream, streamRequest } from "./stream.js";
import * as tensor from "./tensor.js";
import { fetchTrace, flame } from "./trace.js";

/** Returns the ways to give an input, the most likely one first. */
function kindsOf(input) {
  if (input.datatype === "BYTES") return [["text", "Text"], ["file", "File"]];
  const sizes = input.shape;
  const hasChannels = sizes.length >= 3 && [1, 3].some((size) => sizes.slice(-3).includes(size))
    && sizes.slice(-3).filter((size) => size < 0 || size >= 8).length >= 2;
  const isLong = sizes.length <= 3 && (sizes.at(-1) < 0 || sizes.at(-1) >= 256)
    && (tensor.isFloat(input.datatype) || input.datatype === "INT16");
  return [
    hasChannels && ["picture", "Picture"], ["numbers", "Numbers"],
    !hasChannels && sizes.length >= 2 && ["picture", "Picture"], isLong && ["audio", "Recording"],
    ["file", "File (.npy or bytes)"], ["zeros", "Zeros"], ["ones", "Ones"], ["random", "Random"],
  ].filter(Boolean);
}

const ACCEPTED = { picture: "image/*", audio: "audio/*", file: "" };

function pictureOptions(input) {
  const sizes = input.shape.slice(-3);
  const isFirst = sizes.length === 3 && (sizes[0] === 1 || sizes[0] === 3);
  const [height, width] = isFirst ? sizes.slice(1) : sizes;
  const channels = isFirst ? sizes[0] : sizes[2];
  const fixed = (size) => (size > 0 ? size : "");
  const controls = {
    width: h("input", { type: "number", min: 1, max: 8192, value: fixed(width), size: 6 }),
    height: h("input", { type: "number", min: 1, max: 8192, value: fixed(height), size: 6 }),
    channels: select([["rgb", "red, green, blue"], ["bgr", "blue, green, red"], ["gray", "gray"]]),
    layout: select([["chw", "channels first"], ["hwc", "channels last"]]),
    scale: select([["bytes", "0 to 255"], ["unit", "0 to 1"], ["signed", "−1 to 1"],
                   ["imagenet", "ImageNet’s mean and deviation"]]),
  };
  controls.channels.value = channels === 1 || input.shape.length === 2 ? "gray" : "rgb";
  controls.layout.value = isFirst ? "chw" : "hwc";
  controls.scale.value = tensor.isFloat(input.datatype) ? "unit" : "bytes";
  return {
    element: h("div", { class: "row" }, field("Width", controls.width),
      field("Height", controls.height), field("Channels", controls.channels),
      field("Order", controls.layout), field("Values", controls.scale)),
    read: () => ({
      width: Number(controls.width.value), height: Number(controls.height.value),
      channels: controls.channels.value, layout: controls.layout.value,
      scale: controls.scale.value,
    }),
  };
}

/** The controls of one input. `read()` returns {tensor, canvas}, or throws what is wrong. */
function inputControls(input) {
  const kind = select(kindsOf(input));
  const skipped = choice("Leave this input out");
  const shape = h("input", { type: "text", class: "whole", value: tensor.openShape(input.shape),
                             spellcheck: "false" });
  const body = h("div");
  let read = () => null;

  const withShape = (...children) => show(body, children,
    field("Shape", shape, "“?” is the size that the number of values gives"));
  const oneFile = () => {
    const file = h("input", { type: "file", accept: ACCEPTED[kind.value] || null });
    const chosen = () => {
      if (file.files.length === 0) throw new Error("Choose a file.");
      return file.files[0];
    };
    return { file, chosen };
  };
  const makers = {
    numbers() {
      const text = h("textarea", { spellcheck: "false" });
      withShape(field("Numbers", text, "Separated by spaces or commas, or a JSON list"));
      read = async () => ({ tensor: tensor.fromNumbers(input, text.value, shape.value) });
    },
    text() {
      const text = h("textarea");
      withShape(field("Text", text, "With more than one element, one line for each"));
      read = async () => ({ tensor: tensor.fromText(input, text.value, shape.value) });
    },
    file() {
      const { file, chosen } = oneFile();
      withShape(field("File", file));
      read = async () => ({ tensor: await tensor.fromFile(input, chosen(), shape.value) });
    },
    picture() {
      const { file, chosen } = oneFile();
      const options = pictureOptions(input);
      show(body, field("Picture", file), options.element);
      read = async () => tensor.fromPicture(input, chosen(), options.read());
    },
    audio() {
      const { file, chosen } = oneFile();
      const rate = h("input", { type: "number", min: 3000, max: 192000, value: 16000, size: 7 });
      show(body, field("Recording", file), field("Samples per second", rate));
      read = async () => ({ tensor: await tensor.fromAudio(input, chosen(), Number(rate.value)) });
    },
    fill(value) {
      withShape();
      read = async () => ({ tensor: tensor.fromFill(input, value, shape.value) });
    },
  };
  const draw = () => {
    const fills = { zeros: 0, ones: 1, random: "random" };
    if (kind.value in fills) makers.fill(fills[kind.value]);
    else makers[kind.value]();
  };
  kind.addEventListener("change", draw);
  draw();
  return {
    element: h("fieldset", null, h("legend", null, input.name),
      h("p", { class: "quiet" }, `${input.datatype} ${shapeText(input.shape)}`),
      field("Given as", kind), body, skipped.element),
    async read() {
      if (skipped.box.checked) return null;
      try {
        return await read();
      } catch (error) {
        throw new Error(`Input ${input.name}: ${error.message}`);
      }
    },
  };
}

function requestOptions(metadata) {
  const version = select([["", "the server’s choice"], ...metadata.versions]);
  const id = h("input", { type: "text", spellcheck: "false" });
  const classes = h("input", { type: "number", min: 0, max: 1000, value: 0, size: 5 });
  const sequence = h("input", { type: "text", spellcheck: "false" });
  const start = choice("First request of the sequence");
  const end = choice("Last request of the sequence");
  const traced = choice("Trace this request");
  return {
    element: h("details", null, h("summary", null, "Options"),
      h("div", { class: "row" }, field("Version", version), field("Request id", id),
        field("Labels of each output", classes, "0 = the numbers themselves")),
      h("div", { class: "row" }, field("Sequence id", sequence), start.element, end.element)),
    traced,
    read: () => ({
      version: version.value, id: id.value, classes: Number(classes.value),
      sequenceId: sequence.value.trim(), sequenceStart: start.box.checked,
      sequenceEnd: end.box.checked, traced: traced.box.checked,
    }),
  };
}

function membersOf(options, outputs) {
  const parameters = {};
  if (options.sequenceId) {
    const isNumber = /^\d{1,15}$/.test(options.sequenceId);
    parameters.sequence_id = isNumber ? Number(options.sequenceId) : options.sequenceId;
    parameters.sequence_start = options.sequenceStart;
    parameters.sequence_end = options.sequenceEnd;
  }
  return {
    ...(options.id && { id: options.id }),
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(outputs && { outputs }),
  };
}

/** Returns the outputs of the request; null: all of them, as JSON. */
function wantedOutputs(metadata, classes) {
  if (classes > 0) {
    return metadata.outputs.map(({ name }) => ({ name, parameters: { classification: classes } }));
  }
  if (!metadata.outputs.some((output) => tensor.needsBytes(output.datatype))) return null;
  return metadata.outputs.map(({ name, datatype }) =>
    (tensor.needsBytes(datatype) ? { name, parameters: { binary_data: true } } : { name }));
}

function hex(count) {
  return Array.from(crypto.getRandomValues(new Uint8Array(count)), (byte) =>
    byte.toString(16).padStart(2, "0")).join("");
}

function snippets(request) {
  const files = request.tensors.filter((one) => one.raw || one.data.length > 200);
  return h("section", { class: "card" }, h("h2", null, "The same request elsewhere"),
    request.isGuarded && h("p", { class: "quiet" }, "TOKEN is your token, which these lines do not have."),
    h("h3", null, "Shell"), h("pre", { tabindex: "0" }, curlLines(request)),
    readsFile(request.tensors) && h("button", {
      type: "button",
      click: () => download("request.bin", request.encoded.body, "application/octet-stream"),
    }, "Save request.bin"),
    h("h3", null, "Python"), h("pre", { tabindex: "0" }, pythonLines(request)),
    files.filter((one) => one.raw).map((one) => h("button", {
      type: "button",
      click: () => download(fileName(one), one.raw, "application/octet-stream"),
    }, `Save ${fileName(one)}`)));
}

async function makeRequest(model, metadata, inputs, options, session) {
  const given = [];
  for (const input of inputs) {
    const read = await input.read();
    if (read) given.push(read);
  }
  const tensors = given.map((one) => one.tensor);
  const outputs = wantedOutputs(metadata, options.classes);
  const path = server.modelPath(model, options.version, "infer");
  return {
    path, url: location.origin + path, host: location.host, tls: location.protocol === "https:",
    model, version: options.version, tensors, options, isGuarded: session.guarded,
    outputs: outputs ?? metadata.outputs.map(({ name }) => ({ name })),
    encoded: tensor.encodeRequest(tensors, membersOf(options, outputs)),
    canvas: given.find((one) => one.canvas)?.canvas ?? null,
  };
}

async function sendRequest(request, answer, signal) {
  const traceId = request.options.traced ? hex(16) : "";
  const headers = { ...request.encoded.headers };
  if (traceId) headers.traceparent = `00-${traceId}-${hex(8)}-01`;
  const begin = performance.now();
  const reply = await server.send("POST", request.path, { body: request.encoded.body, headers, signal });
  const { document, outputs } = await tensor.decodeReply(reply);
  const took = duration((performance.now() - begin) * 1000);
  const trace = h("div");
  show(answer, h("section", { class: "card" }, h("h2", null, "Answer"),
    h("p", null, `${document.model_name}, version ${document.model_version}: ${took} for the whole `
      + "way from this page and back."), answerCards(outputs, request.canvas)),
    trace, snippets(request));
  announce(`The answer has come after ${took}.`);
  if (!traceId) return;
  try {
    show(trace, flame(await fetchTrace(traceId, signal)),
      h("p", null, link(["traces", traceId], "This trace on a page of its own")));
  } catch (error) {
    show(trace, notice(`The trace cannot be shown: ${error.message}`));
  }
}

export async function tryPage({ content, model, signal, session }) {
  if (!session.roles.some((role) => role === "infer" || role === "manage")) {
    show(content, h("p", { class: "notice calm" }, "Requests to models need the role infer or manage."));
    return;
  }
  let metadata;
  try {
    metadata = await server.get(server.modelPath(model, ""), signal);
  } catch (error) {
    if (!(error instanceof server.Refused) || error.status === 401) throw error;
    show(content, notice(error.message));
    return;
  }
  const inputs = metadata.inputs.map(inputControls);
  const options = requestOptions(metadata);
  const answer = h("div", { "aria-busy": "false" });
  const button = h("button", { class: "main" }, "Send");
  const form = h("form", {
    class: "card",
    submit: async (event) => {
      event.preventDefault();
      button.disabled = true;
      answer.setAttribute("aria-busy", "true");
      let request = null;
      try {
        request = await makeRequest(model, metadata, inputs, options.read(), session);
        try {
          await sendRequest(request, answer, signal);
        } catch (error) {
          if (!needsStream(error)) throw error;
          await streamRequest(request, answer, signal);
        }
      } catch (error) {
        const isStream = answer.querySelector("[role=log]") !== null;
        if (!signal.aborted && isStream) answer.prepend(notice(error.message));
        else if (!signal.aborted) show(answer, notice(error.message), request && snippets(request));
      }
      answer.setAttribute("aria-busy", "false");
      button.disabled = false;
    },
  },
    h("h2", null, "Request"), inputs.map((one) => one.element), options.element,
    session.roles.some((role) => role !== "infer") && options.traced.element,
    h("div", { class: "row" }, button));
  if (signal.aborted) return;
  show(content, h("div", { class: "columns" }, form, answer));
}
