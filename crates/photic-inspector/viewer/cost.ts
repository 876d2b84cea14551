// What was paid for what?
import type { CostPage, CostTurn } from './api.ts';
import { get } from './client.ts';
import { lines, stacked } from './charts.ts';
import { clear, h } from './dom.ts';
import { count, line, plural, usd } from './format.ts';
import { chip, foreign, swatch, thumbnail } from './parts.ts';
import { moveInList } from './keys.ts';
import { to } from './route.ts';
import { state } from './states.ts';
import type { Context, View } from './view.ts';

const NAMES = { paid: 'paid', all: 'all', priced: 'priced', optimum: 'optimum' } as const;

export async function costView(context: Context): Promise<View> {
  const { session } = context;
  const page = await get<CostPage>(`${session.path}/cost`);
  const { sums } = page;
  const priced = page.turns.some((turn) => turn.usd !== undefined);
  const reported = page.turns.every((turn) => turn.reported);
  const profile = session.facts.profile;
  const price = profile?.input_usd === undefined ? null : `list price: $${profile.input_usd}${profile.output_usd === undefined ? '' : ` and $${profile.output_usd}`} a million tokens`;
  const main = h(
    'section.middle.padded',
    { 'aria-label': 'Cost' },
    h('.row.wrap', null, h('h1', null, 'What it cost'),
      h('span', null, sums.usd === undefined ? `${plural(session.facts.tokens, 'token')}, no price known` : `${usd(sums.usd)} ${reported ? 'as reported' : 'in part expected'}${sums.expected_usd === undefined ? '' : `; ${usd(sums.expected_usd)} was expected`}`),
      !reported && chip('info', 'expected'), session.facts.unpriced > 0 && chip('warn', `${plural(session.facts.unpriced, 'turn')} with no price`),
      h('span.push.dim', null, price)),
    priced ? byTurn(context, page) : state(`${plural(session.facts.tokens, 'token')}, no price known`, h('p', null, foreign(session.facts.model ?? 'This model', 80), ' has no list price here. Costs are left empty, and a sum with gaps says so.'), h('p.dim', null, 'Give its price in the settings; the next turns have a cost then:'), h('code.command', null, 'photic config --help')),
    priced && page.policies.length ? soFar(page) : null,
    misses(context, page),
  );
  const element = h('.two', null, main, pictures(context, page));
  const move = moveInList(element, '.rank,.misses a');
  return {
    element,
    title: 'Cost',
    keys: { j: () => move(1), k: () => move(-1) },
    hints: [{ keys: ['j', 'k'], does: 'move' }, { keys: ['↵'], does: 'open' }],
    turnsChanged: () => context.reload(),
  };
}

function range(turn: { from: number; to: number }): string {
  return turn.from === turn.to ? String(turn.from) : `${turn.from}–${turn.to}`;
}

function parts(turn: CostTurn): number[] {
  const known = (turn.pictures ?? 0) + (turn.words ?? 0) + (turn.answer ?? 0);
  return [turn.pictures ?? 0, (turn.words ?? 0) + Math.max(0, (turn.usd ?? 0) - known), turn.answer ?? 0];
}

/** At most 64 bars: beyond, one is a range of turns. */
function bucketed(turns: CostTurn[]): CostTurn[] {
  const each = Math.ceil(turns.length / 64);
  if (each <= 1) return turns;
  const sum = (group: CostTurn[], of: (turn: CostTurn) => number | undefined) => group.reduce((total, turn) => total + (of(turn) ?? 0), 0);
  return Array.from({ length: Math.ceil(turns.length / each) }, (_, at) => {
    const group = turns.slice(at * each, (at + 1) * each);
    return {
      from: group[0]?.from ?? 0, to: group.at(-1)?.to ?? 0, reported: group.every((turn) => turn.reported),
      usd: sum(group, (turn) => turn.usd), pictures: sum(group, (turn) => turn.pictures), words: sum(group, (turn) => turn.words), answer: sum(group, (turn) => turn.answer), again: sum(group, (turn) => turn.again), tokens: sum(group, (turn) => turn.tokens),
    };
  });
}

function byTurn({ session }: Context, page: CostPage): HTMLElement {
  const { sums } = page;
  const turns = bucketed(page.turns);
  const bars = turns.map((turn) => ({
    label: String(turn.from), parts: parts(turn), beside: turn.again, expected: !turn.reported, href: to.turn(session.id, turn.from),
    title: `Turn ${range(turn)}: ${usd(turn.usd)}${turn.reported ? '' : ' expected'}, pictures ${usd(turn.pictures)}, words ${usd(turn.words)}, answer ${usd(turn.answer)}${turn.again ? `; written again ${usd(turn.again)}` : ''}`,
  }));
  const words = sums.usd === undefined || sums.usd_pictures === undefined ? undefined : sums.usd - sums.usd_pictures - (sums.usd_output ?? 0);
  const again = page.turns.reduce((sum, turn) => sum + (turn.again ?? 0), 0);
  const entry = (kind: string, name: string, value: number | undefined) => h('li', null, h(`i.swatch.${kind}`, { 'aria-hidden': 'true' }), h('span.dim', null, name), h('b', null, usd(value)));
  return h('section', null,
    h('h2', null, 'By turn', turns.length < page.turns.length ? h('span.push.dim', null, 'a bar is a range of turns') : null),
    h('.with-legend', null,
      stacked(bars, ['pictures', 'words', 'answer'], usd, `Cost of ${plural(page.turns.length, 'bar')}; the table below has its numbers`),
      h('ul.names', null, entry('answer', 'answer', sums.usd_output), entry('words', 'words', words), entry('pictures', 'pictures', sums.usd_pictures), again > 0 ? entry('again', 'of it written again', again) : null)),
    asTable('Cost by turn', ['Turn', 'Cost', 'Pictures', 'Words', 'Answer', 'Written again', 'Tokens'], () => turns.map((turn) => [range(turn), usd(turn.usd) + (turn.reported ? '' : ' expected'), usd(turn.pictures), usd(turn.words), usd(turn.answer), usd(turn.again), count(turn.tokens)])));
}

function soFar(page: CostPage): HTMLElement {
  const labels = page.turns.map((turn) => String(turn.to));
  const all = page.policies.map((policy) => ({ kind: policy.name, values: policy.usd }));
  return h('section', null,
    h('h2', null, 'So far, and what it would have been'),
    h('.with-legend', null,
      lines(all, labels, `Cost of the input so far: ${page.policies.map((policy) => `${NAMES[policy.name] ?? line(policy.name, 20)} ${usd(policy.usd.at(-1))}`).join(', ')}`),
      h('ul.names', null, page.policies.map((policy) => h('li', { title: line(policy.text, 200) }, h(`i.stroke.${policy.name}`, { 'aria-hidden': 'true' }), h('b', null, usd(policy.usd.at(-1))), h('span.dim', null, foreign(policy.name, 20)))))),
    h('ul.sub', null, page.policies.map((policy) => h('li', null, h('b', null, foreign(policy.name, 20)), ': ', foreign(policy.text, 300)))),
    asTable('Cost so far', ['Turn', ...page.policies.map((policy) => line(policy.name, 20))], () => page.turns.map((turn, at) => [range(turn), ...page.policies.map((policy) => usd(policy.usd[at]))])));
}

/** The numbers of a chart, made when they are asked for. */
function asTable(name: string, columns: string[], rows: () => string[][]): HTMLElement {
  const box = h('.scroll-x');
  const details = h<HTMLDetailsElement>('details', null, h('summary', null, 'As a table'), box);
  details.addEventListener('toggle', () => {
    if (!details.open || box.firstChild) return;
    clear(box, h('table.plain', null, h('caption.hidden', null, name), h('thead', null, h('tr', null, columns.map((column) => h('th', { scope: 'col' }, column)))),
      h('tbody', null, rows().slice(0, 500).map(([first, ...others]) => h('tr', null, h('th', { scope: 'row' }, first), others.map((value) => h('td.number', null, value)))))));
  });
  return details;
}

function misses({ session }: Context, page: CostPage): HTMLElement {
  if (!page.misses.length) return h('section', null, h('h2', null, 'Why the cache missed'), h('p.dim', null, 'It missed in no turn: each turn begins with the bytes of the one before.'));
  return h('section.scroll-x', null,
    h('table.plain.misses', null, h('caption', null, 'Why the cache missed'),
      h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'Turn'), h('th', { scope: 'col' }, 'Reason'), h('th.number', { scope: 'col' }, 'First changed byte'), h('th.number', { scope: 'col' }, 'Written again'), h('th.number', { scope: 'col' }, 'Costs more'))),
      h('tbody', null, page.misses.slice(0, 200).map((miss) => h('tr', null,
        h('th', { scope: 'row' }, h('a.link', { href: miss.n > 1 ? to.diff(session.id, miss.n - 1, miss.n) : to.turn(session.id, miss.n), 'aria-label': `Turn ${miss.n}: compare with the turn before` }, String(miss.n))),
        h('td', null, foreign(miss.first.text, 200)), h('td.number', null, miss.first.byte ? count(miss.first.byte) : '–'),
        h('td.number', null, miss.again === undefined ? '–' : count(miss.again), !miss.reported && ' expected'), h('td.number', null, usd(miss.usd)))))),
    page.misses.length > 200 ? h('p.sub', null, `${page.misses.length - 200} more`) : null);
}

function pictures({ session }: Context, page: CostPage): HTMLElement {
  const most = Math.max(...page.pictures.map((picture) => picture.usd ?? picture.tokens), 0) || 1;
  return h('aside.side', { 'aria-label': 'Which pictures cost it' },
    h('section', null, h('h2', null, 'Which pictures cost it', h('span.push', null, usd(page.sums.usd_pictures))), h('.legend.small', null, swatch('pictures', 'cost over all turns'))),
    page.pictures.length ? null : h('section', null, h('p.dim', null, 'No picture in this session.')),
    h('.ranks', null, page.pictures.map((picture) => h('a.rank', { href: to.picture(session.id, picture.picture) },
      thumbnail(session, picture.picture),
      h('div', null, h('.ellipsis', null, h('b', null, h('span.hidden', null, 'Picture '), `#${picture.picture} `), foreign(picture.label, 60)), h('.sub', null, `${plural(picture.tokens, 'token')} in ${plural(picture.turns_shown, 'turn')}`), h('i.bar', { style: { width: `${((picture.usd ?? picture.tokens) / most) * 100}%` } })),
      h('span.number', null, usd(picture.usd))))));
}
