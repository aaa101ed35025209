// Time and what is displayed, by mouse and by keyboard.

import assert from 'node:assert/strict';
import { press, session, settle } from './harness.mjs';

// Body of the scene that moves furthest: what must be seen to move.
const kProjectile = "s.show.bodies.findIndex((b) => /projectile/.test(b.name))";
const near = (value, wanted, limit) => assert.ok(Math.abs(value - wanted) < limit, `${value} instead of ${wanted} ± ${limit}`);

async function middle(locator, share = 0.5) {
  await locator.scrollIntoViewIfNeeded();
  const box = await locator.boundingBox();
  return [box.x + box.width * share, box.y + box.height / 2];
}

// Names of all that the Tab key reaches, from the page's start until it comes back.
async function tab_round(page) {
  await page.evaluate(() => document.activeElement?.blur());
  const reached = [];
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press('Tab');
    const now = await page.evaluate(() => {
      const e = document.activeElement;
      if (!e || e === document.body) return null;
      e.dataset.reached = 'yes';
      const style = getComputedStyle(e.type === 'radio' ? e.nextElementSibling : e);
      return { name: e.getAttribute('aria-label') ?? e.labels?.[0]?.textContent ?? e.textContent, outline: `${style.outlineStyle} ${style.outlineWidth}` };
    });
    if (now === null) return reached;
    reached.push(now);
  }
  throw new Error('Tab never leaves the page');
}

export async function test_playing(tests, { catapult, sample }) {
  await tests.page('plays on load, and the bodies move', catapult.html, async (page) => {
    await page.waitForFunction(() => window.lithe_viewer.session.player.time > 0.02);
    const before = await session(page, `s.main.body_position(${kProjectile}).toArray()`);
    await page.waitForFunction(() => window.lithe_viewer.session.player.time > 0.3);
    const after = await session(page, `s.main.body_position(${kProjectile}).toArray()`);
    assert.ok(Math.hypot(...after.map((v, i) => v - before[i])) > 0.05, `${before} → ${after}`);
  }, { reducedMotion: 'no-preference' });

  await tests.page('nothing moves when the system prefers reduced motion, and Space plays and pauses', catapult.html, async (page) => {
    await page.waitForTimeout(200);
    assert.equal(await session(page, 's.player.time'), 0);
    await press(page, 'Space');
    await page.waitForFunction(() => window.lithe_viewer.session.player.time > 0.05);
    await press(page, 'Space');
    const time = await session(page, 's.player.time');
    await page.waitForTimeout(150);
    assert.equal(await session(page, 's.player.time'), time);
  });

  await tests.page('arrows step by frames, Home and End jump, speed and loop', catapult.html, async (page) => {
    const speed = page.getByRole('combobox', { name: 'Speed' });
    assert.equal(await speed.inputValue(), '0.25'); // half a second: slow enough to be watched
    await press(page, 'ArrowRight', 'Shift+ArrowRight');
    assert.equal(await session(page, 's.player.frame'), 11);
    await press(page, 'ArrowLeft');
    assert.equal(await session(page, 's.player.frame'), 10);
    await press(page, 'End');
    assert.equal(await session(page, 's.player.frame'), await session(page, 's.player.frames - 1'));
    await press(page, 'Home', '[');
    assert.equal(await session(page, 's.player.frame'), 0);
    assert.equal(await speed.inputValue(), '0.1');
    await speed.selectOption('4');
    await page.getByRole('button', { name: /^Loop/ }).click();
    assert.equal(await page.getByRole('button', { name: /^Loop/ }).getAttribute('aria-pressed'), 'false');
    await press(page, 'Space');
    await page.waitForFunction(() => !window.lithe_viewer.session.player.playing);
    near(await session(page, 's.player.time'), await session(page, 's.player.end'), 1e-9);
  });

  await tests.page('scrubber and plots seek', catapult.html, async (page) => {
    const end = await session(page, 's.player.end');
    const scrubber = page.getByRole('slider', { name: 'Time' });
    await page.mouse.click(...(await middle(scrubber)));
    near(await session(page, 's.player.time'), end / 2, 0.03 * end);
    await page.mouse.move(...(await middle(scrubber)));
    await page.mouse.down();
    await page.mouse.move(...(await middle(scrubber, 0.75)), { steps: 3 });
    await page.mouse.up();
    near(await session(page, 's.player.time'), (end * 3) / 4, 0.03 * end);
    await page.mouse.click(...(await middle(page.locator('.u-over').first(), 1 / 3)));
    near(await session(page, 's.player.time'), end / 3, 0.03 * end);
    assert.equal(await scrubber.getAttribute('aria-valuetext'), `${(await session(page, 's.player.time')).toFixed(3)} s`);
  });

  await tests.page('keys and boxes toggle the same display', sample.html, async (page) => {
    for (const [key, name] of [['c', 'collision'], ['j', 'joints'], ['m', 'centre_of_mass'], ['t', 'traces'], ['g', 'gradients']]) {
      await press(page, key);
      assert.equal(await session(page, `s.display.${name}`), true, name);
    }
    const box = page.getByRole('checkbox', { name: /Gradients/ });
    assert.equal(await box.isChecked(), true);
    await box.click();
    assert.equal(await session(page, 's.display.gradients'), false);
  });

  await tests.page('B goes round the ways to compare, F follows and R lets go', catapult.html, async (page) => {
    assert.equal(await session(page, 's.compare'), 'side');
    for (const way of ['ghost', 'single', 'side']) {
      await press(page, 'b');
      assert.equal(await session(page, 's.compare'), way);
    }
    const target = () => session(page, 'app.stage_.controls.target.toArray()');
    const home = await target();
    await press(page, 'f', 'End');
    const follow = await session(page, 's.follow');
    assert.ok(follow > 0);
    assert.deepEqual(await target(), await session(page, `s.main.body_position(${follow}).toArray()`));
    await press(page, 'r');
    assert.equal(await session(page, 's.follow'), null);
    (await target()).forEach((v, i) => near(v, home[i], 1e-6));
  });

  await tests.page('the mouse orbits, zooms and pans', catapult.html, async (page) => {
    const camera = () => session(page, '[...app.stage_.camera.position.toArray(), ...app.stage_.controls.target.toArray()]');
    const moved = (a, b, from) => Math.hypot(...[0, 1, 2].map((i) => a[from + i] - b[from + i]));
    const start = await camera();
    await page.mouse.move(300, 300);
    await page.mouse.down();
    await page.mouse.move(360, 320, { steps: 3 });
    await page.mouse.up();
    const orbited = await camera();
    assert.ok(moved(start, orbited, 0) > 0.01 && moved(start, orbited, 3) < 1e-9, 'a drag orbits about the target');
    await page.mouse.wheel(0, -300);
    await settle(page);
    const zoomed = await camera();
    const away = (c) => Math.hypot(...[0, 1, 2].map((i) => c[i] - c[3 + i]));
    assert.ok(away(zoomed) < 0.98 * away(orbited), 'the wheel goes nearer');
    await page.mouse.down({ button: 'right' });
    await page.mouse.move(330, 330, { steps: 3 });
    await page.mouse.up({ button: 'right' });
    assert.ok(moved(zoomed, await camera(), 3) > 0.001, 'the right button moves the target');
  });

  await tests.page('help opens with ? and closes with Esc', catapult.html, async (page) => {
    await press(page, '?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await press(page, 'Escape');
    assert.equal(await page.getByRole('dialog').count(), 0);
  });

  await tests.page('Tab reaches every control, each with an outline, and Space works them', catapult.html, async (page) => {
    const reached = await tab_round(page);
    const bare = reached.filter((r) => /^none| 0px$/.test(r.outline));
    assert.deepEqual(bare, []);
    const missed = await page.evaluate(() => [...document.querySelectorAll('button, input, select, summary, canvas.stage')]
      .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled && !e.dataset.reached)
      .filter((e) => e.type !== 'radio' || ![...document.getElementsByName(e.name)].some((r) => r.dataset.reached)) // one of a group
      .map((e) => e.outerHTML.slice(0, 120)));
    assert.deepEqual(missed, []);
    await page.getByRole('button', { name: /^Play/ }).focus();
    await page.keyboard.press('Space');
    await page.waitForFunction(() => window.lithe_viewer.session.player.playing);
    await page.keyboard.press('Space');
    await page.waitForFunction(() => !window.lithe_viewer.session.player.playing);
    await page.getByRole('checkbox', { name: /Traces/ }).focus();
    await page.keyboard.press('Space');
    assert.equal(await session(page, 's.display.traces'), true);
    await page.getByRole('slider', { name: 'Time' }).focus();
    await press(page, 'Home', 'ArrowRight');
    assert.equal(await session(page, 's.player.frame'), 1);
  });
}
