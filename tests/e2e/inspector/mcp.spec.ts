// The MCP App of `photic mcp` in a frame, with this test as its host (SEP-1865): what it shows is what the result says,
// nothing of a hostile result runs, and nothing is fetched.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FrameLocator, Page } from '@playwright/test';
import { expect, REAL, test, watch } from './fixtures.ts';
import { violations } from './axe.ts';
import { TEXTS } from './hostile.ts';
import { page as drawn } from './raster.ts';

test.skip(Boolean(REAL), 'the page comes with the program, whatever it recorded');

/** What a host on the web sets for an app that declares no domains. */
const HOST_POLICY = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'self'";
const APP = process.env['MCP_APP'] ?? new URL('../../../crates/photic-mcp/assets/view.html', import.meta.url);

type Message = Record<string, unknown>;

interface Hosted {
  app: FrameLocator;
  heard: () => Promise<Message[]>;
  tell: (message: Message) => Promise<void>;
}

/** Opens the app as hosts do: in a sandboxed frame, with their policy over its own. */
async function hosted(page: Page, answer: (address: string) => Promise<void>): Promise<void> {
  const files: Record<string, string> = {
    '/': '<!doctype html><html lang="en"><title>host</title><h1>Host</h1><iframe title="app" sandbox="allow-scripts" src="/app" style="width:700px;height:900px"></iframe>',
    '/app': readFileSync(APP, 'utf8'),
  };
  const server = createServer((request, response) => {
    const text = files[request.url ?? ''];
    response.writeHead(text ? 200 : 404, { 'content-type': 'text/html; charset=utf-8', ...(request.url === '/app' ? { 'content-security-policy': HOST_POLICY } : {}) }).end(text ?? '');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  await page.addInitScript(() => {
    if (window !== window.top) return;
    const heard: unknown[] = [];
    Object.assign(window, { heard });
    window.addEventListener('message', (event) => {
      heard.push(event.data);
      const { id, method } = event.data as { id?: number; method?: string };
      if (method === 'ui/initialize') (event.source as Window).postMessage({ jsonrpc: '2.0', id, result: { protocolVersion: '2026-01-26', hostInfo: { name: 'test', version: '1' }, hostCapabilities: {}, hostContext: { theme: 'dark' } } }, '*');
    });
  });
  try {
    await answer(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function begun(page: Page, address: string): Promise<Hosted> {
  await page.goto(address);
  const heard = () => page.evaluate(() => (window as unknown as { heard: Message[] }).heard);
  await expect.poll(async () => (await heard()).map((one) => one['method'])).toContain('ui/notifications/initialized');
  const tell = (message: Message) => page.evaluate((data) => document.querySelector('iframe')?.contentWindow?.postMessage(data, '*'), { jsonrpc: '2.0', ...message });
  return { app: page.frameLocator('iframe'), heard, tell };
}

const VIEW = { media_type: 'image/png', width: 320, height: 200, byte_size: 1000, hash: 'blake3:00', source_width: 1280, source_height: 800, unit: 'px', region: { x: 640, y: 400, width: 640, height: 400 }, scale: 0.5, map: { a: 2, b: 0, c: 0, d: 2, e: 640, f: 400 }, tokens: 96, pages: 1, warnings: ['text about 4 px high is too small to read'], untrusted: true };
const image = () => ({ type: 'image', mimeType: 'image/png', data: drawn('table', 320, 200, 1).png().toString('base64') });

test('shows the picture, where a click lands, and its fate', async ({ page }) => {
  await hosted(page, async (address) => {
    const seen = await watch(page, new URL(address).origin);
    const { app, heard, tell } = await begun(page, address);
    const [hello] = await heard();
    expect(hello).toMatchObject({ jsonrpc: '2.0', method: 'ui/initialize', params: { protocolVersion: '2026-01-26', appInfo: { name: 'photic' } } });
    await expect(app.locator('html')).toHaveCSS('color-scheme', 'dark');
    await tell({ method: 'ui/notifications/tool-input', params: { arguments: { source: 'orders.png' } } });
    await expect(app.getByText('Looking at orders.png').first()).toBeAttached();
    await tell({ method: 'ui/notifications/tool-result', params: { content: [{ type: 'text', text: 'orders.png: 1280x800 px, shown as 320x200' }, image()], structuredContent: { view: VIEW } } });
    await expect(app.getByRole('heading', { level: 1 })).toHaveText('orders.png');
    await expect(app.locator('.fate')).toContainText('the model got it');
    await expect(app.locator('.fate')).toContainText('a part of it');
    await expect(app.locator('.fate')).toContainText('smaller than the original, 0.500');
    await expect(app.locator('.note')).toContainText('too small to read');
    await expect(app.locator('.terms')).toContainText('96');
    await app.getByLabel('x of the loupe').fill('100');
    await app.getByLabel('x of the loupe').press('Tab');
    await app.getByLabel('y of the loupe').fill('50');
    await app.getByLabel('y of the loupe').press('Tab');
    await expect(app.locator('.click')).toHaveText('(100, 50) → (840, 500) px');
    await app.locator('#main').focus();
    await page.keyboard.press('ArrowRight');
    await expect(app.locator('.click')).toHaveText('(108, 50) → (856, 500) px');
    await expect.poll(() => app.locator('.near canvas').evaluate((canvas: HTMLCanvasElement) => [...(canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [])].some((value) => value > 0))).toBe(true);
    expect((await heard()).some((one) => one['method'] === 'ui/notifications/size-changed')).toBe(true);
    await tell({ id: 7, method: 'ui/resource-teardown', params: { reason: 'test' } });
    await expect.poll(async () => (await heard()).find((one) => one['id'] === 7)).toMatchObject({ result: {} });
    await tell({ id: 8, method: 'elsewhere/unknown' });
    await expect.poll(async () => (await heard()).find((one) => one['id'] === 8)).toMatchObject({ error: { code: -32601 } });
    expect(seen.problems).toEqual([]);
    expect(seen.foreign).toEqual([]);
  });
});

test('data in `_meta`, a picture that is not shown, a refusal, a call taken back', async ({ page }) => {
  await hosted(page, async (address) => {
    const { app, tell } = await begun(page, address);
    await tell({ method: 'ui/notifications/tool-result', params: { content: [{ type: 'text', text: 'orders.png: 1280x800 px' }], _meta: { 'photic.dev/result': { view: VIEW } } } });
    await expect(app.locator('.fate')).toContainText('not shown to the model');
    await expect(app.locator('canvas')).toHaveCount(0);
    await tell({ method: 'ui/notifications/tool-result', params: { isError: true, content: [{ type: 'text', text: 'refused' }], structuredContent: { refusal: { code: 'absent', says: 'no file is there', hint: 'list what is there', candidates: ['orders.png'] } } } });
    await expect(app.locator('.note.bad')).toContainText('no file is there');
    await expect(app.locator('.note.bad')).toContainText('orders.png');
    await tell({ method: 'ui/notifications/tool-cancelled', params: { reason: 'by the user' } });
    await expect(app.getByText('Taken back: by the user').first()).toBeAttached();
  });
});

test('hostile results: nothing runs, nothing is fetched, the layout holds', async ({ page }) => {
  await hosted(page, async (address) => {
    const seen = await watch(page, new URL(address).origin);
    const { app, tell } = await begun(page, address);
    for (const [at, [, text]] of TEXTS.filter(([, one]) => one.length < 20_000).entries()) {
      const view = { ...VIEW, warnings: [text], hash: text, ref: text, media_type: text, width: at % 2 ? 320 : 'wide' };
      const data = at % 3 ? image().data : Buffer.from(text).toString('base64');
      await tell({ method: 'ui/notifications/tool-result', params: { content: [{ type: 'text', text: `${at}${text}: x` }, { type: 'image', mimeType: at % 5 ? 'image/png' : 'image/svg+xml', data }], structuredContent: { view } } });
      await expect(app.locator('h1')).toContainText(String(at));
      await tell({ method: 'ui/notifications/tool-result', params: { isError: true, structuredContent: { refusal: { code: text, says: text, hint: text, candidates: [text] } } } });
      await expect(app.locator('.note.bad')).toHaveCount(1);
      expect(await app.locator('html').evaluate((root) => root.scrollWidth - root.clientWidth)).toBeLessThanOrEqual(0);
      expect(await app.locator('script').count()).toBe(1);
    }
    expect(seen.problems).toEqual([]);
    expect(seen.foreign).toEqual([]);
  });
});

for (const scheme of ['light', 'dark'] as const) {
  test(`axe, ${scheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(new URL(APP as URL | string, import.meta.url).href);
    await page.evaluate((result) => window.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/tool-result', params: result }, '*'), { content: [{ type: 'text', text: 'orders.png: 1280x800 px' }, image()], structuredContent: { view: VIEW } });
    await expect(page.locator('.near canvas')).toBeVisible();
    expect(await violations(page)).toEqual([]);
  });
}
