// What a large body costs in Node: no copy of it on the way in, one on the way out, nothing kept by calls that do not
// let the event loop turn, and the event loop goes on.
import assert from 'node:assert/strict';
import { explain, repair, repairSync } from 'photic';

const LARGE = 64 * 1024 * 1024;
// Memory that the report, the arenas of the allocator and the interpreter may take beside.
const SLACK = 16 * 1024 * 1024;

// The largest part of the body is text that nothing is done to, written at once so that nothing else has its size.
function body(before, after) {
  const made = Buffer.alloc(LARGE, 'x');
  made.write(before, 0);
  made.write(after, LARGE - after.length);
  return made;
}
const user = (rest) => `{"model":"gpt-4o","messages":[${rest}{"role":"user","content":"`;
// An empty result of a tool is what is repaired.
const broken = '{"role":"user","content":"Look!"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":' +
  '{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":""},';
const clean = body(user(''), '"}]}');
const changed = body(user(broken), '"}]}');
const peak = () => process.resourceUsage().maxRSS * 1024;

repairSync(user('') + 'Hello"}]}');
const before = peak();
const same = repairSync(clean);
assert.ok(!same.isChanged && same.body === clean, 'an unchanged body is the array that came in');
await explain(clean);
const unchanged = peak() - before;
assert.ok(unchanged < SLACK, `${unchanged >> 20} MB for a body of ${LARGE >> 20} MB that is not changed`);
const out = repairSync(changed);
assert.ok(out.isChanged && out.body.length >= LARGE);
const written = peak() - before;
assert.ok(written < LARGE + SLACK, `${written >> 20} MB for a body of ${LARGE >> 20} MB that is written`);
console.log(`node: a body of ${LARGE >> 20} MB takes ${unchanged >> 20} MB more unchanged, ${written >> 20} MB changed`);

// Calls one after the other, without a turn of the event loop: what they wrote can be collected.
const CALLS = 12;
const first = peak();
for (let n = 0; n < CALLS; n += 1) repairSync(changed);
const kept = peak() - first;
assert.ok(kept < (CALLS / 2) * LARGE, `${kept >> 20} MB more for ${CALLS} bodies of ${LARGE >> 20} MB, one after the other`);
console.log(`node: ${CALLS} such bodies at once, one after the other, take ${kept >> 20} MB more`);

// The loop turns while a body is repaired, and not once while one is repaired at once.
let turns = 0;
let isDone = false;
const turning = (function turn() {
  turns += 1;
  if (!isDone) setImmediate(turn);
});
const repairing = Promise.all([repair(changed), repair(clean)]);
turning();
await repairing;
isDone = true;
assert.ok(turns > 2, `${turns} turns`);
console.log(`node: the event loop turned ${turns} times while two bodies were repaired`);
