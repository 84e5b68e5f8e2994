// SPDX-License-Identifier: Apache-2.0
// Tensors of requests, from numbers, texts, pictures, recordings and files.
//
// A tensor is {name, datatype, shape, data} with values that go into the JSON of the request, or
// {name, datatype, shape, raw} with bytes that go behind it (binary tensor data extension).

const ARRAYS = {
  BOOL: Uint8Array, UINT8: Uint8Array, UINT16: Uint16Array, UINT32: Uint32Array,
  UINT64: BigUint64Array, INT8: Int8Array, INT16: Int16Array, INT32: Int32Array,
  INT64: BigInt64Array, FP16: Uint16Array, BF16: Uint16Array, FP32: Float32Array,
  FP64: Float64Array,
};

export const isFloat = (datatype) => /^(FP|BF)/.test(datatype);
/** These have no form in JSON that every client reads. */
export const needsBytes = (datatype) => datatype === "FP16" || datatype === "BF16";

export function elementCount(shape) {
  return shape.reduce((product, size) => product * size, 1);
}

/** Returns the bits of the nearest number with an 8-bit exponent and a 7-bit fraction. */
function toBf16(value) {
  const bits = new Uint32Array(new Float32Array([value]).buffer)[0];
  if (Number.isNaN(value)) return 0x7fc0;
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

/** Returns the bits of the nearest IEEE 754 half. */
function toFp16(value) {
  const bits = new Uint32Array(new Float32Array([value]).buffer)[0];
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 127;
  const fraction = bits & 0x7fffff;
  if (exponent === 128) return sign | 0x7c00 | (fraction ? 0x200 : 0);
  if (exponent > 15) return sign | 0x7c00;
  if (exponent < -25) return sign;
  // A subnormal has a smaller fraction and no hidden bit.
  const shift = exponent < -14 ? -1 - exponent : 13;
  const whole = exponent < -14 ? fraction | 0x800000 : fraction | ((exponent + 15) << 23);
  const half = whole >>> shift;
  const rest = whole & ((1 << shift) - 1);
  const middle = 1 << (shift - 1);
  return sign | (half + (rest > middle || (rest === middle && (half & 1)) ? 1 : 0));
}

export function fromFp16(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

export function fromBf16(bits) {
  return new Float32Array(new Uint32Array([bits << 16]).buffer)[0];
}

/** Returns numbers as the bytes of a tensor. */
export function rawOf(numbers, datatype) {
  const convert = {
    FP16: toFp16, BF16: toBf16, INT64: (value) => BigInt(Math.round(value)),
    UINT64: (value) => BigInt(Math.round(value)),
  }[datatype];
  const array = ARRAYS[datatype].from(numbers, convert ?? Number);
  return new Uint8Array(array.buffer);
}

/** Returns the values of a tensor from its bytes. */
export function valuesOf(raw, datatype) {
  if (datatype === "BYTES") return textsOf(raw);
  const aligned = raw.slice().buffer;
  const values = Array.from(new ARRAYS[datatype](aligned));
  if (datatype === "FP16") return values.map(fromFp16);
  if (datatype === "BF16") return values.map(fromBf16);
  if (datatype === "BOOL") return values.map(Boolean);
  return values.map((value) => (typeof value === "bigint" ? value.toString() : value));
}

function textsOf(raw) {
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  const texts = [];
  for (let at = 0; at + 4 <= raw.length;) {
    const size = view.getUint32(at, true);
    texts.push(new TextDecoder().decode(raw.subarray(at + 4, at + 4 + size)));
    at += 4 + size;
  }
  return texts;
}

/** Returns elements of the type BYTES, each behind its size. */
function rawOfBytes(elements) {
  const raw = new Uint8Array(elements.reduce((size, one) => size + 4 + one.length, 0));
  const view = new DataView(raw.buffer);
  let at = 0;
  for (const element of elements) {
    view.setUint32(at, element.length, true);
    raw.set(element, at + 4);
    at += 4 + element.length;
  }
  return raw;
}

/** Returns the shape that a text like "1, ?, 16" means for `count` elements. One size may be "?". */
export function readShape(text, count) {
  const sizes = text.split(/[\s,x×[\]]+/).filter(Boolean);
  const known = sizes.map((size) => (size === "?" || size === "-1" ? null : Number(size)));
  if (known.some((size) => size !== null && !(Number.isInteger(size) && size >= 0))) {
    throw new Error(`The shape “${text}” has something else than whole numbers and “?”.`);
  }
  const open = known.filter((size) => size === null).length;
  if (open > 1) throw new Error(`The shape “${text}” has more than one “?”: give their sizes.`);
  const product = elementCount(known.filter((size) => size !== null));
  if (open === 1 && (product === 0 || count % product !== 0)) {
    throw new Error(`${count} values cannot have the shape “${text}”.`);
  }
  const shape = known.map((size) => size ?? count / product);
  if (elementCount(shape) !== count) {
    throw new Error(`The shape ${shape.join(" × ")} has ${elementCount(shape)} elements, but there `
      + `are ${count} values.`);
  }
  return shape;
}

/** Returns the shape of the metadata as a text: the first of several sizes is probably the batch, and
    1 if it is open; other open sizes are "?". */
export function openShape(shape) {
  return shape.map((size, index) =>
    (size >= 0 ? size : index === 0 && shape.length > 1 ? 1 : "?")).join(", ");
}

/** Makes a tensor of numbers as somebody types them: separated, or as a JSON list. */
export function fromNumbers({ name, datatype }, text, shapeText) {
  const words = text.match(/[^\s,;[\]]+/g) ?? [];
  const data = words.map((word) => {
    if (datatype === "BOOL" && /^(true|false|0|1)$/i.test(word)) return /^(true|1)$/i.test(word);
    if (/^[-+]?\d+$/.test(word)) return { integer: word.replace("+", "") };
    const value = Number(word);
    if (Number.isFinite(value)) return value;
    throw new Error(`“${word}” is not a ${datatype === "BOOL" ? "truth value" : "number"}.`);
  });
  const shape = readShape(shapeText, data.length);
  if (!needsBytes(datatype)) return { name, datatype, shape, data };
  const numbers = data.map((value) => (typeof value === "object" ? Number(value.integer) : value));
  return { name, datatype, shape, raw: rawOf(numbers, datatype) };
}

/** Makes a tensor of texts: one if the shape has one element, else one for each line. */
export function fromText({ name, datatype }, text, shapeText) {
  const isOne = /^[\s,[\]1]*$/.test(shapeText);
  const data = isOne ? [text] : text.split("\n");
  return { name, datatype, shape: readShape(shapeText, data.length), data };
}

/** Makes a tensor whose elements all have a value, or are random. A size "?" is 1. */
export function fromFill({ name, datatype }, value, openText) {
  const shapeText = openText.replaceAll("?", "1");
  const sizes = shapeText.split(/[\s,x×[\]]+/).filter(Boolean).map(Number);
  const count = elementCount(sizes);
  if (!(count <= 1e8)) throw new Error(`A tensor of ${count} elements is too large for this page.`);
  const scale = isFloat(datatype) ? 1 : datatype === "BOOL" ? 1.999 : 100;
  const one = value === "random"
    ? () => (isFloat(datatype) ? Math.random() : Math.floor(Math.random() * scale))
    : () => value;
  const shape = readShape(shapeText, count);
  return { name, datatype, shape, raw: rawOf(Array.from({ length: count }, one), datatype) };
}

const NPY_TYPES = {
  "|b1": "BOOL", "|u1": "UINT8", "<u2": "UINT16", "<u4": "UINT32", "<u8": "UINT64", "|i1": "INT8",
  "<i2": "INT16", "<i4": "INT32", "<i8": "INT64", "<f2": "FP16", "<f4": "FP32", "<f8": "FP64",
};

/** Returns the type, the shape and the bytes of a file in NumPy's format; null for another file. */
function readNpy(bytes) {
  const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
  if (!magic.every((byte, index) => bytes[index] === byte)) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const begin = bytes[6] === 1 ? 10 : 12;
  const size = bytes[6] === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  const header = new TextDecoder("latin1").decode(bytes.subarray(begin, begin + size));
  const type = header.match(/'descr':\s*'([^']+)'/)?.[1];
  const shape = header.match(/'shape':\s*\(([^)]*)\)/)?.[1];
  if (!type || shape === undefined || /'fortran_order':\s*True/.test(header)) {
    throw new Error("This .npy file has a form that the console does not read (Fortran order?).");
  }
  return { datatype: NPY_TYPES[type] ?? type, raw: bytes.subarray(begin + size),
           shape: shape.split(",").map((part) => part.trim()).filter(Boolean).map(Number) };
}

/** Makes a tensor of a file: NumPy's format, or the elements as they are in memory; of the type
    BYTES one element with the whole file. */
export async function fromFile({ name, datatype }, file, shapeText) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (datatype === "BYTES") {
    return { name, datatype, shape: readShape(shapeText, 1), raw: rawOfBytes([bytes]) };
  }
  const npy = readNpy(bytes);
  if (npy && npy.datatype !== datatype) {
    throw new Error(`The file has elements of the type ${npy.datatype}, the input ${datatype}.`);
  }
  const raw = npy?.raw ?? bytes;
  const width = ARRAYS[datatype].BYTES_PER_ELEMENT;
  if (raw.length % width !== 0) {
    throw new Error(`The file has ${raw.length} bytes, which is no multiple of ${width}, the size `
      + `of ${datatype}.`);
  }
  const shape = npy ? npy.shape : readShape(shapeText, raw.length / width);
  return { name, datatype, shape, raw };
}

const SCALES = {
  bytes: (value) => value,
  unit: (value) => value / 255,
  signed: (value) => value / 127.5 - 1,
  imagenet: (value, channel) =>
    (value / 255 - [0.485, 0.456, 0.406][channel]) / [0.229, 0.224, 0.225][channel],
};

/** Makes a tensor of a picture. `options` are {width, height, channels: "rgb"|"bgr"|"gray",
    layout: "chw"|"hwc", scale}. Returns it with the canvas that has the picture in its size. */
export async function fromPicture({ name, datatype, shape }, file, options) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    throw new Error(`The file ${file.name} is no picture that this browser reads.`);
  }
  const width = options.width || bitmap.width;
  const height = options.height || bitmap.height;
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillStyle = "#fff";
  context.fillRect(0, 0, width, height);
  context.drawImage(bitmap, 0, 0, width, height);
  const pixels = context.getImageData(0, 0, width, height).data;
  const order = { rgb: [0, 1, 2], bgr: [2, 1, 0], gray: [0] }[options.channels];
  const scale = SCALES[options.scale];
  const numbers = new Float32Array(width * height * order.length);
  const gray = (at) => 0.299 * pixels[at] + 0.587 * pixels[at + 1] + 0.114 * pixels[at + 2];
  for (let pixel = 0; pixel < width * height; ++pixel) {
    order.forEach((channel, index) => {
      const value = options.channels === "gray" ? gray(4 * pixel) : pixels[4 * pixel + channel];
      const to = options.layout === "chw" ? index * width * height + pixel
                                          : pixel * order.length + index;
      numbers[to] = scale(value, channel);
    });
  }
  const inner = options.layout === "chw" ? [order.length, height, width]
                                         : [height, width, order.length];
  const isFlat = options.channels === "gray" && shape.length === 2;
  const sizes = isFlat ? [height, width] : inner;
  const outer = Array(Math.max(0, shape.length - sizes.length)).fill(1);
  const rounded = isFloat(datatype) ? numbers : numbers.map(Math.round);
  return { tensor: { name, datatype, shape: [...outer, ...sizes], raw: rawOf(rounded, datatype) },
           canvas };
}

/** Makes a tensor of a recording: one channel at `rate` samples per second. A fixed last size of the
    shape cuts it, or adds silence. */
export async function fromAudio({ name, datatype, shape }, file, rate) {
  const context = new OfflineAudioContext(1, 1, rate);
  let decoded;
  try {
    decoded = await context.decodeAudioData(await file.arrayBuffer());
  } catch {
    throw new Error(`The file ${file.name} is no recording that this browser reads.`);
  }
  // decodeAudioData has changed the rate to that of the context.
  const mono = new Float32Array(decoded.length);
  for (let channel = 0; channel < decoded.numberOfChannels; ++channel) {
    decoded.getChannelData(channel).forEach((sample, index) => {
      mono[index] += sample / decoded.numberOfChannels;
    });
  }
  const wanted = shape.at(-1) > 0 ? shape.at(-1) : mono.length;
  const samples = new Float32Array(wanted);
  samples.set(mono.subarray(0, wanted));
  const numbers = isFloat(datatype) ? samples : samples.map((value) => Math.round(value * 32767));
  const outer = shape.slice(0, -1).map((size) => (size > 0 ? size : 1));
  return { name, datatype, shape: [...outer, wanted], raw: rawOf(numbers, datatype) };
}

/** Returns a value of a tensor's data as JSON. */
export function jsonOf(value) {
  // Whole numbers keep all their digits, which a JavaScript number has not.
  return typeof value === "object" ? value.integer : JSON.stringify(value);
}

/** Returns the body of an inference request: {json, body, headers}. `rest` has the other members. */
export function encodeRequest(tensors, rest) {
  const inputs = tensors.map((one) => {
    const head = `{"name":${JSON.stringify(one.name)},"shape":${JSON.stringify(one.shape)},`
      + `"datatype":${JSON.stringify(one.datatype)},`;
    return one.raw
      ? `${head}"parameters":{"binary_data_size":${one.raw.length}}}`
      : `${head}"data":[${one.data.map(jsonOf).join(",")}]}`;
  });
  const others = Object.entries(rest).map(([key, value]) => `"${key}":${JSON.stringify(value)}`);
  const json = `{${[...others, `"inputs":[${inputs.join(",")}]`].join(",")}}`;
  const pieces = tensors.filter((one) => one.raw).map((one) => one.raw);
  if (pieces.length === 0) return { json, body: json, headers: { "Content-Type": "application/json" } };
  const head = new TextEncoder().encode(json);
  return { json, body: new Blob([head, ...pieces]),
           headers: { "Content-Type": "application/octet-stream",
                      "Inference-Header-Content-Length": String(head.length) } };
}

/** Returns the outputs of a reply: {document, outputs: [{name, datatype, shape, values}]}. */
export async function decodeReply(reply) {
  const bytes = new Uint8Array(await reply.arrayBuffer());
  const size = Number(reply.headers.get("Inference-Header-Content-Length") ?? bytes.length);
  const text = new TextDecoder().decode(bytes.subarray(0, size));
  // Whole numbers that a JavaScript number cannot hold stay texts, where the browser tells them.
  const document = JSON.parse(text, (key, value, context) =>
    (Number.isInteger(value) && !Number.isSafeInteger(value) && context?.source) || value);
  let at = size;
  const outputs = (document.outputs ?? []).map((output) => {
    const length = output.parameters?.binary_data_size;
    if (length === undefined) return { ...output, values: (output.data ?? []).flat(Infinity) };
    const raw = bytes.subarray(at, at + length);
    at += length;
    return { ...output, values: valuesOf(raw, output.datatype) };
  });
  return { document, outputs };
}
