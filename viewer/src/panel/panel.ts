// The panel on the right (a sheet from below on narrow windows): Scene, Display, pairs that do not touch, Parameters of a live simulation, Plots.
// Remembers whether it is open.

import type { LivePanel } from '../live/panel';
import { h, icon_button, recall, remember } from '../page/dom';
import type { Display } from '../stage/motion_view';
import type { Compare, Session } from '../stage/session';
import { PairList } from './pair_list';

export const kNarrow = '(max-width: 719px)';

const kToggles: { key: keyof Display; text: string; shortcut: string; swatch?: string }[] = [
  { key: 'collision', text: 'Collision shapes', shortcut: 'C', swatch: 'collision' },
  { key: 'contacts', text: 'Contacts and forces', shortcut: 'N', swatch: 'normal' },
  { key: 'joints', text: 'Joint axes', shortcut: 'J' },
  { key: 'centre_of_mass', text: 'Centre of mass', shortcut: 'M' },
  { key: 'traces', text: 'Traces', shortcut: 'T' },
  { key: 'gradients', text: 'Gradients', shortcut: 'G', swatch: 'gradient' },
];

const kCompares: { key: Compare; text: string }[] = [
  { key: 'side', text: 'Side by side' },
  { key: 'ghost', text: 'Ghost' },
  { key: 'single', text: 'One' },
];

export interface PanelActions {
  set_display(key: keyof Display, on: boolean): void;
  set_compare(compare: Compare): void;
  set_follow(body: number | null): void;
  set_motion(which: 'before' | 'after', motion: number): void;
  moved(): void; // the panel opened or closed: the free part of the stage changed
}

export class Panel {
  readonly element: HTMLElement;
  readonly button: HTMLButtonElement;
  private readonly scene_ = h('div', { class: 'rows' });
  private readonly display_ = h('div', { class: 'rows' });
  private readonly pairs_ = new PairList();
  private readonly pairs_section_: HTMLDetailsElement;
  private readonly plots_section_: HTMLDetailsElement;
  private readonly parameters_: HTMLDetailsElement;
  private readonly checks_ = new Map<keyof Display, HTMLInputElement>();
  private readonly radios_ = new Map<Compare, HTMLInputElement>();
  private follow_: HTMLSelectElement | null = null;

  constructor(plots: HTMLElement, private readonly actions_: PanelActions) {
    this.button = icon_button('panel', 'Panel (V)', () => this.set_open(!this.is_open));
    this.plots_section_ = this.section('Plots', plots);
    this.parameters_ = this.section('Parameters', h('div'));
    this.parameters_.hidden = true;
    this.pairs_section_ = this.section('Pairs that do not touch', this.pairs_.element, false);
    this.pairs_section_.addEventListener('toggle', () => this.pairs_.set_seen(this.pairs_section_.open));
    this.pairs_.set_seen(this.pairs_section_.open);
    this.element = h('aside', { class: 'panel', 'aria-label': 'Panel' },
      this.section('Scene', this.scene_), this.section('Display', this.display_), this.pairs_section_, this.parameters_, this.plots_section_);
    const stored = recall('panel');
    this.set_open(stored === null ? !window.matchMedia(kNarrow).matches : stored === 'open', false);
  }

  private section(title: string, content: HTMLElement, open = true): HTMLDetailsElement {
    const stored = recall(`section.${title}`);
    const section = h('details', { open: stored === null ? open : stored !== 'closed' }, h('summary', {}, title), content);
    section.addEventListener('toggle', () => remember(`section.${title}`, section.open ? 'open' : 'closed'));
    return section;
  }

  get is_open(): boolean {
    return !this.element.hidden;
  }

  set_open(open: boolean, store = true): void {
    this.element.hidden = !open;
    this.button.setAttribute('aria-expanded', String(open));
    if (store) {
      remember('panel', open ? 'open' : 'closed');
      this.actions_.moved();
    }
  }

  // P: opens the panel at the plots, or closes them.
  toggle_plots(): void {
    if (this.is_open && this.plots_section_.open) {
      this.plots_section_.open = false;
      return;
    }
    if (!this.is_open) this.set_open(true);
    this.plots_section_.open = true;
    this.plots_section_.scrollIntoView({ block: 'nearest' });
  }

  set_session(session: Session, live: LivePanel | null = null): void {
    const { show } = session;
    const bodies = show.bodies.filter((b) => !b.fixed).length;
    const step = `${Number((show.time_step * 1000).toPrecision(4))} ms`;
    this.parameters_.hidden = live === null || live.is_empty;
    if (live) this.parameters_.lastElementChild!.replaceWith(live.element);
    this.scene_.replaceChildren(
      ...(live ? [live.scene] : []),
      // The sliders of a live simulation should be in sight: fewer rows, and gravity is one of them.
      ...(live ? [fact('Bodies · joints · step', `${bodies} · ${show.joints.length} · ${step}`)] : [
        fact('Bodies', String(bodies)),
        fact('Joints', String(show.joints.length)),
        fact('Time step', step),
        fact('Gravity', `${Number(Math.hypot(...show.gravity).toPrecision(4))} m/s²`),
      ]),
      this.follow_row(session),
      ...(show.motions.length > 1 ? this.compare_rows(session) : []),
    );
    this.pairs_section_.hidden = show.excepted_pairs.length === 0;
    this.pairs_section_.firstElementChild!.textContent = `Pairs that do not touch (${show.excepted_pairs.length})`;
    this.pairs_.set_pairs(show.excepted_pairs);
    this.display_.replaceChildren(...kToggles.map((t) => this.toggle_row(session, t)));
    this.update(session);
  }

  private follow_row(session: Session): HTMLElement {
    const select = h('select', { id: 'follow' }, h('option', { value: '' }, 'Nothing'));
    session.show.bodies.forEach((body, i) => {
      if (!body.fixed) select.append(h('option', { value: i }, body.name));
    });
    select.addEventListener('change', () => this.actions_.set_follow(select.value === '' ? null : Number(select.value)));
    this.follow_ = select;
    return h('div', { class: 'row' }, h('label', { for: 'follow' }, 'Follow'), select);
  }

  private compare_rows(session: Session): HTMLElement[] {
    const group = h('fieldset', { class: 'segments' }, h('legend', {}, 'Before and after'));
    for (const { key, text } of kCompares) {
      const radio = h('input', { type: 'radio', name: 'compare', value: key });
      radio.addEventListener('change', () => this.actions_.set_compare(key));
      this.radios_.set(key, radio);
      group.append(h('label', {}, radio, h('span', {}, text)));
    }
    const choose = (which: 'before' | 'after', text: string, now: number) => {
      const select = h('select', { id: which });
      session.show.motions.forEach((m, i) => select.append(h('option', { value: i }, m.name)));
      select.value = String(now);
      select.addEventListener('change', () => this.actions_.set_motion(which, Number(select.value)));
      return h('div', { class: 'row' }, h('label', { for: which }, text), select);
    };
    return [group, choose('before', 'First', session.before), choose('after', 'Second', session.after)];
  }

  private toggle_row(session: Session, { key, text, shortcut, swatch }: (typeof kToggles)[number]): HTMLElement {
    const check = h('input', { type: 'checkbox', disabled: !session.has(key) });
    check.addEventListener('change', () => this.actions_.set_display(key, check.checked));
    this.checks_.set(key, check);
    return h('label', { class: 'row toggle' }, check, h('span', { class: `swatch ${swatch ?? ''}`, 'aria-hidden': 'true' }), h('span', { class: 'grow' }, text), h('kbd', {}, shortcut));
  }

  update(session: Session): void {
    for (const [key, check] of this.checks_) check.checked = session.display[key] && session.has(key);
    for (const [key, radio] of this.radios_) radio.checked = key === session.compare;
    if (this.follow_) this.follow_.value = session.follow === null ? '' : String(session.follow);
  }
}

function fact(name: string, value: string): HTMLElement {
  return h('div', { class: 'row' }, h('span', { class: 'name' }, name), h('span', { class: 'value' }, value));
}
