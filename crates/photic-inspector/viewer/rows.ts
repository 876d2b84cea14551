// Many rows of one height, of which only those near the screen are in the document.
import { h } from './dom.ts';

/** Empty space in the place of rows that are not in the document. */
export interface Space {
  element: HTMLElement;
  /** What has the height: in a table a cell, because groups of rows have none of their own. */
  stretches: HTMLElement;
}

export interface RowsOptions {
  /** Where rows go: its parent also gets the empty space before and after. */
  body: HTMLElement;
  /** Makes empty space of the container's kind. */
  space: () => Space;
  /** Height of a row before one was measured. */
  height: number;
  count: () => number;
  make: (index: number) => HTMLElement;
  /** Called with the range before its rows are made; `true` if rows that are in the document are not right any more. */
  prepare?: (from: number, to: number) => boolean;
  /** Element that scrolls. */
  scroller: HTMLElement;
}

/** Rows that are ready beyond the screen before others are made. */
const SPARE = 3;

export class Rows {
  private readonly options: RowsOptions;
  private readonly before: Space;
  private readonly after: Space;
  private height: number;
  private from = -1;
  private to = -1;
  private frame = 0;
  private stale = false;
  /** Row that gets the focus as soon as it has a link: its data is not here yet. */
  private wanted: number | null = null;
  private readonly listener = () => this.later();
  private readonly resize: ResizeObserver;

  constructor(options: RowsOptions) {
    this.options = options;
    this.height = options.height;
    this.before = options.space();
    this.after = options.space();
    options.body.before(this.before.element);
    options.body.after(this.after.element);
    document.addEventListener('scroll', this.listener, { capture: true, passive: true });
    this.resize = new ResizeObserver(this.listener);
    this.resize.observe(options.scroller);
    this.draw(true);
  }

  close(): void {
    document.removeEventListener('scroll', this.listener, { capture: true });
    this.resize.disconnect();
    cancelAnimationFrame(this.frame);
  }

  private later(): void {
    if (!this.frame) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.draw(this.stale);
      });
    }
  }

  /** Makes the rows in view again with the next frame: their data changed. */
  update(): void {
    this.stale = true;
    this.later();
  }

  get range(): readonly [from: number, to: number] {
    return [this.from, this.to];
  }

  private draw(all: boolean): void {
    const { body, count, make, prepare } = this.options;
    const total = count();
    const top = this.top();
    const screen = window.innerHeight;
    const first = Math.floor((-top - screen / 2) / this.height);
    const from = Math.max(0, Math.min(total, first));
    const to = Math.min(total, Math.max(from, first) + Math.ceil((screen * 2) / this.height));
    if (!all && from === this.from && to === this.to) return;
    // Nothing is made while enough rows are ready on both sides of the screen.
    const [above, below] = [-top / this.height, (screen - top) / this.height];
    if (!all && this.from <= Math.max(0, above - SPARE) && this.to >= Math.min(total, below + SPARE)) return;
    const focused = body.contains(document.activeElement) ? document.activeElement : null;
    const index = (focused?.closest('[data-index]') as HTMLElement | null)?.dataset['index'];
    if (all) this.stale = false;
    this.from = from;
    this.to = to;
    const changed = prepare?.(from, to) ?? false;
    const known = new Map(all || changed ? [] : [...body.children].map((row) => [(row as HTMLElement).dataset['index'], row as HTMLElement]));
    const rows: HTMLElement[] = [];
    for (let at = from; at < to; at += 1) {
      const row = known.get(String(at)) ?? make(at);
      row.dataset['index'] = String(at);
      rows.push(row);
    }
    // Rows that stay are not touched: the browser lays out what is new alone.
    const kept = new Set<Element>(rows);
    for (const row of [...body.children]) if (!kept.has(row)) row.remove();
    rows.forEach((row, place) => {
      const there = body.children[place] ?? null;
      if (there !== row) body.insertBefore(row, there);
    });
    this.measure(rows);
    this.stretch(this.before, from * this.height);
    this.stretch(this.after, (total - to) * this.height);
    if (index !== undefined) this.focusLink(Number(index));
    else if (this.wanted !== null && this.focusLink(this.wanted)) this.wanted = null;
  }

  private measure(rows: HTMLElement[]): void {
    const first = rows[0];
    const last = rows.at(-1);
    if (!first?.isConnected || !last) return;
    const height = (last.getBoundingClientRect().bottom - first.getBoundingClientRect().top) / rows.length;
    if (height > 8) this.height = height;
  }

  private stretch(space: Space, height: number): void {
    space.element.hidden = height <= 0;
    space.stretches.style.setProperty('height', `${height}px`);
  }

  /** Where row 0 begins, on the screen. */
  private top(): number {
    const { element } = this.before;
    if (!element.isConnected) return 0;
    return element.hidden ? this.options.body.getBoundingClientRect().top : element.getBoundingClientRect().top;
  }

  private focusLink(index: number): boolean {
    const row = this.options.body.querySelector(`[data-index="${index}"]`);
    const link = (row?.matches('a,button') ? row : row?.querySelector('a,button')) as HTMLElement | null | undefined;
    link?.focus({ preventScroll: true });
    return Boolean(link);
  }

  /** Scrolls until a row is in view, away from what is fixed above it. */
  show(index: number, place: 'near' | 'end' = 'near'): void {
    const { scroller } = this.options;
    const scrolls = scroller.scrollHeight > scroller.clientHeight + 1 && getComputedStyle(scroller).overflowY !== 'visible';
    const frame = scrolls ? scroller.getBoundingClientRect() : new DOMRect(0, 0, window.innerWidth, window.innerHeight);
    const top = this.top();
    const at = top + index * this.height - frame.top;
    const head = 48;
    let move = 0;
    if (at < head) move = at - head;
    else if (at + this.height > frame.height) move = at + this.height - frame.height + (place === 'end' ? 60 : 8);
    if (move) (scrolls ? scroller : document.scrollingElement ?? scroller).scrollBy({ top: move });
    this.draw(index < this.from || index >= this.to);
  }

  /** Shows a row and puts the focus on its link. */
  focus(index: number): void {
    this.wanted = index;
    this.show(index);
    if (this.focusLink(index)) this.wanted = null;
  }

  /** Index of the row with the focus, or null. */
  focused(): number | null {
    if (this.wanted !== null) return this.wanted;
    const row = document.activeElement?.closest('[data-index]') as HTMLElement | null;
    return row && this.options.body.contains(row) ? Number(row.dataset['index']) : null;
  }
}

/** Empty space in a table. */
export function tableSpace(columns: number): () => Space {
  return () => {
    const stretches = h('td', { colspan: columns });
    return { element: h('tbody', { 'aria-hidden': 'true' }, h('tr.space', null, stretches)), stretches };
  };
}

/** Empty space in a list. */
export function listSpace(): Space {
  const element = h('.space', { 'aria-hidden': 'true' });
  return { element, stretches: element };
}
