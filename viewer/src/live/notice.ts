// One line on top that says what is wrong: the weightiest of the things that are.

import { h } from '../page/dom';

const kKinds = ['connection', 'scene', 'frames', 'diverged', 'command'] as const; // weightiest first
export type NoticeKind = (typeof kKinds)[number];

export class Notice {
  // Always in the page, so that screen readers hear when its text changes.
  readonly element = h('div', { class: 'notice', role: 'status', 'aria-live': 'polite' });
  private readonly texts_ = new Map<NoticeKind, string>();

  say(kind: NoticeKind, text: string): void {
    if (this.texts_.get(kind) === text) return;
    this.texts_.set(kind, text);
    this.draw();
  }

  clear(...kinds: NoticeKind[]): void {
    let changed = false;
    for (const kind of kinds) changed = this.texts_.delete(kind) || changed;
    if (changed) this.draw();
  }

  private draw(): void {
    const kind = kKinds.find((k) => this.texts_.has(k));
    this.element.textContent = kind ? this.texts_.get(kind)! : '';
    this.element.dataset.kind = kind ?? '';
  }
}
