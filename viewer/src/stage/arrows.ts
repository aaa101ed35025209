// Many arrows of one colour in two draw calls, drawn over the bodies: a force on a body would else hide in it.

import * as THREE from 'three';

const kUp = new THREE.Vector3(0, 1, 0);

export class Arrows {
  readonly group = new THREE.Group();
  private readonly material_ = new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.95 });
  private shafts_!: THREE.InstancedMesh;
  private heads_!: THREE.InstancedMesh;
  private capacity_ = 0;
  private count_ = 0;

  // width: of the shaft, m
  constructor(private readonly width_: number, order = 10) {
    this.group.renderOrder = order;
    this.reserve(32);
  }

  set_color(color: string): void {
    this.material_.color.set(color);
  }

  clear(): void {
    this.count_ = 0;
  }

  private reserve(capacity: number): void {
    const make = (geometry: THREE.BufferGeometry, old?: THREE.InstancedMesh) => {
      const mesh = new THREE.InstancedMesh(geometry, this.material_, capacity);
      mesh.frustumCulled = false;
      mesh.renderOrder = this.group.renderOrder;
      if (old) {
        (mesh.instanceMatrix.array as Float32Array).set(old.instanceMatrix.array as Float32Array);
        this.group.remove(old);
        old.dispose();
      }
      this.group.add(mesh);
      return mesh;
    };
    this.shafts_ = make(this.shafts_?.geometry ?? new THREE.CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0), this.shafts_);
    this.heads_ = make(this.heads_?.geometry ?? new THREE.ConeGeometry(1, 1, 16).translate(0, 0.5, 0), this.heads_);
    this.capacity_ = capacity;
  }

  // From p along v, which is as long as the arrow; very short ones are left out.
  add(p: THREE.Vector3, v: THREE.Vector3): void {
    const length = v.length();
    if (length < this.width_ * 0.5) return;
    if (this.count_ === this.capacity_) this.reserve(2 * this.capacity_);
    const head = Math.min(this.width_ * 5, length * 0.6);
    const direction = v.clone().divideScalar(length);
    const turn = new THREE.Quaternion().setFromUnitVectors(kUp, direction);
    const matrix = new THREE.Matrix4();
    matrix.compose(p, turn, new THREE.Vector3(this.width_ / 2, length - head, this.width_ / 2));
    this.shafts_.setMatrixAt(this.count_, matrix);
    matrix.compose(p.clone().addScaledVector(direction, length - head), turn, new THREE.Vector3(head * 0.36, head, head * 0.36));
    this.heads_.setMatrixAt(this.count_, matrix);
    this.count_++;
  }

  finish(): void {
    for (const mesh of [this.shafts_, this.heads_]) {
      mesh.count = this.count_;
      mesh.instanceMatrix.needsUpdate = true;
    }
  }
}
