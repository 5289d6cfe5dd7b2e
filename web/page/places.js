// SPDX-License-Identifier: Apache-2.0
// Sliders have places 0 .. last; these are the values at the places, ascending, their own among them.

export const spaced = (low, high, perDecade, own) => {
  const values = [];
  for (let i = Math.round(Math.log10(low) * perDecade); i <= Math.log10(high) * perDecade + 1e-9; ++i) {
    values.push(Number((10 ** (i / perDecade)).toPrecision(3)));
  }
  if (!values.includes(own)) values.push(own);
  return values.sort((a, b) => a - b);
};
export const whole = (low, high, own) => {
  const values = new Set([own, low, high]);
  for (let octave = 1; octave <= high; octave *= 2) {
    for (const step of [1, 1.25, 1.5, 1.75]) {
      const value = Math.round(octave * step);
      if (value >= low && value <= high) values.add(value);
    }
  }
  return [...values].sort((a, b) => a - b);
};

// In MiB.
export function bucketPlaces(own) {
  const values = new Set([own]);
  for (let size = 1; size <= 1024; size *= 2) values.add(size).add(size * 1.5);
  return [...values].filter((size) => size <= 1024 || size === own).sort((a, b) => a - b);
}
