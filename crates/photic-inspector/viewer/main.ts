// The page: which view is shown, keys, and what is new.
import type { About, EventName, Events } from './api.ts';
import { ApiFailure, file, forget, get, post } from './client.ts';
import { compareView } from './compare.ts';
import { costView } from './cost.ts';
import { dialogOpen, openExport, openKeys } from './dialogs.ts';
import { byId, clear } from './dom.ts';
import { findingsView } from './findings.ts';
import { line } from './format.ts';
import { openJump } from './jump.ts';
import { keyName } from './keys.ts';
import { Live } from './live.ts';
import { throttled } from './parts.ts';
import { hidePeek } from './peek.ts';
import { pictureView } from './picture.ts';
import { go, hasSession, parse, to } from './route.ts';
import type { Route } from './route.ts';
import { OpenSession } from './session.ts';
import { sessions } from './sessions.ts';
import { drawFooter, drawHeader, tabs } from './shell.ts';
import type { Shell } from './shell.ts';
import { failed, noPictures, skeleton } from './states.ts';
import { timeline } from './timeline.ts';
import { turnView } from './turn.ts';
import type { Context, View } from './view.ts';

const main = byId('main');
let live: Live | null = null;
let listening: string | null | undefined;
let shows = 0;
let sessionsChanged: (() => void) | null = null;
const under_way = new Set<number>();

const shell: Shell = {
  route: { view: 'sessions' }, about: null, context: null, view: null, connection: { state: 'off' }, follow: false, open: 0,
  actions: {
    jump: () => { if (!dialogOpen()) openJump(shell.context?.session ?? null); },
    export: () => { if (!dialogOpen() && shell.context && !file) openExport(shell.context.session, shell.context.turn); },
    keys: () => { if (!dialogOpen()) openKeys(); },
    follow: () => {
      shell.follow = !shell.follow;
      say(shell.follow ? 'The newest turn is followed' : 'Not followed any more');
      drawHeader(shell);
      if (shell.follow && shell.context) followNewest(shell.context);
    },
    retry: () => live?.retry(),
  },
};

// Politely, and at most once a second.
let saying = '';
const sayLater = throttled(1000, () => {
  byId('say').textContent = saying;
});
function say(text: string): void {
  saying = text;
  sayLater();
}

function followNewest(context: Context): void {
  const { route } = shell;
  if (route.view === 'turn') go(to.turn(context.session.id, context.session.total, route.side));
  else if (route.view === 'timeline') shell.view?.turnsChanged?.([]);
}

async function enter(): Promise<void> {
  const token = /^#token=([\w-]{22,})$/.exec(location.hash)?.[1];
  if (!token || file) return;
  history.replaceState(null, '', location.pathname + location.search + to.sessions());
  await post('/enter', { token });
}

async function show(): Promise<void> {
  const mine = (shows += 1);
  const route = parse(location.hash);
  const same = JSON.stringify(route) === JSON.stringify(shell.route) && shell.view !== null;
  const scrolled = scrollPositions();
  const waiting = window.setTimeout(() => {
    // A later view may be in place already.
    if (!same && mine === shows) place({ element: skeleton(), title: 'Loading' }, route, false);
  }, 150);
  try {
    shell.about ??= await get<About>('/about');
    listen(hasSession(route) ? route.session : null);
    const context = hasSession(route) ? await contextOf(route.session) : null;
    if (mine !== shows) return;
    const before = shell.context;
    shell.context = context;
    let view: View;
    try {
      view = await viewOf(route, context, shell.about);
    } catch (failure) {
      if (before === null) shell.context = context;
      throw failure;
    }
    if (mine !== shows) {
      view.close?.();
      return;
    }
    place(view, route, !same);
    if (same) restoreScroll(scrolled);
  } catch (failure) {
    if (mine !== shows) return;
    if (!(failure instanceof ApiFailure)) console.error(failure);
    place({ element: failed(failure, () => void reload(), hasSession(route) ? route.session : undefined), title: 'Not shown' }, route, !same);
  } finally {
    window.clearTimeout(waiting);
  }
}

const SCROLLERS = ['#main', '.middle', '.side', '.rail'];
function scrollPositions(): number[] {
  return SCROLLERS.map((name) => document.querySelector(name)?.scrollTop ?? 0);
}
function restoreScroll(positions: number[]): void {
  SCROLLERS.forEach((name, at) => document.querySelector(name)?.scrollTo({ top: positions[at] ?? 0 }));
}

async function contextOf(id: string): Promise<Context> {
  if (shell.context?.session.id === id) return shell.context;
  const session = new OpenSession(id);
  await session.open();
  return { about: shell.about as About, session, main, turn: 1, marked: null, say, reload: throttled(250, () => void reload()) };
}

async function viewOf(route: Route, context: Context | null, about: About): Promise<View> {
  sessionsChanged = null;
  if (context === null || !hasSession(route)) {
    if (route.view === 'unknown') throw new ApiFailure('not_found', 'No view has this address.', 'Open a session from the list.');
    const view = await sessions(about, main);
    sessionsChanged = throttled(1000, view.sessionsChanged);
    return view;
  }
  switch (route.view) {
    case 'turn':
      return turnView(context, route.turn, route.side);
    case 'picture':
      return context.session.facts.pictures === 0 ? { element: noPictures(), title: 'Pictures' } : pictureView(context, route.picture, route.turn);
    case 'diff':
      return compareView(context, route.a, route.b);
    case 'cost':
      return costView(context);
    case 'findings':
      return findingsView(context);
    default:
      return timeline(context, () => shell.follow);
  }
}

function place(view: View, route: Route, focus: boolean): void {
  shell.view?.close?.();
  hidePeek();
  shell.view = view;
  shell.route = route;
  clear(main, view.element);
  main.dataset['shows'] = location.hash;
  if (focus) main.scrollTop = 0;
  drawHeader(shell);
  drawFooter(shell);
  const title = shell.context && hasSession(route) && route.view !== 'timeline' ? ` · ${line(shell.context.session.facts.title, 40) || shell.context.session.id}` : '';
  document.title = `${view.title}${title} · photic inspector`;
  view.placed?.();
  if (focus && !dialogOpen()) main.focus({ preventScroll: true });
}

async function reload(): Promise<void> {
  forget('/');
  await show();
}

function listen(session: string | null): void {
  if (file || !shell.about?.events || listening === session) return;
  live?.close();
  listening = session;
  under_way.clear();
  shell.open = 0;
  live = new Live(session, {
    event,
    connection: (connection) => {
      const was = shell.connection.state;
      shell.connection = connection;
      if (connection.state === 'lost' && was === 'lost') {
        // The countdown alone changes: the focus stays where it is.
        const text = document.querySelector('.banner span');
        if (text) text.textContent = text.textContent?.replace(/in \d+ s/, `in ${connection.again} s`) ?? '';
        return;
      }
      if (connection.state === 'lost') say('photic does not answer. What is here stays readable.');
      if (connection.state === 'open' && was === 'lost') say('photic answers again.');
      drawHeader(shell);
    },
    caughtUp: () => void catchUp(),
  });
}

const redrawHeader = throttled(100, () => drawHeader(shell));

const refreshFacts = throttled(700, () => {
  const context = shell.context;
  if (!context) return;
  const { session } = context;
  const pictures = session.facts.pictures;
  session.refresh().then(
    async () => {
      if (session.facts.pictures > pictures) await session.morePictures();
      if (shell.context !== context) return;
      shell.view?.factsChanged?.();
      if (session.facts.pictures > pictures) shell.view?.turnsChanged?.([]);
      redrawHeader();
    },
    () => undefined,
  );
});

async function catchUp(): Promise<void> {
  const { context } = shell;
  if (!context) {
    sessionsChanged?.();
    return;
  }
  forget(context.session.path);
  await context.session.catchUp().catch(() => undefined);
  shell.view?.turnsChanged?.([]);
  refreshFacts();
}

function event<N extends EventName>(name: N, data: Events[N]): void {
  const { context } = shell;
  if (name === 'reset') {
    void catchUp();
  } else if (name === 'open' || name === 'outcome') {
    if (name === 'open') under_way.add((data as Events['open']).request);
    else under_way.delete([...under_way][0] ?? -1);
    shell.open = under_way.size;
    redrawHeader();
  } else if (name === 'turn') {
    const { session, row } = data as Events['turn'];
    if (context?.session.id !== session) {
      sessionsChanged?.();
      return;
    }
    void turnCame(context, row);
  } else if (name === 'gone' && context && (data as Events['gone']).session === context.session.id) {
    say('This session was forgotten.');
    shell.context = null;
    go(to.sessions());
  } else if (name === 'lesson') {
    say(`photic learned: ${line((data as Events['lesson']).text, 160)}`);
    refreshFacts();
  } else if (context) {
    refreshFacts();
    if (name === 'choice' && shell.route.view === 'picture') context.reload();
  } else {
    sessionsChanged?.();
  }
}

async function turnCame(context: Context, row: Events['turn']['row']): Promise<void> {
  const { session } = context;
  const fresh = row.n > session.total;
  forget(session.path);
  if (row.n > session.total + 1) await session.catchUp().catch(() => undefined);
  session.put(row);
  if (shell.context !== context) return;
  if (fresh) {
    say(`Turn ${row.n}: ${line(row.came, 80)}`);
    if (shell.follow) context.turn = row.n;
  }
  const { route } = shell;
  if (fresh && shell.follow && route.view === 'turn') go(to.turn(session.id, row.n, route.side));
  else shell.view?.turnsChanged?.([row]);
  refreshFacts();
}

function up(): void {
  const { route } = shell;
  if (!hasSession(route)) return;
  go(route.view === 'timeline' ? to.sessions() : to.timeline(route.session));
}

document.addEventListener('keydown', (pressed) => {
  const name = keyName(pressed);
  if (name === null || dialogOpen()) return;
  const act = shell.view?.keys?.[name] ?? everywhere(name);
  if (!act) return;
  pressed.preventDefault();
  act(pressed);
});

function everywhere(name: string): ((event: KeyboardEvent) => void) | undefined {
  const { context } = shell;
  if (/^[1-6]$/.test(name) && context) return () => go(tabs(context)[Number(name) - 1]?.[1] ?? to.sessions());
  switch (name) {
    case 'jump': case '/': return shell.actions.jump;
    case '?': case 'Shift+?': return shell.actions.keys;
    case 'e': return shell.actions.export;
    case 'f': return context && !file ? shell.actions.follow : undefined;
    case 'Escape': return () => {
      const field = document.activeElement;
      if (field instanceof HTMLInputElement) main.focus();
      else if (!hidePeek()) up();
    };
    default: return undefined;
  }
}

byId('skip').addEventListener('click', () => main.focus());
window.addEventListener('hashchange', () => void enter().then(show, show));

async function start(): Promise<void> {
  try {
    await enter();
  } catch (failure) {
    clear(main, failed(failure, () => location.reload()));
    return;
  }
  if (location.hash === '') {
    const begin = file ? (file.start ?? to.timeline(file.session)) : to.sessions();
    try {
      history.replaceState(null, '', begin);
    } catch {
      // In a frame without an address of its own.
      location.hash = begin;
    }
  }
  await show();
}

void start();
