// A picture: could it be read, and what is it worth?
import type { Choice, ChoiceResult, Forecast, Picture } from './api.ts';
import { file, forget, get, imageAddress, post } from './client.ts';
import { confirm } from './dialogs.ts';
import { clear, h, icon } from './dom.ts';
import { bytes, count, line, plural, size, usd } from './format.ts';
import { saidOf } from './lanes.ts';
import { Loupe } from './loupe.ts';
import { chip, foreign, key, noteBox, swatch, whole } from './parts.ts';
import { pictureRail } from './rail.ts';
import { go, to } from './route.ts';
import { shown } from './session.ts';
import { steps } from './steps.ts';
import { section } from './turn-side.ts';
import type { Context, View } from './view.ts';

export async function pictureView(context: Context, number: number, asked: number | undefined): Promise<View> {
  const { session, about } = context;
  await session.loadPictures(number);
  const turn = asked ?? Math.max(session.picture(number)?.turn ?? 1, Math.min(context.turn, session.total));
  const one = await get<Picture>(`${session.path}/pictures/${number}`, { turn });
  const as_of = one.as_of;
  context.turn = as_of;
  const { now } = one;
  const rail = pictureRail(context, number, as_of);
  const [width, height] = one.size ?? now.size ?? [1, 1];
  const base: [number, number] = [Math.max(1, width), Math.max(1, height)];
  const seen = shown(now.letter);
  const at = (kind: 'original' | 'sent' | 'seen') => imageAddress({ session: session.id, picture: number, kind, digest: one.digest, turn: as_of });
  const touched = now.sent_digest !== undefined && one.digest !== undefined && now.sent_digest !== one.digest;
  const text = (words: string) => h('span', null, words);
  const click = h('p.mono');
  const loupe = new Loupe(
    [
      { title: 'Original', address: one.media === 'image' ? at('original') : null, pixels: one.size, none: file ? 'The original is not in this file.' : `${line(one.media, 30)}: not a picture that this page shows`, lines: [text(`${one.size ? `${size(one.size)} px, ` : ''}${typeOf(one)}, ${bytes(one.bytes)}`), h('span', null, one.tool ? ['from ', foreign(one.tool, 40)] : 'from the user', one.handle ? `, ${line(one.handle, 40)}` : '')] },
      { title: 'As it is sent', address: seen ? (at('sent') ?? (touched ? null : at('original'))) : null, pixels: now.sent, none: seen ? 'Its bytes are not in this file.' : `The model does not see it in turn ${as_of}: ${saidOf(now.letter)}.`, lines: seen ? [text(`${now.sent ? `${size(now.sent)} px` : 'size not known'}${now.sent_bytes === undefined ? '' : `, ${bytes(now.sent_bytes)}`}`), text(touched ? saidOf(now.letter) : 'untouched')] : [text(saidOf(now.letter)), text('')] },
      { title: 'As the model resolves it', address: seen ? (at('seen') ?? at('sent') ?? (touched ? null : at('original'))) : null, pixels: now.seen, none: seen ? 'Its bytes are not in this file.' : 'The model reads a line instead.', lines: seen ? [text(now.seen ? `${size(now.seen)} px` : 'size not known'), text(now.seen && now.sent && size(now.seen) !== size(now.sent) ? `resized by the provider, ${(now.seen[0] / now.sent[0]).toFixed(3)}` : 'the provider leaves its size alone')] : [text(''), text('')] },
    ],
    base, one.legibility?.region,
    (x, y) => {
      if (!one.map) return;
      const { scale, offset } = one.map;
      const [mx, my] = [Math.round((x - offset[0]) / (scale[0] || 1)), Math.round((y - offset[1]) / (scale[1] || 1))];
      click.textContent = `(${mx}, ${my}) → (${Math.round(mx * scale[0] + offset[0])}, ${Math.round(my * scale[1] + offset[1])})`;
    },
  );
  const region = () => loupe.showRegion();
  const actions = h('div');
  const side = h('aside.side', { 'aria-label': `Facts of picture ${number}` });
  let forecast = one.forecast;

  const drawActions = () => clear(actions, forecast.map((entry) => action(entry, () => void choose(entry))));
  async function choose(entry: Forecast): Promise<void> {
    if (!entry.possible && !entry.active) return;
    const name = nameOf(entry.choice);
    const sure = await confirm(entry.active ? `Take back: ${name} #${number}?` : `${name} #${number} from the next turn on?`, entry.active ? 'The next turn is planned without this choice.' : entry.text, entry.active ? 'Take back' : name);
    if (!sure) return;
    try {
      const result = await post<ChoiceResult>(`${session.path}/pictures/${number}/choice`, { choice: entry.active ? null : entry.choice });
      if (result) forecast = result.forecast;
      forget(session.path);
      drawActions();
      context.say(entry.active ? `Taken back: picture ${number}` : `${name}: picture ${number}, from the next turn on`);
      (actions.querySelector('button') as HTMLElement | null)?.focus();
    } catch (failure) {
      actions.append(noteBox('bad', h('span', { role: 'alert' }, failure instanceof Error ? foreign(failure.message, 300) : 'The choice was not made.')));
    }
  }

  const parts: (Node | null)[] = [
    readable(one, about.min_x_height),
    section('Tokens', now.tokens === undefined ? 'none in this turn' : count(now.tokens),
      one.formula ? h('p.mono', null, line(one.formula.text, 200)) : null,
      one.formula ? h('p.sub', null, foreign(one.formula.rule, 300)) : h('p.dim', null, seen ? 'This profile has no formula for it.' : 'The model does not see it here.')),
    costs(context, one),
    one.map ? section('Where a click lands', 'model’s pixel to source', click, h('p.mono.dim', null, mapText(one.map))) : null,
    section('From the next turn on', 'nothing recorded changes', about.choices && !file ? actions : h('p.dim', null, file ? 'Choices are made in photic, not in this file.' : 'Choices cannot be made here: the program that serves this page only reads.')),
  ];
  clear(side, ...parts);
  drawActions();

  const element = h(
    '.panes',
    null,
    rail.element,
    h('section.middle', { 'aria-label': `Picture ${number}` },
      h('.head', null,
        h('.row.wrap', null, h('h1', null, `#${number} `, foreign(one.label || 'a picture', 100)), h('span.push'), loupe.controls, one.legibility?.region ? h('button.button', { type: 'button', on: { click: region } }, 'Region to look at ', key('r')) : null),
        seen ? null : noteBox('info', h('b', null, `The model does not see #${number} in turn ${as_of}. `), foreign(now.reason_text, 300), now.notice ? h('.told', null, whole(now.notice, 2000)) : null),
        one.warnings.slice(0, 2).map((finding) => noteBox(finding.severity === 'bad' ? 'bad' : 'warn', h('b', null, foreign(finding.title, 160), '.'), ' ', foreign(finding.text, 300), ' ', h('a.link', { href: to.findings(session.id) }, 'What to do')))),
      loupe.element),
    side,
  );

  const other = (by: number) => number + by >= 1 && number + by <= session.facts.pictures && go(to.picture(session.id, number + by));
  const step = (by: number) => as_of + by >= one.turn && as_of + by <= session.total ? to.picture(session.id, number, as_of + by) : null;
  const shift = (by: number) => {
    const address = step(by);
    if (address) go(address);
  };
  const act = (wanted: string) => () => {
    const entry = forecast.find((candidate) => (typeof candidate.choice === 'string' ? candidate.choice : 'shrink') === wanted);
    if (entry && about.choices && !file) void choose(entry);
  };
  const arrows = Object.fromEntries(([['ArrowLeft', -1, 0], ['ArrowRight', 1, 0], ['ArrowUp', 0, -1], ['ArrowDown', 0, 1]] as const).flatMap(([name, x, y]) => [[name, () => loupe.move(x, y)], [`Shift+${name}`, () => loupe.move(x * 8, y * 8)]]));
  return {
    element,
    title: `Picture ${number}`,
    keys: {
      ...arrows, '+': () => loupe.scale(2), '=': () => loupe.scale(2), '-': () => loupe.scale(0.5), '0': () => loupe.fit(), r: region,
      j: () => other(1), k: () => other(-1), '[': () => shift(-1), ']': () => shift(1),
      'Shift+D': act('drop'), 'Shift+P': act('pin'), 'Shift+S': act('shrink'),
    },
    hints: [
      { keys: ['←', '→', '↑', '↓'], does: 'move the loupe' }, { keys: ['+', '−', '0'], does: 'zoom' }, { keys: ['r'], does: 'the region to look at' }, { keys: ['[', ']'], does: 'turn' }, { keys: ['j', 'k'], does: 'picture' },
    ],
    context: steps(step(-1), step(1), h('span.dim', null, 'as of '), h('b', null, `turn ${as_of}`)),
    placed: () => {
      rail.placed();
      loupe.draw();
    },
    turnsChanged: () => rail.update(),
    close: () => {
      rail.close();
      loupe.close();
    },
  };
}

function typeOf(one: Picture): string {
  return line((one.media_type ?? one.media).replace(/^image\//, '').toUpperCase(), 30);
}

function mapText({ scale, offset }: NonNullable<Picture['map']>): string {
  const part = (axis: string, by: number, add: number) => `${axis}′ = ${by.toFixed(4)}·${axis}${add ? ` + ${add}` : ''}`;
  return `${part('x', scale[0], offset[0])}   ${part('y', scale[1], offset[1])}`;
}

function readable({ legibility: one }: Picture, least: number): HTMLElement {
  if (!one) return section('Can it be read?', null, h('p.dim', null, 'Not known: the picture could not be examined.'));
  const verdict = one.verdict === 'legible' ? chip('ok', 'legible') : one.verdict === 'small_text' ? chip('warn', 'small_text') : chip('info', 'no text');
  const box = section('Can it be read?', null, one.verdict === 'no_text' ? null : gauge(one, least), h('p.sub', null, foreign(one.text, 400)),
    one.region ? h('p.sub', null, 'To read it: region ', h('code', null, one.region.join(',')), ' (dashed)', one.tiles ? ` or ${plural(one.tiles, 'tile')}` : '', '.') : null);
  box.querySelector('h2')?.append(h('span.push', null, verdict));
  return box;
}

/** The size of the smallest letters on a line from 0, with the size that models read. */
function gauge(one: NonNullable<Picture['legibility']>, least: number): HTMLElement {
  const marks: [px: number, words: string, on: boolean][] = one.by_turn.map(([from, px], at) => {
    const next = one.by_turn[at + 1]?.[0];
    return [px, next === undefined ? `turn ${from} on` : next - 1 === from ? `turn ${from}` : `turns ${from}–${next - 1}`, px === one.seen_px];
  });
  if (!marks.length && one.seen_px !== undefined) marks.push([one.seen_px, 'as resolved', true]);
  if (one.original_px !== undefined) marks.push([one.original_px, 'original', false]);
  const few = marks.sort((a, b) => a[0] - b[0]).slice(0, 4);
  const max = Math.max(least * 1.6, ...few.map(([px]) => px)) * 1.06;
  const words = few.map(([px, text]) => `${px.toFixed(1)} px ${text}`).join(', ');
  const where = (px: number) => `${Math.min(100, (px / max) * 100)}%`;
  const scale = h('.gauge', { role: 'img', 'aria-label': `Smallest letters: ${words}; models read from ${least} px` },
    h('.axis', { style: { '--least': where(least) } }), h('.least', { style: { left: where(least) } }, `${least}: models read`),
    few.map(([px,, on]) => h(`.at${on ? '.on' : ''}`, { style: { left: where(px) } })));
  return h('div', null, scale, h('ul.gauge-words', { 'aria-hidden': 'true' }, few.map(([px, text, on]) => h(`li${on ? '.on' : ''}`, null, h('b', null, px.toFixed(1)), ` ${text}`))));
}

function costs({ session }: Context, one: Picture): HTMLElement {
  const head = one.cost.usd === undefined ? plural(one.cost.tokens, 'token') : `${usd(one.cost.usd)}, number ${one.cost.rank} of ${one.cost.of}`;
  const items = one.turns.map((item) => {
    const range = item.from === item.to ? String(item.from) : `${item.from}–${item.to}`;
    const here = one.as_of >= item.from && one.as_of <= item.to;
    const kind = !shown(item.letter) ? (item.letter === '.' ? 'none' : 'gone') : item.letter === 's' ? 'smaller' : (item.stands ?? 'rest');
    const words = `Turn ${range}: ${saidOf(item.letter)}${item.stands ? `, ${item.stands === 'rest' ? 'not kept' : item.stands}` : ''}${item.usd === undefined ? '' : `, ${usd(item.usd)}`}`;
    return h('li', null, h(`a.${kind}`, { href: to.picture(session.id, one.picture, Math.max(item.from, one.turn)), 'aria-current': here ? 'true' : null, 'aria-label': words, title: words }, range));
  });
  return section('Its cost, turn by turn', head,
    h('ol.fates', { style: one.turns.some((item) => item.to > 999 || item.from !== item.to) ? { 'grid-template-columns': 'repeat(auto-fill, minmax(74px, 1fr))' } : {} }, items),
    h('.legend.small', null, swatch('written', 'written'), swatch('read', 'read'), swatch('rest', 'not kept'), swatch('smaller', 'made smaller'), h('span.push', null, `in sight in ${plural(one.cost.turns_shown, 'turn')}`)));
}

function nameOf(choice: Choice): string {
  return choice === 'drop' ? 'Drop' : choice === 'pin' ? 'Pin' : `Shrink to ${count(choice.shrink.max_edge)} px`;
}

function action(entry: Forecast, act: () => void): HTMLElement {
  const name = nameOf(entry.choice);
  const done = entry.choice === 'drop' ? 'Dropped' : entry.choice === 'pin' ? 'Pinned' : 'Made smaller';
  const glyph = entry.choice === 'drop' ? null : icon(entry.choice === 'pin' ? 'pin' : 'shrink');
  return h('.action', null,
    h('button.button', { type: 'button', 'aria-pressed': String(entry.active), disabled: !entry.possible && !entry.active, on: { click: act } }, glyph, entry.active ? done : name.split(' ')[0]),
    h('p', null, foreign(entry.text, 300)));
}
