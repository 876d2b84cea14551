'use strict';
// A processor for Mastra's agents. It changes what is sent to the model, and nothing of what is kept.

exports.photicProcessorWith = ({ repairPrompt }) =>
  function photicProcessor({ policy, profile, onRepair } = {}) {
    return {
      id: 'photic',
      async processLLMRequest({ prompt }) {
        const changed = await repairPrompt(prompt, { version: 'v2', policy, profile, onRepair });
        return changed === prompt ? undefined : { prompt: changed };
      },
    };
  };
