// The inspector of the built program over recorded sessions: its numbers are those of the provider, and what comes while
// an agent runs shows.
import { readFileSync } from 'node:fs';
import type * as Api from '../../../crates/photic-inspector/viewer/api.ts';
import { expect, settled, test, watch } from './fixtures.ts';

interface Journal {
  requests: { bytes: number; input_tokens: number; cached_tokens: number; status: number; images: unknown[] }[];
}

/** What the test provider counted for the session, in order; what `photic session ls --json` says. */
const JOURNAL = process.env['INSPECT_JOURNAL'];
const LISTED = process.env['INSPECT_LISTED'];
/** The address of a gateway whose agent is at work. */
const LIVE = process.env['INSPECT_LIVE'];
const count = (value: number) => value.toLocaleString('en-US');

test('tokens, bytes and pictures are those that the provider counted', async ({ page, open, api, session }) => {
  test.skip(!JOURNAL, 'no journal of a provider');
  const { requests } = JSON.parse(readFileSync(JOURNAL!, 'utf8')) as Journal;
  const answered = requests.filter((request) => request.status === 200);
  const { items } = await api<Api.TurnPage>(`/sessions/${session.id}/turns?from=1&limit=200`);
  expect(items).toHaveLength(answered.length);
  await open(`#/s/${session.id}`);
  for (const [at, request] of answered.entries()) {
    const row = items[at]!;
    expect(row.reported, `turn ${row.n} has the provider's report`).toBe(true);
    expect(row.tokens.input).toBe(request.input_tokens);
    expect(row.tokens.read ?? 0).toBe(request.cached_tokens);
    const turn = await api<Api.Turn>(`/sessions/${session.id}/turns/${row.n}`);
    expect(turn.request.bytes_sent).toBe(request.bytes);
    expect(turn.request.reproduced).toBe('yes');
    expect([...row.fates].filter((letter) => 'khspo'.includes(letter))).toHaveLength(request.images.length);
    await expect(page.locator('table.timeline tbody tr.click').nth(at).locator('td.number').first()).toHaveText(count(request.input_tokens));
  }
  await expect(page.locator('.stats')).toContainText(count(answered.reduce((sum, request) => sum + request.input_tokens, 0)));
});

test('sums are those of `photic session ls`', async ({ page, open, session }) => {
  test.skip(!LISTED, 'no list of sessions');
  const listed = (JSON.parse(readFileSync(LISTED!, 'utf8')) as { id: string; turns: number; images: number }[]).find((one) => one.id === session.id)!;
  expect([session.turns, session.pictures]).toEqual([listed.turns, listed.images]);
  await open('#/');
  const row = page.locator('table.sessions tbody tr.click', { hasText: session.id });
  await expect(row.locator('td.number').nth(0)).toHaveText(count(listed.turns));
  await expect(row.locator('td.number').nth(1)).toHaveText(count(listed.images));
});

test('hunks applied to what the agent sent give what the model got', async ({ page, api, base, session }) => {
  test.skip(!JOURNAL, 'no recorded session');
  const origin = new URL(base).origin;
  const body = async (n: number, side: string) => (await page.request.get(`${origin}/inspect/api/v1/sessions/${session.id}/turns/${n}/body?side=${side}`)).body();
  for (let n = 1; n <= Math.min(session.turns, 12); n += 1) {
    const { items, bytes_client, bytes_model, next } = await api<Api.ChangePage>(`/sessions/${session.id}/turns/${n}/changes?from=0&limit=100`);
    expect(next).toBeUndefined();
    const [client, model] = [await body(n, 'client'), await body(n, 'model')];
    expect([client.length, model.length]).toEqual([bytes_client, bytes_model]);
    const parts: Buffer[] = [];
    let at = 0;
    for (const hunk of items) {
      parts.push(client.subarray(at, hunk.a_from), model.subarray(hunk.b_from, hunk.b_to));
      at = hunk.a_to;
    }
    parts.push(client.subarray(at));
    expect(Buffer.concat(parts).equals(model), `turn ${n}`).toBe(true);
  }
});

test('a page without the token gets nothing', async ({ playwright, base, api }) => {
  test.skip(!process.env['INSPECT_URL'], 'the generated server asks for no token');
  await api('/about');
  const stranger = await playwright.request.newContext();
  const origin = new URL(base).origin;
  expect((await stranger.get(`${origin}/inspect/api/v1/sessions`)).status()).toBe(403);
  expect((await stranger.get(`${origin}/inspect/api/v1/sessions`, { headers: { host: 'evil.example' } })).status()).toBe(403);
  await stranger.dispose();
});

test('turns show while an agent runs', async ({ page }) => {
  test.skip(!LIVE, 'no agent is at work');
  test.setTimeout(900_000);
  const seen = await watch(page, new URL(LIVE!).origin);
  await page.goto(LIVE!);
  await settled(page);
  await expect(page.locator('table.sessions tbody tr.click').first()).toBeVisible({ timeout: 60_000 });
  await page.locator('table.sessions tbody tr.click a').first().click();
  await settled(page);
  const rows = page.locator('table.timeline tbody tr.click');
  await expect(rows.first()).toBeVisible({ timeout: 60_000 });
  const before = await rows.count();
  await expect.poll(() => rows.count(), { timeout: 120_000 }).toBeGreaterThanOrEqual(before + 3);
  const numbers = await page.locator('table.timeline tbody tr.click th a').allTextContents();
  expect(numbers).toEqual(numbers.map((_, at) => String(at + 1)));
  await expect(page.locator('#say')).toContainText('Turn');
  // A choice made here holds for the next turn.
  const session = /#\/s\/([^/]+)/.exec(page.url())![1]!;
  await page.evaluate((hash) => { location.hash = hash; }, `#/s/${session}/picture/1`);
  await settled(page);
  await page.keyboard.press('Shift+D');
  await page.locator('dialog .primary').click();
  await expect(page.locator('.action [aria-pressed=true]')).toHaveCount(1);
  const origin = new URL(LIVE!).origin;
  await expect.poll(async () => {
    const answer = (await (await page.request.get(`${origin}/inspect/api/v1/sessions/${session}/turns?from=1&limit=200`)).json()) as Api.TurnPage;
    return answer.items.at(-1)?.fates[0];
  }, { timeout: 120_000 }).toBe('d');
  expect(seen.problems).toEqual([]);
  expect(seen.foreign).toEqual([]);
});
