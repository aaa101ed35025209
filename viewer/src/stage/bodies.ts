// The bodies of one motion: a group per body that carries its shapes and is moved to the body's pose.

import * as THREE from 'three';
import { mergeVertices } from 'three/addons/utils/BufferGeometryUtils.js';
import type { Motion, Shape, Show } from '../document/show';
import { robot_color } from './palette';

const kTurn = new THREE.Matrix4().makeRotationX(Math.PI / 2); // three's cylinders stand along y, ours along z

export function shape_geometry(shape: Shape): THREE.BufferGeometry | null {
  switch (shape.kind) {
    case 'sphere':
      return new THREE.SphereGeometry(shape.radius, 40, 24);
    case 'capsule':
      return new THREE.CapsuleGeometry(shape.radius, 2 * shape.half_length, 12, 32).applyMatrix4(kTurn);
    case 'cylinder':
      return new THREE.CylinderGeometry(shape.radius, shape.radius, 2 * shape.half_length, 48).applyMatrix4(kTurn);
    case 'box':
      return new THREE.BoxGeometry(...(shape.half_size.map((h) => 2 * h) as [number, number, number]));
    case 'mesh': {
      let geometry: THREE.BufferGeometry = new THREE.BufferGeometry();
      geometry.setAttribute('position', new THREE.BufferAttribute(shape.vertices, 3));
      geometry.setIndex(new THREE.BufferAttribute(shape.triangles, 1));
      // Small meshes keep their edges, fine ones are smoothed.
      if (shape.triangles.length < 3 * 200) geometry = geometry.toNonIndexed();
      else geometry = mergeVertices(geometry);
      geometry.computeVertexNormals();
      return geometry;
    }
    case 'plane':
      return null; // drawn by the ground when level, by a patch otherwise
  }
}

// Half the sides of the box around a shape, in its own axes. Meshes are measured once: live bounds ask for every frame.
const half_sides = new WeakMap<Shape, THREE.Vector3>();
export function shape_half_sides(shape: Shape): THREE.Vector3 {
  const known = half_sides.get(shape);
  if (known !== undefined) return known;
  const sides = measure_half_sides(shape);
  half_sides.set(shape, sides);
  return sides;
}

function measure_half_sides(shape: Shape): THREE.Vector3 {
  switch (shape.kind) {
    case 'sphere':
      return new THREE.Vector3().setScalar(shape.radius);
    case 'capsule':
      return new THREE.Vector3(shape.radius, shape.radius, shape.radius + shape.half_length);
    case 'cylinder':
      return new THREE.Vector3(shape.radius, shape.radius, shape.half_length);
    case 'box':
      return new THREE.Vector3().fromArray(shape.half_size);
    case 'mesh': {
      // About the shape's origin, which need not be the mesh's middle.
      const sides = [0, 0, 0];
      shape.vertices.forEach((x, i) => (sides[i % 3] = Math.max(sides[i % 3], Math.abs(x))));
      return new THREE.Vector3().fromArray(sides);
    }
    case 'plane':
      return new THREE.Vector3();
  }
}

function place(object: THREE.Object3D, shape: Shape): void {
  object.position.fromArray(shape.position);
  object.quaternion.fromArray(shape.quaternion);
}

const kPatch = 4; // m, half size of a tilted plane's patch

export class Bodies {
  readonly group = new THREE.Group();
  readonly frames: THREE.Group[] = []; // one per body
  readonly solids: THREE.Mesh[] = []; // what is seen of them; userData.body: whose it is
  private readonly collision_: THREE.Object3D[] = [];
  private readonly a_ = new THREE.Quaternion();
  private readonly b_ = new THREE.Quaternion();

  constructor(private readonly show_: Show, private readonly motion_: Motion, ghost: boolean) {
    if (show_.up === 'y') this.group.rotation.x = Math.PI / 2;
    show_.bodies.forEach((body, i) => {
      const frame = new THREE.Group();
      frame.name = body.name;
      this.frames.push(frame);
      this.group.add(frame);
      const shapes = show_.shapes.filter((s) => s.body === i);
      const visual = shapes.filter((s) => s.role === 'visual');
      const collision = shapes.filter((s) => s.role === 'collision');
      const solid = visual.length > 0 ? visual : collision;
      const color = robot_color(body.robot, body.fixed);
      for (const shape of solid) this.add_solid(frame, shape, color, ghost);
      if (!ghost) for (const shape of collision) this.add_collision(frame, shape);
    });
  }

  private add_solid(frame: THREE.Group, shape: Shape, body_color: string, ghost: boolean): void {
    const fixed = this.show_.bodies[shape.body].fixed;
    if (ghost && fixed) return; // the second motion draws it
    const geometry = shape_geometry(shape) ?? this.tilted_patch(shape);
    if (geometry === null) return;
    const color = shape.color ? new THREE.Color().setRGB(shape.color[0], shape.color[1], shape.color[2], THREE.SRGBColorSpace) : new THREE.Color(body_color);
    const alpha = (shape.color ? shape.color[3] : 1) * (ghost ? 0.28 : 1);
    const material = new THREE.MeshStandardMaterial({ color, roughness: 0.62, metalness: 0.02, transparent: alpha < 1, opacity: alpha });
    if (ghost) material.depthWrite = false;
    if (shape.kind === 'mesh' || shape.kind === 'plane') material.side = THREE.DoubleSide;
    const mesh = new THREE.Mesh(geometry, material);
    mesh.castShadow = !ghost;
    mesh.receiveShadow = !ghost;
    place(mesh, shape);
    mesh.userData.body = shape.body;
    this.solids.push(mesh);
    frame.add(mesh);
  }

  private tilted_patch(shape: Shape): THREE.BufferGeometry | null {
    return shape.kind !== 'plane' || is_level(this.show_, shape) ? null : new THREE.PlaneGeometry(2 * kPatch, 2 * kPatch);
  }

  private add_collision(frame: THREE.Group, shape: Shape): void {
    const geometry = shape_geometry(shape);
    if (geometry === null) return;
    const color = '#e0b000';
    const skin = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ color, transparent: true, opacity: 0.16, depthWrite: false, depthTest: false }));
    const edges = new THREE.LineSegments(new THREE.EdgesGeometry(geometry, 24), new THREE.LineBasicMaterial({ color, transparent: true, opacity: 0.85, depthTest: false }));
    const wrap = new THREE.Group();
    wrap.add(skin, edges);
    skin.renderOrder = 5;
    edges.renderOrder = 6;
    place(wrap, shape);
    wrap.visible = false;
    frame.add(wrap);
    this.collision_.push(wrap);
  }

  show_collision(on: boolean): void {
    for (const object of this.collision_) object.visible = on;
  }

  update(frame: number, fraction: number): void {
    const { poses, times } = this.motion_;
    const count = this.frames.length;
    const next = Math.min(frame + 1, times.length - 1);
    for (let i = 0; i < count; i++) {
      const p = (frame * count + i) * 7;
      const n = (next * count + i) * 7;
      const object = this.frames[i];
      object.position.set(
        poses[p] + (poses[n] - poses[p]) * fraction,
        poses[p + 1] + (poses[n + 1] - poses[p + 1]) * fraction,
        poses[p + 2] + (poses[n + 2] - poses[p + 2]) * fraction,
      );
      this.a_.fromArray(poses, p + 3);
      this.b_.fromArray(poses, n + 3);
      object.quaternion.slerpQuaternions(this.a_, this.b_, fraction).normalize();
    }
    this.group.updateMatrixWorld();
  }
}

// A plane of a fixed body whose normal is up: the ground.
export function is_level(show: Show, shape: Shape): boolean {
  if (shape.kind !== 'plane' || !show.bodies[shape.body].fixed) return false;
  const normal = new THREE.Vector3(0, 0, 1).applyQuaternion(new THREE.Quaternion(...shape.quaternion));
  return (show.up === 'z' ? normal.z : normal.y) > 0.9999;
}
