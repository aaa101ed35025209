// The bar at the bottom: play, step, scrubber with contact ticks, time, speed, loop. For a live simulation: run, step,
// reset, what is remembered of it, and the way back to now.

import type { ContactTick } from '../document/contacts';
import { LivePlayer } from '../live/player';
import { h, icon_button, set_icon } from '../page/dom';
import type { Theme } from '../stage/palette';
import { kSpeeds, type Player } from '../stage/player';

const kThumb = 14; // px, as in styles.css: the track ends half a thumb before the slider does

function relabel(button: HTMLButtonElement, label: string): void {
  if (button.title === label) return;
  button.title = label;
  button.setAttribute('aria-label', label);
}

export class TimeBar {
  readonly element: HTMLElement;
  private readonly play_ = icon_button('play', 'Play (Space)', () => this.act((p) => p.toggle()));
  private readonly back_ = icon_button('back', 'One frame back (←)', (event) => this.act((p) => p.step(event.shiftKey ? -10 : -1)));
  private readonly forward_ = icon_button('forward', 'One frame on (→)', (event) => this.act((p) => p.step(event.shiftKey ? 10 : 1)));
  private readonly reset_ = icon_button('reset', 'Reset the simulation (0)', () => this.act((p) => p instanceof LivePlayer && p.reset()));
  private readonly loop_ = icon_button('loop', 'Loop (L)', () => this.act((p) => (p.loop = !p.loop)));
  private readonly now_ = h('button', { type: 'button', class: 'now' });
  private readonly scrubber_ = h('input', { type: 'range', class: 'scrubber', 'aria-label': 'Time', step: 'any', min: 0, max: 1, value: 0 });
  private readonly ticks_ = h('canvas', { class: 'ticks', 'aria-hidden': 'true' });
  private readonly time_ = h('output', { class: 'time', 'aria-live': 'off' });
  private readonly speed_ = h('select', { 'aria-label': 'Speed', class: 'speed' });
  private player_: Player | null = null;
  private contact_ticks_: readonly ContactTick[] = [];
  private theme_: Theme | null = null;

  constructor(private readonly on_change_: () => void) {
    for (const speed of kSpeeds) this.speed_.append(h('option', { value: speed }, `${speed}×`));
    this.speed_.addEventListener('change', () => this.act((p) => p.set_speed(Number(this.speed_.value))));
    this.scrubber_.addEventListener('input', () => this.act((p) => {
      if (!(p instanceof LivePlayer)) p.playing = false;
      p.seek(Number(this.scrubber_.value));
    }));
    this.now_.addEventListener('click', () => this.act((p) => p instanceof LivePlayer && p.to_now()));
    this.back_.classList.add('step');
    this.forward_.classList.add('step');
    this.play_.classList.add('primary');
    this.element = h('div', { class: 'bar', role: 'group', 'aria-label': 'Time' },
      h('div', { class: 'transport' }, this.back_, this.play_, this.forward_, this.reset_),
      h('div', { class: 'track' }, this.ticks_, this.scrubber_),
      this.time_, this.now_, this.speed_, this.loop_);
  }

  private act(change: (player: Player) => void): void {
    if (!this.player_) return;
    change(this.player_);
    this.on_change_();
  }

  set_player(player: Player, ticks: readonly ContactTick[]): void {
    this.player_ = player;
    this.contact_ticks_ = ticks;
    const live = player instanceof LivePlayer;
    const runs = !live || player.can_step;
    this.play_.hidden = this.speed_.hidden = !runs; // somebody else moves the world
    this.reset_.hidden = !live || !runs;
    this.now_.hidden = !live;
    this.loop_.hidden = live;
    relabel(this.forward_, live && runs ? 'One step on (→), ten with Shift' : 'One frame on (→)');
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
    if (this.play_.title !== label) set_icon(this.play_, player.playing ? 'pause' : 'play');
    relabel(this.play_, label);
    this.scrubber_.min = String(player.start);
    this.scrubber_.max = String(player.end);
    this.scrubber_.value = String(player.time);
    const share = player.end > player.start ? (player.time - player.start) / (player.end - player.start) : player instanceof LivePlayer ? 1 : 0;
    this.scrubber_.style.setProperty('--share', String(share));
    this.scrubber_.setAttribute('aria-valuetext', `${player.time.toFixed(3)} s`);
    this.time_.replaceChildren(player.time.toFixed(3),
      player instanceof LivePlayer ? ' s' : h('span', { class: 'of' }, ` / ${player.end.toFixed(2)} s`));
    this.update_speed(player.speed);
    this.loop_.setAttribute('aria-pressed', String(player.loop));
    if (player instanceof LivePlayer) this.update_now(player);
  }

  // A server may run at a speed that is not in the list.
  private update_speed(speed: number): void {
    const value = String(speed);
    if (this.speed_.value === value) return;
    this.speed_.querySelector('.other')?.remove();
    if (!kSpeeds.some((s) => String(s) === value)) this.speed_.append(h('option', { value, class: 'other' }, `${Number(speed.toPrecision(2))}×`));
    this.speed_.value = value;
  }

  private update_now(player: LivePlayer): void {
    const text = player.online ? 'Live' : 'Offline';
    const behind = player.live ? '' : `−${player.behind.toFixed(1)} s · `;
    if (this.now_.textContent === behind + text) return;
    this.now_.replaceChildren(h('span', { class: 'behind' }, behind), text);
    this.now_.className = `now ${player.live ? (player.online ? '' : 'off') : 'past'}`;
    relabel(this.now_, !player.live ? 'You look at the past. Back to now (End)' : player.online ? 'Live: this is now' : 'Offline: the last that was heard');
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
      c.globalAlpha = tick.faint ? 0.45 : 1;
      c.fillRect(Math.round(x) - 0.75, tick.kind === 'begin' ? 1 : height - 7, 1.5, 6);
    }
  }
}
