// Numbers in a document are base64 of little-endian float32 or uint32.

const kLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

function bytes_of(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  if (bytes.length % 4 !== 0) throw new Error(`${bytes.length} bytes are not a whole number of 4-byte values`);
  if (!kLittleEndian) for (let i = 0; i < bytes.length; i += 4) bytes.subarray(i, i + 4).reverse();
  return bytes;
}

export function decode_f32(text: string): Float32Array {
  return new Float32Array(bytes_of(text).buffer);
}

export function decode_u32(text: string): Uint32Array {
  return new Uint32Array(bytes_of(text).buffer);
}

function encode(values: Float32Array | Uint32Array): string {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength).slice();
  if (!kLittleEndian) for (let i = 0; i < bytes.length; i += 4) bytes.subarray(i, i + 4).reverse();
  let binary = '';
  // In pieces: a call takes only so many arguments.
  for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(binary);
}

export function encode_f32(values: ArrayLike<number>): string {
  return encode(Float32Array.from(values));
}

export function encode_u32(values: ArrayLike<number>): string {
  return encode(Uint32Array.from(values));
}
