// OpenAI SDK for Node: chat by hand and with runTools, responses with the tool runner.
import OpenAI from 'openai';
import { ResponsesToolRunner } from 'openai/helpers/responses-tool-runner';
import { PROMPT, TOOL, asMcp, dataUrl, run } from '../flow.mjs';

const model = 'gpt-4.1';
const parameters = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false };
const answer = { type: 'object', properties: { color: { type: 'string' } }, required: ['color'], additionalProperties: false };
const chatSettings = {
  temperature: 0.2, top_p: 0.9, stop: ['END', '\n\n'], max_completion_tokens: 512, seed: 7, n: 1, frequency_penalty: 0.1,
  presence_penalty: 0.2, logit_bias: { 50256: -100 }, user: 'user-7', metadata: { run: '7' }, store: false, tool_choice: 'auto',
  parallel_tool_calls: true, reasoning_effort: 'low', verbosity: 'low', prompt_cache_key: 'run-7',
  response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: answer, strict: true } },
};
const responsesSettings = {
  instructions: 'Answer in one sentence.', temperature: 0.2, top_p: 0.9, max_output_tokens: 512, user: 'user-7',
  metadata: { run: '7' }, store: false, tool_choice: 'auto', parallel_tool_calls: true, reasoning: { effort: 'low', summary: 'auto' },
  text: { format: { type: 'json_schema', name: 'answer', schema: answer, strict: true }, verbosity: 'low' },
};
const connect = (url) => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });

// Shapes a tool author gives a result that has to be text.
const asText = {
  'mcp-text': (parts, error) => JSON.stringify(asMcp(parts, error)),
  'data-url-text': ([p]) => dataUrl(p),
  'screenshot-text': ([p]) => JSON.stringify({ width: 64, height: 48, screenshot: p.data }),
};
const chatParts = (parts) =>
  parts.map((p) => (p.text ? { type: 'text', text: p.text } : { type: 'image_url', image_url: { url: dataUrl(p) } }));
const responseParts = (parts) =>
  parts.map((p) => (p.text ? { type: 'input_text', text: p.text } : { type: 'input_image', image_url: dataUrl(p), detail: 'auto' }));

async function chat({ url, results, as, how, error }) {
  const client = connect(url);
  const messages = [{ role: 'user', content: PROMPT }];
  const look = ({ n }) => {
    const parts = results[n - 1];
    return as === 'mcp' ? asMcp(parts, error) : asText[as]?.(parts, error) ?? chatParts(parts);
  };
  if (how === 'run-tools') {
    // The runner turns whatever is not a string into JSON text.
    const fn = { ...TOOL, parameters, function: look, parse: JSON.parse };
    return client.chat.completions.runTools({ model, messages, tools: [{ type: 'function', function: fn }] }).done();
  }
  const request = { model, messages, tools: [{ type: 'function', function: { ...TOOL, parameters } }] };
  if (how === 'settings') Object.assign(request, chatSettings);
  const send = () =>
    how === 'stream' ? client.chat.completions.stream(request).finalChatCompletion() : client.chat.completions.create(request);
  const { message } = (await send()).choices[0];
  messages.push(message);
  for (const call of message.tool_calls)
    messages.push({ role: 'tool', tool_call_id: call.id, content: look(JSON.parse(call.function.arguments)) });
  await send();
}

async function responses({ url, results, as, how, error }) {
  const client = connect(url);
  const tool = { type: 'function', ...TOOL, parameters, strict: true };
  const look = ({ n }) => asText[as]?.(results[n - 1], error) ?? responseParts(results[n - 1]);
  if (how !== 'previous-id') {
    const runner = new ResponsesToolRunner({ functions: [{ tool, execute: look }] });
    return runner.run(client, { model, input: PROMPT, ...(how === 'settings' && responsesSettings) }, { stream: how === 'stream' });
  }
  // The other common loop: the server keeps the history, only results are sent.
  const first = await client.responses.create({ model, input: PROMPT, tools: [tool] });
  const input = first.output.map((call) => ({
    type: 'function_call_output', call_id: call.call_id, output: look(JSON.parse(call.arguments)),
  }));
  await client.responses.create({ model, previous_response_id: first.id, input, tools: [tool] });
}

await run({ chat, responses });
