// Screenshots as numbers: decoded PNG, mean colours and contrasts of regions, where two pictures differ.

import { inflateSync } from 'node:zlib';

function paeth(a, b, c) {
  const p = a + b - c;
  const pa = Math.abs(p - a);
  const pb = Math.abs(p - b);
  const pc = Math.abs(p - c);
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

// 8-bit RGB or RGBA without interlace, which is what browsers write.
function decode(png) {
  let width = 0;
  let height = 0;
  let channels = 0;
  const parts = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') {
      [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
      channels = { 2: 3, 6: 4 }[data[9]];
      if (data[8] !== 8 || !channels || data[12] !== 0) throw new Error('a PNG of a kind that browsers do not write');
    } else if (type === 'IDAT') parts.push(data);
    at += length + 12;
  }
  const raw = inflateSync(Buffer.concat(parts));
  const row = width * channels;
  const out = new Uint8Array(row * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (row + 1)];
    for (let i = 0; i < row; i++) {
      const left = i >= channels ? out[y * row + i - channels] : 0;
      const up = y > 0 ? out[(y - 1) * row + i] : 0;
      const corner = y > 0 && i >= channels ? out[(y - 1) * row + i - channels] : 0;
      const guess = filter === 0 ? 0 : filter === 1 ? left : filter === 2 ? up : filter === 3 ? (left + up) >> 1 : paeth(left, up, corner);
      out[y * row + i] = raw[y * (row + 1) + 1 + i] + guess;
    }
  }
  return { width, height, channels, data: out };
}

export function rgb(hex) {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

export function distance(a, b) {
  return Math.max(...a.map((v, i) => Math.abs(v - b[i])));
}

// Hue in degrees and saturation 0 … 1 (HSV).
export function hue([r, g, b]) {
  const [max, min] = [Math.max(r, g, b), Math.min(r, g, b)];
  const d = max - min;
  if (d === 0) return { hue: 0, saturation: 0 };
  const h = max === r ? ((g - b) / d) % 6 : max === g ? (b - r) / d + 2 : (r - g) / d + 4;
  return { hue: (h * 60 + 360) % 360, saturation: d / max };
}

export function hue_distance(a, b) {
  const d = Math.abs(hue(a).hue - hue(b).hue);
  return Math.min(d, 360 - d);
}

export const brightness = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;

// A region is {x, y, width, height} in pixels of the window.
export function around([x, y], half) {
  return { x: x - half, y: y - half, width: 2 * half, height: 2 * half };
}

export function inside([x, y], region) {
  return x >= region.x && x < region.x + region.width && y >= region.y && y < region.y + region.height;
}

export class Picture {
  constructor(png) {
    Object.assign(this, decode(png));
  }

  at(x, y) {
    const i = (Math.round(y) * this.width + Math.round(x)) * this.channels;
    return [this.data[i], this.data[i + 1], this.data[i + 2]];
  }

  // Pixels of a region; what lies outside of the window is an error, since a test meant to look there.
  *pixels({ x, y, width, height }) {
    const [x0, y0, x1, y1] = [Math.floor(x), Math.floor(y), Math.ceil(x + width), Math.ceil(y + height)];
    if (x0 < 0 || y0 < 0 || x1 > this.width || y1 > this.height || x1 <= x0 || y1 <= y0)
      throw new Error(`region ${[x, y, width, height].map(Math.round)} is not inside of the window of ${this.width} × ${this.height}`);
    for (let py = y0; py < y1; py++) for (let px = x0; px < x1; px++) yield this.at(px, py);
  }

  mean(region) {
    const sum = [0, 0, 0];
    let count = 0;
    for (const p of this.pixels(region)) {
      p.forEach((v, i) => (sum[i] += v));
      count++;
    }
    return sum.map((v) => v / count);
  }

  // Standard deviation of the brightness: 0 where nothing is drawn.
  contrast(region) {
    const values = [...this.pixels(region)].map(brightness);
    const mean = values.reduce((a, b) => a + b) / values.length;
    return Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length);
  }

  // How many pixels of a region are within `limit` of a colour, in each channel.
  count(region, color, limit = 24) {
    let count = 0;
    for (const p of this.pixels(region)) if (distance(p, color) <= limit) count++;
    return count;
  }

  // Where two pictures of one size differ by more than `limit` in a channel.
  differences(other, limit = 12) {
    if (this.width !== other.width || this.height !== other.height) throw new Error('pictures of different sizes');
    const points = [];
    for (let y = 0; y < this.height; y++)
      for (let x = 0; x < this.width; x++) {
        const i = (y * this.width + x) * this.channels;
        const j = (y * this.width + x) * other.channels;
        const off = (c) => Math.abs(this.data[i + c] - other.data[j + c]) > limit;
        if (off(0) || off(1) || off(2)) points.push([x, y]);
      }
    return points;
  }
}

export async function picture(page) {
  return new Picture(await page.screenshot());
}
