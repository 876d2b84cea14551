// A server with the API of the inspector over generated sessions, and the built viewer.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type * as Api from '../../../crates/photic-inspector/viewer/api.ts';
import { Model, Problem } from './model.ts';
import type { MockSession } from './model.ts';
import { page } from './raster.ts';

const ASSETS = new URL('../../../crates/photic-inspector/assets/', import.meta.url);
export const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
const TYPES: Record<string, string> = { 'index.html': 'text/html; charset=utf-8', 'app.js': 'text/javascript; charset=utf-8', 'app.css': 'text/css; charset=utf-8' };
const SAFE = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'content-security-policy': POLICY };

const drawn = new Map<string, Buffer>();

export class MockServer {
  readonly models = new Map<string, Model>();
  readonly requests: string[] = [];
  /** Milliseconds before each answer of the API. */
  delay = 0;
  away = false;
  noSessions = false;
  events = true;
  private readonly listeners = new Set<ServerResponse>();
  private server!: Server;
  private id = 0;

  constructor(sessions: MockSession[]) {
    for (const session of sessions) this.models.set(session.id, new Model(session));
  }

  async start(port = 0): Promise<string> {
    this.server = createServer((request, response) => void this.answer(request, response));
    await new Promise<void>((done) => this.server.listen(port, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/inspect/`;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.cut();
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  /** Ends all event streams. */
  cut(): void {
    for (const listener of this.listeners) listener.destroy();
    this.listeners.clear();
  }

  send<N extends Api.EventName>(name: N, data: Api.Events[N]): void {
    this.id += 1;
    for (const listener of this.listeners) listener.write(`id: ${this.id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  get listening(): number {
    return this.listeners.size;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    this.requests.push(url.pathname + url.search);
    try {
      if (url.pathname.startsWith('/inspect/api/v1/')) {
        if (this.delay) await new Promise((done) => setTimeout(done, this.delay));
        if (this.away) throw new Problem(503, 'away', 'The record cannot be read now.', 'Try again in a moment.');
        await this.api(request, response, url);
        return;
      }
      const name = url.pathname === '/inspect/' ? 'index.html' : url.pathname.replace('/inspect/', '');
      const type = TYPES[name];
      if (!type) throw new Problem(404, 'not_found', 'No such file.');
      response.writeHead(200, { 'content-type': type, ...SAFE }).end(readFileSync(new URL(name, ASSETS)));
    } catch (failure) {
      const problem = failure instanceof Problem ? failure : new Problem(500, 'away', String(failure));
      response.writeHead(problem.status, { 'content-type': 'application/json', ...SAFE }).end(JSON.stringify({ error: { code: problem.code, message: problem.message, next: problem.next } }));
    }
  }

  private async api(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const path = url.pathname.slice('/inspect/api/v1'.length);
    const number = (name: string, other: number) => Number(url.searchParams.get(name) ?? other);
    const json = (value: unknown) => response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store', ...SAFE }).end(JSON.stringify(value));
    if (path === '/enter') return void response.writeHead(204, { 'set-cookie': 'photic=1; HttpOnly; SameSite=Strict; Path=/inspect' }).end();
    if (path === '/about') return void json({ version: '0.2.0', door: 'gateway', address: '127.0.0.1:4142', choices: true, events: this.events, min_x_height: 6 } satisfies Api.About);
    if (path === '/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', ...SAFE }).write(': open\n\n');
      this.listeners.add(response);
      request.on('close', () => this.listeners.delete(response));
      return;
    }
    if (path === '/sessions') {
      const words = (url.searchParams.get('q') ?? '').toLowerCase();
      const all = this.noSessions ? [] : [...this.models.values()].map((model) => model.summary());
      const items = all.filter((row) => `${row.title} ${row.model ?? ''} ${row.id}`.toLowerCase().includes(words));
      const total = (of: (row: Api.SessionRow) => number | undefined) => all.reduce((sum, row) => sum + (of(row) ?? 0), 0);
      return void json({ items, totals: { sessions: all.length, pictures: total((row) => row.pictures), bytes: total((row) => row.bytes), tokens: total((row) => row.tokens), usd: total((row) => row.usd), unpriced: all.filter((row) => row.unpriced > 0).length } } satisfies Api.SessionPage);
    }
    const [, , id = '', kind, key, more] = path.split('/').map(decodeURIComponent);
    const model = this.models.get(id);
    if (!model) throw new Problem(404, 'not_found', 'There is no such session.', 'Open the list of sessions.');
    const asked = url.searchParams.has('turn') ? number('turn', 1) : null;
    switch (`${kind ?? ''}${key && more ? `/${more}` : key ? '/one' : ''}`) {
      case '': return void json(model.facts());
      case 'turns': return void json(model.turns(number('from', 1), number('limit', 200)));
      case 'turns/one': return void json(model.detail(Number(key)));
      case 'turns/messages': return void json(model.messages(Number(key), url.searchParams.get('side') ?? 'model', number('from', 0), number('limit', 50), url.searchParams.get('as')));
      case 'turns/changes': return void json(model.changes(Number(key)));
      case 'turns/body': return void response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment; filename="body.json"' }).end('{}');
      case 'pictures': return void json(model.pictures(number('from', 1), number('limit', 200)));
      case 'pictures/one': return void json(model.pictureDetail(Number(key), asked));
      case 'pictures/choice': return void json(await this.choose(request, model, Number(key)));
      case 'compare': return void json(model.compare(number('a', 1), number('b', 2)));
      case 'cost': return void json(model.costs());
      case 'findings': return void json({ items: model.session.findings });
      case 'search': return void json(model.search(url.searchParams.get('q') ?? '', number('limit', 40)));
      case 'export/one': return void json({ bytes: url.searchParams.get('pictures') === 'none' ? 210_000 : 2_300_000, redacted: { key: 3, mail: 12, card: 8 }, pictures: model.session.pictures.length, command: `photic session export ${id} --html --text ${url.searchParams.get('text')} --pictures ${url.searchParams.get('pictures')} > session.html` } satisfies Api.ExportForecast);
      case 'export': return void response.writeHead(200, { 'content-type': 'text/html', 'content-disposition': 'attachment; filename="session.html"' }).end('<!doctype html>');
      case 'pictures/thumb': case 'pictures/original': case 'pictures/sent': case 'pictures/seen': return this.image(response, model, Number(key), more ?? '', asked ?? model.session.turns.length);
      default: throw new Problem(404, 'not_found', 'No such address.');
    }
  }

  private async choose(request: IncomingMessage, model: Model, k: number): Promise<Api.ChoiceResult> {
    if (request.method !== 'POST' || request.headers['x-photic-inspect'] !== '1') throw new Problem(403, 'missing_header', 'The header is missing.');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { choice } = JSON.parse(Buffer.concat(chunks).toString()) as Api.ChoiceRequest;
    model.session.choices = model.session.choices.filter((one) => one.picture !== k);
    if (choice !== null) model.session.choices.push({ picture: k, choice });
    return { picture: k, choice, forecast: model.forecast(k) };
  }

  private image(response: ServerResponse, model: Model, k: number, kind: string, turn: number): void {
    const one = model.picture(k);
    if (one.gone) throw new Problem(410, 'picture_gone', 'The record no longer holds this picture.');
    const cached = { 'cache-control': 'private, max-age=31536000, immutable', ...SAFE };
    if (one.raw) return void response.writeHead(200, { 'content-type': one.raw.type, ...cached }).end(one.raw.data);
    const { sent, seen } = model.sizeIn(k, turn);
    const size: Api.Size = kind === 'thumb' ? [128, Math.min(128, Math.max(1, Math.round((128 * one.size[1]) / one.size[0])))] : kind === 'sent' ? sent : kind === 'seen' ? seen : one.size;
    const long = model.session.turns.length > 64;
    const name = `${long ? k % 5 : `${k} ${one.label.slice(0, 40)}`} ${one.size} ${kind === 'thumb' ? 'thumb' : ''} ${size}`;
    let png = drawn.get(name);
    if (!png) {
      const original = (one.draw ?? (() => page('table', ...one.size)))();
      const cut = kind === 'thumb' && original.height > original.width ? original.scaled(128, Math.round((128 * original.height) / original.width)) : original;
      png = (cut.width === size[0] && cut.height === size[1] ? cut : cut.scaled(...size)).png();
      drawn.set(name, png);
    }
    response.writeHead(200, { 'content-type': 'image/png', ...cached }).end(png);
  }
}
