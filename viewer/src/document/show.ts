// What the viewer shows, decoded: see document.ts for how it is read and checked.
// T frames, B bodies, J joints, K contacts of all frames together.

export type Vec3 = [number, number, number];
export type Vec4 = [number, number, number, number];

export interface Body {
  name: string;
  fixed: boolean;
  robot: number; // −1: static
}

interface ShapeBase {
  name: string;
  body: number;
  role: 'collision' | 'visual';
  position: Vec3; // in the body frame
  quaternion: Vec4; // x y z w
  color: Vec4 | null;
}

export type Shape = ShapeBase &
  (
    | { kind: 'sphere'; radius: number }
    | { kind: 'capsule' | 'cylinder'; radius: number; half_length: number } // along z
    | { kind: 'box'; half_size: Vec3 }
    | { kind: 'plane' } // the half-space z ≤ 0
    | { kind: 'mesh'; vertices: Float32Array; triangles: Uint32Array }
  );

export interface Joint {
  name: string;
  type: 'revolute' | 'prismatic' | 'screw' | 'ball';
  body: number; // the body it carries; position and axis are in its frame
  position: Vec3;
  axis: Vec3;
}

export interface Series {
  name: string;
  unit: string;
  values: Float32Array; // T
}

export interface Gradients {
  loss: string;
  bodies: Float32Array; // T × B × 3: ∂loss/∂position
  joints: Float32Array; // T × J: ∂loss/∂τ
}

export interface Motion {
  readonly live?: true; // frames are still added: arrays are replaced by longer ones
  name: string;
  times: Float32Array | Float64Array; // T, s, ascending
  poses: Float32Array; // T × B × 7: x y z, quaternion x y z w
  contact_offsets: Uint32Array; // T + 1: frame k has the contacts offsets[k] … offsets[k + 1] − 1
  contact_shapes: Uint32Array; // K × 2: a, b (numbers in shapes)
  contact_values: Float32Array; // K × 9: point, normal (b to a), force on a in N
  centre_of_mass: Float32Array | null; // T × 3
  series: Series[];
  gradients: Gradients | null;
}

export interface Curve {
  name: string;
  x: Float32Array;
  y: Float32Array;
  x_label: string;
  y_label: string;
  log_y: boolean;
}

// Two bodies that never touch.
export interface ExceptedPair {
  a: string; // names of the bodies
  b: string;
  reason: string; // a sentence
}

export interface Show {
  title: string;
  time_step: number;
  up: 'y' | 'z';
  gravity: Vec3;
  bodies: Body[];
  shapes: Shape[];
  joints: Joint[];
  motions: Motion[];
  curves: Curve[];
  excepted_pairs: ExceptedPair[];
}
