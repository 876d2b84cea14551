// The npm package writes the bytes of the command: FOLDER of expected.json. And on broken bodies it does not crash.
// PHOTIC_MUTATIONS is the number of broken bodies. Runs in Node, Bun and Deno, and with PHOTIC_BACKEND=wasm.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as photic from 'photic';

const require = createRequire(`${process.cwd()}/x.cjs`);
assert.equal(require('photic').repair, photic.repair, 'the same functions for import and require');
const name = `${globalThis.Bun ? 'bun' : globalThis.Deno ? 'deno' : 'node'} ${globalThis.Bun?.version ?? globalThis.Deno?.version.deno ?? process.versions.node}, ${photic.backend}`;
assert.equal(photic.backend, process.env.PHOTIC_BACKEND ?? 'native');
const expected = JSON.parse(readFileSync(`${process.argv[2]}/expected.json`, 'utf8'));

const forms = (body, number) =>
  [body, new Uint8Array(body), body.toString('latin1') === body.toString('utf8') ? body.toString() : body][number % 3];

let compared = 0;
for (const [number, { body: path, to, out }] of expected.entries()) {
  const body = readFileSync(path);
  const options = to ? { to } : {};
  const call = number % 2 ? photic.lower : async (...all) => photic.lowerSync(...all);
  const made = await call(forms(body, number), options).catch((error) => {
    assert.ok(error instanceof photic.PhoticError && error.hint, `${path}: ${error}`);
    return null;
  });
  const right = out ? readFileSync(out) : null;
  assert.equal(made === null, right === null, `${path} to ${to}`);
  if (made) assert.equal(Buffer.compare(made.body, right), 0, `${path} to ${to}`);
  compared += 1;
}
console.log(`${name}: ${compared} bodies are those of the command`);

// Mutations: always the same ones.
let seed = 28;
const pick = (below) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
};
const wires = ['anthropic', 'bedrock-converse', 'gemini', 'ollama', 'openai-chat', 'openai-responses'];
const words = ['"', '{', ']', ',', 'null', '\\ud800', '\xff', 'data:image/png;base64,'];
const pool = [...new Set(expected.map(({ body }) => body))].map((path) => readFileSync(path)).filter((body) => body.length < 200_000);
let refused = 0;
const mutations = Number(process.env.PHOTIC_MUTATIONS || 2000);
for (let n = 0; n < mutations; n += 1) {
  let body = Buffer.from(pool[pick(pool.length)]);
  for (let change = pick(8); change >= 0; change -= 1) {
    const at = pick(body.length + 1);
    const rest = [
      () => [Buffer.from(words[pick(words.length)], 'latin1'), body.subarray(at)],
      () => [body.subarray(Math.min(body.length, at + 1 + pick(40)))],
      () => [Buffer.from([pick(256)]), body.subarray(Math.min(body.length, at + 1))],
    ][pick(3)]();
    body = Buffer.concat([body.subarray(0, at), ...rest]);
  }
  const repaired = n % 10 ? photic.repairSync(body) : await photic.repair(body);
  assert.ok(repaired.body instanceof Uint8Array && Array.isArray(repaired.findings));
  // Properties of the library hold here, too: what is repaired needs no repair, and was not touched without being said.
  if (repaired.isChanged) assert.ok(!photic.repairSync(repaired.body, { wire: repaired.wire }).isChanged, 'repaired once');
  else assert.equal(repaired.body, body, 'the same array');
  assert.ok(!repaired.isChanged || repaired.fixes.length > 0, 'a change without a word');
  for (const call of [photic.checkSync, photic.explainSync, (one) => photic.lowerSync(one, { to: wires[pick(6)] })]) {
    try {
      assert.ok(call(body).data);
    } catch (error) {
      assert.ok(error instanceof photic.PhoticError, error);
      refused += 1;
    }
  }
}
console.log(`${name}: ${mutations} mutated bodies, ${refused} calls refused with a reason`);

assert.throws(() => photic.checkSync({}), /JSON\.stringify/);
assert.throws(() => photic.repairSync('{}', { wire: 'openai' }), { name: 'PhoticError', code: 'bad_option' });
