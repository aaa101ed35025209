// Documents that the page is given: chosen, dropped, refused with a reason; and many that were damaged at random.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { kPage, session } from './harness.mjs';

const kMutations = 200;

// Numbers 0 … 1 from a seed.
function random_from(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

// All places of a document, as [object or list, key].
function places(value, out = []) {
  if (value !== null && typeof value === 'object')
    for (const key of Object.keys(value)) {
      out.push([value, key]);
      places(value[key], out);
    }
  return out;
}

const kStrange = [null, true, 0, -1, 1e308, 1.5, 4294967296, '', 'abc', '\u0000', 'AAAA', [], {}, [[]], '__proto__', 'x'.repeat(10000)];

// A text like the document, with one to three things wrong.
export function mutate(text, random) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  if (random() < 0.25) { // of bytes
    const at = Math.floor(random() * text.length);
    const length = Math.floor(random() * 40);
    return pick([
      () => text.slice(0, at),
      () => text.slice(0, at) + text.slice(at + length),
      () => text.slice(0, at) + pick(['"', '{', ']', ',', '\\', '\u{1f600}', 'A', '9', '<', '']) + text.slice(at + 1),
      () => text.slice(0, at) + text.slice(Math.max(0, at - length)),
    ])();
  }
  const document = JSON.parse(text);
  for (let n = 1 + Math.floor(random() * 3); n > 0; n--) {
    const [owner, key] = pick(places(document));
    const value = owner[key];
    const floats = () => { // some number of a packed list becomes strange
      const bytes = Buffer.from(value, 'base64');
      const at = 4 * Math.floor((random() * bytes.length) / 4);
      if (at + 4 <= bytes.length) bytes.writeUInt32LE(pick([0x7fc00000, 0x7f800000, 0xff800000, 0x7f7fffff, 0xffffffff, 0, 1, 0x80000000]), at);
      return bytes.toString('base64');
    };
    owner[key] = pick([
      () => pick(kStrange),
      () => pick(places(document))[0],
      () => (typeof value === 'number' ? value * pick([-1, 1e9, 1e-30, 0]) : typeof value === 'string' && value.length > 3 ? floats() : undefined),
      () => (typeof value === 'string' ? value.slice(0, Math.floor(random() * value.length)) : Array.isArray(value) ? value.slice(1) : undefined),
      () => (Array.isArray(value) ? [...value, ...value] : value),
    ])();
    if (random() < 0.1) Array.isArray(owner) ? owner.splice(Number(key), 1) : delete owner[key];
    const seen = new Set(); // a part put into itself is no document
    const circular = (v) => v !== null && typeof v === 'object' && (seen.has(v) || (seen.add(v), Object.values(v).some(circular) || (seen.delete(v), false)));
    if (circular(document)) owner[key] = null;
  }
  return JSON.stringify(document);
}

export async function test_documents(tests, { sample, small }) {
  const sample_text = () => readFileSync(sample.json, 'utf8');
  const file = (name, text) => ({ name, mimeType: 'application/json', buffer: Buffer.from(text) });

  await tests.page('the empty page opens a chosen document, and a dropped one', kPage, async (page) => {
    await page.getByRole('heading', { name: 'Nothing to show yet' }).waitFor();
    await page.setInputFiles('input[type=file]', sample.json);
    await page.waitForFunction(() => window.lithe_viewer.session?.show.motions.length === 2);
    assert.equal(await page.title(), 'Box and double pendulum · Lithe');
    const dropped = await page.evaluateHandle((text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], 'small.json', { type: 'application/json' }));
      return data;
    }, readFileSync(small.json, 'utf8'));
    await page.dispatchEvent('body', 'drop', { dataTransfer: dropped });
    await page.waitForFunction(() => window.lithe_viewer.session?.show.motions.length === 1);
  });

  await tests.page('a wrong version is refused with a reason', kPage, async (page) => {
    await page.setInputFiles('input[type=file]', file('new.json', sample_text().replace('"version":1', '"version":7')));
    assert.match(await page.getByRole('alert').innerText(), /reads version 1, the document has version 7/);
    await page.getByRole('button', { name: 'Close' }).click();
    assert.equal(await page.getByRole('alert').count(), 0);
  });

  await tests.page('a document with y up stands upright', kPage, async (page) => {
    // (x, y, z) of the document is (x, −z, y) of the stage.
    await page.setInputFiles('input[type=file]', file('y.json', sample_text().replace('"up":"z"', '"up":"y"')));
    await page.waitForFunction(() => window.lithe_viewer.session);
    const p = await session(page, 's.main.body_position(1).toArray()');
    [-1.5, -1.1, -0.35].forEach((v, i) => assert.ok(Math.abs(p[i] - v) < 1e-5, String(p)));
  });

  await tests.page(`${kMutations} damaged documents open or are refused, and nothing is thrown`, kPage, async (page) => {
    const text = readFileSync(small.json, 'utf8');
    const random = random_from(20240611);
    const texts = [...Array(kMutations).keys()].map(() => mutate(text, random));
    const counts = await page.evaluate(async (list) => {
      const app = window.lithe_viewer;
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      const out = { opened: 0, refused: 0, wrong: [] };
      for (const [i, t] of list.entries()) {
        const before = app.session;
        const alert = document.querySelector('[role=alert]');
        alert.hidden = true;
        app.start(t);
        const [opened, refused] = [app.session !== before, !alert.hidden && alert.innerText.length > 40];
        if (opened === refused && !/^\s*(null)?\s*$/.test(t)) out.wrong.push(`${i}: opened ${opened}, refused ${refused}: ${t.slice(0, 200)}`);
        out.opened += opened;
        out.refused += refused;
        if (opened) { // all that a document is asked for later, too
          for (const key of Object.keys(app.session.display)) app.set_display(key, true);
          app.run('to_end');
          app.run('follow');
          if (i % 4 === 0) await frame();
        }
      }
      await frame();
      return out;
    }, texts);
    assert.deepEqual(counts.wrong, []);
    assert.ok(counts.opened > 10 && counts.refused > 100, JSON.stringify(counts));
  }, { viewport: { width: 500, height: 400 } });
}
