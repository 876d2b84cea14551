// The page that hosts draw for `view` of `photic mcp` (MCP Apps, SEP-1865): the picture as its model got it, where a
// click on it lands in the original, and what was done to it. It asks no one but the host that holds its frame.
import { clear, h, icon } from './dom.ts';
import { bytes, count, line, size } from './format.ts';
import { Loupe } from './loupe.ts';
import { Host } from './mcp-host.ts';
import { read } from './mcp-result.ts';
import type { Refused, Shown } from './mcp-result.ts';
import { chip, foreign, noteBox, terms, whole } from './parts.ts';

const main = document.getElementById('main') as HTMLElement;
const status = document.getElementById('say') as HTMLElement;
let loupe: Loupe | null = null;
let asked = '';

function place(said: string, ...children: Node[]): void {
  loupe?.close();
  loupe = null;
  clear(main, ...children);
  status.textContent = said;
}

function heading(text: string): HTMLElement {
  return h('h1', null, foreign(text, 160));
}

/** What became of the picture on its way to the model, in the order in which it matters. */
function fates({ picture, scale, whole: all }: Shown): HTMLElement {
  const seen = picture ? chip('ok', 'the model got it') : chip('warn', 'not shown to the model: facts alone');
  const part = all ? chip('info', 'the whole of it') : chip('info', 'a part of it');
  const resized = scale < 0.9995 ? chip('warn', `smaller than the original, ${scale.toFixed(3)}`) : scale > 1.0005 ? chip('info', `drawn larger, ${scale.toFixed(2)}`) : chip('ok', 'every pixel of the original');
  return h('.row.wrap.fate', null, seen, part, resized);
}

function show(one: Shown): void {
  const { map, unit, picture, region } = one;
  const digits = unit === 'px' ? 0 : 1;
  const land = (x: number, y: number) => [map[0] * x + map[2] * y + map[4], map[1] * x + map[3] * y + map[5]].map((at) => at.toFixed(digits)).join(', ');
  const click = h('p.mono.click');
  const moved = (x: number, y: number) => {
    click.textContent = `(${Math.floor(x)}, ${Math.floor(y)}) → (${land(Math.floor(x), Math.floor(y))}) ${unit}`;
  };
  const title = line(one.name || asked, 160) || 'A view';
  const facts = terms([
    ['In the original', `${size([region[2], region[3]])} at ${region[0]}, ${region[1]} of ${size(one.source)} ${unit}`],
    ['As the model got it', `${size(one.size)} px, ${line(one.type.replace(/^image\//, '').toUpperCase(), 20)}, ${bytes(one.bytes)}`],
    ['Tokens', count(one.tokens)],
    ['Pages', one.pages > 1 ? count(one.pages) : null],
    ['Look again', one.reference ? h('code', null, foreign(one.reference, 80)) : null],
    ['Hash', h('code', null, foreign(one.hash, 80))],
  ]);
  const parts = [heading(title), fates(one), ...one.warnings.slice(0, 8).map((words) => noteBox('warn', foreign(words, 400)))];
  if (!picture) {
    place(`${title}: not shown to the model`, ...parts, facts);
    return;
  }
  const made = new Loupe([{ title: 'As the model got it', lines: [], address: picture, pixels: one.size, none: '' }], one.size, undefined, moved, 'the picture');
  const clicks = h('section', { 'aria-label': 'Where a click lands' }, h('h2', null, 'Where a click lands ', h('span.push', null, 'pixel of the picture → original')), click);
  place(`${title}: ${size(one.size)} pixels`, ...parts, h('.row.wrap', null, made.controls), made.element, clicks, facts);
  loupe = made;
  made.draw();
}

function refuse(one: Refused): void {
  place('The view was refused', heading(asked || 'A view'), noteBox('bad',
    h('p', null, h('b', null, 'Refused'), ' ', h('code', null, foreign(one.code, 60)), ': ', foreign(one.says, 400)),
    one.hint ? h('p', null, 'What to do: ', foreign(one.hint, 400)) : null,
    one.candidates.length ? h('ul', null, one.candidates.slice(0, 12).map((name) => h('li', null, h('code', null, foreign(name, 200))))) : null));
}

function wait(words: string): void {
  place(words, h('p.dim', null, icon('info'), ' ', words));
}

const host = new Host({
  input: (given) => {
    asked = typeof given['source'] === 'string' ? given['source'] : '';
    if (!main.childElementCount || !loupe) wait(asked ? `Looking at ${line(asked, 120)}` : 'Looking');
  },
  result: (result) => {
    const found = read(result);
    if (found.kind === 'shown') show(found);
    else if (found.kind === 'refused') refuse(found);
    else place('The result has no view', heading(asked || 'A view'), whole(found.words, 4000));
  },
  cancelled: (reason) => wait(`Taken back${reason ? `: ${line(reason, 200)}` : '.'}`),
  theme: (theme) => document.documentElement.style.setProperty('color-scheme', theme),
  closing: () => loupe?.close(),
});

const STEPS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
document.addEventListener('keydown', (event) => {
  const step = STEPS[event.key];
  if (!step || !loupe || event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const by = event.shiftKey ? 8 : 1;
  loupe.move(step[0] * by, step[1] * by);
});

wait('Waiting for the picture');
void host.begin(main);
