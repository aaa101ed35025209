// The motion of a live simulation: the frames that arrived, of about the last minute. It is a Motion like a recorded
// one, but that its arrays are replaced by longer (or later) views whenever a frame is added.

import { ContactTicker, type ContactTick } from '../document/contacts';
import type { Gradients, Motion, Series } from '../document/show';
import type { GrowingMotion } from '../stage/session';
import type { LiveFrame } from './frame';
import { Rows } from './rows';

const kMaxFrames = 3600; // a minute at 60 frames a second
const kMinFrames = 240;
const kMaxBytes = 64e6; // of poses: scenes with very many bodies remember less

const floats = (count: number) => new Float32Array(count);
const integers = (count: number) => new Uint32Array(count);

// What a frame says about each series that the server's document names.
const kSeries: Record<string, (frame: LiveFrame) => number> = {
  energy: (f) => f.kinetic + f.potential,
  'kinetic energy': (f) => f.kinetic,
  'potential energy': (f) => f.potential,
  'contact force': (f) => f.contact_force,
  loss: (f) => f.loss,
};

export class LiveMotion implements GrowingMotion {
  readonly live = true;
  readonly name: string;
  readonly max_frames: number;
  times!: Float64Array;
  poses!: Float32Array;
  contact_offsets!: Uint32Array; // into contact_values, which may begin with contacts of frames that were dropped
  contact_shapes!: Uint32Array;
  contact_values!: Float32Array;
  centre_of_mass: Float32Array | null = null;
  readonly series: Series[];
  readonly gradients: Gradients | null;
  revision = 0; // counts changes
  private readonly times_ = new Rows(1, (count) => new Float64Array(count));
  private readonly poses_: Rows<Float32Array>;
  private readonly offsets_ = new Rows(1, integers); // one more than frames
  private readonly shapes_ = new Rows(2, integers);
  private readonly values_ = new Rows(9, floats);
  private readonly centres_: Rows<Float32Array> | null;
  private readonly series_: { read: (frame: LiveFrame) => number; rows: Rows<Float32Array> }[] = [];
  private readonly body_gradients_: Rows<Float32Array>;
  private readonly joint_gradients_: Rows<Float32Array>;
  private readonly ticker_ = new ContactTicker();
  private epoch_: number | null = null; // none before the first frame

  // start: the motion of one frame that came with the scene; loss: name of the loss of its gradients.
  constructor(start: Motion, bodies: number, joints: number, loss: string | null, max_frames?: number) {
    this.name = start.name;
    this.max_frames = max_frames ?? Math.round(Math.min(kMaxFrames, Math.max(kMinFrames, kMaxBytes / (28 * bodies))));
    this.poses_ = new Rows(7 * bodies, floats);
    this.centres_ = start.centre_of_mass ? new Rows(3, floats) : null;
    const known = start.series.filter((s) => Object.hasOwn(kSeries, s.name));
    this.series = known.map((s) => ({ name: s.name, unit: s.unit, values: s.values }));
    for (const s of known) this.series_.push({ read: kSeries[s.name], rows: new Rows(1, floats) });
    this.body_gradients_ = new Rows(3 * bodies, floats);
    this.joint_gradients_ = new Rows(joints, floats);
    this.gradients = loss === null ? null : { loss, bodies: floats(0), joints: floats(0) };
    this.offsets_.append([0]);
    this.add_start(start, bodies, joints);
  }

  private add_start(start: Motion, bodies: number, joints: number): void {
    const last = start.times.length - 1;
    this.times_.append([start.times[last]]);
    this.poses_.append(start.poses.subarray(7 * bodies * last, 7 * bodies * (last + 1)));
    this.centres_?.append(start.centre_of_mass!.subarray(3 * last, 3 * last + 3));
    const [begin, end] = [start.contact_offsets[last], start.contact_offsets[last + 1]];
    this.add_contacts(start.contact_shapes.subarray(2 * begin, 2 * end), start.contact_values.subarray(9 * begin, 9 * end));
    this.series_.forEach(({ rows }, i) => rows.append([this.series[i].values[last]]));
    if (this.gradients) {
      this.body_gradients_.append(start.gradients?.bodies.subarray(3 * bodies * last, 3 * bodies * (last + 1)) ?? floats(3 * bodies));
      this.joint_gradients_.append(start.gradients?.joints.subarray(joints * last, joints * (last + 1)) ?? floats(joints));
    }
    this.ticker_.add(start.times[last], this.shapes_.whole, 0, end - begin);
    this.refresh();
  }

  get frames(): number {
    return this.times_.count;
  }

  get epoch(): number | null {
    return this.epoch_;
  }

  get ticks(): readonly ContactTick[] {
    return this.ticker_.ticks;
  }

  // Adds a frame, or says why not. The same time replaces the last frame, another epoch starts anew.
  append(frame: LiveFrame): string | null {
    const last = this.times[this.times.length - 1];
    const anew = this.epoch_ === null ? frame.time < last : frame.epoch !== this.epoch_;
    if (!anew && frame.time < last) return `its time ${frame.time} s comes before ${last} s`;
    this.epoch_ = frame.epoch;
    const again = !anew && frame.time === last;
    if (anew) this.clear();
    else if (again) this.pop();
    this.times_.append([frame.time]);
    this.poses_.append(frame.poses);
    this.add_contacts(frame.contact_shapes, frame.contact_values);
    this.centres_?.append(frame.centre_of_mass ?? this.centres_last());
    for (const { read, rows } of this.series_) rows.append([read(frame)]);
    if (this.gradients) {
      this.body_gradients_.append(frame.body_gradients ?? floats(this.body_gradients_.width));
      this.joint_gradients_.append(frame.joint_gradients ?? floats(this.joint_gradients_.width));
    }
    const count = frame.contact_shapes.length / 2;
    if (again) this.ticker_.replace(frame.time, frame.contact_shapes, 0, count);
    else this.ticker_.add(frame.time, frame.contact_shapes, 0, count);
    if (this.frames > this.max_frames) this.drop(this.frames - this.max_frames);
    this.refresh();
    return null;
  }

  private centres_last(): ArrayLike<number> {
    const view = this.centres_!.view;
    return view.length > 0 ? view.slice(-3) : [0, 0, 0];
  }

  private add_contacts(shapes: Uint32Array, values: Float32Array): void {
    const before = this.values_.dropped;
    this.shapes_.append(shapes);
    this.values_.append(values);
    const moved = before - this.values_.dropped; // rows that left the front of the memory
    if (moved > 0) {
      const offsets = this.offsets_.view;
      for (let k = 0; k < offsets.length; k++) offsets[k] -= moved;
    }
    this.offsets_.append([this.values_.dropped + this.values_.count]);
  }

  // Rows with one entry per frame.
  private get per_frame(): Rows<Float32Array | Float64Array | Uint32Array>[] {
    const all: (Rows<Float32Array> | Rows<Float64Array> | Rows<Uint32Array> | null)[] =
      [this.times_, this.poses_, this.offsets_, this.centres_, ...this.series_.map((s) => s.rows)];
    if (this.gradients) all.push(this.body_gradients_, this.joint_gradients_);
    return all.filter((rows) => rows !== null) as Rows<Float32Array | Float64Array | Uint32Array>[];
  }

  private contacts_of(first: number, end: number): number {
    const offsets = this.offsets_.view;
    return offsets[end] - offsets[first];
  }

  private pop(): void {
    const contacts = this.contacts_of(this.frames - 1, this.frames);
    this.shapes_.pop(contacts);
    this.values_.pop(contacts);
    for (const rows of this.per_frame) rows.pop(1);
  }

  private drop(count: number): void {
    const contacts = this.contacts_of(0, count);
    this.shapes_.drop(contacts);
    this.values_.drop(contacts);
    for (const rows of this.per_frame) rows.drop(count);
    this.ticker_.drop_before(this.times_.view[0]);
  }

  private clear(): void {
    for (const rows of [...this.per_frame, this.shapes_, this.values_]) rows.clear();
    this.offsets_.append([0]);
    this.ticker_.clear();
  }

  private refresh(): void {
    this.revision++;
    this.times = this.times_.view;
    this.poses = this.poses_.view;
    this.contact_shapes = this.shapes_.whole;
    this.contact_values = this.values_.whole;
    this.contact_offsets = this.offsets_.view;
    this.centre_of_mass = this.centres_?.view ?? null;
    this.series_.forEach(({ rows }, i) => (this.series[i].values = rows.view));
    if (this.gradients) {
      this.gradients.bodies = this.body_gradients_.view;
      this.gradients.joints = this.joint_gradients_.view;
    }
  }
}
