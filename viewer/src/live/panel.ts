// The panel's parts for a live simulation: the choice of a scene, and sliders for parameters and controls.

import { h, icon_button, recall, remember } from '../page/dom';
import type { LiveScene, LiveValues, Quantity } from './messages';
import { format_quantity, SliderModel } from './sliders';
import { Throttle } from './throttle';

const kInterval = 1000 / 30; // ms between messages of a slider that is dragged
const kFilterFrom = 10; // so many controls can be filtered by name

interface Slider {
  model: SliderModel;
  element: HTMLElement;
  draw(): void;
}

export class LivePanel {
  readonly scene = h('div', { class: 'row' });
  readonly element = h('div', { class: 'sliders' });
  private readonly throttle_: Throttle;
  private controls_: Slider[] = [];
  private parameters_: Slider[] = [];
  private readonly defaults_ = h('button', { type: 'button', class: 'text wide' }, 'Reset all');

  constructor(private readonly send_: (command: string) => void, private readonly clock_: () => number = () => performance.now()) {
    this.throttle_ = new Throttle(kInterval, send_);
    this.defaults_.addEventListener('click', () => this.reset_all());
  }

  private get sliders(): Slider[] {
    return [...this.parameters_, ...this.controls_];
  }

  get is_empty(): boolean {
    return this.sliders.length === 0;
  }

  // Values as the sliders show them.
  get values(): { parameters: number[]; controls: number[] } {
    return { parameters: this.parameters_.map((s) => s.model.value), controls: this.controls_.map((s) => s.model.value) };
  }

  set_scene(live: LiveScene): void {
    this.throttle_.cancel();
    this.set_scenes(live);
    this.parameters_ = live.parameters.map((q, i) => this.make_slider('parameter', q, i));
    this.controls_ = live.controls.map((q, i) => this.make_slider('control', q, i));
    this.element.replaceChildren(...this.parameters_.map((s) => s.element));
    if (this.controls_.length > 0) this.element.append(this.control_group());
    if (!this.is_empty) this.element.append(this.defaults_);
    this.draw();
  }

  private set_scenes({ scene, scenes }: LiveScene): void {
    this.scene.hidden = scenes.length === 0;
    const select = h('select', { id: 'scene' });
    for (const { name, description } of scenes) select.append(h('option', { value: name, title: description }, name));
    if (!scenes.some((s) => s.name === scene)) select.append(h('option', { value: scene, disabled: true }, scene));
    select.value = scene;
    select.title = scenes.find((s) => s.name === scene)?.description ?? '';
    select.addEventListener('change', () => this.send_(`scene ${select.value}`));
    this.scene.replaceChildren(h('label', { for: 'scene' }, 'Scene'), select);
  }

  // What the server made of our choice, when it was refused.
  restore_scene(scene: string): void {
    const select = this.scene.querySelector('select');
    if (select) select.value = scene;
  }

  private control_group(): HTMLElement {
    const list = h('div', { class: 'controls' }, ...this.controls_.map((s) => s.element));
    const group = h('details', { class: 'group', open: recall('section.Controls') !== 'closed' },
      h('summary', {}, `Controls (${this.controls_.length})`));
    group.addEventListener('toggle', () => remember('section.Controls', group.open ? 'open' : 'closed'));
    if (this.controls_.length >= kFilterFrom) {
      const filter = h('input', { type: 'search', class: 'filter', placeholder: 'Filter by name', 'aria-label': 'Filter controls by name' });
      filter.addEventListener('input', () => {
        const wanted = filter.value.trim().toLowerCase();
        for (const { model, element } of this.controls_) element.hidden = !model.quantity.name.toLowerCase().includes(wanted);
      });
      group.append(filter);
    }
    group.append(list);
    return group;
  }

  private make_slider(kind: 'parameter' | 'control', quantity: Quantity, index: number): Slider {
    const { name, lower, upper } = quantity;
    const key = `${kind} ${index}`;
    const model = new SliderModel(quantity, (value) => this.throttle_.put(key, `${key} ${value}`));
    const id = `${kind}-${index}`;
    // The bounds come before the value, which would be clamped to 0 … 100.
    const range = h('input', { type: 'range', id, min: lower, max: upper, step: 'any' });
    const value = h('output', { class: 'value', for: id, 'aria-live': 'off' });
    const draw = () => {
      const text = format_quantity(model.value, quantity);
      value.textContent = text;
      range.value = String(model.value);
      // The bar goes from zero, or the nearest that there is, to the value.
      const share = (x: number) => (upper > lower ? (Math.min(upper, Math.max(lower, x)) - lower) / (upper - lower) : 0);
      range.style.setProperty('--from', String(share(Math.min(0, model.value)) || -1)); // at the left end: from the very edge
      range.style.setProperty('--to', String(share(Math.max(0, model.value))));
      range.setAttribute('aria-valuetext', text);
      reset.classList.toggle('off', !model.changed);
      reset.disabled = !model.changed;
    };
    const reset = icon_button('reset', `Reset ${name}`, () => {
      model.reset(this.clock_());
      if (document.activeElement === reset) range.focus({ preventScroll: true }); // the button goes away
      this.draw();
    });
    reset.classList.add('small');
    const release = () => model.release(this.clock_());
    range.addEventListener('input', () => {
      model.input(Number(range.value));
      this.draw();
    });
    for (const event of ['change', 'pointerup', 'pointercancel', 'blur']) range.addEventListener(event, release);
    range.disabled = !(upper > lower);
    const element = h('div', { class: 'slider' },
      h('div', { class: 'head' }, h('label', { for: id, title: name }, name), reset, value), range);
    return { model, element, draw };
  }

  private reset_all(): void {
    this.throttle_.cancel();
    const now = this.clock_();
    for (const { model } of this.sliders) model.reset(now, false);
    this.send_('defaults');
    this.draw();
  }

  hear(values: LiveValues): void {
    if (values.controls.length !== this.controls_.length || values.parameters.length !== this.parameters_.length) return;
    const now = this.clock_();
    this.controls_.forEach(({ model }, i) => model.hear(values.controls[i], now));
    this.parameters_.forEach(({ model }, i) => model.hear(values.parameters[i], now));
    this.draw();
  }

  // Now and then: takes over what others changed while a slider was held here.
  settle(): void {
    const now = this.clock_();
    if (this.sliders.map(({ model }) => model.settle(now)).some((changed) => changed)) this.draw();
  }

  private draw(): void {
    for (const slider of this.sliders) slider.draw();
    this.defaults_.disabled = !this.sliders.some(({ model }) => model.changed);
  }
}
