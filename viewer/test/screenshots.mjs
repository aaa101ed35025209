// Pictures of out/sample.html (npm run sample) at three sizes, light and dark, into out/screenshots. Fails on a console
// error or a request to the outside. CHROMIUM names the browser (Debian: /usr/bin/chromium).

import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { launch } from './browser/harness.mjs';

const kSizes = [[360, 740], [1024, 768], [1920, 1080]];
const only = process.argv[2] ?? '';
const url = `file://${resolve('out/sample.html')}`;
mkdirSync('out/screenshots', { recursive: true });
const browser = await launch();
const problems = [];

async function picture(name, [width, height], theme, prepare, page_url = url) {
  if (!name.includes(only)) return;
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: theme, reducedMotion: 'reduce' });
  page.on('console', (m) => m.type() === 'error' && problems.push(`${name}: ${m.text()}`));
  page.on('pageerror', (e) => problems.push(`${name}: ${e.message}`));
  page.on('request', (r) => /^(file|data|blob):/.test(r.url()) || problems.push(`${name}: request to ${r.url()}`));
  await page.goto(page_url);
  await page.waitForFunction(() => window.lithe_viewer);
  await page.waitForTimeout(300);
  if (page_url === url) await page.evaluate(() => window.lithe_viewer.seek(0.93));
  await prepare?.(page);
  await page.waitForTimeout(500);
  await page.screenshot({ path: `out/screenshots/${name}.png` });
  await page.close();
}

for (const size of kSizes)
  for (const theme of ['light', 'dark']) await picture(`${size[0]}-${theme}`, size, theme);
const press = (keys) => async (page) => {
  for (const key of keys) await page.keyboard.press(key);
};
await picture('ghost-all', [1280, 800], 'light', press(['b', 'g', 'j', 'm', 't', 'c']));
await picture('phone-panel', [360, 740], 'light', press(['v', 'b']));
await picture('help', [1024, 768], 'dark', press(['?']));
await picture('help-phone', [360, 740], 'light', press(['?']));
await picture('empty', [1024, 768], 'light', undefined, `file://${resolve('dist/viewer.html')}`);
await browser.close();
for (const problem of problems) console.error(problem);
process.exit(problems.length ? 1 : 0);
