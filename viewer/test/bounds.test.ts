import { expect, test } from 'vitest';
import { parse_show } from '../src/document/document';
import { measure } from '../src/stage/bounds';

function base64(values: ArrayLike<number>): string {
  return Buffer.from(new Float32Array(Array.from(values)).buffer).toString('base64');
}

function document_of(shape: object, pose: number[], up = 'z', fixed = false): string {
  return JSON.stringify({
    format: 'lithe-show', version: 1, title: 't', time_step: 0.01, up, gravity: [0, 0, -9.81],
    bodies: [{ name: 'world', fixed: true, robot: -1 }, { name: 'b', fixed, robot: fixed ? -1 : 0 }],
    shapes: [{ name: 's', body: 1, role: 'collision', position: [0, 0, 0], quaternion: [0, 0, 0, 1], color: null, ...shape }],
    joints: [], curves: [],
    motions: [{ name: 'm', times: base64([0]), poses: base64([0, 0, 0, 0, 0, 0, 1, ...pose]), series: [] }],
  });
}

const kQuarter = Math.SQRT1_2;

test('a long flat box stands on the ground, not above it', () => {
  const { ground, box } = measure(parse_show(document_of({ kind: 'box', half_size: [2, 0.4, 0.1] }, [0, 0, -0.1, 0, 0, 0, 1], 'z', true)));
  expect(ground).toBeCloseTo(-0.2);
  expect(box.max.x).toBeCloseTo(2);
});

test('a box that is turned is measured as it is turned', () => {
  const { box } = measure(parse_show(document_of({ kind: 'box', half_size: [1, 0.2, 0.3] }, [5, 0, 1, 0, 0, kQuarter, kQuarter])));
  expect(box.min.toArray().map((x) => Number(x.toFixed(3)))).toEqual([4.8, -1, 0.7]);
  expect(box.max.toArray().map((x) => Number(x.toFixed(3)))).toEqual([5.2, 1, 1.3]);
});

test('y up becomes z up', () => {
  const { box } = measure(parse_show(document_of({ kind: 'capsule', radius: 0.1, half_length: 0.5 }, [0, 2, 0, 0, 0, 0, 1], 'y')));
  // Along the document's z, which is the stage's −y; two metres high.
  expect(box.min.toArray().map((x) => Number(x.toFixed(3)))).toEqual([-0.1, -0.6, 1.9]);
  expect(box.max.toArray().map((x) => Number(x.toFixed(3)))).toEqual([0.1, 0.6, 2.1]);
});
