// AI SDK 6: a tool gives images through toModelOutput, or through an MCP client.
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as Stdio } from '@ai-sdk/mcp/mcp-stdio';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { z } from 'zod';
import { runAiSdk } from '../ai.mjs';

// 6 has a part type per way of giving a picture.
function part(p, as) {
  if (p.text) return { type: 'text', text: p.text };
  if (p.url) return { type: 'image-url', url: p.url };
  if (as === 'file-data') return { type: 'file-data', data: p.data, mediaType: p.mediaType, filename: p.file };
  return { type: as === 'media' ? 'media' : 'image-data', data: p.data, mediaType: p.mediaType }; // media: deprecated, still in use
}

// Declared to read image addresses, else the SDK fetches them and sends the bytes.
const gateway = (at, { how }) =>
  createOpenAICompatible({ name: 'gateway', ...(how === 'urls' && { supportedUrls: () => ({ 'image/*': [/^https:/] }) }), ...at });

await runAiSdk({
  sdk: { createMCPClient, generateText, Stdio, streamText, tool },
  z,
  stop: stepCountIs(2),
  part,
  models: {
    'openai-compatible': (at, capture) => gateway(at, capture)('gateway-model'),
    'openai-chat': (at) => createOpenAI(at).chat('gpt-4.1'),
    'openai-responses': (at) => createOpenAI(at).responses('gpt-4.1'),
    anthropic: (at) => createAnthropic(at)('claude-sonnet-4-6'),
  },
});
