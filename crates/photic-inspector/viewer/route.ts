// Addresses of views: everything that can be looked at has one.

export type TurnSide = 'model' | 'client' | 'wire';

export type Route =
  | { view: 'sessions' }
  | { view: 'timeline' | 'cost' | 'findings'; session: string }
  | { view: 'turn'; session: string; turn: number; side: TurnSide }
  | { view: 'picture'; session: string; picture: number; turn?: number }
  | { view: 'diff'; session: string; a: number; b: number }
  | { view: 'unknown' };

export type SessionRoute = Extract<Route, { session: string }>;

export function hasSession(route: Route): route is SessionRoute {
  return 'session' in route;
}

function numbered(text: string | undefined): number | null {
  return text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function parse(hash: string): Route {
  const parts = hash.replace(/^#\/?/, '').split('/').map(decoded);
  if (parts[0] === '') return { view: 'sessions' };
  const [first, session, view, x, y] = parts;
  if (first !== 's' || !session) return { view: 'unknown' };
  if (view === undefined || view === '') return { view: 'timeline', session };
  if (view === 'cost' || view === 'findings') return { view, session };
  const a = numbered(x);
  const b = numbered(y);
  if (view === 'turn' && a) return { view, session, turn: a, side: y === 'client' || y === 'wire' ? y : 'model' };
  if (view === 'picture' && a) return b ? { view, session, picture: a, turn: b } : { view, session, picture: a };
  if (view === 'diff' && a && b) return { view, session, a, b };
  return { view: 'unknown' };
}

const of = (session: string) => `#/s/${encodeURIComponent(session)}`;

export const to = {
  sessions: () => '#/',
  timeline: of,
  turn: (session: string, turn: number, side: TurnSide = 'model') => `${of(session)}/turn/${turn}${side === 'model' ? '' : `/${side}`}`,
  picture: (session: string, picture: number, turn?: number) => `${of(session)}/picture/${picture}${turn ? `/${turn}` : ''}`,
  diff: (session: string, a: number, b: number) => `${of(session)}/diff/${a}/${b}`,
  cost: (session: string) => `${of(session)}/cost`,
  findings: (session: string) => `${of(session)}/findings`,
};

export function go(address: string): void {
  if (location.hash !== address) location.hash = address;
}
