// A session from which every answer of the API is made, in the shapes of the viewer's api.ts.
import { createHash } from 'node:crypto';
import type * as Api from '../../../crates/photic-inspector/viewer/api.ts';
import type { Raster } from './raster.ts';

export interface MockPicture {
  label: string;
  tool?: string;
  turn: number;
  size: Api.Size;
  seen: Api.Size;
  tokens: number;
  bytes: number;
  draw?: () => Raster;
  /** Bytes to serve instead, with this type. */
  raw?: { type: string; data: Buffer };
  gone?: boolean;
  region?: [number, number, number, number];
  letters?: number;
  type?: string;
}

export interface MockTurn {
  row: Api.TurnRow;
  parts?: Partial<Api.Turn>;
  hunks?: Api.Hunk[];
  notReproduced?: boolean;
}

export interface MockSession {
  id: string;
  title: string;
  model?: string;
  wire?: string;
  host?: string;
  live?: boolean;
  priced?: boolean;
  created: number;
  turns: MockTurn[];
  pictures: MockPicture[];
  /** Messages of the client's body; a turn has the first `2n − 1`. */
  messages: Api.Message[];
  system?: string;
  tools?: string[];
  findings: Api.Finding[];
  notices: Map<string, string>;
  choices: Api.PictureChoice[];
  profile?: Api.ProfileFacts;
}

export const SHOWN = 'khspo';
const shown = (letter: string | undefined) => Boolean(letter && SHOWN.includes(letter));
const WORDS: Record<string, string> = { k: 'it stays in sight', h: 'an error result holds text only', s: 'a lesson: no side over 2,000 px', p: 'you pinned it', r: 'reading it again costs more than it is worth', d: 'you dropped it', e: 'the same picture is shown above', f: 'its bytes cannot be read' };

export class Problem extends Error {
  readonly status: number;
  readonly code: Api.FailureCode;
  readonly next: string | undefined;
  constructor(status: number, code: Api.FailureCode, message: string, next?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.next = next;
  }
}

export const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);
const sum = (values: (number | undefined)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0);
const some = (values: (number | undefined)[]) => (values.some((value) => value !== undefined) ? sum(values) : undefined);
/** What is not known is absent, also where a division by 0 gave no number. */
const defined = <T extends object>(value: T): T => JSON.parse(JSON.stringify(value), (_, one: unknown) => (one === null ? undefined : one)) as T;

export class Model {
  readonly session: MockSession;
  constructor(session: MockSession) {
    this.session = session;
  }

  private get rows(): Api.TurnRow[] {
    return this.session.turns.map((turn) => turn.row);
  }

  turn(n: number): MockTurn {
    const turn = this.session.turns[n - 1];
    if (!turn) throw new Problem(404, 'not_found', `The session has no turn ${n}.`, 'Open the timeline to see its turns.');
    return turn;
  }

  picture(k: number): MockPicture {
    const picture = this.session.pictures[k - 1];
    if (!picture) throw new Problem(404, 'not_found', `The session has no picture ${k}.`, 'Open the timeline to see its pictures.');
    return picture;
  }

  digest(k: number): string {
    return digest(`${this.session.id} ${k}`);
  }

  sizeIn(k: number, n: number): { sent: Api.Size; seen: Api.Size; tokens: number } {
    const one = this.picture(k);
    if (this.turn(n).row.fates[k - 1] !== 's') return { sent: one.size, seen: one.seen, tokens: one.tokens };
    const scale = Math.min(1, 2000 / Math.max(...one.size));
    const sent: Api.Size = [Math.round(one.size[0] * scale), Math.round(one.size[1] * scale)];
    return { sent, seen: sent, tokens: Math.ceil(sent[0] / 28) * Math.ceil(sent[1] / 28) };
  }

  summary(): Api.SessionRow {
    const { session, rows } = this;
    const last = session.pictures.length;
    const costs = rows.map((row) => row.usd ?? row.tokens.expected);
    const each = Math.max(1, Math.ceil(costs.length / 32));
    return defined({
      id: session.id, title: session.title, model: session.model, wire: session.wire, turns: rows.length, pictures: last, bytes: sum(session.pictures.map((picture) => picture.bytes)),
      created: session.created, last: rows.at(-1)?.at ?? session.created, tokens: sum(rows.map((row) => row.tokens.input ?? row.tokens.expected)), read: some(rows.map((row) => row.tokens.read)),
      usd: some(rows.map((row) => row.usd)), unpriced: rows.filter((row) => row.usd === undefined).length, reported: rows.filter((row) => row.reported).length,
      spark: Array.from({ length: Math.ceil(costs.length / each) }, (_, at) => sum(costs.slice(at * each, (at + 1) * each))),
      thumb: last ? { picture: last, digest: this.digest(last) } : undefined, live: session.live ?? false,
    }) as Api.SessionRow;
  }

  sums(): Api.Sums {
    const { rows } = this;
    const tokens = (of: (tokens: Api.Tokens) => number | undefined) => some(rows.map((row) => of(row.tokens)));
    const again = tokens((one) => one.again);
    const pictures = sum(this.session.turns.map((turn) => this.parts(turn.row.n).pictures));
    const usd = some(rows.map((row) => row.usd));
    return defined({ read: tokens((one) => one.read), written: tokens((one) => one.written), rest: tokens((one) => one.rest), again, output: tokens((one) => one.output), usd, usd_pictures: usd === undefined ? undefined : pictures, usd_output: some(rows.map((row) => this.parts(row.n).output)), usd_again: again === undefined || usd === undefined ? undefined : (again * 1.15 * 5) / 1e6, expected_tokens: sum(rows.map((row) => row.tokens.expected)), expected_usd: some(rows.map((row) => row.expected_usd)) });
  }

  private readonly known = new Map<number, NonNullable<Api.Turn['usd_parts']>>();

  /** Kept in long sessions, which do not change. */
  private parts(n: number): NonNullable<Api.Turn['usd_parts']> {
    if (this.session.turns.length <= 64) return this.partsOf(n);
    const parts = this.known.get(n) ?? this.partsOf(n);
    this.known.set(n, parts);
    return parts;
  }

  private partsOf(n: number): NonNullable<Api.Turn['usd_parts']> {
    const { row } = this.turn(n);
    if (row.usd === undefined) return {};
    const rate = (tokens: number | undefined, factor: number) => (tokens === undefined ? undefined : (tokens * factor * 5) / 1e6);
    const output = row.tokens.output === undefined ? undefined : (row.tokens.output * 25) / 1e6;
    const share = sum(this.session.pictures.map((_, at) => (shown(row.fates[at]) ? this.sizeIn(at + 1, n).tokens : 0))) / Math.max(1, row.tokens.input ?? row.tokens.expected);
    return defined({ read: rate(row.tokens.read, 0.1), written: rate(row.tokens.written, 1.25), again: rate(row.tokens.again, 1.25), rest: rate(row.tokens.rest, 1), output, pictures: (row.usd - (output ?? 0)) * Math.min(1, share) });
  }

  facts(): Api.Session {
    const { session, rows } = this;
    const group = (name: Api.Finding['group']) => session.findings.filter((finding) => finding.group === name).length;
    const last = rows.at(-1)?.fates ?? '';
    return defined({ ...this.summary(), sums: this.sums(), in_sight: [...last].filter(shown).length, changed: rows.length <= 64 ? Math.max(0, rows.length - 1) : undefined, findings: { blind: group('blind'), cost: group('cost'), repaired: group('repaired'), learned: group('learned') }, profile: session.profile, choices: session.choices }) as Api.Session;
  }

  turns(from: number, limit: number): Api.TurnPage {
    const items = this.rows.slice(from - 1, from - 1 + Math.min(200, limit));
    const next = from + items.length;
    return defined({ items, total: this.rows.length, next: next <= this.rows.length && items.length ? next : undefined, max_tokens: Math.max(1, ...this.rows.map((row) => row.tokens.input ?? row.tokens.expected)) }) as Api.TurnPage;
  }

  turnPicture(k: number, n: number): Api.TurnPicture {
    const { row } = this.turn(n);
    const one = this.picture(k);
    const letter = (row.fates[k - 1] ?? '.') as Api.FateLetter;
    const seen = shown(letter);
    const { sent, seen: resolved, tokens } = this.sizeIn(k, n);
    const stands = one.turn === n || (row.first?.message !== undefined && 2 * (one.turn - 1) >= row.first.message) ? 'written' : 'read';
    const usd = row.usd === undefined ? undefined : (tokens * (stands === 'written' ? 1.25 : 0.1) * 5) / 1e6;
    return defined({ picture: k, letter, reason: letter, reason_text: WORDS[letter] ?? '', notice: seen ? undefined : this.notice(k), size: one.size, sent: seen ? sent : undefined, seen: seen ? resolved : undefined, sent_bytes: seen ? one.bytes : undefined, sent_digest: seen ? (letter === 's' ? digest(`small ${k}`) : this.digest(k)) : undefined, tokens: seen ? tokens : undefined, usd: seen ? usd : undefined, stands: seen ? stands : undefined, x_height: seen && one.letters ? Number(((one.letters * resolved[0]) / one.size[0]).toFixed(1)) : undefined, choice: this.session.choices.find((choice) => choice.picture === k)?.choice, message: 2 * (one.turn - 1) }) as Api.TurnPicture;
  }

  notice(k: number): string {
    const one = this.picture(k);
    return this.session.notices.get(String(k)) ?? `[image not shown (image/png, ${one.size[0]}x${one.size[1]}): you cannot see it; call ${one.tool ?? 'the tool'} again to see it]`;
  }

  detail(n: number): Api.Turn {
    const { row, parts } = this.turn(n);
    const { session } = this;
    const first = row.first;
    const bytes = 36_000 + n * 34_000;
    const { tries: _, ...facts } = row;
    return defined({
      ...facts, wire: session.wire ?? 'anthropic', model: session.model, pictures: [...row.fates].flatMap((letter, at) => (letter === '.' ? [] : [this.turnPicture(at + 1, n)])),
      new_tokens: row.reported ? Math.max(0, (row.tokens.written ?? 0) - (row.tokens.again ?? 0)) : undefined, usd_parts: row.reported ? this.parts(n) : undefined,
      cache: n === 1 ? { state: 'nothing_yet', text: 'The first turn writes the cache; nothing can be read yet.' } : first ? { state: 'broken', text: `${first.text}: everything behind byte ${first.byte} was written again.`, common_bytes: first.byte } : { state: 'whole', text: `The bytes of turn ${n - 1} are unchanged at the beginning of this one.`, common_bytes: bytes - 34_000 },
      decisions: [{ did: 'marked', text: '3 cache marks added', why: 'so that the provider keeps what is before them', count: 3, pictures: [], at: ['/messages/0/content/1'], as_before: n > 2 }],
      request: { host: session.host, id: `req_${digest(`${n}`)}`, agent: 'ai-sdk/6.0.1', bytes_in: bytes, bytes_sent: bytes + 310, digest: digest(`${session.id} body ${n}`).slice(0, 12), reproduced: this.turn(n).notReproduced ? 'no' : 'yes', first_byte_ms: 1389, total_ms: 3183, ended: 'complete' },
      tries: [{ status: 200, bytes: bytes + 310, ms: 3183 }], headers: [['x-photic-fixes', '2'], ['x-photic-fixed', 'hoisted=1, rewrote=1']], has_reply: false, warnings: session.findings.filter((finding) => finding.group === 'blind' && finding.from === n).slice(0, 3),
      ...parts,
    }) as Api.Turn;
  }

  messages(n: number, side: string, from: number, limit: number, as: string | null): Api.MessagePage {
    const { row, notReproduced } = this.turn(n);
    if (notReproduced && side === 'model' && as !== 'now') throw new Problem(409, 'not_reproduced', `Turn ${n} cannot be made again byte for byte by this version.`, 'Look at what the agent sent, or at what this version would send.');
    if (side === 'reply') throw new Problem(404, 'not_found', 'The reply is not in the record.');
    const total = Math.min(this.session.messages.length, 2 * n - 1);
    const swap = (parts: Api.Part[]): Api.Part[] => parts.map((part) => {
      if (part.kind === 'result') return { ...part, parts: swap(part.parts) };
      if (part.kind === 'picture' && part.picture && side === 'model' && !shown(row.fates[part.picture - 1])) return { kind: 'notice', text: this.notice(part.picture), picture: part.picture };
      return part;
    });
    const items = this.session.messages.slice(0, total).slice(from, from + Math.min(50, limit)).map((message) => ({ ...message, parts: swap(message.parts) }));
    const next = from + items.length;
    return defined({ items, total, new_from: n === 1 ? 0 : 2 * n - 3, next: next < total && items.length ? next : undefined, made_now: as === 'now' && notReproduced ? true : undefined, system: from === 0 && this.session.system ? { kind: 'text', text: this.session.system } : undefined, tools: from === 0 ? this.session.tools : undefined }) as Api.MessagePage;
  }

  changes(n: number): Api.ChangePage {
    const hunks = this.turn(n).hunks ?? [];
    const { bytes_in = 0, bytes_sent } = this.detail(n).request;
    return { items: hunks, total: hunks.length, bytes_client: bytes_in, bytes_model: bytes_sent };
  }

  pictureRow(k: number, n: number): Api.PictureRow {
    const one = this.picture(k);
    return defined({ picture: k, digest: this.digest(k), turn: one.turn, label: one.label, tool: one.tool, media: 'image', media_type: one.type ?? 'image/png', size: one.size, bytes: one.bytes, letter: (this.session.turns[n - 1]?.row.fates[k - 1] ?? '.') as Api.FateLetter, tokens: one.tokens }) as Api.PictureRow;
  }

  pictures(from: number, limit: number): Api.PicturePage {
    const total = this.session.pictures.length;
    const turn = this.session.turns.length;
    const items = Array.from({ length: Math.max(0, Math.min(Math.min(200, limit), total - from + 1)) }, (_, at) => this.pictureRow(from + at, turn));
    const next = from + items.length;
    return defined({ items, total, next: next <= total && items.length ? next : undefined, turn }) as Api.PicturePage;
  }

  pictureDetail(k: number, asked: number | null): Api.Picture {
    const n = asked ?? this.session.turns.length;
    const one = this.picture(k);
    const now = this.turnPicture(k, n);
    const each = this.session.turns.length > 64 ? Math.ceil(this.session.turns.length / 64) : 1;
    const items: Api.PictureTurn[] = [];
    for (let from = 1; from <= this.session.turns.length; from += each) {
      const to = Math.min(this.session.turns.length, from + each - 1);
      const last = this.turnPicture(k, to);
      items.push(defined({ from, to, letter: last.letter, usd: last.usd === undefined ? undefined : last.usd * (to - from + 1), tokens: last.tokens, stands: last.stands }) as Api.PictureTurn);
    }
    const original = one.letters;
    const seenPx = now.seen && original ? Number(((original * now.seen[0]) / one.size[0]).toFixed(1)) : undefined;
    const cost = this.costs().pictures;
    const rank = cost.findIndex((entry) => entry.picture === k) + 1;
    return defined({
      ...this.pictureRow(k, n), handle: `img_${this.digest(k)}`, at: `/messages/${2 * (one.turn - 1)}/content/0`, now, as_of: n,
      legibility: original ? { verdict: (seenPx ?? original) < 6 ? 'small_text' : 'legible', text: `Its smallest letters are ${seenPx ?? original} px tall as resolved; models read from 6 px.`, original_px: original, seen_px: seenPx, by_turn: seenPx ? [[one.turn, seenPx]] : [], region: one.region, tiles: one.region ? 2 : undefined } : { verdict: 'no_text', text: 'No text was found in it.', by_turn: [] },
      formula: now.seen ? { text: `⌈${now.seen[0]}/28⌉ × ⌈${now.seen[1]}/28⌉ = ${Math.ceil(now.seen[0] / 28)} × ${Math.ceil(now.seen[1] / 28)} = ${(Math.ceil(now.seen[0] / 28) * Math.ceil(now.seen[1] / 28)).toLocaleString('en-US')}`, rule: 'rule cells28 of claude-5@anthropic: longest side 2,576, at most 4,784 tokens; published' } : undefined,
      cost: { usd: cost[rank - 1]?.usd, tokens: cost[rank - 1]?.tokens ?? 0, rank: Math.max(1, rank), of: this.session.pictures.length, turns_shown: cost[rank - 1]?.turns_shown ?? 0 },
      turns: items, map: now.seen && now.seen[0] > 0 && now.seen[1] > 0 ? { scale: [one.size[0] / now.seen[0], one.size[1] / now.seen[1]], offset: [0, 0] } : undefined, forecast: this.forecast(k), warnings: this.session.findings.filter((finding) => finding.picture === k && finding.group === 'blind').slice(0, 2),
    }) as Api.Picture;
  }

  forecast(k: number): Api.Forecast[] {
    const active = this.session.choices.find((choice) => choice.picture === k)?.choice;
    const { tokens } = this.picture(k);
    const save = (tokens * 0.1 * 5) / 1e6;
    return [
      { choice: 'drop', active: active === 'drop', possible: true, saves_tokens: tokens, saves_usd: save, costs_tokens: 8740, costs_usd: 0.0503, pays_after: Math.ceil(0.0503 / save), text: `Saves $${save.toFixed(5)} a turn, costs $0.0503 once; pays after ${Math.ceil(0.0503 / save)} turns.` },
      { choice: 'pin', active: active === 'pin', possible: true, text: `Holds ${tokens.toLocaleString('en-US')} tokens in every turn, $${save.toFixed(5)} each.` },
      { choice: { shrink: { max_edge: 1000 } }, active: typeof active === 'object', possible: tokens > 500, saves_tokens: Math.round(tokens * 0.6), saves_usd: save * 0.6, costs_tokens: 8740, costs_usd: 0.0503, pays_after: Math.ceil(0.0503 / save / 0.6), x_height: 2.2, text: tokens > 500 ? `To 1,000 px: saves $${(save * 0.6).toFixed(5)} a turn, costs $0.0503 once; pays after ${Math.ceil(0.0503 / save / 0.6)} turns; its text would be 2.2 px.` : 'It is small already.' },
    ];
  }

  compare(a: number, b: number): Api.Compare {
    const side = (n: number): Api.CompareSide => {
      const { row } = this.turn(n);
      const seen = [...row.fates].flatMap((letter, at) => (shown(letter) ? [this.sizeIn(at + 1, n).tokens] : []));
      return defined({ n, came: row.came, fates: row.fates, tokens: row.tokens, usd: row.usd, reported: row.reported, in_sight: seen.length, picture_tokens: sum(seen), bytes: this.detail(n).request.bytes_sent }) as Api.CompareSide;
    };
    const [x, y] = [side(a), side(b)];
    const messages: Api.CompareMessage[] = [];
    const total = Math.max(2 * a - 1, 2 * b - 1);
    for (let at = 0; at < Math.min(total, this.session.messages.length); at += 1) {
      const message = this.session.messages[at];
      const picture = message?.parts.flatMap((part) => (part.kind === 'result' ? part.parts : [part])).find((part) => part.kind === 'picture');
      const k = picture?.kind === 'picture' ? picture.picture : undefined;
      const one = k ? this.picture(k) : undefined;
      const spansOf = (n: number): Api.Span[] => (k === undefined || !one ? [{ text: 'words' }] : shown(this.turn(n).row.fates[k - 1]) ? [{ blob: { media_type: 'image/png', size: one.size, bytes: one.bytes, digest: this.digest(k), picture: k } }] : [{ text: this.notice(k), changed: true }]);
      if (at >= 2 * Math.min(a, b) - 1) messages.push(defined({ kind: b > a ? 'added' : 'removed', a: b > a ? undefined : at, b: b > a ? at : undefined, count: 1, role: message?.role, a_spans: b > a ? undefined : spansOf(a), b_spans: b > a ? spansOf(b) : undefined, text: 'new' }) as Api.CompareMessage);
      else if (k !== undefined && shown(x.fates[k - 1]) !== shown(y.fates[k - 1])) messages.push({ kind: 'changed', a: at, b: at, count: 1, role: message?.role ?? '', a_spans: spansOf(a), b_spans: spansOf(b), pictures: [k], text: `#${k} ${y.fates[k - 1] === 'r' ? 'retired' : 'changed'}` });
      else {
        const last = messages.at(-1);
        if (last?.kind === 'same') last.count += 1;
        else messages.push({ kind: 'same', a: at, b: at, count: 1 });
      }
    }
    const common = Math.min(x.tokens.input ?? 0, y.tokens.input ?? 0, y.tokens.read ?? Infinity);
    const gone = sum([...x.fates].map((letter, at) => (shown(letter) && !shown(y.fates[at]) ? this.sizeIn(at + 1, a).tokens : 0)));
    return defined({ a: x, b: y, common_bytes: this.turn(b).row.first?.byte ?? Math.min(x.bytes, y.bytes), common_tokens: common, first: this.turn(b).row.first, gone_tokens: gone, settings: [], messages }) as Api.Compare;
  }

  costs(): Api.CostPage {
    const { rows } = this;
    const priced = this.session.priced !== false;
    const turns = rows.map((row) => {
      const { pictures = 0, output = 0 } = this.parts(row.n);
      return defined({ from: row.n, to: row.n, reported: row.reported, usd: row.usd, pictures: priced ? pictures : undefined, words: row.usd === undefined ? undefined : row.usd - pictures - output, answer: row.usd === undefined ? undefined : output, again: row.tokens.again ? (row.tokens.again * 1.25 * 5) / 1e6 : undefined, tokens: row.tokens.input ?? row.tokens.expected }) as Api.CostTurn;
    });
    let paid = 0;
    const run = rows.map((row) => (paid += row.usd ?? 0));
    const pictures = this.session.pictures.map((one, at) => {
      const turnsShown = rows.filter((row) => shown(row.fates[at]));
      const tokens = sum(turnsShown.map((row) => this.sizeIn(at + 1, row.n).tokens));
      return defined({ picture: at + 1, label: one.label, digest: this.digest(at + 1), usd: priced && turnsShown.length ? (one.tokens * 1.25 * 5 + (tokens - one.tokens) * 0.1 * 5) / 1e6 : undefined, tokens, turns_shown: turnsShown.length, letter: (rows.at(-1)?.fates[at] ?? '.') as Api.FateLetter }) as Api.CostPicture;
    });
    return {
      sums: this.sums(), turns, policies: priced ? [{ name: 'paid', text: 'What was paid.', usd: run }, { name: 'all', text: 'Every picture stays in sight.', usd: run.map((value) => value * 0.85) }, { name: 'priced', text: 'Pictures retire when reading them again costs more than writing behind them.', usd: run.map((value) => value * 0.8) }, { name: 'optimum', text: 'As if the end of the session had been known.', usd: run.map((value) => value * 0.79) }] : [],
      pictures: pictures.sort((a, b) => (b.usd ?? 0) - (a.usd ?? 0)).slice(0, 100), misses: rows.flatMap((row) => (row.first ? [defined({ n: row.n, first: row.first, again: row.tokens.again, usd: row.tokens.again ? (row.tokens.again * 1.15 * 5) / 1e6 : undefined, reported: row.reported }) as Api.Miss] : [])),
    };
  }

  search(q: string, limit: number): Api.SearchPage {
    const words = q.toLowerCase();
    const items: Api.SearchHit[] = [];
    const number = /^(#|turn\s*)?(\d+)$/.exec(words);
    for (const row of this.rows) if ((number && number[1] !== '#' && row.n === Number(number[2])) || row.came.toLowerCase().includes(words)) items.push({ kind: 'turn', label: `Turn ${row.n}`, text: row.came, turn: row.n });
    this.session.pictures.forEach((one, at) => {
      if ((number?.[1] === '#' && at + 1 === Number(number[2])) || one.label.toLowerCase().includes(words)) items.push({ kind: 'picture', label: `#${at + 1}`, text: one.label, picture: at + 1, turn: one.turn });
    });
    for (const message of this.session.messages) {
      for (const part of message.parts) if (part.kind === 'text' && part.text.toLowerCase().includes(words)) items.push({ kind: 'text', label: 'Text', text: part.text.slice(0, 120), message: message.index, turn: Math.max(1, Math.ceil((message.index + 1) / 2)) });
    }
    return { items: items.slice(0, limit) };
  }
}
