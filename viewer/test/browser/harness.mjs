// One browser for all tests of the page, and what a test of a page is: it opens, the test acts, and in the end no error
// was written to the console, nothing was thrown and nothing was asked for from outside.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const kArguments = [
  '--headless', '--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
  '--disable-sync', '--enable-unsafe-swiftshader', // WebGL by software where there is no graphics card
];
const kInside = /^(file|data|blob|about):/;

export const kPage = resolve(process.env.LITHE_VIEWER ?? 'dist/viewer.html');

export async function launch() {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(executablePath)) throw new Error(`there is no ${executablePath}: tools/setup.sh browser installs Chromium, or CHROMIUM names one`);
  return chromium.launch({ executablePath, args: kArguments });
}

export class Tests {
  failed = 0;
  passed = 0;
  skipped = 0;

  // only: run those whose name contains it
  constructor(browser, only = '') {
    this.browser = browser;
    this.only = only;
  }

  wants(name) {
    return name.includes(this.only);
  }

  // Runs act(page) on a page that was opened from a file or an address. options: of the browser's context, and
  //   allow: (address) => whether a request to it is expected
  //   expected: (text) => whether an error of the console is (a connection that the test itself breaks)
  async page(name, where, act, { allow = () => false, expected = () => false, ...options } = {}) {
    if (!this.wants(name)) return;
    const context = await this.browser.newContext({ viewport: { width: 860, height: 520 }, reducedMotion: 'reduce', ...options });
    const problems = [];
    this.watch(context, problems, allow, expected);
    await this.run(name, async () => {
      const page = await context.newPage();
      await page.goto(/^[a-z]+:/.test(where) ? where : pathToFileURL(where).href);
      await page.waitForFunction(() => window.lithe_viewer);
      await act(page, context);
      assert.deepEqual(problems, []);
    });
    await context.close();
  }

  watch(context, problems, allow, expected) {
    const note = (text) => expected(text) || problems.push(text);
    context.on('console', (message) => message.type() === 'error' && note(`console: ${message.text()}`));
    context.on('weberror', (error) => note(`thrown: ${error.error().message}`));
    context.on('request', (request) => kInside.test(request.url()) || allow(request.url()) || problems.push(`request to ${request.url()}`));
    context.on('page', (page) => page.on('websocket', (socket) => allow(socket.url()) || problems.push(`socket to ${socket.url()}`)));
  }

  async run(name, act) {
    if (!this.wants(name)) return;
    const start = performance.now();
    try {
      await act();
      this.passed++;
      console.log(`ok    ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
    } catch (error) {
      this.failed++;
      console.log(`FAIL  ${name}\n      ${String(error.message).split('\n').join('\n      ')}`);
    }
  }

  skip(name, reason) {
    if (!this.wants(name)) return;
    this.skipped++;
    console.log(`skip  ${name}: ${reason}`);
  }
}

// The next picture is drawn: the app draws in the frame after a change.
export async function settle(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));
}

// Evaluates text with s, the session, and app.
export function session(page, text) {
  return page.evaluate(`(() => { const app = window.lithe_viewer; const s = app.session; return ${text}; })()`);
}

export async function seek(page, time) {
  await page.evaluate((t) => window.lithe_viewer.seek(t), time);
  await settle(page);
}

export async function press(page, ...keys) {
  for (const key of keys) await page.keyboard.press(key);
  await settle(page);
}
