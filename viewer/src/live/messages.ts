// Text messages of the live protocol, read and checked, and the page that asks for a live simulation.

import { decode_show, ShowError } from '../document/document';
import type { Show } from '../document/show';

export const kLiveVersion = 1;

// A force of a joint, the target of a motor, or a parameter of the world.
export interface Quantity {
  name: string;
  unit: string;
  lower: number;
  upper: number;
  value: number;
  initial: number;
}

export interface LiveScene {
  scene: string;
  scenes: { name: string; description: string }[];
  controls: Quantity[];
  parameters: Quantity[];
  playing: boolean;
  speed: number;
  can_step: boolean;
  loss: string | null;
}

export interface LiveValues {
  controls: number[];
  parameters: number[];
  playing: boolean;
  speed: number;
  clients: number;
}

export type Message =
  | { type: 'scene'; number: number; show: Show; live: LiveScene }
  | { type: 'values'; values: LiveValues }
  | { type: 'error'; message: string };

type Fields = Record<string, unknown>;

function fail(where: string, what: string): never {
  throw new ShowError(`${where}: ${what}`);
}

function fields(value: unknown, where: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(where, 'expected an object');
  return value as Fields;
}

function list(value: unknown, where: string): unknown[] {
  if (!Array.isArray(value)) fail(where, 'expected a list');
  return value;
}

function text(value: unknown, where: string): string {
  if (typeof value !== 'string') fail(where, 'expected text');
  return value;
}

function number(value: unknown, where: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) fail(where, `expected a finite number, found ${JSON.stringify(value)}`);
  return value;
}

function decode_quantity(value: unknown, where: string): Quantity {
  const q = fields(value, where);
  const part = (key: string) => number(q[key], `${where}.${key}`);
  const quantity = {
    name: text(q.name, `${where}.name`),
    unit: text(q.unit, `${where}.unit`),
    lower: part('lower'),
    upper: part('upper'),
    value: part('value'),
    initial: part('initial'),
  };
  if (quantity.lower > quantity.upper) fail(where, `its lower bound ${quantity.lower} is above the upper one ${quantity.upper}`);
  return quantity;
}

function decode_live(value: unknown): LiveScene {
  const l = fields(value, 'live');
  const quantities = (key: string) => list(l[key], `live.${key}`).map((q, i) => decode_quantity(q, `live.${key}[${i}]`));
  return {
    scene: text(l.scene, 'live.scene'),
    scenes: list(l.scenes, 'live.scenes').map((value, i) => {
      const s = fields(value, `live.scenes[${i}]`);
      return { name: text(s.name, `live.scenes[${i}].name`), description: typeof s.description === 'string' ? s.description : '' };
    }),
    controls: quantities('controls'),
    parameters: quantities('parameters'),
    playing: l.playing === true,
    speed: number(l.speed, 'live.speed'),
    can_step: l.can_step === true,
    loss: l.loss === null || l.loss === undefined ? null : text(l.loss, 'live.loss'),
  };
}

function decode_values(v: Fields): LiveValues {
  const numbers = (key: string) => list(v[key], `values.${key}`).map((x, i) => number(x, `values.${key}[${i}]`));
  return {
    controls: numbers('controls'),
    parameters: numbers('parameters'),
    playing: v.playing === true,
    speed: number(v.speed, 'values.speed'),
    clients: number(v.clients, 'values.clients'),
  };
}

// Throws a ShowError that says where and what.
export function parse_message(json: string): Message {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    fail('message', `not JSON (${(error as Error).message})`);
  }
  const m = fields(value, 'message');
  switch (m.type) {
    case 'scene': {
      const show = decode_show(m.show);
      return { type: 'scene', number: number(m.number, 'number'), show, live: decode_live(m.live) };
    }
    case 'values':
      return { type: 'values', values: decode_values(m) };
    case 'error':
      return { type: 'error', message: text(m.message, 'error.message') };
    default:
      fail('message', `unknown type ${JSON.stringify(m.type)}`);
  }
}

// Whether the page's document asks for a live simulation; another version is a ShowError.
export function is_live_page(json: string): boolean {
  let value: Fields;
  try {
    value = fields(JSON.parse(json), 'document');
  } catch {
    return false; // parse_show() says what it is
  }
  if (value.format !== 'lithe-live') return false;
  if (value.version !== kLiveVersion)
    fail('version', `this viewer speaks version ${kLiveVersion} of the live protocol, the server version ${JSON.stringify(value.version)}`);
  return true;
}

// The socket of the server that gave the page, with the page's own token.
export function socket_address(page: { protocol: string; host: string; search: string }): string {
  const token = new URLSearchParams(page.search).get('token') ?? '';
  return `${page.protocol === 'https:' ? 'wss' : 'ws'}://${page.host}/live?token=${encodeURIComponent(token)}`;
}
