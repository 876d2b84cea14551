'use strict';
// The calls of the addon, made by the WebAssembly module. They run where they are called, on the event loop.

// The numbers of the calls in bindings/wasm.
const CALLS = { check: 0, explain: 1, lower: 2, repair: 3, view: 4, profile: 5, route: 6, repairInSession: 7, figures: 8 };
const HAS_BODY = 1;
const FAILED = 2;
// Memory of WebAssembly never shrinks. An instance that has more than this is given up after the call.
const MAX_KEPT_MEMORY = 64 * 1024 * 1024;

// Error numbers of WASI.
const SUCCESS = 0;
const BAD_FILE = 8;
const MONOTONIC = 1;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The error of a call: a line with the code, then one with the hint, then the problem. */
class CallFailed extends Error {}

/** The functions of WASI that the standard library links: a clock, random numbers, and no files. */
function wasi(memory) {
  const view = () => new DataView(memory().buffer);
  const empty = (count, size) => {
    view().setUint32(count, 0, true);
    view().setUint32(size, 0, true);
    return SUCCESS;
  };
  return {
    clock_time_get(clock, _precision, to) {
      const milliseconds = clock === MONOTONIC ? performance.now() : Date.now();
      view().setBigUint64(to, BigInt(Math.round(milliseconds * 1e6)), true);
      return SUCCESS;
    },
    random_get(to, length) {
      for (let at = 0; at < length; at += 65536) {
        crypto.getRandomValues(new Uint8Array(memory().buffer, to + at, Math.min(65536, length - at)));
      }
      return SUCCESS;
    },
    environ_get: () => SUCCESS,
    environ_sizes_get: empty,
    args_get: () => SUCCESS,
    args_sizes_get: empty,
    sched_yield: () => SUCCESS,
    proc_exit(code) {
      throw new Error(`the WebAssembly module ended with ${code}`);
    },
  };
}

/** Makes an instance. Functions of WASI for files say that there is no such file. */
function instanceOf(module) {
  let instance;
  const known = wasi(() => instance.exports.memory);
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = known[name] ?? (() => BAD_FILE);
  }
  instance = new WebAssembly.Instance(module, imports);
  instance.exports._initialize?.();
  return instance.exports;
}

/** Returns a function that makes calls of a compiled module. It keeps an instance, and makes another when it has to. */
function callerOf(module) {
  let kept = null;
  return function call(name, body, given) {
    try {
      const wasm = (kept ??= instanceOf(module));
      const put = (which, bytes) => {
        const at = wasm.reserve(which, bytes.length) >>> 0;
        if (at === 0) throw new CallFailed('internal\nsend smaller images\nthe body does not fit into the memory of WebAssembly');
        new Uint8Array(wasm.memory.buffer, at, bytes.length).set(bytes);
      };
      put(0, body);
      put(1, encoder.encode(JSON.stringify(given)));
      const status = wasm.call(CALLS[name]);
      const output = (which) => new Uint8Array(wasm.memory.buffer, wasm.pointer(which) >>> 0, wasm.length(which) >>> 0);
      const report = decoder.decode(output(1));
      if (status === FAILED) throw new CallFailed(report);
      const made = status === HAS_BODY ? output(0).slice() : undefined;
      wasm.clear();
      if (wasm.memory.buffer.byteLength > MAX_KEPT_MEMORY) kept = null;
      return { body: made, report };
    } catch (error) {
      if (error instanceof CallFailed) throw error;
      // A trap, a stack or a memory that ended: nothing in the instance can be relied on.
      kept = null;
      throw new CallFailed(`internal\nplease report this\nthe WebAssembly module failed: ${error.message}`, { cause: error });
    }
  };
}

const nothing = new Uint8Array();

/** Repairs, or leaves the body as it is where the module fails: a request is sent in any case. */
function repaired(repair) {
  try {
    return repair();
  } catch (error) {
    const [code, hint, message] = error.message.split('\n');
    if (code !== 'internal') throw error;
    return { report: JSON.stringify({ findings: [{ code, at: '/', message, hint }], decisions: [] }) };
  }
}

/** The calls over a compiled module. */
exports.callsOf = (module) => {
  const call = callerOf(module);

  /** A session has an instance of its own. What it knows is lost with the instance, and then read again. */
  class Session {
    #call = callerOf(module);
    #options;

    constructor(options) {
      this.#options = options;
      this.figures();
    }

    repairSync(body) {
      return repaired(() => this.#call('repairInSession', body, { options: this.#options }));
    }

    async repair(body) {
      return this.repairSync(body);
    }

    figures() {
      return this.#call('figures', nothing, { options: this.#options }).report;
    }
  }

  const calls = {
    checkSync: (body, options) => call('check', body, { options }),
    explainSync: (body, options) => call('explain', body, { options }),
    lowerSync: (body, options) => call('lower', body, { options }),
    repairSync: (body, options, rejections) => repaired(() => call('repair', body, { options, rejections })),
    viewSync: (body, options, shape) => call('view', body, { options, shape }),
  };
  return {
    ...calls,
    Session,
    check: async (...all) => calls.checkSync(...all),
    explain: async (...all) => calls.explainSync(...all),
    lower: async (...all) => calls.lowerSync(...all),
    repair: async (...all) => calls.repairSync(...all),
    view: async (...all) => calls.viewSync(...all),
    profile: (options) => call('profile', nothing, { options }).report,
    route: (path, host) => call('route', nothing, { path, host }).report,
  };
};
