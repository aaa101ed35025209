// The ground: a plane that only catches shadows, and a fine grid that fades with the distance.

import * as THREE from 'three';
import { nice_number } from '../document/contacts';
import type { Theme } from './palette';

const kVertex = `
varying vec3 p;
void main() {
  vec4 world = modelMatrix * vec4(position, 1.0);
  p = world.xyz;
  gl_Position = projectionMatrix * viewMatrix * world;
}`;

// Lines one pixel wide whatever the distance: the width comes from the screen derivative of the coordinate.
const kFragment = `
varying vec3 p;
uniform vec3 color;
uniform vec3 centre;
uniform float cell;
uniform float reach;
float lines(float size) {
  vec2 u = p.xy / size;
  vec2 w = fwidth(u);
  vec2 d = abs(fract(u - 0.5) - 0.5) / max(w, vec2(1e-6));
  vec2 line = 1.0 - min(d, 1.0);
  line *= 1.0 - smoothstep(0.15, 0.5, w); // cells below two pixels would flicker
  return max(line.x, line.y);
}
void main() {
  float fade = 1.0 - smoothstep(0.15, 1.0, length(p.xy - centre.xy) / reach);
  float a = max(0.26 * lines(cell), 0.55 * lines(cell * 5.0)) * fade * fade;
  if (a < 0.004) discard;
  gl_FragColor = vec4(color, a);
  #include <colorspace_fragment>
}`;

export class Ground {
  readonly object = new THREE.Group();
  private readonly shadow_ = new THREE.ShadowMaterial({ opacity: 0.2 });
  private readonly grid_ = new THREE.ShaderMaterial({
    vertexShader: kVertex,
    fragmentShader: kFragment,
    transparent: true,
    depthWrite: false,
    side: THREE.DoubleSide,
    uniforms: {
      color: { value: new THREE.Color() },
      centre: { value: new THREE.Vector3() },
      cell: { value: 0.2 },
      reach: { value: 10 },
    },
  });
  private radius_ = 1;

  constructor() {
    const square = new THREE.PlaneGeometry(2, 2);
    const catcher = new THREE.Mesh(square, this.shadow_);
    catcher.receiveShadow = true;
    this.shadow_.depthWrite = false;
    this.object.add(new THREE.Mesh(square, this.grid_), catcher);
    this.object.children.forEach((child, i) => (child.renderOrder = -2 + i));
  }

  get height(): number {
    return this.object.position.z;
  }

  set_theme(theme: Theme): void {
    (this.grid_.uniforms.color.value as THREE.Color).set(theme.grid);
    this.shadow_.opacity = theme.shadow;
  }

  place(height: number, radius: number): void {
    this.radius_ = radius;
    this.object.position.z = height;
    this.grid_.uniforms.cell.value = nice_number(radius / 14);
  }

  // Centred below what the camera looks at, and as large as it can see.
  look_at(target: THREE.Vector3, eye: THREE.Vector3): void {
    const reach = Math.max(this.radius_ * 3, eye.distanceTo(target) * 2.2);
    this.object.position.set(target.x, target.y, this.object.position.z);
    this.object.scale.set(reach, reach, 1);
    this.object.updateMatrixWorld();
    (this.grid_.uniforms.centre.value as THREE.Vector3).copy(target);
    this.grid_.uniforms.reach.value = reach;
  }
}
