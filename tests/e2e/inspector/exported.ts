// An exported file over a generated session, in the format of `ExportData`.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type * as Api from '../../../crates/photic-inspector/viewer/api.ts';
import { Model, Problem } from './model.ts';
import type { MockSession } from './model.ts';

const asset = (name: string) => readFileSync(new URL(`../../../crates/photic-inspector/assets/${name}`, import.meta.url), 'utf8');
const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export function exportData(session: MockSession): Api.ExportData {
  const model = new Model(session);
  const path = `/sessions/${session.id}`;
  const answers: Record<string, unknown> = {
    '/about': { version: '0.2.0', door: 'file', choices: false, events: false, min_x_height: 6 } satisfies Api.About,
    '/sessions': { items: [model.summary()], totals: { sessions: 1, pictures: session.pictures.length, bytes: 1, tokens: 1, unpriced: 0 } } satisfies Api.SessionPage,
    [path]: model.facts(), [`${path}/turns`]: model.turns(1, 1000), [`${path}/pictures`]: model.pictures(1, 1000), [`${path}/cost`]: model.costs(), [`${path}/findings`]: { items: session.findings },
  };
  const attempt = (address: string, make: () => unknown) => {
    try {
      answers[address] = make();
    } catch (failure) {
      if (failure instanceof Problem) answers[address] = { error: { code: failure.code, message: failure.message } };
      else throw failure;
    }
  };
  session.turns.forEach((_, at) => {
    const n = at + 1;
    answers[`${path}/turns/${n}`] = model.detail(n);
    for (const side of ['model', 'client']) attempt(`${path}/turns/${n}/messages?side=${side}`, () => model.messages(n, side, 0, 1000, null));
    answers[`${path}/turns/${n}/changes`] = model.changes(n);
    if (n < session.turns.length) answers[`${path}/compare?a=${n}&b=${n + 1}`] = model.compare(n, n + 1);
  });
  const blobs: string[] = [];
  const images: Record<string, number> = {};
  session.pictures.forEach((picture, at) => {
    const k = at + 1;
    answers[`${path}/pictures/${k}`] = model.pictureDetail(k, null);
    const drawn = picture.draw?.();
    if (!drawn || picture.gone) return;
    const url = (png: Buffer) => blobs.push(`data:image/png;base64,${png.toString('base64')}`) - 1;
    images[`${path}/pictures/${k}/thumb`] = url(drawn.scaled(64, 40).png());
    const small = Math.min(1, 1300 / picture.size[0]);
    const sent = url(drawn.scaled(Math.round(picture.size[0] * small), Math.round(picture.size[1] * small)).png());
    for (let n = picture.turn; n <= session.turns.length; n += 1) images[`${path}/pictures/${k}/sent?turn=${n}`] = sent;
  });
  // What repeats is stored once.
  const facts = answers[path];
  answers[path] = { $: 0 };
  return { format: 1, version: '0.2.0', session: session.id, options: { pictures: 'sent', text: 'redacted' }, redacted: { mail: 2 }, answers, pool: [facts], blobs, images };
}

export function exportHtml(session: MockSession): string {
  const style = asset('app.css');
  const script = asset('app.js');
  const data = JSON.stringify(exportData(session)).replace(/</g, '\\u003c');
  const policy = `default-src 'none'; img-src data: blob:; style-src ${hash(style)}; script-src ${hash(script)}; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'`;
  return asset('index.html')
    .replace('<meta charset="utf-8">', () => `<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${policy}">`)
    .replace('<link rel="stylesheet" href="app.css">', () => `<style>${style}</style>`)
    .replace('<script src="app.js"></script>', () => `<script type="application/json" id="photic-data">${data}</script>\n<script>${script}</script>`);
}
