'use strict';
// Middleware for LangChain's agents. The requests of a chat model are repaired where it sends them.

// LangChain knows middleware by this symbol; `createMiddleware` sets it, too.
const BRAND = Symbol.for('AgentMiddleware');
const CLIENTS = ['client', 'batchClient', 'streamingClient'];

exports.photicLangChainWith = ({ photicFetch }) =>
  function photicLangChain(options) {
    const repairing = new WeakSet();
    const done = new WeakSet();

    // Of options that a client is made from, and of a client, which keeps its `fetch` in the same member.
    function withFetch(holder) {
      if (holder?.fetch && repairing.has(holder.fetch)) return holder;
      const fetch = photicFetch(holder?.fetch, options);
      repairing.add(fetch);
      return { ...holder, fetch };
    }

    function install(model) {
      if (model.bound) return install(model.bound);
      if (done.has(model)) return;
      done.add(model);
      let isKnown = false;
      // `ChatOpenAI` has a model for each of the two APIs, and makes copies of itself from `fields`.
      for (const one of [model, model.completions, model.responses]) {
        for (const name of ['clientConfig', 'clientOptions']) {
          if (!one?.[name]) continue;
          one[name] = withFetch(one[name]);
          isKnown = true;
        }
        for (const name of CLIENTS) {
          if (typeof one?.[name]?.fetch === 'function') one[name].fetch = withFetch({ fetch: one[name].fetch }).fetch;
        }
      }
      if (!isKnown) {
        throw new TypeError(
          `cannot repair the requests of \`${model.constructor?.name}\`: give its client ` +
            '`fetch: photicFetch()` if it takes one, or use the gateway',
        );
      }
      if (model.fields) model.fields = { ...model.fields, configuration: withFetch(model.fields.configuration) };
    }

    return {
      [BRAND]: true,
      name: 'photic',
      wrapModelCall(request, handler) {
        install(request.model);
        return handler(request);
      },
    };
  };
