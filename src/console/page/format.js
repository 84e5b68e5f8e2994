// SPDX-License-Identifier: Apache-2.0
// Numbers, times and sizes as texts.

/** Returns a number with three significant digits, and thousands in groups. */
export function number(value) {
  if (!Number.isFinite(value)) return "–";
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 6 });
}

/** Returns a time that is given in microseconds. */
export function duration(us) {
  if (!(us > 0)) return "–";
  if (us < 1000) return `${number(us)} µs`;
  if (us < 1_000_000) return `${number(us / 1000)} ms`;
  return `${number(us / 1_000_000)} s`;
}

export function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= 1024 && unit + 1 < units.length) {
    count /= 1024;
    ++unit;
  }
  return `${number(count)} ${units[unit]}`;
}

/** Returns the time of the day, of milliseconds since 1970. */
export function clock(ms, withMilliseconds = false) {
  const text = new Date(ms).toTimeString().slice(0, 8);
  return withMilliseconds ? `${text}.${String(Math.floor(ms % 1000)).padStart(3, "0")}` : text;
}

export function shape(dimensions) {
  return `[${dimensions.join(", ")}]`;
}
