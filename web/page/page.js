// SPDX-License-Identifier: Apache-2.0
// The report's page: what the program predicted, and sliders that run its model (web/what_if.hpp).
import { knobsText, commandOf, labelOf, parameterOf } from './knobs.js';
import { breakable, count, number, milliseconds, ratio } from './format.js';
import { bucketPlaces, spaced, whole } from './places.js';
import { drawCurves } from './curves.js';
import { showPrediction } from './prediction.js';

const data = JSON.parse(document.getElementById('data').textContent);
const byId = (id) => document.getElementById(id);
const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

const parts = [
  ['compute', 'compute', ['forward', 'recompute', 'backward', 'interference', 'bucket_copy', 'optimizer', 'host']],
  ['codec', 'encode and decode', ['encode', 'decode']],
  ['exposed', 'exposed communication', ['exposed_tp', 'exposed_cp', 'exposed_ep', 'exposed_pp', 'exposed_dp']],
  ['idle', 'pipeline bubble', ['bubble']],
];
const partOf = (plan, names) => names.reduce((sum, name) => sum + plan.waterfall[`${name}_seconds`], 0);
const classOf = (verdict) => (verdict === 'pays' ? 'pays' : verdict === 'does not' || verdict === 'does not fit' ? 'loses' : 'even');

const { base, choices } = data;
// Gains and losses within it are no difference (study/comparison.hpp).
const least = 1 + data.result.band_ratio;
const gigabit = 1e9 / 8;
const mebibyte = 1024 * 1024;
// 0 where kinds of nodes differ in it: a place of the slider that leaves every NIC as it is.
const ownNic = (base.nic_bytes_per_second ?? 0) / gigabit;
const nicText = (value) => (value > 0 ? `${number(value)} Gb/s` : `${base.nics_bytes_per_second.map((rate) => number(rate / gigabit)).join(' and ')} Gb/s`);
const noMoreNodes = 'The nodes are of several kinds, and nobody says of which one more would be.';
// The strategy of the experiment that does best among those that were given a parameter.
const startMethod = () => {
  const offered = (plan) => choices.methods.findIndex((method) => method.name === plan.label.split(':')[0] && plan.label.includes('='));
  const best = data.result.plans.slice(1).filter((plan) => offered(plan) >= 0)
    .sort((a, b) => b.against_remedy.speedup - a.against_remedy.speedup)[0];
  if (!best) return { method: 0, values: {} };
  const written = best.label.split(':')[1] ?? '';
  return { method: offered(best), values: Object.fromEntries(written.split(',').map((part) => part.split('='))) };
};

let sliders = [];
const state = {};
const start = startMethod();
const ownModel = choices.models.findIndex((model) => model.profile === data.command.model);

function model() {
  const answer = (name, types, values) => module.ccall(name, 'string', types, values);
  let module;
  return {
    async load() {
      module = await payoffModel();
      const offered = answer('payoff_load', ['string', 'number'], [data.stored, data.most_gpus]);
      if (!offered) throw new Error('This page and its data are of different versions.');
      return JSON.parse(offered);
    },
    ask: (knobs) => JSON.parse(answer('payoff_answer', ['string'], [knobsText(knobs)])),
  };
}
const engine = model();

function slider(key, label, values, initial, show, note) {
  const input = element('input', { type: 'range', id: key, name: key, min: 0, max: values.length - 1, step: 1, value: Math.max(0, values.indexOf(initial)) });
  const output = element('output', { htmlFor: key });
  const row = element('div', { className: 'knob' }, element('label', { htmlFor: key }, element('span', { textContent: label }), output), input);
  if (note) row.append(element('small', { textContent: note }));
  const entry = { key, row, input, initial, set(value) { input.value = Math.max(0, values.indexOf(value)); read(); } };
  const read = () => {
    state[key] = values[Number(input.value)];
    output.textContent = show(state[key]);
    input.setAttribute('aria-valuetext', output.textContent);
    input.dataset.value = state[key];
  };
  input.addEventListener('input', () => { read(); moved(); });
  input.disabled = values.length < 2;
  read();
  return entry;
}

function parameterSliders(method, values) {
  const place = byId('parameters');
  place.replaceChildren();
  state.parameters = [];
  method.parameters.forEach((parameter, i) => {
    const given = parameterOf(values[parameter.name] ?? parameter.value);
    const low = Math.max(parameter.min, parameter.integer ? 1 : Math.min(given, 1e-4));
    const high = Math.min(parameter.max, Math.max(given * 64, low * 64));
    const steps = parameter.integer ? whole(parameter.min > 0 ? parameter.min : Math.min(low, given), high, given) : spaced(low, high, 12, given);
    const key = `parameter-${i}`;
    const entry = slider(key, parameter.name, steps, given, number);
    const set = () => { state.parameters[i] = state[key]; };
    set();
    entry.input.addEventListener('input', set);  // after the slider's own, which reads its place
    place.append(entry.row);
  });
}

function buildSliders(offered) {
  const gpus = (dp) => `${count(dp * base.ranks_of_replica)}`;
  sliders = [
    slider('dp', 'GPUs', offered, base.dp, gpus, base.is_mixed ? `${noMoreNodes} payoff sweep --over cluster.node_kinds.0.nodes=... adds some.` : 'replicas are added; the batch of each stays'),
    slider('nic', 'Bandwidth of a NIC', spaced(1, 1600, 16, ownNic), ownNic, nicText, base.is_mixed ? `the same in every node${ownNic ? '' : '; at the first place each kind has its own'}` : ''),
    slider('bucket', 'Bucket size', bucketPlaces(base.bucket_bytes / mebibyte), base.bucket_bytes / mebibyte, (value) => `${number(value)} MiB`),
  ];
  if (choices.models.length > 1 && ownModel >= 0) {
    const places = choices.models.map((_, i) => i);
    sliders.splice(1, 0, slider('model', 'Model', places, ownModel, (i) => `${choices.models[i].profile}, ${count(choices.models[i].parameters)}`, 'models of the library of this kind, by parameters'));
  }
  const select = element('select', { id: 'method', name: 'method' });
  choices.methods.forEach((method, i) => select.append(element('option', { value: i, textContent: method.name })));
  const note = element('small');
  const chosen = (values) => {
    state.method = Number(select.value);
    note.textContent = choices.methods[state.method].description;
    parameterSliders(choices.methods[state.method], values);
  };
  select.addEventListener('input', () => { chosen({}); moved(); });
  // What the experiment may say of codec_speed, as so many times its own.
  const speeds = spaced(0.1, 100, 8, 1).filter((value) => value === 1 || (value * base.codec_speed >= 1e-3 && value * base.codec_speed <= 1e3));
  const speed = slider('codec_speed', 'Encode and decode speed', speeds, 1, (value) => `${number(value)} ×`, 'of all strategies');
  const place = byId('sliders');
  place.append(...sliders.map((entry) => entry.row));
  if (choices.methods.length) {
    place.append(element('div', { className: 'knob' }, element('label', { htmlFor: 'method' }, element('span', { textContent: 'Your strategy' })), select, note), element('div', { id: 'parameters' }));
    const reset = () => { select.value = start.method; chosen(start.values); };
    sliders.push({ initial: 0, set: reset });
    reset();
  }
  place.append(speed.row);
  sliders.push(speed);
  byId('reset').addEventListener('click', () => { sliders.forEach((entry) => entry.set(entry.initial)); moved(); });
}

const knobs = (extra = {}) => ({
  dp: state.dp, nic: state.nic * gigabit, bucket: state.bucket * mebibyte,
  model: state.model === undefined || state.model === ownModel ? null : state.model,
  method: choices.methods.length ? state.method : null, parameters: state.parameters ?? [],
  codec_speed: state.codec_speed, draws: 0, ...extra,
});

function stack(plan, longest) {
  const bar = element('div', { className: 'stack', role: 'img' });
  const words = [];
  for (const [kind, label, names] of parts) {
    const time = partOf(plan, names);
    if (time <= 0) continue;
    const piece = element('i', { className: kind, title: `${label}: ${milliseconds(time)} ms` });
    piece.style.width = `${(100 * time) / longest}%`;
    bar.append(piece);
    words.push(`${label} ${milliseconds(time)} ms`);
  }
  bar.setAttribute('aria-label', words.join(', '));
  return bar;
}

function interval(comparison, drawn) {
  const cell = element('td', { className: 'n', textContent: ratio(comparison.speedup) });
  if (drawn) cell.append(element('span', { className: 'range', textContent: `${ratio(comparison.speedup_low)} to ${ratio(comparison.speedup_high)}` }));
  return cell;
}

function show(answer, drawn) {
  const verdict = byId('live-verdict');
  const body = byId('live').tBodies[0];
  byId('command').textContent = commandOf(data, state, knobs());
  if (answer.problems.length) {
    verdict.className = 'verdict loses';
    verdict.textContent = `No such job: ${answer.problems.map((problem) => `${problem.path} ${problem.message}`).join('; ')}.`;
    byId('live-remedy').textContent = answer.problems.map((problem) => problem.help).filter(Boolean).join('; ');
    body.replaceChildren();
    return;
  }
  const longest = Math.max(...answer.plans.map((plan) => plan.step_seconds));
  const ownAt = choices.methods.length && answer.plans.length > 1 ? answer.plans.length - 1 : -1;
  const fitting = answer.plans.slice(1).filter((plan) => plan.memory.fits);
  const best = fitting.sort((a, b) => b.against_remedy.speedup - a.against_remedy.speedup)[0];
  body.replaceChildren(...answer.plans.map((plan, i) => {
    const word = i === 0 ? '' : drawn ? plan.verdict : plan.memory.fits ? (plan.against_remedy.speedup > least ? 'faster' : plan.against_remedy.speedup < 1 / least ? 'slower' : 'no difference') : 'does not fit';
    const row = element('tr', { className: `${i === ownAt ? 'own' : ''} ${plan === best ? 'best' : ''}`.trim() },
      element('th', { scope: 'row', textContent: i === 0 ? 'uncompressed' : breakable(i === ownAt ? `${labelOfOwn()} (yours)` : plan.label) }),
      element('td', { className: 'bar' }, stack(plan, longest)),
      element('td', { className: 'n', textContent: milliseconds(plan.step_seconds) }),
      i === 0 ? element('td', { className: 'n', textContent: '1.00' }) : interval(plan.against_uncompressed, drawn), interval(plan.against_remedy, drawn),
      element('td', { className: word === 'faster' ? 'pays' : word === 'slower' ? 'loses' : classOf(word), textContent: word }));
    Object.assign(row.dataset, { plan: i === ownAt ? 'own' : plan.label, step: plan.step_seconds, speedup: plan.against_uncompressed.speedup, remedy: plan.against_remedy.speedup, low: plan.against_remedy.speedup_low, high: plan.against_remedy.speedup_high, exposed: plan.waterfall.exposed_dp_seconds, encode: plan.waterfall.encode_seconds, memory: plan.memory.total_bytes });
    return row;
  }));
  const name = best && (answer.plans.indexOf(best) === ownAt ? labelOfOwn() : best.label);
  const word = drawn ? answer.verdict : best && best.against_remedy.speedup > least ? 'pays' : 'does not';
  verdict.className = `verdict ${classOf(word)}`;
  const sure = drawn && best ? ` (${ratio(best.against_remedy.speedup_low)} to ${ratio(best.against_remedy.speedup_high)})` : '';
  verdict.textContent = !best ? 'No strategy fits the memory.' : `${{ pays: 'Pays', 'does not': 'Does not pay', 'no difference': 'No difference', 'too close to call': 'Too close to call' }[word] ?? word}: ${name} is ${ratio(best.against_remedy.speedup)}${sure} times as fast as the best uncompressed remedy on ${count(answer.gpus)} GPUs.`;
  byId('live-remedy').textContent = `Best remedy: ${answer.remedy.description || 'the job as given'}, ${ratio(answer.remedy.against_uncompressed.speedup)} times as fast as the job as given.`;
}

const labelOfOwn = () => labelOf(choices.methods[state.method], state.parameters);

// A movement is answered within its frame; intervals and curves follow when the hand rests.
let frame = 0;
let rest = 0;
function moved() {
  cancelAnimationFrame(frame);
  clearTimeout(rest);
  document.body.dataset.settled = 'false';
  document.body.dataset.moves = Number(document.body.dataset.moves ?? 0) + 1;
  frame = requestAnimationFrame(update);
  rest = setTimeout(settle, 250);
}

function update() {
  const began = performance.now();
  show(engine.ask(knobs()), false);
  document.body.dataset.updates = Number(document.body.dataset.updates ?? 0) + 1;
  document.body.dataset.updateMilliseconds = performance.now() - began;
}

let round = 0;
async function settle() {
  const mine = ++round;
  const pause = () => new Promise((resolve) => setTimeout(resolve, 0));
  show(engine.ask(knobs({ draws: base.draws })), true);
  document.body.dataset.settled = 'true';
  const axes = [['chart-nic', 'nic', spaced(1, 1600, 6, state.nic).filter((x) => x > 0), (x) => ({ nic: x * gigabit }), 'Gb/s'],
    ['chart-gpus', 'dp', curveReplicas(), (x) => ({ dp: x }), 'GPUs']];
  for (const [id, key, xs, change, unit] of axes) {
    const points = [];
    for (const x of xs) {
      await pause();
      if (mine !== round) return;
      points.push({ x: key === 'dp' ? x * base.ranks_of_replica : x, answer: engine.ask(knobs(change(x))) });
    }
    const here = key === 'dp' ? state.dp * base.ranks_of_replica : state.nic;
    drawCurves(byId(id), points, { unit, here, plans: data.result.plans.map((plan) => plan.label), own: choices.methods.length ? labelOfOwn() : null,
      none: key === 'dp' && base.is_mixed ? noMoreNodes : 'No other job on this axis.' });
  }
  document.body.dataset.curves = Number(document.body.dataset.curves ?? 0) + 1;
}
let offeredReplicas = [];
const curveReplicas = () => offeredReplicas.filter((dp, i, all) => i % 2 === 0 || dp === state.dp || i === all.length - 1);

// The page's first answer has to be what the program said when it wrote the page.
function check() {
  const fresh = engine.ask({ ...knobs({ draws: base.draws }), method: null, parameters: [] });
  let worst = 0;
  const compare = (a, b) => { worst = Math.max(worst, Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b), Number.MIN_VALUE)); };
  data.result.plans.forEach((plan, i) => {
    compare(plan.step_seconds, fresh.plans[i].step_seconds);
    compare(plan.against_remedy.speedup, fresh.plans[i].against_remedy.speedup);
    compare(plan.against_remedy.speedup_low, fresh.plans[i].against_remedy.speedup_low);
  });
  document.body.dataset.check = worst;
  const said = byId('check');
  said.classList.toggle('bad', !(worst <= 1e-9));
  said.textContent = worst <= 1e-9
    ? `Checked at load: this page computes what the program wrote, to ${worst < 1e-15 ? 'the last digit' : worst.toExponential(0)}.`
    : `This page computes other numbers than the program that wrote it (off by ${worst.toPrecision(2)}): build the page again.`;
}

async function main() {
  showPrediction(data, { element, byId, stack, parts, classOf });
  byId('parts').append(...parts.map(([kind, label]) => element('li', {}, element('i', { className: kind }), label)));
  byId('copy').addEventListener('click', async () => {
    await navigator.clipboard?.writeText(byId('command').textContent).catch(() => {});
    byId('copy').textContent = 'Copied';
    setTimeout(() => { byId('copy').textContent = 'Copy'; }, 1500);
  });
  offeredReplicas = await engine.load();
  buildSliders(offeredReplicas);
  check();
  update();
  await settle();
}
main().catch((error) => {
  byId('check').textContent = `The sliders do not work here: ${error.message}`;
  byId('check').classList.add('bad');
  document.body.dataset.failed = error.message;
});
