// SPDX-License-Identifier: Apache-2.0
// Outputs of models as people look at them: numbers, labels, text, boxes, a picture, a sound.
import { bars, download, field, h, notice, select, show } from "./element.js";
import { number, shape as shapeText } from "./format.js";
import * as tensor from "./tensor.js";

const MAX_VALUES = 2000;
const MAX_LABELS = 10;
const LABEL = /^(-?[\d.eE+-]+|nan|inf):(\d+)(?::(.*))?$/s;

const isText = (output) => output.datatype === "BYTES";
const inner = (output) => output.shape.at(-1) ?? 1;

/** Returns the labels of an output: those of the classification extension, or the places of the
    largest numbers. */
export function labelsOf(output) {
  if (isText(output)) {
    const parsed = output.values.map((value) => LABEL.exec(value));
    if (parsed.length === 0 || parsed.some((one) => one === null)) return null;
    return parsed.map(([, score, index, label]) => ({ label: label ?? `class ${index}`,
                                                      score: Number(score) }));
  }
  if (output.values.length < 2) return null;
  return output.values.map((score, index) => ({ label: `class ${index}`, score: Number(score) }))
    .sort((a, b) => b.score - a.score).slice(0, MAX_LABELS);
}

function labelsView(output) {
  const labels = labelsOf(output);
  const least = Math.min(0, ...labels.map((one) => one.score));
  return bars(labels.map((one) => ({ label: one.label, value: one.score - least,
                                     text: number(one.score) })));
}

function nested(values, shape) {
  if (shape.length <= 1) return values;
  const size = shape.slice(1).reduce((product, one) => product * one, 1);
  return Array.from({ length: shape[0] }, (_, index) =>
    nested(values.slice(index * size, (index + 1) * size), shape.slice(1)));
}

function numbersView(output) {
  const isWhole = output.values.length <= MAX_VALUES;
  const text = isWhole
    ? JSON.stringify(nested(output.values, output.shape), null, 1).replace(/\n\s+(?=[^\s[\]{}])/g, " ")
      .replace(/([^\]\s])\n\s*\]/g, "$1 ]")
    : `${output.values.slice(0, MAX_VALUES).join(", ")}, …`;
  return h("div", null,
    !isWhole && h("p", { class: "quiet" },
                  `The first ${number(MAX_VALUES)} of ${number(output.values.length)} values.`),
    h("pre", { tabindex: "0" }, text),
    h("button", {
      type: "button",
      click: () => download("output.json", JSON.stringify(output), "application/json"),
    }, "Save the values"));
}

function textView(output) {
  return h("div", null, output.values.map((value) => h("pre", { tabindex: "0" }, value)));
}

function canvasOf(width, height, label) {
  const canvas = h("canvas", { class: "picture", role: "img", "aria-label": label });
  canvas.width = width;
  canvas.height = height;
  return canvas;
}

const CORNERS = {
  xyxy: (a, b, c, d) => [a, b, c - a, d - b],
  yxyx: (a, b, c, d) => [b, a, d - b, c - a],
  xywh: (a, b, c, d) => [a, b, c, d],
  cxcywh: (a, b, c, d) => [a - c / 2, b - d / 2, c, d],
};

function drawBoxes(canvas, picture, output, form, least) {
  canvas.width = picture.width;
  canvas.height = picture.height;
  const context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0);
  const size = inner(output);
  const values = output.values.map(Number);
  // Coordinates are parts of the picture, or pixels.
  const areParts = values.every((value, index) => index % size > 3 || Math.abs(value) <= 2);
  const [scaleX, scaleY] = areParts ? [picture.width, picture.height] : [1, 1];
  context.lineWidth = 2;
  context.strokeStyle = "#e6194b";
  context.fillStyle = "#e6194b";
  context.font = "14px sans-serif";
  let drawn = 0;
  for (let at = 0; at + size <= values.length; at += size) {
    const score = size > 4 ? values[at + 4] : 1;
    if (score < least) continue;
    const [x, y, width, height] = CORNERS[form](...values.slice(at, at + 4));
    context.strokeRect(x * scaleX, y * scaleY, width * scaleX, height * scaleY);
    if (size > 4) context.fillText(number(score), x * scaleX + 2, y * scaleY + 14);
    ++drawn;
  }
  return drawn;
}

function boxesView(output, picture) {
  const canvas = canvasOf(picture.width, picture.height, "The picture with the boxes of the output");
  const form = select([["xyxy", "left, top, right, bottom"], ["yxyx", "top, left, bottom, right"],
                       ["xywh", "left, top, width, height"],
                       ["cxcywh", "centre, width, height"]]);
  const least = h("input", { type: "number", step: "any", value: 0.5, size: 6 });
  const count = h("p", { class: "quiet", role: "status" });
  const draw = () => {
    const drawn = drawBoxes(canvas, picture, output, form.value, Number(least.value));
    count.textContent = `${drawn} of ${output.values.length / inner(output)} boxes`;
  };
  form.addEventListener("change", draw);
  least.addEventListener("input", draw);
  draw();
  return h("div", null, h("div", { class: "row" }, field("Order of the numbers", form),
    inner(output) > 4 && field("Least fifth number (score)", least)), count, canvas);
}

/** Returns the sizes {height, width, channels, isFirst} of a picture in a tensor; null if it is
    none. */
function pictureSizes(shape) {
  const sizes = shape.filter((size, index) => !(size === 1 && index < shape.length - 3));
  if (sizes.length === 2) return { height: sizes[0], width: sizes[1], channels: 1, isFirst: true };
  if (sizes.length !== 3) return null;
  const [a, b, c] = sizes;
  if (c === 1 || c === 3) return { height: a, width: b, channels: c, isFirst: false };
  if (a === 1 || a === 3) return { height: b, width: c, channels: a, isFirst: true };
  return null;
}

function pictureView(output) {
  const { height, width, channels, isFirst } = pictureSizes(output.shape);
  const canvas = canvasOf(width, height, `The output as a picture of ${width} × ${height} pixels`);
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const values = output.values.map(Number);
  const least = values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const plane = width * height;
  for (let pixel = 0; pixel < plane; ++pixel) {
    for (let channel = 0; channel < 3; ++channel) {
      const from = Math.min(channel, channels - 1);
      const value = values[isFirst ? from * plane + pixel : pixel * channels + from];
      image.data[4 * pixel + channel] = (255 * (value - least)) / (most - least || 1);
    }
    image.data[4 * pixel + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return h("div", null, canvas, h("p", { class: "quiet" },
    `${number(least)} is black, ${number(most)} is white.`));
}

function wavOf(samples, rate) {
  const bytes = new DataView(new ArrayBuffer(44 + 2 * samples.length));
  const word = (at, text) => [...text].forEach((one, index) =>
    bytes.setUint8(at + index, one.charCodeAt(0)));
  word(0, "RIFF");
  bytes.setUint32(4, 36 + 2 * samples.length, true);
  word(8, "WAVEfmt ");
  bytes.setUint32(16, 16, true);
  bytes.setUint16(20, 1, true);
  bytes.setUint16(22, 1, true);
  bytes.setUint32(24, rate, true);
  bytes.setUint32(28, 2 * rate, true);
  bytes.setUint16(32, 2, true);
  bytes.setUint16(34, 16, true);
  word(36, "data");
  bytes.setUint32(40, 2 * samples.length, true);
  samples.forEach((value, index) =>
    bytes.setInt16(44 + 2 * index, Math.max(-1, Math.min(1, value)) * 32767, true));
  return new Blob([bytes], { type: "audio/wav" });
}

function waveView(output) {
  const values = output.values.map(Number);
  const most = values.reduce((peak, value) => Math.max(peak, Math.abs(value)), 0) || 1;
  const samples = values.map((value) => (output.datatype === "INT16" ? value / 32768
    : most > 1 ? value / most : value));
  const canvas = canvasOf(600, 120, `Waveform of ${number(values.length)} samples, peak ${number(most)}`);
  const context = canvas.getContext("2d");
  context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--accent");
  context.beginPath();
  for (let x = 0; x < 600; ++x) {
    const from = Math.floor((x * samples.length) / 600);
    const part = samples.slice(from, Math.max(from + 1, Math.floor(((x + 1) * samples.length) / 600)));
    context.moveTo(x, 60 - 58 * Math.max(...part));
    context.lineTo(x, 61 - 58 * Math.min(...part));
  }
  context.stroke();
  const rate = h("input", { type: "number", min: 3000, max: 192000, value: 16000, size: 7 });
  const player = h("audio", { controls: true });
  let url = "";
  const set = () => {
    if (url) URL.revokeObjectURL(url);
    url = URL.createObjectURL(wavOf(samples, Number(rate.value)));
    player.src = url;
  };
  rate.addEventListener("change", set);
  set();
  return h("div", null, canvas, field("Samples per second", rate), player);
}

/** The views of an output that make sense for it, the most likely one first. */
export function viewsOf(output, picture) {
  if (isText(output)) {
    return labelsOf(output) ? [["labels", "Labels"], ["text", "Text"]] : [["text", "Text"]];
  }
  const size = inner(output);
  const count = output.values.length;
  const sizes = pictureSizes(output.shape);
  const isPicture = sizes !== null && sizes.width >= 8 && sizes.height >= 8;
  const isBoxes = picture && size >= 4 && size <= 7 && output.shape.length >= 2;
  const isWave = ["FP32", "FP16", "BF16", "FP64", "INT16"].includes(output.datatype)
    && count >= 256 && size >= 256;
  const isScores = tensor.isFloat(output.datatype) && count === size && count >= 5 && count <= 20_000;
  const isLong = count >= 4000;
  return [
    isBoxes && ["boxes", "Boxes in the picture"], isPicture && ["picture", "Picture"],
    isWave && isLong && ["wave", "Waveform"], isScores && !isLong && ["labels", "Largest values"],
    ["numbers", "Numbers"],
    isScores && isLong && ["labels", "Largest values"], isWave && !isLong && ["wave", "Waveform"],
  ].filter(Boolean);
}

const VIEWS = {
  labels: labelsView, text: textView, numbers: numbersView, boxes: boxesView, picture: pictureView,
  wave: waveView,
};

function outputCard(output, picture) {
  const views = viewsOf(output, picture);
  const kind = select(views);
  const body = h("div");
  const draw = () => {
    try {
      show(body, VIEWS[kind.value](output, picture));
    } catch (error) {
      show(body, notice(`This view cannot show the output: ${error.message}`));
    }
  };
  kind.addEventListener("change", draw);
  draw();
  return h("section", { class: "card" }, h("h3", null, output.name),
    h("p", { class: "quiet" }, `${output.datatype} ${shapeText(output.shape)}`),
    views.length > 1 && field("Shown as", kind), body);
}

/** Shows the outputs of an answer. `picture` is that of the request, or null. */
export function answerCards(outputs, picture) {
  return outputs.map((output) => outputCard(output, picture));
}
