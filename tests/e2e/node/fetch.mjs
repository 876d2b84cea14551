// photicFetch: what it changes, what it leaves alone, and how it heals. No network.
import assert from 'node:assert/strict';
import { photicFetch, view } from 'photic';

const [charts] = process.argv.slice(2);
const { readFileSync } = await import('node:fs');
const URL_ = 'https://api.openai.com/v1/chat/completions';
const small = `data:image/png;base64,${readFileSync(`${charts}/1.png`).toString('base64')}`;
const noise = Uint8Array.from({ length: 2500 * 2500 }, (_, n) => (Math.imul(n, 2654435761) >>> 13) & 255);
const wide = await view({ data: noise, width: 2500, height: 2500, channels: 1 }, { model: 'gpt-5.4', fidelity: 'pixel' });
assert.ok(wide.width > 0 && wide.tokens > 0);

const chat = (url) => ({ model: 'gpt-5.4', messages: [
  { role: 'user', content: 'Look!' },
  { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
  { role: 'tool', tool_call_id: 'c', content: JSON.stringify({ type: 'image', data: url }) },
] });
const json = { 'content-type': 'application/json' };

const seen = [];
let answers = [];
const text = (body) => (typeof body === 'string' ? body : Buffer.from(body ?? '').toString());
const below = async (input, init) => {
  seen.push({ headers: new Headers(init?.headers), body: input instanceof Request && !init?.body ? await input.text() : text(init.body) });
  return answers.shift() ?? new Response('{"ok":true}');
};
const repaired = [];
const fetch = photicFetch(below, { onRepair: (one) => repaired.push(one) });
const whole = JSON.stringify(chat(small));

await fetch(URL_, { method: 'POST', headers: { ...json, 'content-length': '1' }, body: whole });
assert.match(seen[0].body, /"image_url"/);
assert.ok(!seen[0].headers.has('content-length') && repaired[0].fixes.length > 0);
await fetch(new Request(URL_, { method: 'POST', headers: json, body: whole }));
assert.match(seen[1].body, /"image_url"/);
await fetch(new URL(URL_), { method: 'POST', headers: json, body: new TextEncoder().encode(whole) });
assert.match(seen[2].body, /"image_url"/);
seen.length = 0;

for (const [url, init] of [
  [URL_.replace('chat/completions', 'embeddings'), {}], [URL_, { method: 'PUT' }],
  [URL_, { headers: { 'content-type': 'text/plain' } }], [URL_, { headers: { ...json, 'content-encoding': 'gzip' } }],
  [URL_, { headers: { ...json, authorization: 'AWS4-HMAC-SHA256 Credential=x' } }],
]) {
  await fetch(url, { method: 'POST', headers: json, body: whole, ...init });
  assert.equal(seen.pop().body, whole);
}
const clean = '{"model":"gpt-5.4",  "messages":[{"role":"user","content":"Hello"}]}';
await fetch(URL_, { method: 'POST', headers: json, body: clean });
assert.equal(seen.pop().body, clean);

// A rejection that says that images are not accepted in tool results or at all is healed without them.
const refusal = () => new Response('{"error":{"message":"This model does not support image inputs."}}', { status: 400 });
answers = [refusal()];
const healed = await fetch(URL_, { method: 'POST', headers: json, body: whole });
assert.equal(healed.status, 200);
assert.ok(seen.length === 2 && /"image_url"/.test(seen[0].body) && !/"image_url"/.test(seen[1].body));
seen.length = 0;
answers = Array.from({ length: 9 }, refusal);
const refused = await fetch(URL_, { method: 'POST', headers: json, body: whole });
assert.ok(refused.status === 400 && seen.length <= 3, `${seen.length}`);
assert.match(await refused.text(), /does not support/, 'the answer can be read');
seen.length = 0;
answers = [new Response('{"error":{"message":"Unknown parameter"}}', { status: 400 })];
assert.equal((await fetch(URL_, { method: 'POST', headers: json, body: whole })).status, 400);
assert.equal(seen.length, 1);
console.log('node: photicFetch repairs, heals and leaves alone');
