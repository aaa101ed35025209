// One motion on the stage: its bodies and everything that can be shown about them.

import * as THREE from 'three';
import { lengths, units_per_metre } from '../document/contacts';
import type { Motion, Show } from '../document/show';
import { Bodies } from './bodies';
import type { Bounds } from './bounds';
import { ContactOverlay } from './overlay_contacts';
import { GradientOverlay } from './overlay_gradients';
import { CentreOfMass, JointAxes, Traces } from './overlay_marks';
import type { Theme } from './palette';
import { frame_and_fraction } from './player';

export interface Display {
  collision: boolean;
  contacts: boolean;
  joints: boolean;
  centre_of_mass: boolean;
  traces: boolean;
  gradients: boolean;
}

// One scale for all motions, so that their arrows compare.
export interface Scales {
  newtons_per_metre: number;
  gradient_per_metre: number;
  largest_joint_gradient: number; // |∂loss/∂τ|
  limit: number; // longest arrow, m
}

export const kLarge = 0.5; // length of a large arrow over the size of what moves
const kLimit = 1.2; // of the longest one

export function measure_scales(show: Show, size: number): Scales {
  const forces = show.motions.flatMap((m) => lengths(m.contact_values, 9, 6));
  const gradients = show.motions.flatMap((m) => (m.gradients ? lengths(m.gradients.bodies, 3) : []));
  let largest = 0;
  for (const m of show.motions) for (const g of m.gradients?.joints ?? []) largest = Math.max(largest, Math.abs(g));
  return {
    newtons_per_metre: units_per_metre(forces, size * kLarge),
    gradient_per_metre: units_per_metre(gradients, size * kLarge),
    largest_joint_gradient: largest,
    limit: size * kLimit,
  };
}

export class MotionView {
  readonly group = new THREE.Group();
  readonly bodies: Bodies;
  frame = 0;
  private readonly contacts_: ContactOverlay;
  private readonly joints_: JointAxes;
  private readonly centre_: CentreOfMass;
  private readonly traces_: Traces;
  private readonly gradients_: GradientOverlay;

  constructor(show: Show, readonly motion: Motion, bounds: Bounds, scales: Scales, readonly ghost: boolean) {
    this.bodies = new Bodies(show, motion, ghost);
    this.contacts_ = new ContactOverlay(show, motion, bounds.size, scales);
    this.joints_ = new JointAxes(show, this.bodies, bounds.size);
    this.centre_ = new CentreOfMass(show, motion, bounds.size, bounds.ground);
    this.traces_ = new Traces(show, motion);
    this.gradients_ = new GradientOverlay(show, motion, this.bodies, bounds.size, scales);
    const overlays = new THREE.Group();
    overlays.rotation.copy(this.bodies.group.rotation);
    overlays.add(this.contacts_.group, this.centre_.group, this.traces_.group, this.gradients_.group);
    this.group.add(this.bodies.group, overlays);
  }

  // A ghost shows its path at most: arrows of two motions in one picture would not be told apart.
  set_display(display: Display): void {
    const solid = !this.ghost;
    this.bodies.show_collision(solid && display.collision);
    this.contacts_.group.visible = solid && display.contacts;
    this.joints_.set_visible(solid && display.joints);
    this.centre_.group.visible = solid && display.centre_of_mass && this.motion.centre_of_mass !== null;
    this.traces_.group.visible = display.traces;
    this.gradients_.set_visible(solid && display.gradients && this.motion.gradients !== null);
  }

  set_theme(theme: Theme): void {
    for (const part of [this.contacts_, this.joints_, this.centre_, this.gradients_]) part.set_theme(theme);
  }

  update(time: number): void {
    const [frame, fraction] = frame_and_fraction(this.motion.times, time);
    this.frame = frame;
    this.bodies.update(frame, fraction);
    this.contacts_.update(frame);
    this.centre_.update(frame);
    this.traces_.update(frame);
    this.gradients_.update(frame);
  }

  body_position(body: number): THREE.Vector3 {
    return this.bodies.frames[body].getWorldPosition(new THREE.Vector3());
  }

  dispose(): void {
    this.group.traverse((object) => {
      if (object instanceof THREE.Mesh || object instanceof THREE.Line) {
        object.geometry.dispose();
        (Array.isArray(object.material) ? object.material : [object.material]).forEach((m: THREE.Material) => m.dispose());
      }
    });
    this.group.removeFromParent();
  }
}
