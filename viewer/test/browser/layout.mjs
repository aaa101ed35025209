// How the page lies in windows of three widths, light and dark: nothing overlaps or sticks out, text can be read, and everything
// that can be operated has a name.

import assert from 'node:assert/strict';
import { press, settle } from './harness.mjs';

const kSizes = [[360, 740], [1024, 768], [1920, 1080]];

// Runs in the page. Boxes of what is visible, cut to the part that its scrolling ancestors show, and how pairs of them intersect.
function find_overlaps() {
  const shown = (e) => {
    const r = e.getBoundingClientRect();
    let [left, top, right, bottom] = [r.left, r.top, r.right, r.bottom];
    for (let p = e.parentElement; p; p = p.parentElement) {
      if (getComputedStyle(p).overflowY === 'visible') continue;
      const c = p.getBoundingClientRect();
      [left, top, right, bottom] = [Math.max(left, c.left), Math.max(top, c.top), Math.min(right, c.right), Math.min(bottom, c.bottom)];
    }
    return right - left > 1 && bottom - top > 1 ? { left, top, right, bottom } : null;
  };
  const visible = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: false });
  const name = (e) => e.getAttribute('aria-label') ?? (e.textContent.trim().slice(0, 30) || e.className || e.tagName);
  const scope = document.querySelector('dialog[open]') ?? document; // a dialog covers all else on purpose
  const things = [...scope.querySelectorAll('button, input:not([type=file]), select, summary, output, .status, .legend, .label, .row .name, .row .value, .row > label, figcaption')]
    .filter(visible).map((e) => ({ e, name: name(e), box: shown(e) })).filter((t) => t.box);
  const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  const out = [];
  things.forEach((a, i) => things.slice(i + 1).forEach((b) => {
    if (!a.e.contains(b.e) && !b.e.contains(a.e) && overlap(a.box, b.box)) out.push(`${a.name} / ${b.name}`);
  }));
  // Groups that float over the stage lie beside each other, too.
  const groups = ['.tools', '.status', '.bar', '.panel', '.legend'].map((q) => scope.querySelector(q)).filter((e) => e && visible(e));
  groups.forEach((a, i) => groups.slice(i + 1).forEach((b) => {
    if (overlap(a.getBoundingClientRect(), b.getBoundingClientRect())) out.push(`.${a.className} / .${b.className}`);
  }));
  for (const { e, name: text, box } of things) {
    if (box.left < -0.5 || box.right > innerWidth + 0.5 || box.top < -0.5 || box.bottom > innerHeight + 0.5) out.push(`${text} sticks out of the window`);
    const whole = e.getBoundingClientRect();
    if (!e.matches('button, input, select, summary') || box.bottom - box.top < whole.height / 2) continue; // half of it is scrolled away
    const hit = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
    if (hit !== e && !e.contains(hit) && !hit?.contains(e) && hit?.closest('label')?.control !== e) out.push(`${text} is covered by ${hit?.className || hit?.tagName}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) out.push('the page scrolls sideways');
  return { out, count: things.length };
}

// Runs in the page. Texts with less contrast than 4.5:1, icons with less than 3:1, each against all that lies behind it. What lies
// behind everything is the stage, in the theme's background.
function find_faint() {
  const parse = (text) => {
    const numbers = text.match(/[-\d.e]+/g).map(Number);
    const [r, g, b, a = 1] = text.startsWith('color(srgb') ? [...numbers.slice(0, 3).map((v) => v * 255), ...numbers.slice(3)] : numbers;
    return [r, g, b, a];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const luminance = (c) => {
    const [r, g, b] = c.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const base = parse(getComputedStyle(document.body).backgroundColor);
  const behind = (e) => {
    const chain = [];
    for (let p = e; p; p = p.parentElement) chain.unshift(parse(getComputedStyle(p).backgroundColor));
    return chain.reduce((below, layer) => over(layer, below), base.slice(0, 3));
  };
  const judge = (e, color, least, text) => {
    let opacity = 1;
    for (let p = e; p; p = p.parentElement) opacity *= Number(getComputedStyle(p).opacity);
    const back = behind(e);
    const ratio = contrast(over([...color.slice(0, 3), color[3] * opacity], back), back);
    return ratio < least ? [`${text}: ${ratio.toFixed(2)} : 1`] : [];
  };
  const out = [];
  let count = 0;
  const walker = document.createTreeWalker(document.getElementById('app'), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.data.trim() || !e.checkVisibility({ visibilityProperty: true }) || e.closest('option, :disabled') || e.closest('label')?.control?.disabled) continue;
    out.push(...judge(e, parse(getComputedStyle(e).color), 4.5, node.data.trim().slice(0, 40)));
    count++;
  }
  for (const e of document.querySelectorAll('button.icon')) {
    if (!e.checkVisibility({ visibilityProperty: true })) continue;
    out.push(...judge(e, parse(getComputedStyle(e).color), 3, e.getAttribute('aria-label')));
    count++;
  }
  return { out, count };
}

// What a screen reader is told, from the browser's own tree: every control has a name, and no two buttons the same one.
async function unnamed(page, context) {
  const tools = await context.newCDPSession(page);
  const { nodes } = await tools.send('Accessibility.getFullAXTree');
  const roles = ['button', 'checkbox', 'radio', 'slider', 'combobox', 'textbox', 'DisclosureTriangle', 'dialog', 'img'];
  const controls = nodes.filter((n) => !n.ignored && roles.includes(n.role?.value));
  const buttons = controls.filter((n) => n.role.value === 'button').map((n) => n.name.value);
  return {
    count: controls.length,
    out: [...controls.filter((n) => !n.name?.value?.trim()).map((n) => n.role.value), ...buttons.filter((b, i) => buttons.indexOf(b) !== i)],
  };
}

export async function judge(page, what) {
  const overlaps = await page.evaluate(find_overlaps);
  assert.deepEqual(overlaps.out, [], `${what}: overlaps`);
  const faint = await page.evaluate(find_faint);
  assert.deepEqual(faint.out, [], `${what}: contrast`);
  assert.ok(overlaps.count > 10 && faint.count > 15, `${what}: only ${overlaps.count} boxes and ${faint.count} texts were looked at`);
}

export async function test_layout(tests, { catapult, humanoid }) {
  const cases = [...kSizes.map((size) => ['catapult', catapult, size]), ['humanoid', humanoid, kSizes[0]]];
  for (const [name, document, [width, height]] of cases)
    await tests.page(`nothing overlaps or is faint at ${width} pixels, and controls have names: ${name}`, document.html, async (page, context) => {
      for (const theme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme: theme });
        await press(page, 'End');
        for (const state of ['as it opens', 'panel toggled']) { // the panel closes, or opens as a sheet
          await judge(page, `${theme}, ${state}`);
          const panel = page.locator('.panel');
          if (await panel.isVisible()) {
            await panel.evaluate((e) => e.scrollTo(0, e.scrollHeight));
            await judge(page, `${theme}, ${state}, scrolled`);
            const names = await unnamed(page, context);
            assert.deepEqual(names.out, []);
            assert.ok(names.count > 10, `only ${names.count} controls were looked at`);
          }
          await press(page, 'v');
        }
      }
      await press(page, '?');
      assert.deepEqual((await page.evaluate(find_overlaps)).out, [], 'help');
      assert.deepEqual((await page.evaluate(find_faint)).out, [], 'help');
    }, { viewport: { width, height } });

  await tests.page('the window may change its size', catapult.html, async (page) => {
    for (const [width, height] of [[1400, 800], [720, 600], [400, 800], [320, 568], [900, 420]]) {
      await page.setViewportSize({ width, height });
      await settle(page);
      await judge(page, `${width} × ${height}`);
    }
  });
}
