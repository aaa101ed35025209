// The value behind a slider that several browsers may move: ours counts while we hold it and shortly after, then the
// server's.

import type { Quantity } from './messages';

const kEcho = 400; // ms after a release in which the server's values may be older than ours

export class SliderModel {
  value: number;
  private held_ = false;
  private until_ = -Infinity;
  private waiting_: number | null = null; // the server's latest word meanwhile

  constructor(readonly quantity: Quantity, private readonly send_: (value: number) => void) {
    this.value = quantity.value;
  }

  get held(): boolean {
    return this.held_;
  }

  get changed(): boolean {
    const { lower, upper, initial } = this.quantity;
    return Math.abs(this.value - initial) > 1e-6 * Math.max(upper - lower, Number.MIN_VALUE);
  }

  private clamp(value: number): number {
    return Math.min(this.quantity.upper, Math.max(this.quantity.lower, value));
  }

  // The user moves it.
  input(value: number): void {
    if (!Number.isFinite(value)) return;
    this.held_ = true;
    this.value = this.clamp(value);
    this.send_(this.value);
  }

  release(now: number): void {
    if (!this.held_) return;
    this.held_ = false;
    this.until_ = now + kEcho;
  }

  // As it was at first; told to the server unless another command does.
  reset(now: number, tell = true): void {
    this.held_ = true;
    this.value = this.quantity.initial;
    if (tell) this.send_(this.value);
    this.release(now);
  }

  // The server says what the value is.
  hear(value: number, now: number): void {
    if (this.held_ || now < this.until_) this.waiting_ = value;
    else this.value = value;
  }

  // Takes over what was heard while the slider was ours. Returns whether the value changed.
  settle(now: number): boolean {
    if (this.waiting_ === null || this.held_ || now < this.until_) return false;
    const changed = this.waiting_ !== this.value;
    this.value = this.waiting_;
    this.waiting_ = null;
    return changed;
  }
}

// "9.81 m/s²", "−0.250 N m", "1.000×": so many decimals that thousandths of the range are seen.
export function format_quantity(value: number, { lower, upper, unit }: Pick<Quantity, 'lower' | 'upper' | 'unit'>): string {
  const range = upper - lower;
  const decimals = range > 0 ? Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(range)))) : 3;
  const number = value.toFixed(decimals).replace(/^-(?=0*\.?0*$)/, '').replace('-', '−');
  if (unit === '') return number;
  return unit === '×' ? `${number}×` : `${number} ${unit}`;
}
