// The OpenAI and Anthropic SDKs for Node against `photic mock`: URL, then a folder of charts.
import { readFileSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

const [url, charts] = process.argv.slice(2);
const data = (n) => readFileSync(`${charts}/${n}.png`).toString('base64');
const words = (n) => readFileSync(`${charts}/${n}.txt`, 'utf8').trim();
const RIGHT = `image 1: ${words(1)}; image 2: ${words(2)}`;
const BLIND = 'I see no image.';
const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false };
const tool = { name: 'look', description: 'Look through camera n.' };
const ASK = 'What is in the pictures?';
const LOOK = 'Please look through both cameras.';

const oa = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'any', maxRetries: 0 });
const an = new Anthropic({ baseURL: url, apiKey: 'any', maxRetries: 0 });
let passed = 0;

function check(name, said, right) {
  if (said !== right) {
    console.error(`${name}: ${said} instead of ${right}`);
    process.exit(1);
  }
  passed += 1;
}

const stringified = (n) => JSON.stringify([{ type: 'image', data: data(n), mimeType: 'image/png' }]);

const wires = {
  chat: {
    native: false,
    image: (n) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data(n)}` } }),
    text: (text) => ({ type: 'text', text }),
    async send(messages, stream) {
      const tools = [{ type: 'function', function: { ...tool, parameters: schema } }];
      const request = { model: 'gpt-5.4', messages, tools };
      const done = stream
        ? await oa.chat.completions.stream(request).finalChatCompletion()
        : await oa.chat.completions.create(request);
      return done.choices[0].message;
    },
    said: (message) => message.content,
    after: (message, result) => [
      message,
      ...message.tool_calls.map((call) => ({
        role: 'tool', tool_call_id: call.id, content: result(JSON.parse(call.function.arguments).n),
      })),
    ],
  },
  responses: {
    native: true,
    image: (n) => ({ type: 'input_image', image_url: `data:image/png;base64,${data(n)}`, detail: 'auto' }),
    text: (text) => ({ type: 'input_text', text }),
    send(input, stream) {
      const request = { model: 'gpt-5.4', input, tools: [{ type: 'function', ...tool, parameters: schema, strict: true }] };
      return stream ? oa.responses.stream(request).finalResponse() : oa.responses.create(request);
    },
    said: (response) => response.output_text,
    // A streamed response carries what the SDK parsed beside what was sent; only the latter goes back.
    after: (response, result) => [
      ...response.output.map(({ parsed_arguments, ...call }) => call),
      ...response.output.map((call) => ({
        type: 'function_call_output', call_id: call.call_id, output: result(JSON.parse(call.arguments).n),
      })),
    ],
  },
  messages: {
    native: true,
    image: (n) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: data(n) } }),
    text: (text) => ({ type: 'text', text }),
    send(messages, stream) {
      const request = { model: 'claude-sonnet-5', max_tokens: 500, messages, tools: [{ ...tool, input_schema: schema }] };
      return stream ? an.messages.stream(request).finalMessage() : an.messages.create(request);
    },
    said: (message) => message.content[0].text,
    after: (message, result) => [
      { role: 'assistant', content: message.content },
      {
        role: 'user',
        content: message.content.map((call) => ({
          type: 'tool_result', tool_use_id: call.id, content: result(call.input.n),
        })),
      },
    ],
  },
};

for (const [kind, wire] of Object.entries(wires)) {
  for (const stream of [false, true]) {
    const name = `${kind}, ${stream ? 'streamed' : 'whole'}`;
    const shown = [{ role: 'user', content: [wire.image(1), wire.image(2), wire.text(ASK)] }];
    check(`${name}: image of the user`, wire.said(await wire.send(shown, stream)), RIGHT);

    const asked = [{ role: 'user', content: LOOK }];
    const calls = await wire.send(asked, stream);
    const blind = [...asked, ...wire.after(calls, stringified)];
    check(`${name}: tool image as text`, wire.said(await wire.send(blind, stream)), BLIND);
    const native = [...asked, ...wire.after(calls, (n) => [wire.image(n)])];
    if (wire.native) {
      check(`${name}: tool image`, wire.said(await wire.send(native, stream)), RIGHT);
      continue;
    }
    const error = await wire.send(native, stream).then(() => ({}), (error) => error);
    const says = "Image URLs are only allowed for messages with role 'user'";
    check(`${name}: tool image`, error.status === 400 && error.message.includes(says), true);
  }
}
console.log(`node: ${passed} passed, 0 failed`);
