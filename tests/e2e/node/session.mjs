// A session gives the bytes and the reports of `repair`, turn after turn, and reads what it knows only once: CHARTS.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { PhoticError, Session, repairSync } from 'photic';

const [charts] = process.argv.slice(2);
const url = `data:image/png;base64,${readFileSync(`${charts}/1.png`).toString('base64')}`;
const TURNS = 24;

for (const call of ['repair', 'repairSync']) {
  const session = new Session({ host: 'api.openai.com' });
  const messages = [{ role: 'user', content: 'Please look into it. '.repeat(20) }];
  for (let turn = 0; turn < TURNS; turn += 1) {
    // Now and then a picture as text, which has to be repaired in every turn after it.
    const words = `line ${turn}: fn main() {}\n`.repeat(30);
    const content = turn % 8 === 6 ? JSON.stringify({ type: 'image', data: url }) : words;
    const tool_calls = [{ id: `c${turn}`, type: 'function', function: { name: 'read', arguments: '{}' } }];
    messages.push({ role: 'assistant', content: 'I read it.', tool_calls }, { role: 'tool', tool_call_id: `c${turn}`, content });
    const body = Buffer.from(JSON.stringify({ model: 'gpt-5.4', messages }));
    const [one, other] = [await session[call](body), repairSync(body, { host: 'api.openai.com' })];
    assert.ok(Buffer.compare(one.body, other.body) === 0, `${call}, turn ${turn}`);
    assert.deepEqual(one.data, other.data, `${call}, turn ${turn}`);
  }
  const { continued, readWhole, conversations, keptBytes, knownBytes } = session.figures;
  assert.equal(continued + readWhole, TURNS);
  assert.ok(continued > 0 && conversations > 0 && keptBytes > 0 && knownBytes > 0, JSON.stringify(session.figures));
}
assert.throws(() => new Session({ wire: 'openai' }), PhoticError);
console.log(`sessions: ${TURNS} turns as \`repair\` writes them`);
