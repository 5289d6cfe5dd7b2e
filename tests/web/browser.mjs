// SPDX-License-Identifier: Apache-2.0
// browser.mjs PAYOFF [FOLDER-FOR-PICTURES]: uses reports as a reader does, in headless Chromium.
//
// Moves sliders, that of the speed of codecs included, with the keyboard and holds every number of the page to `payoff predict --json` of
// the command that the page shows, to 1e-9; checks that it asks the network for nothing, writes no
// error to the console, can be used without a mouse, has contrasts of WCAG AA in light and dark,
// and answers 30 movements a second.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const [payoff, pictures] = process.argv.slice(2).map((path) => resolve(path));
const skip = (why) => { console.log(`SKIPPED: ${why}`); process.exit(0); };
const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (!chromium) skip('chromium is not installed');
let playwright;
try {
  playwright = createRequire(join(root, 'web/page/package.json'))('playwright-core');
} catch {
  skip('playwright-core is not installed: `make page` does that');
}
const tolerance = 1e-9;
const updatesWanted = 30;
let failures = 0;
const require = (holds, what) => {
  if (!holds) { ++failures; console.log(`FAILED: ${what}`); }
};
const folder = mkdtempSync(join(tmpdir(), 'payoff-report-'));

function report(experiment) {
  const output = join(folder, `${experiment}.html`);
  const done = spawnSync(payoff, ['report', `examples/${experiment}/experiment.yaml`, '-o', output], { cwd: root, encoding: 'utf8' });
  if (done.stderr.includes('is not built')) skip('the page is not built');
  if (done.status !== 0) throw new Error(done.stderr);
  return pathToFileURL(output).href;
}

const settled = (page, curves = 0) => page.waitForFunction((least) => document.body.dataset.failed || (document.body.dataset.settled === 'true' && Number(document.body.dataset.curves ?? 0) >= least), curves, { timeout: 120000 });
const rows = (page) => page.$$eval('#live tbody tr', (found) => found.map(({ dataset }) => ({ ...dataset })));

async function press(page, id, keys) {
  const moves = () => page.evaluate(() => Number(document.body.dataset.moves ?? 0));
  const before = await moves();
  await page.focus(`#${id}`);
  for (const key of keys) await page.keyboard.press(key);
  require((await moves()) > before, `keys move #${id}`);
}

// The page against the command that it says is the same.
async function compare(page, what) {
  await settled(page);
  const command = await page.textContent('#command');
  const words = command.replace(/^payoff /, `'${payoff}' `);
  const result = JSON.parse(execFileSync('bash', ['-c', `${words} --json`], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'pipe'] }));
  const shown = await rows(page);
  let worst = 0;
  let compared = 0;
  shown.slice(0, result.plans.length).forEach((row, i) => {
    const plan = result.plans[i];
    const pairs = { step: plan.step_seconds, speedup: plan.against_uncompressed.speedup, remedy: plan.against_remedy.speedup,
      low: plan.against_remedy.speedup_low, high: plan.against_remedy.speedup_high,
      exposed: plan.waterfall.exposed_dp_seconds, encode: plan.waterfall.encode_seconds, memory: plan.memory.total_bytes };
    for (const [key, expected] of Object.entries(pairs)) {
      const off = Math.abs(Number(row[key]) - expected) / Math.max(Math.abs(expected), 1e-12);
      worst = Math.max(worst, off);
      ++compared;
      require(off <= tolerance, `${what}: ${row.plan} ${key} is ${row[key]}, and ${expected} in \`${command}\``);
    }
  });
  require(compared >= 16, `${what}: nothing to compare`);
  console.log(`${what}: ${compared} numbers, at most ${worst.toExponential(1)} apart: ${command}`);
}

// WCAG 2.1, 1.4.3: of every text against what is behind it.
const contrastProblems = (page) => page.evaluate(() => {
  const parse = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((c) => { const s = c / 255; return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4; })
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const found = new Set();
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const box = element.getBoundingClientRect();
    if (!own || !box.width || element.closest('script, style') || element.disabled) continue;
    const style = getComputedStyle(element);
    const [a, b] = [luminance(parse(style.color)), luminance(ground(element))].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) found.add(`${element.tagName}.${element.className} ${style.color}: ${ratio.toFixed(2)}`);
  }
  return [...found];
});

async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.on('console', (message) => require(!['error', 'warning'].includes(message.type()), `console: ${message.text()}`));
  page.on('pageerror', (error) => require(false, `page: ${error.message}`));
  page.on('request', (request) => require(request.url() === url || /^(data|blob):/.test(request.url()), `asks for ${request.url().slice(0, 80)}`));
  await page.goto(url);
  await settled(page);
  require(Number(await page.getAttribute('body', 'data-check')) <= tolerance, 'the page computes what the program wrote');
  return page;
}

async function keyboard(page) {
  await page.evaluate(() => document.activeElement?.blur());
  const reached = new Set();
  for (let i = 0; i < 60; ++i) {
    await page.keyboard.press('Tab');
    const [id, outline] = await page.evaluate(() => {
      const at = document.activeElement;  // the body, on the way round
      return [at.id, at === document.body ? null : getComputedStyle(at).outlineStyle];
    });
    reached.add(id);
    require(outline !== 'none', `focus shows on #${id}`);
  }
  for (const id of ['dp', 'nic', 'bucket', 'method', 'parameter-0', 'codec_speed', 'reset', 'copy']) require(reached.has(id), `Tab reaches #${id}`);
}

// By the processor time that the page takes, which others on the machine do not make longer.
async function rate(page, what) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busy = async () => (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration').value;
  const moves = 40;
  const move = (times) => page.evaluate(async (count) => {
    const input = document.getElementById('nic');
    const began = performance.now();
    for (let i = 0; i < count; ++i) {
      input.value = 5 + i;
      input.dispatchEvent(new Event('input', { bubbles: true }));
      const updates = document.body.dataset.updates;
      while (document.body.dataset.updates === updates) await new Promise(requestAnimationFrame);
    }
    return performance.now() - began;
  }, times);
  // Chromium compiles the model better once it has run for a while.
  await move(moves);
  // A processor that others use too makes runs slower and never faster (caches, clock, siblings), so
  // that the fastest of a few is nearest to what the page takes.
  let fastest = 0;
  let byClock = 0;
  for (let run = 0; run < 3; ++run) {
    const before = await busy();
    const elapsed = await move(moves);
    const taken = (await busy()) - before;
    require(taken > 0, `${what}: the processor's time is known`);
    fastest = Math.max(fastest, moves / taken);
    byClock = Math.max(byClock, (1000 * moves) / elapsed);
  }
  console.log(`${what}: ${fastest.toFixed(0)} updates per second of the processor, drawing included; ${byClock.toFixed(0)} by the clock; wanted: ${updatesWanted}`);
  require(fastest >= updatesWanted, `${what}: ${updatesWanted} updates a second`);
}

async function main() {
  const browser = await playwright.chromium.launch({ executablePath: chromium, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
  try {
    const url = report('01-resnet50-v100');
    const page = await open(browser, url);
    await press(page, 'dp', ['ArrowRight', 'ArrowRight']);
    await press(page, 'nic', ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight']);
    await compare(page, 'GPUs and bandwidth');
    await press(page, 'bucket', ['Home', 'ArrowRight']);
    await press(page, 'parameter-0', ['ArrowRight', 'ArrowRight']);
    await compare(page, 'buckets and the parameter of a method');
    require((await page.textContent('#command')).includes(`=${await page.getAttribute('#parameter-0', 'data-value')}`), 'a parameter is what its slider says');
    await page.selectOption('#method', { label: 'qsgd' });
    await compare(page, 'another method');
    const slow = (await rows(page)).map(({ encode }) => Number(encode));
    await press(page, 'codec_speed', ['PageUp']);
    await settled(page);
    (await rows(page)).forEach(({ encode, plan }, i) => require(slow[i] === 0 || Number(encode) < slow[i], `a faster codec encodes faster: ${plan}`));
    await compare(page, 'faster codecs');
    await press(page, 'codec_speed', ['Home']);
    await compare(page, 'slower codecs');
    await press(page, 'dp', ['Home']);
    await settled(page);
    await page.click('#reset');
    await compare(page, 'all as predicted again');
    await keyboard(page);
    await rate(page, 'data-parallel, ResNet-50');

    // Every strategy of a pipeline runs the pipeline anew.
    const pipeline = await open(browser, report('05-gpt3-175b-a100'));
    await rate(pipeline, 'a pipeline, GPT-3 175B');
    await pipeline.context().close();

    const second = await open(browser, report('04-llama2-7b-a100'));
    await press(second, 'model', ['ArrowRight']);
    await press(second, 'dp', ['ArrowLeft']);
    await compare(second, 'another model');
    // Of nodes of several kinds: their own NICs or the same in all, and no other number of them.
    const kinds = await open(browser, report('two-generations'));
    await compare(kinds, 'two kinds of nodes');
    require((await kinds.textContent('.knob:has(#nic) output')).includes('200 and 400 Gb/s'), 'each kind of nodes has its own NICs');
    await press(kinds, 'nic', ['PageUp', 'ArrowRight']);
    await compare(kinds, 'the same NICs in two kinds of nodes');
    await press(kinds, 'bucket', ['Home', 'ArrowRight']);
    await press(kinds, 'codec_speed', ['PageUp']);
    await compare(kinds, 'buckets of two kinds of nodes');
    require(await kinds.isDisabled('#dp'), 'nobody says of which kind more nodes would be');
    await settled(kinds, 1);
    for (const place of ['.knob:has(#dp)', '#chart-gpus']) require((await kinds.textContent(place)).includes('several kinds'), `${place} says why there are no other numbers of GPUs`);
    if (pictures) await kinds.screenshot({ path: join(pictures, 'two-kinds.png'), fullPage: true });
    await kinds.context().close();
    // The page in docs computes with the model that it was built of: it has to be today's.
    const demo = await open(browser, pathToFileURL(join(root, 'docs/what-if.html')).href);
    await press(demo, 'dp', ['ArrowRight']);
    await press(demo, 'nic', ['ArrowLeft']);
    await press(demo, 'codec_speed', ['PageUp']);
    await compare(demo, 'the page in docs');
    for (const [name, options] of Object.entries({ light: { colorScheme: 'light' }, dark: { colorScheme: 'dark' }, narrow: { viewport: { width: 390, height: 844 } } })) {
      const shown = await open(browser, url, options);
      await settled(shown, 1);
      for (const problem of await contrastProblems(shown)) require(false, `contrast, ${name}: ${problem}`);
      // What is folded away is as wide once somebody opens it.
      await shown.evaluate(() => document.querySelectorAll('details').forEach((each) => { each.open = true; }));
      const wide = await shown.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      require(wide <= 0, `${name}: ${wide} pixels wider than the window`);
      if (pictures) await shown.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
      await shown.context().close();
    }
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
  console.log(`${failures} failures`);
  process.exit(failures ? 1 : 0);
}
main().catch((error) => { console.log(error.stack); process.exit(1); });
