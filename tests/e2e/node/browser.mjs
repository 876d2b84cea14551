// The package in Chromium: FOLDER of expected.json, CHARTS, PACKAGE, CHROMIUM. The bytes of the command on every golden body, and a
// `photicFetch` that repairs.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { chromium } from 'playwright-core';

const [bodies, charts, folder, executablePath] = process.argv.slice(2);
const expected = JSON.parse(await readFile(`${bodies}/expected.json`, 'utf8'));
const TYPES = { '.html': 'text/html', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };

const server = createServer(async (request, response) => {
  const [, kind, number, field] = request.url.split('/');
  try {
    const path = kind === 'bodies' ? expected[number][field] : join(folder, request.url);
    const data = request.url === '/' ? '<!doctype html><title>photic</title>' : await readFile(path);
    response.writeHead(200, { 'content-type': TYPES[extname(request.url)] ?? (request.url === '/' ? TYPES['.html'] : 'application/octet-stream') });
    response.end(data);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.error(error));
  await page.goto(origin);
  const rows = expected.map(({ to, out }) => ({ to, out: out !== null }));
  const done = await page.evaluate(async ({ rows, chart }) => {
    const photic = await import('/web/browser.mjs');
    const bytes = async (path) => new Uint8Array(await (await fetch(path)).arrayBuffer());
    const wrong = [];
    for (const [number, { to, out }] of rows.entries()) {
      const body = await bytes(`/bodies/${number}/body`);
      const made = await photic.lower(body, to ? { to } : {}).catch((error) => {
        if (!(error instanceof photic.PhoticError)) throw error;
        return null;
      });
      const right = out ? await bytes(`/bodies/${number}/out`) : null;
      const isSame = made === null ? right === null : right?.length === made.body.length && made.body.every((byte, at) => byte === right[at]);
      if (!isSame) wrong.push(number);
    }
    const content = JSON.stringify({ type: 'image', data: `data:image/png;base64,${chart}` });
    const chat = JSON.stringify({ model: 'gpt-5.4', messages: [{ role: 'user', content: 'Look!' }, { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] }, { role: 'tool', tool_call_id: 'c', content }] });
    let sent;
    const below = async (_, init) => ((sent = new TextDecoder().decode(init.body)), new Response('{}'));
    await photic.photicFetch(below)('https://api.openai.com/v1/chat/completions', { method: 'POST', body: chat });
    return { backend: photic.backend, wrong, isRepaired: sent.includes('"image_url"') };
  }, { rows, chart: (await readFile(`${charts}/1.png`)).toString('base64') });
  assert.deepEqual(done, { backend: 'wasm', wrong: [], isRepaired: true });
  console.log(`Chromium ${browser.version()}: ${rows.length} bodies are those of the command, photicFetch repairs`);
} finally {
  await browser.close();
  server.close();
}
