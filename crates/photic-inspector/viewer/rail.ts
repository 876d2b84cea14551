// Lists at the left: turns, or pictures.
import { h } from './dom.ts';
import { count, size, usd } from './format.ts';
import { foreign, thumbnail } from './parts.ts';
import { to } from './route.ts';
import type { TurnSide } from './route.ts';
import { Rows, listSpace } from './rows.ts';
import type { Context } from './view.ts';

export interface Rail {
  element: HTMLElement;
  placed: () => void;
  update: () => void;
  close: () => void;
}

interface Entries {
  label: string;
  height: number;
  count: () => number;
  current: number;
  make: (number: number) => HTMLElement;
  prepare: (from: number, to: number) => void;
}

function rail(entries: Entries): Rail {
  const body = h('div');
  const element = h('nav.rail', { 'aria-label': entries.label }, body);
  let rows: Rows | null = null;
  return {
    element,
    placed: () => {
      rows = new Rows({
        body, space: listSpace, height: entries.height, count: entries.count, scroller: element,
        make: (at) => entries.make(at + 1), prepare: (from, to_) => {
          entries.prepare(from + 1, to_);
          return false;
        },
      });
      rows.show(entries.current - 1);
    },
    update: () => rows?.update(),
    close: () => rows?.close(),
  };
}

export function turnRail({ session }: Context, current: number, side: TurnSide): Rail {
  const highest = () => {
    let most = 0;
    for (let turn = 1; turn <= session.total; turn += 1) most = Math.max(most, session.row(turn)?.usd ?? 0);
    return most;
  };
  let most = highest();
  const made: Rail = rail({
    label: 'Turns', height: 37, count: () => session.total, current,
    make: (turn) => {
      const row = session.row(turn);
      const link = h('a', { href: to.turn(session.id, turn, side), 'aria-current': turn === current ? 'true' : null },
        h('b', null, h('span.hidden', null, 'Turn '), String(turn)), h('span.ellipsis', null, row ? foreign(row.came || '–', 60) : '…'), h('span.cost', null, row ? usd(row.usd) : ''));
      if (row?.usd && most) link.append(h('i.bar', { style: { width: `${(row.usd / most) * 100}%` } }));
      return link;
    },
    prepare: (from, to_) => {
      for (const turn of [from, to_]) {
        if (turn >= 1 && turn <= session.total && !session.row(turn)) {
          void session.loadTurns(turn).then(() => { most = highest(); made.update(); }, () => undefined);
        }
      }
    },
  });
  return made;
}

export function pictureRail({ session }: Context, current: number, turn: number): Rail {
  const made: Rail = rail({
    label: 'Pictures', height: 47, count: () => session.facts.pictures, current,
    make: (picture) => {
      const row = session.picture(picture);
      return h('a.picture', { href: to.picture(session.id, picture, row && row.turn > turn ? undefined : turn), 'aria-current': picture === current ? 'true' : null },
        thumbnail(session, picture),
        h('span.ellipsis', null, h('b', null, h('span.hidden', null, 'Picture '), `#${picture} `), foreign(row?.label ?? '', 60)),
        h('span.cost.row', null, h('span', null, row?.size ? size(row.size) : row?.media ?? ''), h('span.push', null, row?.tokens ? count(row.tokens) : '')));
    },
    prepare: (from, to_) => {
      for (const picture of [from, to_]) {
        if (picture >= 1 && picture <= session.facts.pictures && !session.picture(picture)) {
          void session.loadPictures(picture).then(() => made.update(), () => undefined);
        }
      }
    },
  });
  return made;
}
