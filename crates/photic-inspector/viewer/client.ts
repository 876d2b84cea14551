// Answers of the API: from the server, or in an exported file from the data inside it.
import { BASE, POST_HEADER } from './api.ts';
import type { ExportData, Failure, FailureCode, PictureImage } from './api.ts';

/** An answer that is not what was asked for. */
export class ApiFailure extends Error {
  readonly code: FailureCode | 'unreachable';
  readonly next: string | undefined;

  constructor(code: FailureCode | 'unreachable', message: string, next?: string) {
    super(message);
    this.code = code;
    this.next = next;
  }
}

type Parameters = Record<string, string | number | undefined>;

const embedded = ((): ExportData | null => {
  const element = document.getElementById('photic-data');
  return element ? (JSON.parse(element.textContent ?? 'null') as ExportData) : null;
})();

/** Data of an exported file, if this page is one. */
export const file: ExportData | null = embedded;

const answers = new Map<string, Promise<unknown>>();
const MAX_ANSWERS = 60;

function query(parameters: Parameters, left: string[] = []): string {
  const pairs = Object.entries(parameters).filter(([name, value]) => value !== undefined && !left.includes(name));
  return pairs.length ? `?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}` : '';
}

function unpacked(value: unknown, pool: unknown[]): unknown {
  if (Array.isArray(value)) return value.map((item) => unpacked(item, pool));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value);
  if (entries.length === 1 && entries[0]?.[0] === '$') return unpacked(pool[Number(entries[0][1])], pool);
  return Object.fromEntries(entries.map(([name, item]) => [name, unpacked(item, pool)]));
}

function fromFile(data: ExportData, path: string, parameters: Parameters): unknown {
  const addresses = [path + query(parameters, ['from', 'limit']), path + query(parameters, ['from', 'limit', 'turn', 'as']), path];
  const address = addresses.find((candidate) => Object.hasOwn(data.answers, candidate));
  if (address === undefined) throw new ApiFailure('not_found', 'This is not part of the file.', 'Open the session in photic to see it.');
  const answer = unpacked(data.answers[address], data.pool);
  failIf(answer);
  return answer;
}

function failIf(answer: unknown): void {
  const failure = (answer as Partial<Failure> | null)?.error;
  if (failure) throw new ApiFailure(failure.code, failure.message, failure.next);
}

async function fromServer(path: string, options?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(BASE + path, { credentials: 'same-origin', ...options });
  } catch {
    throw new ApiFailure('unreachable', 'The program that serves this page does not answer.', 'Start it again; this page tries again by itself.');
  }
  if (response.ok) return response;
  const answer: unknown = await response.json().catch(() => null);
  failIf(answer);
  throw new ApiFailure(response.status === 404 ? 'not_found' : 'away', `The server answered with status ${response.status}.`, 'Try again.');
}

/** The answer to a GET. The same question is asked once until `forget` is called. */
export function get<T>(path: string, parameters: Parameters = {}): Promise<T> {
  const address = path + query(parameters);
  const known = answers.get(address);
  if (known) return known as Promise<T>;
  const answer = (async () => (embedded ? fromFile(embedded, path, parameters) : ((await (await fromServer(address)).json()) as unknown)))();
  answers.set(address, answer);
  if (answers.size > MAX_ANSWERS) answers.delete(answers.keys().next().value ?? '');
  answer.catch(() => answers.delete(address));
  return answer as Promise<T>;
}

/** Forgets answers whose address begins with `prefix`. */
export function forget(prefix: string): void {
  for (const address of answers.keys()) if (address.startsWith(prefix)) answers.delete(address);
}

export async function post<T>(path: string, body: unknown): Promise<T | null> {
  const headers = { [POST_HEADER]: '1', 'content-type': 'application/json' };
  const response = await fromServer(path, { method: 'POST', headers, body: JSON.stringify(body) });
  return response.status === 204 ? null : ((await response.json()) as T);
}

export interface ImageAddress {
  session: string;
  picture: number;
  kind: PictureImage;
  digest?: string | undefined;
  turn?: number | undefined;
}

/** The address of a picture for `src`; null if an exported file does not have it. */
export function imageAddress({ session, picture, kind, digest, turn }: ImageAddress): string | null {
  const path = `/sessions/${encodeURIComponent(session)}/pictures/${picture}/${kind}`;
  const of_turn = kind === 'sent' || kind === 'seen';
  if (!embedded) return BASE + path + query(of_turn ? { turn } : { h: digest });
  let index = embedded.images[of_turn ? `${path}?turn=${turn}` : path];
  // What was sent is in the file once, at the turn in which it was sent first.
  for (let before = (turn ?? 1) - 1; kind === 'sent' && index === undefined && before > 0; before -= 1) index = embedded.images[`${path}?turn=${before}`];
  return index === undefined ? null : (embedded.blobs[index] ?? null);
}

/** The picture itself, decoded; fails with the server's words. The second value frees it. */
export async function loadImage(address: string): Promise<[HTMLImageElement, () => void]> {
  let source = address;
  let release = () => {};
  if (!address.startsWith('data:')) {
    const response = await fromServer(address.slice(BASE.length));
    source = URL.createObjectURL(await response.blob());
    release = () => URL.revokeObjectURL(source);
  }
  const image = new Image();
  image.src = source;
  try {
    await image.decode();
  } catch {
    release();
    throw new ApiFailure('not_a_picture', 'The browser cannot read this picture.', 'Its size, type and hash are known; save the original to look at its bytes.');
  }
  return [image, release];
}
