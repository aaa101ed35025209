// The pairs of bodies that never touch, with their reasons. There may be thousands, which few people look at: rows are made
// when the list is seen, and not all at once.

import type { ExceptedPair } from '../document/show';
import { h } from '../page/dom';

export const kRowsAtOnce = 500;

export class PairList {
  readonly element = h('div', { class: 'pairs' });
  private readonly list_ = h('ul', { tabindex: 0, 'aria-label': 'Pairs that do not touch' });
  private readonly more_ = h('button', { type: 'button', class: 'text wide' }, 'Show more');
  private pairs_: readonly ExceptedPair[] = [];
  private seen_ = false;

  constructor() {
    this.element.append(this.list_, this.more_);
    this.more_.hidden = true;
    this.more_.addEventListener('click', () => this.add_rows());
  }

  set_pairs(pairs: readonly ExceptedPair[]): void {
    this.pairs_ = pairs;
    this.list_.replaceChildren();
    this.list_.scrollTop = 0;
    if (this.seen_) this.add_rows();
  }

  // Whether it can be seen.
  set_seen(seen: boolean): void {
    this.seen_ = seen;
    if (seen && this.list_.childElementCount === 0) this.add_rows();
  }

  private add_rows(): void {
    const from = this.list_.childElementCount;
    const rows = this.pairs_.slice(from, from + kRowsAtOnce).map(({ a, b, reason }) =>
      h('li', {}, h('span', { class: 'bodies' }, `${a} – ${b}:`), ` ${reason}`));
    this.list_.append(...rows);
    const left = this.pairs_.length - this.list_.childElementCount;
    this.more_.hidden = left === 0;
    this.more_.textContent = `Show ${Math.min(left, kRowsAtOnce)} more of ${left}`;
  }
}
