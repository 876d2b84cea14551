// Numbers, times and foreign texts as they are shown.

export const MINUS = '−';

export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Dollars with four decimals, five for very little, two from a dollar on where `short` asks for it. */
export function usd(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const size = Math.abs(value);
  const digits = size !== 0 && size < 0.00095 ? 5 : 4;
  return `${value < 0 ? MINUS : ''}$${size.toFixed(digits)}`;
}

export function usdShort(value: number): string {
  return value < 1 ? usd(value) : `$${value.toFixed(2)}`;
}

export function signed(value: number, format: (value: number) => string): string {
  return (value > 0 ? '+' : value < 0 ? MINUS : '±') + format(Math.abs(value));
}

export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  return value < 999_500 ? `${count(value / 1000)} kB` : `${(value / 1e6).toFixed(value < 1e7 ? 2 : 1)} MB`;
}

export function percent(part: number, whole: number): string {
  return whole > 0 ? `${Math.round((part / whole) * 100)} %` : '–';
}

export function millions(value: number): string {
  return value < 1e6 ? count(value) : `${(value / 1e6).toFixed(2)} M`;
}

export function size(pixels: readonly [number, number]): string {
  return `${pixels[0]}×${pixels[1]}`;
}

/** Time of day, of seconds since 1970; local, or UTC in an export so that each reader sees the same. */
export function clock(at: number): string {
  const date = new Date(at * 1000);
  return Number.isNaN(date.getTime()) ? '–' : date.toLocaleTimeString('en-GB', { hour12: false });
}

export function day(at: number): string {
  const date = new Date(at * 1000);
  return Number.isNaN(date.getTime()) ? '–' : date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
}

export function ago(at: number, now: number): string {
  const seconds = Math.max(0, now - at);
  if (seconds < 60) return 'now';
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  if (seconds < 172_800) return 'yesterday';
  return day(at);
}

export function seconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

const HIDDEN_LETTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffc]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udfff]/g;

/** Makes letters visible that have no shape or change the direction of others: `⟨U+202E⟩`. */
export function visible(text: string): string {
  return text.replace(HIDDEN_LETTERS, (letter) => `⟨U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** One line of foreign text, cut to `limit` letters. */
export function line(text: string, limit = 200): string {
  const cut = text.length > limit * 4 ? text.slice(0, limit * 4) : text;
  const flat = visible(cut).replace(/\s+/g, ' ').trim();
  return flat.length > limit ? `${flat.slice(0, limit - 1)}…` : flat;
}
