// SPDX-License-Identifier: Apache-2.0
// The prediction that the page was written with: no model runs for any of this.
import { breakable, bytes, rate, time, number, ratio, milliseconds, count } from './format.js';

const intervals = (set, show) => {
  if (!set) return 'no such axis here';
  const list = set.pays ?? [];
  if (!list.length) return 'never';
  return list.map(({ low, high, open_low: openLow, open_high: openHigh }) => {
    if (openLow && openHigh) return 'always';
    if (openLow) return `up to ${show(high)}`;
    if (openHigh) return `from ${show(low)}`;
    return `${show(low)} to ${show(high)}`;
  }).join(', ');
};

const possible = (even) => (even.gpus?.pays?.length && even.most_gpus ? ` (possible up to ${count(even.most_gpus)})` : '');

function head(element, names) {
  return element('thead', {}, element('tr', {}, ...names.map(([name, kind]) => element('th', { scope: 'col', className: kind ?? '', textContent: name }))));
}

export function showPrediction(data, { element, byId, stack, classOf }) {
  const { result } = data;
  byId('version').textContent = result.tool.version;
  byId('title').textContent = `${result.experiment.name}: does compression pay?`;
  document.title = `${result.experiment.name} · payoff`;
  byId('headline').textContent = result.headline;
  byId('verdict').textContent = result.verdict.text;
  byId('verdict').classList.add(classOf(result.verdict.word));
  const longest = Math.max(...result.plans.map((plan) => plan.step_seconds));
  const speed = (comparison) => element('td', { className: 'n', textContent: ratio(comparison.speedup) }, element('span', { className: 'range', textContent: `${ratio(comparison.speedup_low)} to ${ratio(comparison.speedup_high)}` }));
  byId('predicted').append(element('caption', { textContent: 'As predicted' }),
    head(element, [['Strategy'], ['Where the step goes', 'bar'], ['Step [ms]', 'n'], ['× as given', 'n'], ['× best remedy', 'n'], ['Fits'], ['Verdict']]),
    element('tbody', {}, ...result.plans.map((plan, i) => {
      const step = element('td', { className: 'n', textContent: milliseconds(plan.step_seconds) }, element('span', { className: 'range', textContent: `${milliseconds(plan.step_low_seconds)} to ${milliseconds(plan.step_high_seconds)}` }));
      return element('tr', {}, element('th', { scope: 'row', textContent: i === 0 ? 'uncompressed' : breakable(plan.label) }), element('td', { className: 'bar' }, stack(plan, longest)), step,
        i === 0 ? element('td', { className: 'n', textContent: '1.00' }) : speed(plan.against_uncompressed), speed(plan.against_remedy),
        element('td', { textContent: plan.memory.fits ? 'yes' : 'no' }), element('td', { className: classOf(plan.verdict), textContent: plan.verdict ?? '' }));
    })));
  byId('even').append(element('caption', { textContent: 'Break-evens' }),
    head(element, [['Strategy'], ['Bandwidth of a NIC'], ['Encode + decode (now)'], ['Wire ratio (now)'], ['GPUs']]),
    element('tbody', {}, ...result.plans.filter((plan) => plan.break_even).map((plan) => {
      const even = plan.break_even;
      const texts = [intervals(even.bandwidth_bytes_per_second, rate), `${intervals(even.codec_seconds, time)} (${time(even.codec_now_seconds)})`,
        `${intervals(even.wire_ratio, number)} (${number(even.wire_ratio_now)})`, intervals(even.gpus, count) + possible(even)];
      return element('tr', {}, element('th', { scope: 'row', textContent: breakable(plan.label) }), ...texts.map((textContent) => element('td', { textContent })));
    })));
  showTrust({ text: data.trust, trust: result.trust }, element, byId('trust'));
  byId('yaml').textContent = result.experiment.yaml;
  byId('files').append(element('caption', { textContent: 'Files' }), head(element, [['File'], ['SHA-256']]),
    element('tbody', {}, ...result.profiles.map(({ file, sha256 }) => element('tr', {}, element('th', { scope: 'row', textContent: file }), element('td', {}, element('code', { textContent: sha256.slice(0, 16) }))))));
  byId('provenance').textContent = `payoff ${result.tool.version}; ${result.draws} draws, seed ${result.seed}; written by \`${result.command_line}\`; experiment ${result.experiment.sha256.slice(0, 16)}.`;
}

function showTrust({ text, trust: { assumed, extrapolated } }, element, place) {
  place.append(element('p', { textContent: text || 'Every number was measured or published, and every price lies within what was measured.' }));
  const list = (title, lines) => lines.length && place.append(element('details', {}, element('summary', { textContent: title }),
    element('ul', {}, ...lines.map((textContent) => element('li', {}, element('code', { textContent }))))));
  list(`The ${assumed.length} numbers that are assumed`, assumed);
  list(`The ${extrapolated.length} kinds of messages beyond what was measured`, extrapolated.map((use) => `${use.plan}: ${use.message}, ${use.collective}, ${bytes(use.smallest_bytes)} to ${bytes(use.largest_bytes)}`));
}
