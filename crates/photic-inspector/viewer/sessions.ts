// The list of sessions: which one do I want?
import type { About, SessionPage, SessionRow } from './api.ts';
import { forget, get } from './client.ts';
import { spark } from './charts.ts';
import { clear, h } from './dom.ts';
import { ago, bytes, count, line, millions, percent, plural, usd, usdShort } from './format.ts';
import { chip, foreign, segments, sessionThumbnail, stat } from './parts.ts';
import { go, to } from './route.ts';
import { Rows, tableSpace } from './rows.ts';
import { failed, noSession, state } from './states.ts';
import { moveInRows } from './keys.ts';
import type { View } from './view.ts';

const COLUMNS = ['Session', 'Model, wire', 'Turns', 'Pictures', 'Tokens in', 'From cache', 'Cost', 'Cost by turn', 'Last turn'];
const NUMBERS = ['Turns', 'Pictures', 'Tokens in', 'From cache', 'Cost', 'Last turn'];

export async function sessions(about: About, main: HTMLElement): Promise<View & { sessionsChanged: () => void }> {
  let page = await get<SessionPage>('/sessions', { limit: 100 });
  let items = page.items;
  let query = '';
  let only: 'all' | 'live' = 'all';
  let wanted = 0;
  let loading = false;
  let rows: Rows | null = null;

  const table = h('.scroll-x');
  const stats = h('dl.stats');
  const filter = h<HTMLInputElement>('input', { type: 'search', placeholder: 'Filter by title, model, id', 'aria-label': 'Filter sessions', maxlength: 200 });
  const choices = h('div');
  const element = h(
    'div',
    null,
    h('h1.hidden', null, 'Sessions'),
    stats,
    h('.filters', null, filter, choices, h('span.push.dim', null, about.door === 'file' ? 'one session, in this file' : 'newest first; texts stay on this machine')),
    table,
  );

  const listed = (): SessionRow[] => (only === 'live' ? items.filter((item) => item.live) : items);

  function drawStats(): void {
    const { totals } = page;
    clear(
      stats,
      stat('Sessions', count(totals.sessions), items.some((item) => item.live) ? `${items.filter((item) => item.live).length} live` : null),
      stat('Pictures', count(totals.pictures), `each kept once, ${bytes(totals.bytes)}`),
      stat('Input tokens', millions(totals.tokens)),
      stat('Cost', totals.usd === undefined ? '–' : usdShort(totals.usd), totals.unpriced ? `${totals.unpriced} of ${totals.sessions} with no price` : null),
    );
    clear(choices, segments('Sessions shown', [{ value: 'all', text: 'All' }, { value: 'live', text: 'Live' }], only, (value) => {
      only = value;
      draw();
    }));
  }

  function draw(): void {
    const focused = table.contains(document.activeElement) ? document.activeElement?.getAttribute('href') : null;
    drawTable();
    if (focused) [...table.querySelectorAll<HTMLElement>('a')].find((link) => link.getAttribute('href') === focused)?.focus();
  }

  function drawTable(): void {
    rows?.close();
    rows = null;
    drawStats();
    if (!items.length && !query) {
      clear(table, noSession());
      return;
    }
    if (!listed().length) {
      clear(table, state('No session is like this', h('p', null, query ? 'No title, model or id has these letters.' : 'No session had a turn within the last minute.')));
      return;
    }
    const body = h('tbody');
    clear(
      table,
      h('table.sessions', { 'aria-rowcount': listed().length + 1 },
        h('caption.hidden', null, 'Sessions, newest first'),
        h('thead', null, h('tr', null, h('td', { 'aria-hidden': 'true' }), COLUMNS.map((name) => h(NUMBERS.includes(name) ? 'th.number' : 'th', { scope: 'col' }, name)))),
        body),
    );
    rows = new Rows({ body, space: tableSpace(COLUMNS.length + 1), height: 52, count: () => listed().length, make: (at) => sessionRow(listed()[at] as SessionRow, at), scroller: main, prepare: (_, last) => {
      void more(last);
      return false;
    } });
  }

  async function more(last: number): Promise<void> {
    if (loading || !page.next || last < items.length - 20) return;
    loading = true;
    try {
      const before: string = page.next;
      const next = await get<SessionPage>('/sessions', { limit: 100, before, q: query || undefined });
      page = { ...page, next: next.next as string };
      if (!next.next) delete page.next;
      items = [...items, ...next.items];
      rows?.update();
    } finally {
      loading = false;
    }
  }

  async function fetchAgain(): Promise<void> {
    const mine = (wanted += 1);
    forget('/sessions?');
    forget('/sessions/');
    try {
      const next = await get<SessionPage>('/sessions', { limit: 100, q: query || undefined });
      if (mine !== wanted) return;
      page = next;
      items = next.items;
      draw();
    } catch (failure) {
      if (mine === wanted) clear(table, failed(failure, () => void fetchAgain()));
    }
  }

  let timer = 0;
  filter.addEventListener('input', () => {
    query = filter.value.trim();
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      if (about.door === 'file') {
        const words = query.toLowerCase();
        items = page.items.filter((item) => `${item.title} ${item.model ?? ''} ${item.id}`.toLowerCase().includes(words));
        draw();
      } else void fetchAgain();
    }, 150);
  });

  const move = moveInRows(() => rows, () => listed().length);
  return {
    element,
    title: 'Sessions',
    keys: { j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1) },
    hints: [{ keys: ['j', 'k'], does: 'move' }, { keys: ['↵'], does: 'open' }],
    placed: draw,
    close: () => {
      rows?.close();
      window.clearTimeout(timer);
    },
    sessionsChanged: () => void fetchAgain(),
  };
}

function sessionRow(row: SessionRow, at: number): HTMLElement {
  const all = row.reported === row.turns;
  return h(
    'tr.click',
    { 'aria-rowindex': at + 2, on: { click: (event) => { if (!(event.target as Element).closest('a')) go(to.timeline(row.id)); } } },
    h('td.picture', null, sessionThumbnail(row.id, row.thumb)),
    h('th', { scope: 'row' },
      h('.ellipsis', null, h('a.strong', { href: to.timeline(row.id), 'aria-label': `${line(row.title, 120) || 'without a title'}, ${plural(row.turns, 'turn')}` }, row.title ? foreign(row.title, 160) : 'without a title')),
      h('.sub.row', null, row.live && chip('ok', 'live'), h('span.mono', null, line(row.id, 40)))),
    h('td', null, h('.ellipsis', null, row.model ? foreign(row.model, 60) : '–'), h('.sub', null, row.wire ? foreign(row.wire, 60) : '')),
    h('td.number', null, count(row.turns)),
    h('td.number', null, count(row.pictures)),
    h('td.number', null, count(row.tokens), !all && h('.sub', null, 'expected')),
    h('td.number', null, row.read === undefined ? h('span.dim', null, '–') : percent(row.read, row.tokens)),
    h('td.number', null, row.usd === undefined ? h('span.dim', null, 'no price') : usdShort(row.usd), row.usd !== undefined && row.unpriced > 0 && h('.sub', null, `${plural(row.unpriced, 'turn')} with no price`)),
    h('td', null, spark(row.spark, row.usd === undefined ? 'tokens by turn' : `cost by turn, ${usd(row.usd)} in all`)),
    h('td.number.dim', null, ago(row.last / 1000, Date.now() / 1000)),
  );
}
