// Small pieces that several views show.
import { h, icon } from './dom.ts';
import type { Child } from './dom.ts';
import { line, visible } from './format.ts';
import { imageAddress } from './client.ts';
import type { OpenSession } from './session.ts';
import { to } from './route.ts';

/** A line of foreign text. Its direction cannot reach what is beside it. */
export function foreign(text: string, limit = 200): HTMLElement {
  return h('bdi.foreign', { dir: 'auto' }, line(text, limit));
}

/** Foreign text as it is, with its lines; `limit` letters of it. */
export function whole(text: string, limit = 20_000): HTMLElement {
  const cut = text.length > limit;
  return h('.text', { dir: 'auto' }, visible(cut ? text.slice(0, limit) : text), cut && '…');
}

export type Tone = 'bad' | 'warn' | 'ok' | 'info' | 'accent';

export function chip(tone: Tone, ...children: Child[]): HTMLElement {
  return h(`span.chip.${tone}`, null, ...children);
}

export function stat(name: string, value: Child, more?: Child): HTMLElement {
  return h('.stat', null, h('dt', null, name), h('dd', null, value, more ? h('small', null, more) : null));
}

export function swatch(kind: string, ...text: Child[]): HTMLElement {
  return h('span', null, h(`i.swatch.${kind}`, { 'aria-hidden': 'true' }), ...text);
}

export function key(name: string): HTMLElement {
  return h('kbd', null, name);
}

export function noteBox(tone: 'warn' | 'bad' | 'info', ...children: Child[]): HTMLElement {
  return h(`.note.${tone}`, null, icon(tone), h('div', null, ...children));
}

/** A small picture that fills its box. What cannot be loaded leaves the box empty. */
export function thumbnail(session: OpenSession, picture: number, name = 'span.thumb'): HTMLElement {
  const box = h(name, { 'aria-hidden': 'true' });
  const address = session.thumb(picture);
  if (address) setPicture(box, address);
  else if (!session.picture(picture)) {
    void session.loadPictures(picture).then(
      () => setPicture(box, session.thumb(picture)),
      () => undefined,
    );
  }
  return box;
}

export function setPicture(box: HTMLElement, address: string | undefined): void {
  if (address) box.style.setProperty('background-image', `url("${address.replace(/["\\\n]/g, encodeURIComponent)}")`);
}

export function sessionThumbnail(id: string, thumb: { picture: number; digest: string } | undefined): HTMLElement {
  const box = h('span.thumb', { 'aria-hidden': 'true' });
  if (thumb) setPicture(box, imageAddress({ session: id, picture: thumb.picture, kind: 'thumb', digest: thumb.digest }) ?? undefined);
  return box;
}

/** A link to a picture as of a turn. */
export function pictureLink(session: OpenSession, picture: number, turn: number | undefined, text: Child): HTMLElement {
  return h('a.link', { href: to.picture(session.id, picture, turn) }, text);
}

export interface Choice<T extends string> {
  value: T;
  text: string;
  count?: number | undefined;
}

/** Buttons of which one is pressed. */
export function segments<T extends string>(label: string, choices: Choice<T>[], current: T, choose: (value: T) => void): HTMLElement {
  return h(
    '.segments',
    { role: 'group', 'aria-label': label },
    choices.map(({ value, text, count }) =>
      h('button', { type: 'button', 'aria-pressed': String(value === current), on: { click: () => choose(value) } }, text, count !== undefined && h('span.dim', null, String(count))),
    ),
  );
}

/** A list of terms; entries without a value are left out. */
export function terms(entries: [name: Child, value: Child][]): HTMLElement {
  return h(
    'dl.terms',
    null,
    entries.filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '').map(([name, value]) => [h('dt', null, name), h('dd', null, value)]),
  );
}

/** Runs what was asked for last, at most once in `ms`. */
export function throttled(ms: number, run: () => void): () => void {
  let timer = 0;
  return () => {
    timer ||= window.setTimeout(() => {
      timer = 0;
      run();
    }, ms);
  };
}
