// The app: makes the page's parts, connects them, and draws when something changed.

import { with_unit } from './document/contacts';
import type { Show } from './document/show';
import { Live } from './live/live';
import { is_live_page, type LiveScene } from './live/messages';
import { h, icon_button } from './page/dom';
import { Help } from './page/help';
import { action_of, belongs_to_control, type Action } from './page/keys';
import { Opener } from './page/open';
import { ThemeSwitch } from './page/theme';
import { kNarrow, Panel } from './panel/panel';
import { Plots } from './panel/plots';
import { TimeBar } from './panel/time_bar';
import type { Display } from './stage/motion_view';
import type { Theme } from './stage/palette';
import { watchable_speed } from './stage/player';
import { kCompareOrder, Session, type Compare, type LiveParts } from './stage/session';
import { Stage } from './stage/stage';

const kCatchUp = 100; // ms
const kTight = 600; // px: narrower than this, tools and status do not fit beside each other

export class App {
  session: Session | null = null;
  live: Live | null = null; // of a page that a server gave
  private readonly canvas_ = h('canvas', { class: 'stage', tabindex: 0, role: 'img', 'aria-label': 'Motion in 3D' });
  private readonly stage_: Stage;
  private readonly theme_ = new ThemeSwitch((theme) => this.apply_theme(theme));
  private readonly bar_ = new TimeBar(() => this.time_changed());
  private readonly plots_ = new Plots(this.theme_.theme, (time) => this.seek(time));
  private readonly help_ = new Help();
  private readonly opener_ = new Opener((show) => this.open(show));
  private readonly panel_: Panel;
  private readonly open_ = icon_button('open', 'Open a document (O)', () => this.opener_.choose());
  private readonly hand_ = icon_button('hand', 'Dragging a body pushes it (H)', () => this.run('push'));
  private readonly status_ = h('div', { class: 'status', role: 'status', 'aria-live': 'off' });
  private readonly legend_ = h('div', { class: 'legend', 'aria-label': 'Legend' });
  private readonly labels_ = h('div', { class: 'labels' });
  private dirty_ = true;
  private last_ = 0;
  private caught_up_ = 0; // ms
  private shown_ = ''; // what the live plots show

  constructor(private readonly root_: HTMLElement) {
    this.stage_ = new Stage(this.canvas_, () => (this.dirty_ = true));
    this.panel_ = new Panel(this.plots_.element, {
      set_display: (key, on) => this.set_display(key, on),
      set_compare: (compare) => this.set_compare(compare),
      set_follow: (body) => this.change((s) => s.set_follow(body)),
      set_motion: (which, motion) => this.change((s) => {
        s[which] = motion;
        s.rebuild();
        this.motions_changed(s);
      }),
      moved: () => this.layout(),
    });
    this.hand_.hidden = true;
    this.hand_.setAttribute('aria-pressed', 'true');
    const tools = h('div', { class: 'tools', role: 'toolbar', 'aria-label': 'Tools' },
      this.hand_, this.open_,
      icon_button('frame', 'Reset the camera (R)', () => this.run('reset_view')),
      icon_button('sun', 'Light or dark (D)', () => this.theme_.toggle()),
      icon_button('help', 'Keys (?)', () => this.help_.toggle()),
      this.panel_.button);
    for (const button of [this.hand_, tools.children[2], this.panel_.button]) button.classList.add('needs-show');
    root_.append(this.canvas_, this.labels_, this.status_, this.legend_, tools, this.panel_.element, this.bar_.element,
      this.opener_.empty, this.opener_.error, this.help_.element);
    root_.classList.add('no-show');
    window.addEventListener('resize', () => this.layout());
    new ResizeObserver(() => this.layout()).observe(this.bar_.element);
    window.addEventListener('keydown', (event) => this.on_key(event));
    // A stage that has the focus because it was pressed needs no outline around the window.
    this.canvas_.addEventListener('pointerdown', () => this.canvas_.classList.add('pressed'), { capture: true });
    this.canvas_.addEventListener('blur', () => this.canvas_.classList.remove('pressed'));
    // A button pressed with the mouse gives the keyboard back, so that Space plays.
    root_.addEventListener('click', (event) => {
      const target = event.target as HTMLElement;
      if (event.detail > 0 && target.closest('button, input[type=checkbox], input[type=radio]')) (document.activeElement as HTMLElement | null)?.blur();
    });
    this.theme_.apply();
    this.layout();
    requestAnimationFrame((now) => this.tick(now));
  }

  start(text: string): void {
    try {
      if (is_live_page(text)) this.start_live();
      else if (text.trim() !== 'null' && text.trim() !== '') this.opener_.open_text(text);
    } catch (error) {
      this.opener_.refuse((error as Error).message);
    }
  }

  private start_live(): void {
    this.opener_.disable();
    this.open_.hidden = true;
    this.hand_.hidden = false;
    this.help_.set_live(true);
    this.root_.classList.add('live');
    this.live = new Live({
      canvas: this.canvas_,
      stage: this.stage_,
      session: () => this.session,
      open: (show, parts, scene, same) => this.open_live(show, parts, scene, same),
      rescaled: () => this.session && this.draw_legend(this.session),
      redraw: () => (this.dirty_ = true),
    }, window.location);
    this.live.push.set_theme(this.theme_.theme);
    this.root_.append(this.live.notice.element);
    this.status_.replaceChildren(...this.live.corner.elements);
  }

  private replace_session(show: Show, parts: LiveParts | null): Session {
    this.session?.dispose();
    const session = new Session(show, this.stage_, this.theme_.theme, parts);
    this.session = session;
    this.root_.classList.remove('no-show');
    document.title = `${show.title} · Lithe`;
    return session;
  }

  private open(show: Show): void {
    const session = this.replace_session(show, null);
    this.panel_.set_session(session);
    this.motions_changed(session);
    this.layout();
    this.stage_.reset_camera();
    session.player.set_speed(watchable_speed(session.player.end - session.player.start));
    session.player.playing = !window.matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.time_changed();
  }

  // What is displayed stays; of the same scene also the camera and what it follows.
  private open_live(show: Show, parts: LiveParts, scene: LiveScene, same: boolean): void {
    const before = this.session;
    const session = this.replace_session(show, parts);
    if (before) Object.assign(session.display, before.display);
    else session.display.gradients = scene.loss !== null;
    session.apply_display();
    this.hand_.hidden = !scene.can_step;
    this.panel_.set_session(session, this.live!.panel);
    this.motions_changed(session);
    this.layout();
    if (!same) this.stage_.reset_camera();
    else if (before?.follow != null) session.set_follow(before.follow);
    this.panel_.update(session);
    this.time_changed();
    this.catch_up(true);
  }

  private apply_theme(theme: Theme): void {
    this.stage_?.set_theme(theme);
    this.session?.set_theme(theme);
    this.plots_?.set_theme(theme);
    this.bar_?.set_theme(theme);
    this.live?.push.set_theme(theme);
    this.dirty_ = true;
  }

  private change(what: (session: Session) => void): void {
    if (!this.session) return;
    what(this.session);
    this.panel_.update(this.session);
    this.time_changed();
  }

  private set_display(key: keyof Display, on: boolean): void {
    this.change((s) => {
      if (!s.has(key)) return;
      s.display[key] = on;
      s.apply_display();
      this.draw_legend(s);
    });
  }

  set_compare(compare: Compare): void {
    this.change((s) => {
      s.set_compare(compare);
      this.motions_changed(s);
      this.layout();
      if (s.follow === null) this.stage_.reset_camera();
    });
  }

  private motions_changed(s: Session): void {
    this.plots_.set_motions(s.motions, s.show.curves);
    this.bar_.set_player(s.player, s.ticks);
    this.draw_legend(s);
    this.place_labels();
  }

  seek(time: number): void {
    this.change((s) => {
      if (!s.live) s.player.playing = false;
      s.player.seek(time);
    });
  }

  private time_changed(): void {
    const s = this.session;
    if (!s) return;
    s.update();
    this.bar_.update();
    this.dirty_ = true;
    if (s.live) return; // the rest follows a few times a second
    this.plots_.set_time(s.player.time);
    const contacts = s.contacts;
    this.status_.replaceChildren(h('strong', {}, s.show.title),
      h('span', { class: 'step' }, `step ${Number((s.show.time_step * 1000).toPrecision(3))} ms`),
      h('span', {}, `${contacts} contact${contacts === 1 ? '' : 's'}`));
  }

  // Plots, ticks and status of a live simulation need not follow every frame, nor could one read them so fast.
  private catch_up(at_once = false): void {
    const { session: s, live } = this;
    const now = performance.now();
    if (!s || !live || (!at_once && now - this.caught_up_ < kCatchUp)) return;
    this.caught_up_ = now;
    live.panel.settle();
    live.update_corner(s.contacts);
    const shown = `${s.live!.motion.revision} ${s.player.time}`;
    if (shown === this.shown_ && !at_once) return;
    this.shown_ = shown;
    s.widen();
    this.plots_.follow(s.player.time);
    this.bar_.draw_ticks();
  }

  private draw_legend(s: Session): void {
    const row = (swatch: string, text: string) => h('div', {}, h('span', { class: `swatch ${swatch}` }), text);
    const scale = (text: string) => h('div', { class: 'scale' }, `1 m of arrow = ${text}`);
    const rows: HTMLElement[] = [];
    if (s.display.contacts && s.has('contacts'))
      rows.push(row('normal', 'normal force'), row('friction', 'friction'),
        ...(s.scales_known.forces ? [scale(with_unit(s.scales.newtons_per_metre, 'N'))] : []));
    if (s.display.gradients && s.has('gradients'))
      rows.push(row('gradient', `∂ ${s.show.motions.find((m) => m.gradients)?.gradients?.loss ?? 'loss'} / ∂ position`),
        ...(s.scales_known.gradients ? [scale(`${with_unit(s.scales.gradient_per_metre, '')} per m`)] : []));
    this.legend_.replaceChildren(...rows);
    this.legend_.hidden = rows.length === 0;
  }

  // The part of the window that panel and bar leave; the pictures centre there.
  private layout(): void {
    if (!this.panel_) return;
    const narrow = window.matchMedia(kNarrow).matches;
    const open = this.panel_.is_open && this.session !== null;
    const bar = this.session ? this.bar_.element.offsetHeight : 0;
    const panel = this.panel_.element;
    const tight = narrow || window.innerWidth - (open ? panel.offsetWidth : 0) < kTight;
    this.root_.classList.toggle('sheet', open && narrow);
    this.root_.classList.toggle('tight', tight);
    this.root_.style.setProperty('--bar', `${bar}px`);
    this.root_.style.setProperty('--free-right', `${open && !narrow ? panel.offsetWidth : 0}px`);
    this.root_.style.setProperty('--free-bottom', `${bar + (open && narrow ? panel.offsetHeight : 0)}px`);
    this.stage_.set_insets({
      right: open && !narrow ? panel.offsetWidth : 0,
      bottom: bar + (open && narrow ? panel.offsetHeight : 0),
      top: tight ? 68 : 46,
    });
    this.stage_.resize();
    this.bar_.draw_ticks();
    this.place_labels();
    this.dirty_ = true;
  }

  private place_labels(): void {
    const s = this.session;
    if (!s || s.show.motions.length < 2) {
      this.labels_.replaceChildren();
      return;
    }
    const rects = this.stage_.pane_rects();
    const side = s.compare === 'side';
    const names = side ? s.motions.map((m) => m.name) : [s.compare === 'ghost' ? `${s.motions[1].name}, ghost: ${s.motions[0].name}` : s.motions[0].name];
    this.labels_.replaceChildren(...names.map((name, i) => {
      const label = h('div', { class: 'label' }, name);
      label.style.left = `${rects[i].free_x + rects[i].free_width / 2}px`;
      label.style.top = `${rects[i].free_y + 4}px`;
      return label;
    }));
    if (side) {
      const stacked = rects[1].x === 0;
      const line = h('div', { class: 'divider' });
      Object.assign(line.style, stacked
        ? { left: '0', right: '0', top: `${rects[1].y}px`, height: '1px' }
        : { left: `${rects[1].x}px`, top: `${rects[1].free_y}px`, bottom: '0', width: '1px' });
      this.labels_.append(line);
    }
  }

  private on_key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    const type = target instanceof HTMLInputElement ? target.type : '';
    if (belongs_to_control(event.key, target.tagName, type, target.classList.contains('scrubber'))) return;
    const action = action_of(event);
    if (action === null || (this.help_.element.open && action !== 'help' && action !== 'close')) return;
    event.preventDefault();
    this.run(action);
  }

  run(action: Action): void {
    const player = this.session?.player;
    const toggle = (key: keyof Display) => this.set_display(key, !(this.session?.display[key] ?? false));
    switch (action) {
      case 'play': player?.toggle(); break;
      case 'step_back': player?.step(-1); break;
      case 'step_forward': player?.step(1); break;
      case 'jump_back': player?.step(-10); break;
      case 'jump_forward': player?.step(10); break;
      case 'to_start': player?.seek(player.start); break;
      case 'to_end': player?.seek(player.end); break;
      case 'slower': player?.change_speed(-1); break;
      case 'faster': player?.change_speed(1); break;
      case 'reset': this.live?.player?.reset(); break;
      case 'push': this.toggle_push(); break;
      case 'loop': if (player && !this.live) player.loop = !player.loop; break;
      case 'reset_view': this.change((s) => s.set_follow(null)); this.stage_.reset_camera(); break;
      case 'follow': this.change((s) => s.toggle_follow()); break;
      case 'compare': {
        const now = kCompareOrder.indexOf(this.session?.compare ?? 'single');
        this.set_compare(kCompareOrder[(now + 1) % kCompareOrder.length]);
        break;
      }
      case 'panel': this.panel_.set_open(!this.panel_.is_open); break;
      case 'plots': this.panel_.toggle_plots(); break;
      case 'theme': this.theme_.toggle(); break;
      case 'open': this.opener_.choose(); break;
      case 'help': this.help_.toggle(); break;
      case 'close':
        this.live?.push.release();
        this.help_.element.close();
        this.opener_.error.hidden = true;
        break;
      default: toggle(action);
    }
    this.time_changed();
  }

  private toggle_push(): void {
    if (!this.live) return;
    this.live.push.release();
    this.live.push.on = !this.live.push.on;
    this.hand_.setAttribute('aria-pressed', String(this.live.push.on));
  }

  private tick(now: number): void {
    const seconds = Math.min(0.1, (now - this.last_) / 1000); // a tab that slept does not jump
    this.last_ = now;
    if (this.session?.player.advance(seconds)) this.time_changed();
    this.live?.push.update();
    this.catch_up();
    if (this.dirty_) {
      this.dirty_ = false;
      if (this.session) this.session.render();
      else this.stage_.render([{ content: [], shift: this.stage_.controls.target.clone().set(0, 0, 0) }]);
    }
    requestAnimationFrame((next) => this.tick(next));
  }
}
