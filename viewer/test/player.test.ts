import { describe, expect, test } from 'vitest';
import { frame_and_fraction, frame_at, kSpeeds, Player, watchable_speed } from '../src/stage/player';

const kTimes = [0, 0.1, 0.2, 0.4];

describe('frame_at', () => {
  test('is the last frame at or before the time', () => {
    expect([-1, 0, 0.05, 0.1, 0.39, 0.4, 9].map((t) => frame_at(kTimes, t))).toEqual([0, 0, 0, 1, 2, 3, 3]);
  });
  test('works for one frame', () => {
    expect(frame_and_fraction([5], 7)).toEqual([0, 0]);
  });
  test('the fraction is linear between uneven frames', () => {
    const [frame, fraction] = frame_and_fraction(kTimes, 0.25);
    expect(frame).toBe(2);
    expect(fraction).toBeCloseTo(0.25);
  });
  test('there is no fraction outside of the motion', () => {
    expect(frame_and_fraction(kTimes, -3)).toEqual([0, 0]);
    expect(frame_and_fraction(kTimes, 3)).toEqual([3, 0]);
  });
});

test('short motions start slowly, long ones as they were', () => {
  expect([0.001, 0.15, 0.5, 1, 1.5, 60].map(watchable_speed)).toEqual([0.1, 0.1, 0.25, 0.5, 1, 1]);
});

describe('Player', () => {
  test('stands still until it plays', () => {
    const player = new Player(kTimes);
    expect(player.advance(0.1)).toBe(false);
    expect(player.time).toBe(0);
  });
  test('goes by speed', () => {
    const player = new Player(kTimes);
    player.toggle();
    player.speed = 0.5;
    player.advance(0.1);
    expect(player.time).toBeCloseTo(0.05);
  });
  test('shows the end before it loops', () => {
    const player = new Player(kTimes);
    player.toggle();
    player.seek(0.35);
    player.advance(0.1);
    expect(player.time).toBe(0.4);
    player.advance(0.1);
    expect(player.time).toBeCloseTo(0.1);
    expect(player.playing).toBe(true);
  });
  test('stops at the end without loop, and plays again from the start', () => {
    const player = new Player(kTimes);
    player.loop = false;
    player.toggle();
    player.advance(5);
    expect([player.time, player.playing]).toEqual([0.4, false]);
    player.toggle();
    expect([player.time, player.playing]).toEqual([0, true]);
  });
  test('seeks within the motion only', () => {
    const player = new Player(kTimes);
    player.seek(99);
    expect(player.time).toBe(0.4);
    player.seek(-1);
    expect(player.time).toBe(0);
    player.seek(NaN);
    expect(player.time).toBe(0);
  });
  test('steps by frames, pauses, and stays inside', () => {
    const player = new Player(kTimes);
    player.toggle();
    player.step(1);
    expect([player.time, player.playing]).toEqual([0.1, false]);
    player.step(10);
    expect(player.time).toBe(0.4);
    player.step(-99);
    expect(player.time).toBe(0);
  });
  test('a step forth and back from every float32 frame returns to it', () => {
    const times = Float32Array.from({ length: 500 }, (_, i) => i * 0.001);
    const player = new Player(times);
    for (let k = 0; k + 1 < times.length; k++) {
      player.seek(times[k]);
      player.step(1);
      expect(player.frame).toBe(k + 1);
      player.step(-1);
      expect(player.frame).toBe(k);
    }
  });
  test('speeds go through the list and end there', () => {
    const player = new Player(kTimes);
    player.change_speed(1);
    expect(player.speed).toBe(2);
    for (let i = 0; i < 9; i++) player.change_speed(1);
    expect(player.speed).toBe(kSpeeds[kSpeeds.length - 1]);
    for (let i = 0; i < 9; i++) player.change_speed(-1);
    expect(player.speed).toBe(kSpeeds[0]);
  });
  test('a motion of one frame never moves', () => {
    const player = new Player([2]);
    player.toggle();
    expect(player.advance(1)).toBe(false);
    expect(player.time).toBe(2);
  });
  test('live frames lengthen it and keep the time', () => {
    const player = new Player(kTimes);
    player.seek(0.3);
    player.set_times([...kTimes, 0.8]);
    expect([player.time, player.end]).toEqual([0.3, 0.8]);
  });
});
