// Rewrites a PNG of a browser with at most 256 colours: pages have few, and the file becomes a third.
import { readFileSync, writeFileSync } from 'node:fs';
import { deflateSync, inflateSync } from 'node:zlib';
import { chunk } from './raster.ts';

interface Pixels {
  width: number;
  height: number;
  rgb: Uint8Array;
}

function decode(png: Buffer): Pixels {
  const [width, height, kind] = [png.readUInt32BE(16), png.readUInt32BE(20), png[25]];
  const channels = kind === 6 ? 4 : kind === 2 ? 3 : 0;
  if (!channels || png[24] !== 8) throw new Error('a screenshot has 8 bits of red, green and blue');
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const data = inflateSync(Buffer.concat(parts));
  const line = width * channels;
  const rgb = new Uint8Array(width * height * 3);
  let before = new Uint8Array(line);
  for (let y = 0; y < height; y += 1) {
    const filter = data[y * (line + 1)];
    const row = new Uint8Array(data.subarray(y * (line + 1) + 1, (y + 1) * (line + 1)));
    for (let x = 0; x < line; x += 1) {
      const left = x >= channels ? (row[x - channels] ?? 0) : 0;
      const up = before[x] ?? 0;
      const corner = x >= channels ? (before[x - channels] ?? 0) : 0;
      const p = left + up - corner;
      const [a, b, c] = [Math.abs(p - left), Math.abs(p - up), Math.abs(p - corner)];
      const guess = filter === 1 ? left : filter === 2 ? up : filter === 3 ? (left + up) >> 1 : filter === 4 ? (a <= b && a <= c ? left : b <= c ? up : corner) : 0;
      row[x] = (row[x] ?? 0) + guess;
    }
    for (let x = 0; x < width; x += 1) rgb.set(row.subarray(x * channels, x * channels + 3), (y * width + x) * 3);
    before = row;
  }
  return { width, height, rgb };
}

/** Palette by how often colours are used; the others take the nearest one. */
export function shrink(path: string): void {
  const { width, height, rgb } = decode(readFileSync(path));
  const uses = new Map<number, number>();
  const color = (at: number) => ((rgb[at] ?? 0) << 16) | ((rgb[at + 1] ?? 0) << 8) | (rgb[at + 2] ?? 0);
  for (let at = 0; at < rgb.length; at += 3) uses.set(color(at), (uses.get(color(at)) ?? 0) + 1);
  const sorted = [...uses.entries()].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([value]) => value);
  const palette: number[] = [];
  const far = (a: number, b: number) => ((a >> 16) - (b >> 16)) ** 2 + (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 + ((a & 255) - (b & 255)) ** 2;
  // First colours that differ visibly, then the most used of the others.
  for (const least of [300, 60, 0]) for (const value of sorted) if (palette.length < 256 && !palette.includes(value) && palette.every((other) => far(other, value) > least)) palette.push(value);
  const index = new Map(sorted.map((value) => [value, palette.reduce((best, other, at) => (far(other, value) < far(palette[best] ?? 0, value) ? at : best), 0)]));
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) for (let x = 0; x < width; x += 1) lines[y * (width + 1) + 1 + x] = index.get(color((y * width + x) * 3)) ?? 0;
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const table = Buffer.from(palette.flatMap((value) => [value >> 16, (value >> 8) & 255, value & 255]));
  writeFileSync(path, Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', head), chunk('PLTE', table), chunk('IDAT', deflateSync(lines, { level: 9 })), chunk('IEND', Buffer.alloc(0))]));
}
