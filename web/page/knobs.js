// SPDX-License-Identifier: Apache-2.0
// What the sliders say, as the model reads it (web/what_if.hpp, Knobs) and as a command line.

const option = (value) => (value === null || value === undefined ? '0' : `1 ${value}`);

// The fields of Knobs in their order, after their number.
export function knobsText(knobs) {
  const fields = [knobs.dp, knobs.nic, knobs.bucket, option(knobs.model), option(knobs.method),
    knobs.parameters.length, ...knobs.parameters, knobs.codec_speed, knobs.draws, 1];
  return `9 ${fields.join(' ')} `;
}

const quoted = (word) => (/^[\w./:=,+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

export function labelOf(method, parameters) {
  const given = method.parameters.map(({ name }, i) => `${name}=${parameters[i]}`);
  return method.name + (given.length ? `:${given.join(',')}` : '');
}

// A parameter as a plan says it: `4`, `0.01`, `1 %`.
export const parameterOf = (text) => (String(text).trim().endsWith('%') ? parseFloat(text) / 100 : Number(text));

// Whether a plan of the experiment does the same: the program refuses to compare one twice.
function isTwin(label, method, parameters) {
  const [name, written = ''] = label.split(':');
  const given = Object.fromEntries(written.split(',').filter(Boolean).map((part) => part.split('=')));
  const known = method.parameters.map((parameter) => parameter.name);
  return name === method.name && Object.keys(given).every((key) => known.includes(key)) &&
    method.parameters.every((parameter, i) => parameterOf(given[parameter.name] ?? parameter.value) === parameters[i]);
}

// The command that predicts the same.
export function commandOf(data, state, knobs) {
  const { base, command, choices } = data;
  const words = ['payoff', 'predict', quoted(command.experiment)];
  const add = (name, value) => words.push(name, quoted(String(value)));
  // A file that lists kinds of nodes says of each what is else said of the cluster.
  const addNodes = (name, key, value) => {
    if (!command.node_kinds) add(name, value);
    for (let i = 0; i < command.node_kinds; ++i) add('--set', `cluster.node_kinds.${i}.${key}=${value}`);
  };
  if (knobs.dp !== base.dp) {
    const gpus = knobs.dp * base.ranks_of_replica;
    const perNode = Math.min(gpus, base.gpus_per_node);
    addNodes('--nodes', 'nodes', gpus / perNode);
    if (perNode !== base.gpus_per_node) addNodes('--gpus-per-node', 'gpus_per_node', perNode);
    add('--dp', knobs.dp);
    if (command.has_global_batch) add('--global-batch', knobs.dp * base.samples_of_replica);
  }
  if (knobs.nic !== (base.nic_bytes_per_second ?? 0)) addNodes('--bandwidth', 'inter.bandwidth', `${state.nic} Gb/s`);
  if (knobs.bucket !== base.bucket_bytes) add('--bucket', `${state.bucket} MiB`);
  if (knobs.model !== null) add('--model', choices.models[knobs.model].profile);
  for (const plan of data.result.plans.slice(1)) add('--compress', plan.label);
  if (knobs.method !== null) {
    const method = choices.methods[knobs.method];
    const plans = data.result.plans.map((plan) => plan.label);
    if (!plans.some((label) => isTwin(label, method, knobs.parameters))) add('--compress', labelOf(method, knobs.parameters));
  }
  if (knobs.codec_speed !== 1) add('--codec-speed', knobs.codec_speed * base.codec_speed);
  return words.join(' ');
}
