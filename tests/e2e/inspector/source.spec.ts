// Rules about the sources of the viewer, and about the built files.
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';

const viewer = new URL('../../../crates/photic-inspector/viewer/', import.meta.url);
const assets = new URL('../../../crates/photic-inspector/assets/', import.meta.url);
const sources = readdirSync(viewer).filter((name) => name.endsWith('.ts')).map((name) => [name, readFileSync(new URL(name, viewer), 'utf8')] as const);

/** Ways from text to markup, script or another host. */
const FORBIDDEN = [
  'innerHTML', 'outerHTML', 'insertAdjacentHTML', 'setHTML', 'parseHTML', 'document.write', 'createContextualFragment', 'DOMParser', 'srcdoc', 'eval(', 'new Function', 'importScripts', 'javascript:', 'WebSocket', 'sendBeacon', 'XMLHttpRequest',
  'trustedTypes', 'createPolicy', "h('a.foreign", 'http://', 'https://', ' as any', '@ts-ignore', '@ts-expect-error',
];

for (const [name, text] of sources) {
  test(`${name}: text becomes text alone`, () => {
    const found = FORBIDDEN.filter((word) => text.replaceAll('http://www.w3.org/2000/svg', '').includes(word));
    expect(found).toEqual([]);
    if (name !== 'api.ts') expect(text.split('\n').length, 'lines').toBeLessThanOrEqual(400);
    expect(text, 'timers get functions').not.toMatch(/set(Timeout|Interval)\(\s*['"`]/);
  });
}

test('every sign of a forbidden word is one that would be found', () => {
  expect(FORBIDDEN.filter((word) => `element.innerHTML = eval(x); ${word}`.includes(word))).toHaveLength(FORBIDDEN.length);
});

test('the built files are small, need nothing else, and can stand in a page', () => {
  const script = readFileSync(new URL('app.js', assets));
  const style = readFileSync(new URL('app.css', assets));
  const page = readFileSync(new URL('index.html', assets), 'utf8');
  expect(script.length + style.length).toBeLessThan(150_000);
  expect(gzipSync(Buffer.concat([script, style])).length).toBeLessThan(45_000);
  expect(script.toString()).not.toMatch(/<\/script|<!--/i);
  expect(style.toString()).not.toMatch(/<\/style|@import|url\((?!#)/i);
  expect(script.toString().replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:\/\//);
  expect([...page.matchAll(/(?:src|href)="([^"]*)"/g)].map((found) => found[1])).toEqual(['data:,', 'app.css', 'app.js']);
});
