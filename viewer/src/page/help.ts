// The overlay that lists all keys, made from the same table that the keyboard handler uses.

import { h } from './dom';
import { bindings_for } from './keys';

export class Help {
  readonly element: HTMLDialogElement;
  private readonly groups_ = h('div', { class: 'groups' });
  private readonly note_ = h('p', { class: 'note' });

  constructor() {
    const close = h('button', { type: 'button', class: 'text' }, 'Close');
    this.element = h('dialog', { class: 'help', 'aria-labelledby': 'help-title' },
      h('header', {}, h('h2', { id: 'help-title' }, 'Keys'), close),
      this.groups_, this.note_);
    this.set_live(false);
    close.addEventListener('click', () => this.element.close());
    this.element.addEventListener('click', (event) => {
      if (event.target === this.element) this.element.close(); // beside the card
    });
  }

  // Keys of a live simulation, or of a recording.
  set_live(live: boolean): void {
    const bindings = bindings_for(live);
    this.groups_.replaceChildren(...(['Time', 'View', 'Show'] as const).map((group) =>
      h('section', {}, h('h3', {}, group),
        h('dl', {}, ...bindings.filter((b) => b.group === group).map((b) =>
          h('div', {}, h('dt', {}, h('kbd', {}, b.label)), h('dd', {}, b.text)))))));
    this.note_.textContent = live
      ? 'Mouse: drag a body to push it, drag beside it (or with Alt) to orbit, right button to pan, wheel to zoom. Touch: one finger pushes or orbits, two pan and zoom.'
      : 'Mouse: drag to orbit, right button to pan, wheel to zoom. Touch: one finger orbits, two pan and zoom.';
  }

  toggle(): void {
    if (this.element.open) this.element.close();
    else this.element.showModal();
  }
}
