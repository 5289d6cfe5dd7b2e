// SPDX-License-Identifier: Apache-2.0
// Numbers for people: three or four digits, and the unit that fits.

export const number = (value) => Number(value.toPrecision(4)).toString();
export const ratio = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(Math.abs(value - 1) < 0.02 ? 3 : 2));
export const milliseconds = (seconds) => { const ms = seconds * 1e3; return ms >= 1000 ? ms.toFixed(0) : ms >= 100 ? ms.toFixed(1) : ms.toPrecision(3); };
const scaled = (value, steps) => {
  const [scale, unit] = steps.find(([size]) => Math.abs(value) >= size) ?? steps.at(-1);
  return `${Number((value / scale).toPrecision(3))}${unit}`;
};
export const count = (value) => (value < 1e5 ? value.toLocaleString('en-US') : scaled(value, [[1e12, ' T'], [1e9, ' B'], [1e6, ' M'], [1e3, ' k']]));
export const bytes = (value) => scaled(value, [[1e12, ' TB'], [1e9, ' GB'], [1e6, ' MB'], [1e3, ' kB'], [1, ' B']]);
export const rate = (value) => scaled(value * 8, [[1e12, ' Tb/s'], [1e9, ' Gb/s'], [1e6, ' Mb/s'], [1, ' b/s']]);
export const time = (value) => scaled(value, [[1, ' s'], [1e-3, ' ms'], [1e-6, ' µs'], [1e-9, ' ns']]);
// A label that may break after its marks, not inside its words.
export const breakable = (label) => label.replace(/([_:,])/g, '$1\u200b');
