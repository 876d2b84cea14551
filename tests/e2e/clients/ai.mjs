// The AI SDK, 6 or 7: ROWS CHARTS. One line of JSON a row: what the model said.
import { readFileSync } from 'node:fs';
import * as sdk from 'ai';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { z } from 'zod';

const [rows, charts] = process.argv.slice(2);
const data = (n) => readFileSync(`${charts}/${n}.png`).toString('base64');
const ASK = 'Please take a screenshot of both pages.';
const MORE = 'And which colors are these?';
// Warnings would go to standard output.
globalThis.AI_SDK_LOG_WARNINGS = false;
const isSeven = !sdk.stepCountIs || Boolean(sdk.isStepCount);
const stop = (sdk.isStepCount ?? sdk.stepCountIs)(4);

// 7 has one part type for every picture.
const part = (n) =>
  isSeven
    ? { type: 'file', mediaType: 'image/png', data: { type: 'data', data: data(n) } }
    : { type: 'image-data', mediaType: 'image/png', data: data(n) };

const models = {
  // The only one that has no variable to read an address from.
  'openai-compatible': (model) =>
    createOpenAICompatible({ name: 'any', baseURL: process.env.OPENAI_BASE_URL, apiKey: process.env.OPENAI_API_KEY })(model),
  'openai-chat': (model) => createOpenAI().chat(model),
  'openai-responses': (model) => createOpenAI().responses(model),
  anthropic: (model) => createAnthropic()(model),
};

function tools(shape) {
  const input = { description: 'Take a screenshot of page n.', inputSchema: z.object({ n: z.int() }) };
  const execute = ({ n }) => ({ page: n, screenshot: data(n) });
  const toModelOutput = ({ output }) => ({ type: 'content', value: [part(output.page)] });
  return { take_screenshot: sdk.tool({ ...input, execute, ...(shape !== 'object' && { toModelOutput }) }) };
}

async function ask({ entry, model, shape, stream }) {
  const settings = { model: models[entry](model), tools: tools(shape), stopWhen: stop, maxRetries: 0 };
  const send = async (messages) => {
    if (!stream) {
      const { text, response, responseMessages } = await sdk.generateText({ ...settings, messages });
      return { text, made: responseMessages ?? response.messages };
    }
    let failed;
    const result = sdk.streamText({ ...settings, messages, onError: ({ error }) => { failed = error; } });
    await result.consumeStream();
    if (failed) throw failed;
    const made = result.responseMessages ? await result.responseMessages : (await result.response).messages;
    return { text: await result.text, made };
  };
  const asked = [{ role: 'user', content: ASK }];
  const first = await send(asked);
  const more = await send([...asked, ...first.made, { role: 'user', content: MORE }]);
  return [first.text, more.text];
}

for (const row of JSON.parse(readFileSync(rows, 'utf8'))) {
  const result = await ask(row).then(
    (said) => ({ said }),
    (error) => ({ status: error.statusCode ?? null, error: String(error.message ?? error) }),
  );
  console.log(JSON.stringify({ ...row, ...result }));
}
