// The stage: renderer, lights with soft shadows, ground with a fading grid, camera. It knows nothing of motions.
// World axes are the document's; z is up (a document with y up is turned by its root group).

import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { Ground } from './ground';
import type { Theme } from './palette';
import { split_panes, type Insets } from './panes';

const kFill = 0.9; // of a pane that the framed things take

// From the side and a little above: axes of the picture, and towards the camera.
const kHomeView = (() => {
  const back = new THREE.Vector3(0.42, -1, 0.36).normalize();
  const right = new THREE.Vector3(0, 0, 1).cross(back).normalize();
  return { back, right, above: back.clone().cross(right) };
})();

// From the centre of a box.
function corners(box: THREE.Box3): THREE.Vector3[] {
  const half = box.getSize(new THREE.Vector3()).divideScalar(2);
  return Array.from({ length: 8 }, (_, i) => new THREE.Vector3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z));
}

export interface View {
  content: THREE.Object3D[]; // visible in this pane only
  shift: THREE.Vector3; // of the camera, so that each pane can follow its own body
}

export class Stage {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(35, 1, 0.01, 1000);
  readonly renderer: THREE.WebGLRenderer;
  readonly controls: OrbitControls;
  readonly ground = new Ground();
  private readonly key_ = new THREE.DirectionalLight('#ffffff', 1.9);
  private readonly sky_ = new THREE.HemisphereLight('#ffffff', '#b9bcc4', 1.55);
  private insets_: Insets = { right: 0, bottom: 0, top: 0 };
  private home_ = new THREE.Box3(new THREE.Vector3(-1, -1, 0), new THREE.Vector3(1, 1, 1));
  private panes_ = 1;

  constructor(canvas: HTMLCanvasElement, on_change: () => void) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = false;
    this.controls.maxPolarAngle = Math.PI * 0.98;
    this.controls.addEventListener('change', on_change);
    this.key_.castShadow = true;
    this.key_.shadow.mapSize.set(2048, 2048);
    this.key_.shadow.radius = 3.5;
    this.key_.shadow.normalBias = 0.01;
    const fill = new THREE.DirectionalLight('#dfe8ff', 0.45);
    fill.position.set(-3, 2, 1.5);
    this.scene.add(this.key_, this.key_.target, this.sky_, fill, this.ground.object);
  }

  set_theme(theme: Theme): void {
    this.scene.background = new THREE.Color(theme.background);
    this.ground.set_theme(theme);
    this.sky_.intensity = theme.name === 'light' ? 2.1 : 1.75;
    this.sky_.groundColor.set(theme.name === 'light' ? '#cfd2d9' : '#8a909c');
  }

  // The box that "reset" frames; its size sets the grid's cell and how near and far the camera goes.
  set_home(home: THREE.Box3, ground_height: number): void {
    this.home_ = home.clone();
    const { radius } = home.getBoundingSphere(new THREE.Sphere());
    this.ground.place(ground_height, radius);
    this.camera.near = radius / 200;
    this.camera.far = radius * 400;
    this.controls.minDistance = radius / 20;
    this.controls.maxDistance = radius * 40;
  }

  // Home of a motion that goes further than was known; grid and limits stay.
  widen_home(home: THREE.Box3): void {
    this.home_ = home.clone();
  }

  // Key light and its shadow cover a sphere around what moves now.
  light(centre: THREE.Vector3, radius: number): void {
    const direction = new THREE.Vector3(-0.45, -0.55, 1.15).normalize();
    this.key_.target.position.copy(centre);
    this.key_.position.copy(centre).addScaledVector(direction, radius * 4);
    const box = this.key_.shadow.camera;
    if (box.right !== radius) {
      box.left = box.bottom = -radius;
      box.right = box.top = radius;
      box.near = radius * 0.5;
      box.far = radius * 9;
      box.updateProjectionMatrix();
      this.key_.shadow.normalBias = radius * 0.004;
    }
  }

  set_insets(insets: Insets): void {
    this.insets_ = insets;
  }

  set_panes(count: number): void {
    this.panes_ = count;
  }

  resize(): void {
    this.renderer.setSize(window.innerWidth, window.innerHeight, false);
  }

  // Looks at the home box from the side and a little above, as near as all its corners fit the first pane.
  reset_camera(): void {
    const pane = this.pane_rects()[0];
    const tall = Math.tan((this.camera.fov * Math.PI) / 360) * kFill;
    const wide = (tall * pane.free_width) / pane.free_height;
    const { back, right, above } = kHomeView;
    const centre = this.home_.getCenter(new THREE.Vector3());
    let distance = 0;
    for (const p of corners(this.home_)) {
      const reach = Math.max(Math.abs(p.dot(right)) / wide, Math.abs(p.dot(above)) / tall);
      distance = Math.max(distance, reach + p.dot(back));
    }
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).addScaledVector(back, distance);
    this.controls.update();
  }

  // Width over height of the home box as reset_camera() sees it, without perspective.
  private home_aspect(): number {
    const extent = (axis: THREE.Vector3) => Math.max(...corners(this.home_).map((p) => Math.abs(p.dot(axis))));
    return extent(kHomeView.right) / extent(kHomeView.above);
  }

  pane_rects() {
    return split_panes(window.innerWidth, window.innerHeight, this.insets_, this.panes_, this.home_aspect());
  }

  move_camera(delta: THREE.Vector3): void {
    this.camera.position.add(delta);
    this.controls.target.add(delta);
    this.controls.update();
  }

  render(views: View[]): void {
    const renderer = this.renderer;
    const rects = this.pane_rects();
    const height = window.innerHeight;
    renderer.setScissorTest(views.length > 1);
    views.forEach((view, i) => {
      const r = rects[Math.min(i, rects.length - 1)];
      for (const other of views) for (const object of other.content) object.visible = view.content.includes(object);
      this.camera.position.add(view.shift);
      this.camera.aspect = r.free_width / r.free_height;
      // The free part of the pane is the picture; the rest, below panel and bar, continues it.
      this.camera.setViewOffset(r.free_width, r.free_height, r.x - r.free_x, r.y - r.free_y, r.width, r.height);
      this.camera.updateMatrixWorld();
      this.ground.look_at(this.controls.target.clone().add(view.shift), this.camera.position);
      renderer.setViewport(r.x, height - r.y - r.height, r.width, r.height);
      renderer.setScissor(r.x, height - r.y - r.height, r.width, r.height);
      renderer.render(this.scene, this.camera);
      this.camera.position.sub(view.shift);
    });
    for (const view of views) for (const object of view.content) object.visible = true;
  }
}
