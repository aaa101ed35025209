import { describe, expect, test } from 'vitest';
import { arrow_length, contact_count, contact_ticks, lengths, nice_number, split_force, units_per_metre, with_unit } from '../src/document/contacts';
import { decode_show } from '../src/document/document';
import type { Motion } from '../src/document/show';
import { make_sample } from './sample';

// A motion of which only the contacts matter: pairs of shapes per frame.
function touching(frames: [number, number][][]): Motion {
  const offsets = [0];
  for (const pairs of frames) offsets.push(offsets[offsets.length - 1] + pairs.length);
  return {
    name: '',
    times: Float32Array.from(frames, (_, k) => k),
    poses: new Float32Array(0),
    contact_offsets: Uint32Array.from(offsets),
    contact_shapes: Uint32Array.from(frames.flat(2)),
    contact_values: new Float32Array(9 * offsets[offsets.length - 1]),
    centre_of_mass: null,
    series: [],
    gradients: null,
  };
}

describe('contact_ticks', () => {
  test('one for the beginning, one for the end', () => {
    expect(contact_ticks(touching([[], [[0, 1]], [[0, 1]], []]))).toEqual([{ time: 1, kind: 'begin' }, { time: 3, kind: 'end' }]);
  });
  test('contacts of the first frame do not begin', () => {
    expect(contact_ticks(touching([[[0, 1]], [[0, 1]]]))).toEqual([]);
  });
  test('more points of the same pair are the same contact, in either order', () => {
    expect(contact_ticks(touching([[[0, 1]], [[0, 1], [1, 0]], [[1, 0]]]))).toEqual([]);
  });
  test('one pair for another in one frame is an end and a beginning', () => {
    expect(contact_ticks(touching([[[0, 1]], [[0, 2]]])).map((t) => t.kind).sort()).toEqual(['begin', 'end']);
  });
  test('of the sample begin when the box lands', () => {
    const motion = decode_show(make_sample()).motions[0];
    const first = contact_ticks(motion)[0];
    expect(first.kind).toBe('begin');
    expect(first.time).toBeCloseTo(Math.sqrt((2 * (1.1 - 0.18)) / 9.81), 1);
    expect(contact_count(motion, 0)).toBe(0);
  });
});

describe('forces', () => {
  test('split into a part along the normal and one across', () => {
    const { normal, friction } = split_force([3, 0, 10], [0, 0, 1]);
    expect(normal).toEqual([0, 0, 10]);
    expect(friction).toEqual([3, 0, 0]);
  });
  test('the parts add up and are orthogonal', () => {
    const force = [1, -2, 4];
    const { normal, friction } = split_force(force, [0.6, 0, 0.8]);
    force.forEach((f, i) => expect(normal[i] + friction[i]).toBeCloseTo(f));
    expect(normal.reduce((sum, n, i) => sum + n * friction[i], 0)).toBeCloseTo(0);
  });
  test('lengths reads vectors with a stride', () => {
    expect(lengths([9, 3, 4, 0, 9, 0, 0, 2], 4, 1)).toEqual([5, 2]);
  });
});

describe('scaling', () => {
  test('nice numbers are 1, 2 or 5 times a power of ten', () => {
    expect([0.013, 1, 1.01, 3, 7, 501].map(nice_number)).toEqual([0.02, 1, 2, 5, 10, 1000]);
    expect([0, -3, NaN, Infinity].map(nice_number)).toEqual([1, 1, 1, 1]);
  });
  test('large forces are drawn at most as long as the target', () => {
    const forces = Array.from({ length: 100 }, (_, i) => i);
    const units = units_per_metre(forces, 0.5);
    const length = arrow_length(94, units, 10);
    expect(length).toBeLessThanOrEqual(0.5);
    expect(length).toBeGreaterThan(0.15);
  });
  test('one impact does not shrink all others', () => {
    const steady = new Array(99).fill(10);
    expect(units_per_metre([...steady, 1e6], 1)).toBe(units_per_metre(steady, 1));
  });
  test('the impact itself ends at the limit', () => {
    expect(arrow_length(1e6, 10, 1.2)).toBe(1.2);
  });
  test('nothing to scale by gives one', () => {
    expect(units_per_metre([], 1)).toBe(1);
    expect(units_per_metre([0, 0], 1)).toBe(1);
  });
  test('the legend reads well', () => {
    expect(with_unit(500, 'N')).toBe('500 N');
    expect(with_unit(2000, 'N')).toBe('2 kN');
    expect(with_unit(0.02, 'N')).toBe('20 mN');
    expect(with_unit(0, 'N')).toBe('0 N');
    expect(with_unit(0.02, '')).toBe('0.02');
  });
});
