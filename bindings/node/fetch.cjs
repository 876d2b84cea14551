'use strict';

// The number of times that a rejected request is sent again.
const MAX_RETRIES = 2;
// The statuses of errors that may be about images. Some local servers answer 500.
const MAY_BLAME_MEDIA = new Set([400, 404, 406, 413, 415, 422, 500]);
// Bodies of more bytes than this are repaired outside of the event loop.
const LARGE = 64 * 1024;

/** The body of a request as bytes; null if it cannot be read without consuming it. */
async function bodyOf(input, init) {
  const body = init?.body;
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (body instanceof Blob) return new Uint8Array(await body.arrayBuffer());
  if (body == null && input instanceof Request && input.body) {
    return new Uint8Array(await input.clone().arrayBuffer());
  }
  return null;
}

const isSame = (one, other) => one.length === other.length && one.every((byte, at) => byte === other[at]);

/** The whole address: in a browser it may be relative to the page. What cannot be read is left to `fetch`. */
function addressOf(text) {
  if (URL.canParse(text)) return new URL(text);
  const page = globalThis.location?.href;
  return URL.canParse(text, page) ? new URL(text, page) : null;
}

/** The route of a request, or null if it is to be sent as it is. */
function routed(input, init, route) {
  const isRequest = input instanceof Request;
  const method = init?.method ?? (isRequest ? input.method : 'GET');
  const headers = new Headers(init?.headers ?? (isRequest ? input.headers : undefined));
  const isJson = (headers.get('content-type') ?? 'application/json').includes('json');
  if (method.toUpperCase() !== 'POST' || !isJson || headers.has('content-encoding')) return null;
  // A changed body would break the signature.
  if (headers.get('authorization')?.startsWith('AWS4-')) return null;
  const url = addressOf(isRequest ? input.url : input);
  if (!url) return null;
  const found = route(url.pathname, url.hostname);
  return found && { found, headers };
}

exports.photicFetchWith = ({ repair, repairSync, route }) =>
  function photicFetch(fetch = globalThis.fetch, options = {}) {
    return async function fetchRepaired(input, init) {
      const routedTo = routed(input, init, route);
      const original = routedTo && (await bodyOf(input, init));
      if (!original) return fetch(input, init);
      const { found, headers } = routedTo;
      // It is made again for the new body.
      headers.delete('content-length');
      const asked = {
        wire: found.wire,
        model: options.model ?? found.model ?? undefined,
        host: found.host || undefined,
        profile: options.profile,
        policy: options.policy,
      };
      const rejections = [];
      const repaired = async () => {
        const call = original.length > LARGE ? repair : repairSync;
        const done = await call(original, { ...asked, rejections });
        options.onRepair?.(done);
        return done.body;
      };
      const send = (body) => (body === original ? fetch(input, init) : fetch(input, { ...init, headers, body }));
      let sent = await repaired();
      let response = await send(sent);
      let first;
      while (MAY_BLAME_MEDIA.has(response.status) && rejections.length < MAX_RETRIES) {
        rejections.push({ status: response.status, text: await response.clone().text() });
        const better = await repaired();
        if (isSame(better, sent)) return first ?? response;
        first ??= response;
        sent = better;
        response = await send(sent);
      }
      return first && MAY_BLAME_MEDIA.has(response.status) ? first : response;
    };
  };
