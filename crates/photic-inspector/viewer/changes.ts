// What photic changed in the body: only the changed spans, each with its place and its reason.
import type { ChangePage, Hunk, Span, Turn } from './api.ts';
import { get } from './client.ts';
import { h } from './dom.ts';
import { bytes, count, plural, signed, size, visible } from './format.ts';
import { chip, foreign, thumbnail } from './parts.ts';
import type { OpenSession } from './session.ts';
import { state } from './states.ts';
import type { Context } from './view.ts';

const PAGE = 100;

export async function changes({ session }: Context, turn: Turn): Promise<HTMLElement[]> {
  const path = `${session.path}/turns/${turn.n}/changes`;
  const first = await get<ChangePage>(path, { from: 0, limit: PAGE });
  if (!first.total) return [state('Nothing was changed', h('p', null, `The ${count(first.bytes_model)} bytes went on as they came.`))];
  const list = h('div');
  let end = 0;
  let next = first.next;
  const add = (items: Hunk[]) => {
    for (const hunk of items) {
      if (hunk.b_from > end) list.append(identical(hunk.b_from - end));
      list.append(hunkBlock(session, turn, hunk));
      end = hunk.b_to;
    }
    if (next === undefined && first.bytes_model > end) list.append(identical(first.bytes_model - end));
  };
  add(first.items);
  const more = h('button.link', { type: 'button' }, `Show more of ${plural(first.total, 'change')}`);
  more.hidden = next === undefined;
  more.addEventListener('click', async () => {
    const page = await get<ChangePage>(path, { from: next, limit: PAGE });
    next = page.next;
    more.hidden = next === undefined;
    add(page.items);
  });
  return [
    h('.separator.wide', null, h('span', null, h('b', null, 'The agent sent '), `${count(first.bytes_client)} bytes`), h('span', null, h('b', null, 'The model got '), `${count(first.bytes_model)} bytes, ${signed(first.bytes_model - first.bytes_client, count)}`), h('span.push', null, plural(first.total, 'change'))),
    list,
    h('.separator', null, more),
  ];
}

function identical(amount: number): HTMLElement {
  return h('.separator', null, `⋯ ${plural(amount, 'byte')} identical`);
}

function hunkBlock(session: OpenSession, turn: Turn, hunk: Hunk): HTMLElement {
  const mark = hunk.did.startsWith('mark') && !hunk.a.length;
  return h(
    'article.hunk',
    { 'aria-label': `Change ${hunk.label}` },
    h('header', null,
      h('span.tag', null, foreign(hunk.label, 6)), h('b', null, foreign(hunk.text, 100)), h('span.ellipsis.dim', null, foreign(hunk.why, 200)),
      hunk.as_before ? chip('info', `as in turn ${turn.n - 1}`) : chip('accent', 'new'),
      h('code.push.ellipsis', null, foreign(hunk.pointer, 120)), h('code', null, `@ ${count(hunk.b_from)}`)),
    mark ? h('pre.spans', null, spans(session, hunk.b, 'inserted')) : h('.columns', null, side(session, 'The agent sent', hunk.a, 'deleted'), side(session, 'The model got', hunk.b, 'inserted')),
  );
}

function side(session: OpenSession, name: string, all: Span[], kind: 'inserted' | 'deleted'): HTMLElement {
  const box = h('pre.spans', null, h('span.hidden', null, `${name}: `), all.length ? spans(session, all, kind) : h('span.dim', null, '(nothing)'));
  return box;
}

/** Spans of one side. Marked ones are `ins` or `del`, so that readers hear them. */
export function spans(session: OpenSession, all: readonly Span[], kind: 'inserted' | 'deleted'): HTMLElement[] {
  const tag = kind === 'inserted' ? 'ins' : 'del';
  return all.map((span) => {
    if (span.blob) return h('span', null, blob(session, span.blob));
    if (span.cut) return h('span.dim', null, ` … ${plural(span.cut, 'byte')} … `);
    return h(span.changed ? tag : 'span', { dir: 'auto' }, visible((span.text ?? '').slice(0, 20_000)));
  });
}

export function blob(session: OpenSession, one: NonNullable<Span['blob']>): HTMLElement {
  const kind = one.media_type.replace(/^image\//, '').slice(0, 24).toUpperCase();
  return h('span.blob', null, one.picture === undefined ? null : thumbnail(session, one.picture), `${visible(kind)} ${one.size ? `${size(one.size)} ` : ''}${bytes(one.bytes)} ${visible(one.digest.slice(0, 6))}…`);
}
