// Live simulations: the page of `lithe view`, connected to the real server.

import assert from 'node:assert/strict';
import { press, session, settle } from './harness.mjs';
import { judge } from './layout.mjs';
import { Server } from './server.mjs';

const live = (page, text) => page.evaluate(`(() => { const app = window.lithe_viewer; const l = app?.live; const s = app?.session; return ${text}; })()`);
// Asks again and again: the page's policy lets nothing be evaluated from inside.
async function until(page, text, timeout = 60_000) {
  for (const start = performance.now(); !(await live(page, `Boolean(l && s && (${text}))`)); await page.waitForTimeout(25))
    if (performance.now() - start > timeout) throw new Error(`after ${timeout / 1000} s still not: ${text}`);
}
const position = (page, body) => session(page, `s.main.body_position(s.show.bodies.findIndex((b) => ${body}.test(b.name))).toArray()`);
const far = (a, b) => Math.hypot(...a.map((v, i) => v - b[i]));
const kTop = '/box_2/'; // of three boxes
const notice = (page) => page.locator('.notice');

// Runs act(page, server, context) with a server of its own and a page on it.
async function with_server(tests, name, args, act, options = {}) {
  if (!tests.wants(name)) return;
  let server;
  try {
    server = await Server.start(...args);
  } catch (error) {
    await tests.run(name, () => Promise.reject(error));
    return;
  }
  const run = async (page, context) => {
    await until(page, "l.state === 'open'");
    await act(page, server, context);
  };
  await tests.page(name, server.address, run, { allow: (url) => server.allow(url), reducedMotion: 'no-preference', ...options });
  await server.stop();
}

async function pause(page) {
  await until(page, 'l.player.playing');
  await press(page, 'Space');
  await until(page, '!l.player.playing && l.frame && !l.frame.playing');
}

async function push_a_box(page) {
  await until(page, 'l.motion.frames > 5');
  const before = await position(page, kTop);
  const [x, y] = await page.evaluate((p) => {
    const { camera, renderer } = window.lithe_viewer.stage_;
    const v = camera.position.clone().fromArray(p).project(camera);
    return [((v.x + 1) / 2) * renderer.domElement.clientWidth, ((1 - v.y) / 2) * renderer.domElement.clientHeight];
  }, before);
  const eye = await session(page, 'app.stage_.camera.position.toArray()');
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 100, y - 60, { steps: 4 });
  await until(page, 'l.frame.pushed && l.push.grab');
  await until(page, `s.main.body_position(s.show.bodies.findIndex((b) => ${kTop}.test(b.name))).distanceTo({ x: ${before[0]}, y: ${before[1]}, z: ${before[2]} }) > 0.05`);
  await page.mouse.up();
  await until(page, '!l.frame.pushed && !l.push.grab');
  assert.deepEqual(await session(page, 'app.stage_.camera.position.toArray()'), eye, 'the camera stays');
}

async function test_connection(tests) {
  const broken = (text) => /WebSocket connection to .* failed|ERR_CONNECTION_REFUSED|403/.test(text); // what browsers write about it
  await with_server(tests, 'live: a lost connection says so, and comes back when the server does', ['pendulum'], async (page, server) => {
    await until(page, 'l.motion.frames > 5');
    assert.equal(await server.stop(), 0);
    await notice(page).filter({ hasText: /Connection lost/ }).waitFor();
    const again = await Server.start('pendulum', '--port', String(server.port), '--token', server.token);
    Object.assign(server, again);
    await until(page, "l.state === 'open' && l.motion.frames > 5 && document.querySelector('.notice').textContent === ''");
  }, { expected: broken });

  await with_server(tests, 'live: a server that was started anew with another token says what to do', ['pendulum'], async (page, server) => {
    await server.stop();
    Object.assign(server, await Server.start('pendulum', '--port', String(server.port)));
    await notice(page).filter({ hasText: /Open the address that lithe view printed/ }).waitFor({ timeout: 60_000 });
  }, { expected: broken });

  await with_server(tests, 'live: wrong tokens and foreign origins are refused', ['pendulum'], async (page, server, context) => {
    for (const query of ['', '?token=', '?token=wrong', `?token=${server.token}x`]) {
      const stranger = await context.newPage();
      const answer = await stranger.goto(`http://127.0.0.1:${server.port}/${query}`);
      assert.equal(answer.status(), 403, query);
      assert.match(await stranger.innerText('body'), /token|address/i, 'the page says what is wrong');
      await stranger.close();
    }
    const opened = (where, address) => where.evaluate((url) => new Promise((done) => {
      const socket = new WebSocket(url);
      socket.onopen = () => done(true);
      socket.onerror = () => done(false);
    }), address);
    assert.equal(await opened(page, server.socket), true);
    assert.equal(await opened(page, server.socket.replace(server.token, 'wrong')), false);
    const foreign = await context.newPage(); // its origin is null
    assert.equal(await opened(foreign, server.socket), false);
  }, { expected: broken });

  await with_server(tests, 'live: twenty at once see the same simulation', ['catapult'], async (page, server) => {
    const seen = await page.evaluate((address) => Promise.all([...Array(19).keys()].map(() => new Promise((done, fail) => {
      const socket = new WebSocket(address);
      socket.binaryType = 'arraybuffer';
      let [scene, frames] = [null, 0];
      (window.sockets ??= []).push(socket);
      socket.onclose = (event) => fail(new Error(`closed: ${event.code} ${event.reason}`));
      socket.onmessage = ({ data }) => {
        if (typeof data === 'string') {
          const message = JSON.parse(data);
          if (message.type === 'scene') scene = message.live.scene;
        } else if (++frames === 10) done(scene);
      };
    }))), server.socket);
    assert.deepEqual(seen, Array(19).fill('catapult'));
    await until(page, 'l.clients === 20');
    const frames = await live(page, 'l.counts.frames');
    await until(page, `l.counts.frames > ${frames + 10}`);
    await page.evaluate(() => window.sockets.forEach((socket) => {
      socket.onclose = null;
      socket.close();
    }));
    await until(page, 'l.clients === 1');
  });
}

export async function test_live(tests, { after, compact }) {
  await with_server(tests, 'live: connects, plays and moves', ['chain'], async (page) => {
    await until(page, 'l.motion.frames > 5 && l.player.playing');
    const before = await session(page, 's.main.body_position(s.show.bodies.length - 1).toArray()');
    const now = await live(page, 'l.player.end');
    await until(page, `l.player.end > ${now} + 0.2`);
    await settle(page);
    const after = await session(page, 's.main.body_position(s.show.bodies.length - 1).toArray()');
    assert.ok(far(after, before) > 0.02, `${before} → ${after}`);
    assert.match(await page.title(), /chain/);
    assert.equal(await notice(page).innerText(), '');
    assert.equal(await live(page, 'l.counts.dropped'), 0);
  });

  await with_server(tests, 'live: pause, steps of one and ten, reset', ['bouncing_ball'], async (page) => {
    await pause(page);
    await settle(page);
    const [time, step] = await live(page, '[l.player.end, s.show.time_step]');
    await page.waitForTimeout(200);
    assert.equal(await live(page, 'l.player.end'), time);
    for (const [key, count] of [['ArrowRight', 1], ['Shift+ArrowRight', 11]]) {
      await press(page, key);
      await until(page, `l.player.end > ${time + (count - 0.5) * step}`);
      await settle(page);
      assert.ok(Math.abs((await live(page, 'l.player.end')) - time - count * step) < 0.01 * step, `${count} steps`);
    }
    const height = (await position(page, '/ball/'))[2];
    await press(page, '0');
    await until(page, `l.player.end < ${step / 2}`);
    await settle(page);
    const start = (await position(page, '/ball/'))[2];
    assert.ok(start > height + 1e-6, `the ball is back at ${start} m from ${height} m`);
  });

  await with_server(tests, 'live: without gravity a ball does not fall, and with it it does', ['bouncing_ball', '--paused'], async (page) => {
    const gravity = page.getByRole('slider', { name: 'gravity' });
    assert.ok(Math.abs(Number(await gravity.inputValue()) - 9.81) < 0.01);
    const start = (await position(page, '/ball/'))[2];
    await gravity.fill('0');
    await until(page, 'l.panel.values.parameters.includes(0)');
    await press(page, 'Space');
    await until(page, 'l.player.end > 0.3');
    assert.equal((await position(page, '/ball/'))[2], start);
    await page.getByRole('button', { name: 'Reset gravity' }).click();
    const now = await live(page, 'l.player.end');
    await until(page, `l.player.end > ${now + 0.3}`);
    assert.ok((await position(page, '/ball/'))[2] < start - 0.1);
  });

  await with_server(tests, 'live: another scene can be chosen', ['catapult'], async (page) => {
    const bodies = await session(page, 's.show.bodies.length');
    await page.getByRole('combobox', { name: 'Scene' }).selectOption('pendulum');
    await until(page, "l.scene.scene === 'pendulum' && l.motion.frames > 5");
    assert.notEqual(await session(page, 's.show.bodies.length'), bodies);
    assert.match(await page.title(), /pendulum/);
    assert.match(await page.locator('.status').innerText(), /pendulum/);
  });

  await with_server(tests, 'live: a robot has its own name, and its pairs that do not touch', [compact.robot, '--floating-base'], async (page) => {
    assert.equal(await page.title(), 'compact · Lithe');
    const section = page.locator('.panel details').filter({ has: page.locator('.pairs') });
    await section.locator('summary').click();
    assert.deepEqual(await section.locator('li').allInnerTexts(), ['base – head: they touch in 100 % of poses']);
    await page.getByRole('combobox', { name: 'Scene' }).selectOption('pendulum');
    await until(page, "l.scene.scene === 'pendulum' && l.motion.frames > 5");
    assert.equal(await section.isVisible(), false);
  });

  await with_server(tests, 'live: dragging a body pushes it', ['stack:3'], push_a_box);

  await with_server(tests, 'live: two pages see the same, and a slider of one moves the other’s', ['pendulum'], async (page, server, context) => {
    const other = await context.newPage();
    await other.goto(server.address);
    await until(other, "l.state === 'open' && l.motion.frames > 5");
    await until(page, 'l.clients === 2');
    await pause(page);
    await until(other, '!l.player.playing');
    await press(page, 'ArrowRight');
    const time = await live(page, 'l.frame.time');
    await until(other, `l.frame.time >= ${time}`);
    await settle(other);
    const [here, there] = [await live(page, '[l.frame.time, ...l.frame.poses]'), await live(other, '[l.frame.time, ...l.frame.poses]')];
    assert.deepEqual(here, there);
    await page.getByRole('slider', { name: 'gravity' }).fill('3.5');
    await until(other, 'Math.abs(Number(document.getElementById("parameter-0").value) - 3.5) < 1e-6');
  });

  await test_connection(tests);

  for (const [width, height] of [[360, 740], [1024, 768]])
    await with_server(tests, `live: nothing overlaps or is faint at ${width} pixels`, ['catapult'], async (page) => {
      await until(page, 'l.motion.frames > 5');
      await pause(page);
      for (const theme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme: theme });
        await settle(page);
        await judge(page, theme);
        await press(page, 'v');
        await judge(page, `${theme}, panel toggled`);
        await press(page, 'v');
      }
    }, { viewport: { width, height } });

  await with_recording(tests, after);
}

async function with_recording(tests, after) {
  const name = 'a recording that is served plays, without a socket';
  if (!tests.wants(name)) return;
  const server = await Server.start(after.recording);
  let sockets = 0;
  await tests.page(name, server.address, async (page) => {
    page.on('websocket', () => sockets++);
    await page.waitForFunction(() => window.lithe_viewer.session.player.time > 0.05);
    assert.equal(sockets, 0);
    assert.match(await page.title(), /catapult/);
  }, { allow: (url) => server.allow(url), reducedMotion: 'no-preference' });
  await server.stop();
}
