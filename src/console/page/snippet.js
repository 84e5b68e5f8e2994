// SPDX-License-Identifier: Apache-2.0
// The lines for a shell and for Python that send the same request as the form. Names come from the
// server and may contain anything: they are quoted for the language that they stand in.
import { needsBytes } from "./tensor.js";

const NUMPY = {
  BOOL: "np.bool_", UINT8: "np.uint8", UINT16: "np.uint16", UINT32: "np.uint32",
  UINT64: "np.uint64", INT8: "np.int8", INT16: "np.int16", INT32: "np.int32", INT64: "np.int64",
  FP16: "np.float16", FP32: "np.float32", FP64: "np.float64",
};

/** Values in a line; larger tensors are read from files. */
const MAX_SHOWN = 200;

/** Returns a text in single quotes for a POSIX shell. */
export function shellQuote(text) {
  return `'${String(text).replaceAll("'", "'\\''")}'`;
}

/** Returns a text as a literal of Python. JSON's escapes are also Python's. */
export function pythonQuote(text) {
  return JSON.stringify(String(text)).replace(/[\u007f-\u009f\u2028\u2029]/g, (character) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Returns the name of a file for a tensor's bytes. */
export function fileName(tensor) {
  return `${tensor.name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 60) || "input"}.bin`;
}

/** Returns whether curl's line reads the body from a file. */
export function readsFile(tensors) {
  return tensors.some((one) => one.raw || one.data.length > MAX_SHOWN);
}

/** `request` is {url, tensors, encoded, isGuarded}. */
export function curlLines({ url, tensors, encoded, isGuarded }) {
  const lines = [`curl ${shellQuote(url)}`];
  if (isGuarded) lines.push('-H "Authorization: Bearer $TOKEN"');
  const length = encoded.headers["Inference-Header-Content-Length"];
  if (length) lines.push(`-H 'Inference-Header-Content-Length: ${length}'`);
  lines.push(readsFile(tensors) ? "--data-binary @request.bin" : `-d ${shellQuote(encoded.json)}`);
  return lines.join(" \\\n  ");
}

function pythonValue(value) {
  if (typeof value === "object") return value.integer;
  if (typeof value === "boolean") return value ? "True" : "False";
  return typeof value === "string" ? pythonQuote(value) : String(value);
}

function arrayLine(tensor) {
  const shape = `(${tensor.shape.join(", ")}${tensor.shape.length === 1 ? "," : ""})`;
  const file = pythonQuote(fileName(tensor));
  if (tensor.datatype === "BYTES") {
    return tensor.raw
      ? `np.array([open(${file}, "rb").read()], dtype=object).reshape(${shape})`
      : `np.array([${tensor.data.map(pythonValue).join(", ")}], dtype=object).reshape(${shape})`;
  }
  if (tensor.datatype === "BF16") {
    return `(np.fromfile(${file}, np.uint16).astype(np.uint32) << 16).view(np.float32)`
      + `.reshape(${shape})`;
  }
  const type = NUMPY[tensor.datatype];
  if (tensor.raw || tensor.data.length > MAX_SHOWN) {
    return `np.fromfile(${file}, dtype=${type}).reshape(${shape})`;
  }
  return `np.array([${tensor.data.map(pythonValue).join(", ")}], dtype=${type}).reshape(${shape})`;
}

/** `request` is {host, tls, model, version, tensors, outputs, options, isGuarded}. */
export function pythonLines({ host, tls, model, version, tensors, outputs, options, isGuarded }) {
  const hasBf16 = tensors.some((one) => one.datatype === "BF16");
  const lines = [
    "import numpy as np", "import tritonclient.http as triton",
    ...(hasBf16 ? ["# NumPy has no BF16: tritonclient converts it from float32."] : []), "",
    `client = triton.InferenceServerClient(${pythonQuote(host)}${tls ? ", ssl=True" : ""})`,
    "inputs = []",
  ];
  for (const tensor of tensors) {
    lines.push(`values = ${arrayLine(tensor)}`,
      `inputs.append(triton.InferInput(${pythonQuote(tensor.name)}, list(values.shape), `
        + `${pythonQuote(tensor.datatype)}))`,
      `inputs[-1].set_data_from_numpy(values${needsBytes(tensor.datatype) || tensor.raw ? "" : ", binary_data=False"})`);
  }
  const classes = outputs.filter((one) => one.parameters?.classification);
  const named = [["model_version", version && pythonQuote(version)],
    ["request_id", options.id && pythonQuote(options.id)],
    ["sequence_id", options.sequenceId && Number(options.sequenceId)],
    ["sequence_start", options.sequenceStart && "True"],
    ["sequence_end", options.sequenceEnd && "True"],
    ["outputs", classes.length > 0 && `[${classes.map((one) =>
      `triton.InferRequestedOutput(${pythonQuote(one.name)}, `
      + `class_count=${one.parameters.classification})`).join(", ")}]`],
    ["headers", isGuarded && '{"Authorization": "Bearer " + TOKEN}']]
    .filter(([, value]) => value).map(([name, value]) => `, ${name}=${value}`).join("");
  lines.push(`result = client.infer(${pythonQuote(model)}, inputs${named})`);
  for (const output of outputs) lines.push(`print(result.as_numpy(${pythonQuote(output.name)}))`);
  return lines.join("\n");
}
