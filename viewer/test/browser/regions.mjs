// Pictures, judged by regions: what a scene must show is where the camera sees it, in its colour, and a toggle changes
// its own region and nothing else.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { press, seek, session, settle } from './harness.mjs';
import { around, brightness, distance, hue, hue_distance, inside, picture, rgb } from './picture.mjs';

// The colours that the code names: pictures must show these.
const palette = readFileSync(new URL('../../src/stage/palette.ts', import.meta.url), 'utf8');
const kRobots = /kRobotColors = \[([^\]]*)\]/.exec(palette)[1].match(/#[0-9a-f]{6}/g).map(rgb);
const theme_colors = (constant) => Object.fromEntries([...new RegExp(`const ${constant}[^{]*\\{([^}]*)\\}`).exec(palette)[1]
  .matchAll(/(\w+): '(#[0-9a-f]{6})'/g)].map(([, name, hex]) => [name, rgb(hex)]));
const kThemes = { light: theme_colors('kLight'), dark: theme_colors('kDark') };

// Where the camera sees points of the world, in pixels of the window.
function project(page, points, pane = 0) {
  return page.evaluate(([list, i]) => {
    const stage = window.lithe_viewer.stage_;
    const r = stage.pane_rects()[i];
    const camera = stage.camera.clone(); // the picture's middle is the middle of what panel and bar leave free
    camera.clearViewOffset();
    camera.aspect = r.free_width / r.free_height;
    camera.updateProjectionMatrix();
    return list.map((p) => {
      const v = camera.position.clone().fromArray(p).project(camera);
      return [r.free_x + ((v.x + 1) / 2) * r.free_width, r.free_y + ((1 - v.y) / 2) * r.free_height];
    });
  }, [points, pane]);
}

const positions = (page) => session(page, 's.show.bodies.map((_, i) => s.main.body_position(i).toArray())');
const box_of = (points, margin = 0) => {
  const [xs, ys] = [points.map((p) => p[0]), points.map((p) => p[1])];
  const [x, y] = [Math.min(...xs) - margin, Math.min(...ys) - margin];
  return { x, y, width: Math.max(...xs) + margin - x, height: Math.max(...ys) + margin - y };
};
const region_of = async (page, selector) => page.locator(selector).boundingBox();

// Contact points of the frame that is shown, with the ends of their arrows.
function contacts(page) {
  return session(page, `(() => {
    const { motion, frame } = s.main;
    const out = [];
    for (let c = motion.contact_offsets[frame]; c < motion.contact_offsets[frame + 1]; c++) {
      const v = motion.contact_values.subarray(9 * c, 9 * c + 9);
      const p = [...v.subarray(0, 3)];
      out.push(p, p.map((x, i) => x + v[6 + i] / s.scales.newtons_per_metre));
    }
    return out;
  })()`);
}

// Corners of the boxes of a scene that is made of boxes, per body.
function corners(page) {
  return session(page, `s.show.shapes.filter((h) => h.kind === 'box').map((h) => {
    const frame = s.main.bodies.frames[h.body];
    return [...Array(8).keys()].map((k) => frame.position.clone().fromArray(h.half_size.map((v, i) => (k >> i & 1 ? v : -v))).applyMatrix4(frame.matrixWorld).toArray());
  })`);
}

// The points of a difference that lie outside of the regions where it was expected.
const outside = (points, regions) => points.filter((p) => !regions.some((r) => inside(p, r)));

async function stack_regions(page, name) {
  const colors = kThemes[name];
  await press(page, 'n'); // arrows would cover the bodies
  const shot = await picture(page);

  // The background's own colour where nothing is drawn: the top of the stage, below the tools.
  const sky = { x: 200, y: 60, width: 60, height: 20 };
  assert.ok(distance(shot.mean(sky), colors.background) < 2, `background ${shot.mean(sky)} instead of ${colors.background}`);
  assert.ok(shot.contrast(sky) < 1, 'the background is plain');

  // Each box in its robot's hue, where the camera sees its middle.
  const robots = await session(page, 's.show.bodies.map((b) => b.robot)');
  const seen = await project(page, await positions(page));
  let boxes = 0;
  for (let b = 0; b < robots.length; b++) {
    if (robots[b] < 0) continue;
    const color = shot.mean(around(seen[b], 4));
    const wanted = kRobots[robots[b] % kRobots.length];
    assert.ok(hue_distance(color, wanted) < 15 && hue(color).saturation > 0.15, `body ${b}: ${color.map(Math.round)} has not the hue of ${wanted}`);
    boxes++;
  }
  assert.equal(boxes, 3);

  // The shadow of the topmost box, where its light falls, is darker than the ground on the other side. Ground beside the grid's
  // lines is the background.
  const [light, top] = [
    await session(page, 'app.stage_.key_.position.clone().sub(app.stage_.key_.target.position).toArray()'),
    (await positions(page)).reduce((a, b) => (b[2] > a[2] ? b : a)),
  ];
  const cast = (sign) => [top[0] - (sign * light[0] * top[2]) / light[2], top[1] - (sign * light[1] * top[2]) / light[2], 0];
  const [shadow, lit] = await project(page, [cast(1), cast(-1)]);
  const hidden = await Promise.all((await corners(page)).map(async (c) => box_of(await project(page, c), 4)));
  for (const point of [shadow, lit]) assert.ok(!hidden.some((r) => inside(point, r)), `a box hides the ground at ${point.map(Math.round)}`);
  const [dark, bright] = [shadow, lit].map((p) => brightness(shot.mean(around(p, 5))));
  const least = name === 'light' ? 20 : 4;
  assert.ok(dark < bright - least, `shadow ${dark.toFixed(1)}, ground ${bright.toFixed(1)}`);

  // The panel has text on its surface.
  const panel = await region_of(page, '.panel');
  assert.ok(shot.contrast(panel) > 12, `contrast of the panel ${shot.contrast(panel)}`);
}

export async function test_regions(tests, { stack, catapult, humanoid, sliding }) {
  for (const theme of ['light', 'dark'])
    await tests.page(`sky, bodies, shadow and panel are where they must be (${theme})`, stack.html, async (page) => {
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme);
      await seek(page, 0.15);
      await stack_regions(page, theme);
    }, { colorScheme: theme });

  await tests.page('D changes the background from light to dark, and back', stack.html, async (page) => {
    const sky = { x: 200, y: 60, width: 60, height: 20 };
    for (const theme of ['light', 'dark', 'light']) {
      assert.ok(distance((await picture(page)).mean(sky), kThemes[theme].background) < 2, theme);
      await press(page, 'd');
    }
  }, { colorScheme: 'light' });

  for (const theme of ['light', 'dark'])
    await tests.page(`forces are arrows at the contacts, in teal, and are gone when toggled off (${theme})`, stack.html, async (page) => {
      await seek(page, 0.15);
      const at = await project(page, await contacts(page));
      assert.ok(at.length >= 2 * 12, `${at.length / 2} contacts of three boxes`);
      const near = box_of(at, 12);
      const on = await picture(page);
      const { normal } = kThemes[theme];
      assert.ok(on.count(near, normal) > 200, `${on.count(near, normal)} teal pixels at the contacts`);
      await press(page, 'n');
      const off = await picture(page);
      assert.equal(off.count(near, normal), 0, 'no teal without arrows');
      // The difference: at the contacts, the legend, and the row in the panel.
      const row = await page.locator('.row.toggle', { hasText: 'Contacts' }).boundingBox();
      const legend = { x: 0, y: 520 - 57 - 100, width: 200, height: 100 };
      const stray = outside(on.differences(off), [near, row, legend]);
      assert.equal(stray.length, 0, `pixels changed elsewhere, first ${stray[0]}`);
    }, { colorScheme: theme });

  await tests.page('friction is orange where something slides', sliding.html, async (page) => {
    await seek(page, 0.1);
    const near = box_of(await project(page, await contacts(page)), 12);
    const on = (await picture(page)).count(near, kThemes.light.friction);
    await press(page, 'n');
    const off = (await picture(page)).count(near, kThemes.light.friction);
    assert.ok(on > 20 && off === 0, `${on} orange pixels with forces, ${off} without`);
  }, { colorScheme: 'light' });

  await tests.page('joint axes, centre of mass, traces and collision shapes change the bodies, not panel, bar or sky', humanoid.html, async (page) => {
    await press(page, 'n');
    await press(page, 'End');
    const path = await session(page, `(() => {
      const { poses } = s.main.motion;
      return [...Array(poses.length / 7).keys()].map((k) => [...poses.subarray(7 * k, 7 * k + 3)]);
    })()`);
    const body = box_of(await project(page, path), 100);
    const bar = await region_of(page, '.bar');
    for (const [key, text] of [['c', 'Collision'], ['j', 'Joint'], ['m', 'Centre'], ['t', 'Traces']]) {
      const off = await picture(page);
      await press(page, key);
      const on = await picture(page);
      const row = await page.locator('.row.toggle', { hasText: text }).boundingBox();
      const changed = off.differences(on);
      const drawn = changed.filter((p) => inside(p, body) && p[1] < bar.y);
      assert.ok(drawn.length > 100, `${text}: ${drawn.length} pixels changed at the body`);
      const stray = outside(changed, [body, row]).concat(changed.filter((p) => inside(p, bar)));
      assert.equal(stray.length, 0, `${text}: pixels changed elsewhere, first ${stray[0]}`);
      await press(page, key);
      assert.equal(off.differences(await picture(page)).length, 0, `${text}: gone when toggled off`);
    }
  });

  await tests.page('two motions side by side: each pane shows its own projectile', catapult.html, async (page) => {
    await press(page, 'n', 'End');
    const shot = await picture(page);
    const places = await session(page, `s.views_.map((v) => v.body_position(s.show.bodies.findIndex((b) => /projectile/.test(b.name))).toArray())`);
    const robot = await session(page, `s.show.bodies.find((b) => /projectile/.test(b.name)).robot`);
    assert.ok(Math.hypot(...places[0].map((v, i) => v - places[1][i])) > 0.2, 'the two motions differ');
    for (const pane of [0, 1]) {
      const [at] = await project(page, [places[pane]], pane);
      const color = shot.mean(around(at, 2));
      assert.ok(hue_distance(color, kRobots[robot % kRobots.length]) < 15 && hue(color).saturation > 0.15, `pane ${pane}: ${color.map(Math.round)} at ${at.map(Math.round)}`);
    }
  });

  await tests.page('a picture changes as time goes on, where the body moves', catapult.html, async (page) => {
    await press(page, 'n', 'b', 'b');
    await settle(page);
    const start = await picture(page);
    await press(page, 'End');
    const moved = start.differences(await picture(page));
    const [bar, panel] = [await region_of(page, '.bar'), await region_of(page, '.panel')];
    const status = await region_of(page, '.status');
    const stage = moved.filter((p) => !inside(p, bar) && !inside(p, panel) && !inside(p, status));
    assert.ok(stage.length > 300, `${stage.length} pixels of the stage changed`);
    const sky = stage.filter(([, y]) => y < 44);
    assert.equal(sky.length, 0, `the sky changed at ${sky[0]}`);
  });
}
