// Facts about contacts and lengths of arrows, without drawing.

import type { Motion } from './show';

export interface ContactTick {
  time: number;
  kind: 'begin' | 'end';
  faint?: boolean; // of the first of two motions
}

// Pairs of shapes that touch, `count` of them from contact `first` on; the order in a pair does not matter.
function pairs_of(shapes: ArrayLike<number>, first: number, count: number): Set<number> {
  const pairs = new Set<number>();
  for (let c = first; c < first + count; c++) {
    const a = shapes[2 * c];
    const b = shapes[2 * c + 1];
    pairs.add(Math.min(a, b) * 2 ** 26 + Math.max(a, b));
  }
  return pairs;
}

// Times at which a pair of shapes starts or stops touching, frame by frame. Contacts of the first frame do not begin there.
export class ContactTicker {
  readonly ticks: ContactTick[] = [];
  private before_: Set<number> | null = null; // of the frame before the last one
  private last_: Set<number> | null = null;
  private time_ = NaN;

  add(time: number, shapes: ArrayLike<number>, first: number, count: number): void {
    this.before_ = this.last_;
    this.take(time, pairs_of(shapes, first, count));
  }

  // The last frame has other contacts than was said.
  replace(time: number, shapes: ArrayLike<number>, first: number, count: number): void {
    while (this.ticks.length > 0 && this.ticks[this.ticks.length - 1].time === this.time_) this.ticks.pop();
    this.take(time, pairs_of(shapes, first, count));
  }

  private take(time: number, now: Set<number>): void {
    const before = this.before_;
    this.last_ = now;
    this.time_ = time;
    if (before === null) return;
    if ([...now].some((pair) => !before.has(pair))) this.ticks.push({ time, kind: 'begin' });
    if ([...before].some((pair) => !now.has(pair))) this.ticks.push({ time, kind: 'end' });
  }

  // Forgets ticks before a time.
  drop_before(time: number): void {
    let count = 0;
    while (count < this.ticks.length && this.ticks[count].time < time) count++;
    if (count > 0) this.ticks.splice(0, count);
  }

  clear(): void {
    this.ticks.length = 0;
    this.before_ = this.last_ = null;
  }
}

export function contact_ticks(motion: Motion): ContactTick[] {
  const ticker = new ContactTicker();
  for (let k = 0; k < motion.times.length; k++) {
    const first = motion.contact_offsets[k];
    ticker.add(motion.times[k], motion.contact_shapes, first, motion.contact_offsets[k + 1] - first);
  }
  return ticker.ticks;
}

export function contact_count(motion: Motion, frame: number): number {
  return motion.contact_offsets[frame + 1] - motion.contact_offsets[frame];
}

// f = (f·n) n + t: the normal part and the friction of a force.
export function split_force(force: ArrayLike<number>, normal: ArrayLike<number>) {
  const along = force[0] * normal[0] + force[1] * normal[1] + force[2] * normal[2];
  const part = (i: number) => along * normal[i];
  return {
    normal: [part(0), part(1), part(2)],
    friction: [force[0] - part(0), force[1] - part(1), force[2] - part(2)],
  };
}

// Lengths of vectors stored one after the other, `stride` numbers apart from `start`.
export function lengths(values: ArrayLike<number>, stride: number, start = 0): number[] {
  const result: number[] = [];
  for (let i = start; i + 2 < values.length; i += stride)
    result.push(Math.hypot(values[i], values[i + 1], values[i + 2]));
  return result;
}

// 1, 2 or 5 times a power of ten, the nearest at or above x.
export function nice_number(x: number): number {
  if (!(x > 0) || !Number.isFinite(x)) return 1;
  const power = 10 ** Math.floor(Math.log10(x));
  for (const digit of [1, 2, 5]) if (x <= digit * power * (1 + 1e-9)) return digit * power;
  return 10 * power;
}

// Units that one metre of arrow stands for, such that large values (the 95th percentile of those that are not 0)
// are drawn about `target` metres long; impacts above it grow longer, up to the limit of arrow_length().
export function units_per_metre(values: readonly number[], target: number): number {
  const sizes = values.filter((x) => x > 0 && Number.isFinite(x)).sort((a, b) => a - b);
  if (sizes.length === 0 || !(target > 0)) return 1;
  return nice_number(sizes[Math.floor(0.95 * (sizes.length - 1))] / target);
}

export function arrow_length(value: number, units: number, limit: number): number {
  return Math.min(Math.abs(value) / units, limit);
}

const kPrefixes: [number, string][] = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n']];

// "500 N", "2 kN": for the legend.
export function with_unit(value: number, unit: string): string {
  if (value === 0) return `0 ${unit}`.trim();
  if (unit === '') return Number(value.toPrecision(3)).toString();
  const [factor, prefix] = kPrefixes.find(([f]) => Math.abs(value) >= f * (1 - 1e-9)) ?? kPrefixes[kPrefixes.length - 1];
  return `${Number((value / factor).toPrecision(3))} ${prefix}${unit}`;
}
