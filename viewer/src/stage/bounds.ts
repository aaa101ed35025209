// How large the scene is: the box that the camera frames, the ground's height, the size of things that move.

import * as THREE from 'three';
import type { Motion, Show } from '../document/show';
import { is_level, shape_half_sides } from './bodies';

export interface Bounds {
  box: THREE.Box3; // what the camera frames
  home: THREE.Sphere; // around it
  ground: number; // height, m
  size: number; // radius of the moving things in one frame: sets the lengths of arrows
}

const kSamples = 40;
const kWidest = 10; // times the size of what moves: things that travel further are followed by F

const kIdentity = new THREE.Matrix4();
const kYUp = new THREE.Matrix4().makeRotationX(Math.PI / 2);

// Turns a point of the document into the stage's axes (z up).
export function to_stage(show: Show, p: THREE.Vector3): THREE.Vector3 {
  return show.up === 'y' ? p.set(p.x, -p.z, p.y) : p;
}

function frame_box(show: Show, motion: Motion, frame: number, fixed: boolean): THREE.Box3 {
  const box = new THREE.Box3();
  const p = new THREE.Vector3();
  const q = new THREE.Quaternion();
  const own = new THREE.Quaternion();
  const turn = new THREE.Matrix4();
  for (const shape of show.shapes) {
    if (shape.kind === 'plane' || show.bodies[shape.body].fixed !== fixed) continue;
    const at = (frame * show.bodies.length + shape.body) * 7;
    q.fromArray(motion.poses, at + 3);
    p.fromArray(shape.position).applyQuaternion(q);
    p.x += motion.poses[at];
    p.y += motion.poses[at + 1];
    p.z += motion.poses[at + 2];
    to_stage(show, p);
    // The shape's own box, as it is turned, within one along the stage's axes.
    turn.makeRotationFromQuaternion(q.multiply(own.fromArray(shape.quaternion))).premultiply(show.up === 'y' ? kYUp : kIdentity);
    const sides = shape_half_sides(shape);
    const [xx, yx, zx, , xy, yy, zy, , xz, yz, zz] = turn.elements.map(Math.abs);
    const r = new THREE.Vector3(
      xx * sides.x + xy * sides.y + xz * sides.z,
      yx * sides.x + yy * sides.y + yz * sides.z,
      zx * sides.x + zy * sides.y + zz * sides.z);
    box.union(new THREE.Box3(p.clone().sub(r), p.clone().add(r)));
  }
  return box;
}

function radius_of(box: THREE.Box3): number {
  return box.isEmpty() ? 0 : box.getSize(new THREE.Vector3()).length() / 2;
}

// Widens the bounds of a live motion by its last frame. Returns whether they changed; what flies far away is left alone.
export function widen(bounds: Bounds, show: Show): boolean {
  const motion = show.motions[0];
  const box = frame_box(show, motion, motion.times.length - 1, false);
  if (box.isEmpty() || bounds.box.containsBox(box)) return false;
  box.union(bounds.box);
  box.min.z = Math.max(box.min.z, bounds.box.min.z); // what falls off the ground's edge does not lift the camera
  if (radius_of(box) > kWidest * bounds.size || box.equals(bounds.box)) return false;
  bounds.box.copy(box);
  bounds.box.getBoundingSphere(bounds.home);
  return true;
}

export function measure(show: Show): Bounds {
  const all = new THREE.Box3();
  let size = 0;
  for (const motion of show.motions) {
    const T = motion.times.length;
    for (let s = 0; s < Math.min(kSamples, T); s++) {
      const box = frame_box(show, motion, Math.round((s * (T - 1)) / Math.max(1, Math.min(kSamples, T) - 1)), false);
      all.union(box);
      if (s === 0) size = Math.max(size, radius_of(box));
    }
  }
  const first = frame_box(show, show.motions[0], 0, false);
  if (size === 0) size = radius_of(frame_box(show, show.motions[0], 0, true)) || 1;
  // Something that travels far is framed where it starts.
  if (radius_of(all) > kWidest * size) all.copy(first);
  const fixed = frame_box(show, show.motions[0], 0, true);
  if (all.isEmpty() || (!fixed.isEmpty() && radius_of(fixed) < 3 * radius_of(all))) all.union(fixed);
  if (all.isEmpty()) all.set(new THREE.Vector3(-1, -1, 0), new THREE.Vector3(1, 1, 1));

  let ground = Math.min(0, all.min.z);
  const plane = show.shapes.find((s) => is_level(show, s));
  if (plane) {
    const at = plane.body * 7;
    const p = new THREE.Vector3().fromArray(plane.position).applyQuaternion(new THREE.Quaternion().fromArray(show.motions[0].poses, at + 3));
    ground = to_stage(show, p.add(new THREE.Vector3().fromArray(show.motions[0].poses, at))).z;
    all.min.z = Math.max(all.min.z, Math.min(ground, all.max.z - 1e-3));
  }
  const home = all.getBoundingSphere(new THREE.Sphere());
  return { box: all, home, ground, size };
}
