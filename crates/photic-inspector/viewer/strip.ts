// The cache of a turn as a strip: read, written again, written, not kept; its marks, and where the body changed first.
import type { TurnRow } from './api.ts';
import { h } from './dom.ts';
import { count } from './format.ts';
import { foreign } from './parts.ts';

export function inputOf(row: TurnRow): number {
  return row.tokens.input ?? row.tokens.expected;
}

export function strip(row: TurnRow, max: number): HTMLElement {
  const box = h('.strip', { 'aria-hidden': 'true' });
  const scale = 100 / Math.max(1, max);
  let at = 0;
  const segment = (kind: string, tokens: number) => {
    if (tokens <= 0) return;
    box.append(h(`i.${kind}`, { style: { left: `${at * scale}%`, width: `max(2px, ${tokens * scale}%)` } }));
    at += tokens;
  };
  const { read = 0, written = 0, again = 0, rest = 0, expected } = row.tokens;
  if (row.reported) {
    segment('read', read);
    segment('again', again);
    segment('written', written - again);
    segment('rest', rest);
  } else {
    segment('expected', expected);
  }
  for (const mark of row.marks ?? []) box.append(h('i.mark', { style: { left: `${Math.min(mark, max) * scale}%` } }));
  if (row.first && row.reported) box.append(h('i.cut', { style: { left: `${read * scale}%` } }));
  return box;
}

/** The strip in words. */
export function stripText(row: TurnRow): HTMLElement {
  const { read = 0, written = 0, rest = 0, expected } = row.tokens;
  if (row.first) {
    return h('.sub.lost', null, h('span', null, row.first.byte === undefined ? null : `byte ${count(row.first.byte)}: `, foreign(row.first.text, 80)));
  }
  if (!row.reported) return h('.sub', null, row.failed ? 'no answer' : `${count(expected)} expected`);
  const parts = [read ? `${count(read)} read` : written ? 'nothing to read' : ''];
  if (written) parts.push(`${count(written)} written`);
  if (rest) parts.push(`${count(rest)} not kept`);
  return h('.sub', null, parts.filter(Boolean).join(', '));
}
