// Conversations as JavaScript frameworks store them, dumped by the frameworks themselves.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ai5 from 'ai5';
import * as ai6 from 'ai6';
import * as ai7 from 'ai7';
import { MockLanguageModelV2 } from 'ai5/test';
import { MockLanguageModelV3 } from 'ai6/test';
import { MockLanguageModelV4 } from 'ai7/test';
import { AIMessage, HumanMessage, SystemMessage, ToolMessage, mapChatMessagesToStoredMessages } from '@langchain/core/messages';
import { ChatPromptValue } from '@langchain/core/prompt_values';
import { z } from 'zod';

const [images, out] = process.argv.slice(2);
const bytes = (name) => new Uint8Array(readFileSync(join(images, name)));
const base64 = (name) => Buffer.from(bytes(name)).toString('base64');
const keep = (name, value) => writeFileSync(join(out, `${name}.json`), JSON.stringify(value));
const address = 'https://example.com/cat.png';

// What a tool gives the model, in the parts of each major version.
const outputs = {
  5: [{ type: 'text', text: 'the first tab' }, { type: 'media', data: base64('disc.png'), mediaType: 'image/png' }],
  6: [
    { type: 'text', text: 'the first tab' },
    { type: 'image-data', data: base64('disc.png'), mediaType: 'image/png' },
    { type: 'file-data', data: base64('page.jpg'), mediaType: 'image/jpeg', filename: 'page.jpg' },
    { type: 'image-url', url: address },
  ],
  7: [
    { type: 'text', text: 'the first tab' },
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: base64('disc.png') } },
    { type: 'file', mediaType: 'image/jpeg', filename: 'page.jpg', data: { type: 'data', data: bytes('page.jpg') } },
    { type: 'file', mediaType: 'image', data: { type: 'url', url: new URL(address) } },
  ],
};

// A model that calls the tool twice in its first turn, one call failing, and then answers.
function model(Mock, version) {
  let turn = 0;
  const call = (id, tab) => ({ type: 'tool-call', toolCallId: id, toolName: 'screenshot', input: JSON.stringify({ tab }) });
  const usage = version === 5
    ? { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
    : { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const reply = (content, reason) => ({
    content, usage, warnings: [],
    finishReason: version === 5 ? reason : { unified: reason, raw: reason },
  });
  return new Mock({
    supportedUrls: { 'image/*': [/^https:/] },
    doGenerate: async () => turn++ === 0
      ? reply([{ type: 'reasoning', text: 'hm' }, { type: 'text', text: 'I look.' }, call('call_a', 1), call('call_b', 2)], 'tool-calls')
      : reply([{ type: 'text', text: 'A disc.' }], 'stop'),
  });
}

async function ai(version, sdk, Mock) {
  const asked = [
    { role: 'system', content: 'Look closely.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What do you see?' },
        { type: 'image', image: base64('bars.png'), mediaType: 'image/png' },
        { type: 'image', image: bytes('wave.webp') },
        { type: 'image', image: new URL(address) },
      ],
    },
  ];
  const asModel = model(Mock, version);
  const result = await sdk.generateText({
    model: asModel,
    messages: asked,
    allowSystemInMessages: true,
    stopWhen: (sdk.isStepCount ?? sdk.stepCountIs)(2),
    tools: {
      screenshot: sdk.tool({
        description: 'a picture of a tab',
        inputSchema: z.object({ tab: z.number() }),
        execute: async ({ tab }) => {
          if (tab === 2) throw new Error('no such tab');
          return { tab };
        },
        toModelOutput: () => ({ type: 'content', value: outputs[version] }),
      }),
    },
  });
  // Version 7 keeps only the last step in `response`.
  const answered = [...asked, ...(result.responseMessages ?? result.response.messages)];
  keep(`ai${version}-messages`, answered);
  if (version === 6) keep('ai6-request', { system: 'Look closely.', temperature: 0.5, messages: answered.slice(1) });
  // What the SDK hands to a provider: the prompt of the second turn.
  keep(`ai${version}-prompt`, asModel.doGenerateCalls[1].prompt);
}

async function langchain() {
  const v0 = [
    new SystemMessage('Look closely.'),
    new HumanMessage({
      content: [
        { type: 'text', text: 'What do you see?' },
        { type: 'image', source_type: 'base64', data: base64('bars.png'), mime_type: 'image/png' },
        { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,' + base64('page.jpg'), detail: 'high' } },
        { type: 'image', source_type: 'url', url: address },
      ],
    }),
    new AIMessage({ content: 'I look.', tool_calls: [{ name: 'screenshot', args: { tab: 1 }, id: 'call_a', type: 'tool_call' }] }),
    new ToolMessage({
      content: [
        { type: 'text', text: 'the first tab' },
        { type: 'image', source_type: 'base64', data: base64('disc.png'), mime_type: 'image/png' },
      ],
      tool_call_id: 'call_a',
      status: 'success',
    }),
  ];
  const v1 = [
    new HumanMessage({
      contentBlocks: [
        { type: 'text', text: 'What do you see?' },
        { type: 'image', data: base64('bars.png'), mimeType: 'image/png' },
        { type: 'image', data: bytes('wave.webp'), mimeType: 'image/webp' },
        { type: 'image', url: address },
      ],
    }),
    new AIMessage({
      contentBlocks: [
        { type: 'reasoning', reasoning: 'hm' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_call', name: 'screenshot', args: { tab: 1 }, id: 'call_a' },
      ],
    }),
    new ToolMessage({
      contentBlocks: [
        { type: 'text', text: 'the first tab' },
        { type: 'image', data: base64('disc.png'), mimeType: 'image/png' },
      ],
      tool_call_id: 'call_a',
    }),
  ];
  keep('langchain-js-lc-v0', v0);
  keep('langchain-js-lc-v1', v1);
  keep('langchain-js-stored-v0', mapChatMessagesToStoredMessages(v0));
  keep('langchain-js-stored-v1', mapChatMessagesToStoredMessages(v1));
  keep('langchain-js-prompt-v0', new ChatPromptValue(v0));
}

await ai(5, ai5, MockLanguageModelV2);
await ai(6, ai6, MockLanguageModelV3);
await ai(7, ai7, MockLanguageModelV4);
await langchain();
