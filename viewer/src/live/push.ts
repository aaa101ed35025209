// Pushing: a drag that begins on a body which can move draws the grabbed point towards the pointer. The target moves in
// the plane through the point that was grabbed, facing the camera; a thin line with a ring shows it.

import * as THREE from 'three';
import type { Show } from '../document/show';
import type { MotionView } from '../stage/motion_view';
import type { Theme } from '../stage/palette';
import type { Stage } from '../stage/stage';
import { Throttle } from './throttle';

const kInterval = 1000 / 60; // ms between messages
const kHover = 60; // ms between looks at what lies under the pointer

export interface Grab {
  body: number;
  local: THREE.Vector3; // in the body's frame
  plane: THREE.Plane; // on the stage
  target: THREE.Vector3; // on the stage
}

// Where the ray meets the plane, or null: it is parallel or points away.
export function meet(ray: THREE.Ray, plane: THREE.Plane): THREE.Vector3 | null {
  return ray.intersectPlane(plane, new THREE.Vector3());
}

// As the server wants it: numbers as they print, the target in the document's axes.
export function push_command(body: number, local: THREE.Vector3, target: THREE.Vector3): string {
  return `push ${[body, ...local.toArray(), ...target.toArray()].join(' ')}`;
}

export interface PushParts {
  canvas: HTMLCanvasElement;
  stage: Stage;
  view(): { main: MotionView; show: Show } | null; // null: not now
  send(command: string): void;
  changed(): void; // the picture is to be drawn again
}

export class Push {
  on = true; // a drag on a body pushes; else it orbits
  private grab_: Grab | null = null;
  private pointer_: number | null = null; // its id while it pushes
  private readonly at_ = new THREE.Vector2(); // in the picture, −1 … 1
  private last_hover_ = 0;
  private readonly throttle_: Throttle;
  private readonly rays_ = new THREE.Raycaster();
  private readonly mark_ = new THREE.Group();
  private readonly line_: THREE.Line;
  private readonly ring_: THREE.Mesh;
  private readonly material_ = new THREE.LineBasicMaterial({ depthTest: false, transparent: true });
  private readonly flat_ = new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, side: THREE.DoubleSide });

  constructor(private readonly parts_: PushParts) {
    this.throttle_ = new Throttle(kInterval, (message) => parts_.send(message));
    this.line_ = new THREE.Line(new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3()]), this.material_);
    this.ring_ = new THREE.Mesh(new THREE.RingGeometry(0.75, 1, 40), this.flat_);
    for (const object of [this.line_, this.ring_]) {
      object.frustumCulled = false;
      object.renderOrder = 30;
    }
    this.mark_.add(this.line_, this.ring_);
    this.mark_.visible = false;
    parts_.stage.scene.add(this.mark_);
    const { canvas } = parts_;
    // Before the camera's controls hear of it.
    canvas.addEventListener('pointerdown', (event) => this.on_down(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.on_move(event));
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture'] as const)
      canvas.addEventListener(end, (event) => event.pointerId === this.pointer_ && this.release());
    canvas.addEventListener('pointerleave', () => this.show_cursor(''));
    window.addEventListener('blur', () => this.release());
  }

  get grab(): Grab | null {
    return this.grab_;
  }

  set_theme(theme: Theme): void {
    this.material_.color.set(theme.text);
    this.flat_.color.set(theme.text);
  }

  // The body under the pointer that can be pushed, and where it was met.
  private pick(): { body: number; point: THREE.Vector3 } | null {
    const view = this.parts_.view();
    if (!this.on || !view) return null;
    this.rays_.setFromCamera(this.at_, this.parts_.stage.camera);
    const [hit] = this.rays_.intersectObjects(view.main.bodies.solids, false);
    if (!hit) return null;
    const body = hit.object.userData.body as number;
    return view.show.bodies[body].fixed ? null : { body, point: hit.point };
  }

  private place_pointer(event: PointerEvent): void {
    const box = this.parts_.canvas.getBoundingClientRect();
    this.at_.set((2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height);
  }

  private on_down(event: PointerEvent): void {
    if (this.grab_ || event.button !== 0 || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    this.place_pointer(event);
    const hit = this.pick();
    const view = this.parts_.view();
    if (!hit || !view) return;
    event.stopImmediatePropagation(); // the camera stays
    this.parts_.stage.controls.enabled = false;
    this.pointer_ = event.pointerId;
    this.parts_.canvas.setPointerCapture(event.pointerId);
    const { stage } = this.parts_;
    const towards = stage.camera.getWorldDirection(new THREE.Vector3());
    this.grab_ = {
      body: hit.body,
      local: view.main.bodies.frames[hit.body].worldToLocal(hit.point.clone()),
      plane: new THREE.Plane().setFromNormalAndCoplanarPoint(towards, hit.point),
      target: hit.point.clone(),
    };
    this.show_cursor('grabbing');
    this.mark_.visible = true;
    this.tell();
    this.update();
  }

  private on_move(event: PointerEvent): void {
    if (this.grab_ && event.pointerId !== this.pointer_) return;
    this.place_pointer(event);
    if (this.grab_) {
      this.update();
      return;
    }
    if (event.pointerType === 'touch' || event.buttons !== 0 || event.timeStamp - this.last_hover_ < kHover) return;
    this.last_hover_ = event.timeStamp;
    this.show_cursor(!event.altKey && this.pick() ? 'grab' : '');
  }

  private show_cursor(cursor: string): void {
    if (this.grab_ && cursor !== 'grabbing') return;
    this.parts_.canvas.style.cursor = cursor;
  }

  private tell(): void {
    const { body, local, target } = this.grab_!;
    const view = this.parts_.view();
    if (view) this.throttle_.put('push', push_command(body, local, view.main.bodies.group.worldToLocal(target.clone())));
  }

  // Before each picture: the camera may follow the body, so the target is found anew.
  update(): void {
    const grab = this.grab_;
    if (!grab) return;
    const view = this.parts_.view();
    if (!view) {
      this.release();
      return;
    }
    const { camera } = this.parts_.stage;
    this.rays_.setFromCamera(this.at_, camera);
    const target = meet(this.rays_.ray, grab.plane);
    if (target && !target.equals(grab.target)) {
      grab.target.copy(target);
      this.tell();
    }
    const from = view.main.bodies.frames[grab.body].localToWorld(grab.local.clone());
    const points = this.line_.geometry.getAttribute('position') as THREE.BufferAttribute;
    points.setXYZ(0, from.x, from.y, from.z);
    points.setXYZ(1, grab.target.x, grab.target.y, grab.target.z);
    points.needsUpdate = true;
    this.ring_.position.copy(grab.target);
    this.ring_.quaternion.copy(camera.quaternion);
    this.ring_.scale.setScalar(0.011 * camera.position.distanceTo(grab.target)); // about the same on the screen
    this.parts_.changed();
  }

  release(): void {
    if (!this.grab_) return;
    const pointer = this.pointer_;
    this.grab_ = null;
    this.pointer_ = null;
    this.mark_.visible = false;
    this.parts_.stage.controls.enabled = true;
    this.throttle_.cancel();
    this.parts_.send('release');
    this.show_cursor('');
    if (pointer !== null && this.parts_.canvas.hasPointerCapture(pointer)) this.parts_.canvas.releasePointerCapture(pointer);
    this.parts_.changed();
  }
}
