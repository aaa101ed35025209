// The clock of a live simulation. Its end is now: there the view follows the frames as they arrive, and playing and
// stepping are commands to the server. Earlier times are the past, which one looks at while the simulation goes its way.

import { Player } from '../stage/player';

const kEcho = 400; // ms in which the server's answers may be older than our command

export class LivePlayer extends Player {
  private live_ = true;
  private online_ = true;
  private fresh_ = false; // something changed since the last picture
  private asked_ = -Infinity; // when play, pause or speed was last commanded, ms

  // send: to the server; whether it went out
  constructor(times: ArrayLike<number>, readonly can_step: boolean, private readonly send_: (command: string) => boolean,
    private readonly clock_: () => number = () => performance.now()) {
    super(times);
    this.loop = false;
  }

  // Whether somebody sends frames.
  get online(): boolean {
    return this.online_;
  }

  // The connection is lost; the next one brings a clock of its own.
  go_offline(): void {
    this.online_ = false;
    this.playing = false;
    this.fresh_ = true;
  }

  // Whether the present is shown.
  get live(): boolean {
    return this.live_;
  }

  // Seconds between what is shown and now.
  get behind(): number {
    return this.end - this.time;
  }

  override set_times(times: ArrayLike<number>): void {
    this.times_ = times;
    this.fresh_ = true;
    if (this.live_) this.time = this.end;
    else this.time = Math.min(this.end, Math.max(this.start, this.time));
  }

  // The history began anew: what was looked at is gone.
  restart(times: ArrayLike<number>): void {
    this.live_ = true;
    this.set_times(times);
  }

  override seek(time: number): void {
    super.seek(time);
    this.live_ = this.time >= this.end;
  }

  to_now(): void {
    this.seek(this.end);
  }

  override toggle(): void {
    if (!this.can_step || !this.send_(this.playing ? 'pause' : 'play')) return;
    this.asked_ = this.clock_();
    this.playing = !this.playing;
    if (this.playing) this.to_now();
  }

  // Back: into the past. On: towards now, and from there by steps of the simulation, which is paused for it.
  override step(count: number): void {
    if (count < 0 || !this.live_) {
      const frame = Math.min(this.frames - 1, Math.max(0, this.frame + count));
      this.seek(this.times_[frame]);
      return;
    }
    if (!this.can_step) return;
    if (this.playing) this.toggle();
    this.send_(`step ${count}`);
  }

  reset(): void {
    if (!this.can_step) return;
    this.to_now();
    this.send_('reset');
  }

  override set_speed(speed: number): void {
    if (!this.can_step || !this.send_(`speed ${speed}`)) return;
    this.asked_ = this.clock_();
    this.speed = speed;
  }

  // What the server says, unless it may not yet have heard of our last command.
  hear(playing: boolean, speed: number | null): void {
    if (this.clock_() - this.asked_ < kEcho) return;
    if (playing !== this.playing || (speed !== null && speed !== this.speed)) this.fresh_ = true;
    this.playing = playing;
    if (speed !== null) this.speed = speed;
  }

  // Frames move it, not real time.
  override advance(): boolean {
    const { fresh_ } = this;
    this.fresh_ = false;
    return fresh_;
  }
}
