// Read by tsc, never run: how the npm package is used from an ES module, with the types that it promises.
import Anthropic from '@anthropic-ai/sdk';
import { createOpenAI } from '@ai-sdk/openai';
import { wrapLanguageModel } from 'ai';
import OpenAI from 'openai';
import { AnthropicBedrock } from '@anthropic-ai/bedrock-sdk';
import { GoogleGenAI } from '@google/genai';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';
import photicDefault, {
  Profile, Session, backend, check, explain, lower, photicAnthropic, photicFetch, photicLangChain, photicMiddleware,
  photicProcessor, repair, repairSync, route, view, type Finding, type Wire,
} from 'photic';

const body: string | Uint8Array = '{}';
const findings: Finding[] = (await check(body, { wire: 'openai-chat', model: 'gpt-5.4' })).findings;
const fate: string = (await explain(Buffer.from('{}'))).media[0]!.fate;
const profile = Profile.of('anthropic', { model: 'claude-sonnet-5' }).changed('limits', { images: 4 });
const repaired = await repair(body, { wire: 'anthropic', profile, policy: { retention: 'newest(4)', maxImages: 8 } });
const sent: Uint8Array = repaired.body;
const message: string | undefined = repairSync(body).fixes[0]?.message;
const changed: boolean = (await lower(body, { to: 'gemini' })).isChanged;
const tokens: number = (await view('page.png', { region: [0, 0, 10, 10] })).tokens;
const wire: Wire | undefined = route('/v1/messages')?.wire;
// @ts-expect-error it is no API
await repair(body, { wire: 'openai' });
// @ts-expect-error an object is no body
await repair({});

new OpenAI({ fetch: photicFetch() });
new Anthropic({ fetch: photicFetch(fetch, { onRepair: (one) => console.log(one.fixes) }) });
createOpenAI({ fetch: photicFetch() });
wrapLanguageModel({ model: createOpenAI()('gpt-5.4'), middleware: photicMiddleware() });
new Anthropic({ middleware: [photicAnthropic()] });
new AnthropicBedrock({ middleware: [photicAnthropic({ policy: { maxImages: 4 } })] });
new GoogleGenAI({ httpOptions: { fetch: photicFetch() } });
createAgent({ model: new ChatOpenAI({ configuration: { fetch: photicFetch() } }), tools: [], middleware: [photicLangChain()] });
export const processor = photicProcessor({ policy: { maxImages: 4 } });
const session = new Session({ wire: 'anthropic' });
const turn: Uint8Array = (await session.repair(body)).body;
const known: number = session.figures.continued;
const same: typeof photicDefault.repair = repair;
export { findings, fate, sent, message, changed, tokens, wire, turn, known, same, backend };
