// Read by tsc, never run. A file of its own, because the types of Mastra itself are not free of errors.
import { Agent } from '@mastra/core/agent';
import { photicProcessor } from 'photic';

export const agent = new Agent({
  id: 'a', name: 'a', instructions: 'Help.', model: 'openai/gpt-5.4', inputProcessors: [photicProcessor()],
});
