// The turns of a session: where did something happen?
import type { Note, TurnRow } from './api.ts';
import { clear, h } from './dom.ts';
import { clock, count, line, percent, plural, usd } from './format.ts';
import { laneHead, laneList, laneRow, lanesOf } from './lanes.ts';
import { moveInRows } from './keys.ts';
import { chip, foreign, stat, swatch, throttled } from './parts.ts';
import { attachPeek } from './peek.ts';
import { go, to } from './route.ts';
import { Rows, tableSpace } from './rows.ts';
import { firstTurn } from './states.ts';
import { inputOf, strip, stripText } from './strip.ts';
import type { Context, View } from './view.ts';

/** Lanes that every table has room for, and the width of one in rem. */
const MIN_LANES = 16;
const LANE = 2.72;

export function noteChip(note: Note): HTMLElement {
  return chip(note.kind === 'info' ? 'info' : note.kind, foreign(note.text, 40));
}

/** The sums of a session. */
export function sumsOf({ session }: Context): HTMLElement[] {
  const { facts } = session;
  const { sums, findings } = facts;
  const expected = facts.reported < facts.turns;
  const look = findings.cost + findings.repaired + findings.learned;
  return [
    stat('Cost', usd(sums.usd), [
      sums.usd === undefined ? 'no price known' : sums.usd_pictures !== undefined ? `${percent(sums.usd_pictures, sums.usd)} for pictures` : null,
      facts.unpriced > 0 && sums.usd !== undefined && `, ${plural(facts.unpriced, 'turn')} with no price`,
    ]),
    stat('Input tokens', count(facts.tokens), sums.read === undefined ? (expected ? 'expected' : null) : `${percent(sums.read, facts.tokens)} from the cache`),
    stat('Written again', sums.again === undefined ? '–' : count(sums.again), sums.usd_again !== undefined && `${usd(sums.usd_again)} more than reading`),
    stat('Pictures', count(facts.pictures), `${facts.in_sight} in sight now`),
    ...(facts.changed === undefined ? [] : [stat('Changed by photic', `${count(facts.changed)} of ${count(facts.turns)}`, 'turns')]),
    stat('Findings', count(findings.blind), [findings.blind === 1 ? 'blind spot' : 'blind spots', look > 0 && `, ${look} to look at`]),
    ...(expected && facts.reported > 0 ? [stat('Reported', `${count(facts.reported)} of ${count(facts.turns)}`, 'the others are expected')] : []),
  ];
}

export function timeline(context: Context, follow: () => boolean): View {
  const { session, main } = context;
  const { facts } = session;
  let lanes: number[] = [];
  /** Lanes that the table has room for; and whether there are more, so that rows are not aligned. */
  let fit = MIN_LANES;
  let many = false;
  let rows: Rows | null = null;
  const arrived = new Set<number>();

  const stats = h('dl.stats', null, sumsOf(context));
  const laneNames = h('div');
  const others = h('span');
  const body = h('tbody');
  const table = h(
    'table.timeline',
    { 'aria-rowcount': session.total + 1 },
    h('caption.hidden', null, 'Turns of this session'),
    h('colgroup', null, ['turn', 'came', 'lane', 'tokens', 'cost', 'cache', 'notes'].map((name) => h(`col.col-${name}`))),
    h('thead', null, h('tr', null,
      h('th', { scope: 'col' }, 'Turn'), h('th', { scope: 'col' }, 'What came'),
      h('th', { scope: 'col' }, h('div', null, 'Pictures in sight ', others), laneNames),
      h('th.number', { scope: 'col' }, 'Tokens'), h('th.number', { scope: 'col' }, 'Cost'),
      h('th', { scope: 'col' }, 'Cache, by tokens'), h('th', { scope: 'col' }, 'To note'))),
    body,
  );
  const place = h('.scroll-x', null, session.total ? [table, legend()] : firstTurn(facts.live));
  const element = h('div', null, h('h1.hidden', null, `Timeline of ${line(facts.title, 120) || 'a session'}`), stats, place);
  const closePeek = attachPeek(body, session);

  function turnRow(turn: number): HTMLElement {
    const row = session.row(turn);
    if (!row) return h('tr', null, h('th', { scope: 'row' }, count(turn)), h('td', { colspan: 6 }, h('span.bone')));
    const sight = session.inSight(turn);
    const words = `Turn ${turn}: ${line(row.came, 80)}, ${plural(sight, 'picture')} in sight, ${row.usd === undefined ? 'no price known' : usd(row.usd)}`;
    const name = ['tr.click', turn === context.turn && 'current', turn === context.marked && 'marked', arrived.has(turn) && 'arrived'].filter(Boolean).join('.');
    return h(
      name,
      {
        'aria-rowindex': turn + 1,
        on: { click: (event) => { if (!(event.target as Element).closest('a')) go(to.turn(session.id, turn)); } },
      },
      h('th', { scope: 'row' }, h('a.strong', { href: to.turn(session.id, turn), 'aria-label': words }, String(turn)), h('.sub', null, clock(row.at / 1000))),
      h('td', null, h('.ellipsis', null, row.came ? foreign(row.came, 120) : '–'), h('.sub.ellipsis', null, row.call ? foreign(row.call, 120) : 'user')),
      h('td', null, many ? laneList(session, turn, fit) : laneRow(session, turn, lanes)),
      h('td.number', null, count(inputOf(row)), !row.reported && h('.sub', null, 'expected')),
      h('td.number', null, usd(row.usd), !row.reported && row.usd !== undefined && h('.sub', null, 'expected')),
      h('td', null, strip(row, session.maxTokens), stripText(row)),
      h('td', null, h('.chips', null, chipsOf(row))),
    );
  }

  function prepare(from: number, to_: number): boolean {
    const before = `${many} ${lanes.join()}`;
    const missing: number[] = [];
    for (let turn = Math.max(1, from); turn <= to_; turn += 1) if (!session.row(turn)) missing.push(turn);
    const ends = [missing[0], missing.at(-1)].filter((turn) => turn !== undefined);
    for (const turn of new Set(ends)) void session.loadTurns(turn).then(() => rows?.update(), () => undefined);
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 13;
    fit = Math.max(MIN_LANES, Math.floor((main.clientWidth - 67 * rem) / (LANE * rem)));
    lanes = many ? [] : lanesOf(session, from + 1, to_);
    if (lanes.length > fit) {
      many = true;
      lanes = [];
    }
    clear(others, many ? h('span.dim', null, 'the newest of each turn') : null);
    clear(laneNames, laneHead(lanes));
    table.style.setProperty('--lanes', String(many ? fit : Math.max(lanes.length, 4)));
    table.setAttribute('aria-rowcount', String(session.total + 1));
    return `${many} ${lanes.join()}` !== before;
  }

  function placed(): void {
    if (!session.total) return;
    rows = new Rows({ body, space: tableSpace(7), height: 40, count: () => session.total, make: (at) => turnRow(at + 1), prepare, scroller: main });
    if (follow()) rows.show(session.total - 1, 'end');
    else if (context.turn > 1) rows.show(context.turn - 1);
  }

  const move = moveInRows(() => rows, () => session.total, () => context.turn - 1);
  const turnAtFocus = () => (rows?.focused() ?? context.turn - 1) + 1;
  const redraw = throttled(60, () => {
    if (!rows && session.total) {
      clear(place, table, legend());
      placed();
    }
    rows?.update();
    if (follow()) rows?.show(session.total - 1, 'end');
  });

  return {
    element,
    title: line(facts.title, 60) || facts.id,
    keys: {
      j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1),
      End: () => rows?.focus(session.total - 1), Home: () => rows?.focus(0),
      x: () => {
        const turn = turnAtFocus();
        if (context.marked !== null && context.marked !== turn) {
          const [a, b] = [Math.min(context.marked, turn), Math.max(context.marked, turn)];
          context.marked = null;
          go(to.diff(session.id, a, b));
        } else {
          context.marked = context.marked === turn ? null : turn;
          context.say(context.marked ? `Turn ${turn} is marked; mark another one to compare` : `Turn ${turn} is not marked any more`);
          rows?.update();
        }
      },
      p: () => {
        const turn = turnAtFocus();
        const fates = session.row(turn)?.fates ?? '';
        if (fates.length) go(to.picture(session.id, fates.length, turn));
      },
    },
    hints: [
      { keys: ['j', 'k'], does: 'move' }, { keys: ['↵'], does: 'open turn' }, { keys: ['p'], does: 'open picture' }, { keys: ['x'], does: 'mark, and compare' },
    ],
    context: [h('span.dim', null, foreign(facts.model ?? 'unknown model', 60), facts.wire ? [', ', foreign(facts.wire, 40)] : null, `; began ${clock(facts.created / 1000)}`)],
    placed,
    turnsChanged: (changed) => {
      for (const row of changed) arrived.add(row.n);
      redraw();
    },
    factsChanged: () => clear(stats, sumsOf(context)),
    close: () => {
      rows?.close();
      closePeek();
    },
  };
}

function chipsOf(row: TurnRow): HTMLElement[] {
  const notes = row.notes ?? [];
  const chips = notes.slice(0, 2).map(noteChip);
  if (notes.length > 2) chips.push(chip('info', `+${notes.length - 2}`));
  if (row.failed && !notes.some((note) => note.kind === 'bad')) chips.unshift(chip('bad', row.status ? `${row.status}, failed` : 'failed'));
  return chips;
}

function legend(): HTMLElement {
  const box = (kind: string, text: string) => h('span', null, h(`span.lane.thumb.plain${kind}`, { 'aria-hidden': 'true' }), text);
  return h(
    '.legend',
    null,
    box('.new', 'new'), box('', 'in sight'), box('.back', 'came back'),
    h('span', null, h('span.lane.gone', { 'aria-hidden': 'true' }, '–'), 'a notice is there: – retired, × dropped by you, = repeated, ! refused'),
    h('span.push'), swatch('read', 'read'), swatch('written', 'written'), swatch('again', 'written again'), swatch('rest', 'not kept'), swatch('expected', 'expected'), h('span', null, '▾ mark'),
  );
}
