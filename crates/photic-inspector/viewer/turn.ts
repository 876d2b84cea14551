// A turn: what did the model get, and what did it say?
import type { MessagePage, Turn } from './api.ts';
import { ApiFailure, file, get } from './client.ts';
import { clear, h } from './dom.ts';
import { clock, count, line, plural, seconds } from './format.ts';
import { changes } from './changes.ts';
import { messageBlock, messageLine, textBlock } from './messages.ts';
import type { MessageContext } from './messages.ts';
import { foreign, noteBox, segments, thumbnail } from './parts.ts';
import { turnRail } from './rail.ts';
import { go, to } from './route.ts';
import type { TurnSide } from './route.ts';
import { shown } from './session.ts';
import { failed, skeleton, state } from './states.ts';
import { steps } from './steps.ts';
import { turnSide } from './turn-side.ts';
import type { Context, View } from './view.ts';

const PAGE = 50;

export async function turnView(context: Context, number: number, side: TurnSide): Promise<View> {
  const { session } = context;
  await session.loadTurns(number);
  const turn = await get<Turn>(`${session.path}/turns/${number}`);
  context.turn = number;
  const rail = turnRail(context, number, side);
  const content = h('div', null, skeleton());
  const choose = (value: TurnSide) => go(to.turn(session.id, number, value));
  const changed = turn.decisions.reduce((sum, decision) => sum + decision.count, 0);
  const name = line(turn.came, 80);
  const element = h(
    '.panes',
    null,
    rail.element,
    h('section.middle', { 'aria-label': `Turn ${number}` },
      h('.head', null,
        h('.row.wrap', null,
          h('h1', null, `Turn ${number}`),
          h('span.ellipsis.grow', null, foreign(turn.came || '–', 120), h('span.dim', null, ` ${clock(turn.at / 1000)}${turn.request.total_ms === undefined ? '' : `, ${seconds(turn.request.total_ms)}`}`)),
          segments('Side', [{ value: 'model', text: 'As the model got it' }, { value: 'client', text: 'As the agent sent it' }, { value: 'wire', text: 'What changed', count: changed }], side, choose)),
        side === 'wire' ? null : warnings(context, turn)),
      content),
    turnSide(context, turn),
  );

  const load = () => {
    clear(content, skeleton());
    const filled = side === 'wire' ? changes(context, turn) : messages(context, turn, side);
    filled.then(
      (children) => clear(content, children),
      (failure: unknown) => clear(content, failure instanceof ApiFailure && failure.code === 'not_reproduced' ? notReproduced(context, turn, content, failure) : failed(failure, load, session.id)),
    );
  };
  load();

  const earlier = () => (content.querySelector('[data-earlier]') as HTMLElement | null)?.click();
  const newest = turn.pictures.filter((picture) => shown(picture.letter)).at(-1) ?? turn.pictures.at(-1);
  return {
    element,
    title: `Turn ${number}${name ? `: ${name.slice(0, 40)}` : ''}`,
    keys: {
      m: () => choose('model'), c: () => choose('client'), w: () => choose('wire'), o: earlier,
      p: () => newest && go(to.picture(session.id, newest.picture, number)),
      '[': () => number > 1 && go(to.turn(session.id, number - 1, side)),
      ']': () => number < session.total && go(to.turn(session.id, number + 1, side)),
      j: () => number < session.total && go(to.turn(session.id, number + 1, side)),
      k: () => number > 1 && go(to.turn(session.id, number - 1, side)),
      x: () => {
        if (context.marked !== null && context.marked !== number) {
          const [a, b] = [Math.min(context.marked, number), Math.max(context.marked, number)];
          context.marked = null;
          go(to.diff(session.id, a, b));
        } else {
          context.marked = number;
          context.say(`Turn ${number} is marked; mark another one to compare`);
        }
      },
    },
    hints: [
      { keys: ['[', ']'], does: 'turn before, after' }, { keys: ['m', 'c', 'w'], does: 'model, agent, what changed' }, { keys: ['o'], does: 'earlier messages' }, { keys: ['p'], does: 'picture' },
    ],
    context: steps(number > 1 ? to.turn(session.id, number - 1, side) : null, number < session.total ? to.turn(session.id, number + 1, side) : null, h('b', null, `Turn ${number}`), h('span.dim', null, ` of ${session.total}`)),
    placed: rail.placed,
    turnsChanged: (rows) => {
      rail.update();
      if (rows.some((row) => row.n === number || row.n === number + 1)) context.reload();
    },
    close: rail.close,
  };
}

function warnings({ session }: Context, turn: Turn): HTMLElement[] {
  return turn.warnings.slice(0, 3).map((finding) => noteBox(
    finding.severity === 'bad' ? 'bad' : 'warn',
    h('b', null, foreign(finding.title, 160), '.'), ' ', foreign(finding.text, 400), ' ',
    finding.picture !== undefined && h('a.link', { href: to.picture(session.id, finding.picture, turn.n) }, 'Look at it'), ' ',
    h('a.link', { href: to.findings(session.id) }, 'What to do'),
  ));
}

function notReproduced(context: Context, turn: Turn, content: HTMLElement, failure: ApiFailure): HTMLElement[] {
  const { session } = context;
  const now = () => {
    messages(context, turn, 'model', 'now').then((children) => clear(content, children), (again: unknown) => clear(content, failed(again, now, session.id)));
  };
  return [
    h('.bannerlike', null, noteBox('warn', `This version of photic makes another body for turn ${turn.n} than the one that recorded it.`)),
    state(
      'What the model got is not known byte for byte',
      h('p', null, failure.message), h('p.dim', null, failure.next ?? 'What the agent sent is known. The difference is not shown as if it were certain.'),
      h('.row', null, h('a.button', { href: to.turn(session.id, turn.n, 'client') }, 'As the agent sent it'), file ? null : h('button.button', { type: 'button', on: { click: now } }, 'What this version would send')),
    ),
  ];
}

async function messages(context: Context, turn: Turn, side: 'model' | 'client', as?: 'now'): Promise<HTMLElement[]> {
  const { session, about } = context;
  const path = `${session.path}/turns/${turn.n}/messages`;
  const page = (from: number) => get<MessagePage>(path, { side, from, limit: PAGE, as });
  const inner: MessageContext = { session, turn, side, minLetters: about.min_x_height };
  const first = await page(0);
  const start = first.new_from;
  const known = new Map(first.items.map((message) => [message.index, message]));
  const fetched = async (from: number, to_: number) => {
    for (let at = from; at < to_; at += 1) {
      if (known.has(at)) continue;
      const next = await page(at);
      for (const message of next.items) known.set(message.index, message);
      if (!next.items.length) break;
    }
    return Array.from({ length: Math.max(0, to_ - from) }, (_, at) => known.get(from + at)).filter((message) => message !== undefined);
  };

  const newTo = Math.min(first.total, start + PAGE);
  const fresh = await fetched(start, newTo);
  const list = h('div');
  const earlier = h('div', { hidden: true });
  const toggle = h('button.link', { type: 'button', 'aria-expanded': 'false', 'data-earlier': '' }, `Show ${plural(start, 'earlier message')}`);
  let shownFrom = start;
  const older = h('button.link', { type: 'button' }, '');
  const lines = h('div');
  const moreEarlier = async () => {
    const from = Math.max(0, shownFrom - PAGE);
    const rows = await fetched(from, shownFrom);
    lines.prepend(...rows.map((message) => messageLine(inner, message)));
    shownFrom = from;
    older.textContent = `Show ${plural(Math.min(PAGE, shownFrom), 'message')} before these`;
    older.hidden = shownFrom === 0;
  };
  older.addEventListener('click', () => void moreEarlier());
  earlier.append(h('.separator', null, older), lines);
  toggle.addEventListener('click', () => {
    earlier.hidden = !earlier.hidden;
    toggle.setAttribute('aria-expanded', String(!earlier.hidden));
    toggle.textContent = earlier.hidden ? `Show ${plural(start, 'earlier message')}` : 'Hide earlier messages';
    if (shownFrom === start && start > 0) void moreEarlier();
  });

  const system = h('div', { hidden: true });
  const systemButton = h('button.link', { type: 'button', 'aria-expanded': 'false' }, 'Show');
  systemButton.addEventListener('click', () => {
    system.hidden = !system.hidden;
    systemButton.setAttribute('aria-expanded', String(!system.hidden));
    systemButton.textContent = system.hidden ? 'Show' : 'Hide';
  });
  if (first.system) system.append(h('article.message', null, h('span.index'), h('span.role.system', null, 'system'), h('.parts', null, textBlock(first.system))));
  if (first.tools?.length) system.append(h('article.message', null, h('span.index'), h('span.role.system', null, 'tools'), h('.parts.inline', null, first.tools.slice(0, 200).map((tool) => h('code.call', null, foreign(tool, 80))))));
  const about_system = [first.system && 'system', first.tools?.length && plural(first.tools.length, 'tool')].filter(Boolean).join(', ');

  const sight = turn.pictures.filter((picture) => shown(picture.letter) && picture.message !== undefined && picture.message < start);
  const rest = first.total - newTo;
  const more = h('button.link', { type: 'button' }, `Show ${plural(rest, 'more message')}`);
  let at = newTo;
  more.addEventListener('click', async () => {
    const next = Math.min(first.total, at + PAGE);
    for (const message of await fetched(at, next)) list.append(messageBlock(inner, message, true));
    at = next;
    more.textContent = `Show ${plural(first.total - at, 'more message')}`;
    more.hidden = at >= first.total;
  });
  for (const message of fresh) list.append(messageBlock(inner, message, true));

  return [
    first.made_now ? h('.bannerlike', null, noteBox('warn', 'This is what this version of photic would send. What was sent is not known byte for byte.')) : h('span'),
    h('.separator', null,
      start > 0 ? toggle : h('span', null, 'Nothing came before this turn'),
      start > 0 && turn.tokens.read ? h('span.dim', null, `${count(turn.tokens.read)} tokens read from the cache`) : null,
      about_system ? h('span.push', null, about_system, ' ', systemButton) : null),
    system,
    earlier,
    sight.length && side === 'model' ? inSight(context, turn, sight.map((picture) => picture.picture)) : h('span'),
    h('.separator', null, h('h2', null, 'New in this turn'), turn.new_tokens === undefined ? null : h('span.dim', null, `${plural(turn.new_tokens, 'token')}`)),
    list,
    rest > 0 ? h('.separator', null, more) : h('span'),
    ...(await answer(context, turn, inner)),
  ];
}

function inSight({ session }: Context, turn: Turn, pictures: number[]): HTMLElement {
  const newest = pictures.slice(-MAX_SIGHT);
  const tokens = new Map(turn.pictures.map((picture) => [picture.picture, picture.tokens]));
  return h('.message', null, h('span.index'), h('span.role', null, 'in sight'), h('.sight', null,
    pictures.length > newest.length && h('span.dim', null, `+${pictures.length - newest.length} earlier`),
    newest.map((picture) => h('a', { href: to.picture(session.id, picture, turn.n) }, thumbnail(session, picture), h('span.row', null, h('span', null, h('span.hidden', null, 'Picture '), `#${picture}`, h('span.hidden', null, ` ${line(session.label(picture), 60)}, tokens: `)), h('span.push', null, tokens.get(picture) === undefined ? '' : count(tokens.get(picture) ?? 0)))))));
}

const MAX_SIGHT = 24;

/** What the model answered: the recorded reply, or what the next turn repeats of it. */
async function answer(context: Context, turn: Turn, inner: MessageContext): Promise<HTMLElement[]> {
  const { session } = context;
  const output = turn.tokens.output === undefined ? '' : `; ${plural(turn.tokens.output, 'token')}`;
  const block = (said: string, items: MessagePage['items']) => [
    h('.separator', null, h('h2', null, 'The model answered'), h('span.dim', null, said + output)),
    ...items.map((message) => messageBlock({ ...inner, side: 'client' }, message, false)),
  ];
  try {
    if (turn.has_reply) {
      const reply = await get<MessagePage>(`${session.path}/turns/${turn.n}/messages`, { side: 'reply' });
      return block('as recorded', reply.items);
    }
    if (turn.n < session.total) {
      const [mine, next] = await Promise.all([
        get<MessagePage>(`${session.path}/turns/${turn.n}/messages`, { side: 'client', from: 0, limit: 1 }),
        get<MessagePage>(`${session.path}/turns/${turn.n + 1}/messages`, { side: 'client', from: 0, limit: PAGE }),
      ]);
      const begins = next.items.length ? next.new_from : 0;
      const page = begins >= PAGE ? await get<MessagePage>(`${session.path}/turns/${turn.n + 1}/messages`, { side: 'client', from: begins, limit: PAGE }) : next;
      const said = page.items.filter((message) => message.index >= Math.max(begins, mine.total) && message.role === 'assistant').slice(0, 4);
      if (said.length) return block(`known since turn ${turn.n + 1}, which repeats it`, said);
    }
  } catch (failure) {
    if (!(failure instanceof ApiFailure)) throw failure;
  }
  const why = turn.failed ? 'The model did not answer this turn.' : turn.n === session.total ? 'The next turn repeats it; then it shows here. With `[record] replies = true` it is kept at once.' : 'It is not part of the record.';
  return [h('.separator', null, h('h2', null, 'The model answered'), h('span.dim', null, output.slice(2))), h('p.empty', null, why)];
}
