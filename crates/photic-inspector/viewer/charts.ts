// Charts in SVG. Each has a sentence for readers; its numbers stand in a table beside it.
import { h, svg } from './dom.ts';

export function spark(values: readonly number[], label: string): SVGElement {
  const width = 96;
  const height = 24;
  const max = Math.max(...values, 0);
  const step = Math.min(8, width / Math.max(1, values.length));
  return svg(
    'svg',
    { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label, class: 'spark' },
    values.map((value, at) => {
      const bar = max > 0 ? Math.max(1, (value / max) * height) : 1;
      return svg('rect', { x: at * step, y: height - bar, width: Math.max(1, step - 1), height: bar });
    }),
  );
}

/** A round number for the end of an axis and its ticks. */
export function ticks(max: number, wanted = 4): number[] {
  if (!(max > 0)) return [0];
  const rough = max / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? power * 10;
  const all: number[] = [];
  for (let at = 0; at <= max * 1.0001; at += step) all.push(at);
  return all;
}

export interface Bar {
  label: string;
  /** Values from below, in the order of `kinds`. */
  parts: number[];
  /** Part of it that is told beside it. */
  beside?: number | undefined;
  /** Words for readers and for a pointer. */
  title: string;
  href?: string;
  expected: boolean;
}

interface Frame {
  width: number;
  height: number;
  left: number;
  bottom: number;
}

const FRAME: Frame = { width: 800, height: 200, left: 52, bottom: 22 };

function axis(max: number, frame: Frame): SVGElement[] {
  const y = (value: number) => frame.height - frame.bottom - (value / max) * (frame.height - frame.bottom - 18);
  return ticks(max, 4).flatMap((tick) => [
    svg('line', { x1: frame.left, x2: frame.width, y1: y(tick), y2: y(tick), class: 'axis' }),
    svg('text', { x: frame.left - 8, y: y(tick) + 4, 'text-anchor': 'end' }, tick === 0 ? '0' : `$${Number(tick.toPrecision(3))}`),
  ]);
}

export function stacked(bars: Bar[], kinds: string[], format: (value: number) => string, label: string): HTMLElement {
  const frame = FRAME;
  const sums = bars.map((bar) => bar.parts.reduce((sum, part) => sum + part, 0));
  const max = Math.max(...sums, 0) || 1;
  const pitch = (frame.width - frame.left) / Math.max(1, bars.length);
  const thick = Math.max(1, Math.min(34, pitch * 0.7));
  const scale = (frame.height - frame.bottom - 18) / max;
  const every = Math.max(1, Math.ceil(bars.length / 16));
  const highest = sums.map((sum, at) => [sum, at] as const).sort((a, b) => b[0] - a[0]).slice(0, bars.length > 2 ? 3 : 1).map(([, at]) => at);
  // Beside the links, whose names say the same in words.
  const words: SVGElement[] = [];
  const drawn = bars.map((bar, at) => {
    const middle = frame.left + pitch * (at + 0.5);
    let y = frame.height - frame.bottom;
    const group = svg('a', { href: bar.href, class: bar.expected ? 'bar expected' : 'bar', 'aria-label': bar.title });
    group.append(svg('rect', { x: frame.left + pitch * at, y: 0, width: pitch, height: frame.height - frame.bottom, class: 'area' }));
    bar.parts.forEach((part, kind) => {
      if (!(part > 0)) return;
      y -= part * scale;
      group.append(svg('rect', { x: middle - thick / 2, y, width: thick, height: part * scale, class: kinds[kind] ?? '' }));
    });
    if (bar.beside) {
      const size = Math.max(2, bar.beside * scale);
      group.append(svg('rect', { x: middle - thick / 2 - Math.max(3, pitch * 0.14), y: frame.height - frame.bottom - size, width: Math.max(2, Math.min(6, pitch * 0.12)), height: size, class: 'again' }));
    }
    if (highest.includes(at) && (sums[at] ?? 0) > 0) {
      words.push(svg('text', { x: Math.min(middle, frame.width - 24), y: y - 5, 'text-anchor': 'middle', class: 'strong' }, format(sums[at] ?? 0)));
    }
    if (at % every === 0) words.push(svg('text', { x: middle, y: frame.height - 6, 'text-anchor': 'middle' }, bar.label));
    group.append(svg('title', null, bar.title));
    return group;
  });
  return chart(frame, label, 'group', [...axis(max, frame), hatch(), ...drawn, ...words]);
}

export interface Line {
  kind: string;
  values: number[];
}

export function lines(all: Line[], labels: string[], label: string): HTMLElement {
  const frame = FRAME;
  const max = Math.max(...all.flatMap((one) => one.values), 0) || 1;
  const count = labels.length;
  const pitch = (frame.width - frame.left) / Math.max(1, count);
  const x = (at: number) => frame.left + pitch * (at + 0.5);
  const y = (value: number) => frame.height - frame.bottom - (value / max) * (frame.height - frame.bottom - 18);
  const every = Math.max(1, Math.ceil(count / 16));
  const drawn = all.map((one) =>
    svg('polyline', { class: `line ${one.kind}`, points: one.values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ') }),
  );
  const names = labels.flatMap((text, at) => (at % every === 0 ? [svg('text', { x: x(at), y: frame.height - 6, 'text-anchor': 'middle' }, text)] : []));
  return chart(frame, label, 'img', [...axis(max, frame), ...drawn, ...names]);
}

function hatch(): SVGElement {
  return svg(
    'defs',
    null,
    svg('pattern', { id: 'hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' }, svg('rect', { width: 3, height: 6, class: 'stripe' })),
  );
}

function chart(frame: Frame, label: string, role: string, children: SVGElement[]): HTMLElement {
  return h('.chart', null, svg('svg', { viewBox: `0 0 ${frame.width} ${frame.height}`, role, 'aria-label': label }, ...children));
}
