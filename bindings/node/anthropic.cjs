'use strict';
// Middleware for Anthropic's SDK. It runs before a request is written for Bedrock or Vertex and signed.

const decoder = new TextDecoder();
// The SDK writes for these from text.
const text = (body) => (body instanceof Uint8Array ? decoder.decode(body) : body);

exports.photicAnthropicWith = ({ photicFetch }) =>
  function photicAnthropic(options) {
    return (request, next) => {
      const send = (url, init) => next(init === request ? request : { ...init, url, body: text(init.body) });
      return photicFetch(send, options)(request.url, request);
    };
  };
