// A result of `view` as it came through a host, checked field by field: what has another type is left out.

export interface Shown {
  kind: 'shown';
  /** The name of the source, from the words before the picture. */
  name: string;
  /** A `data:` address; null if the picture was not asked for. */
  picture: string | null;
  type: string;
  size: [number, number];
  bytes: number;
  hash: string;
  source: [number, number];
  unit: string;
  /** x, y, width, height in the original. */
  region: [number, number, number, number];
  /** Whether the region is the whole original. */
  whole: boolean;
  scale: number;
  map: [a: number, b: number, c: number, d: number, e: number, f: number];
  tokens: number;
  pages: number;
  reference: string;
  warnings: string[];
}

export interface Refused {
  kind: 'refused';
  code: string;
  says: string;
  hint: string;
  candidates: string[];
}

export interface Words {
  kind: 'words';
  words: string;
}

const META_KEY = 'photic.dev/result';
/** Types that a browser draws without running anything. */
const DRAWN = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];

type Fields = Record<string, unknown>;

function fields(value: unknown): Fields | null {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : null;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}

function number(value: unknown, other = 0): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : other;
}

function side(value: unknown): number {
  return Math.max(1, Math.min(1_000_000, Math.round(number(value, 1))));
}

/** Reads a result. Data is in `structuredContent`, or in `_meta` for hosts that would lose the picture. */
export function read(result: unknown): Shown | Refused | Words {
  const whole = fields(result) ?? {};
  const content = (Array.isArray(whole['content']) ? whole['content'] : []).map(fields);
  const words = text(content.find((one) => one?.['type'] === 'text')?.['text']);
  const data = fields(whole['structuredContent']) ?? fields(fields(whole['_meta'])?.[META_KEY]) ?? {};
  const refusal = fields(data['refusal']);
  if (refusal) return { kind: 'refused', code: text(refusal['code']), says: text(refusal['says']), hint: text(refusal['hint']), candidates: texts(refusal['candidates']) };
  const view = fields(data['view']);
  if (!view) return { kind: 'words', words };
  const image = content.find((one) => one?.['type'] === 'image');
  const [type, base64] = [text(image?.['mimeType']), text(image?.['data'])];
  const [region, map] = [fields(view['region']) ?? {}, fields(view['map']) ?? {}];
  const source: [number, number] = [side(view['source_width']), side(view['source_height'])];
  const at: [number, number, number, number] = [number(region['x']), number(region['y']), number(region['width'], source[0]), number(region['height'], source[1])];
  return {
    kind: 'shown',
    name: words.split(': ', 1)[0] ?? '',
    picture: DRAWN.includes(type) && /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? `data:${type};base64,${base64}` : null,
    type: text(view['media_type']),
    size: [side(view['width']), side(view['height'])],
    bytes: number(view['byte_size']),
    hash: text(view['hash']),
    source,
    unit: view['unit'] === 'pt' ? 'pt' : 'px',
    region: at,
    whole: at[0] === 0 && at[1] === 0 && at[2] >= source[0] && at[3] >= source[1],
    scale: number(view['scale'], 1),
    map: [number(map['a'], 1), number(map['b']), number(map['c']), number(map['d'], 1), number(map['e']), number(map['f'])],
    tokens: number(view['tokens']),
    pages: number(view['pages'], 1),
    reference: text(view['ref']),
    warnings: texts(view['warnings']),
  };
}
