// The clock of all motions: a time in [0, duration] that plays, loops, steps and is scrubbed.
// Pure: it is told how much real time went by, so tests need no timers; live frames may lengthen it while it plays.

export const kSpeeds = [0.1, 0.25, 0.5, 1, 2, 4] as const;

// Last frame k with times[k] ≤ time (0 before the first).
export function frame_at(times: ArrayLike<number>, time: number): number {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Frame and the fraction of the way to the next one: where to interpolate.
export function frame_and_fraction(times: ArrayLike<number>, time: number): [number, number] {
  const k = frame_at(times, time);
  if (k + 1 >= times.length || time <= times[k]) return [k, 0];
  return [k, (time - times[k]) / (times[k + 1] - times[k])];
}

// The speed at which a motion is long enough to be watched: at most the real one.
export function watchable_speed(duration: number): number {
  const kLongEnough = 1.5; // s
  return [...kSpeeds].reverse().find((s) => s <= 1 && duration / s >= kLongEnough) ?? kSpeeds[0];
}

// The next one of the list, faster (+1) or slower (−1); the speed itself where there is none.
export function next_speed(speed: number, count: number): number {
  const further = count > 0 ? kSpeeds.filter((s) => s > speed + 1e-9) : kSpeeds.filter((s) => s < speed - 1e-9).reverse();
  return further[0] ?? speed;
}

export class Player {
  time: number;
  playing = false;
  speed = 1;
  loop = true;
  protected times_: ArrayLike<number>;

  // times: of the motion that is stepped through (the longest one).
  constructor(times: ArrayLike<number>) {
    this.times_ = times;
    this.time = this.start;
  }

  get start(): number {
    return this.times_[0];
  }

  get end(): number {
    return this.times_[this.times_.length - 1];
  }

  get frame(): number {
    return frame_at(this.times_, this.time);
  }

  get frames(): number {
    return this.times_.length;
  }

  set_times(times: ArrayLike<number>): void {
    this.times_ = times;
    this.seek(this.time);
  }

  seek(time: number): void {
    this.time = Number.isFinite(time) ? Math.min(this.end, Math.max(this.start, time)) : this.start;
  }

  toggle(): void {
    if (!this.playing && this.time >= this.end) this.time = this.start;
    this.playing = !this.playing;
  }

  // To the frame `count` further; stepping pauses, since one looks at a single frame.
  step(count: number): void {
    this.playing = false;
    const frame = Math.min(this.frames - 1, Math.max(0, this.frame + count));
    this.time = this.times_[frame];
  }

  // count +1: faster, −1: slower.
  change_speed(count: number): void {
    this.set_speed(next_speed(this.speed, count));
  }

  set_speed(speed: number): void {
    this.speed = speed;
  }

  // Real seconds went by. Returns whether the time changed.
  advance(seconds: number): boolean {
    const duration = this.end - this.start;
    if (!this.playing || !(seconds > 0) || duration <= 0) return false;
    const next = this.time + seconds * this.speed;
    if (next < this.end) {
      this.time = next;
    } else if (this.loop && this.time >= this.end) {
      // The end was shown for one picture: start over.
      this.time = this.start + ((next - this.end) % duration);
    } else {
      this.time = this.end;
      this.playing = this.loop;
    }
    return true;
  }
}
