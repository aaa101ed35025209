// Writes frames of the live protocol as a server does: for tests of the decoder and for the mock server.

export interface FrameContent {
  scene: number;
  epoch: number;
  number: number;
  time: number;
  step_time: number;
  real_time: number;
  playing: boolean;
  diverged: boolean;
  solver: number;
  kinetic: number;
  potential: number;
  contact_force: number;
  loss: number;
  poses: number[]; // B × 7
  centre_of_mass: number[] | null;
  contact_shapes: number[]; // C × 2
  contact_values: number[]; // C × 9
  joints: number;
  gradients: { bodies: number[]; joints: number[] } | null;
}

export function encode_live_frame(f: FrameContent): Uint8Array<ArrayBuffer> {
  const floats = [...f.poses, ...(f.centre_of_mass ?? [])];
  const more = [...f.contact_values, ...(f.gradients ? [...f.gradients.bodies, ...f.gradients.joints] : [])];
  const words = 18 + floats.length + f.contact_shapes.length + more.length;
  const view = new DataView(new ArrayBuffer(4 * words));
  let at = 0;
  const u32 = (...values: number[]) => values.forEach((v) => { view.setUint32(at, v, true); at += 4; });
  const f32 = (...values: number[]) => values.forEach((v) => { view.setFloat32(at, v, true); at += 4; });
  u32(0x3146494c, f.scene, f.epoch, f.number);
  view.setFloat64(at, f.time, true);
  at += 8;
  f32(f.step_time, f.real_time);
  u32((f.playing ? 1 : 0) | (f.diverged ? 2 : 0), f.solver, f.poses.length / 7, f.contact_shapes.length / 2,
    (f.centre_of_mass ? 1 : 0) | (f.gradients ? 2 : 0), f.joints);
  f32(f.kinetic, f.potential, f.contact_force, f.loss, ...floats);
  u32(...f.contact_shapes);
  f32(...more);
  return new Uint8Array(view.buffer);
}
