// The built page in a real browser: plays, steps, scrubs, toggles, follows, compares, opens and refuses documents;
// no console error and no request to the outside. Needs npm run build, npm run sample and a Chromium (CHROMIUM).

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { chromium } from 'playwright-core';

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
});
let failed = 0;

async function check(name, file, act, options = {}) {
  const page = await browser.newPage({ viewport: { width: 900, height: 600 }, reducedMotion: 'reduce', ...options });
  const problems = [];
  page.on('console', (m) => m.type() === 'error' && problems.push(m.text()));
  page.on('pageerror', (e) => problems.push(e.message));
  page.on('request', (r) => /^(file|data|blob):/.test(r.url()) || problems.push(`request to ${r.url()}`));
  try {
    await page.goto(`file://${resolve(file)}`);
    await page.waitForFunction(() => window.lithe_viewer);
    await act(page);
    assert.deepEqual(problems, []);
    console.log(`ok    ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL  ${name}\n      ${error.message}`);
  }
  await page.close();
}

const kSample = 'out/sample.html';
const session = (page, what) => page.evaluate(`(() => { const s = window.lithe_viewer.session; return ${what}; })()`);

await check('nothing moves when the system prefers reduced motion, and Space plays', kSample, async (page) => {
  await page.waitForTimeout(200);
  assert.equal(await session(page, 's.player.time'), 0);
  await page.keyboard.press('Space');
  await page.waitForFunction(() => window.lithe_viewer.session.player.time > 0.05);
});
await check('plays on load otherwise', kSample, async (page) => {
  await page.waitForFunction(() => window.lithe_viewer.session.player.time > 0.05);
}, { reducedMotion: 'no-preference' });
await check('arrows step by frames, Home and End jump', kSample, async (page) => {
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Shift+ArrowRight');
  assert.equal(await session(page, 's.player.frame'), 11);
  await page.keyboard.press('End');
  assert.equal(await session(page, 's.player.frame'), 300);
});
await check('the scrubber seeks', kSample, async (page) => {
  const box = await page.getByRole('slider', { name: 'Time' }).boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  assert.ok(Math.abs((await session(page, 's.player.time')) - 1.5) < 0.05);
});
await check('pressing in a plot seeks', kSample, async (page) => {
  const over = page.locator('.u-over').first();
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  await page.mouse.click(box.x + box.width / 3, box.y + box.height / 2);
  assert.ok(Math.abs((await session(page, 's.player.time')) - 1) < 0.05);
});
await check('keys and boxes toggle the same display', kSample, async (page) => {
  for (const [key, name] of [['c', 'collision'], ['j', 'joints'], ['m', 'centre_of_mass'], ['t', 'traces'], ['g', 'gradients']]) {
    await page.keyboard.press(key);
    assert.equal(await session(page, `s.display.${name}`), true, name);
  }
  await page.getByRole('checkbox', { name: /Gradients/ }).click();
  assert.equal(await session(page, 's.display.gradients'), false);
});
await check('B goes round the ways to compare, F follows and R lets go', kSample, async (page) => {
  for (const way of ['ghost', 'single', 'side']) {
    await page.keyboard.press('b');
    assert.equal(await session(page, 's.compare'), way);
  }
  await page.keyboard.press('f');
  assert.equal(await session(page, 's.follow'), 1);
  await page.keyboard.press('End');
  await page.keyboard.press('r');
  assert.equal(await session(page, 's.follow'), null);
});
await check('help opens with ? and closes with Esc', kSample, async (page) => {
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await page.getByRole('dialog').count(), 0);
});
await check('dark is one key away and the picture is not blank', kSample, async (page) => {
  const light = await page.screenshot();
  await page.keyboard.press('d');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await page.waitForTimeout(300);
  assert.ok(!light.equals(await page.screenshot()));
});
await check('every control has a name', kSample, async (page) => {
  const unnamed = await page.evaluate(() => [...document.querySelectorAll('button, input, select')]
    .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() && e.tagName === 'BUTTON' || e.labels?.length)).map((e) => e.outerHTML));
  assert.deepEqual(unnamed, []);
});
await check('the empty page opens a chosen document', 'dist/viewer.html', async (page) => {
  await page.getByRole('heading', { name: 'Nothing to show yet' }).waitFor();
  await page.setInputFiles('input[type=file]', resolve('out/sample.json'));
  await page.waitForFunction(() => window.lithe_viewer.session?.show.motions.length === 2);
  assert.equal(await page.title(), 'Box and double pendulum · Lithe');
});
await check('a wrong version is refused with a reason', 'dist/viewer.html', async (page) => {
  const buffer = Buffer.from(readFileSync('out/sample.json', 'utf8').replace('"version":1', '"version":7'));
  await page.setInputFiles('input[type=file]', { name: 'new.json', mimeType: 'application/json', buffer });
  assert.match(await page.getByRole('alert').innerText(), /reads version 1, the document has version 7/);
});
await check('a document with y up stands upright', 'dist/viewer.html', async (page) => {
  // (x, y, z) of the document is (x, −z, y) of the stage.
  const buffer = Buffer.from(readFileSync('out/sample.json', 'utf8').replace('"up":"z"', '"up":"y"'));
  await page.setInputFiles('input[type=file]', { name: 'y.json', mimeType: 'application/json', buffer });
  const p = await page.evaluate(() => window.lithe_viewer.session.main.body_position(1).toArray());
  assert.ok(Math.abs(p[0] + 1.5) < 1e-5 && Math.abs(p[1] + 1.1) < 1e-5 && Math.abs(p[2] + 0.35) < 1e-5, String(p));
});
for (const width of [360, 1024, 1920])
  await check(`nothing sticks out at ${width} pixels`, kSample, async (page) => {
    const out = await page.evaluate(() => [...document.querySelectorAll('.tools, .status, .bar, .bar > *, .legend, .label')]
      .filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5 || e.getBoundingClientRect().left < -0.5).map((e) => e.className));
    assert.deepEqual(out, []);
  }, { viewport: { width, height: 740 } });

await browser.close();
process.exit(failed ? 1 : 0);
