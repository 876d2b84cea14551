// A larger picture beside a lane, for a pointer. It repeats what the row and the picture's page say.
import { imageAddress } from './client.ts';
import { h } from './dom.ts';
import { size, usd } from './format.ts';
import { saidOf } from './lanes.ts';
import { foreign } from './parts.ts';
import { shown } from './session.ts';
import type { OpenSession } from './session.ts';

let open: HTMLElement | null = null;

export function hidePeek(): boolean {
  const was = open !== null;
  open?.remove();
  open = null;
  return was;
}

export function attachPeek(body: HTMLElement, session: OpenSession): () => void {
  let timer = 0;
  body.addEventListener('mouseover', (event) => {
    const lane = (event.target as Element).closest('[data-picture]') as HTMLElement | null;
    window.clearTimeout(timer);
    hidePeek();
    if (!lane) return;
    timer = window.setTimeout(() => {
      const turn = Number((lane.closest('[data-index]') as HTMLElement | null)?.dataset['index']) + 1;
      if (turn && lane.isConnected) show(lane, session, turn, Number(lane.dataset['picture']));
    }, 180);
  });
  body.addEventListener('mouseleave', () => {
    window.clearTimeout(timer);
    hidePeek();
  });
  return () => {
    window.clearTimeout(timer);
    hidePeek();
  };
}

function show(at: HTMLElement, session: OpenSession, turn: number, picture: number): void {
  hidePeek();
  const row = session.picture(picture);
  const letter = session.letter(turn, picture);
  const address = row && imageAddress({ session: session.id, picture, kind: 'original', digest: row.digest });
  const image = address && row.size && row.size[0] * row.size[1] <= 40_000_000 ? h('img', { src: address, alt: '' }) : null;
  const price = session.row(turn)?.usd;
  open = h(
    '.peek',
    { 'aria-hidden': 'true' },
    image,
    h('p', null, h('b', null, `#${picture} `), foreign(session.label(picture), 80), ` in turn ${turn}: ${saidOf(letter)}`,
      row?.size ? `; ${size(row.size)}` : '', shown(letter) && price !== undefined ? `; the turn cost ${usd(price)}` : ''),
  );
  document.body.append(open);
  const box = at.getBoundingClientRect();
  const { width } = open.getBoundingClientRect();
  const left = Math.min(innerWidth - width - 12, Math.max(12, box.left - 60));
  const below = box.bottom + 280 < innerHeight;
  open.style.setProperty('left', `${left}px`);
  if (below) open.style.setProperty('top', `${box.bottom + 8}px`);
  else open.style.setProperty('bottom', `${innerHeight - box.top + 8}px`);
}
