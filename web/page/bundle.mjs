// SPDX-License-Identifier: Apache-2.0
// bundle.mjs MODEL.js OUTPUT.html: styles, scripts, the chart library and the model in one file.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync, renameSync } from 'node:fs';

const [model, output] = process.argv.slice(2);
const here = (name) => new URL(name, import.meta.url);
const read = (name) => readFileSync(here(name), 'utf8');

const bundled = async (name, loader) =>
  (await build({ entryPoints: [here(name).pathname], bundle: true, minify: true, write: false,
                 format: loader === 'css' ? undefined : 'iife', target: 'es2022',
                 charset: 'ascii', legalComments: 'none' })).outputFiles[0].text;
const minified = async (text) =>
  (await build({ stdin: { contents: text, loader: 'js' }, minify: true, write: false, bundle: false,
                 charset: 'ascii', target: 'es2022', minifyIdentifiers: false })).outputFiles[0].text;

// Of what the page is built of, the model apart: tests/web/live_demo.py asks whether a page is of today.
function digestOfSources() {
  const digest = createHash('sha256');
  const files = readdirSync(here('.'), { withFileTypes: true });
  for (const { name } of files.filter((file) => file.isFile() && /\.(css|html|js|json|mjs)$/.test(file.name)).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    digest.update(`${name}\0`).update(readFileSync(here(name))).update('\0');
  }
  return digest.digest('hex');
}

// No text of a script may end the element that holds it.
const inScript = (text) => text.replace(/<\/(script)/gi, '<\\/$1').replace(/<!--/g, '<\\!--');
const parts = {
  '@PAYOFF_STYLE@': await bundled('page.css', 'css') + read('node_modules/uplot/dist/uPlot.min.css'),
  '@PAYOFF_SOURCES@': digestOfSources(),
  '@PAYOFF_LICENCE@': read('node_modules/uplot/LICENSE'),
  '@PAYOFF_MODEL@': inScript(await minified(readFileSync(model, 'utf8'))),
  '@PAYOFF_SCRIPT@': inScript(await bundled('page.js', 'js')),
};
let page = read('page.html');
for (const [place, text] of Object.entries(parts)) {
  page = page.split(place).join(text);
}
writeFileSync(output + '.new', page);
renameSync(output + '.new', output);
console.log(`${output}: ${(page.length / 1024).toFixed(0)} KiB`);
