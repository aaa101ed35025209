// The scale of arrows whose values are not known beforehand: follows the 95th percentile of what was seen, in steps of
// 1, 2, 5. It steps up when arrows would be too long, and down only when they became tiny, so that it comes to rest.

import { nice_number } from '../document/contacts';

const kBins = 400; // quarter octaves from 2⁻⁵⁰ on
const kMemory = 20000; // values, after which older ones count half
const kDown = 4; // times smaller, before the scale steps down

export class Gauge {
  private readonly counts_ = new Float64Array(kBins);
  private total_ = 0;
  private units_: number | null = null;

  // target: length that large values should have, m
  constructor(private readonly target_: number) {}

  // Per metre of arrow, null while nothing was seen.
  get units(): number | null {
    return this.units_;
  }

  add(value: number): void {
    const size = Math.abs(value);
    if (!(size > 0) || !Number.isFinite(size)) return;
    const bin = Math.min(kBins - 1, Math.max(0, Math.floor(4 * Math.log2(size)) + 200));
    this.counts_[bin]++;
    if (++this.total_ < kMemory) return;
    for (let i = 0; i < kBins; i++) this.counts_[i] /= 2;
    this.total_ /= 2;
  }

  private percentile(share: number): number {
    let left = share * this.total_;
    for (let i = 0; i < kBins; i++) {
      left -= this.counts_[i];
      if (left <= 0 && this.counts_[i] > 0) return 2 ** ((i - 200 + 0.5) / 4);
    }
    return 0;
  }

  // Takes the step that the values ask for, if any, and returns the units.
  settle(): number | null {
    if (this.total_ === 0 || !(this.target_ > 0)) return this.units_;
    const wanted = nice_number(this.percentile(0.95) / this.target_);
    if (this.units_ === null || wanted > this.units_ || wanted * kDown <= this.units_) this.units_ = wanted;
    return this.units_;
  }
}
