// Gradients, magenta: arrows of ∂loss/∂position on the bodies, joints as balls shaded by |∂loss/∂τ|.

import * as THREE from 'three';
import { Arrows } from './arrows';
import type { Bodies } from './bodies';
import { kStaticColor, mix, type Theme } from './palette';
import type { Motion, Show } from './show';

export class GradientOverlay {
  readonly group = new THREE.Group();
  private readonly arrows_: Arrows;
  private readonly balls_: THREE.Mesh<THREE.BufferGeometry, THREE.MeshBasicMaterial>[] = [];
  private readonly largest_: number; // |∂loss/∂τ| over the motion
  private color_ = '#c2187f';

  constructor(show: Show, private readonly motion_: Motion, private readonly bodies_: Bodies, size: number,
    private readonly units_: number, private readonly limit_: number) {
    this.arrows_ = new Arrows(size * 0.013, 12);
    this.group.add(this.arrows_.group);
    let largest = 0;
    for (const g of motion_.gradients?.joints ?? []) largest = Math.max(largest, Math.abs(g));
    this.largest_ = largest;
    const geometry = new THREE.SphereGeometry(size * 0.042, 24, 16);
    for (const joint of motion_.gradients ? show.joints : []) {
      const ball = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.95 }));
      ball.position.fromArray(joint.position);
      ball.renderOrder = 8;
      bodies_.frames[joint.body].add(ball);
      this.balls_.push(ball);
    }
  }

  set_theme(theme: Theme): void {
    this.color_ = theme.gradient;
    this.arrows_.set_color(theme.gradient);
  }

  set_visible(on: boolean): void {
    this.group.visible = on;
    for (const ball of this.balls_) ball.visible = on;
  }

  update(frame: number): void {
    const gradients = this.motion_.gradients;
    if (!gradients) return;
    const count = this.bodies_.frames.length;
    const v = new THREE.Vector3();
    this.arrows_.clear();
    for (let i = 0; i < count; i++) {
      v.fromArray(gradients.bodies, (frame * count + i) * 3).divideScalar(this.units_).clampLength(0, this.limit_);
      this.arrows_.add(this.bodies_.frames[i].position, v);
    }
    this.arrows_.finish();
    this.balls_.forEach((ball, j) => {
      const size = Math.abs(gradients.joints[frame * this.balls_.length + j]);
      ball.material.color.set(mix(kStaticColor, this.color_, this.largest_ > 0 ? size / this.largest_ : 0));
    });
  }
}
