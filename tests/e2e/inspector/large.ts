// A session of 1,000 turns with 2,000 pictures; the policy keeps the newest 24 in sight.
import type * as Api from '../../../crates/photic-inspector/viewer/api.ts';
import type { MockPicture, MockSession, MockTurn } from './model.ts';
import { page } from './raster.ts';
import { PROFILE } from './story.ts';

export function large(turns = 1000): MockSession {
  const created = Date.parse('2026-11-16T08:00:00Z');
  const kinds = ['overview', 'table', 'order', 'dialog', 'login'] as const;
  const drawn = kinds.map((kind) => {
    let kept: ReturnType<typeof page> | undefined;
    return () => (kept ??= page(kind, 640, 400));
  });
  const pictures: MockPicture[] = Array.from({ length: turns * 2 }, (_, at) => ({ label: `/orders/${at}, step ${Math.floor(at / 2) + 1}`, tool: 'screenshot', turn: Math.floor(at / 2) + 1, size: [640, 400], seen: [640, 400], tokens: 345, bytes: 20_000 + at, draw: drawn[at % drawn.length]!, letters: 8 }));
  const list: MockTurn[] = Array.from({ length: turns }, (_, at) => {
    const n = at + 1;
    const known = 2 * n;
    // Pictures retire by twelve: the prefix changes only then.
    const retired = Math.max(0, Math.floor((known - 24) / 12) * 12);
    const lost = n > 12 && retired > Math.max(0, Math.floor((known - 26) / 12) * 12);
    const seen = known - retired;
    const input = 1800 + seen * 345 + n * 12;
    const written = lost ? input - 1835 : 714;
    const row: Api.TurnRow = {
      n, at: created + n * 9000, came: `/orders/${known - 1}`, call: 'screenshot full page', fates: 'r'.repeat(retired) + 'k'.repeat(seen), reported: true,
      tokens: { expected: input + 40, input, read: input - written, written, rest: 0, output: 40, ...(lost ? { again: written - 714 } : {}) },
      usd: ((input - written) * 0.5 + written * 6.25 + 1000) / 1e6, expected_usd: 0.01, marks: [1835, input],
      ...(lost ? { first: { byte: 36_790, message: 2, why: 'retired' as const, text: 'priced took 12 pictures out' } } : {}),
    };
    return { row };
  });
  const messages: Api.Message[] = [{ index: 0, role: 'user', parts: [{ kind: 'text', text: 'Check each order of the back office.' }] }];
  for (let n = 2; n <= turns; n += 1) {
    messages.push({ index: messages.length, role: 'assistant', parts: [{ kind: 'text', text: `Step ${n}.` }, { kind: 'call', name: 'screenshot', arguments: '{}' }] });
    messages.push({ index: messages.length, role: 'user', parts: [{ kind: 'result', name: 'screenshot', parts: [2 * n - 1, 2 * n].map((picture) => ({ kind: 'picture' as const, picture, media: 'image', media_type: 'image/png', size: [640, 400] as Api.Size, bytes: 20_000 })) }] });
  }
  return { id: 's_large0000000001', title: 'Nightly visual check of the back office', model: 'claude-sonnet-5', wire: 'anthropic', host: 'api.anthropic.com', created, turns: list, pictures, messages, findings: [], notices: new Map(), choices: [], profile: PROFILE };
}
