// What should somebody do something about?
import type { Finding, FindingPage } from './api.ts';
import { get } from './client.ts';
import { clear, h, icon } from './dom.ts';
import { moveInList } from './keys.ts';
import { foreign, segments, thumbnail } from './parts.ts';
import { to } from './route.ts';
import { state } from './states.ts';
import type { Context, View } from './view.ts';

type Group = Finding['group'];

const GROUPS: [group: Group, words: string, glyph: string][] = [
  ['blind', 'What the model could not see', 'bad'],
  ['cost', 'What cost money', 'coin'],
  ['repaired', 'What photic repaired', 'fix'],
  ['learned', 'What was learned', 'learn'],
];
const PAGE = 200;

export async function findingsView(context: Context): Promise<View> {
  const { session } = context;
  const page = await get<FindingPage>(`${session.path}/findings`);
  let only: Group | 'all' = 'all';
  const filters = h('div');
  const list = h('div');

  const draw = () => {
    const number = (group: Group) => page.items.filter((item) => item.group === group).length;
    clear(filters, segments<Group | 'all'>('Findings shown', [{ value: 'all', text: 'All', count: page.items.length }, ...GROUPS.map(([value, text]) => ({ value, text, count: number(value) }))], only, (value) => {
      only = value;
      draw();
      (filters.querySelector('[aria-pressed=true]') as HTMLElement | null)?.focus();
    }));
    if (!page.items.length) {
      clear(list, state('Nothing was found', h('p', null, 'The model could see every picture, the cache held, and nothing was repaired.')));
      return;
    }
    clear(list, GROUPS.filter(([group]) => (only === 'all' || only === group) && number(group)).map(([group, words], at) => {
      const items = page.items.filter((item) => item.group === group);
      return h('section', { 'aria-label': words },
        h('.group', null, h('h2', null, words, h('span.dim', null, ` ${items.length}`)), at === 0 && h('span.todo.dim', null, 'What to do')),
        items.slice(0, PAGE).map((item) => findingRow(context, item)),
        items.length > PAGE ? h('p.empty', null, `${items.length - PAGE} more are not listed here; \`photic session show\` lists all.`) : null);
    }));
  };
  draw();
  const element = h('div', null, h('h1.hidden', null, 'Findings'), h('.filters', null, filters, h('span.push.dim', null, 'the same codes as photic check, doctor and the log')), list);
  const move = moveInList(list, '.where a');
  return {
    element,
    title: 'Findings',
    keys: { j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1) },
    hints: [{ keys: ['j', 'k'], does: 'move' }, { keys: ['↵'], does: 'open' }],
    turnsChanged: () => context.reload(),
  };
}

function findingRow({ session }: Context, item: Finding): HTMLElement {
  const glyph = item.group === 'repaired' ? 'fix' : item.group === 'learned' ? 'learn' : item.severity === 'bad' ? 'bad' : item.severity === 'info' ? 'info' : 'warn';
  const turns = item.from === item.to ? `turn ${item.from}` : `turns ${item.from}–${item.to}`;
  const href = item.picture === undefined ? to.turn(session.id, item.from) : to.picture(session.id, item.picture, item.from);
  return h(
    'article.finding',
    null,
    h(`span.glyph.${item.severity}`, null, icon(glyph), h('span.hidden', null, item.severity === 'bad' ? 'severe' : item.severity)),
    h('div', null, h('h3', null, foreign(item.title, 200)), h('p', null, foreign(item.text, 800))),
    h('p.todo', null, item.next ? foreign(item.next, 400) : ''),
    h('.where', null, item.picture === undefined ? null : thumbnail(session, item.picture), h('a.link', { href, 'aria-label': `${turns}${item.picture === undefined ? '' : `, picture ${item.picture}`}` }, turns)),
    h('code', null, foreign(item.code, 40)),
  );
}
