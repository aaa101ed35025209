// Small worlds for the mock server. The physics is only plausible: it exercises the viewer, not the engine.

import { encode_f32, encode_u32 } from '../src/document/base64';
import type { FrameContent } from './live_encode';
import { make_sample } from './sample';

interface Value {
  name: string;
  unit: string;
  lower: number;
  upper: number;
  value: number;
  initial: number;
}

const quantity = (name: string, unit: string, lower: number, upper: number, initial: number): Value => ({ name, unit, lower, upper, value: initial, initial });

export abstract class World {
  diverged = false;
  time = 0;
  protected push_: number[] | null = null; // body, local point, target
  private epoch_ = 1;
  private number_ = 0;
  readonly parameters = [quantity('gravity', 'm/s²', 0, 20, 9.81), quantity('friction', '×', 0, 3, 1), quantity('restitution', '', 0, 1, 0.35), quantity('damping', '×', 0, 10, 1)];
  controls: Value[] = [];

  abstract readonly name: string;
  abstract document(): Record<string, unknown>;
  abstract restart(): void;
  abstract integrate(h: number): void;
  abstract state(): Omit<FrameContent, 'scene' | 'epoch' | 'number' | 'time' | 'step_time' | 'real_time' | 'playing' | 'diverged' | 'solver' | 'loss'> & { loss?: number };

  advance(seconds: number): void {
    if (this.diverged) return;
    const steps = Math.max(1, Math.round(seconds / 0.001));
    for (let i = 0; i < steps; i++) this.integrate(0.001);
    this.time += steps * 0.001;
  }

  reset(): void {
    this.diverged = false;
    this.time = 0;
    this.epoch_++;
    this.number_ = 0;
    this.restart();
  }

  set(kind: string, index: number, value: number): void {
    if (kind === 'defaults') for (const q of [...this.controls, ...this.parameters]) q.value = q.initial;
    else {
      const q = (kind === 'control' ? this.controls : this.parameters)[index];
      q.value = Math.min(q.upper, Math.max(q.lower, value));
    }
  }

  push(numbers: number[] | null): void {
    this.push_ = numbers;
  }

  live() {
    return { scene: this.name, controls: this.controls, parameters: this.parameters, loss: null as string | null };
  }

  values() {
    return { controls: this.controls.map((c) => c.value), parameters: this.parameters.map((p) => p.value) };
  }

  frame(): Omit<FrameContent, 'scene' | 'playing'> {
    const state = this.state();
    const contacts = state.contact_shapes.length > 0;
    return { loss: 0, ...state, epoch: this.epoch_, number: ++this.number_, time: this.time, step_time: 21 + 3 * Math.sin(this.time), real_time: 1, diverged: this.diverged, solver: contacts ? 2 : 0 };
  }

  // The scene's document with one motion of one frame, the present one.
  show(): Record<string, unknown> {
    const f = this.frame();
    const series = { energy: f.kinetic + f.potential, 'kinetic energy': f.kinetic, 'potential energy': f.potential, 'contact force': f.contact_force };
    const all = [...Object.entries(series), ...(this.live().loss ? [['loss', f.loss] as [string, number]] : [])];
    const unit = (name: string) => (name === 'contact force' ? 'N' : name === 'loss' ? '' : 'J');
    return {
      ...this.document(),
      title: this.name,
      motions: [{
        name: 'live',
        times: encode_f32([f.time]),
        poses: encode_f32(f.poses),
        contact_counts: encode_u32([f.contact_shapes.length / 2]),
        contact_shapes: encode_u32(f.contact_shapes),
        contact_values: encode_f32(f.contact_values),
        centre_of_mass: f.centre_of_mass ? encode_f32(f.centre_of_mass) : '',
        series: all.map(([name, value]) => ({ name, unit: unit(name), values: encode_f32([value]) })),
      }],
    };
  }
}

const kLink = 0.55;
const kPost = 1.25;

class BoxWorld extends World {
  readonly name = 'box';
  private p = [-1.2, -0.35, 1.1];
  private v = [1.2, 0, 0];
  private a = [1.6, 2.0];
  private w = [0, 0];
  private force = 0;
  override controls = [quantity('shoulder', 'N m', -20, 20, 0), quantity('elbow', 'N m', -10, 10, 0)];

  constructor(private readonly with_loss: boolean) {
    super();
  }

  override live() {
    return { ...super.live(), loss: this.with_loss ? 'distance to goal' : null };
  }

  document() {
    const { motions: _motions, curves: _curves, ...rest } = make_sample();
    return rest;
  }

  restart(): void {
    [this.p, this.v, this.a, this.w] = [[-1.2, -0.35, 1.1], [1.2, 0, 0], [1.6, 2.0], [0, 0]];
  }

  private joints() {
    const elbow = [0.6 + kLink * Math.sin(this.a[0]), 0.35, kPost - kLink * Math.cos(this.a[0])];
    return { elbow, tip: [elbow[0] + kLink * Math.sin(this.a[1]), 0.35, elbow[2] - kLink * Math.cos(this.a[1])] };
  }

  integrate(h: number): void {
    const [g, mu, e, damping] = this.parameters.map((q) => q.value);
    const pull = [0, 0, 0];
    let swing = 0;
    if (this.push_) {
      const [body, ...x] = this.push_;
      if (body === 1) for (let i = 0; i < 3; i++) pull[i] = 120 * (x[3 + i] - this.p[i] - x[i]) - 8 * this.v[i];
      if (body === 3) swing = 20 * (x[3] - this.joints().tip[0]);
    }
    for (let i = 0; i < 3; i++) this.v[i] += h * (pull[i] / 2 - (i === 2 ? g : 0));
    const floor = this.p[2] <= 0.18 + 1e-6;
    this.force = floor ? 2 * g + Math.max(0, -this.v[2] - 0.2) * 25 : 0;
    if (floor)
      for (let i = 0; i < 2; i++) this.v[i] = Math.sign(this.v[i]) * Math.max(0, Math.abs(this.v[i]) - 0.35 * mu * g * h);
    for (let i = 0; i < 3; i++) this.p[i] += h * this.v[i];
    if (this.p[2] < 0.18) {
      this.p[2] = 0.18;
      this.v[2] = this.v[2] < -0.4 ? -e * this.v[2] : 0;
    }
    const [a, b] = this.a;
    const [va, vb] = this.w;
    const d = a - b;
    const bottom = kLink * (3 - Math.cos(2 * d));
    const torque = this.controls.map((c) => c.value);
    this.w[0] += h * ((-3 * g * Math.sin(a) - g * Math.sin(a - 2 * b) - 2 * Math.sin(d) * kLink * (vb * vb + va * va * Math.cos(d))) / bottom + 3 * torque[0] - 0.1 * damping * va);
    this.w[1] += h * ((2 * Math.sin(d) * (2 * va * va * kLink + 2 * g * Math.cos(a) + vb * vb * kLink * Math.cos(d))) / bottom + 3 * (torque[1] + swing) - 0.1 * damping * vb);
    this.a[0] += h * this.w[0];
    this.a[1] += h * this.w[1];
  }

  state() {
    const { elbow, tip } = this.joints();
    const turn = (x: number) => [0, Math.sin(-x / 2), 0, Math.cos(-x / 2)];
    const touching = this.force > 0;
    const slide = touching && Math.abs(this.v[0]) > 1e-3 ? -Math.sign(this.v[0]) * 0.35 * this.force : 0;
    const corners = touching ? [[-1, -1], [1, -1], [1, 1], [-1, 1]] : [];
    const low = tip[2] < 0.2;
    return {
      poses: [0, 0, 0, 0, 0, 0, 1, ...this.p, 0, 0, 0, 1, 0.6, 0.35, kPost, ...turn(this.a[0]), ...elbow, ...turn(this.a[1])],
      centre_of_mass: [(2 * this.p[0] + elbow[0] + tip[0]) / 4, 0, (2 * this.p[2] + elbow[2] + tip[2]) / 4],
      contact_shapes: [...corners.flatMap(() => [1, 0]), ...(low ? [5, 0] : [])],
      contact_values: [...corners.flatMap(([x, y]) => [this.p[0] + x * 0.18, this.p[1] + y * 0.18, 0, 0, 0, 1, slide / 4, 0, this.force / 4]), ...(low ? [tip[0], tip[1], 0, 0, 0, 1, -4, 0, 14] : [])],
      joints: 2,
      kinetic: this.v.reduce((sum, x) => sum + x * x, 0) + 0.25 * (this.w[0] ** 2 + this.w[1] ** 2),
      potential: this.parameters[0].value * (2 * this.p[2] + elbow[2] + tip[2]),
      contact_force: this.force,
      loss: (this.p[0] - 1.5) ** 2,
      gradients: this.with_loss ? { bodies: [0, 0, 0, 2 * (this.p[0] - 1.5), 0, 0, 0, 0, 0, 0.4 * Math.cos(this.a[1]), 0, 0.4], joints: [Math.sin(this.a[0]), 0.4 * Math.cos(this.a[1])] } : null,
    };
  }
}

class ManyWorld extends World {
  readonly name = 'many';
  private x: number[] = [];
  private v: number[] = [];
  override controls = Array.from({ length: 27 }, (_, i) => quantity(['left', 'right', 'centre'][i % 3] + ` joint ${Math.floor(i / 3)} of the arm`, 'N m', -30, 30, 0));

  constructor() {
    super();
    this.restart();
  }

  restart(): void {
    this.x = Array.from({ length: 50 }, (_, i) => [(i % 7) * 0.4 - 1.2, (Math.floor(i / 7) % 7) * 0.4 - 1.2, 0.6 + 0.02 * i]).flat();
    this.v = new Array(150).fill(0);
  }

  document() {
    const names = Array.from({ length: 50 }, (_, i) => `ball ${i}`);
    const at = { position: [0, 0, 0], quaternion: [0, 0, 0, 1], color: null };
    return {
      format: 'lithe-show', version: 1, time_step: 0.001, up: 'z', gravity: [0, 0, -9.81],
      bodies: [{ name: 'world', fixed: true, robot: -1 }, ...names.map((name, i) => ({ name, fixed: false, robot: i }))],
      shapes: [{ name: 'ground', body: 0, kind: 'plane', role: 'collision', ...at }, ...names.map((name, i) => ({ name, body: i + 1, kind: 'sphere', role: 'collision', radius: 0.15, ...at }))],
      joints: [],
    };
  }

  integrate(h: number): void {
    const [g, , e] = this.parameters.map((q) => q.value);
    for (let i = 0; i < 150; i++) {
      const pushed = this.push_ && this.push_[0] === Math.floor(i / 3) + 1;
      if (pushed) this.v[i] += h * (60 * (this.push_![4 + (i % 3)] - this.x[i]) - 4 * this.v[i]);
      if (i % 3 === 2) this.v[i] -= h * g;
      this.x[i] += h * this.v[i];
      if (i % 3 === 2 && this.x[i] < 0.15) {
        this.x[i] = 0.15;
        this.v[i] = Math.abs(this.v[i]) > 0.05 ? -(0.5 + 0.5 * e) * this.v[i] : 0;
      }
    }
  }

  state() {
    const balls = Array.from({ length: 50 }, (_, i) => this.x.slice(3 * i, 3 * i + 3));
    const low = balls.map((p, i) => ({ p, i })).filter(({ p }) => p[2] < 0.152);
    return {
      poses: [0, 0, 0, 0, 0, 0, 1, ...balls.flatMap((p) => [...p, 0, 0, 0, 1])],
      centre_of_mass: [0, 1, 2].map((k) => balls.reduce((sum, p) => sum + p[k] / 50, 0)),
      contact_shapes: low.flatMap(({ i }) => [i + 1, 0]),
      contact_values: low.flatMap(({ p }) => [p[0], p[1], 0, 0, 0, 1, 0, 0, 4.9]),
      joints: 0,
      kinetic: this.v.reduce((sum, v) => sum + v * v / 4, 0),
      potential: balls.reduce((sum, p) => sum + 4.9 * p[2], 0),
      contact_force: 4.9 * low.length,
      gradients: null,
    };
  }
}

export function make_world(name: string, with_loss = false): World {
  return name === 'many' ? new ManyWorld() : new BoxWorld(with_loss);
}
