// Joint axes, the centre of mass with its projection on the ground, and traces.

import * as THREE from 'three';
import type { Motion, Show } from '../document/show';
import type { Bodies } from './bodies';
import type { Theme } from './palette';
import { robot_color } from './palette';

export class JointAxes {
  private readonly material_ = new THREE.LineBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9 });
  private readonly lines_: THREE.LineSegments[] = [];

  // The lines hang in the bodies' frames, so they move by themselves.
  constructor(show: Show, bodies: Bodies, size: number) {
    for (const joint of show.joints) {
      const at = new THREE.Vector3(...joint.position);
      const axes = joint.type === 'ball' ? [[1, 0, 0], [0, 1, 0], [0, 0, 1]] : [joint.axis];
      const points = axes.flatMap((axis) => {
        const half = new THREE.Vector3().fromArray(axis).setLength(size * (joint.type === 'ball' ? 0.12 : 0.24));
        return [at.clone().sub(half), at.clone().add(half)];
      });
      const line = new THREE.LineSegments(new THREE.BufferGeometry().setFromPoints(points), this.material_);
      line.renderOrder = 7;
      bodies.frames[joint.body].add(line);
      this.lines_.push(line);
    }
  }

  set_theme(theme: Theme): void {
    this.material_.color.set(theme.joint_axis);
  }

  set_visible(on: boolean): void {
    for (const line of this.lines_) line.visible = on;
  }
}

// The quartered disc of engineering drawings.
function mark_texture(theme: Theme): THREE.CanvasTexture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 96;
  const c = canvas.getContext('2d')!;
  const circle = (radius: number, color: string) => {
    c.fillStyle = color;
    c.beginPath();
    c.arc(48, 48, radius, 0, 2 * Math.PI);
    c.fill();
  };
  circle(46, theme.background);
  circle(42, theme.text);
  circle(31, theme.background);
  circle(17, theme.text);
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  return texture;
}

export class CentreOfMass {
  readonly group = new THREE.Group();
  private readonly mark_ = new THREE.Sprite(new THREE.SpriteMaterial({ depthTest: false }));
  private readonly ring_: THREE.Mesh;
  private readonly plumb_: THREE.Line;
  private readonly flat_ = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.8, side: THREE.DoubleSide, depthTest: false });
  private readonly thin_ = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.5 });

  constructor(private readonly show_: Show, private readonly motion_: Motion, size: number, private readonly ground_: number) {
    this.mark_.scale.setScalar(size * 0.11);
    this.mark_.renderOrder = 20;
    this.ring_ = new THREE.Mesh(new THREE.RingGeometry(size * 0.04, size * 0.052, 40), this.flat_);
    this.ring_.renderOrder = 8;
    this.plumb_ = new THREE.Line(new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3(0, 0, -1)]), this.thin_);
    this.group.add(this.mark_, this.ring_, this.plumb_);
    if (show_.up === 'y') this.ring_.rotation.x = -Math.PI / 2;
  }

  set_theme(theme: Theme): void {
    this.mark_.material.map?.dispose();
    this.mark_.material.map = mark_texture(theme);
    this.mark_.material.needsUpdate = true;
    this.flat_.color.set(theme.text);
    this.thin_.color.set(theme.text);
  }

  update(frame: number): void {
    const at = this.motion_.centre_of_mass;
    if (!at) return;
    const p = new THREE.Vector3().fromArray(at, 3 * frame);
    const below = p.clone();
    if (this.show_.up === 'y') below.y = this.ground_;
    else below.z = this.ground_;
    this.mark_.position.copy(p);
    this.ring_.position.copy(below);
    this.plumb_.geometry.setFromPoints([p, below]);
  }
}

const kMaxTraces = 16;
const kLiveTrace = 600; // frames

// The whole path faint, the part so far strong: of the centre of each moving body (at most 16) or the centre of mass.
// Of a live motion the last frames before the one that is shown.
export class Traces {
  readonly group = new THREE.Group();
  private readonly past_: THREE.Line[] = [];
  private readonly moving_: number[]; // bodies with a trace

  constructor(private readonly show_: Show, private readonly motion_: Motion) {
    const moving = show_.bodies.map((_, i) => i).filter((i) => !show_.bodies[i].fixed && show_.shapes.some((s) => s.body === i));
    this.moving_ = moving.slice(0, kMaxTraces);
    const room = new Float32Array(3 * kLiveTrace);
    for (const i of this.moving_)
      this.add(motion_.live ? room.slice() : path_of(show_, motion_, i), robot_color(show_.bodies[i].robot));
    if (motion_.centre_of_mass && moving.length > 1) this.add(motion_.live ? room : motion_.centre_of_mass, '#8a8f99');
  }

  private add(points: Float32Array, color: string): void {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(points, 3));
    const past = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color }));
    past.frustumCulled = false;
    this.past_.push(past);
    this.group.add(past);
    if (this.motion_.live) return;
    const faint = new THREE.Line(geometry.clone(), new THREE.LineBasicMaterial({ color, transparent: true, opacity: 0.28 }));
    faint.frustumCulled = false;
    this.group.add(faint);
  }

  update(frame: number): void {
    if (this.motion_.live) this.retrace(frame);
    else for (const line of this.past_) line.geometry.setDrawRange(0, frame + 1);
  }

  private retrace(frame: number): void {
    if (!this.group.visible) return;
    const first = Math.max(0, frame + 1 - kLiveTrace);
    this.past_.forEach((line, i) => {
      const points = line.geometry.getAttribute('position') as THREE.BufferAttribute;
      if (i < this.moving_.length) path_of(this.show_, this.motion_, this.moving_[i], first, frame + 1, points.array as Float32Array);
      else (points.array as Float32Array).set(this.motion_.centre_of_mass!.subarray(3 * first, 3 * (frame + 1)));
      points.needsUpdate = true;
      line.geometry.setDrawRange(0, frame + 1 - first);
    });
  }
}

// World path of the body's middle, the mean of its shapes' positions, from frame `first` to before `end`: (end − first) × 3.
export function path_of(show: Show, motion: Motion, body: number, first = 0, end = motion.times.length,
  path: Float32Array = new Float32Array(3 * (end - first))): Float32Array {
  const middle = new THREE.Vector3();
  const shapes = show.shapes.filter((s) => s.body === body);
  for (const s of shapes) middle.add(new THREE.Vector3(...s.position).divideScalar(shapes.length));
  const p = new THREE.Vector3();
  const q = new THREE.Quaternion();
  for (let k = first; k < end; k++) {
    const at = (k * show.bodies.length + body) * 7;
    const to = 3 * (k - first);
    p.copy(middle).applyQuaternion(q.fromArray(motion.poses, at + 3));
    path[to] = p.x + motion.poses[at];
    path[to + 1] = p.y + motion.poses[at + 1];
    path[to + 2] = p.z + motion.poses[at + 2];
  }
  return path;
}
