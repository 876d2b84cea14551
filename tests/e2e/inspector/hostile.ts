// A record of somebody who wants to harm the reader: each case stands in every field of its own turn.
import { deflateSync } from 'node:zlib';
import type * as Api from '../../../crates/photic-inspector/viewer/api.ts';
import type { MockPicture, MockSession, MockTurn } from './model.ts';
import { Raster } from './raster.ts';
import { PROFILE } from './story.ts';

/** Sets a property that the test watches. */
const HIT = 'window.photicHit=1';

/** Markup, scripts, letters: [name, text]. */
export const TEXTS: [name: string, text: string][] = [
  ['script element', `<script>${HIT}</script>`],
  ['script element, closed early', `</script><script>${HIT}</script>`],
  ['closed title', `</title><script>${HIT}</script>`],
  ['closed style', `</style><script>${HIT}</script>`],
  ['closed textarea', `</textarea><img src=x onerror=${HIT}>`],
  ['comment end', `--><script>${HIT}</script><!--`],
  ['CDATA', `]]><script>${HIT}</script><![CDATA[`],
  ['image with onerror', `<img src=x onerror="${HIT}">`],
  ['image elsewhere', '<img src="https://evil.example/pixel.png">'],
  ['picture with srcset', '<picture><source srcset="//evil.example/a.png 1x"></picture>'],
  ['svg with onload', `<svg onload="${HIT}"><script>${HIT}</script></svg>`],
  ['svg use', '<svg><use href="https://evil.example/x.svg#a"/></svg>'],
  ['svg animate', `<svg><animate onbegin="${HIT}" attributeName=x dur=1s></svg>`],
  ['svg foreignObject', `<svg><foreignObject><body onload="${HIT}"></body></foreignObject></svg>`],
  ['math', `<math><mtext></mtext><mglyph><style><img src=x onerror=${HIT}></style></mglyph></math>`],
  ['iframe', `<iframe src="javascript:${HIT}"></iframe>`],
  ['iframe srcdoc', `<iframe srcdoc="<script>parent.${HIT}</script>"></iframe>`],
  ['object', '<object data="https://evil.example/x.swf"></object>'],
  ['embed', '<embed src="https://evil.example/x">'],
  ['link to a style', '<link rel=stylesheet href="https://evil.example/x.css">'],
  ['style import', '<style>@import "https://evil.example/x.css"; body{display:none}</style>'],
  ['base', '<base href="https://evil.example/">'],
  ['meta refresh', '<meta http-equiv=refresh content="0;url=https://evil.example/">'],
  ['form', '<form action="https://evil.example/"><input name=a autofocus onfocus="window.photicHit=1"><button>Send</button></form>'],
  ['details', `<details open ontoggle="${HIT}">x</details>`],
  ['video', `<video src=x onerror="${HIT}" autoplay></video>`],
  ['body', `<body onpageshow="${HIT}" onload="${HIT}">`],
  ['template', `<template><script>${HIT}</script></template>`],
  ['custom element', '<x-a is="photic"></x-a>'],
  ['javascript address', `javascript:${HIT}`],
  ['javascript address with letters between', `java\tscript:${HIT}//`],
  ['data address', `data:text/html,<script>${HIT}</script>`],
  ['attribute end', `" onmouseover="${HIT}" x="`],
  ['attribute end, single', `' onmouseover='${HIT}' x='`],
  ['attribute end, grave', `\` onmouseover=\`${HIT}\``],
  ['style url', '"); background: url(https://evil.example/x); ("'],
  ['style expression', 'x; width: expression(alert(1)); -moz-binding: url(//evil.example)'],
  ['template literal', `\${${HIT}}`],
  ['template braces', `{{constructor.constructor('${HIT}')()}}`],
  ['entities', '&lt;script&gt;&#x3c;img src=x onerror=alert(1)&#62;'],
  ['null letters', `\u0000<scr\u0000ipt>${HIT}</scr\u0000ipt>`],
  ['all C0 controls', Array.from({ length: 32 }, (_, at) => String.fromCharCode(at)).join('x')],
  ['all C1 controls', Array.from({ length: 33 }, (_, at) => String.fromCharCode(127 + at)).join('x')],
  ['escape sequences', '\u001b[31mred\u001b[0m \u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007'],
  ['right-to-left override', 'invoice\u202Efdp.exe $0.00\u202C'],
  ['isolates without an end', '\u2066\u2067\u2068turn 1 \u2069\u2069\u2069\u2069 \u2067all of this'],
  ['embeddings, 200 deep', '\u202B'.repeat(200) + 'deep'],
  ['right-to-left words', 'שלום עולם مرحبا بالعالم 123 $4.56 (a)'],
  ['zero width', 'pa\u200By\u200Cme\u200Dnt\uFEFFs\u2060\u00AD'],
  ['tag letters', 'safe\u{E0001}\u{E0061}\u{E007F}'],
  ['combining marks', `z${'\u0300\u0301\u0489'.repeat(400)}algo`],
  ['lone surrogates', 'a\ud800b\udc00c\udfff'],
  ['not letters', '\ufffe\uffff\ufdd0\u{1ffff}'],
  ['line ends of all kinds', 'a\r\nb\rc\nd\u2028e\u2029f\u0085g'],
  ['wide letters', '漢字'.repeat(3000)],
  ['emoji sequences', '👨‍👩‍👧‍👦🏳️‍🌈'.repeat(500)],
  ['one word, 1 MB', 'a'.repeat(1_000_000)],
  ['one line, 1 MB with spaces', 'word '.repeat(200_000)],
  ['100,000 lines', 'x\n'.repeat(100_000)],
  ['markup, 1 MB', '<img src=x onerror=alert(1)>'.repeat(37_000)],
  ['nested JSON', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ['prototype names', '__proto__'],
  ['property names', 'constructor'],
  ['property names, more', 'hasOwnProperty'],
  ['percent', '%00%0a%3Cscript%3E%E0%A4%A'],
  ['slashes', '../../../../etc/passwd/..\\..\\x'],
  ['fragment', '#/s/other/turn/1?x=y&z#a'],
  ['number that is none', 'NaN Infinity -0 1e400'],
  ['only spaces', ' \t\u00a0\u2003\u3000 '],
  ['nothing', ''],
];

const png = (width: number, height: number) => {
  const bytes = new Raster(8, 8, [200, 60, 60]).png();
  bytes.writeUInt32BE(width >>> 0, 16);
  bytes.writeUInt32BE(height >>> 0, 20);
  return bytes;
};
const bomb = () => {
  const head = png(20_000, 20_000).subarray(0, 33);
  const data = deflateSync(Buffer.alloc(40_000_000), { level: 9 });
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([head, length, Buffer.from('IDAT'), data, Buffer.alloc(4)]);
};
const markup = `<svg xmlns="http://www.w3.org/2000/svg" onload="${HIT}" width="99999" height="99999"><script>${HIT}</script><image href="https://evil.example/x.png"/></svg>`;

/** Pictures: [name, type that is told, bytes, size that is told]. */
export const PICTURES: [name: string, type: string, data: () => Buffer, size: Api.Size][] = [
  ['no bytes', 'image/png', () => Buffer.alloc(0), [10, 10]],
  ['noise', 'image/png', () => Buffer.from('not a picture at all'), [10, 10]],
  ['cut off', 'image/png', () => new Raster(64, 64).png().subarray(0, 60), [64, 64]],
  ['size of 2^31', 'image/png', () => png(0x7fffffff, 0x7fffffff), [0x7fffffff, 0x7fffffff]],
  ['size of 0', 'image/png', () => png(0, 0), [0, 0]],
  ['bomb of 400 megapixels', 'image/png', bomb, [20_000, 20_000]],
  ['svg told as png', 'image/png', () => Buffer.from(markup), [100, 100]],
  ['svg told as svg', 'image/svg+xml', () => Buffer.from(markup), [99_999, 99_999]],
  ['html told as png', 'image/png', () => Buffer.from(`<html><script>${HIT}</script>`), [10, 10]],
  ['html told as html', 'text/html', () => Buffer.from(`<html><script>${HIT}</script>`), [10, 10]],
  ['polyglot of gif and script', 'image/gif', () => Buffer.from(`GIF89a=1;${HIT};//`), [10, 10]],
  ['one pixel wide', 'image/png', () => new Raster(1, 30_000).png(), [1, 30_000]],
  ['one pixel tall', 'image/png', () => new Raster(30_000, 1).png(), [30_000, 1]],
];

export const SESSION = 's_hostile000000001';

export function hostile(): MockSession {
  const created = Date.parse('2026-11-17T12:00:00Z');
  const pictures: MockPicture[] = [];
  const turns: MockTurn[] = [];
  const messages: Api.Message[] = [];
  const findings: Api.Finding[] = [];
  const notices = new Map<string, string>();
  const cases: [string, MockPicture['raw'] | undefined, Api.Size, string | undefined][] = [
    ...TEXTS.map(([, text]): [string, undefined, Api.Size, undefined] => [text, undefined, [320, 200], undefined]),
    ...PICTURES.map(([name, type, data, size]): [string, MockPicture['raw'], Api.Size, string] => [name, { type, data: data() }, size, type]),
  ];
  cases.forEach(([text, raw, size, type], at) => {
    const n = at + 1;
    // The API cuts these fields as its types say; a hostile record fills them up to the cut.
    const short = text.slice(0, 400);
    const body = text.length > 8192 ? { text: text.slice(0, 8192), more: Buffer.byteLength(text), href: `/sessions/${SESSION}/turns/${n}/body?side=client` } : { text };
    pictures.push({ label: short, tool: short, turn: n, size, seen: size, tokens: 345, bytes: 1000, letters: 5, ...(raw ? { raw } : {}), ...(type ? { type } : {}) });
    notices.set(String(n), short);
    findings.push({ group: (['blind', 'cost', 'repaired', 'learned'] as const)[at % 4]!, severity: 'warn', code: short, title: short, text: text.slice(0, 4000), next: short, from: n, to: n, picture: n });
    messages.push(
      ...(n > 1 ? [{ index: messages.length, role: 'assistant', parts: [{ kind: 'text' as const, ...body }, { kind: 'call' as const, name: short, arguments: text.slice(0, 8192) }, { kind: 'other' as const, what: short }] }] : []),
    );
    messages.push({ index: messages.length, role: n === 1 ? 'user' : short.slice(0, 60) || 'tool', parts: [{ kind: 'result', name: short, failed: true, parts: [{ kind: 'text', ...body }, { kind: 'picture', picture: n, media: 'image', ...(type ? { media_type: type } : {}), size, bytes: 1000 }, { kind: 'picture', media: short }] }] });
    const span: Api.Span = { text: text.slice(0, 4000), changed: true };
    turns.push({
      row: {
        n, at: n % 2 ? created + n * 1000 : Number.MAX_SAFE_INTEGER, came: short, call: short, fates: '.'.repeat(Math.max(0, n - 3)) + (n > 2 ? 'rkk' : 'k'.repeat(n)).slice(0, Math.min(n, 3)), reported: n % 3 !== 0,
        tokens: n % 3 ? { expected: 1000, input: 1000, read: 400, written: 600, rest: 0, again: 100, output: 10 } : { expected: 1000 }, ...(n % 3 === 0 ? {} : { usd: 0.01 }), marks: [100, 1e9, 1000],
        first: { byte: 12, message: 0, why: 'client', text: short }, notes: [{ kind: 'bad', code: short, text: short }, { kind: 'warn', code: short, text: short, picture: n }], tries: 2,
      },
      parts: {
        wire: short, model: short, decisions: [{ did: short.slice(0, 40), text: short, why: short, count: 1, pictures: [n], at: [short], as_before: false }],
        request: { host: short, id: short, agent: short, sent_wire: short, bytes_in: 10, bytes_sent: 20, digest: short.slice(0, 12), reproduced: 'yes', first_byte_ms: 1, total_ms: 2, ended: short },
        tries: [{ status: 400, class: short, says: text.slice(0, 500), bytes: 1, ms: 1 }, { status: 200 }], headers: [[short, text.slice(0, 2000)]], estimate_off: short,
        cache: { state: 'broken', text: short }, warnings: [{ group: 'blind', severity: 'bad', code: short, title: short, text: short, next: short, from: n, to: n, picture: n }],
      },
      hunks: [{ label: short.slice(0, 20), pointer: short, a_from: 1, a_to: 2, b_from: 1, b_to: 9, a: [span], b: [span, { blob: { media_type: short, bytes: 5, digest: short, picture: n } }, { cut: 12 }], did: short, text: short, why: short, as_before: false }],
    });
  });
  return { id: SESSION, title: TEXTS[0]![1] + TEXTS[44]![1], model: TEXTS[7]![1], wire: TEXTS[32]![1], host: TEXTS[1]![1], live: false, created, turns, pictures, messages, findings, notices, choices: [], profile: PROFILE, system: TEXTS[59]![1].slice(0, 8192), tools: TEXTS.map(([, text]) => text.slice(0, 400)) };
}

/** Sessions whose titles and models are hostile. */
export function hostileList(): MockSession[] {
  return TEXTS.map(([, text], at) => ({ id: `s_hostile_title_${at}`, title: text.slice(0, 4000), model: text.slice(0, 400), wire: text.slice(0, 400), created: Date.now(), turns: [], pictures: [], messages: [], findings: [], notices: new Map(), choices: [] }));
}
