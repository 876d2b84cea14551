// One loupe over several sizes of one picture: all show the same place, each in its own pixels.
import { ApiFailure, loadImage } from './client.ts';
import { h } from './dom.ts';
import { size } from './format.ts';

export interface Pane {
  title: string;
  lines: HTMLElement[];
  /** Where the picture is; null if it is not known or not shown. */
  address: string | null;
  /** Its size; drawn into it where the picture has another one. */
  pixels: [number, number] | undefined;
  /** Words where there is no picture. */
  none: string;
}

interface Drawn {
  overview: HTMLCanvasElement;
  lens: HTMLElement;
  region: HTMLElement;
  view: HTMLCanvasElement;
  place: HTMLElement;
  source: HTMLCanvasElement | HTMLImageElement | null;
  pixels: [number, number];
  box: { left: number; top: number; width: number; height: number };
}

const MAX_ZOOM = 32;
const MAX_CANVAS = 40_000_000;

export class Loupe {
  readonly element: HTMLElement;
  readonly controls: HTMLElement;
  private readonly panes: Drawn[] = [];
  private readonly releases: (() => void)[] = [];
  private readonly base: [number, number];
  private readonly region: [number, number, number, number] | undefined;
  private readonly fields: [HTMLInputElement, HTMLInputElement];
  private readonly level = h('output', { 'aria-label': 'Zoom' });
  private readonly resize = new ResizeObserver(() => this.draw());
  /** The place, in pixels of the original, and how many pixels of the screen one of those takes. */
  private x: number;
  private y: number;
  private zoom = 2;
  private readonly moved: (x: number, y: number) => void;
  private closed = false;

  constructor(panes: Pane[], base: [number, number], region: [number, number, number, number] | undefined, moved: (x: number, y: number) => void, of = 'the original') {
    this.base = base;
    this.region = region;
    this.moved = moved;
    this.x = region ? region[0] + Math.min(region[2] / 2, 120) : base[0] / 2;
    this.y = region ? region[1] + Math.min(region[3] / 2, 400) : base[1] / 2;
    const field = (name: string, most: number) => h<HTMLInputElement>('input', { type: 'number', min: 0, max: Math.max(0, most - 1), step: 1, 'aria-label': `${name} of the loupe, in pixels of ${of}` });
    this.fields = [field('x', base[0]), field('y', base[1])];
    for (const input of this.fields) {
      input.addEventListener('change', () => this.go(Number(this.fields[0].value), Number(this.fields[1].value)));
    }
    const button = (text: string, label: string, act: () => void) => h('button', { type: 'button', 'aria-label': label, on: { click: act } }, text);
    this.controls = h('.row.loupe-controls', null,
      h('span.dim', null, 'x'), this.fields[0], h('span.dim', null, 'y'), this.fields[1],
      h('.segments', { role: 'group', 'aria-label': 'Zoom' }, button('−', 'Smaller', () => this.scale(0.5)), this.level, button('+', 'Larger', () => this.scale(2)), button('Fit', 'Fit into the loupe', () => this.fit())));
    this.element = h('.stage', null, panes.map((pane) => this.pane(pane)));
    this.resize.observe(this.element);
  }

  close(): void {
    this.closed = true;
    this.resize.disconnect();
    for (const release of this.releases) release();
  }

  private pane(pane: Pane): HTMLElement {
    const overview = h<HTMLCanvasElement>('canvas', { 'aria-hidden': 'true' });
    const lens = h('.lens');
    const region = h('.region', { hidden: !this.region });
    const view = h<HTMLCanvasElement>('canvas', { role: 'img', 'aria-label': `${pane.title}, in the loupe` });
    const place = h('.place');
    const drawn: Drawn = { overview, lens, region, view, place, source: null, pixels: pane.pixels ?? this.base, box: { left: 0, top: 0, width: 0, height: 0 } };
    const whole = h('.overview', { on: { pointerdown: (event) => this.point(event, drawn), pointermove: (event) => event.buttons & 1 && this.point(event, drawn) } }, overview, region, lens);
    const near = h('.near', { on: { wheel: (event) => { if (event.ctrlKey) { event.preventDefault(); this.scale(event.deltaY < 0 ? 1.25 : 0.8); } }, pointerdown: (event) => this.drag(event, drawn) } }, view, h('.cross'));
    const frame = h('.loupe', null, whole, near);
    const box = h('figure', null, h('figcaption', null, h('b', null, pane.title), pane.lines), frame, place);
    if (pane.address === null) frame.replaceChildren(h('.state.small', null, pane.pixels ? h('span.frame.empty', null, size(pane.pixels)) : null, h('p', null, pane.none)));
    else void this.load(drawn, pane, frame);
    this.panes.push(drawn);
    return box;
  }

  private async load(drawn: Drawn, pane: Pane, frame: HTMLElement): Promise<void> {
    try {
      const [image, release] = await loadImage(pane.address ?? '');
      this.releases.push(release);
      if (this.closed) return release();
      const natural: [number, number] = [image.naturalWidth, image.naturalHeight];
      drawn.pixels = pane.pixels && natural[0] * natural[1] > 0 ? pane.pixels : natural;
      drawn.source = image;
      // A file may have the picture as it was sent alone: it is resized here as the provider resizes it.
      if (size(natural) !== size(drawn.pixels) && drawn.pixels[0] * drawn.pixels[1] < MAX_CANVAS) {
        const canvas = h<HTMLCanvasElement>('canvas', { width: drawn.pixels[0], height: drawn.pixels[1] });
        const context = canvas.getContext('2d');
        if (context) {
          context.imageSmoothingQuality = 'high';
          context.drawImage(image, 0, 0, ...drawn.pixels);
          drawn.source = canvas;
        }
      }
      this.draw();
    } catch (failure) {
      const known = failure instanceof ApiFailure ? failure : null;
      const gone = known?.code === 'picture_gone';
      frame.replaceChildren(h('.state.small', null,
        pane.pixels ? h('span.frame.empty', null, size(pane.pixels)) : null,
        h('h2', null, gone ? 'The record no longer holds it' : 'It cannot be shown'),
        h('p', null, gone ? 'Its size, type and hash are known; its pixels are not.' : (known?.message ?? 'The browser cannot read it.')),
        known?.next && !gone ? h('p.dim', null, known.next) : null));
    }
  }

  private point(event: PointerEvent, drawn: Drawn): void {
    const box = drawn.overview.getBoundingClientRect();
    if (!box.width || !box.height) return;
    this.go(((event.clientX - box.left) / box.width) * this.base[0], ((event.clientY - box.top) / box.height) * this.base[1]);
  }

  private drag(event: PointerEvent, drawn: Drawn): void {
    const start = [event.clientX, event.clientY, this.x, this.y] as const;
    const move = (next: PointerEvent) => this.go(start[2] - (next.clientX - start[0]) / this.zoom, start[3] - (next.clientY - start[1]) / this.zoom);
    const end = () => {
      drawn.view.removeEventListener('pointermove', move);
      drawn.view.removeEventListener('pointerup', end);
    };
    drawn.view.setPointerCapture(event.pointerId);
    drawn.view.addEventListener('pointermove', move);
    drawn.view.addEventListener('pointerup', end);
    event.preventDefault();
  }

  move(dx: number, dy: number): void {
    const step = Math.max(1, 16 / this.zoom);
    this.go(this.x + dx * step, this.y + dy * step);
  }

  go(x: number, y: number): void {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    this.x = Math.max(0, Math.min(this.base[0], x));
    this.y = Math.max(0, Math.min(this.base[1], y));
    this.draw();
  }

  scale(by: number): void {
    this.zoom = Math.max(1 / 64, Math.min(MAX_ZOOM, this.zoom * by));
    this.draw();
  }

  fit(): void {
    const view = this.panes[0]?.view;
    if (!view?.clientWidth) return;
    this.zoom = Math.min(view.clientWidth / this.base[0], view.clientHeight / this.base[1]);
    this.go(this.base[0] / 2, this.base[1] / 2);
  }

  /** Shows the region to look at, as large as the loupe allows. */
  showRegion(): void {
    const view = this.panes[0]?.view;
    if (!this.region || !view?.clientWidth) return;
    const [x, y, width, height] = this.region;
    this.zoom = Math.max(1, Math.min(MAX_ZOOM, view.clientWidth / width, view.clientHeight / height));
    this.go(x + Math.min(width, view.clientWidth / this.zoom) / 2, y + Math.min(height, view.clientHeight / this.zoom) / 2);
  }

  draw(): void {
    this.level.textContent = this.zoom >= 1 ? `${Number(this.zoom.toFixed(1))}×` : `${(this.zoom * 100).toFixed(0)} %`;
    this.fields[0].value = String(Math.floor(this.x));
    this.fields[1].value = String(Math.floor(this.y));
    for (const drawn of this.panes) if (drawn.source && drawn.view.isConnected) this.drawPane(drawn);
    this.moved(this.x, this.y);
  }

  private drawPane(drawn: Drawn): void {
    const { overview, view, source, pixels } = drawn;
    if (!source) return;
    const ratio = Math.min(3, window.devicePixelRatio || 1);
    const outer = overview.parentElement;
    if (!outer?.clientWidth) return;
    const fit = Math.min((outer.clientWidth - 16) / this.base[0], (outer.clientHeight - 16) / this.base[1]);
    const [wide, high] = [Math.max(1, this.base[0] * fit), Math.max(1, this.base[1] * fit)];
    if (overview.width !== Math.round(wide * ratio) || overview.dataset['done'] !== size(pixels)) {
      overview.width = Math.round(wide * ratio);
      overview.height = Math.round(high * ratio);
      overview.style.setProperty('width', `${wide}px`);
      overview.style.setProperty('height', `${high}px`);
      overview.dataset['done'] = size(pixels);
      const context = overview.getContext('2d');
      if (context) {
        context.imageSmoothingQuality = 'high';
        context.drawImage(source, 0, 0, overview.width, overview.height);
      }
    }
    const left = (outer.clientWidth - wide) / 2;
    const top = (outer.clientHeight - high) / 2;
    const put = (element: HTMLElement, x: number, y: number, width: number, height: number) => {
      element.style.setProperty('left', `${left + x * fit}px`);
      element.style.setProperty('top', `${top + y * fit}px`);
      element.style.setProperty('width', `${Math.max(6, width * fit)}px`);
      element.style.setProperty('height', `${Math.max(6, height * fit)}px`);
    };
    if (this.region) put(drawn.region, ...this.region);
    const [across, down] = [view.clientWidth / this.zoom, view.clientHeight / this.zoom];
    put(drawn.lens, this.x - across / 2, this.y - down / 2, across, down);
    view.width = Math.round(view.clientWidth * ratio);
    view.height = Math.round(view.clientHeight * ratio);
    const context = view.getContext('2d');
    if (!context) return;
    context.imageSmoothingEnabled = this.zoom < 1;
    const [sx, sy] = [pixels[0] / this.base[0], pixels[1] / this.base[1]];
    // The source may have other pixels than it is shown with, if it was too large to be resized here.
    const natural = source instanceof HTMLImageElement ? [source.naturalWidth / pixels[0], source.naturalHeight / pixels[1]] : [1, 1];
    const [nx, ny] = [sx * (natural[0] ?? 1), sy * (natural[1] ?? 1)];
    context.drawImage(source, (this.x - across / 2) * nx, (this.y - down / 2) * ny, across * nx, down * ny, 0, 0, view.width, view.height);
    drawn.place.textContent = `x ${(this.x * sx).toFixed(1)} y ${(this.y * sy).toFixed(1)}`;
  }
}
