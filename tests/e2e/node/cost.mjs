// What `require` and `repair` cost: FOLDER for the body, COMMAND that measures Rust. Both are built with one profile, and
// both count processor time. Prints the figures, and fails at twice the claims.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { repairSync, viewSync } from 'photic';

const [folder, command] = process.argv.slice(2);
const CALLS = 15;
const ROUNDS = 4;
const CLAIM = 1.15;
// Ten pictures of tools that nothing can make smaller, each about 1.2 MB as base64.
const side = 548;
const data = randomFillSync(new Uint8Array(side * side * 3));
const picture = Buffer.from(viewSync({ data, width: side, height: side, channels: 3 }, { fidelity: 'pixel' }).encoded).toString('base64');
const messages = [{ role: 'user', content: 'Look!' }];
for (let n = 0; n < 10; n += 1) {
  messages.push({ role: 'assistant', tool_calls: [{ id: `c${n}`, type: 'function', function: { name: 'f', arguments: '{}' } }] });
  messages.push({ role: 'tool', tool_call_id: `c${n}`, content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } }] });
}
const body = Buffer.from(JSON.stringify({ model: 'gpt-5.4', messages }));
writeFileSync(`${folder}/large.json`, body);

// Milliseconds a call of CALLS: what is freed, or collected, is part of it.
const rust = (way) => Number(execFileSync(command, [`${folder}/large.json`, way, CALLS], { encoding: 'utf8' }));
function javascript() {
  const begun = process.cpuUsage();
  for (let n = 0; n < CALLS; n += 1) if (!repairSync(body).isChanged) throw new Error('nothing was repaired');
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000 / CALLS;
}
// One after the other, so that a busy moment does not fall on one of them alone; the best round counts.
const best = { here: Infinity, reused: Infinity, fresh: Infinity };
for (let round = 0; round < ROUNDS; round += 1) {
  best.here = Math.min(best.here, javascript());
  best.reused = Math.min(best.reused, rust('reused'));
  best.fresh = Math.min(best.fresh, rust('fresh'));
}
const times = (other) => (best.here / other).toFixed(2);
console.log(`repair of ${(body.length / 1e6).toFixed(1)} MB: ${best.here.toFixed(2)} ms of processor time in Node; in Rust ` +
  `${best.reused.toFixed(2)} ms (${times(best.reused)} times; claim: ${CLAIM}), into memory that is not used again ` +
  `${best.fresh.toFixed(2)} ms (${times(best.fresh)} times)`);
assert.ok(best.here < best.reused * CLAIM * 2, 'more than twice the claim');

const load = "const begun = process.cpuUsage(); require('photic'); const { user, system } = process.cpuUsage(begun); " +
  'console.log((user + system) / 1000)';
const loads = Array.from({ length: 5 }, () => Number(execFileSync(process.execPath, ['-e', load], { encoding: 'utf8' })));
console.log(`require('photic'): ${Math.min(...loads).toFixed(0)} ms of processor time, the best of five (claim: 30)`);
assert.ok(Math.min(...loads) < 60, 'more than twice the claim');
