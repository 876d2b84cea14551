// What is shown when there is nothing to show, not yet, or not any more. Each says what is, and what to do.
import { ApiFailure, file } from './client.ts';
import { h, icon } from './dom.ts';
import type { Child } from './dom.ts';
import { to } from './route.ts';

export function state(title: string, ...more: Child[]): HTMLElement {
  return h('.state', null, h('h2', null, title), ...more);
}

export function sayings(...texts: Child[]): HTMLElement[] {
  return texts.filter(Boolean).map((text) => h('p', null, text));
}

export function noSession(): HTMLElement {
  return state(
    'Nothing was recorded yet',
    h('p', null, 'Run an agent through the gateway with a record:'),
    h('code.command', null, 'photic run --record -- my-agent'),
    h('p.dim', null, 'This page fills itself when the first turn is answered.'),
  );
}

export function firstTurn(live: boolean): HTMLElement {
  return state(
    live ? 'The agent is connected' : 'This session has no turn yet',
    h('p', null, 'Turns show here when they are answered.'),
  );
}

export function noPictures(): HTMLElement {
  return h('div', null, h('h1.hidden', null, 'Pictures'), state('No picture in this session', h('p', null, 'Costs and the cache are shown all the same.'), h('p.dim', null, 'A picture shows here when the agent sends one, or a tool returns one.')));
}

export function skeleton(): HTMLElement {
  const bar = (width: number) => h('i', { style: { width: `${width}px` } });
  return h('.skeleton', { role: 'status' }, h('span.hidden', null, 'Loading'), [0, 1, 2, 3, 4, 5].map((at) => h('div', null, bar(24), bar(110), bar(60 + at * 24), bar(60))));
}

/** A failure of the API in its words, with what to do next. */
export function failed(failure: unknown, retry: () => void, session?: string): HTMLElement {
  const known = failure instanceof ApiFailure ? failure : null;
  const title =
    known?.code === 'token'
      ? 'This page has no access'
      : known?.code === 'away'
        ? 'The record cannot be read now'
        : known?.code === 'not_found'
          ? 'There is no such thing here'
          : known?.code === 'unreachable'
            ? 'photic does not answer'
            : 'This cannot be shown';
  return h(
    '.state',
    { role: 'alert' },
    icon('warn'),
    h('h1.hidden', null, 'Not shown'),
    h('h2', null, title),
    h('p', null, known ? known.message : 'The page has an error of its own. Loading it again helps; please report it.'),
    known?.next ? h('p.dim', null, known.next) : null,
    h(
      '.row',
      null,
      file ? null : h('button.button', { type: 'button', on: { click: retry } }, 'Try again'),
      session ? h('a.button', { href: to.timeline(session) }, 'Timeline') : null,
      h('a.button', { href: to.sessions() }, 'Sessions'),
    ),
  );
}
