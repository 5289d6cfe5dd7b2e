// SPDX-License-Identifier: Apache-2.0
// Speedup curves of strategies: colours of Okabe and Ito, which colour-blind people tell apart, and
// dashes for those who see none.
import uPlot from 'uplot';
import { number, ratio, count } from './format.js';

const light = ['#0072b2', '#d55e00', '#007a5a', '#b3558a', '#8a6d00', '#1f1f1f'];
const dark = ['#56b4e9', '#ff9a4d', '#2cc39a', '#e59ac4', '#f0e442', '#ffffff'];
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 5], [1, 4]];
const most = 5;
const drawn = new WeakMap();

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// By its place in the table, so that a strategy looks the same in every chart; the reader's own is the last one.
const lookOf = (place, palette) => ({ stroke: palette[place % palette.length], dash: dashes[(place + Math.floor(place / palette.length)) % dashes.length] });

// Of an answer, which leaves out what a job of that size cannot have. The reader's own is its last plan.
function speedupOf({ plans }, label, own) {
  const plan = label === null ? plans.at(-1) : (own ? plans.slice(1, -1) : plans.slice(1)).find((each) => each.label === label);
  return plan?.against_remedy.speedup ?? null;
}

// The strategies that do best somewhere on the axis, in the order of the table; the reader's own last.
function chosen(points, plans, own) {
  const listed = plans.slice(1).map((label, place) => ({ label, place, speedups: points.map(({ answer }) => speedupOf(answer, label, own)) }));
  const peak = ({ speedups }) => Math.max(...speedups.map((speedup) => speedup ?? 0));
  const best = [...listed].sort((a, b) => peak(b) - peak(a)).slice(0, most);
  const kept = listed.filter((plan) => best.includes(plan));
  if (own) kept.push({ label: `${own} (yours)`, place: listed.length, speedups: points.map(({ answer }) => speedupOf(answer, null, own)) });
  return { kept, left: listed.length - best.length, all: listed.length };
}

// uPlot's own markers are boxes, which show no dashes.
function drawLegendLines(root, looks) {
  const svg = 'http://www.w3.org/2000/svg';
  root.querySelectorAll('.u-legend .u-series .u-marker').forEach((marker, i, all) => {
    const look = looks[i - (all.length - looks.length)];
    if (!look) return;
    const line = document.createElementNS(svg, 'line');
    Object.entries({ x1: 0, y1: 5, x2: 32, y2: 5, stroke: look.stroke, 'stroke-width': 2.25, 'stroke-dasharray': look.dash.join(' ') }).forEach(([name, value]) => line.setAttribute(name, value));
    const picture = document.createElementNS(svg, 'svg');
    Object.entries({ width: 32, height: 10, 'aria-hidden': 'true' }).forEach(([name, value]) => picture.setAttribute(name, value));
    picture.append(line);
    marker.replaceChildren(picture);
  });
}

// A line at 1, and one where the sliders are.
function marks(here) {
  return { hooks: { drawAxes: (u) => {
    const { ctx } = u;
    ctx.save();
    ctx.strokeStyle = colour('--muted');
    ctx.lineWidth = 1.5 * devicePixelRatio;
    const line = (x0, y0, x1, y1, dash) => { ctx.setLineDash(dash.map((d) => d * devicePixelRatio)); ctx.beginPath(); ctx.moveTo(x0, y0); ctx.lineTo(x1, y1); ctx.stroke(); };
    const { left, top, width, height } = u.bbox;
    const one = u.valToPos(1, 'y', true);
    if (one >= top && one <= top + height) line(left, one, left + width, one, []);
    const at = here > 0 ? u.valToPos(here, 'x', true) : NaN;
    if (at >= left && at <= left + width) line(at, top, at, top + height, [3, 4]);
    ctx.restore();
  } } };
}

export function drawCurves(place, points, { unit, here, plans, own, none }) {
  const usable = points.filter(({ answer }) => !answer.problems.length && answer.plans.length > 1);
  drawn.get(place)?.destroy();
  drawn.delete(place);
  place.replaceChildren();
  if (usable.length < 2) {
    place.append(Object.assign(document.createElement('p'), { className: 'muted', textContent: none }));
    return;
  }
  const palette = matchMedia('(prefers-color-scheme: dark)').matches ? dark : light;
  const { kept, left, all } = chosen(usable, plans, own);
  const values = kept.map(({ speedups }) => speedups);
  const looks = kept.map((plan) => lookOf(plan.place, palette));
  const axis = { stroke: colour('--ink'), grid: { stroke: colour('--line'), width: 1 }, ticks: { stroke: colour('--line'), width: 1 } };
  const options = {
    width: place.clientWidth, height: 300, plugins: [marks(here)], cursor: { drag: { x: false, y: false } },
    scales: { x: { time: false, distr: 3, range: [usable[0].x, usable.at(-1).x] }, y: { range: (u, low, high) => [Math.min(low, 0.9) * 0.98, Math.max(high, 1.1) * 1.02] } },
    axes: [{ ...axis, label: unit === 'GPUs' ? 'GPUs' : `bandwidth [${unit}]`, values: (u, ticks) => ticks.map((tick) => (tick === null ? '' : unit === 'GPUs' ? count(tick) : number(tick))) },
      { ...axis, label: 'speedup', size: 56 }],
    series: [{ label: unit, value: (u, x) => (x === null ? '' : number(x)) }, ...kept.map(({ label }, i) => ({
      label, ...looks[i], width: 2.25, points: { show: false },
      value: (u, y) => (y === null ? '' : ratio(y)) }))],
  };
  const chart = new uPlot(options, [usable.map(({ x }) => x), ...values], place);
  chart.root.setAttribute('role', 'img');
  drawLegendLines(chart.root, looks);
  if (left > 0) {
    place.append(Object.assign(document.createElement('p'), { className: 'muted', textContent: `Drawn: the ${all - left} of ${all} strategies that do best somewhere on this axis${own ? ', and yours' : ''}.` }));
  }
  const last = usable.length - 1;
  chart.root.setAttribute('aria-label', kept.map(({ label }, i) => `${label}: ${ratio(values[i][0] ?? 0)} at ${number(usable[0].x)}, ${ratio(values[i][last] ?? 0)} at ${number(usable[last].x)} ${unit}`).join('; '));
  drawn.set(place, chart);
}

addEventListener('resize', () => {
  for (const place of document.querySelectorAll('.chart')) {
    drawn.get(place)?.setSize({ width: place.clientWidth, height: 300 });
  }
});
