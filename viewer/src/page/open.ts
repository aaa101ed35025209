// Opening documents: the one in the page, one dropped onto the window, one chosen by a button.

import { parse_show } from '../document/document';
import { document_text } from '../document/open_text';
import type { Show } from '../document/show';
import { h } from './dom';

export class Opener {
  readonly empty: HTMLElement; // the empty state
  readonly error: HTMLElement;
  private readonly input_ = h('input', { type: 'file', accept: '.json,.html,application/json', 'aria-label': 'Document', hidden: true });
  private readonly message_ = h('p', {});
  private enabled_ = true;

  constructor(private readonly on_show_: (show: Show) => void) {
    const choose = h('button', { type: 'button', class: 'text primary' }, 'Choose a document');
    choose.addEventListener('click', () => this.choose());
    this.empty = h('section', { class: 'empty', 'aria-label': 'No document' },
      h('h1', {}, 'Nothing to show yet'),
      h('p', {}, 'Drop a motion that Lithe has written onto this window, or choose it here. It stays on this machine.'),
      choose, this.input_);
    const close = h('button', { type: 'button', class: 'text' }, 'Close');
    this.error = h('section', { class: 'error', role: 'alert', hidden: true }, h('h2', {}, 'This document cannot be shown'), this.message_, close);
    close.addEventListener('click', () => (this.error.hidden = true));
    this.input_.addEventListener('change', () => {
      const file = this.input_.files?.[0];
      if (file) void this.read(file);
      this.input_.value = '';
    });
    window.addEventListener('dragover', (event) => {
      event.preventDefault(); // the browser would leave the page for the file
      if (this.enabled_) document.body.classList.add('dropping');
    });
    window.addEventListener('dragleave', (event) => {
      if (event.relatedTarget === null) document.body.classList.remove('dropping');
    });
    window.addEventListener('drop', (event) => {
      event.preventDefault();
      document.body.classList.remove('dropping');
      const file = event.dataTransfer?.files[0];
      if (file && this.enabled_) void this.read(file);
    });
  }

  // A page of a live simulation shows nothing else.
  disable(): void {
    this.enabled_ = false;
    this.empty.hidden = true;
  }

  refuse(reason: string): void {
    this.message_.textContent = reason;
    this.error.hidden = false;
  }

  choose(): void {
    if (this.enabled_) this.input_.click();
  }

  open_text(text: string): void {
    try {
      const show = parse_show(document_text(text));
      this.error.hidden = true;
      this.empty.hidden = true;
      this.on_show_(show);
    } catch (error) {
      this.refuse(error instanceof Error ? error.message : String(error));
    }
  }

  private async read(file: File): Promise<void> {
    this.open_text(await file.text());
  }
}
