'use strict';
// Prompts of the AI SDK, and its middleware: pictures in tool results become parts of a user message, which every
// provider shows.

// The most arguments that a call may have in every engine.
const MAX_ARGUMENTS = 32 * 1024;

function base64(bytes) {
  if (bytes.toBase64) return bytes.toBase64();
  let text = '';
  for (let at = 0; at < bytes.length; at += MAX_ARGUMENTS) {
    text += String.fromCharCode(...bytes.subarray(at, at + MAX_ARGUMENTS));
  }
  return btoa(text);
}

/** JSON of a prompt: bytes become base64. */
function written(prompt) {
  // A `Buffer` comes as `json` in a form of its own, as a list of numbers. `this` holds the bytes.
  return JSON.stringify(prompt, function (name, json) {
    const value = this[name];
    return value instanceof Uint8Array ? base64(value) : json;
  });
}

/** A part of Chat Completions as a part of a prompt; null if it is of another kind. */
function part(of, version) {
  if (of.type === 'text') return { type: 'text', text: of.text };
  const url = of.image_url?.url ?? of.file?.file_data;
  if (!url) return null;
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  if (!mediaType) {
    return { type: 'file', mediaType: 'image/*', data: version !== 'v4' ? new URL(url) : { type: 'url', url: new URL(url) } };
  }
  return { type: 'file', mediaType, data: version !== 'v4' ? data : { type: 'data', data } };
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

/** Returns a function that repairs a prompt of the AI SDK. It returns the prompt itself if nothing is to be changed. */
exports.promptRepairWith = ({ explain, lower }) =>
  async function repairPrompt(prompt, { version, policy, profile, onRepair }) {
    if (!prompt.some(({ role }) => role === 'tool')) return prompt;
    const body = written(prompt);
    const options = { wire: 'ai-sdk', to: 'openai-chat', policy, profile };
    const places = (await explain(body, options)).media.map(({ at }) => at ?? '');
    const holdsMedia = (place) => places.some((at) => at.startsWith(place));
    if (!places.some((at) => prompt[Number(at.split('/')[1])]?.role === 'tool')) return prompt;
    const lowered = await lower(body, options);
    const chat = JSON.parse(new TextDecoder().decode(lowered.body)).messages;
    const changed = merged(prompt, chat, holdsMedia, version);
    if (!changed) return prompt;
    onRepair?.(lowered);
    return changed;
  };
