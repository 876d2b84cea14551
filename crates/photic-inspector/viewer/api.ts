// The JSON API of the inspector: every request, response and event. The server (`src/api/`) writes
// these shapes; a test compares the field names of the two.
//
// Rules that hold everywhere:
//
// - An unknown value is absent. It is never 0, null or "". A sum with unknown parts says how many.
// - Times are milliseconds since 1970. Durations are milliseconds. Sizes are bytes.
// - A turn is named by its number from 1, a picture by its number from 1. Numbers do not change.
// - `usd` is US dollars. `reported` tells a provider's count from our estimate ("expected").
// - Texts are remote and hostile. Set them with `textContent` only.
// - Addresses below are relative to `BASE`. Every GET answer is JSON unless a comment says otherwise.

/** Where the API is. */
export const BASE = "/inspect/api/v1";

/** Header that every POST needs, with the value "1". */
export const POST_HEADER = "x-photic-inspect";

// ---------------------------------------------------------------------------------------------
// Signing in
// ---------------------------------------------------------------------------------------------

/**
 * `POST /enter`. Exchanges the token of the address (`/inspect#token=HEX`, 32 hexadecimal letters)
 * for the cookie. 204 without a body, or 403 `token`. Afterwards remove the fragment from the
 * address with `history.replaceState`. A page that is loaded again has its cookie already.
 */
export interface EnterRequest {
  token: string;
}

/** Every answer that is not 2xx has this body. */
export interface Failure {
  error: {
    code: FailureCode;
    /** What happened, one sentence. */
    message: string;
    /** What to do next, one sentence. */
    next?: string;
  };
}

/**
 * | status | code | meaning |
 * |---|---|---|
 * | 400 | `bad_request` | a parameter or the body cannot be read |
 * | 403 | `token` | no or a wrong cookie or token: open the printed address again |
 * | 403 | `foreign_host`, `foreign_origin`, `missing_header` | the request comes from another page |
 * | 404 | `not_found` | no such session, turn, picture or address |
 * | 405 | `method` | the address takes another method |
 * | 409 | `not_reproduced` | the body of this turn cannot be made again byte for byte |
 * | 410 | `picture_gone` | the bytes of the picture are no longer in the record |
 * | 413 | `too_large` | more than this view reads at once |
 * | 415 | `not_a_picture` | the bytes are no PNG, JPEG, WebP or GIF that the decoder reads |
 * | 429 | `too_many_listeners` | 16 event streams are open already |
 * | 503 | `away` | the record cannot be read now: try again |
 */
export type FailureCode =
  | "bad_request" | "token" | "foreign_host" | "foreign_origin" | "missing_header" | "not_found"
  | "method" | "not_reproduced" | "picture_gone" | "too_large" | "not_a_picture"
  | "too_many_listeners" | "away";

// ---------------------------------------------------------------------------------------------
// About
// ---------------------------------------------------------------------------------------------

/** `GET /about`. Also in an export. */
export interface About {
  /** Version of photic. */
  version: string;
  /** `command`: `photic ui`. `gateway`: inside `photic run` or `photic serve`. `file`: an export. `app`: an MCP App. */
  door: "command" | "gateway" | "file" | "app";
  /** Address listened on, for the foot of the page ("127.0.0.1:4142"); absent in a file. */
  address?: string;
  /** Set if choices can be made here (`POST …/choice`). */
  choices: boolean;
  /** Set if events are sent here (`GET /events`). */
  events: boolean;
  /** The smallest letters models read, in pixels of a letter without ascender. */
  min_x_height: number;
}

// ---------------------------------------------------------------------------------------------
// Sessions
// ---------------------------------------------------------------------------------------------

/**
 * `GET /sessions?limit=100&before=CURSOR&q=TEXT`. Latest first. `limit` is at most 200. `q` filters
 * by title, model and id, without regard to case.
 */
export interface SessionPage {
  items: SessionRow[];
  /** Cursor for `before`; absent on the last page. */
  next?: string;
  /** Of all sessions, not of this page. */
  totals: {
    sessions: number;
    pictures: number;
    /** Bytes of all blobs. */
    bytes: number;
    tokens: number;
    /** Sum of the sessions with a price. */
    usd?: number;
    /** Sessions with a turn without a price. */
    unpriced: number;
  };
}

/** A session in the list. */
export interface SessionRow {
  /** "s_…" */
  id: string;
  title: string;
  /** Model and wire of the last turn. */
  model?: string;
  wire?: Wire;
  turns: number;
  pictures: number;
  bytes: number;
  created: number;
  last: number;
  /** Input tokens of all turns: reported where known, else expected. */
  tokens: number;
  /** Tokens read from the cache, by the provider's reports; absent if no turn has one. */
  read?: number;
  /** Cost of all turns with a price: input as paid, and the answers where known. */
  usd?: number;
  /** Turns without a price. `usd` is then a lower bound. */
  unpriced: number;
  /** Turns with a report of the provider. The others are expected. */
  reported: number;
  /** Cost (or tokens, if unpriced) by turn in at most 32 buckets, for the small chart. */
  spark: number[];
  /** Number and digest of the last picture, for `thumb`. */
  thumb?: { picture: number; digest: string };
  /** Set if a turn was added within the last minute. */
  live: boolean;
}

/** `GET /sessions/ID`. */
export interface Session extends SessionRow {
  /** Sums over all turns. */
  sums: Sums;
  /** Pictures in sight in the last turn. */
  in_sight: number;
  /** Turns whose body photic changed; absent in sessions with more than 64 turns. */
  changed?: number;
  /** Number of findings by kind. */
  findings: { blind: number; cost: number; repaired: number; learned: number };
  /** Profile of the last turn: facts for formulas. */
  profile?: ProfileFacts;
  /** Choices in force now. */
  choices: PictureChoice[];
}

/** Sums. Every token field sums the turns that reported it. */
export interface Sums {
  read?: number;
  written?: number;
  /** Neither read nor written. */
  rest?: number;
  /** Written again: had been in the cache's reach and was lost. */
  again?: number;
  output?: number;
  usd?: number;
  /** Part of `usd` that pictures cost. */
  usd_pictures?: number;
  /** Part of `usd` for answers. */
  usd_output?: number;
  /** What writing again cost more than reading. */
  usd_again?: number;
  /** What the plans expected for the same turns. */
  expected_tokens: number;
  expected_usd?: number;
}

/** Facts about the endpoint and model. */
export interface ProfileFacts {
  /** "claude-5@anthropic" */
  name: string;
  /** US dollars per million tokens. */
  input_usd?: number;
  output_usd?: number;
  /** Factor on the input price for tokens read from the cache, and written to it. */
  cache_read?: number;
  cache_write?: number;
  /** Seconds that the cache keeps a prefix. */
  cache_ttl?: number;
  /** Least tokens of a cached prefix. */
  cache_min?: number;
  /** Name of the rule for picture tokens, and a sentence that states it with its numbers. */
  token_rule: string;
  token_rule_text: string;
}

export type Wire =
  | "anthropic" | "openai-chat" | "openai-responses" | "gemini" | "bedrock-converse" | string;

// ---------------------------------------------------------------------------------------------
// Timeline
// ---------------------------------------------------------------------------------------------

/**
 * `GET /sessions/ID/turns?from=1&limit=200`. Rows in order of their numbers, `limit` at most 200.
 * `from` may be beyond the end (no rows). To catch up, ask from the last known number.
 */
export interface TurnPage {
  items: TurnRow[];
  /** Turns of the session. */
  total: number;
  /** `from` of the next page; absent on the last page. */
  next?: number;
  /** Most input tokens of any turn, for the scale of the strips. */
  max_tokens: number;
}

/** A turn in the timeline; at most 400 bytes in general. */
export interface TurnRow {
  n: number;
  at: number;
  /** What came: the first words of the newest message, or of the tool result. */
  came: string;
  /** The call it answers: "screenshot", "click 640, 440"; absent for a user's message. */
  call?: string;
  /**
   * One letter for each picture number from 1 (see `FateLetter`). Pictures that come later have no
   * letter, so the string may be shorter than the number of pictures.
   */
  fates: string;
  tokens: Tokens;
  /** Cost: reported if `reported`, else what the plan expected; absent without a price. */
  usd?: number;
  expected_usd?: number;
  /** Set if the provider reported usage for this turn. If not, `tokens` has `expected` alone. */
  reported: boolean;
  /** Token offsets of the cache marks; absent if none, or like `first.byte` in long sessions. */
  marks?: number[];
  /** Set if the sent body differs from the previous turn's before its end. */
  first?: FirstChange;
  /** To note, in order of weight. */
  notes?: Note[];
  /** Number of requests to the provider, if more than 1. */
  tries?: number;
  /** Status of the answer, if not 200. */
  status?: number;
  /** Set if the turn failed for good: the model did not answer. */
  failed?: boolean;
}

/**
 * A picture has one number for its bytes: if a request has it twice, the letter is that of the one
 * that is shown. `k` shown, `h` shown behind the results, `s` shown smaller, `p` shown and pinned by the user,
 * `r` retired, `d` dropped by the user, `e` repeated, `o` on a sheet with others, `f` refused or not
 * readable, `c` cleared or left out for a summary, `.` not part of this turn.
 */
export type FateLetter = "k" | "h" | "s" | "p" | "r" | "d" | "e" | "o" | "f" | "c" | ".";

/** The letters of pictures that the model sees. */
export const SHOWN = "khspo";

/** Tokens of a turn. All but `expected` as the provider reported them. */
export interface Tokens {
  /** Input by the plan. */
  expected: number;
  /** All input: `read + written + rest`. */
  input?: number;
  read?: number;
  written?: number;
  rest?: number;
  /** Part of `written` that had been in the cache's reach: `written − new`. */
  again?: number;
  output?: number;
  reasoning?: number;
}

/** The first difference of the bodies of two turns as sent, cache marks removed. */
export interface FirstChange {
  /**
   * Offset in the later body as sent. Absent in rows of sessions with more than 64 turns until the
   * turn was looked at, and if nothing changed but the cache was lost (`expired`, `too_short`,
   * `not_marked`).
   */
  byte?: number;
  /** Message of that byte, from 0; absent if it is before the first message. */
  message?: number;
  why: ChangeReason;
  /** One sentence: "priced took 8 pictures out". */
  text: string;
  /** Pictures concerned. */
  pictures?: number[];
}

/**
 * Why the prefix changed. `retired`, `dropped`, `repeated`, `remade`, `came_back`, `fate`: the fate
 * of a picture. `choice`: the user's. `lesson`: the profile learned. `client`: the client's own
 * edit. `system`, `tools`, `model`, `setting`: that part of the body. `expired`: the pause was longer
 * than the cache keeps. `too_short`: below the least prefix. `not_marked`: no cache mark.
 */
export type ChangeReason =
  | "retired" | "dropped" | "repeated" | "remade" | "came_back" | "fate" | "choice" | "lesson"
  | "client" | "system" | "tools" | "model" | "setting" | "expired" | "too_short" | "not_marked";

/** A chip of a row. */
export interface Note {
  kind: "bad" | "warn" | "ok" | "info";
  /** Stable code: "small_text", "healed", "rescued", "moved", "pinned", "dropped", "repeated", "came_back", "retired", "failed", "client_changed", "retried". */
  code: string;
  /** A few words: "#5 rescued". */
  text: string;
  picture?: number;
}

// ---------------------------------------------------------------------------------------------
// A turn
// ---------------------------------------------------------------------------------------------

/** `GET /sessions/ID/turns/N`. */
export interface Turn extends Omit<TurnRow, "tries"> {
  wire: Wire;
  model?: string;
  /** Pictures of this turn in order, shown or not. */
  pictures: TurnPicture[];
  /** Tokens that stand behind the end of the turn before, by the report or the plan. */
  new_tokens?: number;
  usd_parts?: {
    read?: number;
    written?: number;
    again?: number;
    rest?: number;
    output?: number;
    /** Part of the input that pictures cost. */
    pictures?: number;
  };
  /** Set if the estimate is off by more than a quarter, with the cause if it is known. */
  estimate_off?: string;
  cache: {
    /** `nothing_yet` first turn, `whole`, `broken` (see `first`), `unmarked`, `unknown`. */
    state: "nothing_yet" | "whole" | "broken" | "unmarked" | "unknown";
    /** One or two sentences. */
    text: string;
    /** Bytes at the beginning that are those of the turn before, marks aside. */
    common_bytes?: number;
  };
  /** What photic did, one entry for each decision group, in order of the body. */
  decisions: DecisionGroup[];
  /** Fewest facts about the request and its answer that help; absent if not recorded. */
  request: {
    /** Wire that was sent, if it differs from `wire`. */
    sent_wire?: Wire;
    host?: string;
    /** The provider's request id. */
    id?: string;
    /** The client's name (user-agent). */
    agent?: string;
    /** Bytes as the agent sent it, and as the model got it. */
    bytes_in?: number;
    bytes_sent: number;
    /** First 12 hexadecimal letters of the digest of the sent body. */
    digest: string;
    /** `yes`: byte for byte. `no`: this version makes another body. Absent: not tried (over 64 MB, or bytes are gone). */
    reproduced?: "yes" | "no";
    first_byte_ms?: number;
    total_ms?: number;
    /** How the answer ended: "complete", "cut", "error" … as recorded. */
    ended?: string;
  };
  /** Every request to the provider, the last one answered. Empty if not recorded. */
  tries: Try[];
  /** Headers that photic added to the answer. */
  headers: [name: string, value: string][];
  /** Set if the reply itself is in the record. */
  has_reply: boolean;
  /** Sentence to put above the messages ("The text in #7 is smaller than models read."). */
  warnings: Finding[];
}

// `Turn.tries` is the list; the row's number of tries is its length.

export interface Try {
  status?: number;
  /** Class of the rejection: "too_large_dim", … */
  class?: string;
  /** The provider's own sentence, at most 500 letters. */
  says?: string;
  bytes?: number;
  ms?: number;
}

/** A picture as it stands in one turn. */
export interface TurnPicture {
  /** Its number in the session. */
  picture: number;
  letter: FateLetter;
  /** Stable name of the reason, and its sentence. */
  reason: string;
  reason_text: string;
  /** The literal line that the model reads, if the picture is not shown. */
  notice?: string;
  /** Size of the original; of the bytes sent; as the provider resizes those. */
  size?: Size;
  sent?: Size;
  seen?: Size;
  sent_bytes?: number;
  /** Digest of the bytes sent, first 16 letters; equals the original's if untouched. */
  sent_digest?: string;
  tokens?: number;
  usd?: number;
  /** Where its tokens stand: `read` from the cache, `written`, or `rest`. */
  stands?: "read" | "written" | "rest";
  /** Smallest letters as resolved, in px, and whether models read them; absent if not yet examined. */
  x_height?: number;
  choice?: Choice;
  /** Index of its message in the body that the model got, and in the client's. */
  message?: number;
}

export type Size = [width: number, height: number];

export interface DecisionGroup {
  /** "hoisted", "rewrote", "not_shown", "remade", "marked", … as in `x-photic-fixed`. */
  did: string;
  /** Words: "#6 moved behind the results", "3 cache marks added". */
  text: string;
  /** Why, one sentence. */
  why: string;
  count: number;
  pictures: number[];
  /** JSON pointers in the client's body, at most 20. */
  at: string[];
  /** Set if the previous turn has the same decisions. */
  as_before: boolean;
}

// ---------------------------------------------------------------------------------------------
// Messages
// ---------------------------------------------------------------------------------------------

/**
 * `GET /sessions/ID/turns/N/messages?side=model|client|reply&from=0&limit=50&whole=`. 409 for
 * `side=model` if the body cannot be made again; `&as=now` then gives what this version sends
 * (`made_now` is set). `limit` is at most 50. `side=reply` has one message: the recorded answer.
 */
export interface MessagePage {
  items: Message[];
  /** Messages of the body. */
  total: number;
  /** Index of the first message that the previous turn does not have. */
  new_from: number;
  next?: number;
  /** Set if this is not what was sent but what this version of photic sends. */
  made_now?: boolean;
  /** On the first page: the instructions and the names of the tools. */
  system?: TextPart;
  tools?: string[];
}

export interface Message {
  /** From 0. */
  index: number;
  role: "user" | "assistant" | "tool" | "system" | string;
  parts: Part[];
}

export type Part = TextPart | CallPart | ResultPart | PicturePart | NoticePart | OtherPart;

/** A text. Longer than 8 kB it is cut: `more` is its whole length in bytes. */
export interface TextPart {
  kind: "text";
  text: string;
  more?: number;
  /** Address of the whole text (`text/plain`, attachment) relative to BASE, if it is cut. */
  href?: string;
}

export interface CallPart {
  kind: "call";
  name: string;
  /** JSON, cut like a text. */
  arguments: string;
  more?: number;
}

export interface ResultPart {
  kind: "result";
  /** The tool. */
  name?: string;
  failed?: boolean;
  parts: Part[];
}

/** A picture in its place. On the client's side without `turn`'s sizes. */
export interface PicturePart {
  kind: "picture";
  /** Its number; absent for pictures behind an address, which are not recorded. */
  picture?: number;
  media: "image" | "document" | "audio" | "video" | string;
  media_type?: string;
  size?: Size;
  bytes?: number;
}

/** The line that the model reads instead of a picture. */
export interface NoticePart {
  kind: "notice";
  text: string;
  picture?: number;
}

export interface OtherPart {
  kind: "other";
  /** "thinking", "mark", "content that photic does not know". */
  what: string;
}

// ---------------------------------------------------------------------------------------------
// What changed
// ---------------------------------------------------------------------------------------------

/** `GET /sessions/ID/turns/N/changes?from=0&limit=100`. Hunks in order. 409 as for messages. */
export interface ChangePage {
  items: Hunk[];
  total: number;
  next?: number;
  bytes_client: number;
  bytes_model: number;
}

/**
 * A changed span: bytes `a_from..a_to` of the client's body became `b_from..b_to` of the sent body.
 * Between hunks the bodies are equal. Applying all hunks to the first gives the second.
 */
export interface Hunk {
  /** Label: "1", "2" …; marks "M1", "M2" … */
  label: string;
  /** JSON pointer in the sent body of the value that holds the span. */
  pointer: string;
  a_from: number;
  a_to: number;
  b_from: number;
  b_to: number;
  a: Span[];
  b: Span[];
  /** Decision: code as in `DecisionGroup.did`, its words, its reason. */
  did: string;
  text: string;
  why: string;
  picture?: number;
  /** Set if the previous turn has the same hunk. */
  as_before: boolean;
}

/** A piece of one side. `changed` pieces are marked; base64 stands as a `blob`. */
export interface Span {
  text?: string;
  changed?: boolean;
  /** Set if bytes were left out here: their number. */
  cut?: number;
  blob?: { media_type: string; size?: Size; bytes: number; digest: string; picture?: number };
}

/**
 * `GET /sessions/ID/turns/N/body?side=client|model|reply` gives the bytes as an attachment.
 */

// ---------------------------------------------------------------------------------------------
// Pictures
// ---------------------------------------------------------------------------------------------

/** `GET /sessions/ID/pictures?from=1&limit=200&turn=N`. As of turn N (the last one by default). */
export interface PicturePage {
  items: PictureRow[];
  total: number;
  next?: number;
  /** The turn. */
  turn: number;
}

export interface PictureRow {
  picture: number;
  /** First 16 hexadecimal letters of the digest of the original: `?h=` of its addresses. */
  digest?: string;
  /** Turn in which it came. */
  turn: number;
  /** Words for it: what came with it. */
  label: string;
  tool?: string;
  media: string;
  media_type?: string;
  size?: Size;
  bytes: number;
  /** In the turn asked for. */
  letter: FateLetter;
  tokens?: number;
}

/**
 * The bytes, for `<img src>`. 410 `picture_gone`, 415 `not_a_picture`.
 *
 * - `GET /sessions/ID/pictures/K/thumb?h=DIGEST`: WebP, longest side 128 px, at most 4 kB.
 * - `GET /sessions/ID/pictures/K/original?h=DIGEST`: as the client sent it.
 * - `GET /sessions/ID/pictures/K/sent?turn=N`: as the model's provider got it in turn N; 404 if it
 *   was not shown.
 * - `GET /sessions/ID/pictures/K/seen?turn=N`: PNG, as the provider resizes what was sent.
 *
 * All add `&download=1` for an attachment. With `h` they are immutable.
 */
export type PictureImage = "thumb" | "original" | "sent" | "seen";

/** `GET /sessions/ID/pictures/K?turn=N`. As of turn N (the last one by default). */
export interface Picture extends PictureRow {
  /** "img_…" */
  handle?: string;
  /** JSON pointer in the client's body of that turn. */
  at?: string;
  /** The picture in the turn asked for. */
  now: TurnPicture;
  as_of: number;
  /** Can its text be read? Absent if the picture could not be examined. */
  legibility?: {
    verdict: "legible" | "small_text" | "no_text";
    /** One sentence. */
    text: string;
    /** Smallest letters in px: in the original, and as resolved in the turn asked for. */
    original_px?: number;
    seen_px?: number;
    /** Letters by turn where the resolved size changed: [from turn, px]. */
    by_turn: [from: number, px: number][];
    /** Region to look at, in pixels of the original (x, y, width, height), and tiles that show all. */
    region?: [x: number, y: number, width: number, height: number];
    tiles?: number;
  };
  /** Formula of the tokens: "⌈886/28⌉ × ⌈2576/28⌉ = 32 × 92 = 2,944", and where the rule is from. */
  formula?: { text: string; rule: string };
  /** Sum of its cost, and its place among the pictures of the session. */
  cost: { usd?: number; tokens: number; rank: number; of: number; turns_shown: number };
  /**
   * Fate and cost by turn. Above 64 turns an item is a range of turns (`to` > `from`) with the sum
   * of its cost; `letter` is the last one's.
   */
  turns: PictureTurn[];
  /** Original pixel = (x·scale[0], y·scale[1]) of a pixel as resolved; absent if not shown. */
  map?: { scale: [x: number, y: number]; offset: [x: number, y: number] };
  /** What each choice does from the next turn on. */
  forecast: Forecast[];
  warnings: Finding[];
}

export interface PictureTurn {
  from: number;
  to: number;
  letter: FateLetter;
  usd?: number;
  tokens?: number;
  stands?: "read" | "written" | "rest";
}

/** What a choice would do. */
export interface Forecast {
  /** The choice to send in `POST …/choice`. */
  choice: Choice;
  /** Set if it is in force. */
  active: boolean;
  /** Set if it can be made now; `text` says why not. */
  possible: boolean;
  /** Saved by every later turn. */
  saves_tokens?: number;
  saves_usd?: number;
  /** Paid once, to write again what stands behind it. */
  costs_tokens?: number;
  costs_usd?: number;
  /** Turns until it pays: `ceil(costs / saves)`. Absent if it never does. */
  pays_after?: number;
  /** Smallest letters then, in px (shrink). */
  x_height?: number;
  /** One sentence with these numbers. */
  text: string;
}

export type Choice = "drop" | "pin" | { shrink: { max_edge: number } };

export interface PictureChoice {
  picture: number;
  choice: Choice;
}

/**
 * `POST /sessions/ID/pictures/K/choice` with `x-photic-inspect: 1`. Takes effect on the next turn;
 * `null` takes the choice back. 200 with `ChoiceResult`. 409 `not_reproduced` never: nothing is made
 * again. 404 if the picture is behind an address.
 */
export interface ChoiceRequest {
  choice: Choice | null;
}

export interface ChoiceResult {
  picture: number;
  choice: Choice | null;
  forecast: Forecast[];
}

// ---------------------------------------------------------------------------------------------
// Compare
// ---------------------------------------------------------------------------------------------

/** `GET /sessions/ID/compare?a=N&b=M`. Bodies as sent; 409 if one cannot be made again. */
export interface Compare {
  a: CompareSide;
  b: CompareSide;
  /** Bytes and tokens at the beginning that both have, marks aside. */
  common_bytes: number;
  common_tokens: number;
  first?: FirstChange;
  /** Tokens of pictures of `a` that `b` does not show. */
  gone_tokens: number;
  /** Changed settings: JSON pointer or words, and both values cut to 200 letters. */
  settings: { name: string; a?: string; b?: string }[];
  messages: CompareMessage[];
}

export interface CompareSide {
  n: number;
  came: string;
  fates: string;
  tokens: Tokens;
  usd?: number;
  reported: boolean;
  in_sight: number;
  picture_tokens: number;
  bytes: number;
}

/** A run of equal messages, or one pair. */
export interface CompareMessage {
  kind: "same" | "changed" | "added" | "removed";
  /** Indices; `count` messages if `same`. */
  a?: number;
  b?: number;
  count: number;
  role?: string;
  /** Of each side: at most 400 letters around the difference. */
  a_spans?: Span[];
  b_spans?: Span[];
  pictures?: number[];
  /** "#7 retired", "new", "changed". */
  text?: string;
}

// ---------------------------------------------------------------------------------------------
// Cost
// ---------------------------------------------------------------------------------------------

/** `GET /sessions/ID/cost`. */
export interface CostPage {
  sums: Sums;
  /** Above 200 turns an item is a range of turns with sums. */
  turns: CostTurn[];
  /**
   * Cost so far of the input under other policies, at list price by the plan: one value for each item
   * of `turns`. Empty if the profile has no price. `paid` is what was paid.
   */
  policies: { name: "paid" | "all" | "priced" | "optimum"; text: string; usd: number[] }[];
  /** By cost, dearest first, at most 100. */
  pictures: CostPicture[];
  /** Turns in which the cache lost something. */
  misses: Miss[];
}

export interface CostTurn {
  from: number;
  to: number;
  reported: boolean;
  /** Absent without a price. */
  usd?: number;
  pictures?: number;
  words?: number;
  answer?: number;
  /** Part of the input that was written again. */
  again?: number;
  tokens: number;
}

export interface CostPicture {
  picture: number;
  label: string;
  digest?: string;
  usd?: number;
  tokens: number;
  turns_shown: number;
  letter: FateLetter;
}

export interface Miss {
  n: number;
  first: FirstChange;
  again?: number;
  usd?: number;
  reported: boolean;
}

// ---------------------------------------------------------------------------------------------
// Findings
// ---------------------------------------------------------------------------------------------

/** `GET /sessions/ID/findings`. */
export interface FindingPage {
  items: Finding[];
}

export interface Finding {
  /** `blind` could not see, `cost` cost money, `repaired`, `learned`. */
  group: "blind" | "cost" | "repaired" | "learned";
  severity: "bad" | "warn" | "ok" | "info";
  /** The same codes as `photic check`, `doctor` and the log. */
  code: string;
  /** A headline, and what it means. */
  title: string;
  text: string;
  /** What to do. */
  next?: string;
  /** First and last turn it holds for. */
  from: number;
  to: number;
  picture?: number;
}

// ---------------------------------------------------------------------------------------------
// Search
// ---------------------------------------------------------------------------------------------

/** `GET /sessions/ID/search?q=TEXT&limit=40`. "7" and "turn 7" find turn 7, "#7" picture 7. */
export interface SearchPage {
  items: SearchHit[];
}

export interface SearchHit {
  kind: "turn" | "picture" | "text" | "finding";
  /** "Turn 7", "#7" */
  label: string;
  /** The words around the hit, at most 120 letters. */
  text: string;
  turn?: number;
  picture?: number;
  message?: number;
}

// ---------------------------------------------------------------------------------------------
// Events
// ---------------------------------------------------------------------------------------------

/**
 * `GET /events?session=ID` (`EventSource`, names below; `data` is JSON). Without `session`: of all
 * sessions. The record is the truth, events are hints: after a gap ask for rows from the last `n`.
 * A comment every 15 seconds. The browser resumes with `Last-Event-ID`; if that is too old, or of
 * another process, `reset` comes first and the page fetches again.
 */
export interface Events {
  /** Fetch again what you show. */
  reset: Record<string, never>;
  /** A turn was stored, or its row changed (its outcome came). Replace the row with the same `n`. */
  turn: { session: string; row: TurnRow };
  /** A request is under way; only within the gateway. */
  open: { session?: string; request: number; bytes: number };
  /** An answer ended; its `turn` event follows or came before. */
  outcome: { session: string; n: number; status?: number };
  /** A choice was made or taken back, here or by a command. */
  choice: { session: string; picture?: number; choice: Choice | null };
  /** The profile learned something. */
  lesson: { session?: string; text: string };
  /** A session was begun (or was changed); fetch its row if a list is shown. */
  session: { session: string };
  /** A session was forgotten. */
  gone: { session: string };
}

export type EventName = keyof Events;

// ---------------------------------------------------------------------------------------------
// Export
// ---------------------------------------------------------------------------------------------

/**
 * The data of an exported file (and of an MCP App), in
 * `<script type="application/json" id="photic-data">`. If that element is in the page there is no
 * server: answer every GET from it.
 *
 * `answers` is keyed by the address without BASE. Lists are whole: their key has neither `from` nor
 * `limit`, and their `next` is absent. Other parameters are in this order: `side`, `a`, `b`, `turn`.
 * Keys that exist:
 *
 * - `/about`, `/sessions` (one row), `/sessions/ID`, `/sessions/ID/turns`, `/sessions/ID/turns/N`
 * - `/sessions/ID/turns/N/messages?side=model`, `…?side=client`, `…?side=reply`, `/sessions/ID/turns/N/changes`
 * - `/sessions/ID/pictures` (`turn` left out: as of the last turn), `/sessions/ID/pictures/K`
 *   (as of the last turn)
 * - `/sessions/ID/compare?a=N&b=N+1` for neighbours, `/sessions/ID/cost`, `/sessions/ID/findings`
 *
 * A missing key is a 404 with `next` "Not in this file.". Search is done in the page over the rows.
 * An answer `{"error": …}` stands where the server gave one.
 *
 * Parts that repeat are stored once: an object `{"$": i}` anywhere in an answer stands for
 * `pool[i]`, which may hold such objects too.
 *
 * `images` is keyed by the address without BASE and without `h`:
 * `/sessions/ID/pictures/K/thumb`, `…/original`, `…/sent?turn=N`, `…/seen?turn=N`; its value is an
 * index in `blobs`, which are `data:` URLs. A missing `seen` is `sent` scaled to `TurnPicture.seen`
 * by the page; a missing `sent?turn=N` is the nearest earlier one with the same `sent_digest`.
 */
export interface ExportData {
  format: 1;
  /** Version of photic. */
  version: string;
  session: string;
  options: {
    turns?: [from: number, to: number];
    pictures: "sent" | "all" | "small" | "none";
    text: "full" | "redacted" | "none";
  };
  /** Number of places that were redacted, by kind ("key", "mail", "card", "phone", "path"). */
  redacted: Record<string, number>;
  answers: Record<string, unknown>;
  pool: unknown[];
  blobs: string[];
  images: Record<string, number>;
  /** MCP App: the address to show first ("#/s/ID/picture/7/7"). */
  start?: string;
}

/**
 * `GET /sessions/ID/export/forecast?pictures=&text=&turns=6-7`. Sizes for the dialog. The file
 * itself is `GET /sessions/ID/export?pictures=&text=&turns=` (`text/html`, attachment).
 */
export interface ExportForecast {
  /** Bytes of the file, about. */
  bytes: number;
  /** Places that would be redacted, by kind. */
  redacted: Record<string, number>;
  /** Pictures that would be in it. */
  pictures: number;
  /** The command that writes the same file. */
  command: string;
}
