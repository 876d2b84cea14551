// A session as far as it is known here: its sums, rows of turns and pictures, loaded in pages when they are looked at.
import { SHOWN } from './api.ts';
import type { FateLetter, PicturePage, PictureRow, Session, TurnPage, TurnRow } from './api.ts';
import { forget, get, imageAddress } from './client.ts';

const PAGE = 200;

export function shown(letter: string | undefined): boolean {
  return letter !== undefined && letter !== '' && SHOWN.includes(letter);
}

export class OpenSession {
  readonly id: string;
  facts!: Session;
  total = 0;
  maxTokens = 1;
  private readonly rows = new Map<number, TurnRow>();
  private readonly pictures = new Map<number, PictureRow>();
  private readonly asked = new Map<string, Promise<void>>();

  constructor(id: string) {
    this.id = id;
  }

  get path(): string {
    return `/sessions/${encodeURIComponent(this.id)}`;
  }

  async open(): Promise<void> {
    const [facts] = await Promise.all([get<Session>(this.path), this.loadTurns(1), this.loadPictures(1)]);
    this.facts = facts;
    this.total = Math.max(this.total, facts.turns);
  }

  async refresh(): Promise<void> {
    forget(this.path);
    this.facts = await get<Session>(this.path);
  }

  row(turn: number): TurnRow | undefined {
    return this.rows.get(turn);
  }

  picture(number: number): PictureRow | undefined {
    return this.pictures.get(number);
  }

  label(number: number): string {
    return this.pictures.get(number)?.label ?? '';
  }

  letter(turn: number, picture: number): FateLetter | undefined {
    return this.rows.get(turn)?.fates[picture - 1] as FateLetter | undefined;
  }

  /** Pictures that the model sees in a turn. */
  inSight(turn: number): number {
    let seen = 0;
    for (const letter of this.rows.get(turn)?.fates ?? '') if (shown(letter)) seen += 1;
    return seen;
  }

  put(row: TurnRow): void {
    this.rows.set(row.n, row);
    this.total = Math.max(this.total, row.n);
    this.maxTokens = Math.max(this.maxTokens, row.tokens.input ?? row.tokens.expected);
  }

  /** Loads the page of turns that holds `turn`; at once if it is here. */
  loadTurns(turn: number): Promise<void> {
    const from = Math.floor((turn - 1) / PAGE) * PAGE + 1;
    return this.once(`turns ${from}`, async () => {
      const page = await get<TurnPage>(`${this.path}/turns`, { from, limit: PAGE });
      this.take(page);
    });
  }

  /** Rows from the last known one on: after a gap in the events. */
  async catchUp(): Promise<void> {
    let from: number | undefined = Math.max(1, this.lastKnown());
    while (from !== undefined) {
      forget(`${this.path}/turns?`);
      const page: TurnPage = await get<TurnPage>(`${this.path}/turns`, { from, limit: PAGE });
      this.take(page);
      from = page.next;
    }
  }

  private lastKnown(): number {
    return Math.max(0, ...this.rows.keys());
  }

  private take(page: TurnPage): void {
    for (const row of page.items) this.put(row);
    this.total = Math.max(this.total, page.total);
    this.maxTokens = Math.max(this.maxTokens, page.max_tokens);
  }

  loadPictures(number: number): Promise<void> {
    const from = Math.floor((number - 1) / PAGE) * PAGE + 1;
    return this.once(`pictures ${from}`, async () => {
      const page = await get<PicturePage>(`${this.path}/pictures`, { from, limit: PAGE });
      for (const row of page.items) this.pictures.set(row.picture, row);
    });
  }

  /** Pictures came: pages that were not full are asked for again. */
  async morePictures(): Promise<void> {
    forget(`${this.path}/pictures?`);
    for (const name of this.asked.keys()) if (name.startsWith('pictures')) this.asked.delete(name);
    await this.loadPictures(Math.max(1, this.pictures.size));
  }

  private once(name: string, load: () => Promise<void>): Promise<void> {
    const known = this.asked.get(name);
    if (known) return known;
    const loading = load();
    this.asked.set(name, loading);
    loading.catch(() => this.asked.delete(name));
    return loading;
  }

  /** Address of the small picture; undefined until its row is here. */
  thumb(number: number): string | undefined {
    const row = this.pictures.get(number);
    if (!row) return undefined;
    return imageAddress({ session: this.id, picture: number, kind: 'thumb', digest: row.digest }) ?? undefined;
  }
}
