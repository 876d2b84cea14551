// The unmodified AI SDK: ADDRESS CHARTS KIND PATH. Its tool returns a picture; one line of JSON: what the model named.
// The model calls nothing here: the conversation up to the result is given, so that every chart is asked about once.
import { readFileSync } from 'node:fs';
import * as sdk from 'ai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { z } from 'zod';

const [address, folder, kind] = process.argv.slice(2);
globalThis.AI_SDK_LOG_WARNINGS = false;
const charts = JSON.parse(readFileSync(`${folder}/charts.json`, 'utf8')).filter((chart) => chart.kind === kind);
const model = createOpenAICompatible({ name: 'any', baseURL: `${address}/v1`, apiKey: 'any' })('chart-reader');
const isSeven = !sdk.stepCountIs || Boolean(sdk.isStepCount);
const part = (data) =>
  isSeven ? { type: 'file', mediaType: 'image/png', data: { type: 'data', data } } : { type: 'image-data', mediaType: 'image/png', data };
const tools = { look: sdk.tool({ description: 'Look at a picture.', inputSchema: z.object({ source: z.string() }) }) };

for (const chart of charts) {
  const data = readFileSync(`${folder}/${chart.file}`).toString('base64');
  const call = { toolCallId: 'call_1', toolName: 'look' };
  const messages = [
    { role: 'user', content: chart.question },
    { role: 'assistant', content: [{ type: 'tool-call', ...call, input: { source: chart.file } }] },
    { role: 'tool', content: [{ type: 'tool-result', ...call, output: { type: 'content', value: [part(data)] } }] },
  ];
  const said = await sdk
    .generateText({ model, tools, messages, temperature: 0, maxOutputTokens: 90, maxRetries: 0 })
    .then(({ text }) => ({ said: text }), (error) => ({ said: '', error: String(error.message ?? error).slice(0, 300) }));
  console.log(JSON.stringify({ file: chart.file, ...said }));
}
