// Events of the server: hints that something is new. After a gap the page asks for what it missed.
import { BASE } from './api.ts';
import type { EventName, Events } from './api.ts';

export type Connection = { state: 'off' } | { state: 'connecting' } | { state: 'open' } | { state: 'lost'; since: Date; again: number };

export interface Listener {
  event: <N extends EventName>(name: N, data: Events[N]) => void;
  connection: (connection: Connection) => void;
  /** The stream is open again after a gap. */
  caughtUp: () => void;
}

const NAMES: EventName[] = ['reset', 'turn', 'open', 'outcome', 'choice', 'lesson', 'session', 'gone'];
const MAX_WAIT = 15;

export class Live {
  private source: EventSource | null = null;
  private lost: Date | null = null;
  private wait = 1;
  private timer = 0;
  private readonly listener: Listener;
  private readonly address: string;

  constructor(session: string | null, listener: Listener) {
    this.listener = listener;
    this.address = `${BASE}/events${session === null ? '' : `?session=${encodeURIComponent(session)}`}`;
    this.connect();
  }

  close(): void {
    window.clearInterval(this.timer);
    this.source?.close();
    this.source = null;
  }

  /** Tries at once. */
  retry(): void {
    window.clearInterval(this.timer);
    this.connect();
  }

  private connect(): void {
    this.source?.close();
    if (!this.lost) this.listener.connection({ state: 'connecting' });
    const source = new EventSource(this.address);
    this.source = source;
    source.onopen = () => {
      this.wait = 1;
      this.listener.connection({ state: 'open' });
      if (this.lost) this.listener.caughtUp();
      this.lost = null;
    };
    source.onerror = () => {
      source.close();
      if (this.source === source) this.later();
    };
    for (const name of NAMES) {
      source.addEventListener(name, (event) => {
        const data = parsed((event as MessageEvent<unknown>).data);
        if (data) this.listener.event(name, data as Events[typeof name]);
      });
    }
  }

  private later(): void {
    this.lost ??= new Date();
    const since = this.lost;
    let left = this.wait;
    this.wait = Math.min(MAX_WAIT, this.wait * 2);
    this.listener.connection({ state: 'lost', since, again: left });
    window.clearInterval(this.timer);
    this.timer = window.setInterval(() => {
      left -= 1;
      if (left <= 0) this.retry();
      else this.listener.connection({ state: 'lost', since, again: left });
    }, 1000);
  }
}

function parsed(data: unknown): object | null {
  try {
    const value: unknown = JSON.parse(String(data));
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
