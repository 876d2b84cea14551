'use strict';
// Middleware for `wrapLanguageModel` of the AI SDK.

exports.photicMiddlewareWith = ({ repairPrompt }) =>
  function photicMiddleware({ version = 'v4', policy, profile, onRepair } = {}) {
    return {
      specificationVersion: version,
      async transformParams({ params }) {
        const prompt = await repairPrompt(params.prompt, { version, policy, profile, onRepair });
        return prompt === params.prompt ? params : { ...params, prompt };
      },
    };
  };
