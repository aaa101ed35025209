// Contacts of a frame: small discs on the surface, the normal part of the force teal, friction orange.

import * as THREE from 'three';
import { split_force } from '../document/contacts';
import type { Motion, Show } from '../document/show';
import { Arrows } from './arrows';
import type { Scales } from './motion_view';
import type { Theme } from './palette';

const kUp = new THREE.Vector3(0, 0, 1);
const kMaxDiscs = 512;

export class ContactOverlay {
  readonly group = new THREE.Group();
  private readonly normals_: Arrows;
  private readonly frictions_: Arrows;
  private readonly discs_: THREE.InstancedMesh;
  private readonly disc_material_ = new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, side: THREE.DoubleSide });

  // scales: may change while frames arrive
  constructor(private readonly show_: Show, private readonly motion_: Motion, size: number, private readonly scales_: Scales) {
    this.normals_ = new Arrows(size * 0.011, 10);
    this.frictions_ = new Arrows(size * 0.011, 11);
    this.discs_ = new THREE.InstancedMesh(new THREE.CircleGeometry(size * 0.022, 24), this.disc_material_, kMaxDiscs);
    this.discs_.frustumCulled = false;
    this.discs_.renderOrder = 9;
    this.group.add(this.discs_, this.normals_.group, this.frictions_.group);
  }

  set_theme(theme: Theme): void {
    this.normals_.set_color(theme.normal);
    this.frictions_.set_color(theme.friction);
    this.disc_material_.color.set(theme.normal);
  }

  update(frame: number): void {
    const { contact_offsets, contact_values } = this.motion_;
    this.normals_.clear();
    this.frictions_.clear();
    let discs = 0;
    const p = new THREE.Vector3();
    const n = new THREE.Vector3();
    const matrix = new THREE.Matrix4();
    const one = new THREE.Vector3(1, 1, 1);
    for (let c = contact_offsets[frame]; c < contact_offsets[frame + 1]; c++) {
      const v = contact_values.subarray(9 * c, 9 * c + 9);
      p.fromArray(v, 0);
      n.fromArray(v, 3);
      if (discs < kMaxDiscs) {
        matrix.compose(p, new THREE.Quaternion().setFromUnitVectors(kUp, n.lengthSq() > 0 ? n.normalize() : kUp), one);
        this.discs_.setMatrixAt(discs++, matrix);
      }
      const parts = split_force(v.subarray(6, 9), v.subarray(3, 6));
      const sign = this.pushes_the_ground(c) ? -1 : 1;
      this.normals_.add(p, this.arrow(parts.normal).multiplyScalar(sign));
      this.frictions_.add(p, this.arrow(parts.friction).multiplyScalar(sign));
    }
    this.discs_.count = discs;
    this.discs_.instanceMatrix.needsUpdate = true;
    this.normals_.finish();
    this.frictions_.finish();
  }

  // Forces are those on the first shape. Where that is fixed, people want to see what holds the other one.
  private pushes_the_ground(contact: number): boolean {
    const fixed = (which: number) => this.show_.bodies[this.show_.shapes[this.motion_.contact_shapes[2 * contact + which]].body].fixed;
    return fixed(0) && !fixed(1);
  }

  private arrow(force: number[]): THREE.Vector3 {
    return new THREE.Vector3().fromArray(force).divideScalar(this.scales_.newtons_per_metre).clampLength(0, this.scales_.limit);
  }
}
