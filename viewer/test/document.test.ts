import { describe, expect, test } from 'vitest';
import { decode_f32, decode_u32, encode_f32, encode_u32 } from '../src/document/base64';
import { decode_show, parse_show, ShowError } from '../src/document/document';
import { document_text } from '../src/document/open_text';
import { kPlaceholder, put_document } from './export';
import { make_sample } from './sample';

// The sample with one place changed: path "motions.0.times" and its new value.
function changed(path: string, value: unknown): unknown {
  const copy = JSON.parse(JSON.stringify(make_sample()));
  const keys = path.split('.');
  const last = keys.pop()!;
  let at = copy;
  for (const key of keys) at = at[key];
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

const decoding = (path: string, value: unknown) => () => decode_show(changed(path, value));

describe('base64', () => {
  test('floats survive the round trip', () => {
    expect([...decode_f32(encode_f32([0, -1.5, 3.25e7]))]).toEqual([0, -1.5, 3.25e7]);
  });
  test('one is 00 00 80 3f: little-endian', () => {
    expect(encode_f32([1])).toBe('AACAPw==');
    expect([...decode_u32('AQAAAA==')]).toEqual([1]);
  });
  test('long arrays survive the round trip', () => {
    const values = Uint32Array.from({ length: 100_000 }, (_, i) => i * 7);
    expect(decode_u32(encode_u32(values))).toEqual(values);
  });
  test('a torn value is refused', () => {
    expect(() => decode_f32('AACA')).toThrow(/4-byte/);
  });
});

describe('decode_show', () => {
  test('reads the sample', () => {
    const show = decode_show(make_sample());
    expect(show.bodies).toHaveLength(4);
    expect(show.motions.map((m) => m.name)).toEqual(['start', 'optimised']);
    const motion = show.motions[0];
    expect(motion.poses).toHaveLength(motion.times.length * 4 * 7);
    expect(motion.contact_offsets).toHaveLength(motion.times.length + 1);
    expect(motion.contact_offsets[motion.times.length] * 9).toBe(motion.contact_values.length);
    expect(show.curves[0].log_y).toBe(true);
  });
  test('refuses another format and says which', () => {
    expect(decoding('format', 'gltf')).toThrow(/format: expected "lithe-show", found "gltf"/);
  });
  test('refuses another version and says both', () => {
    expect(decoding('version', 2)).toThrow(/reads version 1, the document has version 2/);
  });
  test('refuses poses of a wrong size and says where', () => {
    expect(decoding('motions.1.poses', encode_f32([1, 2, 3]))).toThrow(/motions\[1\]\.poses: expected 8428 numbers, found 3/);
  });
  test('refuses NaN and says which number', () => {
    const values = new Float32Array(301).fill(1);
    values[17] = NaN;
    expect(decoding('motions.0.series.0.values', encode_f32(values))).toThrow(/series\[0\]\.values: number 17 is NaN/);
  });
  test('refuses times that do not ascend', () => {
    expect(decoding('motions.0.times', encode_f32([0, 0.1, 0.1]))).toThrow(/time 2 .* does not come after/);
  });
  test('refuses a motion without frames', () => {
    expect(decoding('motions.0.times', '')).toThrow(/at least one frame/);
  });
  test('refuses contacts that do not match their counts', () => {
    expect(decoding('motions.0.contact_counts', encode_u32(new Uint32Array(301).fill(1)))).toThrow(/contact_shapes: expected 602/);
  });
  test('refuses a shape on a body that does not exist', () => {
    expect(decoding('shapes.1.body', 9)).toThrow(/shapes\[1\]\.body: 9 is not one of the 4/);
  });
  test('refuses a triangle with a vertex that does not exist', () => {
    expect(decoding('shapes.6.triangles', encode_u32([0, 1, 77]))).toThrow(/vertex 77 of 6/);
  });
  test('refuses unknown kinds, negative radii and quaternions that are not of unit length', () => {
    expect(decoding('shapes.1.kind', 'torus')).toThrow(/unknown kind "torus"/);
    expect(decoding('shapes.5.radius', -1)).toThrow(/above 0, found -1/);
    expect(decoding('shapes.5.quaternion', [0, 0, 0, 2])).toThrow(/length 1, this one 2/);
  });
  test('refuses a document without motions or without the world', () => {
    expect(decoding('motions', [])).toThrow(/no motion/);
    expect(decoding('bodies', [])).toThrow(/world, is missing/);
  });
  test('contacts, gradients, series and curves may be absent', () => {
    const copy = changed('curves', undefined) as { motions: Record<string, unknown>[] };
    for (const key of ['contact_counts', 'contact_shapes', 'contact_values', 'gradients', 'series', 'centre_of_mass'])
      for (const motion of copy.motions) delete motion[key];
    const show = decode_show(copy);
    expect(show.motions[0].gradients).toBeNull();
    expect(show.motions[0].contact_offsets.every((o) => o === 0)).toBe(true);
  });
  test('reads pairs that do not touch, of which there may be none', () => {
    const pair = { a: 'box', b: 'lower link', reason: 'an SRDF says so' };
    expect(decode_show(changed('excepted_pairs', [pair])).excepted_pairs).toEqual([pair]);
    expect(decode_show(changed('excepted_pairs', [])).excepted_pairs).toEqual([]);
    expect(decode_show(changed('excepted_pairs', undefined)).excepted_pairs).toEqual([]);
  });
  test('refuses pairs without names or a reason and says where', () => {
    const pair = { a: 'box', b: 'lower link', reason: 'an SRDF says so' };
    expect(decoding('excepted_pairs', {})).toThrow(/excepted_pairs: expected a list/);
    expect(decoding('excepted_pairs', [pair, 'box'])).toThrow(/excepted_pairs\[1\]: expected an object/);
    expect(decoding('excepted_pairs', [pair, { ...pair, b: 2 }])).toThrow(/excepted_pairs\[1\]\.b: expected text, found 2/);
    expect(decoding('excepted_pairs', [{ a: 'box', b: 'lower link' }])).toThrow(/excepted_pairs\[0\]\.reason: expected text, found undefined/);
  });
  test('text that is not JSON is a ShowError, not a crash', () => {
    expect(() => parse_show('{')).toThrow(ShowError);
    expect(() => parse_show('[1]')).toThrow(ShowError);
    expect(() => parse_show('null')).toThrow(/expected an object/);
  });
});

describe('the page that carries a document', () => {
  test('gives back what an exporter put in, even with a closing tag in a title', () => {
    const json = JSON.stringify({ title: 'a </script> b $& c' });
    const page = put_document(`<body>${kPlaceholder}</body>`, json);
    expect(JSON.parse(document_text(page))).toEqual(JSON.parse(json));
    expect(page.match(/<\/script>/g)).toHaveLength(1);
  });
  test('a bare document is itself', () => {
    expect(document_text('{"a": 1}')).toBe('{"a": 1}');
  });
});
