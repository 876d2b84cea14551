// Anthropic SDK for Node: the tool runner, and the loop written by hand.
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import { PROMPT, TOOL, asMcp, run } from '../flow.mjs';

const inputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

function block(p) {
  if (p.text) return { type: 'text', text: p.text };
  if (p.url) return { type: 'image', source: { type: 'url', url: p.url } };
  return { type: 'image', source: { type: 'base64', media_type: p.mediaType, data: p.data } };
}

async function messages({ url, results, as, how, error }) {
  const client = new Anthropic({ baseURL: url, apiKey: 'none', maxRetries: 0 });
  const history = [{ role: 'user', content: PROMPT }];
  const settings = { model: 'claude-sonnet-4-6', max_tokens: 1024 };
  const look = ({ n }) =>
    as === 'mcp-text' ? JSON.stringify(asMcp(results[n - 1], error)) : results[n - 1].map(block);

  if (how === 'settings')
    Object.assign(settings, {
      system: [{ type: 'text', text: 'Answer in one sentence.', cache_control: { type: 'ephemeral' } }],
      stop_sequences: ['END'], metadata: { user_id: 'user-7' }, service_tier: 'auto',
      tool_choice: { type: 'auto', disable_parallel_tool_use: true }, output_config: { effort: 'low' },
    });
  if (how === 'manual' || how === 'settings') {
    const request = { ...settings, messages: history, tools: [{ ...TOOL, input_schema: inputSchema }] };
    const { content } = await client.messages.create(request);
    const answers = content.map((use) => ({ type: 'tool_result', tool_use_id: use.id, content: look(use.input) }));
    history.push({ role: 'assistant', content }, { role: 'user', content: answers });
    await client.messages.create(request);
    return;
  }
  const tool = betaTool({
    ...TOOL,
    inputSchema,
    run: (input) => {
      if (error) throw new ToolError(look(input)); // the documented way to fail with a picture
      return look(input);
    },
  });
  const runner = client.beta.messages.toolRunner({
    ...settings,
    messages: history,
    tools: [tool],
    ...(how === 'unthreaded' && { thread: false }),
    ...(how === 'stream' && { stream: true }),
  });
  if (how === 'stream') for await (const stream of runner) await stream.finalMessage();
  else await runner;
}

await run({ messages });
