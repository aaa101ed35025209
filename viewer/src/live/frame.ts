// Frames of the live protocol: 32-bit little-endian words, a head of 18 and the numbers that its counts announce.
// Whatever arrives, decode_frame() answers: a frame whose every number was checked, or what is wrong with it.

const kMagic = 0x3146494c; // the letters LIF1
const kHead = 18; // words
const kLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

export interface FrameSizes {
  bodies: number;
  shapes: number;
  joints: number;
}

export type Solver = 0 | 1 | 2 | 3 | 4 | 5; // nothing to solve, guessed, active set, path, fallback, unsolved

// B bodies, C contacts, J joints, as in document/show.ts.
export interface LiveFrame {
  epoch: number;
  number: number;
  time: number; // s
  step_time: number; // µs
  real_time: number; // simulated over real time
  playing: boolean;
  diverged: boolean;
  pushed: boolean;
  solver: Solver;
  kinetic: number; // J
  potential: number; // J
  contact_force: number; // N
  loss: number;
  poses: Float32Array; // B × 7
  centre_of_mass: Float32Array | null; // 3
  contact_shapes: Uint32Array; // C × 2
  contact_values: Float32Array; // C × 9
  body_gradients: Float32Array | null; // B × 3
  joint_gradients: Float32Array | null; // J
}

// 'stale': a frame of another scene message than `scene`, which is nobody's mistake.
export type Decoded = { frame: LiveFrame } | { problem: string } | 'stale';

function not_finite(values: Float32Array): number {
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) return i;
  return -1;
}

// The numbers after the head, in this machine's order; a copy only where it must be swapped.
function body_of(buffer: ArrayBuffer): ArrayBuffer {
  if (kLittleEndian) return buffer;
  const copy = new Uint8Array(buffer.slice(0));
  for (let i = 0; i + 3 < copy.length; i += 4) copy.subarray(i, i + 4).reverse();
  return copy.buffer;
}

export function decode_frame(buffer: ArrayBuffer, sizes: FrameSizes, scene: number): Decoded {
  const bytes = buffer.byteLength;
  if (bytes < 4 * kHead) return { problem: `${bytes} bytes are less than the head of a frame, ${4 * kHead}` };
  if (bytes % 4 !== 0) return { problem: `${bytes} bytes are not whole words` };
  const view = new DataView(buffer);
  const word = (i: number) => view.getUint32(4 * i, true);
  const real = (i: number) => view.getFloat32(4 * i, true);
  if (word(0) !== kMagic) return { problem: `it begins with ${word(0).toString(16)} instead of LIF1` };
  if (word(1) !== scene) return 'stale';
  const [B, C, J] = [word(10), word(11), word(13)];
  if (B !== sizes.bodies) return { problem: `it has ${B} bodies, the scene ${sizes.bodies}` };
  if (J !== sizes.joints) return { problem: `it has ${J} joints, the scene ${sizes.joints}` };
  const with_centre = (word(12) & 1) !== 0;
  const with_gradients = (word(12) & 2) !== 0;
  const expected = kHead + 7 * B + (with_centre ? 3 : 0) + 11 * C + (with_gradients ? 3 * B + J : 0);
  if (bytes !== 4 * expected) return { problem: `${bytes / 4} words, but its counts ask for ${expected}` };
  if (word(9) > 5) return { problem: `the solver's answer ${word(9)} has no meaning` };

  const numbers = body_of(buffer);
  let at = 4 * kHead;
  const floats = (count: number) => {
    const values = new Float32Array(numbers, at, count);
    at += 4 * count;
    return values;
  };
  const poses = floats(7 * B);
  const centre_of_mass = with_centre ? floats(3) : null;
  const contact_shapes = new Uint32Array(numbers, at, 2 * C);
  at += 8 * C;
  const contact_values = floats(9 * C);
  const body_gradients = with_gradients ? floats(3 * B) : null;
  const joint_gradients = with_gradients ? floats(J) : null;
  const parts = { poses, centre_of_mass, contact_values, body_gradients, joint_gradients };
  for (const [name, values] of Object.entries(parts)) {
    const bad = values ? not_finite(values) : -1;
    if (bad >= 0) return { problem: `${name.replace(/_/g, ' ')}: number ${bad} is ${values![bad]}` };
  }
  for (let i = 0; i < B; i++) {
    const q = poses.subarray(7 * i + 3, 7 * i + 7);
    if (Math.abs(Math.hypot(q[0], q[1], q[2], q[3]) - 1) > 1e-2) return { problem: `the quaternion of body ${i} has not length 1` };
  }
  const stray = contact_shapes.findIndex((s) => s >= sizes.shapes);
  if (stray >= 0) return { problem: `shape ${contact_shapes[stray]} of ${sizes.shapes} does not exist` };

  const time = view.getFloat64(16, true);
  const diverged = (word(8) & 2) !== 0;
  const scalars = [6, 7, 14, 15, 16, 17].map(real);
  if (!Number.isFinite(time)) return { problem: `its time is ${time}` };
  // Energies of a state that diverged may be beyond floats; that it diverged must still be heard.
  if (!diverged && !scalars.every(Number.isFinite)) return { problem: `a number of its head is ${scalars.find((x) => !Number.isFinite(x))}` };
  const [step_time, real_time, kinetic, potential, contact_force, loss] = scalars.map((x) => (Number.isFinite(x) ? x : 0));
  return {
    frame: {
      epoch: word(2), number: word(3), time, step_time, real_time,
      playing: (word(8) & 1) !== 0, diverged, pushed: (word(8) & 4) !== 0, solver: word(9) as Solver,
      kinetic, potential, contact_force, loss,
      poses, centre_of_mass, contact_shapes, contact_values, body_gradients, joint_gradients,
    },
  };
}
