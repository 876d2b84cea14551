// What stands beside a turn: tokens, cache, decisions, the request.
import type { DecisionGroup, Turn } from './api.ts';
import { BASE } from './api.ts';
import { file } from './client.ts';
import { h } from './dom.ts';
import { bytes, count, percent, plural, seconds, usd } from './format.ts';
import { chip, foreign, terms } from './parts.ts';
import { to } from './route.ts';
import type { Context } from './view.ts';

export function turnSide(context: Context, turn: Turn): HTMLElement {
  const { session } = context;
  const links = (['client', 'model', ...(turn.has_reply ? ['reply'] : [])] as const).map((side) =>
    h('a.link', { href: `${BASE}${session.path}/turns/${turn.n}/body?side=${side}`, download: '' }, side === 'client' ? 'from the agent' : side === 'model' ? 'to the model' : 'the reply'));
  return h(
    'aside.side',
    { 'aria-label': `Facts of turn ${turn.n}` },
    tokens(turn),
    section('Cache', CACHE[turn.cache.state], cache(context, turn)),
    section('What photic did', plural(turn.decisions.reduce((sum, one) => sum + one.count, 0), 'change'), decisions(context, turn)),
    section('Request', null, request(turn)),
    turn.tries.length > 1 || turn.failed || turn.tries.some((one) => one.class) ? section('Tries', plural(turn.tries.length, 'request'), tries(turn)) : null,
    turn.headers.length ? section('Headers', 'keys and cookies are never kept', h('dl.terms.mono', null, turn.headers.slice(0, 40).map(([name, value]) => [h('dt', null, foreign(name, 60)), h('dd', null, foreign(value, 300))]))) : null,
    file ? null : section('Bodies', null, h('.row.wrap', null, 'Save the body', ...links)),
  );
}

export function section(title: string, more: string | null | undefined, ...children: (Node | null)[]): HTMLElement {
  return h('section', null, h('h2', null, title, more ? h('span.push', null, more) : null), ...children);
}

const CACHE: Record<Turn['cache']['state'], string> = {
  nothing_yet: 'first turn', whole: 'whole', broken: 'broken', unmarked: 'no mark', unknown: 'not known',
};

function tokens(turn: Turn): HTMLElement {
  const { read = 0, written = 0, again = 0, rest = 0, output = 0, reasoning, input, expected } = turn.tokens;
  const parts = turn.usd_parts ?? {};
  const rows: [kind: string, name: string, tokens: number, usd: number | undefined][] = [
    ['read', 'read from the cache', read, parts.read],
    ['again', 'written again', again, parts.again],
    ['written', 'written, new', written - again, parts.written === undefined ? undefined : parts.written - (parts.again ?? 0)],
    ['rest', 'not kept', rest, parts.rest],
    ['answer', 'answer', output, parts.output],
  ];
  const told = rows.filter(([, , amount]) => amount > 0);
  const all = told.reduce((sum, [, , amount]) => sum + amount, 0);
  if (!turn.reported) {
    return section('Tokens and cost', usd(turn.usd),
      h('p', null, chip('info', 'expected'), ` ${count(expected)} tokens`),
      h('p.sub', null, turn.failed ? 'The model did not answer.' : 'The provider reported no usage for this turn: the numbers are what the plan expected.'));
  }
  return section(
    'Tokens and cost', usd(turn.usd),
    h('.bar-row', { 'aria-hidden': 'true' }, told.map(([kind, , amount]) => h(`i.${kind}`, { style: { 'flex-grow': amount } }))),
    h('table.plain', null, h('caption.hidden', null, 'Tokens and cost of this turn'), h('thead.hidden', null, h('tr', null, h('th', { scope: 'col' }, 'Kind'), h('th', { scope: 'col' }, 'Tokens'), h('th', { scope: 'col' }, 'Cost'))),
      h('tbody', null, told.map(([kind, name, amount, cost]) => h('tr', null, h('th', { scope: 'row' }, h(`i.swatch.${kind}`, { 'aria-hidden': 'true' }), name), h('td.number', null, count(amount)), h('td.number.dim', null, usd(cost)))))),
    h('p.sub', null,
      all && input !== undefined ? `${count(input)} in${parts.pictures === undefined || !turn.usd ? '' : `, ${percent(parts.pictures, turn.usd)} of the cost for pictures`}. ` : '',
      reasoning ? `${count(reasoning)} of the answer were reasoning. ` : '',
      `The plan expected ${count(expected)} tokens${turn.expected_usd === undefined ? '' : `, ${usd(turn.expected_usd)}`}. `,
      turn.estimate_off ? foreign(turn.estimate_off, 300) : ''),
  );
}

function cache({ session }: Context, turn: Turn): HTMLElement {
  return h('div', null,
    h('p', null, foreign(turn.cache.text, 600)),
    turn.first ? h('p.sub', null, turn.first.byte === undefined ? null : `First changed byte ${count(turn.first.byte)}${turn.first.message === undefined ? '' : `, message ${turn.first.message}`}. `, turn.n > 1 ? h('a.link', { href: to.diff(session.id, turn.n - 1, turn.n) }, `Compare with turn ${turn.n - 1}`) : null) : null);
}

function decisions({ session }: Context, turn: Turn): HTMLElement {
  if (!turn.decisions.length) return h('p.dim', null, 'Nothing: the body went on as it came.');
  return h('ol.decisions', null, turn.decisions.map((decision: DecisionGroup, at) => h('li', null,
    h('span.tag', null, decision.did.startsWith('mark') ? 'M' : String(at + 1)),
    h('a', { href: to.turn(session.id, turn.n, 'wire') }, h('b', null, foreign(decision.text, 120))),
    h('code', null, foreign(decision.did, 30)),
    h('p', null, foreign(decision.why, 300), decision.as_before ? `; as in turn ${turn.n - 1}` : null))));
}

function request(turn: Turn): HTMLElement {
  const { request: one } = turn;
  const status = turn.status ?? (turn.failed ? undefined : turn.reported ? 200 : undefined);
  return terms([
    ['Model', turn.model ? foreign(turn.model, 100) : null],
    ['Wire', [foreign(turn.wire, 40), one.sent_wire && one.sent_wire !== turn.wire ? [' to ', foreign(one.sent_wire, 40)] : null]],
    ['Upstream', one.host ? foreign(one.host, 120) : null],
    ['Client', one.agent ? foreign(one.agent, 160) : null],
    ['Answer', status === undefined && one.first_byte_ms === undefined ? null : [status === undefined ? '' : String(status), one.first_byte_ms === undefined ? null : h('span.dim', null, `, first byte ${seconds(one.first_byte_ms)}`), one.ended && one.ended !== 'complete' ? [', ', foreign(one.ended, 60)] : null]],
    ['Bytes', `${one.bytes_in === undefined ? '' : `${count(one.bytes_in)} in, `}${count(one.bytes_sent)} sent`],
    ['Request id', one.id ? h('code', null, foreign(one.id, 80)) : null],
    ['Made again', [one.reproduced === 'yes' ? chip('ok', 'byte for byte') : chip(one.reproduced === 'no' ? 'warn' : 'info', one.reproduced === 'no' ? 'not byte for byte' : 'not tried'), ' ', h('code.dim', null, foreign(one.digest, 12))]],
  ]);
}

function tries(turn: Turn): HTMLElement {
  return h('ol.tries', null, turn.tries.slice(0, 20).map((one) => h('li', null,
    chip(one.status !== undefined && one.status < 300 ? 'ok' : 'bad', one.status === undefined ? 'no answer' : String(one.status)), ' ',
    one.class ? h('code', null, foreign(one.class, 60)) : null,
    h('span.dim', null, [one.bytes === undefined ? '' : ` ${bytes(one.bytes)}`, one.ms === undefined ? '' : `, ${seconds(one.ms)}`].join('')),
    one.says ? h('p', null, '“', foreign(one.says, 500), '”') : null)));
}
