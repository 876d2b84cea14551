// Two turns: what is different?
import type { Compare, CompareMessage, CompareSide } from './api.ts';
import { get } from './client.ts';
import { clear, h } from './dom.ts';
import { count, line, plural, signed, usd } from './format.ts';
import { laneHead, laneRow } from './lanes.ts';
import { blob, spans } from './changes.ts';
import { chip, foreign, key, stat, swatch } from './parts.ts';
import { go, to } from './route.ts';
import { shown } from './session.ts';
import type { Context, View } from './view.ts';

const PAGE = 100;

export async function compareView(context: Context, a: number, b: number): Promise<View> {
  const { session } = context;
  await Promise.all([session.loadTurns(a), session.loadTurns(b), session.loadTurns(Math.max(1, a - 1)), session.loadTurns(Math.max(1, b - 1))]);
  const one = await get<Compare>(`${session.path}/compare`, { a, b });
  context.turn = Math.max(a, b);
  const open = (x: number, y: number) => {
    if (x >= 1 && y >= 1 && x <= session.total && y <= session.total && (x !== a || y !== b)) go(to.diff(session.id, x, y));
  };
  const swap = () => open(b, a);
  const element = h(
    'div',
    null,
    h('h1.hidden', null, `Turn ${a} with turn ${b}`),
    h('.filters', null, pick('A', a, one.a, session.total, (value) => open(value, b)), h('span.dim', null, 'with'), pick('B', b, one.b, session.total, (value) => open(a, value)),
      h('button.button', { type: 'button', on: { click: swap } }, 'Swap ', key('s')),
      h('span.push.dim', null, one.settings.length ? `${plural(one.settings.length, 'setting')} changed` : 'model, system, tools, settings: the same')),
    h('dl.stats', null,
      difference('Input tokens', input(one.a), input(one.b), count, one),
      difference('Cost', one.a.usd, one.b.usd, usd, one),
      difference('Pictures in sight', one.a.in_sight, one.b.in_sight, count),
      difference('Bytes sent', one.a.bytes, one.b.bytes, count)),
    prefix(one),
    sight(context, one),
    one.settings.length ? settings(one) : null,
    messagesOf(context, one),
  );
  return {
    element,
    title: `Turns ${a} and ${b}`,
    keys: { s: swap, '[': () => open(a - 1, b - 1), ']': () => open(a + 1, b + 1) },
    hints: [{ keys: ['[', ']'], does: 'both one turn on' }, { keys: ['s'], does: 'swap' }],
  };
}

function input(side: CompareSide): number {
  return side.tokens.input ?? side.tokens.expected;
}

function pick(name: string, turn: number, side: CompareSide, last: number, set: (value: number) => void): HTMLElement {
  const field = h<HTMLInputElement>('input.turn', { type: 'number', min: 1, max: last, value: turn, 'aria-label': `Turn of ${name}` });
  field.addEventListener('change', () => set(Number(field.value)));
  return h('.row', null, h('span.letter', { 'aria-hidden': 'true' }, name), h('span', null, 'Turn'), field, h('span.ellipsis.came', null, foreign(side.came || '–', 60)));
}

function difference(name: string, a: number | undefined, b: number | undefined, format: (value: number) => string, sides?: Compare): HTMLElement {
  if (a === undefined || b === undefined) return stat(name, '–', 'not known');
  return stat(name, signed(b - a, format), [`${format(a)} → ${format(b)}`, sides && (!sides.a.reported || !sides.b.reported) && ' expected']);
}

function prefix(one: Compare): HTMLElement {
  const [a, b] = [input(one.a), input(one.b)];
  const max = Math.max(a, b, 1);
  const common = Math.min(one.common_tokens, a, b);
  const gone = Math.min(one.gone_tokens, a - common);
  const again = Math.min(one.b.tokens.again ?? 0, b - common);
  const bar = (parts: [string, number][]) => h('.prefix', { 'aria-hidden': 'true' }, parts.filter(([, tokens]) => tokens > 0).map(([kind, tokens]) => h(`i.${kind}`, { style: { width: `max(2px, ${(tokens / max) * 100}%)` } })));
  const fresh = b - common - again;
  return h('section.band', null,
    h('h2.hidden', null, 'Common beginning'),
    h('.row', null, h('span.letter', { 'aria-hidden': 'true' }, 'A'), bar([['read', common], ['gone', gone], ['rest', a - common - gone]])),
    h('.row', null, h('span.letter', { 'aria-hidden': 'true' }, 'B'), bar([['read', common], ['again', again], ['written', fresh]])),
    h('.legend', null,
      swatch('read', `the same: ${count(common)} tokens, ${count(one.common_bytes)} bytes`),
      one.first ? h('span.lost', null, one.first.byte === undefined ? null : `first changed byte ${count(one.first.byte)}${one.first.message === undefined ? '' : `, message ${one.first.message}`}: `, foreign(one.first.text, 120)) : null,
      gone > 0 ? swatch('gone', `gone: ${count(gone)}`) : null,
      again > 0 ? swatch('again', `written again: ${count(again)}`) : null,
      fresh > 0 ? swatch('written', `new or changed: ${count(fresh)}`) : null));
}

function sight({ session }: Context, one: Compare): HTMLElement | null {
  const lanes: number[] = [];
  for (let at = 0; at < Math.max(one.a.fates.length, one.b.fates.length); at += 1) {
    const [x, y] = [one.a.fates[at], one.b.fates[at]];
    if (shown(x) || shown(y) || (x !== y && !(x === '.' || x === undefined) !== !(y === '.' || y === undefined))) lanes.push(at + 1);
  }
  const few = lanes.slice(-32);
  if (!few.length) return null;
  const box = h('section.band.scroll-x', null, h('h2.hidden', null, 'Pictures'));
  box.style.setProperty('--lanes', String(few.length));
  const row = (name: string, side: CompareSide) => h('.row', null, h('span.letter', { 'aria-hidden': 'true' }, name), laneRow(session, side.n, few), h('span.dim', null, `${plural(side.in_sight, 'picture')}, ${plural(side.picture_tokens, 'token')}`));
  box.append(h('.row', null, h('span.letter.none'), laneHead(few)), row('A', one.a), row('B', one.b));
  if (lanes.length > few.length) box.append(h('p.sub', null, `${plural(lanes.length - few.length, 'earlier picture')} not drawn`));
  return box;
}

function settings(one: Compare): HTMLElement {
  return h('section.band.scroll-x', null, h('table.plain', null, h('caption', null, 'Changed settings'),
    h('thead', null, h('tr', null, ['Setting', `A, turn ${one.a.n}`, `B, turn ${one.b.n}`].map((name) => h('th', { scope: 'col' }, name)))),
    h('tbody', null, one.settings.slice(0, 100).map((setting) => h('tr', null, h('th', { scope: 'row' }, h('code', null, foreign(setting.name, 80))), [setting.a, setting.b].map((value) => h('td', null, value === undefined ? h('span.dim', null, 'absent') : h('code', null, foreign(value, 200)))))))));
}

function messagesOf(context: Context, one: Compare): HTMLElement {
  const body = h('tbody');
  const more = h('button.link', { type: 'button' }, '');
  let at = 0;
  const add = () => {
    for (const message of one.messages.slice(at, at + PAGE)) body.append(messageRow(context, one, message));
    at = Math.min(one.messages.length, at + PAGE);
    more.hidden = at >= one.messages.length;
    clear(more, `Show ${plural(Math.min(PAGE, one.messages.length - at), 'row')} more`);
  };
  more.addEventListener('click', add);
  add();
  return h('.scroll-x', null,
    h('table.compare', null, h('caption.hidden', null, 'Messages that differ'),
      h('thead', null, h('tr', null, ['Msg', 'From', `A, turn ${one.a.n}`, `B, turn ${one.b.n}`, 'What happened'].map((name) => h('th', { scope: 'col' }, name)))), body),
    h('.separator', null, more));
}

function messageRow({ session }: Context, one: Compare, message: CompareMessage): HTMLElement {
  const first = message.b ?? message.a ?? 0;
  if (message.kind === 'same') {
    return h('tr.same', null, h('td', null, message.count > 1 ? `${first}–${first + message.count - 1}` : String(first)), h('td', { colspan: 4 }, `${plural(message.count, 'message')} the same`));
  }
  const cell = (all: CompareMessage['a_spans'], kind: 'inserted' | 'deleted', there: boolean) =>
    h('td', null, there ? h('.spans', null, all?.length === 1 && all[0]?.blob ? blob(session, all[0].blob) : spans(session, all ?? [], kind)) : h('span.dim', null, '–'));
  const gone = message.pictures?.some((picture) => !shown(one.b.fates[picture - 1]));
  return h('tr', null,
    h('td', null, String(first)),
    h('td', null, h('span.role', null, line(message.role ?? '', 20))),
    cell(message.a_spans, 'deleted', message.a !== undefined), cell(message.b_spans, 'inserted', message.b !== undefined),
    h('td', null, message.text ? chip(message.kind === 'added' ? 'accent' : gone ? 'warn' : 'info', foreign(message.text, 60)) : null));
}
