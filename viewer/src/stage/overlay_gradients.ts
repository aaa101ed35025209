// Gradients, magenta: arrows of ∂loss/∂position on the bodies, joints as balls shaded by |∂loss/∂τ|.

import * as THREE from 'three';
import type { Motion, Show } from '../document/show';
import { Arrows } from './arrows';
import type { Bodies } from './bodies';
import type { Scales } from './motion_view';
import { kStaticColor, mix, type Theme } from './palette';

export class GradientOverlay {
  readonly group = new THREE.Group();
  private readonly arrows_: Arrows;
  private readonly balls_: THREE.Mesh<THREE.BufferGeometry, THREE.MeshBasicMaterial>[] = [];
  private color_ = '#c2187f';

  constructor(show: Show, private readonly motion_: Motion, private readonly bodies_: Bodies, size: number,
    private readonly scales_: Scales) {
    this.arrows_ = new Arrows(size * 0.013, 12);
    this.group.add(this.arrows_.group);
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
    for (const ball of this.balls_) ball.visible = on && this.scales_.largest_joint_gradient > 0;
  }

  update(frame: number): void {
    const gradients = this.motion_.gradients;
    if (!gradients) return;
    const { gradient_per_metre, largest_joint_gradient: largest, limit } = this.scales_;
    const count = this.bodies_.frames.length;
    const v = new THREE.Vector3();
    this.arrows_.clear();
    for (let i = 0; i < count; i++) {
      v.fromArray(gradients.bodies, (frame * count + i) * 3).divideScalar(gradient_per_metre).clampLength(0, limit);
      this.arrows_.add(this.bodies_.frames[i].position, v);
    }
    this.arrows_.finish();
    this.balls_.forEach((ball, j) => {
      ball.visible = this.group.visible && largest > 0; // grey balls would tell nothing
      const size = Math.abs(gradients.joints[frame * this.balls_.length + j]);
      ball.material.color.set(mix(kStaticColor, this.color_, largest > 0 ? size / largest : 0));
    });
  }
}
