// Pictures of every view in both themes: written to a folder to be looked at; with PHOTIC_BLESS=1 those of the docs.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { expect, REAL, test } from './fixtures.ts';
import { shrink } from './palette.ts';

test.skip(Boolean(REAL), 'pictures are of the generated session, which is always the same');

const DOCS = fileURLToPath(new URL('../../../docs/inspector/', import.meta.url));
const results = process.env['INSPECT_PICTURES'] ?? join(process.env['PHOTIC_CACHE'] ?? join(process.env['HOME'] ?? '/tmp', '.cache/photic'), 'inspector/pictures');
const S = '#/s/s_061yxp635hrv9cbq';

interface Shot {
  name: string;
  hash: string;
  act?: (page: Page) => Promise<unknown>;
  /** In docs/inspector, in both themes. */
  docs?: true;
}

const SHOTS: Shot[] = [
  { name: 'sessions', hash: '#/', docs: true },
  { name: 'timeline', hash: S, docs: true },
  { name: 'turn', hash: `${S}/turn/7`, docs: true },
  { name: 'changes', hash: `${S}/turn/7/wire`, docs: true },
  { name: 'picture', hash: `${S}/picture/7/7`, docs: true },
  { name: 'compare', hash: `${S}/diff/12/13`, docs: true },
  { name: 'cost', hash: `${S}/cost`, docs: true },
  { name: 'findings', hash: `${S}/findings`, docs: true },
  { name: 'export', hash: S, act: (page) => page.keyboard.press('e') },
  { name: 'keyboard', hash: S, act: (page) => page.keyboard.press('?') },
  { name: 'jump', hash: S, act: async (page) => {
    await page.keyboard.press('/');
    await page.getByRole('combobox').fill('1119');
    await expect(page.getByRole('option').first()).toBeVisible();
  } },
  { name: 'choice', hash: `${S}/picture/9/16`, act: (page) => page.keyboard.press('Shift+D') },
  { name: 'not-shown', hash: `${S}/picture/2/14` },
  { name: 'earlier', hash: `${S}/turn/14`, act: (page) => page.keyboard.press('o') },
  { name: 'state-no-price', hash: '#/s/s_7hzp3n9a0e5wtk16/cost' },
  { name: 'state-expected', hash: '#/s/s_unreported000001' },
  { name: 'state-not-reproduced', hash: '#/s/s_notreproduced001/turn/3' },
  { name: 'state-gone', hash: '#/s/s_gonepicture00001/picture/2/3' },
  { name: 'state-waiting', hash: '#/s/s_waiting000000001' },
  { name: 'state-failed', hash: '#/s/s_failedturn000001/turn/2' },
  { name: 'state-nothing', hash: '#/s/s_nothing' },
];

/** Waits until every picture that the page asked for is drawn; requests under way are counted from the call on. */
function drawing(page: Page): () => Promise<void> {
  const pending = new Set<unknown>();
  page.on('request', (request) => request.url().includes('/events') || pending.add(request));
  page.on('requestfinished', (request) => pending.delete(request));
  page.on('requestfailed', (request) => pending.delete(request));
  return async () => {
    const frames = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    for (let still = 0; still < 3; still = pending.size ? 0 : still + 1) await frames();
    await page.waitForFunction(() => [...document.querySelectorAll<HTMLCanvasElement>('.overview canvas, canvas.piece')].every((canvas) => canvas.dataset['done'] || canvas.getBoundingClientRect().top > innerHeight));
    await page.waitForFunction(() => [...document.images].every((image) => image.naturalWidth > 0 || image.getBoundingClientRect().top > innerHeight));
    // Loaded is not yet drawn: pictures are decoded beside the page.
    await page.evaluate(() => Promise.all([...document.images].filter((image) => image.naturalWidth > 0).map((image) => image.decode().catch(() => undefined))));
    await frames();
  };
}

for (const scheme of ['light', 'dark'] as const) {
  test(`pictures, ${scheme}`, async ({ page, open, mock }) => {
    test.setTimeout(900_000);
    const drawn = drawing(page);
    mkdirSync(results, { recursive: true });
    mkdirSync(DOCS, { recursive: true });
    await page.clock.setFixedTime('2026-11-17T16:06:31Z');
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    const take = async (name: string, docs = false) => {
      await drawn();
      const bless = docs && Boolean(process.env['PHOTIC_BLESS']);
      const path = join(bless ? DOCS : results, `${name}-${scheme}.png`);
      await page.screenshot({ path, animations: 'disabled', caret: 'hide' });
      if (bless) shrink(path);
      // Letters differ between machines: pictures are compared where the fonts are those of the committed ones.
      else if (docs && process.env['INSPECT_COMPARE']) await expect.soft(page, name).toHaveScreenshot(`${name}-${scheme}.png`, { maxDiffPixelRatio: 0.001, animations: 'disabled' });
    };
    for (const { name, hash, act, docs } of SHOTS) {
      await test.step(name, async () => {
        await open(hash);
        await act?.(page);
        await take(name, docs);
        if (act) await page.keyboard.press('Escape');
        if (await page.getByRole('dialog').count()) await page.keyboard.press('Escape');
      });
    }
    mock!.cut();
    mock!.noSessions = true;
    await page.reload();
    await open('#/');
    await take('state-no-session');
    mock!.noSessions = false;
  });
}

for (const width of [320, 1280] as const) {
  test(`pictures, ${width} px wide`, async ({ page, open }) => {
    const drawn = drawing(page);
    await page.setViewportSize({ width, height: width === 320 ? 640 : 800 });
    mkdirSync(results, { recursive: true });
    for (const { name, hash } of SHOTS.slice(0, 8)) {
      await open(hash);
      await drawn();
      await page.screenshot({ path: join(results, `${name}-${width}.png`), animations: 'disabled' });
    }
  });
}
