// What is around a view: header, tabs, banner, footer.
import type { About } from './api.ts';
import { file } from './client.ts';
import { byId, clear, h, icon, logo } from './dom.ts';
import { line } from './format.ts';
import type { Connection } from './live.ts';
import { chip, foreign, key } from './parts.ts';
import { to } from './route.ts';
import type { Route } from './route.ts';
import type { Context, KeyHint, View } from './view.ts';

export interface Shell {
  route: Route;
  about: About | null;
  context: Context | null;
  view: View | null;
  connection: Connection;
  follow: boolean;
  /** Requests under way. */
  open: number;
  actions: { jump: () => void; export: () => void; keys: () => void; follow: () => void; retry: () => void };
}

/** Where each tab leads from this turn. */
export function tabs(context: Context): [name: string, href: string, view: string][] {
  const { session, turn } = context;
  const at = Math.max(1, Math.min(turn, session.total));
  const fates = session.row(at)?.fates ?? '';
  const newest = Math.max(1, Math.min(session.facts.pictures, fates.length || session.facts.pictures));
  return [
    ['Timeline', to.timeline(session.id), 'timeline'],
    ['Turn', to.turn(session.id, at), 'turn'],
    ['Pictures', to.picture(session.id, newest, fates.length ? at : undefined), 'picture'],
    ['Compare', to.diff(session.id, at > 1 ? at - 1 : 1, at > 1 ? at : Math.min(2, session.total)), 'diff'],
    ['Cost', to.cost(session.id), 'cost'],
    ['Findings', to.findings(session.id), 'findings'],
  ];
}

export function drawHeader(shell: Shell): void {
  const { context, route, about, actions, connection } = shell;
  const session = context?.session ?? null;
  const live = connection.state === 'open' && (session === null || session.facts.live);
  const bar = h('.bar', null,
    h('a.brand', { href: to.sessions() }, logo(), h('b', null, 'photic'), h('span', null, 'inspector')),
    session ? h('nav.crumbs', { 'aria-label': 'Where this is' }, h('span', { 'aria-hidden': 'true' }, '/'), h('a', { href: to.sessions() }, 'Sessions'), h('span', { 'aria-hidden': 'true' }, '/'), h('b.ellipsis', null, session.facts.title ? foreign(session.facts.title, 160) : 'without a title'), h('code', null, line(session.id, 40))) : null,
    h('span.push'),
    file ? chip('info', 'a file') : null,
    live ? h('span.live', null, shell.open > 0 ? `live, ${shell.open} open` : 'live') : null,
    session && about?.events && !file ? h('button.button', { type: 'button', 'aria-pressed': String(shell.follow), on: { click: actions.follow } }, 'Follow') : null,
    h('button.button.jump-button', { type: 'button', on: { click: actions.jump } }, icon('search'), h('span', null, session ? 'Jump to turn, picture, text' : 'Jump to a session'), key('/')),
    session && !file ? h('button.button', { type: 'button', on: { click: actions.export } }, icon('down'), h('span.wide', null, 'Export')) : null,
    h('button.button.square', { type: 'button', on: { click: actions.keys } }, '?', h('span.hidden', null, ' Keyboard')));
  const nav = context && session ? h('.tabs', null,
    h('nav', { 'aria-label': 'Views of this session' }, tabs(context).map(([name, href, view]) => {
      const number = view === 'findings' ? Object.values(session.facts.findings).reduce((sum, one) => sum + one, 0) : 0;
      return h('a', { href, 'aria-current': route.view === view ? 'page' : null }, name, number > 0 && h('i', null, String(number)));
    })),
    h('.context', null, shell.view?.context ?? [])) : null;
  const top = byId('top');
  const focused = [...top.querySelectorAll('a,button')].indexOf(document.activeElement as Element);
  clear(top, bar, nav, banner(shell));
  if (focused >= 0) [...top.querySelectorAll<HTMLElement>('a,button')][focused]?.focus();
}

function banner({ connection, actions }: Shell): HTMLElement | null {
  if (connection.state !== 'lost') return null;
  return h('.banner', null, icon('warn'),
    h('span', null, `photic does not answer since ${connection.since.toLocaleTimeString('en-GB')}. What is here stays readable. Tries again in ${connection.again} s; missed turns are fetched then.`),
    h('button.button.push', { type: 'button', on: { click: actions.retry } }, 'Try again'));
}

export function drawFooter(shell: Shell): void {
  const hints: KeyHint[] = [...(shell.view?.hints ?? []), { keys: ['?'], does: 'all keys' }];
  const { about } = shell;
  const where = !about ? '' : about.door === 'file' ? `a file, written by photic ${line(about.version, 20)}` : `${about.address ? `${line(about.address, 60)}; ` : ''}photic ${line(about.version, 20)}`;
  clear(byId('foot'), hints.map(({ keys, does }) => h('span', null, keys.map(key), does)), h('span.push', null, where));
}
