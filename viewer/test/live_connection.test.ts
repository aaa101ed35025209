import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { kPauses, LiveConnection, type ConnectionState, type SocketLike } from '../src/live/connection';
import { is_live_page, parse_message, socket_address } from '../src/live/messages';
import { Throttle } from '../src/live/throttle';
import { make_world } from './live_world';

class FakeSocket implements SocketLike {
  binaryType = 'blob';
  readyState = 0;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  onerror: (() => void) | null = null;
  sent: string[] = [];
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {
    this.readyState = 3;
    this.onclose?.();
  }
  open(): void {
    this.readyState = 1;
    this.onopen?.();
  }
}

function connect(refused: () => Promise<boolean> = () => Promise.resolve(false)) {
  const sockets: FakeSocket[] = [];
  const states: ConnectionState[] = [];
  const heard: unknown[] = [];
  const connection = new LiveConnection({
    open_socket: () => {
      sockets.push(new FakeSocket());
      return sockets[sockets.length - 1];
    },
    ask_refused: refused,
    on_state: (state) => states.push(state),
    on_text: (text) => heard.push(text),
    on_binary: (buffer) => heard.push(buffer.byteLength),
  });
  connection.start();
  return { connection, sockets, states, heard, last: () => sockets[sockets.length - 1] };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('LiveConnection', () => {
  test('hands on texts and buffers, and sends when open', () => {
    const { connection, heard, last, states } = connect();
    expect(connection.send('play')).toBe(false);
    last().open();
    expect(last().binaryType).toBe('arraybuffer');
    last().onmessage!({ data: '{}' });
    last().onmessage!({ data: new ArrayBuffer(12) });
    expect([connection.send('play'), last().sent, heard, states]).toEqual([true, ['play'], ['{}', 12], ['open']]);
  });
  test('tries again after half a second, then with longer pauses up to five', async () => {
    const { sockets, states, last } = connect();
    last().open();
    last().onmessage!({ data: '{}' });
    last().close();
    expect(states).toEqual(['open', 'lost']);
    for (const pause of [...kPauses, 5000, 5000]) {
      const before = sockets.length;
      await vi.advanceTimersByTimeAsync(pause - 1);
      expect(sockets).toHaveLength(before);
      await vi.advanceTimersByTimeAsync(1);
      expect(sockets).toHaveLength(before + 1);
      last().close();
    }
  });
  test('a message makes the next pause short again, an open socket alone does not', async () => {
    const { sockets, last } = connect();
    for (const pause of [500, 1000]) {
      last().open();
      last().close();
      await vi.advanceTimersByTimeAsync(pause);
    }
    expect(sockets).toHaveLength(3);
    last().open();
    last().onmessage!({ data: 'x' });
    last().close();
    await vi.advanceTimersByTimeAsync(500);
    expect(sockets).toHaveLength(4);
  });
  test('a token that the server does not know ends the tries', async () => {
    const { connection, sockets, states, last } = connect(() => Promise.resolve(true));
    last().close();
    await vi.advanceTimersByTimeAsync(60000);
    expect([connection.state, sockets.length, states]).toEqual(['refused', 1, ['lost', 'refused']]);
  });
  test('a server that is not there does not', async () => {
    const { connection, sockets, last } = connect(() => Promise.reject(new Error('no answer')));
    last().close();
    await vi.advanceTimersByTimeAsync(500);
    expect([connection.state, sockets.length]).toEqual(['lost', 2]);
    last().open();
    expect(connection.state).toBe('open');
  });
  test('a late answer about the token does not end an open connection', async () => {
    let answer: (refused: boolean) => void = () => {};
    const { connection, last } = connect(() => new Promise((resolve) => (answer = resolve)));
    last().close();
    await vi.advanceTimersByTimeAsync(500);
    last().open();
    answer(true);
    await vi.advanceTimersByTimeAsync(0);
    expect(connection.state).toBe('open');
  });
  test('messages of a socket that was given up are not heard', async () => {
    const { sockets, heard, last } = connect();
    last().close();
    await vi.advanceTimersByTimeAsync(500);
    sockets[0].onmessage!({ data: 'old' });
    sockets[0].onclose!();
    last().open();
    expect([heard, sockets.length]).toEqual([[], 2]);
  });
  test('stop closes and stays closed', async () => {
    const { connection, sockets, last } = connect();
    last().open();
    connection.stop();
    await vi.advanceTimersByTimeAsync(60000);
    expect([sockets.length, last().readyState, connection.send('play')]).toEqual([1, 3, false]);
  });
});

describe('Throttle', () => {
  test('the first goes at once, then one per interval, the last is never lost', () => {
    const sent: string[] = [];
    const throttle = new Throttle(33, (m) => sent.push(m));
    for (let i = 0; i < 100; i++) {
      throttle.put('a', `a ${i}`);
      vi.advanceTimersByTime(5);
    }
    vi.advanceTimersByTime(100);
    expect(sent[0]).toBe('a 0');
    expect(sent[sent.length - 1]).toBe('a 99');
    expect(sent.length).toBeGreaterThan(12);
    expect(sent.length).toBeLessThanOrEqual(17); // 500 ms at 33 ms, and the last
  });
  test('another key waits for its turn and is not overwritten', () => {
    const sent: string[] = [];
    const throttle = new Throttle(10, (m) => sent.push(m));
    for (const m of ['a 1', 'b 1', 'a 2', 'b 2', 'a 3']) throttle.put(m[0], m);
    expect(sent).toEqual(['a 1']);
    vi.advanceTimersByTime(50);
    expect(sent).toEqual(['a 1', 'b 2', 'a 3']);
  });
  test('what is cancelled is not sent, what comes later is', () => {
    const sent: string[] = [];
    const throttle = new Throttle(10, (m) => sent.push(m));
    throttle.put('a', '1');
    throttle.put('a', '2');
    throttle.cancel();
    vi.advanceTimersByTime(50);
    throttle.put('a', '3');
    expect(sent).toEqual(['1', '3']);
  });
});

describe('messages', () => {
  const world = make_world('box', true);
  const scene = () => ({ type: 'scene', number: 3, show: world.show(), live: { scenes: [{ name: 'box', description: 'd' }], playing: true, speed: 2, can_step: true, ...world.live() } });
  const changed = (change: (m: ReturnType<typeof scene>) => void) => {
    const m = JSON.parse(JSON.stringify(scene()));
    change(m);
    return () => parse_message(JSON.stringify(m));
  };
  test('a scene is its document and what can be done with it', () => {
    const m = parse_message(JSON.stringify(scene()));
    if (m.type !== 'scene') throw new Error(m.type);
    expect([m.number, m.live.scene, m.live.speed, m.live.loss, m.live.parameters[0].name]).toEqual([3, 'box', 2, 'distance to goal', 'gravity']);
    expect([m.show.bodies.length, m.show.motions[0].times.length]).toEqual([4, 1]);
  });
  test('mistakes say where they are', () => {
    expect(changed((m) => (m.live.parameters[1].lower = null as never))).toThrow(/live\.parameters\[1\]\.lower: expected a finite number, found null/);
    expect(changed((m) => (m.live.parameters[1].lower = 99))).toThrow(/live\.parameters\[1\]: its lower bound 99/);
    expect(changed((m) => (m.live.controls = {} as never))).toThrow(/live\.controls: expected a list/);
    expect(changed((m) => (m.show = {}))).toThrow(/format/);
    expect(changed((m) => (m.type = 'bye'))).toThrow(/unknown type "bye"/);
    expect(() => parse_message('{"type":"val')).toThrow(/not JSON/);
    expect(() => parse_message('{"type":"values","controls":[1],"parameters":["x"],"speed":1,"clients":1}')).toThrow(/values\.parameters\[0\]/);
  });
  test('values and errors', () => {
    expect(parse_message('{"type":"error","message":"no"}')).toEqual({ type: 'error', message: 'no' });
    expect(parse_message('{"type":"values","controls":[1],"parameters":[],"playing":true,"speed":0.5,"clients":2}'))
      .toEqual({ type: 'values', values: { controls: [1], parameters: [], playing: true, speed: 0.5, clients: 2 } });
  });
  test('a page that asks for a live simulation is known by its format', () => {
    expect(is_live_page('{"format":"lithe-live","version":1}')).toBe(true);
    expect(['null', '', '{', '{"format":"lithe-show","version":1}'].map(is_live_page)).toEqual([false, false, false, false]);
    expect(() => is_live_page('{"format":"lithe-live","version":2}')).toThrow(/speaks version 1 .* the server version 2/);
  });
  test('the socket has the page’s host and token', () => {
    expect(socket_address({ protocol: 'http:', host: '127.0.0.1:4', search: '?x=1&token=a%26b' })).toBe('ws://127.0.0.1:4/live?token=a%26b');
    expect(socket_address({ protocol: 'https:', host: 'h', search: '' })).toBe('wss://h/live?token=');
  });
});
