import * as THREE from 'three';
import { describe, expect, test } from 'vitest';
import { LivePlayer } from '../src/live/player';
import { meet, push_command } from '../src/live/push';
import { format_quantity, SliderModel } from '../src/live/sliders';
import { badge_of, format_step_time, LastingBadge, slowness } from '../src/live/status';
import { bindings_for, action_of } from '../src/page/keys';
import { Gauge } from '../src/stage/gauge';
import { split_panes } from '../src/stage/panes';
import { next_speed } from '../src/stage/player';

function make_player(can_step = true) {
  const sent: string[] = [];
  const clock = { now: 1000 };
  let connected = true;
  const player = new LivePlayer([0, 1, 2, 3], can_step, (c) => connected && sent.push(c) > 0, () => clock.now);
  player.restart([0, 1, 2, 3]);
  return { player, sent, clock, disconnect: () => (connected = false) };
}

describe('LivePlayer', () => {
  test('follows the frames as they arrive', () => {
    const { player } = make_player();
    expect([player.live, player.time]).toEqual([true, 3]);
    player.set_times([0, 1, 2, 3, 4]);
    expect([player.live, player.time, player.advance(), player.advance()]).toEqual([true, 4, true, false]);
  });
  test('stays in the past until it is told to come back', () => {
    const { player, sent } = make_player();
    player.seek(1.5);
    player.set_times([0, 1, 2, 3, 4]);
    expect([player.live, player.time, player.behind]).toEqual([false, 1.5, 2.5]);
    player.to_now();
    expect([player.live, player.time, sent]).toEqual([true, 4, []]);
  });
  test('moves on with the oldest frame when what was shown is forgotten', () => {
    const { player } = make_player();
    player.seek(0);
    player.set_times([2, 3, 4]);
    expect([player.time, player.live]).toEqual([2, false]);
  });
  test('a history that begins anew brings it back to now', () => {
    const { player } = make_player();
    player.seek(1);
    player.restart([0]);
    expect([player.time, player.live]).toEqual([0, true]);
  });
  test('plays and pauses the server, and playing shows now', () => {
    const { player, sent } = make_player();
    player.seek(1);
    player.toggle();
    expect([player.live, player.playing]).toEqual([true, true]);
    player.toggle();
    expect([sent, player.playing]).toEqual([['play', 'pause'], false]);
  });
  test('steps of the simulation when paused at now, and pauses for them', () => {
    const { player, sent } = make_player();
    player.step(1);
    player.step(10);
    player.playing = true;
    player.step(1);
    expect(sent).toEqual(['step 1', 'step 10', 'pause', 'step 1']);
  });
  test('steps through the past without a word to the server, up to now', () => {
    const { player, sent } = make_player();
    player.step(-2);
    expect([player.time, player.live]).toEqual([1, false]);
    player.step(1);
    player.step(5);
    expect([player.time, player.live, sent]).toEqual([3, true, []]);
  });
  test('does not play, step, reset or change the speed of a world that somebody else moves', () => {
    const { player, sent } = make_player(false);
    player.toggle();
    player.step(1);
    player.reset();
    player.change_speed(1);
    expect([sent, player.playing, player.speed]).toEqual([[], false, 1]);
    player.step(-1);
    expect(player.time).toBe(2);
  });
  test('believes the server, but for answers that are older than its own command', () => {
    const { player, clock } = make_player();
    player.toggle();
    player.hear(false, 2);
    expect([player.playing, player.speed]).toEqual([true, 1]);
    clock.now += 500;
    player.hear(false, 2);
    expect([player.playing, player.speed]).toEqual([false, 2]);
  });
  test('does not pretend when nothing goes out', () => {
    const { player, disconnect } = make_player();
    disconnect();
    player.toggle();
    player.set_speed(4);
    expect([player.playing, player.speed]).toEqual([false, 1]);
    player.go_offline();
    expect([player.online, player.advance()]).toEqual([false, true]);
  });
  test('speeds that are not in the list have neighbours in it', () => {
    expect([next_speed(0.3, 1), next_speed(0.3, -1), next_speed(10, 1), next_speed(10, -1), next_speed(0.01, -1)]).toEqual([0.5, 0.25, 10, 4, 0.01]);
  });
});

describe('SliderModel', () => {
  const quantity = { name: 'friction', unit: '×', lower: 0, upper: 2, value: 1, initial: 1 };
  const make = () => {
    const sent: number[] = [];
    return { sent, model: new SliderModel(quantity, (v) => sent.push(v)) };
  };
  test('sends what the user does, within bounds', () => {
    const { model, sent } = make();
    model.input(1.5);
    model.input(7);
    model.input(NaN);
    expect([sent, model.value]).toEqual([[1.5, 2], 2]);
  });
  test('follows the server when it is not held', () => {
    const { model, sent } = make();
    model.hear(0.25, 0);
    expect([model.value, model.changed, sent]).toEqual([0.25, true, []]);
  });
  test('is not moved by others while it is held, nor by echoes shortly after', () => {
    const { model } = make();
    model.input(1.5);
    model.hear(0.3, 0);
    model.release(100);
    model.hear(1.2, 200); // an echo of an earlier value
    expect([model.settle(300), model.value]).toEqual([false, 1.5]);
    model.hear(1.5, 350);
    expect([model.settle(600), model.value]).toEqual([false, 1.5]); // the last word is the same
  });
  test('takes over what others did meanwhile', () => {
    const { model } = make();
    model.input(1.5);
    model.release(100);
    model.hear(0.3, 200);
    expect([model.settle(499), model.settle(501), model.value, model.settle(600)]).toEqual([false, true, 0.3, false]);
  });
  test('reset goes back to the initial value and says so', () => {
    const { model, sent } = make();
    model.input(1.5);
    model.reset(0);
    expect([model.value, model.changed, model.held, sent]).toEqual([1, false, false, [1.5, 1]]);
    model.input(0);
    model.reset(0, false);
    expect([model.value, sent]).toEqual([1, [1.5, 1, 0]]);
  });
  test('values read well', () => {
    expect(format_quantity(9.81, { lower: 0, upper: 20, unit: 'm/s²' })).toBe('9.81 m/s²');
    expect(format_quantity(-12.345, { lower: -150, upper: 150, unit: 'N m' })).toBe('−12.3 N m');
    expect(format_quantity(1, { lower: 0, upper: 3, unit: '×' })).toBe('1.000×');
    expect(format_quantity(-0.0001, { lower: -30, upper: 30, unit: '' })).toBe('0.00');
    expect(format_quantity(3, { lower: 3, upper: 3, unit: 'm' })).toBe('3.000 m');
    expect(format_quantity(40000, { lower: 0, upper: 1e5, unit: 'N' })).toBe('40000 N');
  });
});

describe('status', () => {
  test('solved, fallback, unsolved, diverged', () => {
    expect([0, 1, 2, 3, 4, 5].map((s) => badge_of(s as 0, false).text)).toEqual(['solved', 'solved', 'solved', 'solved', 'fallback', 'unsolved']);
    expect([0, 4, 5].map((s) => badge_of(s as 0, false).level)).toEqual(['good', 'warn', 'bad']);
    expect(badge_of(2, true)).toMatchObject({ text: 'diverged', level: 'bad' });
  });
  test('one bad step is seen for a second, a worse one at once', () => {
    const badge = new LastingBadge(1000);
    const hear = (solver: number, now: number) => {
      badge.hear({ solver: solver as 0, diverged: false }, now);
      return badge.badge.text;
    };
    expect([hear(2, 0), hear(4, 10), hear(2, 500), hear(5, 600), hear(4, 700), hear(2, 1500), hear(2, 1700)])
      .toEqual(['solved', 'fallback', 'fallback', 'unsolved', 'unsolved', 'unsolved', 'solved']);
  });
  test('falling behind is said against the speed that was asked for', () => {
    expect(slowness({ real_time: 0.96, playing: true }, 1)).toBeNull();
    expect(slowness({ real_time: 0.5, playing: true }, 0.5)).toBeNull();
    expect(slowness({ real_time: 0.634, playing: true }, 1)).toBe('0.63× real time');
    expect(slowness({ real_time: 0, playing: false }, 1)).toBeNull();
  });
  test('step times', () => {
    expect([3.14, 23.4, 1400, 12345].map(format_step_time)).toEqual(['3.1 µs', '23 µs', '1.4 ms', '12.3 ms']);
  });
});

describe('Gauge', () => {
  const feed = (gauge: Gauge, value: number, count: number) => {
    for (let i = 0; i < count; i++) gauge.add(value);
    return gauge.settle();
  };
  test('knows nothing before the first value', () => {
    const gauge = new Gauge(1);
    expect([feed(gauge, 0, 5), feed(gauge, NaN, 5), gauge.units]).toEqual([null, null, null]);
  });
  test('steps up by 1, 2, 5 and stays there', () => {
    const gauge = new Gauge(1);
    const units = [4, 9, 40, 39].map((v) => feed(gauge, v, 1000));
    expect(units).toEqual([5, 10, 50, 50]);
  });
  test('an impact of a few frames does not shrink all others', () => {
    const gauge = new Gauge(1);
    feed(gauge, 10, 1000);
    const before = gauge.units;
    expect(feed(gauge, 1e4, 20)).toBe(before);
  });
  test('comes down after a first impact once it knows better', () => {
    const gauge = new Gauge(1);
    expect(feed(gauge, 900, 1)).toBe(1000);
    expect(feed(gauge, 9, 100)).toBe(10);
  });
  test('does not flicker between neighbours', () => {
    const gauge = new Gauge(1);
    const seen = new Set<number | null>();
    feed(gauge, 20, 1000);
    for (let i = 0; i < 200; i++) seen.add(feed(gauge, i % 2 ? 19 : 11, 10));
    expect(seen.size).toBe(1);
  });
});

describe('push', () => {
  test('the target is where the pointer’s ray meets the plane', () => {
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(new THREE.Vector3(0, 1, 0), new THREE.Vector3(0, 2, 0));
    const ray = new THREE.Ray(new THREE.Vector3(0, 0, 0), new THREE.Vector3(1, 1, 0).normalize());
    expect(meet(ray, plane)!.toArray()).toEqual([expect.closeTo(2), expect.closeTo(2), 0]);
    expect(meet(new THREE.Ray(new THREE.Vector3(), new THREE.Vector3(0, -1, 0)), plane)).toBeNull();
  });
  test('the command has seven numbers after its word, one blank between', () => {
    expect(push_command(3, new THREE.Vector3(0.5, -0, 1e-9), new THREE.Vector3(1, 2, 3))).toBe('push 3 0.5 0 1e-9 1 2 3');
  });
});

describe('keys of a live simulation', () => {
  test('0 and Backspace reset it, R still resets the camera', () => {
    expect([action_of({ key: '0' }), action_of({ key: 'Backspace' }), action_of({ key: 'r' })]).toEqual(['reset', 'reset', 'reset_view']);
  });
  test('help tells of it only there, and leaves out what does nothing', () => {
    const live = bindings_for(true);
    const recorded = bindings_for(false);
    expect(live.find((b) => b.action === 'to_end')?.text).toBe('Back to now');
    expect(recorded.find((b) => b.action === 'to_end')?.text).toBe('To the end');
    expect(live.some((b) => b.action === 'loop' || b.action === 'compare' || b.action === 'open')).toBe(false);
    expect(recorded.some((b) => b.action === 'reset' || b.action === 'push')).toBe(false);
  });
});

describe('panes of a wide scene', () => {
  const insets = { right: 320, bottom: 57, top: 46 };
  test('lie above each other where that makes them much larger', () => {
    const [a, b] = split_panes(1024, 768, insets, 2, 2.2);
    expect([a.free_width, b.free_width, b.x]).toEqual([704, 704, 0]);
  });
  test('and beside each other in a large window, or when the scene is high', () => {
    expect(split_panes(1920, 1080, insets, 2, 2.2)[1].x).toBe(800);
    expect(split_panes(1024, 768, insets, 2, 0.8)[1].x).toBe(352);
  });
});
