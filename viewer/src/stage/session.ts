// A document on the stage: which motions are shown and how, what is displayed, which body the camera follows.

import * as THREE from 'three';
import { contact_count, contact_ticks, lengths, type ContactTick } from '../document/contacts';
import type { Motion, Show } from '../document/show';
import { measure, widen, type Bounds } from './bounds';
import { Gauge } from './gauge';
import { kLarge, measure_scales, MotionView, type Display, type Scales } from './motion_view';
import type { Theme } from './palette';
import { Player } from './player';
import type { Stage } from './stage';

export type Compare = 'side' | 'ghost' | 'single';
export const kCompareOrder: readonly Compare[] = ['side', 'ghost', 'single'];

// A motion to which frames are still added.
export interface GrowingMotion extends Motion {
  readonly frames: number;
  readonly ticks: readonly ContactTick[];
  readonly revision: number; // counts changes
}

// A document whose motion still grows, and its clock.
export interface LiveParts {
  motion: GrowingMotion;
  player: Player;
}

export class Session {
  readonly player: Player;
  readonly bounds: Bounds;
  readonly scales: Scales;
  readonly display: Display = { collision: false, contacts: true, joints: false, centre_of_mass: false, traces: false, gradients: false };
  compare: Compare;
  before = 0;
  after: number;
  follow: number | null = null;
  private views_: MotionView[] = []; // first, second; the last one is the main one
  private followed_at_ = new THREE.Vector3();

  private readonly forces_: Gauge; // of a live motion
  private readonly gradients_: Gauge;

  constructor(readonly show: Show, private readonly stage_: Stage, private theme_: Theme, readonly live: LiveParts | null = null) {
    this.after = Math.min(1, show.motions.length - 1);
    this.compare = show.motions.length > 1 ? 'side' : 'single';
    this.bounds = measure(show);
    this.scales = measure_scales(show, this.bounds.size);
    this.forces_ = new Gauge(this.bounds.size * kLarge);
    this.gradients_ = new Gauge(this.bounds.size * kLarge);
    if (live) this.rescale();
    this.player = live?.player ?? new Player(this.longest());
    stage_.set_home(this.bounds.box, this.bounds.ground);
    this.rebuild();
  }

  // The motions on stage, first to last.
  get motions(): Motion[] {
    const { motions } = this.show;
    return this.compare === 'single' ? [motions[this.after]] : [motions[this.before], motions[this.after]];
  }

  get main(): MotionView {
    return this.views_[this.views_.length - 1];
  }

  get ticks(): readonly ContactTick[] {
    if (this.live) return this.live.motion.ticks;
    const ticks = contact_ticks(this.show.motions[this.after]);
    if (this.compare === 'single') return ticks;
    return [...contact_ticks(this.show.motions[this.before]).map((tick) => ({ ...tick, faint: true })), ...ticks];
  }

  // Whether lengths of arrows mean something: in a live motion only after the first of them.
  get scales_known(): { forces: boolean; gradients: boolean } {
    return { forces: !this.live || this.forces_.units !== null, gradients: !this.live || this.gradients_.units !== null };
  }

  get contacts(): number {
    return contact_count(this.main.motion, this.main.frame);
  }

  private longest(): ArrayLike<number> {
    return this.motions.map((m) => m.times).reduce((a, b) => (b[b.length - 1] > a[a.length - 1] ? b : a));
  }

  // Whether the document holds what a toggle shows.
  has(key: keyof Display): boolean {
    switch (key) {
      case 'contacts':
        return this.live !== null || this.show.motions.some((m) => m.contact_values.length > 0);
      case 'gradients':
        return this.show.motions.some((m) => m.gradients !== null);
      case 'centre_of_mass':
        return this.show.motions.some((m) => m.centre_of_mass !== null);
      case 'joints':
        return this.show.joints.length > 0;
      case 'collision':
        return this.show.shapes.some((s) => s.role === 'collision');
      case 'traces':
        return true;
    }
  }

  rebuild(): void {
    for (const view of this.views_) view.dispose();
    this.views_ = this.motions.map((motion, i) =>
      new MotionView(this.show, motion, this.bounds, this.scales, this.compare === 'ghost' && i === 0));
    for (const view of this.views_) this.stage_.scene.add(view.group);
    this.player.set_times(this.longest());
    this.stage_.set_panes(this.compare === 'side' ? 2 : 1);
    this.set_theme(this.theme_);
    this.apply_display();
    this.update();
  }

  set_theme(theme: Theme): void {
    this.theme_ = theme;
    for (const view of this.views_) view.set_theme(theme);
  }

  apply_display(): void {
    for (const view of this.views_) view.set_display(this.display);
  }

  set_compare(compare: Compare): void {
    if (this.show.motions.length < 2) return;
    this.compare = compare;
    this.rebuild();
  }

  set_follow(body: number | null): void {
    this.follow = body;
    if (body === null) return;
    // Looks at the body from where the camera is, in the same direction.
    this.followed_at_ = this.main.body_position(body);
    this.stage_.move_camera(this.followed_at_.clone().sub(this.stage_.controls.target));
  }

  // F: the first body that moves, or none.
  toggle_follow(): void {
    const first = this.show.bodies.findIndex((b) => !b.fixed);
    this.set_follow(this.follow === null && first >= 0 ? first : null);
  }

  // Brings the stage to the player's time.
  update(): void {
    for (const view of this.views_) view.update(this.player.time);
    if (this.follow !== null) {
      const now = this.main.body_position(this.follow);
      this.stage_.move_camera(now.clone().sub(this.followed_at_));
      this.followed_at_ = now;
    }
    this.light();
  }

  // The live motion has a new last frame: scales follow. Returns whether they changed.
  rescale(): boolean {
    const { motion } = this.live!;
    const last = motion.frames - 1;
    const [begin, end] = [motion.contact_offsets[last], motion.contact_offsets[last + 1]];
    for (const force of lengths(motion.contact_values.subarray(9 * begin, 9 * end), 9, 6)) this.forces_.add(force);
    if (motion.gradients) {
      const { bodies, joints } = motion.gradients;
      for (const g of lengths(bodies.subarray(-3 * this.show.bodies.length), 3)) this.gradients_.add(g);
      for (const g of joints.subarray(joints.length - this.show.joints.length))
        this.scales.largest_joint_gradient = Math.max(this.scales.largest_joint_gradient, Math.abs(g));
    }
    const before = [this.forces_.units, this.gradients_.units];
    this.scales.newtons_per_metre = this.forces_.settle() ?? this.scales.newtons_per_metre;
    this.scales.gradient_per_metre = this.gradients_.settle() ?? this.scales.gradient_per_metre;
    return before[0] !== this.forces_.units || before[1] !== this.gradients_.units;
  }

  // Light and home take in where the live motion went; the camera stays where it is.
  widen(): void {
    if (widen(this.bounds, this.show)) this.stage_.widen_home(this.bounds.box);
  }

  // Shadows are sharp when the light's box is small: it covers home, or the followed body in a long motion.
  private light(): void {
    const { home, size } = this.bounds;
    if (this.follow !== null) this.stage_.light(this.followed_at_, Math.max(size * 2.5, home.radius * 0.6));
    else this.stage_.light(home.center, home.radius * 1.3);
  }

  render(): void {
    const zero = new THREE.Vector3();
    if (this.compare !== 'side') {
      this.stage_.render([{ content: this.views_.map((v) => v.group), shift: zero }]);
      return;
    }
    const { follow } = this;
    this.stage_.render(this.views_.map((view) => ({
      content: [view.group],
      shift: follow === null ? zero : view.body_position(follow).sub(this.main.body_position(follow)),
    })));
  }

  dispose(): void {
    for (const view of this.views_) view.dispose();
  }
}
