// Pictures in sight: each has a lane of its own, the same in every row.
import { h, icon } from './dom.ts';
import type { OpenSession } from './session.ts';
import { thumbnail } from './parts.ts';
import { shown } from './session.ts';

const SIGN: Record<string, string> = { r: '–', d: '×', e: '=', f: '!', c: '–' };
const SAID: Record<string, string> = {
  k: 'shown', h: 'shown behind the results', s: 'shown smaller', p: 'shown, pinned', o: 'on a sheet with others',
  r: 'retired', d: 'dropped by you', e: 'repeated', f: 'refused', c: 'cleared', '.': 'not in this turn',
};

export function saidOf(letter: string | undefined): string {
  return SAID[letter ?? ''] ?? 'not known';
}

export function signOf(letter: string | undefined): string {
  return SIGN[letter ?? ''] ?? '';
}

/** Pictures that have a lane for turns `from..=to`: those seen there, and those that just left. */
export function lanesOf(session: OpenSession, from: number, to: number): number[] {
  const lanes = new Set<number>();
  for (let turn = from; turn <= to; turn += 1) {
    for (const picture of lanesOfTurn(session, turn)) lanes.add(picture);
  }
  return [...lanes].sort((a, b) => a - b);
}

function lanesOfTurn(session: OpenSession, turn: number): number[] {
  const fates = session.row(turn)?.fates ?? '';
  const before = session.row(turn - 1)?.fates ?? '';
  const lanes: number[] = [];
  for (let at = 0; at < fates.length; at += 1) {
    const letter = fates[at];
    if (shown(letter) || (letter !== '.' && (shown(before[at]) || at >= before.length))) lanes.push(at + 1);
  }
  return lanes;
}

/** The newest pictures of one turn, where too many are in sight for a lane each. */
export function laneList(session: OpenSession, turn: number, fit: number): HTMLElement {
  const all = lanesOfTurn(session, turn);
  const few = all.length > fit ? all.slice(1 - fit) : all;
  const row = h('.lanes', { 'aria-hidden': 'true' });
  if (few.length < all.length) row.append(h('span.dim.sub', null, `+${all.length - few.length}`));
  for (const picture of few) {
    const box = lane(session, turn, picture);
    if (box) row.append(box);
  }
  return row;
}

/** The lane of one picture in one turn; null where it had not come yet. */
export function lane(session: OpenSession, turn: number, picture: number): HTMLElement | null {
  const letter = session.letter(turn, picture);
  const before = session.letter(turn - 1, picture);
  if (letter === undefined || (letter === '.' && (before === undefined || before === '.'))) return null;
  const came = before === undefined || before === '.';
  if (!shown(letter)) {
    const left = shown(before) || came;
    return h(`span.lane.gone${left ? '.left' : ''}`, { 'data-picture': picture }, SIGN[letter] ?? '–');
  }
  const box = thumbnail(session, picture, `span.lane.thumb${came ? '.new' : shown(before) ? '' : '.back'}`);
  box.dataset['picture'] = String(picture);
  if (letter === 's') box.append(h('i.badge', null, icon('shrink')));
  else if (letter === 'p') box.append(h('i.badge', null, icon('pin')));
  else if (session.row(turn)?.notes?.some((note) => note.picture === picture && (note.kind === 'bad' || note.kind === 'warn'))) {
    box.append(h('i.badge.warn', null, icon('warn')));
  }
  return box;
}

/** The lanes of one turn in the places of `lanes`. */
export function laneRow(session: OpenSession, turn: number, lanes: readonly number[]): HTMLElement {
  const row = h('.lanes', { 'aria-hidden': 'true' });
  lanes.forEach((picture, at) => {
    const box = lane(session, turn, picture);
    if (!box) return;
    box.style.setProperty('grid-column', String(at + 1));
    row.append(box);
  });
  return row;
}

export function laneHead(lanes: readonly number[]): HTMLElement {
  return h('.lanes.head', { 'aria-hidden': 'true' }, lanes.map((picture, at) => h('span', { style: { 'grid-column': String(at + 1) } }, `#${picture}`)));
}

