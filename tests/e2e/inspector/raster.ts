// Pictures of pages, drawn by hand: rectangles and letters, written as PNG.
import { deflateSync } from 'node:zlib';

const LETTERS: Record<string, string> = {
  '#': '147f147f14', '-': '0808080808', '.': '0060600000', '/': '2010080402', ':': '0036360000', $: '242a7f2a12',
  0: '3e5149453e', 1: '00427f4000', 2: '4261514946', 3: '2141454b31', 4: '1814127f10', 5: '2745454539', 6: '3c4a494930', 7: '0171090503', 8: '3649494936', 9: '064949291e',
  A: '7e1111117e', B: '7f49494936', C: '3e41414122', D: '7f4141221c', E: '7f49494941', F: '7f09090901', G: '3e4149497a', H: '7f0808087f', I: '00417f4100', J: '2040413f01', K: '7f08142241', L: '7f40404040', M: '7f020c027f',
  N: '7f0408107f', O: '3e4141413e', P: '7f09090906', Q: '3e4151215e', R: '7f09192946', S: '4649494931', T: '01017f0101', U: '3f4040403f', V: '1f2040201f', W: '3f4038403f', X: '6314081463', Y: '0708700807', Z: '6151494543',
};

type Color = readonly [number, number, number];

export class Raster {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;

  constructor(width: number, height: number, color: Color = [255, 255, 255]) {
    this.width = width;
    this.height = height;
    this.pixels = new Uint8Array(width * height * 3);
    this.rect(0, 0, width, height, color);
  }

  rect(x: number, y: number, width: number, height: number, color: Color): this {
    const line = Buffer.alloc(Math.max(0, Math.min(width, this.width - x)) * 3, Buffer.from(color));
    for (let row = Math.max(0, y); row < Math.min(this.height, y + height); row += 1) this.pixels.set(line, (row * this.width + x) * 3);
    return this;
  }

  text(x: number, y: number, words: string, color: Color = [30, 35, 45], size = 1): this {
    [...words.toUpperCase()].forEach((letter, at) => {
      const columns = Buffer.from(LETTERS[letter] ?? '0000000000', 'hex');
      columns.forEach((bits, column) => {
        for (let row = 0; row < 8; row += 1) if (bits & (1 << row)) this.rect(x + (at * 6 + column) * size, y + row * size, size, size, color);
      });
    });
    return this;
  }

  scaled(width: number, height: number): Raster {
    const out = new Raster(width, height);
    for (let y = 0; y < height; y += 1) {
      const [top, bottom] = [Math.floor((y * this.height) / height), Math.max(Math.floor((y * this.height) / height) + 1, Math.floor(((y + 1) * this.height) / height))];
      for (let x = 0; x < width; x += 1) {
        const [left, right] = [Math.floor((x * this.width) / width), Math.max(Math.floor((x * this.width) / width) + 1, Math.floor(((x + 1) * this.width) / width))];
        const sum = [0, 0, 0];
        let count = 0;
        for (let sy = top; sy < Math.min(bottom, this.height); sy += 1) {
          for (let sx = left; sx < Math.min(right, this.width); sx += 1) {
            const at = (sy * this.width + sx) * 3;
            for (let c = 0; c < 3; c += 1) sum[c] = (sum[c] ?? 0) + (this.pixels[at + c] ?? 0);
            count += 1;
          }
        }
        for (let c = 0; c < 3; c += 1) out.pixels[(y * width + x) * 3 + c] = Math.round((sum[c] ?? 0) / Math.max(1, count));
      }
    }
    return out;
  }

  png(): Buffer {
    const lines = Buffer.alloc((this.width * 3 + 1) * this.height);
    for (let y = 0; y < this.height; y += 1) lines.set(this.pixels.subarray(y * this.width * 3, (y + 1) * this.width * 3), y * (this.width * 3 + 1) + 1);
    const head = Buffer.alloc(13);
    head.writeUInt32BE(this.width, 0);
    head.writeUInt32BE(this.height, 4);
    head.set([8, 2, 0, 0, 0], 8);
    return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', head), chunk('IDAT', deflateSync(lines, { level: 4 })), chunk('IEND', Buffer.alloc(0))]);
  }
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

export function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  let crc = 0xffffffff;
  for (const byte of body) crc = (TABLE[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE((crc ^ 0xffffffff) >>> 0);
  return Buffer.concat([length, body, sum]);
}

const DARK: Color = [30, 40, 66];

/** A page of the back office of the story. */
export function page(kind: 'statement' | 'login' | 'overview' | 'table' | 'empty' | 'order' | 'dialog' | 'mail', width: number, height: number, seed = 1): Raster {
  const out = new Raster(width, height, kind === 'login' ? [226, 231, 243] : [250, 250, 252]);
  const random = (n: number) => ((seed * 7919 + n * 104729) % 9973) / 9973;
  if (kind !== 'statement' && kind !== 'login' && kind !== 'mail') out.rect(0, 0, width, 48, DARK).text(24, 18, 'BACK OFFICE   OVERVIEW   ORDERS   PAYMENTS', [220, 228, 244], 2);
  if (kind === 'login') out.rect(width / 2 - 190, height / 2 - 140, 380, 280, [255, 255, 255]).rect(width / 2 - 150, height / 2 + 60, 300, 40, [52, 96, 214]).text(width / 2 - 40, height / 2 - 110, 'SIGN IN', DARK, 2);
  if (kind === 'statement') {
    out.rect(0, 0, width, height, [255, 252, 246]).text(40, 36, 'STATEMENT   14.11.2026', DARK, 3);
    for (let row = 0; row < 14; row += 1) out.text(40, 110 + row * 34, `14.11  CARD PAYMENT SHOP ${100 + Math.floor(random(row) * 800)}   15.09`, [70, 60, 50], 2);
  }
  if (kind === 'overview') {
    for (let at = 0; at < 4; at += 1) out.rect(40 + at * 300, 90, 270, 110, [255, 255, 255]).text(60 + at * 300, 110, `${Math.floor(random(at) * 9000)}`, DARK, 4);
    for (let at = 0; at < 44; at += 1) out.rect(40 + at * 27, height - 60 - Math.floor(random(at) * 380), 18, Math.floor(random(at) * 380), [76, 120, 226]);
  }
  if (kind === 'table') {
    for (let row = 0; 70 + row * 34 < height; row += 1) {
      if (row % 2) out.rect(0, 60 + row * 34, width, 34, [240, 243, 247]);
      out.text(24, 72 + row * 34, `#${11000 + row * 37 + seed}   CUSTOMER ${100 + Math.floor(random(row) * 300)}   ${(random(row + 9) * 900).toFixed(2)} EUR   14.11.2026   ON HOLD`, [45, 52, 64], 2);
    }
  }
  if (kind === 'order') {
    out.text(40, 90, `ORDER #${11193 + seed}`, DARK, 4);
    for (let row = 0; row < 8; row += 1) out.text(40, 170 + row * 40, `CH-7Q2FB${row}   15.09 EUR   CAPTURED`, [60, 66, 80], 2);
    out.rect(40, height - 120, 180, 44, [52, 96, 214]);
  }
  if (kind === 'dialog') out.rect(0, 48, width, height - 48, [108, 112, 122]).rect(width / 2 - 260, 240, 520, 300, [255, 255, 255]).text(width / 2 - 230, 270, 'REFUND 15.09 EUR', DARK, 3).rect(width / 2 + 90, 470, 140, 44, [200, 60, 46]);
  if (kind === 'mail') {
    out.rect(0, 0, width, 60, DARK).text(20, 20, 'YOUR REFUND', [230, 236, 248], 3);
    for (let row = 0; row < 12; row += 1) out.rect(20, 90 + row * 44, width - 60 - Math.floor(random(row) * 120), 12, [120, 128, 144]);
  }
  return out;
}
