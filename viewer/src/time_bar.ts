// The bar at the bottom: play, step, scrubber with contact ticks, time, speed, loop.

import type { ContactTick } from './contacts';
import { h, icon_button, set_icon } from './dom';
import type { Theme } from './palette';
import { kSpeeds, type Player } from './player';

const kThumb = 14; // px, as in styles.css: the track ends half a thumb before the slider does

export class TimeBar {
  readonly element: HTMLElement;
  private readonly play_ = icon_button('play', 'Play (Space)', () => this.act(() => this.player_?.toggle()));
  private readonly loop_ = icon_button('loop', 'Loop (L)', () => this.act((p) => (p.loop = !p.loop)));
  private readonly scrubber_ = h('input', { type: 'range', class: 'scrubber', 'aria-label': 'Time', step: 'any', min: 0, max: 1, value: 0 });
  private readonly ticks_ = h('canvas', { class: 'ticks', 'aria-hidden': 'true' });
  private readonly time_ = h('output', { class: 'time', 'aria-live': 'off' });
  private readonly speed_ = h('select', { 'aria-label': 'Speed', class: 'speed' });
  private player_: Player | null = null;
  private contact_ticks_: ContactTick[] = [];
  private theme_: Theme | null = null;

  constructor(private readonly on_change_: () => void) {
    for (const speed of kSpeeds) this.speed_.append(h('option', { value: speed }, `${speed}×`));
    this.speed_.addEventListener('change', () => this.act((p) => (p.speed = Number(this.speed_.value))));
    this.scrubber_.addEventListener('input', () => this.act((p) => {
      p.playing = false;
      p.seek(Number(this.scrubber_.value));
    }));
    const back = icon_button('back', 'One frame back (←)', () => this.act((p) => p.step(-1)));
    const forward = icon_button('forward', 'One frame on (→)', () => this.act((p) => p.step(1)));
    back.classList.add('step');
    forward.classList.add('step');
    this.play_.classList.add('primary');
    this.element = h('div', { class: 'bar', role: 'group', 'aria-label': 'Time' },
      h('div', { class: 'transport' }, back, this.play_, forward),
      h('div', { class: 'track' }, this.ticks_, this.scrubber_),
      this.time_, this.speed_, this.loop_);
  }

  private act(change: (player: Player) => void): void {
    if (!this.player_) return;
    change(this.player_);
    this.on_change_();
  }

  set_player(player: Player, ticks: ContactTick[]): void {
    this.player_ = player;
    this.contact_ticks_ = ticks;
    this.scrubber_.min = String(player.start);
    this.scrubber_.max = String(player.end);
    this.draw_ticks();
    this.update();
  }

  set_theme(theme: Theme): void {
    this.theme_ = theme;
    this.draw_ticks();
  }

  update(): void {
    const player = this.player_;
    if (!player) return;
    const label = player.playing ? 'Pause (Space)' : 'Play (Space)';
    if (this.play_.title !== label) {
      set_icon(this.play_, player.playing ? 'pause' : 'play');
      this.play_.title = label;
      this.play_.setAttribute('aria-label', label);
    }
    this.scrubber_.value = String(player.time);
    const share = player.end > player.start ? (player.time - player.start) / (player.end - player.start) : 0;
    this.scrubber_.style.setProperty('--share', String(share));
    const text = `${player.time.toFixed(3)} s`;
    this.scrubber_.setAttribute('aria-valuetext', text);
    this.time_.replaceChildren(player.time.toFixed(3), h('span', { class: 'of' }, ` / ${player.end.toFixed(2)} s`));
    this.speed_.value = String(player.speed);
    this.loop_.setAttribute('aria-pressed', String(player.loop));
  }

  // Above the track where contacts begin, below it where they end.
  draw_ticks(): void {
    const player = this.player_;
    const canvas = this.ticks_;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (!player || !this.theme_ || width === 0) return;
    const scale = window.devicePixelRatio;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const c = canvas.getContext('2d')!;
    c.scale(scale, scale);
    const span = player.end - player.start || 1;
    for (const tick of this.contact_ticks_) {
      const x = kThumb / 2 + ((tick.time - player.start) / span) * (width - kThumb);
      c.fillStyle = tick.kind === 'begin' ? this.theme_.normal : this.theme_.muted;
      c.fillRect(Math.round(x) - 0.75, tick.kind === 'begin' ? 1 : height - 7, 1.5, 6);
    }
  }
}
