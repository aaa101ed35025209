import { describe, expect, test } from 'vitest';
import { action_of, belongs_to_control, kBindings } from '../src/page/keys';
import { contrast, kDark, kLight, kRobotColors, kStaticColor, luminance, mix, robot_color } from '../src/stage/palette';
import { split_panes } from '../src/stage/panes';

describe('keys', () => {
  test('do what the design says', () => {
    const expected = { ' ': 'play', ArrowLeft: 'step_back', ArrowRight: 'step_forward', r: 'reset_view', f: 'follow', c: 'collision', g: 'gradients', p: 'plots', '?': 'help' };
    for (const [key, action] of Object.entries(expected)) expect(action_of({ key })).toBe(action);
  });
  test('work in upper case too', () => {
    expect(action_of({ key: 'C', shiftKey: true })).toBe('collision');
    expect(action_of({ key: '?', shiftKey: true })).toBe('help');
  });
  test('Shift makes arrows jump', () => {
    expect(action_of({ key: 'ArrowRight', shiftKey: true })).toBe('jump_forward');
  });
  test('leave the browser its own shortcuts', () => {
    expect(action_of({ key: 'r', ctrlKey: true })).toBeNull();
    expect(action_of({ key: 'c', metaKey: true })).toBeNull();
    expect(action_of({ key: 'q' })).toBeNull();
  });
  test('no key and no action is bound twice', () => {
    const keys = kBindings.flatMap((b) => b.keys);
    expect(new Set(keys).size).toBe(keys.length);
    expect(new Set(kBindings.map((b) => b.action)).size).toBe(kBindings.length);
  });
  test('a focused control keeps the keys it needs', () => {
    expect(belongs_to_control(' ', 'BUTTON', '', false)).toBe(true);
    expect(belongs_to_control('c', 'BUTTON', '', false)).toBe(false);
    expect(belongs_to_control('ArrowLeft', 'INPUT', 'range', false)).toBe(true);
    expect(belongs_to_control('ArrowLeft', 'INPUT', 'range', true)).toBe(false);
    expect(belongs_to_control('c', 'SELECT', '', false)).toBe(true);
    expect(belongs_to_control('Escape', 'SELECT', '', false)).toBe(false);
    expect(belongs_to_control(' ', 'CANVAS', '', false)).toBe(false);
  });
});

describe('palette', () => {
  test('six hues of similar lightness', () => {
    const values = kRobotColors.map(luminance);
    expect(new Set(kRobotColors).size).toBe(6);
    expect(Math.max(...values) / Math.min(...values)).toBeLessThan(1.35);
  });
  test('robots take turns, static things are grey', () => {
    expect(robot_color(0)).toBe(kRobotColors[0]);
    expect(robot_color(7)).toBe(kRobotColors[1]);
    expect(robot_color(-1)).toBe(kStaticColor);
    expect(robot_color(2, true)).toBe(kStaticColor);
  });
  test('contrast is that of WCAG', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  });
  test.each([kLight, kDark])('text and series reach 4.5:1 on $name', (theme) => {
    for (const color of [theme.text, theme.muted, ...theme.series]) expect(contrast(color, theme.background)).toBeGreaterThanOrEqual(4.5);
  });
  test.each([kLight, kDark])('physics colours reach 3:1, as graphics must, on $name', (theme) => {
    for (const color of [theme.normal, theme.friction, theme.gradient]) expect(contrast(color, theme.background)).toBeGreaterThanOrEqual(3);
  });
  test('mix goes from one colour to the other and not beyond', () => {
    expect([0, 0.5, 1, 9].map((t) => mix('#000000', '#ffffff', t))).toEqual(['#000000', '#808080', '#ffffff', '#ffffff']);
  });
});

describe('panes', () => {
  const insets = { right: 320, bottom: 60, top: 20 };
  test('one pane fills the window and is free beside panel and bar', () => {
    const [pane] = split_panes(1280, 800, insets, 1);
    expect([pane.width, pane.height, pane.free_width, pane.free_height]).toEqual([1280, 800, 960, 720]);
  });
  test('two lie beside each other in a wide window, equally large', () => {
    const [a, b] = split_panes(1280, 800, insets, 2);
    expect([a.x, b.x, a.width + b.width]).toEqual([0, 480, 1280]);
    expect(a.free_width).toBe(b.free_width);
  });
  test('and above each other in a high one', () => {
    const [a, b] = split_panes(360, 740, { right: 0, bottom: 90, top: 50 }, 2);
    expect(b.y).toBe(a.height);
    expect(b.y + b.height).toBe(740);
    expect(a.free_height).toBe(b.free_height);
  });
});
