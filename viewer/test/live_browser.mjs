// The built page in a real browser as the face of a live simulation: a mock server (live_mock.ts) speaks the protocol.
// Needs npm run build, npm run sample and a Chromium (CHROMIUM).

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { chromium } from 'playwright-core';

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
    '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
});
const only = process.argv[2] ?? '';
let failed = 0;

async function start_server(...options) {
  const child = spawn('node_modules/.bin/vite-node', ['test/live_mock.ts', ...options], { stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = [];
  child.stdout.on('data', (data) => lines.push(...String(data).trim().split('\n')));
  while (lines.length === 0) await new Promise((done) => setTimeout(done, 50));
  return { url: lines[0], say: (line) => child.stdin.write(`${line}\n`), stop: () => child.kill() };
}

// act gets pages of the simulation, as many as it has parameters after the server. expected: console errors that the
// browser writes when a connection fails.
async function check(name, options, act, { expected = /^$/, ...page_options } = {}) {
  if (!name.includes(only)) return;
  const server = await start_server(...options);
  const problems = [];
  const pages = [];
  try {
    for (let i = 0; i < Math.max(1, act.length - 1); i++) {
      const page = await browser.newPage({ viewport: { width: 900, height: 600 }, ...page_options });
      pages.push(page);
      page.on('console', (m) => m.type() === 'error' && !expected.test(m.text()) && problems.push(m.text()));
      page.on('pageerror', (e) => problems.push(e.message));
      page.on('request', (r) => r.url().startsWith(new URL(server.url).origin) || /^(data|blob):/.test(r.url()) || problems.push(`request to ${r.url()}`));
      await page.goto(server.url);
      await page.waitForFunction(() => window.lithe_viewer?.session);
    }
    await act(server, ...pages);
    assert.deepEqual(problems, []);
    console.log(`ok    ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL  ${name}\n      ${error.message}`);
  }
  for (const page of pages) await page.close();
  server.stop();
}

const live = (page, what) => page.evaluate(`(() => { const app = window.lithe_viewer; const l = app.live; return ${what}; })()`);
// Asked from outside: the page's policy forbids what waitForFunction would do inside of it.
async function until(page, what) {
  for (const end = Date.now() + 60_000; Date.now() < end; await page.waitForTimeout(30)) if (await live(page, what)) return;
  throw new Error(`in vain: ${what}`);
}
const notice = (page) => page.locator('.notice');
const kBox = 1; // the body that is pushed

// Where a body is in the window, px.
const place = (page, body) => live(page, `(() => { const camera = l.push.parts_.stage.camera; camera.updateMatrixWorld();
  const p = app.session.main.body_position(${body}).project(camera); return { x: ((p.x + 1) / 2) * innerWidth, y: ((1 - p.y) / 2) * innerHeight }; })()`);
const height = (page, body) => live(page, `app.session.main.body_position(${body}).z`);
const camera = (page) => live(page, 'l.push.parts_.stage.camera.position.toArray().map((x) => x.toFixed(4)).join()');

// The box has come to rest, and its picture too.
async function rest(page) {
  await until(page, `l.frame && Math.abs(l.frame.poses[7 * ${kBox} + 2] - 0.18) < 1e-4 && l.player.end > 2.5`);
  await page.waitForTimeout(100);
}

await check('frames arrive, the picture follows them, and the corner tells', [], async (_server, page) => {
  await until(page, 'l.motion.frames > 30 && l.player.live && l.player.time === l.motion.times[l.motion.frames - 1]');
  await page.waitForFunction(() => /box\s+\d+ µs\s+\d contacts?\s+solved/.test(document.querySelector('.status').innerText));
  assert.equal(await page.title(), 'box · Lithe');
  assert.equal(await page.getByRole('button', { name: 'Loop (L)' }).count(), 0);
});
await check('Space pauses the server, arrows step it', [], async (_server, page) => {
  await until(page, 'l.motion.frames > 10');
  await page.keyboard.press('Space');
  await until(page, '!l.player.playing');
  await page.waitForTimeout(700);
  const before = await live(page, 'l.player.end');
  await page.keyboard.press('ArrowRight');
  await until(page, `Math.abs(l.player.end - ${before} - 0.001) < 1e-9`);
  await page.keyboard.press('Shift+ArrowRight');
  await until(page, `Math.abs(l.player.end - ${before} - 0.011) < 1e-9`);
  await page.keyboard.press('Space');
  await until(page, `l.player.end > ${before} + 0.2`);
});
await check('a server that does not play stays still, whoever watches', ['--paused'], async (_server, page) => {
  await page.waitForTimeout(600);
  assert.deepEqual(await live(page, '[l.player.playing, l.player.time]'), [false, 0]);
});
await check('the scrubber shows the past while the simulation goes on, and the button brings now back', [], async (_server, page) => {
  await until(page, 'l.motion.frames > 60');
  const box = await page.getByRole('slider', { name: 'Time' }).boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  const [time, end] = await live(page, '[l.player.time, l.player.end]');
  assert.equal(await live(page, 'l.player.live'), false);
  await until(page, `l.player.end > ${end} + 0.3 && l.player.time === ${time}`);
  await page.getByRole('button', { name: /Back to now/ }).click();
  await until(page, 'l.player.live && l.player.time === l.player.end');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await live(page, 'l.player.live'), false);
  await page.keyboard.press('End');
  assert.equal(await live(page, 'l.player.live'), true);
});
await check('reset begins a new history', [], async (_server, page) => {
  await until(page, 'l.player.end > 1');
  await page.keyboard.press('0');
  await until(page, 'l.player.end < 0.8 && l.motion.times[0] < 0.1');
  await until(page, 'l.player.end > 0.9');
  await page.keyboard.press('Backspace');
  await until(page, 'l.player.end < 0.8');
});
await check('a slider reaches the server and the other browser, and goes back', [], async (_server, page, other) => {
  const slider = page.getByRole('slider', { name: 'gravity' });
  await slider.scrollIntoViewIfNeeded();
  const box = await slider.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  for (let i = 0; i < 20; i++) await page.mouse.move(box.x + box.width / 2 - 4 * i, box.y + box.height / 2);
  await page.mouse.up();
  const value = await live(page, 'l.panel.values.parameters[0]');
  assert.ok(value > 0 && value < 9);
  await until(other, `Math.abs(l.panel.values.parameters[0] - ${value}) < 1e-6`);
  assert.match(await other.locator('.status').innerText(), /2 viewers/);
  await page.getByRole('button', { name: 'Reset gravity' }).click();
  await until(other, 'l.panel.values.parameters[0] === 9.81');
  await page.getByRole('slider', { name: 'friction' }).focus();
  await page.keyboard.press('ArrowRight');
  await until(other, 'l.panel.values.parameters[1] > 1');
  await page.getByRole('button', { name: 'Reset all' }).click();
  await until(other, 'l.panel.values.parameters[1] === 1');
  assert.equal(await page.getByRole('button', { name: 'Reset all' }).isDisabled(), true);
});
await check('dragging a slider sends at most about 30 messages a second', [], async (_server, page) => {
  await page.getByRole('slider', { name: 'friction' }).scrollIntoViewIfNeeded();
  const sent = await live(page, `(async () => {
    const slider = document.querySelector('#parameter-1');
    const before = l.counts.commands;
    for (let i = 0; i < 200; i++) { slider.value = String(i / 100); slider.dispatchEvent(new Event('input')); await new Promise((r) => setTimeout(r, 5)); }
    const seconds = 200 * 0.005;
    return (l.counts.commands - before) / seconds; })()`);
  assert.ok(sent > 5 && sent < 60, String(sent)); // a second of timers may take longer than a second
});
await check('another scene replaces everything', [], async (_server, page) => {
  await page.keyboard.press('t');
  const number = await live(page, 'l.number');
  await page.getByRole('combobox', { name: 'Scene' }).selectOption('many');
  await until(page, `l.number === ${number} + 1 && app.session.show.bodies.length === 51 && l.motion.frames > 20`);
  assert.deepEqual(await live(page, '[app.session.display.traces, l.motion.times[0] < 0.2]'), [true, true]);
  assert.equal(await page.getByRole('slider', { name: /joint/ }).count(), 27);
  await page.getByRole('searchbox').fill('left joint 8');
  assert.equal(await page.getByRole('slider', { name: /joint/ }).count(), 1);
  assert.deepEqual(await live(page, '[l.counts.dropped, app.session.main.bodies.frames.length]'), [0, 51]);
});
await check('dragging a body pushes it and leaves the camera alone', [], async (_server, page) => {
  await rest(page);
  const [at, before, eye] = [await place(page, kBox), await height(page, kBox), await camera(page)];
  await page.mouse.move(at.x, at.y);
  await until(page, "document.querySelector('canvas.stage').style.cursor === 'grab'");
  await page.mouse.down();
  assert.equal(await live(page, 'l.push.grab?.body'), kBox);
  await page.mouse.move(at.x, at.y - 120, { steps: 6 });
  await until(page, `app.session.main.body_position(${kBox}).z > ${before} + 0.2`);
  assert.equal(await camera(page), eye);
  await page.mouse.up();
  assert.equal(await live(page, 'l.push.grab'), null);
  await until(page, `app.session.main.body_position(${kBox}).z < ${before} + 0.05`);
});
await check('the background, Alt and the switch orbit', [], async (_server, page) => {
  await rest(page);
  const drag = async (x, y) => {
    const eye = await camera(page);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 40, y + 10, { steps: 4 });
    const pushed = await live(page, 'l.push.grab !== null');
    await page.mouse.up();
    return [pushed, (await camera(page)) !== eye];
  };
  assert.deepEqual(await drag(60, 300), [false, true]);
  await page.keyboard.press('r');
  await page.waitForTimeout(200);
  const at = await place(page, kBox);
  await page.keyboard.down('Alt');
  assert.deepEqual(await drag(at.x, at.y), [false, true]);
  await page.keyboard.up('Alt');
  await page.keyboard.press('r');
  await page.keyboard.press('h');
  await page.waitForTimeout(200);
  const again = await place(page, kBox);
  assert.deepEqual(await drag(again.x, again.y), [false, true]);
});
await check('Escape, a lost focus and the past let go', [], async (_server, page) => {
  await rest(page);
  const at = await place(page, kBox);
  for (const end of [() => page.keyboard.press('Escape'), () => page.evaluate(() => window.dispatchEvent(new Event('blur'))), () => page.keyboard.press('ArrowLeft')]) {
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    assert.equal(await live(page, 'l.push.grab?.body'), kBox);
    await end();
    await until(page, 'l.push.grab === null');
    await page.mouse.up();
  }
  await page.mouse.down(); // looks at the past now
  assert.equal(await live(page, 'l.push.grab'), null);
  await page.mouse.up();
});
await check('one finger on a body pushes it', [], async (_server, page) => {
  await rest(page);
  const at = await place(page, kBox);
  const eye = await camera(page);
  const touch = await page.context().newCDPSession(page);
  const send = (type, y) => touch.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x: at.x, y }] });
  await send('touchStart', at.y);
  for (let i = 1; i <= 6; i++) await send('touchMove', at.y - 20 * i);
  await until(page, `app.session.main.body_position(${kBox}).z > 0.4`);
  assert.equal(await camera(page), eye);
  await send('touchEnd', 0);
  await until(page, 'l.push.grab === null');
}, { hasTouch: true });
await check('a lost connection says so and comes back with the same view', [], async (server, page) => {
  await until(page, 'l.motion.frames > 20');
  await page.mouse.move(60, 300);
  await page.mouse.down();
  await page.mouse.move(120, 320);
  await page.mouse.up();
  const eye = await camera(page);
  server.say('hang');
  await notice(page).filter({ hasText: 'Connection lost. Trying again…' }).waitFor();
  assert.equal(await notice(page).getAttribute('role'), 'status');
  await until(page, "l.state === 'open' && document.querySelector('.notice').textContent === '' && l.motion.frames > 5");
  assert.equal(await camera(page), eye);
});
await check('a token that the server does not know any more says what to do', [], async (server, page) => {
  server.say('token');
  await notice(page).filter({ hasText: 'Open the address that lithe view printed' }).waitFor({ timeout: 60_000 });
  assert.equal(await live(page, 'l.state'), 'refused');
  assert.equal(await page.getByRole('button', { name: /^Offline/ }).count(), 1);
}, { expected: /403/ });
await check('broken frames are dropped, and ten in a row are told', ['--paused'], async (server, page) => {
  server.say('garbage');
  await notice(page).filter({ hasText: 'frames that this page cannot read' }).waitFor();
  assert.equal(await live(page, 'l.counts.dropped'), 12);
  await page.keyboard.press('ArrowRight');
  await until(page, "document.querySelector('.notice').textContent === ''");
});
await check('the badge turns amber and red, and a diverged state is held until reset', [], async (server, page) => {
  server.say('solver 4');
  await page.locator('.badge.warn').filter({ hasText: 'fallback' }).waitFor();
  server.say('solver 5');
  await page.locator('.badge.bad').filter({ hasText: 'unsolved' }).waitFor();
  server.say('solver 0');
  await page.locator('.badge.good').waitFor();
  server.say('diverge');
  await page.locator('.badge.bad').filter({ hasText: 'diverged' }).waitFor();
  await notice(page).filter({ hasText: 'Press 0 to reset it' }).waitFor();
  await page.keyboard.press('0');
  await page.locator('.badge.good').waitFor();
});
await check('gradients of a live loss have arrows, a legend and a plot', ['--loss'], async (_server, page) => {
  await until(page, 'l.motion.frames > 20');
  assert.match(await page.locator('.legend').innerText(), /∂ distance to goal \/ ∂ position\s+1 m of arrow = [\d.]+ per m/);
  assert.deepEqual(await live(page, '[app.session.display.gradients, app.session.scales.largest_joint_gradient > 0.1]'), [true, true]);
  assert.equal(await page.getByRole('figure', { name: 'Plot: loss' }).count(), 1);
});
await check('a world that a program moves has no buttons for it', ['--watch'], async (_server, page) => {
  await until(page, 'l.motion.frames > 20');
  for (const name of [/^(Play|Pause)/, /^Reset the simulation/, /^Dragging/]) assert.equal(await page.getByRole('button', { name }).count(), 0, String(name));
  const at = await place(page, kBox);
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  assert.equal(await live(page, 'l.push.grab'), null);
  await page.mouse.up();
});
await check('plots show the last ten seconds and seek into the past', [], async (_server, page) => {
  await until(page, 'l.player.end > 2');
  const over = page.locator('.u-over').first();
  await over.scrollIntoViewIfNeeded();
  await until(page, "app.plots_.time_plots_[0].data[0].length > 60");
  const box = await over.boundingBox();
  await page.mouse.click(box.x + box.width / 3, box.y + box.height / 2);
  assert.equal(await live(page, 'l.player.live'), false);
  assert.ok(await live(page, 'l.player.behind > 0.5'));
});
await check('help knows the live keys', [], async (_server, page) => {
  await page.keyboard.press('?');
  const text = await page.getByRole('dialog', { name: 'Keys' }).innerText();
  assert.match(text, /Back to now[\s\S]*Reset the simulation/);
  assert.doesNotMatch(text, /Loop|Open a document/);
});
await check('every control has a name', [], async (_server, page) => {
  const unnamed = await page.evaluate(() => [...document.querySelectorAll('button, input, select')]
    .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() && e.tagName === 'BUTTON' || e.labels?.length)).map((e) => e.outerHTML));
  assert.deepEqual(unnamed, []);
});

// A file as the browser hands it over when it is dropped.
const drop = (page, text) => page.evaluate((content) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([content], 'motion.json', { type: 'application/json' }));
  for (const type of ['dragover', 'drop']) document.body.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
}, text);
await check('a document dropped onto a live page is ignored', [], async (_server, page) => {
  await drop(page, readFileSync('out/sample.json', 'utf8'));
  await page.waitForTimeout(300);
  assert.deepEqual(await live(page, "[app.session.show.title, document.body.className, l.state]"), ['box', '', 'open']);
});
if ('a dropped document opens'.includes(only)) {
  const page = await browser.newPage();
  try {
    await page.goto(`file://${resolve('dist/viewer.html')}`);
    await page.waitForFunction(() => window.lithe_viewer);
    await drop(page, readFileSync('out/sample.json', 'utf8'));
    await page.waitForFunction(() => window.lithe_viewer.session?.show.motions.length === 2);
    assert.equal(await page.evaluate(() => document.body.className), '');
    await drop(page, '{"format":"gltf"}');
    await page.getByRole('alert').filter({ hasText: 'expected "lithe-show", found "gltf"' }).waitFor();
    console.log('ok    a dropped document opens, another file is refused with a reason');
  } catch (error) {
    failed++;
    console.log(`FAIL  a dropped document opens\n      ${error.message}`);
  }
  await page.close();
}
for (const width of [360, 1024, 1920])
  await check(`nothing of a live page sticks out or overlaps at ${width} pixels`, [], async (server, page) => {
    server.say('solver 4');
    server.say('clients 12');
    await page.keyboard.press('ArrowLeft');
    await until(page, 'l.clients === 12');
    await page.waitForTimeout(1500);
    const wrong = await page.evaluate(() => {
      const seen = [...document.querySelectorAll('.tools, .status, .status > *, .bar, .bar > *, .legend, .notice')].filter((e) => e.getBoundingClientRect().width > 0);
      const out = seen.filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5 || e.getBoundingClientRect().left < -0.5 || e.getBoundingClientRect().bottom > innerHeight + 0.5);
      const boxes = ['.tools', '.status', '.bar', '.legend'].map((s) => [s, document.querySelector(s).getBoundingClientRect()]);
      const over = boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([, q]) => p.left < q.right - 0.5 && q.left < p.right - 0.5 && p.top < q.bottom - 0.5 && q.top < p.bottom - 0.5).map(([b]) => `${a} over ${b}`));
      return [...out.map((e) => e.className), ...over];
    });
    assert.deepEqual(wrong, []);
    assert.ok(await page.evaluate(() => document.querySelector('.bar').offsetHeight) <= 90);
  }, { viewport: { width, height: 740 } });

await browser.close();
process.exit(failed ? 1 : 0);
