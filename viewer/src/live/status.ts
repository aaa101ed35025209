// What the corner says about a live simulation: how its contacts were solved, and what does not go as it should.

import type { LiveFrame, Solver } from './frame';

export interface Badge {
  text: 'solved' | 'fallback' | 'unsolved' | 'diverged';
  level: 'good' | 'warn' | 'bad';
  title: string;
}

const kSolved = ['nothing touches', 'the last step’s answer still held', 'by the active set', 'by following the path'];

export function badge_of(solver: Solver, diverged: boolean): Badge {
  if (diverged) return { text: 'diverged', level: 'bad', title: 'The state is no longer finite. It is held until you reset.' };
  if (solver === 5) return { text: 'unsolved', level: 'bad', title: 'The contact problem of a step was not solved: forces of this moment are not exact.' };
  if (solver === 4) return { text: 'fallback', level: 'warn', title: 'The exact solver gave up on a step and a fallback answered: forces are approximate.' };
  return { text: 'solved', level: 'good', title: `The contact problems were solved: ${kSolved[solver]}.` };
}

const kRank = { good: 0, warn: 1, bad: 2 };

// A badge that lasts: one bad step in a hundred is seen too.
export class LastingBadge {
  private badge_: Badge = badge_of(0, false);
  private since_ = -Infinity;

  constructor(private readonly lasting_ = 1000) {} // ms

  hear(frame: Pick<LiveFrame, 'solver' | 'diverged'>, now: number): void {
    const badge = badge_of(frame.solver, frame.diverged);
    const worse = kRank[badge.level] >= kRank[this.badge_.level];
    if (!worse && now - this.since_ < this.lasting_) return;
    this.badge_ = badge;
    this.since_ = now;
  }

  clear(): void {
    this.badge_ = badge_of(0, false);
    this.since_ = -Infinity;
  }

  get badge(): Badge {
    return this.badge_;
  }
}

// "23 µs", "1.4 ms"
export function format_step_time(microseconds: number): string {
  if (microseconds >= 1000) return `${(microseconds / 1000).toPrecision(microseconds < 10000 ? 2 : 3)} ms`;
  return `${microseconds >= 10 ? Math.round(microseconds) : microseconds.toFixed(1)} µs`;
}

// Said only when the simulation falls behind the speed that was asked for.
export function slowness(frame: Pick<LiveFrame, 'real_time' | 'playing'>, speed: number): string | null {
  if (!frame.playing || frame.real_time >= 0.95 * speed) return null;
  return `${frame.real_time.toPrecision(2)}× real time`;
}
