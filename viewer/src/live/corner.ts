// The corner of a live simulation: scene, step time, contacts, what is out of the ordinary, and how contacts are solved.
// Its elements stay and only their texts change, else no tooltip would live long enough to be read.

import { h } from '../page/dom';
import type { Badge } from './status';

export interface Facts {
  scene: string;
  step_time: string; // empty texts are not shown
  contacts: number;
  slow: string;
  clients: number;
  badge: Badge;
}

function write(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
  element.hidden = text === '';
}

export class LiveCorner {
  private readonly scene_ = h('strong');
  private readonly step_ = h('span', { title: 'Mean time that a step takes' });
  private readonly contacts_ = h('span');
  private readonly slow_ = h('span', { class: 'slow', title: 'Simulated over real time: the machine does not keep up' });
  private readonly clients_ = h('span', { title: 'Browsers that watch' });
  private readonly badge_ = h('span', { class: 'badge' });
  readonly elements = [this.scene_, this.step_, this.contacts_, this.slow_, this.clients_, this.badge_];

  update(facts: Facts): void {
    write(this.scene_, facts.scene);
    write(this.step_, facts.step_time);
    write(this.contacts_, `${facts.contacts} contact${facts.contacts === 1 ? '' : 's'}`);
    write(this.slow_, facts.slow);
    write(this.clients_, facts.clients > 1 ? `${facts.clients} viewers` : '');
    write(this.badge_, facts.badge.text);
    this.badge_.className = `badge ${facts.badge.level}`;
    if (this.badge_.title !== facts.badge.title) this.badge_.title = facts.badge.title;
  }
}
