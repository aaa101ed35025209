import { describe, expect, test } from 'vitest';
import { decode_frame, type LiveFrame } from '../src/live/frame';
import { encode_live_frame, type FrameContent } from './live_encode';

const kSizes = { bodies: 2, shapes: 3, joints: 1 };

function content(change: Partial<FrameContent> = {}): FrameContent {
  return {
    scene: 7, epoch: 2, number: 11, time: 0.1 + 0.2, step_time: 21.5, real_time: 0.5, playing: true, diverged: false, solver: 4,
    kinetic: 1, potential: 2, contact_force: 3, loss: 4,
    poses: [0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 0, 0, Math.SQRT1_2, Math.SQRT1_2],
    centre_of_mass: [5, 6, 7],
    contact_shapes: [1, 0, 2, 1],
    contact_values: Array.from({ length: 18 }, (_, i) => i),
    joints: 1,
    gradients: { bodies: [1, 2, 3, 4, 5, 6], joints: [9] },
    ...change,
  };
}

const decode = (bytes: Uint8Array<ArrayBuffer>, scene = 7) => decode_frame(bytes.slice().buffer, kSizes, scene);
const problem = (bytes: Uint8Array<ArrayBuffer>) => {
  const result = decode(bytes);
  return result !== 'stale' && 'problem' in result ? result.problem : null;
};

// Numbers of a generator with a seed: a failure can be repeated.
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('decode_frame', () => {
  test('gives back what a server wrote', () => {
    const { frame } = decode(encode_live_frame(content())) as { frame: LiveFrame };
    expect(frame).toMatchObject({ epoch: 2, number: 11, time: 0.1 + 0.2, step_time: 21.5, real_time: 0.5, playing: true, diverged: false, pushed: false, solver: 4, kinetic: 1, potential: 2, contact_force: 3, loss: 4 });
    expect([...frame.poses.subarray(7, 10)]).toEqual([1, 2, 3]);
    expect([...frame.centre_of_mass!]).toEqual([5, 6, 7]);
    expect([...frame.contact_shapes]).toEqual([1, 0, 2, 1]);
    expect([...frame.contact_values]).toEqual(content().contact_values);
    expect([...frame.body_gradients!]).toEqual([1, 2, 3, 4, 5, 6]);
    expect([...frame.joint_gradients!]).toEqual([9]);
  });
  test('reads words where the protocol says, not where its own encoder puts them', () => {
    const bytes = new Uint8Array(4 * (18 + 14));
    const view = new DataView(bytes.buffer);
    [[0, 0x3146494c], [1, 7], [2, 5], [3, 6], [8, 5], [9, 1], [10, 2], [13, 1]].forEach(([i, v]) => view.setUint32(4 * i, v, true));
    view.setFloat64(16, 1.25, true);
    [[6, 3], [7, 2], [14, 10], [15, 20], [16, 30], [17, 40], [24, 1], [31, 1]].forEach(([i, v]) => view.setFloat32(4 * i, v, true));
    const { frame } = decode(bytes) as { frame: LiveFrame };
    expect(frame).toMatchObject({ epoch: 5, number: 6, time: 1.25, step_time: 3, real_time: 2, playing: true, pushed: true, diverged: false, solver: 1, kinetic: 10, potential: 20, contact_force: 30, loss: 40, centre_of_mass: null, body_gradients: null, joint_gradients: null });
  });
  test('a frame of another scene is stale, which is no mistake', () => {
    expect(decode(encode_live_frame(content({ scene: 8 })))).toBe('stale');
  });
  test('every truncation is refused', () => {
    const whole = encode_live_frame(content());
    for (let length = 0; length < whole.length; length++) expect(problem(whole.subarray(0, length)), `${length} bytes`).toMatch(/bytes|words/);
  });
  test('so is a longer frame than its counts say', () => {
    const longer = new Uint8Array(encode_live_frame(content()).length + 4);
    longer.set(encode_live_frame(content()));
    expect(problem(longer)).toMatch(/65 words, but its counts ask for 64/);
  });
  test('counts of another scene, a wrong magic and an unknown solver are named', () => {
    expect(problem(encode_live_frame(content({ poses: [0, 0, 0, 0, 0, 0, 1] })))).toMatch(/1 bodies, the scene 2/);
    expect(problem(encode_live_frame(content({ joints: 4 })))).toMatch(/4 joints, the scene 1/);
    expect(problem(encode_live_frame(content({ solver: 6 })))).toMatch(/answer 6/);
    const other = encode_live_frame(content());
    other[0] = 0;
    expect(problem(other)).toMatch(/instead of LIF1/);
  });
  test('a count that would wrap around is refused, not allocated', () => {
    const bytes = encode_live_frame(content());
    new DataView(bytes.buffer).setUint32(44, 0xffffffff, true);
    expect(problem(bytes)).toMatch(/its counts ask for 47244640/);
  });
  test.each(['poses', 'centre_of_mass', 'contact_values'] as const)('NaN and infinity in %s are refused', (key) => {
    for (const bad of [NaN, Infinity]) {
      const values = [...content()[key]!];
      values[1] = bad;
      expect(problem(encode_live_frame(content({ [key]: values })))).toMatch(new RegExp(`number 1 is ${bad}`));
    }
  });
  test('and in gradients, times and energies', () => {
    expect(problem(encode_live_frame(content({ gradients: { bodies: [1, 2, 3, 4, 5, NaN], joints: [1] } })))).toMatch(/body gradients: number 5/);
    expect(problem(encode_live_frame(content({ gradients: { bodies: [1, 2, 3, 4, 5, 6], joints: [NaN] } })))).toMatch(/joint gradients: number 0/);
    expect(problem(encode_live_frame(content({ time: NaN })))).toMatch(/time is NaN/);
    expect(problem(encode_live_frame(content({ kinetic: Infinity })))).toMatch(/head is Infinity/);
  });
  test('energies of a state that diverged may be anything: the news must arrive', () => {
    const { frame } = decode(encode_live_frame(content({ diverged: true, kinetic: NaN }))) as { frame: LiveFrame };
    expect([frame.diverged, frame.kinetic]).toEqual([true, 0]);
  });
  test('a quaternion that is none and a shape that is none are refused', () => {
    expect(problem(encode_live_frame(content({ poses: new Array(14).fill(0) })))).toMatch(/quaternion of body 0/);
    expect(problem(encode_live_frame(content({ contact_shapes: [0, 1, 3, 0] })))).toMatch(/shape 3 of 3/);
  });
  test('random bytes never throw and are never a frame', () => {
    const next = random(20);
    for (let i = 0; i < 2000; i++) {
      const bytes = Uint8Array.from({ length: Math.floor(next() * 400) }, () => next() * 256);
      if (i % 2 === 0 && bytes.length >= 8) bytes.set([0x4c, 0x49, 0x46, 0x31, 7, 0, 0, 0]); // with the right beginning too
      expect(decode(bytes)).not.toHaveProperty('frame');
    }
  });
  test('flipped bits never throw, and what passes is finite', () => {
    const next = random(21);
    let passed = 0;
    for (let i = 0; i < 4000; i++) {
      const bytes = encode_live_frame(content());
      bytes[Math.floor(next() * bytes.length)] ^= 1 << Math.floor(next() * 8);
      const result = decode(bytes);
      if (result === 'stale' || 'problem' in result) continue;
      passed++;
      const { frame } = result;
      expect([frame.time, frame.step_time, frame.loss, ...frame.poses, ...frame.contact_values].every(Number.isFinite)).toBe(true);
      expect(frame.contact_shapes.every((s) => s < kSizes.shapes)).toBe(true);
    }
    expect(passed).toBeGreaterThan(500);
  });
});
