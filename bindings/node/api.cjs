'use strict';

// The module, over the calls of an addon or of the WebAssembly module. It needs nothing of Node.

const { photicAnthropicWith } = require('./anthropic.cjs');
const { photicFetchWith } = require('./fetch.cjs');
const { photicLangChainWith } = require('./langchain.cjs');
const { photicMiddlewareWith } = require('./middleware.cjs');
const { photicProcessorWith } = require('./mastra.cjs');
const { promptRepairWith } = require('./prompt.cjs');

/** A body, a picture or an option that photic cannot use. `hint` says what to do instead. */
class PhoticError extends Error {
  constructor(code, hint, problem) {
    super(`${problem}: ${hint}`);
    this.name = 'PhoticError';
    this.code = code;
    this.hint = hint;
  }
}

// The addon gives the code, the hint and the problem in a line each.
function thrown(error) {
  const [code, hint, ...problem] = String(error?.message).split('\n');
  return problem.length ? new PhoticError(code, hint, problem.join('\n')) : error;
}

function now(call) {
  try {
    return call();
  } catch (error) {
    throw thrown(error);
  }
}

async function later(call) {
  try {
    return await call();
  } catch (error) {
    throw thrown(error);
  }
}

const encoder = new TextEncoder();

/** What a call wrote, as an array without the methods of a `Buffer`. */
const plain = ({ buffer, byteOffset, length }) => new Uint8Array(buffer, byteOffset, length);

function bytes(body) {
  if (body instanceof Uint8Array) return body;
  if (typeof body === 'string') return encoder.encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  throw new TypeError(
    `cannot read \`${body === null ? 'null' : typeof body}\`: pass a string, a Buffer or a Uint8Array; ` +
      'write an object with `JSON.stringify(body)`',
  );
}

function text({ wire, to, model, host, profile, policy } = {}) {
  const limits = policy && { images: policy.maxImages, image_tokens: policy.maxImageTokens, bytes: policy.maxBytes };
  const { retention, keep, marks, purpose, pixels } = policy ?? {};
  const given = policy && { retention, keep, marks, purpose, pixels, limits };
  const known = profile && typeof profile === 'object' ? profile.data ?? profile : profile;
  return JSON.stringify({ from: wire, to, model, host, profile: known, policy: given });
}

/** What photic found out about a request. Parsed when it is first read. */
class Report {
  #json;
  #data;

  constructor(json) {
    this.#json = json;
  }

  get data() {
    this.#data ??= JSON.parse(this.#json);
    return this.#data;
  }

  get wire() {
    return this.data.from ?? this.data.wire ?? null;
  }

  get model() {
    return this.data.model ?? null;
  }

  get profile() {
    return this.data.profile ?? null;
  }

  get findings() {
    return this.data.findings;
  }

  get ledger() {
    return this.data.ledger ?? null;
  }
}

/** Every image of a request with its fate. */
class Explanation extends Report {
  get media() {
    return this.data.media;
  }
}

/** A body that was written, and the changes that were made. */
class Lowered extends Report {
  constructor(body, isChanged, json) {
    super(json);
    this.body = body;
    this.isChanged = isChanged;
  }

  get fixes() {
    return this.data.decisions ?? [];
  }

  static from(body, written) {
    return new this(written.body ? plain(written.body) : body, written.body != null, written.report);
  }
}

/** A repaired request. */
class Repaired extends Lowered {}

/** A picture as a model would get it. */
class View {
  constructor(picture, json) {
    this.encoded = plain(picture);
    this.data = JSON.parse(json);
    this.mediaType = this.data.media_type;
    [this.width, this.height] = this.data.size;
    this.tokens = this.data.tokens;
    this.warnings = this.data.warnings.map(({ message }) => message);
  }

  toSource(x, y) {
    const { a, b, c, d, e, f } = this.data.map;
    return [a * x + c * y + e, b * x + d * y + f];
  }
}

function viewText({ model, host, region, tile, page, fidelity, maxEdge, maxBytes } = {}) {
  return JSON.stringify({ model, host, region, tile, page, fidelity, max_edge: maxEdge, max_bytes: maxBytes });
}

// A picture is the bytes of a file, or samples with their width, height and channels.
function samples(source) {
  const { data, width, height } = source;
  const channels = source.channels ?? data.length / (width * height);
  return [bytes(data), { width, height, channels }];
}

const isPath = (source) => typeof source === 'string' || source instanceof URL;
const isSamples = (source) => source && typeof source === 'object' && 'data' in source && 'width' in source;

/**
 * The module. `native` makes the calls, `room` the memory for what a call writes at once, if `native` needs it;
 * `readFile` and `readFileSync` read the file of a path.
 */
exports.photicWith = ({ native, backend, room, readFile, readFileSync }) => {
  /** The facts about an endpoint and a model. */
  class Profile {
    constructor(data) {
      this.data = data;
    }

    static of(wire, { model, host } = {}) {
      return new Profile(JSON.parse(now(() => native.profile(text({ to: wire, model, host })))));
    }

    get id() {
      return this.data.id;
    }

    get wire() {
      return this.data.wire;
    }

    changed(section, fields) {
      return new Profile({ ...this.data, [section]: { ...this.data[section], ...fields } });
    }
  }

  const checkSync = (body, options) => new Report(now(() => native.checkSync(bytes(body), text(options))).report);
  const check = async (body, options) =>
    new Report((await later(() => native.check(bytes(body), text(options)))).report);

  const explainSync = (body, options) =>
    new Explanation(now(() => native.explainSync(bytes(body), text(options))).report);
  const explain = async (body, options) =>
    new Explanation((await later(() => native.explain(bytes(body), text(options)))).report);

  const lowerSync = (body, options) => {
    const input = bytes(body);
    return Lowered.from(input, now(() => native.lowerSync(input, text(options), room)));
  };
  const lower = async (body, options) => {
    const input = bytes(body);
    return Lowered.from(input, await later(() => native.lower(input, text(options))));
  };

  const repairSync = (body, options) => {
    const input = bytes(body);
    return Repaired.from(input, now(() => native.repairSync(input, text(options), options?.rejections ?? [], room)));
  };
  const repair = async (body, options) => {
    const input = bytes(body);
    return Repaired.from(input, await later(() => native.repair(input, text(options), options?.rejections ?? [])));
  };

  /** Repairs the requests of conversations, turn by turn: what a turn before had read is not read again. */
  class Session {
    #session;

    constructor(options) {
      this.#session = now(() => new native.Session(text(options)));
    }

    repairSync(body) {
      const input = bytes(body);
      return Repaired.from(input, now(() => this.#session.repairSync(input, room)));
    }

    async repair(body) {
      const input = bytes(body);
      return Repaired.from(input, await later(() => this.#session.repair(input)));
    }

    get figures() {
      const { continued, read_whole: readWhole, known_bytes: knownBytes, conversations, kept_bytes: keptBytes } =
        JSON.parse(this.#session.figures());
      return { continued, readWhole, knownBytes, conversations, keptBytes };
    }
  }

  // The bytes of a picture and their shape, if they are samples. `read` reads a path.
  const taken = (source, read) => (isSamples(source) ? samples(source) : [isPath(source) ? read(source) : bytes(source)]);

  const viewSync = (source, options) => {
    const [data, shape] = taken(source, readFileSync);
    const { body, report } = now(() => native.viewSync(data, viewText(options), shape, room));
    return new View(body, report);
  };
  const view = async (source, options) => {
    const [data, shape] = taken(source, readFile);
    const file = await data;
    const { body, report } = await later(() => native.view(file, viewText(options), shape));
    return new View(body, report);
  };

  /** Returns the API and the model of the path that a request is posted to, or null. */
  function route(path, host = '') {
    const found = native.route(path, host);
    return found == null ? null : JSON.parse(found);
  }

  const repairPrompt = promptRepairWith({ explain, lower });
  const photicFetch = photicFetchWith({ repair, repairSync, route });
  return {
    Explanation, Lowered, PhoticError, Profile, Repaired, Report, Session, View, backend,
    check, checkSync, explain, explainSync, lower, lowerSync, photicFetch, repair, repairSync, route, view, viewSync,
    photicAnthropic: photicAnthropicWith({ photicFetch }),
    photicLangChain: photicLangChainWith({ photicFetch }),
    photicMiddleware: photicMiddlewareWith({ repairPrompt }),
    photicProcessor: photicProcessorWith({ repairPrompt }),
  };
};
