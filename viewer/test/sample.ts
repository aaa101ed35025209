// A document to look at and to test with: a box that falls, bounces and slides, and a double pendulum on a post whose
// tip sweeps the ground. Two motions (start, optimised), contacts, series, gradients and a cost curve.
// The physics is only plausible: it exercises the viewer, not the engine.

import { encode_f32, encode_u32 } from '../src/document/base64';

const kGravity = 9.81;
const kLink = 0.55;
const kPost = 1.25;

interface Tuning {
  name: string;
  speed: number; // of the box along x, m/s
  friction: number;
  restitution: number;
  angles: [number, number]; // of the pendulum at the start, rad
  seconds: number;
}

// Equal masses and lengths: θ'' of both links (angles from straight down).
function pendulum_acceleration(a: number, b: number, va: number, vb: number): [number, number] {
  const d = a - b;
  const bottom = kLink * (3 - Math.cos(2 * d));
  const aa =
    (-3 * kGravity * Math.sin(a) - kGravity * Math.sin(a - 2 * b) -
      2 * Math.sin(d) * kLink * (vb * vb + va * va * Math.cos(d))) / bottom;
  const ab =
    (2 * Math.sin(d) * (2 * va * va * kLink + 2 * kGravity * Math.cos(a) + vb * vb * kLink * Math.cos(d))) / bottom;
  return [aa, ab];
}

function make_motion(tuning: Tuning, h = 0.01) {
  const T = Math.round(tuning.seconds / h) + 1;
  const half = 0.18;
  const times: number[] = [];
  const poses: number[] = [];
  const counts: number[] = [];
  const pairs: number[] = [];
  const values: number[] = [];
  const centre: number[] = [];
  const kinetic: number[] = [];
  const potential: number[] = [];
  const force_sum: number[] = [];
  const body_gradients: number[] = [];
  const joint_gradients: number[] = [];
  let [x, z, vx, vz] = [-1.5, 1.1, tuning.speed, 0];
  let [a, b] = tuning.angles;
  let [va, vb] = [0, 0];
  for (let k = 0; k < T; k++) {
    times.push(k * h);
    const spin = Math.max(0, z - half) * 0.35;
    const elbow = [0.6 + kLink * Math.sin(a), 0.35, kPost - kLink * Math.cos(a)];
    const tip = [elbow[0] + kLink * Math.sin(b), 0.35, elbow[2] - kLink * Math.cos(b)];
    poses.push(0, 0, 0, 0, 0, 0, 1);
    poses.push(x, -0.35, z, 0, Math.sin(spin / 2), 0, Math.cos(spin / 2));
    // A link hangs along −z of its frame; a turn by −θ about y swings it towards +x.
    poses.push(0.6, 0.35, kPost, 0, Math.sin(-a / 2), 0, Math.cos(-a / 2));
    poses.push(elbow[0], elbow[1], elbow[2], 0, Math.sin(-b / 2), 0, Math.cos(-b / 2));

    let contacts = 0;
    let total = 0;
    if (z <= half + 1e-6) {
      const push = 2 * kGravity + (vz < -0.2 ? (-vz * 2) / 0.08 : 0);
      const slide = Math.abs(vx) > 1e-3 ? -Math.sign(vx) * tuning.friction * push : 0;
      for (const [sx, sy] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
        pairs.push(1, 0);
        values.push(x + sx * half, -0.35 + sy * half, 0, 0, 0, 1, slide / 4, 0, push / 4);
        contacts++;
      }
      total += push;
    }
    if (tip[2] < 0.2) {
      pairs.push(5, 0);
      values.push(tip[0], tip[1], 0, 0, 0, 1, -4 * Math.sign(vb), 0, 14);
      contacts++;
      total += 14;
    }
    counts.push(contacts);
    force_sum.push(total);
    centre.push((2 * x + elbow[0] + tip[0]) / 4, 0, (2 * z + elbow[2] + tip[2]) / 4);
    kinetic.push(vx * vx + vz * vz + 0.25 * (va * va + vb * vb));
    potential.push(2 * kGravity * z + kGravity * (elbow[2] + tip[2]));
    const left = 1 - k / T;
    body_gradients.push(0, 0, 0, 1.2 * left, 0, -0.6 * left, 0, 0, 0, 0.5 * Math.cos(b), 0, 0.5 * Math.sin(b));
    joint_gradients.push(Math.sin(a) * left, 0.4 * Math.cos(b) * left);

    vz -= kGravity * h;
    if (z <= half + 1e-6 && vx !== 0)
      vx = Math.sign(vx) * Math.max(0, Math.abs(vx) - tuning.friction * kGravity * h);
    x += vx * h;
    z += vz * h;
    if (z < half) {
      z = half;
      vz = vz < -0.4 ? -tuning.restitution * vz : 0;
    }
    for (let i = 0; i < 10; i++) {
      const [aa, ab] = pendulum_acceleration(a, b, va, vb);
      va += (aa * h) / 10;
      vb += (ab * h) / 10;
      a += (va * h) / 10;
      b += (vb * h) / 10;
    }
  }
  return {
    name: tuning.name,
    times: encode_f32(times),
    poses: encode_f32(poses),
    contact_counts: encode_u32(counts),
    contact_shapes: encode_u32(pairs),
    contact_values: encode_f32(values),
    centre_of_mass: encode_f32(centre),
    series: [
      { name: 'kinetic energy', unit: 'J', values: encode_f32(kinetic) },
      { name: 'potential energy', unit: 'J', values: encode_f32(potential) },
      { name: 'contact force', unit: 'N', values: encode_f32(force_sum) },
    ],
    gradients: { loss: 'distance to goal', bodies: encode_f32(body_gradients), joints: encode_f32(joint_gradients) },
  };
}

export function make_sample() {
  const at = (position: number[], quaternion = [0, 0, 0, 1]) => ({ position, quaternion, color: null });
  const iterations = Array.from({ length: 40 }, (_, i) => i);
  const octahedron = [1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1].map((v) => v * 0.16);
  const faces = [0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5];
  return {
    format: 'lithe-show',
    version: 1,
    title: 'Box and double pendulum',
    time_step: 0.001,
    up: 'z',
    gravity: [0, 0, -kGravity],
    bodies: [
      { name: 'world', fixed: true, robot: -1 },
      { name: 'box', fixed: false, robot: 0 },
      { name: 'upper link', fixed: false, robot: 1 },
      { name: 'lower link', fixed: false, robot: 1 },
    ],
    shapes: [
      { name: 'ground', body: 0, kind: 'plane', role: 'collision', ...at([0, 0, 0]) },
      { name: 'box', body: 1, kind: 'box', role: 'collision', half_size: [0.18, 0.18, 0.18], ...at([0, 0, 0]) },
      { name: 'post', body: 0, kind: 'cylinder', role: 'collision', radius: 0.04, half_length: 0.65, ...at([0.6, 0.5, 0.65]) },
      { name: 'upper', body: 2, kind: 'capsule', role: 'collision', radius: 0.045, half_length: kLink / 2, ...at([0, 0, -kLink / 2]) },
      { name: 'lower', body: 3, kind: 'capsule', role: 'collision', radius: 0.04, half_length: kLink / 2, ...at([0, 0, -kLink / 2]) },
      { name: 'bob', body: 3, kind: 'sphere', role: 'collision', radius: 0.09, ...at([0, 0, -kLink]) },
      { name: 'goal', body: 0, kind: 'mesh', role: 'collision', vertices: encode_f32(octahedron), triangles: encode_u32(faces), ...at([1.5, -0.35, 0.16]) },
    ],
    joints: [
      { name: 'shoulder', type: 'revolute', body: 2, position: [0, 0, 0], axis: [0, 1, 0] },
      { name: 'elbow', type: 'revolute', body: 3, position: [0, 0, 0], axis: [0, 1, 0] },
    ],
    motions: [
      make_motion({ name: 'start', speed: 1.1, friction: 0.35, restitution: 0.35, angles: [1.9, 1.4], seconds: 3 }),
      make_motion({ name: 'optimised', speed: 2.45, friction: 0.35, restitution: 0.35, angles: [1.2, 2.2], seconds: 3 }),
    ],
    curves: [
      { name: 'cost', x: encode_f32(iterations), y: encode_f32(iterations.map((i) => 3 * Math.exp(-i / 6) + 0.004)), x_label: 'iteration', y_label: 'cost', log_y: true },
    ],
  };
}
