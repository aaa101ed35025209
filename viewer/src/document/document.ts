// Reads a "lithe-show" document, version 1, and checks every size and number in it before anything is drawn.
// A mistake in the file becomes a ShowError whose text says where it is, what was found and what was expected.

import { decode_f32, decode_u32 } from './base64';
import type { Body, Curve, ExceptedPair, Gradients, Joint, Motion, Series, Shape, Show, Vec3, Vec4 } from './show';

export class ShowError extends Error {
  override name = 'ShowError';
}

export const kVersion = 1;

type Fields = Record<string, unknown>;

function fail(where: string, what: string): never {
  throw new ShowError(`${where}: ${what}`);
}

function fields(value: unknown, where: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(where, 'expected an object');
  return value as Fields;
}

function list(value: unknown, where: string): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) fail(where, 'expected a list');
  return value;
}

function text(value: unknown, where: string, otherwise?: string): string {
  if (typeof value === 'string') return value;
  if (value === undefined && otherwise !== undefined) return otherwise;
  fail(where, `expected text, found ${JSON.stringify(value)}`);
}

function number(value: unknown, where: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value))
    fail(where, `expected a finite number, found ${JSON.stringify(value)}`);
  return value;
}

function positive(value: unknown, where: string): number {
  const x = number(value, where);
  if (x <= 0) fail(where, `expected a number above 0, found ${x}`);
  return x;
}

function index(value: unknown, count: number, where: string): number {
  const i = number(value, where);
  if (!Number.isInteger(i) || i < 0 || i >= count) fail(where, `${i} is not one of the ${count} numbers from 0`);
  return i;
}

function vector(value: unknown, size: number, where: string): number[] {
  if (!Array.isArray(value) || value.length !== size) fail(where, `expected ${size} numbers`);
  return value.map((x, i) => number(x, `${where}[${i}]`));
}

function quaternion(value: unknown, where: string): Vec4 {
  const q = vector(value, 4, where) as Vec4;
  const norm = Math.hypot(...q);
  if (Math.abs(norm - 1) > 1e-2) fail(where, `a unit quaternion has length 1, this one ${norm.toPrecision(3)}`);
  return q.map((x) => x / norm) as Vec4;
}

// Floats of a given count (null: any), all finite.
function floats(value: unknown, count: number | null, where: string): Float32Array {
  let numbers: Float32Array;
  try {
    numbers = decode_f32(text(value, where));
  } catch (error) {
    if (error instanceof ShowError) throw error;
    fail(where, `not base64 of float32 (${(error as Error).message})`);
  }
  if (count !== null && numbers.length !== count) fail(where, `expected ${count} numbers, found ${numbers.length}`);
  const bad = numbers.findIndex((x) => !Number.isFinite(x));
  if (bad >= 0) fail(where, `number ${bad} is ${numbers[bad]}`);
  return numbers;
}

function integers(value: unknown, count: number | null, where: string): Uint32Array {
  let numbers: Uint32Array;
  try {
    numbers = decode_u32(text(value, where));
  } catch (error) {
    if (error instanceof ShowError) throw error;
    fail(where, `not base64 of uint32 (${(error as Error).message})`);
  }
  if (count !== null && numbers.length !== count) fail(where, `expected ${count} numbers, found ${numbers.length}`);
  return numbers;
}

function decode_body(value: unknown, where: string): Body {
  const b = fields(value, where);
  return { name: text(b.name, `${where}.name`), fixed: b.fixed === true, robot: Math.trunc(number(b.robot ?? -1, `${where}.robot`)) };
}

function decode_mesh(s: Fields, where: string) {
  const vertices = floats(s.vertices, null, `${where}.vertices`);
  const triangles = integers(s.triangles, null, `${where}.triangles`);
  if (vertices.length % 3 !== 0) fail(`${where}.vertices`, `${vertices.length} numbers are not n × 3`);
  if (triangles.length % 3 !== 0) fail(`${where}.triangles`, `${triangles.length} numbers are not m × 3`);
  const bad = triangles.findIndex((i) => i >= vertices.length / 3);
  if (bad >= 0) fail(`${where}.triangles`, `vertex ${triangles[bad]} of ${vertices.length / 3} does not exist`);
  return { vertices, triangles };
}

function decode_shape(value: unknown, bodies: number, where: string): Shape {
  const s = fields(value, where);
  if (s.role !== 'collision' && s.role !== 'visual')
    fail(`${where}.role`, `expected "collision" or "visual", found ${JSON.stringify(s.role)}`);
  const base = {
    name: text(s.name, `${where}.name`, ''),
    body: index(s.body, bodies, `${where}.body`),
    role: s.role as 'collision' | 'visual',
    position: vector(s.position ?? [0, 0, 0], 3, `${where}.position`) as Vec3,
    quaternion: quaternion(s.quaternion ?? [0, 0, 0, 1], `${where}.quaternion`),
    color: s.color === null || s.color === undefined ? null : (vector(s.color, 4, `${where}.color`) as Vec4),
  };
  const radius = () => positive(s.radius, `${where}.radius`);
  switch (s.kind) {
    case 'sphere':
      return { ...base, kind: s.kind, radius: radius() };
    case 'capsule':
    case 'cylinder':
      return { ...base, kind: s.kind, radius: radius(), half_length: positive(s.half_length, `${where}.half_length`) };
    case 'box': {
      const half_size = vector(s.half_size, 3, `${where}.half_size`) as Vec3;
      half_size.forEach((x, i) => positive(x, `${where}.half_size[${i}]`));
      return { ...base, kind: s.kind, half_size };
    }
    case 'plane':
      return { ...base, kind: s.kind };
    case 'mesh':
      return { ...base, kind: s.kind, ...decode_mesh(s, where) };
    default:
      fail(`${where}.kind`, `unknown kind ${JSON.stringify(s.kind)}`);
  }
}

function decode_joint(value: unknown, bodies: number, where: string): Joint {
  const j = fields(value, where);
  const type = j.type;
  if (type !== 'revolute' && type !== 'prismatic' && type !== 'screw' && type !== 'ball')
    fail(`${where}.type`, `unknown joint type ${JSON.stringify(type)}`);
  return {
    name: text(j.name, `${where}.name`, ''),
    type,
    body: index(j.body, bodies, `${where}.body`),
    position: vector(j.position ?? [0, 0, 0], 3, `${where}.position`) as Vec3,
    axis: vector(j.axis ?? [0, 0, 1], 3, `${where}.axis`) as Vec3,
  };
}

interface Sizes {
  bodies: number;
  shapes: number;
  joints: number;
}

function decode_contacts(m: Fields, frames: number, sizes: Sizes, where: string) {
  const offsets = new Uint32Array(frames + 1);
  if (m.contact_counts === undefined || m.contact_counts === null)
    return { contact_offsets: offsets, contact_shapes: new Uint32Array(0), contact_values: new Float32Array(0) };
  const counts = integers(m.contact_counts, frames, `${where}.contact_counts`);
  let total = 0;
  for (let k = 0; k < frames; k++) {
    total += counts[k];
    offsets[k + 1] = total;
  }
  const contact_shapes = integers(m.contact_shapes ?? '', total * 2, `${where}.contact_shapes`);
  const bad = contact_shapes.findIndex((i) => i >= sizes.shapes);
  if (bad >= 0) fail(`${where}.contact_shapes`, `shape ${contact_shapes[bad]} of ${sizes.shapes} does not exist`);
  const contact_values = floats(m.contact_values ?? '', total * 9, `${where}.contact_values`);
  return { contact_offsets: offsets, contact_shapes, contact_values };
}

function decode_gradients(value: unknown, frames: number, sizes: Sizes, where: string): Gradients | null {
  if (value === undefined || value === null) return null;
  const g = fields(value, where);
  return {
    loss: text(g.loss, `${where}.loss`, 'loss'),
    bodies: floats(g.bodies, frames * sizes.bodies * 3, `${where}.bodies`),
    joints: floats(g.joints, frames * sizes.joints, `${where}.joints`),
  };
}

function decode_series(value: unknown, frames: number, where: string): Series {
  const s = fields(value, where);
  return {
    name: text(s.name, `${where}.name`),
    unit: text(s.unit, `${where}.unit`, ''),
    values: floats(s.values, frames, `${where}.values`),
  };
}

function decode_motion(value: unknown, sizes: Sizes, where: string): Motion {
  const m = fields(value, where);
  const times = floats(m.times, null, `${where}.times`);
  if (times.length === 0) fail(`${where}.times`, 'a motion needs at least one frame');
  for (let k = 1; k < times.length; k++)
    if (!(times[k] > times[k - 1])) fail(`${where}.times`, `time ${k} (${times[k]} s) does not come after the one before`);
  const T = times.length;
  return {
    name: text(m.name, `${where}.name`, 'motion'),
    times,
    poses: floats(m.poses, T * sizes.bodies * 7, `${where}.poses`),
    ...decode_contacts(m, T, sizes, where),
    centre_of_mass: m.centre_of_mass ? floats(m.centre_of_mass, T * 3, `${where}.centre_of_mass`) : null,
    series: list(m.series, `${where}.series`).map((s, i) => decode_series(s, T, `${where}.series[${i}]`)),
    gradients: decode_gradients(m.gradients, T, sizes, `${where}.gradients`),
  };
}

function decode_curve(value: unknown, where: string): Curve {
  const c = fields(value, where);
  const x = floats(c.x, null, `${where}.x`);
  return {
    name: text(c.name, `${where}.name`),
    x,
    y: floats(c.y, x.length, `${where}.y`),
    x_label: text(c.x_label, `${where}.x_label`, ''),
    y_label: text(c.y_label, `${where}.y_label`, ''),
    log_y: c.log_y === true,
  };
}

function decode_excepted_pair(value: unknown, where: string): ExceptedPair {
  const p = fields(value, where);
  return { a: text(p.a, `${where}.a`), b: text(p.b, `${where}.b`), reason: text(p.reason, `${where}.reason`) };
}

export function decode_show(value: unknown): Show {
  const d = fields(value, 'document');
  if (d.format !== 'lithe-show') fail('format', `expected "lithe-show", found ${JSON.stringify(d.format)}`);
  if (d.version !== kVersion)
    fail('version', `this viewer reads version ${kVersion}, the document has version ${JSON.stringify(d.version)}`);
  const up = d.up ?? 'z';
  if (up !== 'y' && up !== 'z') fail('up', `expected "y" or "z", found ${JSON.stringify(up)}`);
  const bodies = list(d.bodies, 'bodies').map((b, i) => decode_body(b, `bodies[${i}]`));
  if (bodies.length === 0) fail('bodies', 'body 0, the world, is missing');
  const shapes = list(d.shapes, 'shapes').map((s, i) => decode_shape(s, bodies.length, `shapes[${i}]`));
  const joints = list(d.joints, 'joints').map((j, i) => decode_joint(j, bodies.length, `joints[${i}]`));
  const sizes = { bodies: bodies.length, shapes: shapes.length, joints: joints.length };
  const motions = list(d.motions, 'motions').map((m, i) => decode_motion(m, sizes, `motions[${i}]`));
  if (motions.length === 0) fail('motions', 'there is no motion to show');
  return {
    title: text(d.title, 'title', 'untitled'),
    time_step: positive(d.time_step, 'time_step'),
    up,
    gravity: vector(d.gravity ?? [0, 0, -9.81], 3, 'gravity') as Vec3,
    bodies,
    shapes,
    joints,
    motions,
    curves: list(d.curves, 'curves').map((c, i) => decode_curve(c, `curves[${i}]`)),
    excepted_pairs: list(d.excepted_pairs, 'excepted_pairs').map((p, i) => decode_excepted_pair(p, `excepted_pairs[${i}]`)),
  };
}

export function parse_show(json: string): Show {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    fail('document', `not JSON (${(error as Error).message})`);
  }
  return decode_show(value);
}
