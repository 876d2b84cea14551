/** An API of a provider. */
export type Wire = 'anthropic' | 'bedrock-converse' | 'gemini' | 'ollama' | 'openai-chat' | 'openai-responses';

/** A request body: JSON as text or bytes. Bytes are read in place and must not change during the call. */
export type Body = string | Uint8Array | ArrayBuffer | ArrayBufferView;

/** The caller's choices. */
export interface Policy {
  /** How long images stay in sight: `all`, `priced`, `turns(K)` or `newest(N)`. */
  retention?: string;
  /** The number of newest tool images that `priced` always keeps. */
  keep?: number;
  /** `true` to set prompt cache breakpoints where they pay. */
  marks?: boolean;
  /** `summarize` replaces all images by notices. */
  purpose?: 'converse' | 'summarize';
  /** `false` if no picture may be scaled or converted. */
  pixels?: boolean;
  /** Maximum number of images in a request. */
  maxImages?: number;
  /** Maximum tokens of the images of a request. */
  maxImageTokens?: number;
  /** Maximum bytes of a request. */
  maxBytes?: number;
}

/** Options of every call. */
export interface Options {
  /** The model that reads the request. The body names it if absent. */
  model?: string;
  /** The host that the request is sent to. */
  host?: string;
  /** The facts about the endpoint: a profile, or the id of a shipped one. Looked up if absent. */
  profile?: Profile | string;
  policy?: Policy;
}

export interface CheckOptions extends Options {
  /** The API of the body. Detected if absent. */
  wire?: Wire;
}

export interface LowerOptions extends Options {
  /** The format of the body, also of a stored conversation. Detected if absent. */
  wire?: string;
  /** The API to write. That of the body if absent. */
  to?: Wire;
}

export interface RepairOptions extends CheckOptions {
  /** The errors that the provider answered this request with so far. */
  rejections?: Rejection[];
}

export interface ViewOptions {
  model?: string;
  host?: string;
  /** x, y, width and height in pixels of the upright source. */
  region?: [number, number, number, number];
  tile?: number;
  /** The page or frame, from 1. */
  page?: number;
  fidelity?: 'glance' | 'read' | 'pixel';
  maxEdge?: number;
  maxBytes?: number;
}

/** Samples of 8 bits: rows from the top without gaps. */
export interface Samples {
  data: Uint8Array | Uint8ClampedArray;
  width: number;
  height: number;
  /** 1 for gray, 3 for RGB, 4 for RGBA. */
  channels?: 1 | 3 | 4;
}

/** An error that a provider answered with. */
export interface Rejection {
  status: number;
  text: string;
}

/** A problem of a request. */
export interface Finding {
  code: string;
  /** Its place in the body, as a JSON pointer. */
  at: string;
  /** The number of the image concerned, from 1. */
  index?: number;
  message: string;
  hint: string;
  /** Tokens of the image as it is now: base64 that is read as text. */
  text_tokens?: number;
  /** Tokens of the image once it is repaired. */
  tokens?: number;
}

/** A change that was made to a request. */
export interface Fix {
  did: string;
  at?: string;
  /** The number of the image concerned, from 1. */
  index?: number;
  field?: string;
  reason?: string;
  message: string;
}

/** The cost of a request. Token counts are estimates. */
export interface Ledger {
  images: number;
  image_tokens: number;
  tokens: number;
  usd?: number;
  [field: string]: unknown;
}

/** An image, a document or a sound of a request, with its fate. */
export interface Medium {
  /** The number, from 1. */
  index: number;
  at?: string;
  /** The tool that returned it. */
  tool?: string;
  /** The role of the message that holds it, if no tool returned it. */
  role?: string;
  media_type?: string;
  /** Width and height of the original. */
  source_size?: [number, number];
  /** Width and height as it is sent. Absent if it is not shown. */
  size?: [number, number];
  bytes: number;
  tokens: number;
  usd?: number;
  uncached_usd?: number;
  /** `keep`, `shrink`, `sheet`, `hoist`, `elide` or `refuse`. */
  fate: string;
  reason: string;
  why: string;
}

/** The meaning of the path that a request is posted to. */
export interface Route {
  wire: Wire;
  /** The model, if the path names it. */
  model: string | null;
  host: string;
}

/** A body, a picture or an option that photic cannot use. */
export declare class PhoticError extends Error {
  readonly code: string;
  /** What to do instead. */
  readonly hint: string;
}

/** The facts about an endpoint and a model: its limits, its rules, its prices. */
export declare class Profile {
  constructor(data: Record<string, unknown>);
  /** Looks up the profile of a model on an API. There is always one. */
  static of(wire: Wire, options?: { model?: string; host?: string }): Profile;
  readonly data: Record<string, unknown>;
  get id(): string;
  get wire(): Wire;
  /** Returns a copy with other values in a section, such as `limits`. */
  changed(section: string, fields: Record<string, unknown>): Profile;
}

/** What photic found out about a request. */
export declare class Report {
  protected constructor();
  /** The whole report. */
  get data(): Record<string, unknown>;
  /** The API or the format of the body that came in. */
  get wire(): string | null;
  get model(): string | null;
  get profile(): string | null;
  get findings(): Finding[];
  get ledger(): Ledger | null;
}

export declare class Explanation extends Report {
  protected constructor();
  get media(): Medium[];
}

export declare class Lowered extends Report {
  protected constructor();
  /** The body to send. It is the array that came in if nothing changed. */
  readonly body: Uint8Array;
  readonly isChanged: boolean;
  get fixes(): Fix[];
}

export declare class Repaired extends Lowered {
  protected constructor();
}

export declare class View {
  protected constructor();
  readonly encoded: Uint8Array;
  readonly mediaType: string;
  readonly width: number;
  readonly height: number;
  readonly tokens: number;
  readonly warnings: string[];
  readonly data: Record<string, unknown>;
  /** Maps a point of the view to the upright source. */
  toSource(x: number, y: number): [number, number];
}

/** Finds the problems of a request body. */
export declare function check(body: Body, options?: CheckOptions): Promise<Report>;
export declare function checkSync(body: Body, options?: CheckOptions): Report;

/** Lists every image of a request with its fate, the reason, and its price. */
export declare function explain(body: Body, options?: LowerOptions): Promise<Explanation>;
export declare function explainSync(body: Body, options?: LowerOptions): Explanation;

/** Writes a request, a stored conversation or a reply for an API, as `photic lower` does. */
export declare function lower(body: Body, options?: LowerOptions): Promise<Lowered>;
export declare function lowerSync(body: Body, options?: LowerOptions): Lowered;

/** Repairs a request body for the endpoint that it is sent to. */
export declare function repair(body: Body, options?: RepairOptions): Promise<Repaired>;
export declare function repairSync(body: Body, options?: RepairOptions): Repaired;

/** What a session did so far, and what it keeps. */
export interface SessionFigures {
  /** Requests that were read without the turns that were known. */
  continued: number;
  /** Requests that were read whole. */
  readWhole: number;
  /** Bytes of known turns that were not read again. */
  knownBytes: number;
  /** Conversations that are kept. */
  conversations: number;
  /** Bytes of memory that they take. */
  keptBytes: number;
}

/**
 * Repairs the requests of conversations, turn by turn. A request that goes on with a conversation is read without the
 * turns that are known to need nothing. The bytes and the report are those of `repair`.
 */
export declare class Session {
  /** The options hold for all of its requests. */
  constructor(options?: CheckOptions);
  repair(body: Body): Promise<Repaired>;
  repairSync(body: Body): Repaired;
  get figures(): SessionFigures;
}

/** Makes the picture that a model would get, of a path, the bytes of a file, or samples. Browsers have no paths. */
export declare function view(source: string | URL | Uint8Array | Samples, options?: ViewOptions): Promise<View>;
export declare function viewSync(source: string | URL | Uint8Array | Samples, options?: ViewOptions): View;

/** Returns the API and the model of the path that a request is posted to, or null. */
export declare function route(path: string, host?: string): Route | null;

export interface FetchOptions {
  model?: string;
  profile?: Profile | string;
  policy?: Policy;
  /** Called with every repaired request. */
  onRepair?: (repaired: Repaired) => void;
}

/**
 * Returns a `fetch` that repairs requests with conversations before they are sent. A rejection that
 * blames the images is answered with a request that is repaired further, at most twice.
 */
export declare function photicFetch(fetch?: typeof globalThis.fetch, options?: FetchOptions): typeof globalThis.fetch;

export interface MiddlewareOptions<V extends 'v3' | 'v4' = 'v4'> {
  /** `v4` for the AI SDK 7, `v3` for the AI SDK 6. */
  version?: V;
  profile?: Profile | string;
  policy?: Policy;
  /** Called with every prompt that was changed. */
  onRepair?: (lowered: Lowered) => void;
}

/**
 * Returns middleware for `wrapLanguageModel` of the AI SDK. Images in tool results become parts of a user message
 * behind them. Where the provider takes a `fetch`, `photicFetch` knows more about the endpoint.
 */
export declare function photicMiddleware<V extends 'v3' | 'v4' = 'v4'>(
  options?: MiddlewareOptions<V>,
): {
  specificationVersion: V;
  transformParams<P extends { prompt: readonly { role: string }[] }>(options: { params: P }): Promise<P>;
};

/**
 * Returns middleware for Anthropic's SDK: `new Anthropic({ middleware: [photicAnthropic()] })`. It runs before a request
 * is written for Bedrock or Vertex and signed, so that it also works there.
 */
export declare function photicAnthropic(
  options?: FetchOptions,
): <R extends { url: string }>(request: R, next: (request: R) => Promise<Response>) => Promise<Response>;

/**
 * Returns middleware for `createAgent` of LangChain. It makes the requests of a `ChatOpenAI`, an `AzureChatOpenAI` or a
 * `ChatAnthropic` be repaired, and throws a `TypeError` for a model of another kind.
 */
export declare function photicLangChain(options?: FetchOptions): {
  readonly name: string;
  wrapModelCall<R, A>(request: R, handler: (request: R) => A): A;
};

/**
 * Returns an input processor for Mastra's agents: `new Agent({ inputProcessors: [photicProcessor()] })`. What it changes
 * is sent and not kept.
 */
export declare function photicProcessor(options?: Omit<MiddlewareOptions, 'version'>): {
  readonly id: 'photic';
  processLLMRequest<P extends readonly { role: string }[]>(request: { prompt: P }): Promise<{ prompt: P } | undefined>;
};

/** `native` if the addon of the platform makes the calls, `wasm` if the WebAssembly module does. */
export declare const backend: 'native' | 'wasm';
