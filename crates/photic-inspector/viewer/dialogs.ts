// Dialogs: keyboard, a question, export. The native element keeps the focus inside and gives it back.
import type { ExportForecast } from './api.ts';
import { BASE } from './api.ts';
import { ApiFailure, get } from './client.ts';
import { clear, h, icon } from './dom.ts';
import type { Child } from './dom.ts';
import { bytes, count } from './format.ts';
import { setSingleKeys, singleKeys } from './keys.ts';
import { foreign, key, noteBox } from './parts.ts';
import type { OpenSession } from './session.ts';

interface Opened {
  dialog: HTMLDialogElement;
  close: () => void;
}

export function dialogOpen(): boolean {
  return document.querySelector('dialog[open]') !== null;
}

export function openDialog(title: string, body: Child[], foot: Child[] = [], closed: () => void = () => {}): Opened {
  const name = 'dialog-title';
  const back = document.activeElement as HTMLElement | null;
  const dialog = h<HTMLDialogElement>('dialog', { 'aria-labelledby': name },
    h('header', null, h('h2', { id: name }, title), h('button.button.square.push', { type: 'button', on: { click: () => dialog.close() } }, '×', h('span.hidden', null, ' Close'))),
    h('.dialog-body', null, body), foot.length ? h('footer', null, foot) : null);
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener('close', () => {
    dialog.remove();
    closed();
    if (back?.isConnected) back.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  return { dialog, close: () => dialog.close() };
}

/** Asks before something is done. */
export function confirm(title: string, text: string, yes: string): Promise<boolean> {
  if (dialogOpen()) return Promise.resolve(false);
  return new Promise((resolve) => {
    let answer = false;
    const opened = openDialog(title, [h('p', null, foreign(text, 400))], [
      h('button.button', { type: 'button', on: { click: () => opened.close() } }, 'Cancel'),
      h('button.button.primary', { type: 'button', autofocus: true, on: { click: () => { answer = true; opened.close(); } } }, yes),
    ], () => resolve(answer));
    (opened.dialog.querySelector('.primary') as HTMLElement | null)?.focus();
  });
}

const KEYS: [group: string, keys: [does: string, ...keys: string[]][]][] = [
  ['Everywhere', [
    ['the six views', '1', '…', '6'], ['jump to turn, picture, text', '/'], ['next, previous row', 'j', 'k'], ['open', '↵'],
    ['close, up a level', 'Esc'], ['turn before, after', '[', ']'], ['export', 'e'], ['follow the newest turn', 'f'],
  ]],
  ['Turn', [
    ['as the model got it', 'm'], ['as the agent sent it', 'c'], ['what changed', 'w'], ['show earlier messages', 'o'],
    ['its newest picture', 'p'], ['mark; again on another turn: compare', 'x'],
  ]],
  ['Picture', [
    ['move the loupe; with Shift, further', '←', '→', '↑', '↓'], ['zoom, fit', '+', '−', '0'],
    ['the region to look at', 'r'], ['drop, pin, shrink; asks first', '⇧D', '⇧P', '⇧S'],
  ]],
];

export function openKeys(): void {
  const box = h<HTMLInputElement>('input', { type: 'checkbox', checked: singleKeys() });
  box.addEventListener('change', () => setSingleKeys(box.checked));
  openDialog('Keyboard', [
    h('.keys', null, KEYS.map(([group, keys]) => [h('h3', null, group), keys.map(([does, ...names]) => h('div', null, does, h('span', null, names.map((name) => [key(name), ' ']))))])),
    h('label.row', null, box, 'Single keys act (switch off for speech input)'),
  ]);
}

interface Option {
  value: string;
  text: string;
}

export function openExport(session: OpenSession, turn: number): void {
  const path = `${session.path}/export`;
  const chosen = { turns: '', pictures: 'sent', text: 'redacted' };
  const size = h('span.dim', null, ' ');
  const places = h('p.sub');
  const command = h('code.command', null, ' ');
  const save = h<HTMLAnchorElement>('a.button.primary', { download: '' }, icon('down'), 'Export');
  let asked = 0;
  const address = () => `?${[`pictures=${chosen.pictures}`, `text=${chosen.text}`, chosen.turns && `turns=${chosen.turns}`].filter(Boolean).join('&')}`;

  async function forecast(): Promise<void> {
    const mine = (asked += 1);
    save.href = BASE + path + address();
    try {
      const one = await get<ExportForecast>(`${path}/forecast`, { pictures: chosen.pictures, text: chosen.text, turns: chosen.turns || undefined });
      if (mine !== asked) return;
      const redacted = Object.entries(one.redacted).filter(([, number]) => number > 0);
      clear(size, `about ${bytes(one.bytes)}, ${count(one.pictures)} pictures${one.bytes > 20_000_000 ? ': a large file' : ''}`);
      clear(places, chosen.text === 'redacted' ? (redacted.length ? ['Redacted: ', redacted.map(([kind, number]) => `${count(number)} × ${kind}`).join(', ')] : 'Nothing was found to redact.') : '');
      clear(command, foreign(one.command, 400));
    } catch (failure) {
      if (mine === asked) clear(size, failure instanceof ApiFailure ? foreign(failure.message, 200) : 'Its size is not known.');
    }
  }

  const group = (name: keyof typeof chosen, title: string, options: Option[]) =>
    h('fieldset', null, h('legend', null, title), options.map(({ value, text }) => {
      const input = h<HTMLInputElement>('input', { type: 'radio', name: `export-${name}`, value, checked: chosen[name] === value });
      input.addEventListener('change', () => {
        chosen[name] = value;
        void forecast();
      });
      return h('label', null, input, text);
    }));
  const near = turn > 1 ? `${turn - 1}-${turn}` : '1-1';
  const opened = openDialog('Export this session as one HTML file', [
    h('p', null, 'The same viewer with its data inside. It opens from disk and asks nobody for anything.'),
    h('.options', null,
      group('turns', 'Turns', [{ value: '', text: `All ${count(session.total)}` }, { value: near, text: turn > 1 ? `Turn ${turn} and the one before it` : 'Turn 1' }]),
      group('pictures', 'Pictures', [{ value: 'sent', text: 'As the model got them' }, { value: 'all', text: 'And the originals' }, { value: 'small', text: 'Small' }, { value: 'none', text: 'None, only sizes and hashes' }]),
      group('text', 'Texts', [{ value: 'full', text: 'As they are' }, { value: 'redacted', text: 'Redacted: keys, mails, long numbers, paths become ▇' }, { value: 'none', text: 'None, only roles and lengths' }])),
    places,
    h('p.sub', null, h('b', null, 'Never in it: '), 'keys, cookies, headers of requests, folders of this machine, other sessions'),
    noteBox('warn', 'Pictures are not redacted. Look through them, or leave them out.'),
    command,
  ], [
    size, h('span.push'),
    h('button.button', { type: 'button', on: { click: () => opened.close() } }, 'Cancel'), save,
  ]);
  save.addEventListener('click', () => window.setTimeout(() => opened.close(), 0));
  (opened.dialog.querySelector('input') as HTMLElement | null)?.focus();
  void forecast();
}
