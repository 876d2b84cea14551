// An agent on the AI SDK: CHARTS [PAGES] [PAUSE] [HOSTILE]. Asks for a page at a time; its tool gives the chart of that
// number, every third time as an object in text, as many tools do. HOSTILE: a file with lines of JSON, texts to say.
import { existsSync, readFileSync } from 'node:fs';
import * as sdk from 'ai';
import { createAnthropic } from '@ai-sdk/anthropic';
import { z } from 'zod';

const [charts, pages = '8', pause = '0', hostile] = process.argv.slice(2);
globalThis.AI_SDK_LOG_WARNINGS = false;
const isSeven = !sdk.stepCountIs || Boolean(sdk.isStepCount);
const stopWhen = (sdk.isStepCount ?? sdk.stepCountIs)(4);
const data = (n) => readFileSync(`${charts}/${((n - 1) % 8) + 1}.png`).toString('base64');
const part = (n) => (isSeven ? { type: 'file', mediaType: 'image/png', data: { type: 'data', data: data(n) } } : { type: 'image-data', mediaType: 'image/png', data: data(n) });
const texts = hostile && existsSync(hostile) ? readFileSync(hostile, 'utf8').trim().split('\n').map((line) => JSON.parse(line)) : null;

const take_screenshot = sdk.tool({
  description: 'Take a screenshot of page n.',
  inputSchema: z.object({ n: z.int() }),
  execute: ({ n }) => ({ page: n, screenshot: data(n) }),
  toModelOutput: ({ output }) =>
    output.page % 3 === 0
      ? { type: 'json', value: output }
      : { type: 'content', value: [{ type: 'text', text: texts ? texts[output.page % texts.length] : `Page ${output.page}` }, part(output.page)] },
});

const model = createAnthropic()('claude-sonnet-4-5');
const messages = [];
for (let n = 1; n <= Number(pages); n += 1) {
  const said = texts ? `${texts[n % texts.length]}\n` : '';
  messages.push({ role: 'user', content: `${said}Please call take_screenshot with {"n": ${n}}` });
  const { text, response, responseMessages } = await sdk.generateText({ model, messages, tools: { take_screenshot }, stopWhen, maxRetries: 0 });
  messages.push(...(responseMessages ?? response.messages));
  console.log(`${n}: ${text.split('\n')[0]}`);
  await new Promise((done) => setTimeout(done, Number(pause)));
}
