// Shared by every Node client: runs the captures it is handed as JSON on stdin.
import { text } from 'node:stream/consumers';

// What the model is asked, and the one tool it is offered: `look`, whose argument
// `n` picks the result (the recorder calls it with 1, 2, ... in order).
export const PROMPT = 'What do the cameras show?';
export const FOLLOWUP = 'And the colours?';
export const TOOL = { name: 'look', description: 'Look through camera n.' };

// apis: name -> async function (capture). Stops at the first failure.
export async function run(apis) {
  for (const capture of JSON.parse(await text(process.stdin))) {
    try {
      await apis[capture.api](capture);
    } catch (error) {
      console.error(`${capture.name} failed`);
      throw error;
    }
  }
}

// A result as an MCP server gives it: the shape most image tools speak first.
export const asMcp = (parts, isError) => ({
  content: parts.map((p) =>
    p.text ? { type: 'text', text: p.text }
    : p.url ? { type: 'resource_link', uri: p.url, name: 'chart', mimeType: 'image/png' }
    : { type: 'image', data: p.data, mimeType: p.mediaType }),
  isError,
});

export const dataUrl = (p) => p.url ?? `data:${p.mediaType};base64,${p.data}`;

// Plain bytes, not a Buffer: the two are written differently once turned into JSON.
export const toBytes = (base64) => Uint8Array.from(Buffer.from(base64, 'base64'));
