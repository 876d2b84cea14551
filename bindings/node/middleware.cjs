'use strict';
// Middleware for the AI SDK: pictures in tool results become parts of a user message, which every provider shows.

/** JSON of a prompt: bytes become base64. */
function written(prompt) {
  return JSON.stringify(prompt, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') : value,
  );
}

/** A part of Chat Completions as a part of a prompt; null if it is of another kind. */
function part(of, version) {
  if (of.type === 'text') return { type: 'text', text: of.text };
  const url = of.image_url?.url ?? of.file?.file_data;
  if (!url) return null;
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  if (!mediaType) {
    return { type: 'file', mediaType: 'image/*', data: version === 'v3' ? new URL(url) : { type: 'url', url: new URL(url) } };
  }
  return { type: 'file', mediaType, data: version === 'v3' ? data : { type: 'data', data } };
}

/** The prompt with the results and the user messages of the lowered conversation; null if they do not agree. */
function merged(prompt, chat, holdsMedia, version) {
  const out = [];
  let next = 0;
  for (const [index, message] of prompt.entries()) {
    if (message.role !== 'tool') {
      if (chat[next]?.role !== message.role) return null;
      next += 1;
      out.push(message);
      continue;
    }
    const content = [];
    for (const [number, result] of message.content.entries()) {
      if (result.type !== 'tool-result') {
        content.push(result);
        continue;
      }
      const sent = chat[next];
      if (sent?.role !== 'tool' || sent.tool_call_id !== result.toolCallId) return null;
      next += 1;
      const changes = typeof sent.content === 'string' && holdsMedia(`/${index}/content/${number}/`);
      content.push(changes ? { ...result, output: { type: 'text', value: sent.content } } : result);
    }
    out.push({ ...message, content });
    const after = prompt[index + 1];
    if (after?.role === 'tool' || chat[next]?.role !== 'user') continue;
    // The pictures are in a message of their own, or before the words of the next one.
    let parts = chat[next].content;
    if (!Array.isArray(parts)) continue;
    if (after?.role !== 'user' || chat[next + 1]?.role === 'user') next += 1;
    else parts = parts.slice(0, parts.length - after.content.length);
    const shown = parts.map((one) => part(one, version));
    if (shown.includes(null)) return null;
    if (shown.some((one) => one.type === 'file')) out.push({ role: 'user', content: shown });
  }
  return next === chat.length ? out : null;
}

exports.photicMiddlewareWith = ({ explain, lower }) =>
  function photicMiddleware({ version = 'v4', policy, profile, onRepair } = {}) {
    return {
      specificationVersion: version,
      async transformParams({ params }) {
        if (!params.prompt.some(({ role }) => role === 'tool')) return params;
        const body = written(params.prompt);
        const options = { wire: 'ai-sdk', to: 'openai-chat', policy, profile };
        const places = (await explain(body, options)).media.map(({ at }) => at ?? '');
        const holdsMedia = (place) => places.some((at) => at.startsWith(place));
        if (!places.some((at) => params.prompt[Number(at.split('/')[1])]?.role === 'tool')) return params;
        const lowered = await lower(body, options);
        const chat = JSON.parse(Buffer.from(lowered.body).toString()).messages;
        const prompt = merged(params.prompt, chat, holdsMedia, version);
        if (!prompt) return params;
        onRepair?.(lowered);
        return { ...params, prompt };
      },
    };
  };
