// The overlay that lists all keys, made from the same table that the keyboard handler uses.

import { h } from './dom';
import { kBindings } from './keys';

export class Help {
  readonly element: HTMLDialogElement;

  constructor() {
    const close = h('button', { type: 'button', class: 'text' }, 'Close');
    const groups = (['Time', 'View', 'Show'] as const).map((group) =>
      h('section', {}, h('h3', {}, group),
        h('dl', {}, ...kBindings.filter((b) => b.group === group).map((b) =>
          h('div', {}, h('dt', {}, h('kbd', {}, b.label)), h('dd', {}, b.text))))));
    this.element = h('dialog', { class: 'help', 'aria-labelledby': 'help-title' },
      h('header', {}, h('h2', { id: 'help-title' }, 'Keys'), close),
      h('div', { class: 'groups' }, ...groups),
      h('p', { class: 'note' }, 'Mouse: drag to orbit, right button to pan, wheel to zoom. Touch: one finger orbits, two pan and zoom.'));
    close.addEventListener('click', () => this.element.close());
    this.element.addEventListener('click', (event) => {
      if (event.target === this.element) this.element.close(); // beside the card
    });
  }

  toggle(): void {
    if (this.element.open) this.element.close();
    else this.element.showModal();
  }
}
