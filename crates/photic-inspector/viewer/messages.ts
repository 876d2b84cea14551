// Messages as the model got them, or as the agent sent them.
import type { Message, Part, Turn, TurnPicture } from './api.ts';
import { BASE } from './api.ts';
import { file, imageAddress, loadImage } from './client.ts';
import { h, icon } from './dom.ts';
import { bytes, count, line, size, usd } from './format.ts';
import { saidOf, signOf } from './lanes.ts';
import { chip, foreign, thumbnail, whole } from './parts.ts';
import { to } from './route.ts';
import type { TurnSide } from './route.ts';
import { shown } from './session.ts';
import type { OpenSession } from './session.ts';

export interface MessageContext {
  session: OpenSession;
  turn: Turn;
  side: TurnSide;
  minLetters: number;
}

const KINDS: Record<string, string> = { assistant: 'assistant', user: 'user', tool: 'tool', system: 'system' };

function roleOf(message: Message): [kind: string, words: string] {
  const results = message.parts.some((part) => part.kind === 'result');
  const kind = results ? 'tool' : (KINDS[message.role] ?? 'other');
  return [kind, results ? 'tool result' : kind === 'other' ? line(message.role, 16) : kind];
}

/** A message with everything in it. */
export function messageBlock(context: MessageContext, message: Message, fresh: boolean): HTMLElement {
  const [kind, words] = roleOf(message);
  return h(
    `article.message${fresh ? '.fresh' : ''}`,
    { 'aria-label': `Message ${message.index}, ${words}` },
    h('span.index', null, String(message.index)),
    h(`span.role.${kind}`, null, words),
    h('.parts', null, partsOf(context, message.parts)),
  );
}

/** A message in a line; opens to the whole. */
export function messageLine(context: MessageContext, message: Message): HTMLElement {
  const [kind, words] = roleOf(message);
  const pictures = picturesIn(message.parts);
  const button = h(
    'button.message-line',
    { type: 'button', 'aria-expanded': 'false' },
    h('span.index', null, String(message.index)),
    h(`span.role.${kind}`, null, words),
    h('span.ellipsis', null, foreign(wordsIn(message.parts), 220)),
    h('span.row', null, pictures.slice(0, 4).map(({ picture, notice }) => [
      picture === undefined ? null : notice ? h('span.thumb.gone', { 'aria-hidden': 'true' }, signOf(letterOf(context, picture)) || '–') : thumbnail(context.session, picture),
      h('span.dim', null, picture === undefined ? 'picture' : `#${picture}`),
    ]), pictures.length > 4 && h('span.dim', null, `+${pictures.length - 4}`)),
  );
  const box = h('div', null, button);
  let open: HTMLElement | null = null;
  button.addEventListener('click', () => {
    if (open) {
      open.remove();
      open = null;
    } else box.append((open = messageBlock(context, message, false)));
    button.setAttribute('aria-expanded', String(open !== null));
  });
  return box;
}

function letterOf({ turn }: MessageContext, picture: number): string | undefined {
  return turn.pictures.find((one) => one.picture === picture)?.letter;
}

function wordsIn(parts: Part[]): string {
  return parts.map((part) => {
    if (part.kind === 'text') return part.text.slice(0, 400);
    if (part.kind === 'call') return `${part.name}(${part.arguments.slice(0, 200)})`;
    if (part.kind === 'result') return wordsIn(part.parts);
    return part.kind === 'other' ? part.what : '';
  }).filter(Boolean).join(' ');
}

function picturesIn(parts: Part[]): { picture?: number; notice: boolean }[] {
  return parts.flatMap((part) => {
    if (part.kind === 'picture') return [part.picture === undefined ? { notice: false } : { picture: part.picture, notice: false }];
    if (part.kind === 'notice') return part.picture === undefined ? [] : [{ picture: part.picture, notice: true }];
    return part.kind === 'result' ? picturesIn(part.parts) : [];
  });
}

function partsOf(context: MessageContext, parts: Part[]): HTMLElement[] {
  return parts.map((part) => partOf(context, part));
}

export function textBlock(part: { text: string; more?: number; href?: string }): HTMLElement {
  return h('div', null, whole(part.text), part.more
    ? h('p.sub', null, `cut; the whole text has ${bytes(part.more)} `, part.href && !file && h('a.link', { href: BASE + part.href, download: '' }, 'Save the whole text'))
    : null);
}

function partOf(context: MessageContext, part: Part): HTMLElement {
  switch (part.kind) {
    case 'text':
      return textBlock(part);
    case 'call':
      return h('code.call', { dir: 'ltr' }, foreign(part.name, 120), '(', foreign(part.arguments, 4000), ')', part.more ? h('span.dim', null, ` ${bytes(part.more)} in all`) : null);
    case 'result':
      return h('.parts', null, part.failed && h('div', null, chip('bad', 'failed')), partsOf(context, part.parts));
    case 'notice':
      return noticeBlock(context, part.text, part.picture);
    case 'picture':
      return pictureBlock(context, part);
    default:
      return h('p.dim', null, 'kind' in part && part.kind === 'other' ? foreign(part.what, 120) : 'content that this page does not know');
  }
}

function noticeBlock({ session, turn }: MessageContext, text: string, picture: number | undefined): HTMLElement {
  return h(
    '.notice',
    null,
    h('.told', null, whole(text, 2000)),
    picture === undefined ? null : h('.row.dim', null, h('span.thumb.gray', null, thumbnail(session, picture)), `The model does not see #${picture} in this turn; it reads the line above.`, ' ', h('a.link', { href: to.picture(session.id, picture, turn.n) }, `Picture #${picture}`)),
  );
}

function pictureBlock(context: MessageContext, part: Extract<Part, { kind: 'picture' }>): HTMLElement {
  const { session, turn, side } = context;
  const number = part.picture;
  const facts = [part.media_type ?? part.media, part.size && size(part.size), part.bytes !== undefined && bytes(part.bytes)].filter(Boolean).join(', ');
  if (number === undefined) return h('.figure', null, h('span.frame.empty', null, part.size ? size(part.size) : part.media), h('.caption', null, h('b', null, 'A picture behind an address'), h('span', null, facts), h('span.dim', null, 'The provider fetches it; the record does not have it.')));
  const now = turn.pictures.find((one) => one.picture === number);
  const model = side === 'model';
  const frame = h('a.frame', { href: to.picture(session.id, number, turn.n) }, h('span.hidden', null, `Open picture ${number} `));
  const digest = session.picture(number)?.digest;
  const original = imageAddress({ session: session.id, picture: number, kind: 'original', digest });
  const sent = now && shown(now.letter) ? imageAddress({ session: session.id, picture: number, kind: 'sent', turn: turn.n }) : null;
  const untouched = now?.sent_digest === undefined || now.sent_digest === digest;
  const address = model ? (sent ?? (untouched ? original : null)) : (original ?? (untouched ? sent : null));
  placePicture(frame, address, (model ? now?.sent : undefined) ?? part.size ?? now?.size);
  return h('.figure', null, frame, h('.caption', null,
    h('b', null, `#${number} `, foreign(session.label(number), 100)),
    h('span', null, facts, model ? (now && shown(now.letter) && now.sent && now.size && size(now.sent) !== size(now.size) ? `; sent as ${size(now.sent)}` : '; sent as it came') : '; as the agent sent it'),
    model && now ? asSeen(context, now) : null,
    h('span', null, h('a.link', { href: to.picture(session.id, number, turn.n) }, `Open picture #${number}`))));
}

/** Puts a picture into its frame when the frame comes near the screen; tells in words why there is none. */
function placePicture(frame: HTMLElement, address: string | null, of: [number, number] | undefined): void {
  const [width, height] = of ?? [320, 200];
  const scale = Math.min(1, (height > width * 1.4 ? 252 : 224) / Math.max(1, height), 360 / Math.max(1, width));
  frame.style.setProperty('width', `${Math.max(24, Math.round(width * scale))}px`);
  frame.style.setProperty('aspect-ratio', `${Math.max(1, width)} / ${Math.max(1, height)}`);
  const none = (words: string) => {
    frame.classList.add('empty');
    frame.append(h('span', null, words));
  };
  if (!address) return none(of ? size(of) : 'not in this file');
  const image = h<HTMLImageElement>('img', { src: address, alt: '', loading: 'lazy', decoding: 'async' });
  image.addEventListener('error', () => {
    image.remove();
    none(of ? `${size(of)}, cannot be shown` : 'cannot be shown');
  });
  frame.append(image);
  return undefined;
}

function asSeen(context: MessageContext, now: TurnPicture): (HTMLElement | null)[] {
  const { minLetters } = context;
  const resized = now.seen && now.sent && size(now.seen) !== size(now.sent);
  const small = now.x_height !== undefined && now.x_height < minLetters;
  return [
    now.seen && now.sent ? h('span', null, resized ? ['the provider resizes it to ', h('b', null, size(now.seen)), `, ${(now.seen[0] / now.sent[0]).toFixed(2)} of its size`] : 'the provider leaves its size alone') : null,
    now.tokens === undefined ? null : h('span', null, `${count(now.tokens)} tokens${now.usd === undefined ? '' : `, ${usd(now.usd)} in this turn`}`),
    now.letter === 'k' ? null : h('span', null, chip('info', saidOf(now.letter)), ' ', foreign(now.reason_text, 200)),
    small ? h('span', null, chip('warn', icon('warn'), `smallest text ${now.x_height?.toFixed(1)} px, models read from ${minLetters} px`)) : null,
    resized ? piece(context, now) : null,
  ];
}

/** A piece of the picture in the pixels that the model gets. */
function piece({ session, turn }: MessageContext, now: TurnPicture): HTMLElement | null {
  const address = imageAddress({ session: session.id, picture: now.picture, kind: 'seen', turn: turn.n });
  if (!address || !now.seen) return null;
  const [width, height] = now.seen;
  const [wide, high] = [Math.min(424, width), Math.min(92, height)];
  const canvas = h<HTMLCanvasElement>('canvas.piece', { width: wide, height: high, role: 'img', 'aria-label': `A piece of picture ${now.picture} as the model resolves it` });
  const box = h('.parts', null, h('span', null, 'A piece of it in the model’s own pixels:'), canvas);
  const observer = new IntersectionObserver((seen) => {
    if (!seen.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    loadImage(address).then(
      ([image, release]) => {
        canvas.getContext('2d')?.drawImage(image, Math.min(24, image.naturalWidth - wide), Math.min(Math.round(height * 0.3), image.naturalHeight - high), wide, high, 0, 0, wide, high);
        canvas.dataset['done'] = size(now.seen ?? [wide, high]);
        release();
      },
      () => box.remove(),
    );
  });
  observer.observe(canvas);
  return box;
}
