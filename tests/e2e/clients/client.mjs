// The OpenAI and Anthropic SDKs for Node: ROWS CHARTS. One line of JSON a row: what the model said.
import { readFileSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import OpenAI from 'openai';

const [rows, charts] = process.argv.slice(2);
const data = (n) => readFileSync(`${charts}/${n}.png`).toString('base64');
const parameters = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false };
const tool = { name: 'take_screenshot', description: 'Take a screenshot of page n.' };
const ASK = 'Please take a screenshot of both pages.';
const MORE = 'And which colors are these?';

// Addresses and keys come from the environment, as everywhere.
const openai = new OpenAI({ maxRetries: 0 });
const anthropic = new Anthropic({ maxRetries: 0 });

const url = (n) => `data:image/png;base64,${data(n)}`;
const object = (n) => ({ page: n, screenshot: data(n) });
const asSent = ({ parsed_arguments, content, ...item }) =>
  content ? { ...item, content: content.map(({ parsed, ...part }) => part) } : item;
const isText = (shape) => shape.includes('JSON');

async function chat({ model, shape, stream }) {
  const messages = [{ role: 'user', content: ASK }];
  if (shape.includes('runTools')) {
    const fn = { ...tool, parameters, function: ({ n }) => object(n), parse: JSON.parse };
    const request = { model, messages, tools: [{ type: 'function', function: fn }], stream };
    const runner = openai.chat.completions.runTools(request);
    const first = await runner.finalContent();
    const next = [...runner.messages, { role: 'user', content: MORE }];
    const more = await openai.chat.completions.runTools({ ...request, messages: next }).finalContent();
    return [first, more];
  }
  const request = { model, messages, tools: [{ type: 'function', function: { ...tool, parameters } }] };
  const send = async () => {
    const done = stream
      ? await openai.chat.completions.stream(request).finalChatCompletion()
      : await openai.chat.completions.create(request);
    messages.push(done.choices[0].message);
    return done.choices[0].message;
  };
  const { tool_calls } = await send();
  for (const call of tool_calls) {
    const { n } = JSON.parse(call.function.arguments);
    const content = isText(shape) ? JSON.stringify(object(n)) : [{ type: 'image_url', image_url: { url: url(n) } }];
    messages.push({ role: 'tool', tool_call_id: call.id, content });
  }
  const first = await send();
  messages.push({ role: 'user', content: MORE });
  return [first.content, (await send()).content];
}

async function responses({ model, shape, stream }) {
  const tools = [{ type: 'function', ...tool, parameters, strict: true }];
  const kept = shape.includes('previous');
  let input = [{ role: 'user', content: ASK }];
  let previous;
  const send = async (more) => {
    input = kept ? more : [...input, ...more];
    const request = { model, input, tools, ...(kept && previous && { previous_response_id: previous }) };
    const done = stream ? await openai.responses.stream(request).finalResponse() : await openai.responses.create(request);
    previous = done.id;
    // A streamed response carries what the SDK parsed beside what was sent; only the latter goes back.
    if (!kept) input.push(...done.output.map(asSent));
    return done;
  };
  const calls = (await send(kept ? input : [])).output;
  const results = calls.map((call) => {
    const { n } = JSON.parse(call.arguments);
    const output = isText(shape) ? JSON.stringify(object(n)) : [{ type: 'input_image', image_url: url(n), detail: 'auto' }];
    return { type: 'function_call_output', call_id: call.call_id, output };
  });
  const first = await send(results);
  return [first.output_text, (await send([{ role: 'user', content: MORE }])).output_text];
}

async function messages({ model, shape, stream }) {
  const give = (n) =>
    isText(shape) ? JSON.stringify(object(n)) : [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: data(n) } }];
  const history = [{ role: 'user', content: ASK }];
  const request = { model, max_tokens: 500, messages: history };
  if (shape.includes('runner')) {
    const tools = [betaTool({ ...tool, inputSchema: parameters, run: ({ n }) => give(n) })];
    const runner = anthropic.beta.messages.toolRunner({ ...request, tools, ...(stream && { stream: true }) });
    let last;
    for await (const message of runner) last = stream ? await message.finalMessage() : message;
    return [last.content[0].text];
  }
  const send = async () => {
    const asked = { ...request, tools: [{ ...tool, input_schema: parameters }] };
    const done = stream ? await anthropic.messages.stream(asked).finalMessage() : await anthropic.messages.create(asked);
    history.push({ role: 'assistant', content: done.content });
    return done.content;
  };
  const calls = (await send()).filter((block) => block.type === 'tool_use');
  history.push({
    role: 'user',
    content: calls.map((call) => ({ type: 'tool_result', tool_use_id: call.id, content: give(call.input.n) })),
  });
  const first = await send();
  history.push({ role: 'user', content: MORE });
  return [first[0].text, (await send())[0].text];
}

const entries = { 'openai-chat': chat, 'openai-responses': responses, anthropic: messages };
for (const row of JSON.parse(readFileSync(rows, 'utf8'))) {
  const { entry } = row;
  const result = await entries[entry](row).then(
    (said) => ({ said }),
    (error) => ({ status: error.status ?? null, error: String(error.message) }),
  );
  console.log(JSON.stringify({ ...row, ...result }));
}
