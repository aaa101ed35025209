import { describe, expect, test } from 'vitest';
import { contact_ticks } from '../src/document/contacts';
import type { Motion } from '../src/document/show';
import type { LiveFrame } from '../src/live/frame';
import { LiveMotion } from '../src/live/history';
import { Rows } from '../src/live/rows';
import { plotted_frames } from '../src/panel/plots';

const kSeries = ['energy', 'kinetic energy', 'potential energy', 'contact force', 'loss', 'toString'];

// One body besides the world, one joint; the pose's x is the time.
function start(time = 0): Motion {
  return {
    name: 'live',
    times: Float32Array.of(time),
    poses: Float32Array.of(0, 0, 0, 0, 0, 0, 1, time, 0, 0, 0, 0, 0, 1),
    contact_offsets: Uint32Array.of(0, 0),
    contact_shapes: new Uint32Array(0),
    contact_values: new Float32Array(0),
    centre_of_mass: Float32Array.of(1, 2, 3),
    series: kSeries.map((name) => ({ name, unit: 'J', values: Float32Array.of(0) })),
    gradients: null,
  };
}

// contacts: values of the forces' z; shape 1 touches shape 0.
function frame(time: number, change: Partial<LiveFrame> = {}, contacts: number[] = []): LiveFrame {
  return {
    epoch: 1, number: 0, time, step_time: 1, real_time: 1, playing: true, diverged: false, pushed: false, solver: 0,
    kinetic: time, potential: 10, contact_force: 2 * time, loss: 3 * time,
    poses: Float32Array.of(0, 0, 0, 0, 0, 0, 1, time, 0, 0, 0, 0, 0, 1),
    centre_of_mass: Float32Array.of(time, 0, 0),
    contact_shapes: Uint32Array.from(contacts.flatMap(() => [1, 0])),
    contact_values: Float32Array.from(contacts.flatMap((f) => [0, 0, 0, 0, 0, 1, 0, 0, f])),
    body_gradients: Float32Array.of(0, 0, 0, time, 0, 0),
    joint_gradients: Float32Array.of(-time),
    ...change,
  };
}

const make = (max?: number, loss: string | null = 'goal') => new LiveMotion(start(), 2, 1, loss, max);

// Forces of the contacts of frame k.
function forces(motion: LiveMotion, k: number): number[] {
  const result = [];
  for (let c = motion.contact_offsets[k]; c < motion.contact_offsets[k + 1]; c++) result.push(motion.contact_values[9 * c + 8]);
  return result;
}

// All that a motion promises about its sizes.
function check_sizes(motion: LiveMotion): void {
  const T = motion.frames;
  expect(motion.times).toHaveLength(T);
  expect(motion.poses).toHaveLength(14 * T);
  expect(motion.contact_offsets).toHaveLength(T + 1);
  expect(motion.contact_values.length / 9).toBe(motion.contact_offsets[T]);
  expect(motion.contact_shapes.length / 2).toBe(motion.contact_offsets[T]);
  expect(motion.centre_of_mass).toHaveLength(3 * T);
  for (const s of motion.series) expect(s.values).toHaveLength(T);
  if (motion.gradients) {
    expect(motion.gradients.bodies).toHaveLength(6 * T);
    expect(motion.gradients.joints).toHaveLength(T);
  }
}

describe('LiveMotion', () => {
  test('starts with the frame that came with the scene, and series it knows', () => {
    const motion = make();
    check_sizes(motion);
    expect(motion.frames).toBe(1);
    expect(motion.series.map((s) => s.name)).toEqual(kSeries.slice(0, 5));
  });
  test('a frame adds to every array', () => {
    const motion = make();
    expect(motion.append(frame(0.5, {}, [7, 8]))).toBeNull();
    check_sizes(motion);
    expect([...motion.times]).toEqual([0, 0.5]);
    expect(motion.poses[14 + 7]).toBe(0.5);
    expect(forces(motion, 1)).toEqual([7, 8]);
    expect(motion.series.map((s) => s.values[1])).toEqual([10.5, 0.5, 10, 1, 1.5]);
    expect([motion.gradients!.bodies[9], motion.gradients!.joints[1]]).toEqual([0.5, -0.5]);
  });
  test('thousands of frames keep every number in its place while the oldest are dropped', () => {
    const motion = make(100);
    for (let k = 1; k <= 5000; k++) {
      motion.append(frame(k, {}, Array.from({ length: k % 4 }, (_, i) => 10 * k + i)));
      if (k % 97 !== 0) continue;
      check_sizes(motion);
      expect(motion.frames).toBe(Math.min(100, k + 1));
      for (const at of [0, Math.floor(motion.frames / 2), motion.frames - 1]) {
        const time = motion.times[at];
        expect(time).toBe(k - motion.frames + 1 + at);
        expect(motion.poses[14 * at + 7]).toBe(time);
        expect(motion.series[3].values[at]).toBe(2 * time);
        expect(forces(motion, at)).toEqual(Array.from({ length: time % 4 }, (_, i) => 10 * time + i));
      }
    }
  });
  test('memory does not grow with the number of frames', () => {
    const motion = make(100);
    for (let k = 1; k <= 5000; k++) motion.append(frame(k, {}, [1, 2, 3]));
    expect(motion.poses.buffer.byteLength).toBeLessThan(14 * 4 * 600);
    expect(motion.contact_values.buffer.byteLength).toBeLessThan(9 * 4 * 1800);
  });
  test('appending copies a frame or two on average, not the history', () => {
    const motion = make(2000);
    const buffers = new Set<ArrayBufferLike>();
    for (let k = 1; k <= 20000; k++) {
      motion.append(frame(k));
      buffers.add(motion.poses.buffer);
    }
    expect(buffers.size).toBeLessThan(8);
  });
  test('the same time replaces the last frame', () => {
    const motion = make();
    motion.append(frame(1, {}, [5]));
    motion.append(frame(1, { kinetic: 42 }, [6, 7]));
    check_sizes(motion);
    expect([...motion.times]).toEqual([0, 1]);
    expect(motion.series[1].values[1]).toBe(42);
    expect(forces(motion, 1)).toEqual([6, 7]);
    motion.append(frame(2, {}, [9]));
    expect(forces(motion, 2)).toEqual([9]);
  });
  test('the first frame may be the scene’s own', () => {
    const motion = make();
    motion.append(frame(0));
    expect(motion.frames).toBe(1);
  });
  test('another epoch starts anew, whatever its time', () => {
    const motion = make();
    for (const t of [1, 2, 3]) motion.append(frame(t, {}, [t]));
    motion.append(frame(0, { epoch: 2 }, [4, 4]));
    check_sizes(motion);
    expect([...motion.times]).toEqual([0]);
    expect(forces(motion, 0)).toEqual([4, 4]);
    expect(motion.ticks).toEqual([]);
    motion.append(frame(9, { epoch: 5 }));
    expect([...motion.times]).toEqual([9]);
  });
  test('time that goes back within an epoch is refused and changes nothing', () => {
    const motion = make();
    motion.append(frame(2));
    const { revision } = motion;
    expect(motion.append(frame(1.5))).toMatch(/1.5 s comes before 2 s/);
    expect([motion.revision, ...motion.times]).toEqual([revision, 0, 2]);
  });
  test('small steps late in a long run stay apart', () => {
    const motion = make();
    motion.append(frame(1e5));
    motion.append(frame(1e5 + 1e-4));
    expect(motion.frames).toBe(3);
    expect(motion.times[2] - motion.times[1]).toBeCloseTo(1e-4, 9);
  });
  test('frames without gradients or centre of mass keep the sizes', () => {
    const motion = make();
    motion.append(frame(1));
    motion.append(frame(2, { centre_of_mass: null, body_gradients: null, joint_gradients: null }));
    check_sizes(motion);
    expect(motion.centre_of_mass![6]).toBe(1); // as before
    expect(motion.gradients!.joints[2]).toBe(0);
    expect(make(9, null).gradients).toBeNull();
  });
  test('contact ticks are those of the same recorded motion, also after replacements', () => {
    const motion = make();
    const touching = [0, 1, 1, 0, 0, 2, 0, 1];
    touching.forEach((count, k) => {
      motion.append(frame(k + 1, {}, [1]));
      motion.append(frame(k + 1, {}, new Array(count).fill(1)));
    });
    expect(motion.ticks).toEqual(contact_ticks(motion));
    expect(motion.ticks.map((t) => [t.time, t.kind])).toEqual([[2, 'begin'], [4, 'end'], [6, 'begin'], [7, 'end'], [8, 'begin']]);
  });
  test('ticks are dropped with their frames', () => {
    const motion = make(10);
    for (let k = 1; k <= 100; k++) motion.append(frame(k, {}, k % 2 ? [1] : []));
    expect(motion.ticks[0].time).toBeGreaterThanOrEqual(motion.times[0]);
    expect(motion.ticks).toHaveLength(10);
  });
  test('remembers a minute, and less of scenes that are huge', () => {
    expect(make().max_frames).toBe(3600);
    const huge = { ...start(), poses: new Float32Array(7 * 5000) };
    expect(new LiveMotion(huge, 5000, 0, null).max_frames).toBeLessThan(600);
  });
});

describe('Rows', () => {
  test('rows without numbers are allowed: a scene without joints', () => {
    const rows = new Rows(0, (n) => new Float32Array(n));
    rows.append([]);
    rows.drop(1);
    expect([rows.count, rows.view.length]).toEqual([0, 0]);
  });
});

describe('plotted_frames', () => {
  const times = Array.from({ length: 601 }, (_, i) => i / 10); // a minute
  const span = (time: number) => plotted_frames(times, time).map((k, i) => times[i === 0 ? k : k - 1]);
  test('are the last ten seconds when the present is shown', () => {
    expect(span(60)).toEqual([50, 60]);
  });
  test('lie around a time of the past, within what is remembered', () => {
    expect(span(30)).toEqual([25, 35]);
    expect(span(1)).toEqual([0, 10]);
  });
  test('are all of a short history', () => {
    expect(plotted_frames([3, 3.5, 4], 4)).toEqual([0, 3]);
    expect(plotted_frames([3], 3)).toEqual([0, 1]);
  });
});
