// The package where edge functions run: FOLDER of expected.json, PACKAGE. In workerd, which Cloudflare runs, and in
// Vercel's edge runtime: a body is repaired to the bytes of the command.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { EdgeRuntime } from 'edge-runtime';
import { Miniflare } from 'miniflare';

const [bodies, folder] = process.argv.slice(2);
const expected = JSON.parse(await readFile(`${bodies}/expected.json`, 'utf8'));
// Each on its own wire: one in twenty.
const rows = expected.filter(({ to, out }) => out && !to).filter((_, number) => number % 20 === 0);

const worker = `import { lower, backend } from './web/workerd.mjs';
export default { async fetch(request) {
  const { body } = await lower(await request.arrayBuffer());
  return new Response(body, { headers: { backend } });
} };`;
const flare = new Miniflare({
  compatibilityDate: '2026-01-01',
  modules: [
    { type: 'ESModule', path: 'worker.mjs', contents: worker },
    { type: 'ESModule', path: 'web/workerd.mjs', contents: await readFile(`${folder}/web/workerd.mjs`, 'utf8') },
    { type: 'CompiledWasm', path: 'web/photic.wasm', contents: await readFile(`${folder}/web/photic.wasm`) },
  ],
});
try {
  for (const { body, out } of rows) {
    const response = await flare.dispatchFetch('http://localhost/', { method: 'POST', body: await readFile(body) });
    const made = Buffer.from(await response.arrayBuffer());
    assert.ok(made.equals(await readFile(out)) && response.headers.get('backend') === 'wasm', body);
  }
} finally {
  await flare.dispose();
}
console.log(`workerd: ${rows.length} bodies are those of the command`);

// A bundler makes a compiled module of `import compiled from './photic.wasm?module'`, and a script of the file.
const script = (await readFile(`${folder}/web/edge-light.mjs`, 'utf8'))
  .replace("import compiled from './photic.wasm?module';", '')
  .replace(/^export const \{[^}]*\} = photic;$/m, '')
  .replace('export default photic;', 'globalThis.photic = photic;');
const compiled = new WebAssembly.Module(await readFile(`${folder}/web/photic.wasm`));
const runtime = new EdgeRuntime({ extend: (context) => Object.assign(context, { compiled }) });
runtime.evaluate(script);
for (const { body, out } of rows) {
  const { body: made } = await runtime.evaluate('globalThis.photic').lower(await readFile(body, 'utf8'));
  assert.ok(Buffer.from(made).equals(await readFile(out)), body);
}
console.log(`edge-runtime: ${rows.length} bodies are those of the command`);
