// JavaScript clients and frameworks that tests/e2e/clients has not: CHARTS WAY. One line of JSON a row: what the model
// said. WAY is `direct`, or `photic` with the line that docs/node.md names for each. Addresses and keys come from the
// environment, as these packages read it; the few that read none are given the address of OpenAI's.
import { readFileSync } from 'node:fs';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { AnthropicBedrock } from '@anthropic-ai/bedrock-sdk';
import { AnthropicFoundry } from '@anthropic-ai/foundry-sdk';
import { AnthropicVertex } from '@anthropic-ai/vertex-sdk';
import { GoogleGenAI } from '@google/genai';
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import { Agent as MastraAgent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { HTTPClient, Mistral } from '@mistralai/mistralai';
import * as agents from '@openai/agents';
import { createAgent, tool as langchainTool } from 'langchain';
import { Ollama } from 'ollama';
import OpenAI, { AzureOpenAI } from 'openai';
import { z } from 'zod';
import { photicAnthropic, photicFetch, photicLangChain, photicProcessor } from 'photic';

const [charts, way] = process.argv.slice(2);
const inside = way === 'photic';
const env = process.env;
const file = (n) => readFileSync(`${charts}/${n}.png`);
const data = (n) => file(n).toString('base64');
const url = (n) => `data:image/png;base64,${data(n)}`;
const object = (n) => ({ page: n, screenshot: data(n) });
const NAME = 'take_screenshot';
const DESCRIPTION = 'Take a screenshot of page n.';
const SCHEMA = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false };
const input = z.object({ n: z.int() });
const ASK = 'Please take a screenshot of both pages.';
const MORE = 'And which colors are these?';
const [PART, JSON_TEXT] = ['image part', 'JSON with base64'];

// The line of each, or nothing.
const repairing = inside ? { fetch: photicFetch() } : {};
const middleware = inside ? { middleware: [photicAnthropic()] } : {};

async function google({ model, shape, stream }) {
  const client = new GoogleGenAI({ apiKey: env.GEMINI_API_KEY, httpOptions: { ...repairing } });
  const contents = [];
  const config = { tools: [{ functionDeclarations: [{ name: NAME, description: DESCRIPTION, parametersJsonSchema: SCHEMA }] }] };
  const send = async (parts) => {
    contents.push({ role: 'user', parts });
    const request = { model, contents, config };
    let said = [];
    if (stream) {
      for await (const chunk of await client.models.generateContentStream(request)) said.push(...(chunk.candidates[0].content.parts ?? []));
    } else said = (await client.models.generateContent(request)).candidates[0].content.parts;
    contents.push({ role: 'model', parts: said });
    return said;
  };
  const words = (parts) => parts.map(({ text }) => text ?? '').join('');
  const calls = (await send([{ text: ASK }])).flatMap(({ functionCall }) => functionCall ?? []);
  const results = calls.map(({ id, name, args: { n } }) => ({
    functionResponse: shape === JSON_TEXT
      ? { id, name, response: object(n) }
      : { id, name, response: { output: 'taken' }, parts: [{ inlineData: { mimeType: 'image/png', data: data(n) } }] },
  }));
  return [words(await send(results)), words(await send([{ text: MORE }]))];
}

// Instead of Google's: it asks nobody for a token.
const authClient = { projectId: 'project', getRequestHeaders: async () => new Headers({ authorization: 'Bearer any' }) };
const CLAUDE = {
  anthropic: () => new Anthropic({ maxRetries: 0, ...middleware }),
  bedrock: () => new AnthropicBedrock({ maxRetries: 0, awsRegion: 'us-east-1', ...middleware }),
  foundry: () => new AnthropicFoundry({ maxRetries: 0, ...middleware }),
  vertex: () => new AnthropicVertex({ maxRetries: 0, region: 'us-east5', projectId: 'project', authClient, ...middleware }),
};

async function claude({ model, shape, stream, at }) {
  const client = CLAUDE[at]();
  const messages = [];
  const send = async (content) => {
    messages.push({ role: 'user', content });
    const request = { model, max_tokens: 500, messages, tools: [{ name: NAME, description: DESCRIPTION, input_schema: SCHEMA }] };
    const done = stream ? await client.messages.stream(request).finalMessage() : await client.messages.create(request);
    messages.push({ role: 'assistant', content: done.content });
    return done.content;
  };
  const give = (n) =>
    shape === JSON_TEXT ? JSON.stringify(object(n)) : [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: data(n) } }];
  const calls = (await send(ASK)).filter(({ type }) => type === 'tool_use');
  const first = await send(calls.map((call) => ({ type: 'tool_result', tool_use_id: call.id, content: give(call.input.n) })));
  return [first[0].text, (await send(MORE))[0].text];
}

async function azure({ model, shape, stream }) {
  const client = new AzureOpenAI({ maxRetries: 0, ...repairing });
  const messages = [];
  const send = async (...more) => {
    messages.push(...more);
    const request = { model, messages, tools: [{ type: 'function', function: { name: NAME, description: DESCRIPTION, parameters: SCHEMA } }] };
    const done = stream
      ? await client.chat.completions.stream(request).finalChatCompletion()
      : await client.chat.completions.create(request);
    messages.push(done.choices[0].message);
    return done.choices[0].message;
  };
  const { tool_calls } = await send({ role: 'user', content: ASK });
  const results = tool_calls.map((call) => {
    const { n } = JSON.parse(call.function.arguments);
    const content = shape === JSON_TEXT ? JSON.stringify(object(n)) : [{ type: 'image_url', image_url: { url: url(n) } }];
    return { role: 'tool', tool_call_id: call.id, content };
  });
  return [(await send(...results)).content, (await send({ role: 'user', content: MORE })).content];
}

async function ollama({ model, shape, stream }) {
  const client = new Ollama({ host: env.OLLAMA_HOST, ...repairing });
  const messages = [];
  const send = async (...more) => {
    messages.push(...more);
    const request = { model, messages, tools: [{ type: 'function', function: { name: NAME, description: DESCRIPTION, parameters: SCHEMA } }], stream };
    const said = [];
    if (stream) for await (const { message } of await client.chat(request)) said.push(message);
    else said.push((await client.chat(request)).message);
    const message = { role: 'assistant', content: said.map(({ content }) => content ?? '').join(''), tool_calls: said.flatMap(({ tool_calls }) => tool_calls ?? []) };
    messages.push(message);
    return message;
  };
  const { tool_calls } = await send({ role: 'user', content: ASK });
  const results = tool_calls.map(({ function: { arguments: { n } } }) => ({
    role: 'tool', tool_name: NAME, ...(shape === JSON_TEXT ? { content: JSON.stringify(object(n)) } : { content: 'taken', images: [data(n)] }),
  }));
  return [(await send(...results)).content, (await send({ role: 'user', content: MORE })).content];
}

async function mistral({ model, shape, stream }) {
  const httpClient = inside ? { httpClient: new HTTPClient({ fetcher: photicFetch() }) } : {};
  const client = new Mistral({ apiKey: 'any', serverURL: env.OPENAI_BASE_URL.replace(/\/v1$/, ''), ...httpClient });
  const messages = [];
  const send = async (...more) => {
    messages.push(...more);
    const request = { model, messages, tools: [{ type: 'function', function: { name: NAME, description: DESCRIPTION, parameters: SCHEMA } }] };
    let said;
    if (stream) {
      said = { content: '', toolCalls: [] };
      for await (const { data: { choices: [{ delta }] } } of await client.chat.stream(request)) {
        said.content += delta.content ?? '';
        for (const call of delta.toolCalls ?? []) {
          const known = said.toolCalls[call.index];
          if (known) known.function.arguments += call.function.arguments;
          else said.toolCalls[call.index] = { ...call, function: { ...call.function } };
        }
      }
    } else said = (await client.chat.complete(request)).choices[0].message;
    const calls = (said.toolCalls ?? []).filter(Boolean);
    messages.push({ role: 'assistant', content: said.content ?? '', ...(calls.length && { toolCalls: calls }) });
    return { content: said.content, calls };
  };
  const { calls } = await send({ role: 'user', content: ASK });
  const results = calls.map((call) => {
    const given = call.function.arguments;
    const { n } = typeof given === 'string' ? JSON.parse(given) : given;
    const content = shape === JSON_TEXT ? JSON.stringify(object(n)) : [{ type: 'image_url', imageUrl: url(n) }];
    return { role: 'tool', toolCallId: call.id, name: NAME, content };
  });
  return [(await send(...results)).content, (await send({ role: 'user', content: MORE })).content];
}

async function langchain({ model, wire, shape, stream }) {
  const take = langchainTool(
    ({ n }) => (shape === JSON_TEXT ? JSON.stringify(object(n)) : [{ type: 'image', mimeType: 'image/png', data: data(n) }]),
    { name: NAME, description: DESCRIPTION, schema: input },
  );
  const settings = { model, maxRetries: 0, streaming: stream };
  const chat = wire === 'anthropic'
    ? new ChatAnthropic({ ...settings, maxTokens: 500 })
    : new ChatOpenAI({ ...settings, useResponsesApi: wire === 'openai-responses', configuration: { baseURL: env.OPENAI_BASE_URL } });
  const agent = createAgent({ model: chat, tools: [take], middleware: inside ? [photicLangChain()] : [] });
  const said = [];
  let messages = [];
  for (const question of [ASK, MORE]) {
    const asked = { messages: [...messages, { role: 'user', content: question }] };
    if (stream) {
      for await (const [kind, state] of await agent.stream(asked, { streamMode: ['messages', 'values'] })) {
        if (kind === 'values') messages = state.messages;
      }
    } else messages = (await agent.invoke(asked)).messages;
    said.push(messages.at(-1).text);
  }
  return said;
}

async function openaiAgents({ model, wire, shape, stream }) {
  agents.setTracingDisabled(true);
  agents.setOpenAIAPI(wire === 'openai-chat' ? 'chat_completions' : 'responses');
  agents.setDefaultOpenAIClient(new OpenAI({ maxRetries: 0, ...repairing }));
  const take = agents.tool({
    name: NAME, description: DESCRIPTION, parameters: input, errorFunction: null,
    execute: ({ n }) => (shape === 'object' ? object(n) : { type: 'image', image: { data: file(n), mediaType: 'image/png' } }),
  });
  const agent = new agents.Agent({ name: 'agent', model, tools: [take] });
  const said = [];
  let history = [];
  // For Chat Completions the SDK writes members into its own answers that the API does not take back.
  for (const question of wire === 'openai-chat' ? [ASK] : [ASK, MORE]) {
    history = [...history, { role: 'user', content: question }];
    const result = await agents.run(agent, history, { stream });
    if (stream) await result.completed;
    said.push(result.finalOutput);
    history = result.history;
  }
  return said;
}

async function mastra({ model, wire, shape, stream }) {
  const toModelOutput = (output) => ({ type: 'content', value: [{ type: 'media', mediaType: 'image/png', data: data(output.page) }] });
  const take = createTool({
    id: NAME, description: DESCRIPTION, inputSchema: input,
    execute: async (given) => object(given.n ?? given.context?.n),
    ...(shape !== 'object' && { toModelOutput }),
  });
  const models = {
    'openai-chat': () => createOpenAI().chat(model),
    'openai-responses': () => createOpenAI().responses(model),
    anthropic: () => createAnthropic()(model),
  };
  const agent = new MastraAgent({
    id: 'agent', name: 'agent', instructions: 'Help.', model: models[wire](), tools: { [NAME]: take }, maxRetries: 0,
    inputProcessors: inside ? [photicProcessor()] : [],
  });
  const said = [];
  let messages = [];
  for (const question of [ASK, MORE]) {
    messages = [...messages, { role: 'user', content: question }];
    const options = { maxSteps: 4, modelSettings: { maxRetries: 0 } };
    const result = stream ? await agent.stream(messages, options) : await agent.generate(messages, options);
    said.push(await result.text);
    const failed = await result.error;
    if (failed) throw failed;
    const response = await result.response;
    messages = [...messages, ...(response.messages ?? [])];
  }
  return said;
}

const MODELS = { 'openai-chat': 'gpt-5.4', 'openai-responses': 'gpt-5.4', anthropic: 'claude-sonnet-5', gemini: 'gemini-3-pro-preview', ollama: 'qwen3-vl:8b' };
const OUTPUT = '`toModelOutput`, content';
// Client as a reader knows it, its function, its wire, the shapes of results, and more.
const TABLE = [
  ['Google Gen AI SDK, Node', google, 'gemini', [PART, JSON_TEXT]],
  ['Google Gen AI SDK, Node, Gemini 2.5', google, 'gemini', [PART, JSON_TEXT], { model: 'gemini-2.5-pro' }],
  ['Anthropic SDK, Node, middleware', claude, 'anthropic', [PART, JSON_TEXT], { at: 'anthropic' }],
  ['`AnthropicBedrock`, Node', claude, 'anthropic', [PART, JSON_TEXT], { at: 'bedrock', model: 'anthropic.claude-sonnet-4-5-20250929-v1:0' }],
  ['`AnthropicVertex`, Node', claude, 'anthropic', [PART, JSON_TEXT], { at: 'vertex', model: 'claude-sonnet-4-5@20250929' }],
  ['`AnthropicFoundry`, Node', claude, 'anthropic', [PART, JSON_TEXT], { at: 'foundry' }],
  ['`AzureOpenAI`, Node', azure, 'openai-chat', [PART, JSON_TEXT]],
  ...['openai-chat', 'openai-responses', 'anthropic'].map((wire) => ['LangChain.js', langchain, wire, [PART, JSON_TEXT]]),
  // For Chat Completions the SDK leaves images out of results by itself.
  ['OpenAI Agents SDK, Node', openaiAgents, 'openai-chat', ['object']],
  ['OpenAI Agents SDK, Node', openaiAgents, 'openai-responses', ['image', 'object']],
  ...['openai-chat', 'openai-responses', 'anthropic'].map((wire) => ['Mastra', mastra, wire, [OUTPUT, 'object']]),
  ['Ollama SDK, Node', ollama, 'ollama', [PART, JSON_TEXT]],
  ['Mistral SDK, Node', mistral, 'openai-chat', [PART, JSON_TEXT], { model: 'mistral-medium-3' }],
];

/** The status in an error or in its causes. */
function status(error) {
  for (let one = error; one; one = one.cause ?? one.lastError) {
    const found = one.status ?? one.statusCode ?? one.status_code;
    if (typeof found === 'number') return found;
  }
  return null;
}

const only = process.argv[4];
for (const [client, ask, wire, shapes, more] of TABLE) {
  if (only && !client.includes(only)) continue;
  for (const shape of shapes) {
    for (const stream of [false, true]) {
      const row = { client, wire, shape, stream, model: MODELS[wire], ...more };
      const result = await ask(row).then((said) => ({ said }), (error) => ({ status: status(error), error: String(error?.stack ?? error) }));
      console.log(JSON.stringify({ ...row, ...result }));
    }
  }
}
