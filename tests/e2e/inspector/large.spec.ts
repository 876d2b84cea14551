// 1,000 turns with 2,000 pictures. Gates count elements, rows, requests and bytes; times are printed.
import { expect, REAL, test, watch } from './fixtures.ts';
import { large } from './large.ts';
import { MockServer } from './server.ts';

test.skip(Boolean(REAL), 'the generated session is the large one');

const nodes = (page: import('@playwright/test').Page) => page.evaluate(() => document.querySelectorAll('*').length);
const ID = 's_large0000000001';

test('first view, row 1,000, scrolling, memory', async ({ page }) => {
  test.setTimeout(900_000);
  const server = new MockServer([large()]);
  const address = await server.start();
  try {
    const seen = await watch(page, new URL(address).origin);
    await page.goto(`${address}#/`);
    await expect(page.locator('tr.click')).toHaveCount(1);
    const profiler = await page.context().newCDPSession(page);
    await profiler.send('Performance.enable', { timeDomain: 'threadTicks' });
    /** Milliseconds of the processor that the page has used. */
    const used = async () => ((await profiler.send('Performance.getMetrics')).metrics.find((one) => one.name === 'TaskDuration')?.value ?? 0) * 1000;
    let from = await used();
    const spent = async () => {
      const now = await used();
      const since = now - from;
      from = now;
      return since;
    };
    server.requests.length = 0;
    const first = await page.evaluate(async (hash) => {
      const begin = performance.now();
      location.hash = hash;
      await new Promise<void>((done) => {
        const look = () => (document.querySelectorAll('table.timeline tr.click').length > 10 ? done() : requestAnimationFrame(look));
        look();
      });
      return performance.now() - begin;
    }, `#/s/${ID}`);
    const firstWork = await spent();
    const asked = server.requests.filter((request) => !request.includes('/thumb'));
    console.log(`first rows of 1,000 turns: ${first.toFixed(0)} ms by the clock, ${firstWork.toFixed(0)} ms of the processor, ${asked.length} requests`);
    expect(asked.length, 'sums, a page of turns, a page of pictures, events').toBeLessThanOrEqual(5);
    expect(await nodes(page)).toBeLessThanOrEqual(3000);

    const end = await page.evaluate(async () => {
      const begin = performance.now();
      document.dispatchEvent(new KeyboardEvent('keydown', { key: 'End', bubbles: true }));
      await new Promise<void>((done) => {
        const look = () => (document.querySelector('tr[aria-rowindex="1001"] .lane') ? done() : requestAnimationFrame(look));
        look();
      });
      return performance.now() - begin;
    });
    const endWork = await spent();
    console.log(`row 1,000 by End: ${end.toFixed(0)} ms by the clock, ${endWork.toFixed(0)} ms of the processor`);
    await expect(page.locator('tr[aria-rowindex="1001"] a')).toBeFocused();
    expect(await nodes(page)).toBeLessThanOrEqual(3000);
    await expect(page.locator('th', { hasText: 'Pictures in sight' })).toContainText('the newest of each turn');

    // All pages of rows and pictures, then the profile of scrolling over what is there.
    await page.locator('main').evaluate(async (main) => {
      for (let at = 0; at < main.scrollHeight; at += 4000) {
        main.scrollTop = at;
        await new Promise((done) => setTimeout(done, 30));
      }
    });
    await spent();
    const frames = await page.locator('main').evaluate(async (main) => {
      const long: number[] = [];
      const observer = new PerformanceObserver((list) => long.push(...list.getEntries().map((entry) => entry.duration)));
      observer.observe({ type: 'longtask' });
      const steps: number[] = [];
      main.scrollTop = 0;
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      let most = 0;
      let added = 0;
      const rows = new MutationObserver((changes) => {
        for (const { addedNodes } of changes) added += [...addedNodes].filter((node) => (node as Element).tagName === 'TR').length;
      });
      for (const body of document.querySelectorAll('table.timeline tbody')) rows.observe(body, { childList: true });
      const from = main.scrollTop;
      for (let at = 0; at < 200; at += 1) {
        const begin = performance.now();
        main.scrollTop += 180;
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        steps.push(performance.now() - begin);
        most = Math.max(most, document.querySelectorAll('*').length);
      }
      observer.disconnect();
      rows.disconnect();
      const passed = (main.scrollTop - from) / (document.querySelector('table.timeline tr.click')?.getBoundingClientRect().height ?? 40);
      steps.sort((a, b) => a - b);
      return { long, median: steps[100], p99: steps[198], most, added, passed };
    });
    console.log(`200 steps of scrolling: median ${frames.median?.toFixed(0)} ms for two frames, p99 ${frames.p99?.toFixed(0)} ms; tasks above 50 ms: ${frames.long.length} (${frames.long.map((one) => one.toFixed(0)).join(', ')}); most nodes ${frames.most}; ${frames.added} rows made for ${frames.passed.toFixed(0)} that passed`);
    const each = (await spent()) / 200;
    console.log(`a step of scrolling: ${each.toFixed(1)} ms of the processor`);
    expect(frames.most).toBeLessThanOrEqual(3000);
    expect(frames.passed, 'it scrolled').toBeGreaterThan(500);
    // A row is made once as it comes near, and never again while it is near.
    expect(frames.added).toBeLessThanOrEqual(frames.passed * 1.25 + 100);

    const memory = async () => {
      const session = await page.context().newCDPSession(page);
      await session.send('HeapProfiler.collectGarbage');
      const { usedSize } = await session.send('Runtime.getHeapUsage');
      await session.detach();
      return usedSize / 1e6;
    };
    const before = await memory();
    for (let round = 0; round < 3; round += 1) {
      for (const turn of [1, 300, 600, 1000]) {
        await page.evaluate((hash) => { location.hash = hash; }, `#/s/${ID}/turn/${turn}`);
        await expect(page.locator('h1')).toHaveText(`Turn ${turn}`);
        await page.evaluate((hash) => { location.hash = hash; }, `#/s/${ID}/picture/${turn * 2}/${turn}`);
        await expect(page.locator('h1')).toContainText(`#${turn * 2}`);
        expect(await nodes(page)).toBeLessThanOrEqual(3000);
      }
      await page.evaluate((hash) => { location.hash = hash; }, `#/s/${ID}/cost`);
      await expect(page.locator('h1')).toHaveText('What it cost');
      await expect(page.locator('svg a.bar')).toHaveCount(63);
      await page.evaluate((hash) => { location.hash = hash; }, `#/s/${ID}`);
      await expect(page.locator('table.timeline')).toBeVisible();
    }
    const after = await memory();
    console.log(`heap of the page: ${before.toFixed(1)} MB, after 27 views ${after.toFixed(1)} MB`);
    expect(after).toBeLessThan(150);
    expect(seen.problems).toEqual([]);
    expect(seen.foreign).toEqual([]);
  } finally {
    await server.stop();
  }
});
