// The viewer's page in a real browser, as build/lithe exports and serves it. Needs npm run build, npm run sample and a Chromium.
//
//   node test/browser.mjs [only tests whose name contains this]

import { resolve } from 'node:path';
import { make_exports } from './browser/exports.mjs';
import { launch, Tests } from './browser/harness.mjs';
import { test_documents } from './browser/documents.mjs';
import { test_layout } from './browser/layout.mjs';
import { test_live } from './browser/live.mjs';
import { test_pairs } from './browser/pairs.mjs';
import { test_playing } from './browser/playing.mjs';
import { test_regions } from './browser/regions.mjs';
import { test_timing } from './browser/timing.mjs';

const start = performance.now();
const documents = { ...make_exports(), sample: { html: resolve('out/sample.html'), json: resolve('out/sample.json') } };
const browser = await launch();
const tests = new Tests(browser, process.argv[2]);
for (const suite of [test_timing, test_playing, test_regions, test_layout, test_documents, test_pairs, test_live]) await suite(tests, documents);
await browser.close();
console.log(`${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped in ${((performance.now() - start) / 1000).toFixed(0)} s`);
process.exit(tests.failed || !tests.passed ? 1 : 0);
