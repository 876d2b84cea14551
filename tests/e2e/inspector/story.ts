// The session of 16 turns: an agent looks for an order, misreads a list, zooms, and refunds a charge.
import type * as Api from '../../../crates/photic-inspector/viewer/api.ts';
import type { MockPicture, MockSession, MockTurn } from './model.ts';
import { page } from './raster.ts';

type Kind = Parameters<typeof page>[0];
const PICTURES: [label: string, kind: Kind, width: number, height: number, tokens: number, tool?: string, bytes?: number][] = [
  ['statement, attached', 'statement', 900, 620, 759, undefined, 23939], ['/login', 'login', 1280, 800, 1334, 'screenshot', 18010], ['/overview', 'overview', 1280, 800, 1334, 'click', 45979],
  ['/orders', 'table', 1280, 800, 1334, 'click', 128994], ['payments log', 'table', 1280, 800, 1334, 'open_payments', 121031], ['/orders, loading', 'empty', 1280, 800, 1334, 'screenshot', 21036],
  ['/orders, full page', 'table', 1280, 3720, 2944, 'screenshot', 46380], ['/orders/11193', 'empty', 1280, 800, 1334, 'screenshot', 28350], ['part of /orders', 'table', 900, 580, 693, 'screenshot', 6158],
  ['/orders/11198', 'order', 1280, 800, 1334, 'screenshot', 61013], ['refund dialog', 'dialog', 1280, 800, 1334, 'click', 61488], ['refund, filled', 'dialog', 1280, 800, 1334, 'type', 65709],
  ['refund, again', 'dialog', 1280, 800, 1334, 'screenshot', 65709], ['refund done', 'order', 1280, 800, 1334, 'click', 65657], ['payments at 2x', 'table', 3840, 2160, 4784, 'open_payments', 463506], ['mail preview', 'mail', 390, 844, 434, 'send_mail_preview', 25422],
];

// expected, expected dollars, read, written, rest, answer, dollars, first byte, its message, again, fates
const TURNS: [number, number, number, number, number, number, number, number, number, number, string][] = [
  [1889, 0.011806, 0, 0, 1819, 36, 0.009995, 0, 0, 0, 'k'], [3320, 0.009888, 0, 3174, 0, 35, 0.020713, 0, 0, 0, 'kk'], [4754, 0.010617, 3174, 1357, 0, 42, 0.011118, 0, 0, 0, 'kkk'], [6193, 0.011365, 4531, 1363, 0, 57, 0.012209, 0, 0, 0, 'kkkk'],
  [7646, 0.012172, 5894, 1378, 0, 61, 0.013085, 0, 0, 0, 'kkkkk'], [9110, 0.012973, 7272, 1420, 0, 42, 0.013561, 0, 0, 0, 'kkkkkh'], [12165, 0.023643, 8692, 2979, 0, 53, 0.02429, 0, 0, 0, 'kkkkkhk'], [13615, 0.015145, 11671, 1374, 0, 58, 0.015873, 0, 0, 0, 'kkkkkhpk'],
  [14429, 0.011895, 13045, 739, 0, 47, 0.012316, 0, 0, 0, 'kkkkkhpkk'], [15873, 0.01624, 13784, 1368, 0, 45, 0.016567, 0, 0, 0, 'kkkkkhpkkk'], [17313, 0.016937, 15152, 1364, 0, 38, 0.017051, 0, 0, 0, 'kkkkkhpkkkk'], [18745, 0.017607, 16516, 0, 1357, 42, 0.016093, 0, 0, 0, 'kkkkkhpkkkkk'],
  [9040, 0.045351, 1835, 6199, 0, 30, 0.040411, 36790, 2, 6152, 'krrrrrprrrkke'], [9158, 0.046088, 5290, 2783, 0, 49, 0.021264, 103003, 20, 1412, 'krrrrrprrrdkek'], [13058, 0.024164, 1835, 10068, 0, 41, 0.064868, 39291, 12, 7053, 'krrrrrsrkkdkeks'], [13596, 0.009886, 11903, 461, 0, 62, 0.010383, 0, 0, 0, 'krrrrrsrkkdkeksk'],
];

const CALLS = ['', 'screenshot /login', 'click 640, 470', 'click 268, 28', 'open_payments 2026-11-14T02', 'screenshot full page', 'screenshot full page', 'screenshot /orders/11193', 'screenshot region 24,548,900,580', 'screenshot /orders/11198', 'click 112, 420', 'type text', 'screenshot current', 'click 838, 552', 'open_payments 2026-11-14T02', 'send_mail_preview 11198'];
const SAID = [
  'I will look at the back office first.', 'The form is filled already. I sign in.', 'There is an alert about the import of 02:00. I open the orders.', 'Sixteen orders are visible; the one we look for may be further down. I check the payments of that hour.',
  'Two charges of one second apart, ch_7Q2fb1 and ch_7Q2fba. I need the order, so I load the whole list.', 'It was still loading. Once more.', 'Order #11193 of customer 209, 15.69 EUR, on hold, is the one that was charged twice. I open it.', 'There is no such order, so I misread the number. I zoom into that part of the list.',
  'Now it is legible: #11198, customer 299, 15.09 EUR, on hold. I open it.', 'Two charges, ch_7Q2fb1 and ch_7Q2fba, of 15.09 EUR each. I refund the second.', 'I choose the charge and the reason.', 'The amount is 15.09 EUR. I look once more before I confirm.', 'I confirm the refund.', 'The refund is on its way. I check the log of payments on the large screen.', 'The second charge is refunded. One look at the mail.',
];

const NOTES: Record<number, Api.Note[]> = {
  5: [{ kind: 'ok', code: 'rescued', text: '#5 rescued', picture: 5 }], 6: [{ kind: 'ok', code: 'moved', text: '#6 moved', picture: 6 }], 7: [{ kind: 'warn', code: 'small_text', text: 'small text', picture: 7 }], 8: [{ kind: 'info', code: 'pinned', text: '#7 pinned', picture: 7 }],
  12: [{ kind: 'info', code: 'not_marked', text: 'end unmarked' }], 13: [{ kind: 'info', code: 'repeated', text: '#13 = #12', picture: 13 }], 14: [{ kind: 'info', code: 'dropped', text: '#11 dropped', picture: 11 }], 15: [{ kind: 'warn', code: 'healed', text: '400, healed' }, { kind: 'warn', code: 'came_back', text: '2 came back' }],
};
const WHY: Record<number, [Api.ChangeReason, string, number[]]> = { 13: ['retired', 'priced took 8 pictures out', [2, 3, 4, 5, 6, 8, 9, 10]], 14: ['dropped', 'you dropped #11', [11]], 15: ['lesson', 'a lesson remade #7', [7]] };

export const PROFILE: Api.ProfileFacts = { name: 'claude-5@anthropic', input_usd: 5, output_usd: 25, cache_read: 0.1, cache_write: 1.25, cache_ttl: 300, cache_min: 1024, token_rule: 'cells28', token_rule_text: 'a token for each started cell of 28 × 28 pixels; longest side 2,576, at most 4,784' };

const TITLE = 'Ines Aldana (customer 299) says that her card was charged twice';

const FINDINGS: Api.Finding[] = [
  { group: 'blind', severity: 'bad', code: 'small_text', title: 'The text in #7 is smaller than models read', text: 'Smallest letters 5.5 px in turns 7 to 14 (886×2576), 4.3 px from turn 15 on (688×2000); models read from 6 px.', next: 'Have the tool return a region, or 2 tiles; the agent did so in turn 9.', from: 7, to: 16, picture: 7 },
  { group: 'blind', severity: 'warn', code: 'came_back', title: '#9 and #10 came back into sight', text: 'Retired in turn 13, shown again from turn 15 on, because a lesson changed what the plan starts from.', next: 'Nothing of yours; 2,027 tokens a turn.', from: 15, to: 15, picture: 9 },
  { group: 'cost', severity: 'warn', code: 'prefix_changed', title: 'Three turns wrote again what the cache had', text: '14,617 tokens, $0.0840 more than reading them. Turn 13: priced took 8 out. Turn 14: you dropped #11. Turn 15: a lesson remade #7.', next: 'Drop pictures while they are new, or let the policy choose the moment.', from: 13, to: 15, picture: 12 },
  { group: 'cost', severity: 'warn', code: 'estimate_off', title: 'The plan expected less than turn 15 cost', text: '$0.0242 expected, $0.0649 reported.', next: 'Trust what the provider reported; the timeline does.', from: 15, to: 15, picture: 15 },
  { group: 'repaired', severity: 'ok', code: 'image_as_text', title: '#5 was base64 text', text: 'open_payments returns JSON in a string. The model would have read about 40,000 letters; it saw the picture.', next: 'Return the image block itself.', from: 5, to: 12, picture: 5 },
  { group: 'repaired', severity: 'ok', code: 'image_in_error_result', title: '#6 was in a failed result', text: 'An error result holds text only on this wire; it was moved behind the results and labeled.', from: 6, to: 12, picture: 6 },
  { group: 'repaired', severity: 'ok', code: 'too_large_dim', title: 'Turn 15 was refused once, and healed', text: '400: “At least one of the image dimensions exceed max allowed size: 2000 pixels”. #7 and #15 were made smaller, then 200.', from: 15, to: 15, picture: 15 },
  { group: 'learned', severity: 'info', code: 'lesson', title: 'No side over 2,000 px', text: 'This endpoint refuses a picture with a longer side if a request has many. The profile holds it from now on.', from: 15, to: 16 },
];

function hunks(n: number): Api.Hunk[] {
  const marks = (label: string, at: number, pointer: string): Api.Hunk => ({ label, pointer, a_from: at, a_to: at, b_from: at, b_to: at + 40, a: [], b: [{ text: '"cache_control": {"type": "ephemeral"}', changed: true }], did: 'marked', text: 'cache mark added', why: 'so that the provider keeps what is before it', as_before: n > 2 });
  const all = n > 1 ? [marks('M1', 36_610, '/messages/1/content/1')] : [];
  const blob = (picture: number, bytes: number): Api.Span => ({ blob: { media_type: 'image/png', size: [1280, 800], bytes, digest: `b5f4af${picture}`, picture } });
  if (n >= 5 && n <= 12) {
    all.push({ label: '1', pointer: '/messages/8/content/0/content', a_from: 295_300, a_to: 456_809, b_from: 295_337, b_to: 456_800, a: [{ text: '"[{\\"type\\":\\"text\\",\\"text\\":\\"14 charges between 02:00 and 03:00\\"},{\\"type\\":\\"image\\",\\"data\\":\\"', changed: true }, blob(5, 121_031), { text: '\\",\\"mimeType\\":\\"image/png\\"}]"', changed: true }], b: [{ text: '[\n  {"type": "text", "text": "14 charges between 02:00 and 03:00"},\n  {\n    "type": "image",\n    "source": {\n      "type": "base64",\n      "media_type": "image/png",\n      "data": "', changed: true }, blob(5, 121_031), { text: '"\n    }\n  }\n]', changed: true }], did: 'rewrote', text: '#5 made an image again', why: 'it was base64 text in a string; the model would have read letters', picture: 5, as_before: n > 5 });
  }
  if (n >= 6 && n <= 12) {
    all.push({ label: '2', pointer: '/messages/10/content/0/content/1', a_from: 457_236, a_to: 485_362, b_from: 457_280, b_to: 457_378, a: [{ text: '{\n  "type": "image",\n  "source": {\n    "data": "', changed: true }, blob(6, 21_036), { text: '"\n  }\n}', changed: true }], b: [{ text: '{"type": "text", "text": "[image 1 of this turn is shown after the tool results]"}', changed: true }], did: 'hoisted', text: '#6 moved behind the results', why: 'an error result holds text only', picture: 6, as_before: n > 6 });
    all.push({ label: '3', pointer: '/messages/10/content/1', a_from: 485_380, a_to: 485_380, b_from: 457_400, b_to: 485_500, a: [], b: [{ text: '{"type": "image", "source": {"type": "base64", "data": "', changed: true }, blob(6, 21_036), { text: '"}}', changed: true }], did: 'hoisted', text: '#6 moved behind the results', why: 'an error result holds text only', picture: 6, as_before: n > 6 });
  }
  if (n > 2) all.push(marks('M2', 547_900, `/messages/${2 * n - 2}/content/0`));
  return all;
}

function messagesOf(): Api.Message[] {
  const messages: Api.Message[] = [{ index: 0, role: 'user', parts: [{ kind: 'text', text: `${TITLE} on 14 November; her statement is attached. Find the order, refund the duplicate, and tell me its number and the amount.` }, { kind: 'picture', picture: 1, media: 'image', media_type: 'image/png', size: [900, 620], bytes: 23_939 }] }];
  SAID.forEach((text, at) => {
    const picture = at + 2;
    const [label, , width, height, , tool, bytes] = PICTURES[at + 1] ?? PICTURES[0]!;
    messages.push({ index: messages.length, role: 'assistant', parts: [{ kind: 'text', text }, { kind: 'call', name: tool ?? '', arguments: JSON.stringify({ path: label }) }] });
    messages.push({ index: messages.length, role: 'user', parts: [{ kind: 'result', name: tool ?? '', failed: picture === 6, parts: [{ kind: 'text', text: picture === 6 ? 'Timed out after 10 s waiting for network idle' : `Screenshot of ${label}` }, { kind: 'picture', picture, media: 'image', media_type: 'image/png', size: [width, height], bytes: bytes ?? 0 }] }] });
  });
  return messages;
}

export function story(): MockSession {
  const created = Date.parse('2026-11-17T16:04:10Z');
  const pictures: MockPicture[] = PICTURES.map(([label, kind, width, height, tokens, tool, bytes], at) => ({
    label, ...(tool ? { tool } : {}), turn: at + 1, size: [width, height], seen: at === 6 ? [886, 2576] : at === 14 ? [2576, 1449] : [width, height], tokens, bytes: bytes ?? 0, draw: () => page(kind, width, height, at === 12 ? 11 : at),
    ...(kind === 'table' ? { letters: at === 14 ? 16 : 8 } : kind === 'statement' ? { letters: 11 } : {}), ...(at === 6 ? { region: [363, 0, 917, 2666] as [number, number, number, number] } : {}),
  }));
  const turns: MockTurn[] = TURNS.map(([expected, expectedUsd, read, written, rest, output, usd, byte, message, again, fates], at) => {
    const n = at + 1;
    const why = WHY[n];
    const input = read + written + rest;
    const row: Api.TurnRow = {
      n, at: created + [0, 8, 17, 22, 31, 37, 42, 50, 57, 62, 69, 79, 118, 125, 135, 140][at]! * 1000, came: PICTURES[at]![0], ...(CALLS[at] ? { call: CALLS[at]! } : {}), fates,
      tokens: { expected, input, read, written, rest, output, ...(again ? { again } : {}) }, usd, expected_usd: expectedUsd, reported: true, ...(n === 1 ? {} : { marks: n === 12 ? [1835, 16_516] : [1835, read, input].filter(Boolean) }),
      ...(why ? { first: { byte, message, why: why[0], text: why[1], pictures: why[2] } } : {}), ...(NOTES[n] ? { notes: NOTES[n]! } : {}), ...(n === 15 ? { tries: 2 } : {}),
    };
    const parts: Partial<Api.Turn> = {};
    if (n >= 5 && n <= 12) {
      parts.decisions = [
        { did: 'rewrote', text: '#5 made an image again', why: 'it was base64 text in a string; the model would have read letters', count: 1, pictures: [5], at: ['/messages/8/content/0/content'], as_before: n > 5 },
        ...(n > 5 ? [{ did: 'hoisted', text: '#6 moved behind the results', why: 'an error result holds text only', count: 2, pictures: [6], at: ['/messages/10/content/0/content/1'], as_before: n > 6 }] : []),
        { did: 'marked', text: '3 cache marks added', why: 'so that the provider keeps what is before them', count: 3, pictures: [], at: [], as_before: true },
      ];
    }
    if (n === 15) parts.tries = [{ status: 400, class: 'too_large_dim', says: 'At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels', bytes: 1_642_000, ms: 412 }, { status: 200, bytes: 1_954_932, ms: 3411 }];
    if (n === 15) parts.estimate_off = 'It compared with turn 14 as it would be planned now, not as it was sent.';
    return { row, parts, hunks: hunks(n) };
  });
  return {
    id: 's_061yxp635hrv9cbq', title: TITLE, model: 'claude-opus-5', wire: 'anthropic', host: 'api.anthropic.com', live: true, created, turns, pictures, messages: messagesOf(), findings: FINDINGS.map((finding) => ({ ...finding })), notices: new Map([['13', '[image not repeated (image/png, 1280x800): it is the same picture as one that is shown above]']]), choices: [{ picture: 7, choice: 'pin' }], profile: PROFILE,
    system: 'You test the back office of a web shop by looking at it. You have a browser.\n\nRule 1: Look before you act: take a screenshot first.', tools: ['screenshot', 'click', 'type', 'open_payments', 'send_mail_preview'],
  };
}

/** Small sessions for the list and for states. */
export function others(): MockSession[] {
  const base = story();
  const small = (id: string, title: string, model: string, wire: string, turns: number, change: (session: MockSession) => void = () => {}): MockSession => {
    const session: MockSession = { ...story(), id, title, model, wire, live: false, created: base.created - 3_600_000 * (id.length + turns), findings: [], choices: [] };
    session.turns = session.turns.slice(0, turns);
    session.pictures = session.pictures.slice(0, turns);
    session.messages = session.messages.slice(0, 2 * turns);
    for (const turn of session.turns) turn.row.at += session.created - base.created;
    change(session);
    return session;
  };
  return [
    small('s_ct22wzaw6996pe3h', 'Which hall used the most energy on 6 November?', 'gpt-5.4', 'openai-chat', 4),
    small('s_7hzp3n9a0e5wtk16', 'Compare the two dashboards and list what differs', 'qwen3-vl:32b', 'openai-chat', 9, (session) => {
      session.priced = false;
      delete session.profile;
      for (const { row } of session.turns) {
        delete row.usd;
        delete row.expected_usd;
      }
    }),
    small('s_unreported000001', 'Does the orders page look right?', 'gpt-4o', 'openai-chat', 3, (session) => {
      for (const { row } of session.turns) {
        row.reported = false;
        row.tokens = { expected: row.tokens.expected };
        row.usd = row.expected_usd!;
      }
    }),
    small('s_notreproduced001', 'A turn that cannot be made again', 'claude-sonnet-5', 'anthropic', 5, (session) => {
      session.turns[2]!.notReproduced = true;
    }),
    small('s_gonepicture00001', 'Pictures that the record no longer holds', 'claude-sonnet-5', 'anthropic', 4, (session) => {
      session.pictures[1]!.gone = true;
      session.pictures[2]!.gone = true;
    }),
    small('s_nopictures000001', 'Words alone', 'claude-sonnet-5', 'anthropic', 3, (session) => {
      session.pictures = [];
      for (const { row, parts, hunks: all } of session.turns) {
        row.fates = '';
        delete row.notes;
        if (parts) delete parts.decisions;
        if (all) all.length = 0;
      }
      session.messages = session.messages.map((message) => ({ ...message, parts: message.parts.filter((part) => part.kind !== 'picture').map((part) => (part.kind === 'result' ? { ...part, parts: part.parts.filter((inner) => inner.kind !== 'picture') } : part)) }));
    }),
    small('s_waiting000000001', '', 'claude-opus-5', 'anthropic', 0, (session) => {
      session.live = true;
    }),
    small('s_failedturn000001', 'A turn that failed for good', 'claude-opus-5', 'anthropic', 2, (session) => {
      const turn = session.turns[1]!;
      turn.row = { ...turn.row, reported: false, failed: true, status: 529, tokens: { expected: 3320 }, tries: 3 };
      turn.parts = { tries: [{ status: 529, class: 'overloaded', says: 'Overloaded', ms: 1200 }, { status: 529, class: 'overloaded', says: 'Overloaded', ms: 2300 }, { ms: 30_000 }] };
    }),
  ];
}
