// AI SDK 7: as 6, but with one part type, `file`, for every picture.
import { generateText, isStepCount, streamText, tool } from 'ai';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as Stdio } from '@ai-sdk/mcp/mcp-stdio';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { z } from 'zod';
import { runAiSdk } from '../ai.mjs';
import { toBytes } from '../flow.mjs';

function part(p, as) {
  if (p.text) return { type: 'text', text: p.text };
  if (as === 'image-data') return { type: 'image-data', data: p.data, mediaType: p.mediaType }; // the part of 6, deprecated in 7
  if (p.url) return { type: 'file', mediaType: p.mediaType, data: { type: 'url', url: new URL(p.url) } };
  const data = as === 'bytes' ? toBytes(p.data) : as === 'buffer' ? Buffer.from(p.data, 'base64') : p.data;
  return { type: 'file', mediaType: p.mediaType, data: { type: 'data', data } };
}

const gateway = (at, { how }) =>
  createOpenAICompatible({
    name: 'gateway',
    // Declared to take parts in a tool message (new in 7, off unless asked for).
    ...(how === 'multipart' && { supportsMultiPartToolContent: true }),
    // Declared to read image addresses, else the SDK fetches them and sends the bytes.
    ...(how === 'urls' && { supportedUrls: () => ({ 'image/*': [/^https:/] }) }),
    ...at,
  });

await runAiSdk({
  sdk: { createMCPClient, generateText, Stdio, streamText, tool },
  z,
  stop: isStepCount(2),
  part,
  models: {
    'openai-compatible': (at, capture) => gateway(at, capture)('gateway-model'),
    'openai-chat': (at) => createOpenAI(at).chat('gpt-4.1'),
    'openai-responses': (at) => createOpenAI(at).responses('gpt-4.1'),
    anthropic: (at) => createAnthropic(at)('claude-sonnet-4-6'),
  },
});
