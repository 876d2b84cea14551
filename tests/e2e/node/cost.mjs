// The time of `require` and of `repair`, that beside the Rust call's: FOLDER for the body, COMMAND that measures Rust.
// Prints, judges nothing.
import { execFileSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { repairSync, viewSync } from 'photic';

const [folder, command] = process.argv.slice(2);
const CALLS = 15;
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

const rust = () => Number(execFileSync(command, [`${folder}/large.json`], { encoding: 'utf8' }));
function javascript() {
  let best = Infinity;
  for (let n = 0; n < CALLS; n += 1) {
    const begun = performance.now();
    if (!repairSync(body).isChanged) throw new Error('nothing was repaired');
    best = Math.min(best, performance.now() - begun);
  }
  return best;
}
// One after the other, twice, so that a busy moment does not fall on one of them alone.
const [one, two, three, four] = [rust(), javascript(), rust(), javascript()];
const [there, here] = [Math.min(one, three), Math.min(two, four)];
console.log(`repair of ${(body.length / 1e6).toFixed(1)} MB: ${here.toFixed(2)} ms in Node, ${there.toFixed(2)} ms in Rust, ` +
  `${(here / there).toFixed(2)} times (claim: 1.15)`);

const load = "const begun = process.cpuUsage(); require('photic'); const { user, system } = process.cpuUsage(begun); " +
  'console.log((user + system) / 1000)';
const loads = Array.from({ length: 5 }, () => Number(execFileSync(process.execPath, ['-e', load], { encoding: 'utf8' })));
console.log(`require('photic'): ${Math.min(...loads).toFixed(0)} ms of processor time, the best of five (claim: 30)`);
