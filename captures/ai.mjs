// What AI SDK 6 and 7 have in common. The packages come from the caller, since
// each major lives in its own folder.
import { FOLLOWUP, PROMPT, TOOL, asMcp, run, toBytes } from './flow.mjs';

// Every setting that the SDK has a name for; each provider sends those that it knows.
const SETTINGS = {
  system: 'Answer in one sentence.', temperature: 0.2, topP: 0.9, topK: 40, presencePenalty: 0.1, frequencyPenalty: 0.2,
  stopSequences: ['END', '\n\n'], seed: 7, maxOutputTokens: 512, toolChoice: 'auto',
  providerOptions: {
    openai: { user: 'user-7', metadata: { run: '7' }, parallelToolCalls: true, store: false, reasoningEffort: 'low', textVerbosity: 'low' },
    anthropic: { effort: 'low', disableParallelToolUse: true },
    gateway: { user: 'user-7', reasoningEffort: 'low' },
  },
};

// sdk: the imported functions. stop: ends the loop after the second step.
// part: (result part, shape asked for) -> content part of that major.
// models: api -> (settings, capture) -> model.
export function runAiSdk({ sdk, z, stop, part, models }) {
  const { createMCPClient, generateText, Stdio, streamText, tool } = sdk;

  function lookTool({ results, as, error }) {
    const input = { description: TOOL.description, inputSchema: z.object({ n: z.int() }) };
    // Without toModelOutput the SDK sends whatever execute returned, as JSON.
    if (as === 'json') return tool({ ...input, execute: ({ n }) => asMcp(results[n - 1], false) });
    return tool({
      ...input,
      execute: ({ n }) => results[n - 1],
      toModelOutput: ({ output }) =>
        error // the only failed result that can hold more than text is JSON
          ? { type: 'error-json', value: asMcp(output, true) }
          : { type: 'content', value: output.map((p) => part(p, as)) },
    });
  }

  async function lookThroughMcp({ results, error }) {
    const answers = JSON.stringify(results.map((r) => asMcp(r, error)));
    const mcp = await createMCPClient({
      transport: new Stdio({ command: 'python3', args: [process.env.MCP_SERVER, answers] }),
    });
    return { tools: await mcp.tools(), close: () => mcp.close() };
  }

  async function ask(model, capture) {
    const { tools, close } = capture.as === 'mcp' ? await lookThroughMcp(capture) : { tools: { look: lookTool(capture) } };
    const providerOptions = capture.how === 'unstored' ? { openai: { store: false } } : undefined;
    const settings = { model, tools, stopWhen: stop, maxRetries: 0, providerOptions };
    if (capture.how === 'settings') Object.assign(settings, SETTINGS);
    if (capture.how === 'download') {
      // Stands in for the SDK's own fetch, which refuses loopback: what it decides to fetch, it gets.
      const [{ data, mediaType }] = capture.results.flat().filter((p) => p.url);
      settings.experimental_download = async (wanted) =>
        wanted.map((w) => (w.isUrlSupportedByModel ? null : { data: toBytes(data), mediaType }));
    }
    const messages = [{ role: 'user', content: PROMPT }];
    if (capture.how === 'stream') {
      await streamText({ ...settings, messages }).consumeStream({ onError: (e) => { throw e; } });
    } else {
      const { response, responseMessages } = await generateText({ ...settings, messages });
      // All steps: in 7 response.messages has only the last one, without the tool result.
      const next = [...messages, ...(responseMessages ?? response.messages), { role: 'user', content: FOLLOWUP }];
      if (capture.how === 'followup') await generateText({ ...settings, messages: next });
    }
    await close?.();
  }

  const apis = Object.entries(models).map(([api, model]) => [
    api,
    (capture) => ask(model({ baseURL: `${capture.url}/v1`, apiKey: 'none' }, capture), capture),
  ]);
  return run(Object.fromEntries(apis));
}
