// New turns show as they come; a gap is caught up without doubles.
import { expect, REAL, settled, test, watch } from './fixtures.ts';
import { MockServer } from './server.ts';
import { story } from './story.ts';

test.skip(Boolean(REAL), 'the live agent of suite 78 has a spec of its own');

async function opened(page: import('@playwright/test').Page, hash = '') {
  const whole = story();
  const rest = whole.turns.splice(8);
  const pictures = whole.pictures.splice(8);
  const server = new MockServer([whole]);
  const address = await server.start();
  const seen = await watch(page, new URL(address).origin);
  await page.goto(`${address}#/s/${whole.id}${hash}`);
  await settled(page);
  await expect.poll(() => server.listening).toBe(1);
  const add = (tell = true) => {
    const turn = rest.shift()!;
    whole.turns.push(turn);
    whole.pictures.push(pictures.shift()!);
    if (tell) server.send('turn', { session: whole.id, row: turn.row });
    return turn;
  };
  return { server, add, whole, seen };
}

test('a turn shows when it is answered, once, and is announced', async ({ page }) => {
  const { server, add, seen } = await opened(page);
  await expect(page.locator('table.timeline tbody tr.click')).toHaveCount(8);
  const turn = add();
  await expect(page.locator('table.timeline tbody tr.click')).toHaveCount(9);
  await expect(page.locator('#say')).toContainText('Turn 9');
  // Its outcome changes the row in place.
  turn.row.usd = 0.5;
  server.send('turn', { session: story().id, row: turn.row });
  await expect(page.locator('table.timeline tbody tr.click').nth(8)).toContainText('$0.5000');
  await expect(page.locator('table.timeline tbody tr.click')).toHaveCount(9);
  await expect(page.locator('.stats')).toContainText('9');
  expect(seen.problems).toEqual([]);
  await server.stop();
});

test('following keeps the newest turn in sight', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 420 });
  const { server, add } = await opened(page);
  await page.keyboard.press('f');
  await expect(page.getByRole('button', { name: 'Follow' })).toHaveAttribute('aria-pressed', 'true');
  for (let at = 0; at < 4; at += 1) {
    const { row } = add();
    await expect(page.locator(`tr[aria-rowindex="${row.n + 1}"]`)).toBeInViewport();
  }
  await page.keyboard.press('2');
  await expect(page).toHaveURL(/\/turn\/\d+$/);
  await settled(page);
  const { row } = add();
  await expect(page).toHaveURL(new RegExp(`/turn/${row.n}$`));
  await server.stop();
});

test('a cut stream is told, counts down, and catches up without doubles', async ({ page }) => {
  const { server, add, seen } = await opened(page);
  const port = server.port;
  await server.stop();
  await expect(page.locator('.banner')).toContainText('does not answer since');
  await expect(page.locator('.banner')).toContainText(/Tries again in \d+ s/);
  await expect(page.locator('table.timeline tbody tr.click')).toHaveCount(8);
  for (let at = 0; at < 3; at += 1) add(false);
  await server.start(port);
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.locator('.banner')).toHaveCount(0, { timeout: 30_000 });
  await expect(page.locator('table.timeline tbody tr.click')).toHaveCount(11);
  const numbers = await page.locator('table.timeline tbody tr.click th a').allTextContents();
  expect(numbers).toEqual(Array.from({ length: 11 }, (_, at) => String(at + 1)));
  expect(seen.problems).toEqual([]);
  await server.stop();
});

test('reset, an event of a turn beyond the next, choices and what is forgotten', async ({ page }) => {
  const { server, add, whole } = await opened(page);
  add(false);
  add(false);
  add();
  await expect(page.locator('table.timeline tbody tr.click')).toHaveCount(11);
  add(false);
  server.send('reset', {});
  await expect(page.locator('table.timeline tbody tr.click')).toHaveCount(12);
  server.send('open', { session: whole.id, request: 1, bytes: 5 });
  await expect(page.locator('.live')).toContainText('1 open');
  server.send('outcome', { session: whole.id, n: 12, status: 200 });
  await expect(page.locator('.live')).toHaveText('live');
  server.send('lesson', { session: whole.id, text: 'no side over 2,000 px' });
  await expect(page.locator('#say')).toContainText('photic learned');
  server.send('gone', { session: whole.id });
  await expect(page).toHaveURL(/#\/$/);
  await server.stop();
});

test('an hour of events leaves the page as small as it was', async ({ page }) => {
  const { server, add } = await opened(page);
  for (let at = 0; at < 4; at += 1) add();
  await expect(page.locator('table.timeline tbody tr.click')).toHaveCount(12);
  const before = await page.evaluate(() => document.querySelectorAll('*').length);
  for (let at = 0; at < 300; at += 1) server.send('turn', { session: story().id, row: server.models.get(story().id)!.turn(1 + (at % 12)).row });
  await page.waitForTimeout(1500);
  expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThanOrEqual(before + 20);
  await server.stop();
});
