// The list of pairs that do not touch, in the panel.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { kPage, session, settle } from './harness.mjs';
import { judge } from './layout.mjs';

const kMany = 1203;

const section_of = (page) => page.locator('.panel details').filter({ has: page.locator('.pairs') });
const rows = (page) => section_of(page).locator('li');

export async function test_pairs(tests, { catapult, compact, sample }) {
  await tests.page('pairs that do not touch are listed with their reasons', compact.html, async (page) => {
    assert.equal(await page.title(), 'compact · Lithe');
    const section = section_of(page);
    assert.equal(await section.locator('summary').innerText(), 'Pairs that do not touch (1)');
    assert.equal(await rows(page).count(), 0, 'it is closed at first');
    await section.locator('summary').click();
    await rows(page).first().waitFor(); // browsers tell that it was opened when they find the time
    assert.deepEqual(await rows(page).allInnerTexts(), ['base – head: they touch in 100 % of poses']);
    assert.ok(await rows(page).first().isVisible());
    assert.equal(await section.getByRole('button').count(), 0);
    await page.reload();
    await page.waitForFunction(() => window.lithe_viewer?.session);
    await rows(page).first().waitFor(); // that it was opened is remembered
  });

  await tests.page('without such pairs there is no list', catapult.html, async (page) => {
    assert.equal(await section_of(page).count(), 1);
    assert.equal(await section_of(page).isVisible(), false);
  });

  // Names as hostile and as long as files may have them.
  const names = (i) => [['</ul><img src="http://example.org/" onerror="alert(1)">', `left_${'very_'.repeat(20)}long_name_link`][i % 2], `link ${i}`];
  const many = () => {
    const show = JSON.parse(readFileSync(sample.json, 'utf8'));
    show.excepted_pairs = [...Array(kMany).keys()].map((i) => ({ a: names(i)[0], b: names(i)[1], reason: `they touch in ${i % 101} % of poses` }));
    return { name: 'many.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(show)) };
  };
  for (const [width, height] of [[360, 740], [1024, 768]])
    await tests.page(`a long list of pairs scrolls and grows on demand at ${width} pixels`, kPage, async (page) => {
      await page.setInputFiles('input[type=file]', many());
      await page.waitForFunction(() => window.lithe_viewer.session);
      if (!(await page.locator('.panel').isVisible())) await page.keyboard.press('v');
      const section = section_of(page);
      await section.locator('summary').click();
      await rows(page).first().waitFor();
      await settle(page);
      const list = section.getByRole('list', { name: 'Pairs that do not touch' });
      const [seen, whole] = await list.evaluate((e) => [e.clientHeight, e.scrollHeight]);
      assert.ok(seen > 50 && seen < 300 && whole > 5 * seen, `${seen} of ${whole} pixels`);
      assert.ok(await list.evaluate((e) => e.scrollWidth <= e.clientWidth), 'long names wrap');
      assert.equal(await rows(page).first().innerText(), `${names(0)[0]} – link 0: they touch in 0 % of poses`);
      for (const [count, text] of [[500, 'Show 500 more of 703'], [1000, 'Show 203 more of 203']]) {
        assert.equal(await rows(page).count(), count);
        await section.getByRole('button', { name: text }).click();
      }
      assert.equal(await rows(page).count(), kMany);
      assert.equal(await section.getByRole('button').count(), 0);
      assert.match(await rows(page).last().innerText(), new RegExp(`link ${kMany - 1}: they touch in ${(kMany - 1) % 101} % of poses$`));
      for (const theme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme: theme });
        await settle(page);
        await judge(page, theme);
      }
      // Another document has other pairs.
      await page.setInputFiles('input[type=file]', sample.json);
      await page.waitForFunction(() => window.lithe_viewer.session.show.excepted_pairs.length === 0);
      assert.equal(await section.isVisible(), false);
      assert.equal(await session(page, 's.show.bodies.length'), 4);
    }, { viewport: { width, height } });
}
