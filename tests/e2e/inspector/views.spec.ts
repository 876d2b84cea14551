// Every view and every action: what is on the page is what the API says.
import type * as Api from '../../../crates/photic-inspector/viewer/api.ts';
import { expect, holds, settled, test } from './fixtures.ts';

const count = (value: number) => Math.round(value).toLocaleString('en-US');
const usd = (value: number | undefined) => (value === undefined ? '–' : `$${value.toFixed(Math.abs(value) !== 0 && Math.abs(value) < 0.00095 ? 5 : 4)}`);
const at = (session: Api.Session) => `#/s/${session.id}`;

test('sessions: a row for each, with its numbers', async ({ page, open, api }) => {
  const list = await api<Api.SessionPage>('/sessions?limit=100');
  await open('#/');
  await expect(page.getByRole('heading', { level: 1, name: 'Sessions' })).toBeAttached();
  await expect(page.locator('table.sessions tbody tr.click')).toHaveCount(list.items.length);
  for (const [index, row] of list.items.entries()) {
    const line = page.locator('table.sessions tbody tr.click').nth(index);
    await expect(line).toContainText(row.id);
    await expect(line.locator('td.number').nth(0)).toHaveText(count(row.turns));
    await expect(line.locator('td.number').nth(1)).toHaveText(count(row.pictures));
    await expect(line.locator('td.number').nth(2)).toContainText(count(row.tokens));
  }
  await holds(page);
});

test('sessions: filter by words', async ({ page, open, api, session }) => {
  const list = await api<Api.SessionPage>(`/sessions?limit=100&q=${encodeURIComponent(session.id)}`);
  await open('#/');
  await page.getByRole('searchbox').fill(session.id);
  await expect(page.locator('table.sessions tbody tr.click')).toHaveCount(list.items.length);
  await page.getByRole('searchbox').fill('no session has these letters');
  await expect(page.getByText('No session is like this')).toBeVisible();
  await page.getByRole('searchbox').fill('');
  await page.getByRole('link', { name: new RegExp(`${session.turns} turns?$`) }).first().click();
  await expect(page).toHaveURL(/#\/s\//);
});

test('timeline: every turn with its tokens, cost, cache and pictures', async ({ page, open, api, session }) => {
  const { items } = await api<Api.TurnPage>(`/sessions/${session.id}/turns?from=1&limit=200`);
  await open(at(session));
  await expect(page).toHaveTitle(/photic inspector/);
  await expect(page.locator('.stats')).toContainText(usd(session.sums.usd));
  await expect(page.locator('.stats')).toContainText(count(session.tokens));
  const rows = page.locator('table.timeline tbody tr.click');
  for (const row of items.slice(0, 12)) {
    const line = rows.nth(row.n - 1);
    await expect(line.locator('th')).toContainText(String(row.n));
    await expect(line.locator('td.number').nth(0)).toContainText(count(row.tokens.input ?? row.tokens.expected));
    await expect(line.locator('td.number').nth(1)).toContainText(usd(row.usd));
    const seen = [...row.fates].filter((letter) => 'khspo'.includes(letter)).length;
    await expect(line.getByRole('link')).toHaveAccessibleName(new RegExp(`^Turn ${row.n}: .*, ${seen} pictures? in sight`));
    await expect(line.locator('.lane.thumb')).toHaveCount(seen);
    if (row.reported && (row.tokens.read ?? 0) > 0) await expect(line.locator('.strip .read')).toHaveCount(1);
    if (row.first?.byte !== undefined) await expect(line).toContainText(`byte ${count(row.first.byte)}`);
    if (!row.reported) await expect(line).toContainText('expected');
  }
  await holds(page);
});

test('turn: as the model got it, as the agent sent it, what changed', async ({ page, open, api, session }) => {
  for (const n of [...new Set([1, Math.ceil(session.turns / 2), session.turns])]) {
    const turn = await api<Api.Turn>(`/sessions/${session.id}/turns/${n}`);
    await open(`${at(session)}/turn/${n}`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Turn ${n}`);
    const side = page.locator('aside.side');
    await expect(side).toContainText(usd(turn.usd));
    if (turn.reported && turn.tokens.read) await expect(side).toContainText(count(turn.tokens.read));
    await expect(side).toContainText(turn.request.digest);
    for (const decision of turn.decisions) await expect(side).toContainText(decision.text);
    const messages = await api<Api.MessagePage>(`/sessions/${session.id}/turns/${n}/messages?side=model&from=0&limit=50`);
    await expect(page.locator('.message.fresh')).toHaveCount(Math.min(50, messages.total - messages.new_from));
    if (messages.new_from > 0) {
      await page.getByRole('button', { name: /^Show \d+ earlier message/ }).click();
      await expect(page.locator('.message-line')).toHaveCount(Math.min(50, messages.new_from));
      await page.locator('.message-line').first().click();
      await expect(page.locator('.message-line').first()).toHaveAttribute('aria-expanded', 'true');
    }
    await page.getByRole('button', { name: 'As the agent sent it' }).click();
    await expect(page).toHaveURL(/\/client$/);
    await settled(page);
    await page.getByRole('button', { name: /^What changed/ }).click();
    await expect(page).toHaveURL(/\/wire$/);
    await settled(page);
    const changes = await api<Api.ChangePage>(`/sessions/${session.id}/turns/${n}/changes?from=0&limit=100`);
    await expect(page.locator('.hunk')).toHaveCount(changes.items.length);
    for (const [index, hunk] of changes.items.slice(0, 5).entries()) await expect(page.locator('.hunk').nth(index)).toContainText(`@ ${count(hunk.b_from)}`);
    await holds(page);
  }
});

test('turn: pictures that the model does not see are told, not shown', async ({ page, open, api, session }) => {
  const { items } = await api<Api.TurnPage>(`/sessions/${session.id}/turns?from=1&limit=200`);
  const row = items.findLast((one) => [...one.fates].some((letter) => 'rde'.includes(letter)));
  test.skip(!row, 'this session shows every picture');
  const turn = await api<Api.Turn>(`/sessions/${session.id}/turns/${row!.n}`);
  const hidden = turn.pictures.find((picture) => picture.notice)!;
  await open(`${at(session)}/picture/${hidden.picture}/${row!.n}`);
  await expect(page.locator('.note.info .told')).toContainText(hidden.notice!);
  await expect(page.locator('.stage figure').nth(1).locator('canvas')).toHaveCount(0);
});

test('picture: three sizes, one loupe, tokens, cost, click map', async ({ page, open, api, session }) => {
  test.skip(session.pictures === 0, 'no pictures');
  const { items } = await api<Api.PicturePage>(`/sessions/${session.id}/pictures?from=1&limit=200`);
  const row = items.find((item) => item.size && 'khspo'.includes(item.letter)) ?? items[0]!;
  const one = await api<Api.Picture>(`/sessions/${session.id}/pictures/${row.picture}`);
  await open(`${at(session)}/picture/${row.picture}/${one.as_of}`);
  await expect(page.getByRole('heading', { level: 1 })).toContainText(`#${row.picture}`);
  if (one.size) await expect(page.locator('.stage figure').nth(0)).toContainText(`${one.size[0]}×${one.size[1]} px`);
  if (one.now.seen) await expect(page.locator('.stage figure').nth(2)).toContainText(`${one.now.seen[0]}×${one.now.seen[1]} px`);
  if (one.formula) await expect(page.locator('aside.side')).toContainText(one.formula.text);
  if (one.cost.usd !== undefined) await expect(page.locator('aside.side')).toContainText(usd(one.cost.usd));
  await expect(page.locator('.fates li')).toHaveCount(one.turns.length);
  await expect(page.locator('.near canvas')).toHaveCount(one.now.seen ? 3 : 1);
  await expect.poll(() => page.locator('.near canvas').first().evaluate((canvas: HTMLCanvasElement) => {
    const data = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    return [...data].some((value) => value > 0);
  })).toBe(true);
  if (one.map && one.size) {
    // The click map within half a pixel of the source, at a place that the fields name.
    const [x, y] = [Math.floor(one.size[0] / 3), Math.floor(one.size[1] / 3)];
    await page.getByLabel('x of the loupe').fill(String(x));
    await page.getByLabel('x of the loupe').press('Tab');
    await page.getByLabel('y of the loupe').fill(String(y));
    await page.getByLabel('y of the loupe').press('Tab');
    const text = await page.locator('aside.side section', { hasText: 'Where a click lands' }).locator('p').first().textContent();
    const found = /\((-?\d+), (-?\d+)\) → \((-?\d+), (-?\d+)\)/.exec(text ?? '');
    expect(found).not.toBeNull();
    const [mx, my, sx, sy] = found!.slice(1).map(Number) as [number, number, number, number];
    expect(Math.abs(mx * one.map.scale[0] + one.map.offset[0] - sx)).toBeLessThanOrEqual(0.5);
    expect(Math.abs(my * one.map.scale[1] + one.map.offset[1] - sy)).toBeLessThanOrEqual(0.5);
  }
  await holds(page);
});

test('picture: a choice asks, is made, and is taken back', async ({ page, open, api, session }) => {
  const about = await api<Api.About>('/about');
  test.skip(!about.choices || session.pictures === 0, 'choices cannot be made here');
  const k = session.pictures;
  const forecast = async (choice: string) => (await api<Api.Picture>(`/sessions/${session.id}/pictures/${k}`)).forecast.find((one) => one.choice === choice)!;
  const before = await forecast('pin');
  test.skip(!before.possible && !before.active, 'this picture cannot be pinned');
  await open(`${at(session)}/picture/${k}`);
  const button = page.locator('.action').getByRole('button', { name: /^Pin(ned)?$/ });
  await button.click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  expect((await forecast('pin')).active).toBe(before.active);
  await button.click();
  await page.locator('dialog .primary').click();
  await expect.poll(async () => (await forecast('pin')).active).toBe(!before.active);
  await expect(button).toHaveAttribute('aria-pressed', String(!before.active));
  await button.click();
  await page.locator('dialog .primary').click();
  await expect.poll(async () => (await forecast('pin')).active).toBe(before.active);
});

test('compare: sums, common beginning, lanes, messages', async ({ page, open, api, session }) => {
  test.skip(session.turns < 2, 'one turn alone');
  const [a, b] = [session.turns - 1, session.turns];
  const one = await api<Api.Compare>(`/sessions/${session.id}/compare?a=${a}&b=${b}`);
  await open(`${at(session)}/diff/${a}/${b}`);
  await expect(page.locator('.stats')).toContainText(`${count(one.a.tokens.input ?? one.a.tokens.expected)} → ${count(one.b.tokens.input ?? one.b.tokens.expected)}`);
  await expect(page.locator('.stats')).toContainText(`${count(one.a.bytes)} → ${count(one.b.bytes)}`);
  await expect(page.locator('.band').first()).toContainText(`the same: ${count(Math.min(one.common_tokens, one.a.tokens.input ?? one.a.tokens.expected, one.b.tokens.input ?? one.b.tokens.expected))} tokens`);
  await expect(page.locator('table.compare tbody tr')).toHaveCount(Math.min(100, one.messages.length));
  await page.getByRole('button', { name: /^Swap/ }).click();
  await expect(page).toHaveURL(new RegExp(`/diff/${b}/${a}$`));
  await settled(page);
  await holds(page);
});

test('cost: sums, charts with tables, misses, pictures', async ({ page, open, api, session }) => {
  const cost = await api<Api.CostPage>(`/sessions/${session.id}/cost`);
  await open(`${at(session)}/cost`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('What it cost');
  if (cost.sums.usd !== undefined) await expect(page.locator('.padded')).toContainText(usd(cost.sums.usd));
  await expect(page.locator('.rank')).toHaveCount(cost.pictures.length);
  for (const [index, picture] of cost.pictures.slice(0, 5).entries()) await expect(page.locator('.rank').nth(index)).toContainText(usd(picture.usd));
  await expect(page.locator('table.misses tbody tr')).toHaveCount(Math.min(200, cost.misses.length));
  if (cost.turns.some((turn) => turn.usd !== undefined)) {
    await page.locator('summary').first().click();
    const rows = page.locator('details[open] tbody tr');
    await expect(rows).toHaveCount(Math.min(64, cost.turns.length));
    await expect(rows.first()).toContainText(usd(cost.turns[0]!.usd));
  }
  await holds(page);
});

test('findings: each with its code and what to do', async ({ page, open, api, session }) => {
  const { items } = await api<Api.FindingPage>(`/sessions/${session.id}/findings`);
  await open(`${at(session)}/findings`);
  await expect(page.locator('.finding')).toHaveCount(items.length);
  for (const item of items.slice(0, 10)) await expect(page.locator('.finding', { hasText: item.title }).first()).toContainText(item.code);
  if (!items.length) return;
  const group = page.getByRole('group', { name: 'Findings shown' }).getByRole('button', { name: /repaired/ });
  await group.click();
  await expect(page.locator('.finding')).toHaveCount(items.filter((item) => item.group === 'repaired').length);
  await holds(page);
});

test('jump: a turn, a picture, words', async ({ page, open, session }) => {
  await open(at(session));
  await page.keyboard.press('/');
  await page.getByRole('combobox').fill(`turn ${session.turns}`);
  await expect(page.getByRole('option').first()).toContainText(`Turn ${session.turns}`);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`/turn/${session.turns}$`));
  await settled(page);
  if (session.pictures === 0) return;
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('#1');
  await expect(page.getByRole('option').first()).toContainText('#1');
  await page.getByRole('option').first().click();
  await expect(page).toHaveURL(/\/picture\/1/);
});

test('export: options, size, the command, a file', async ({ page, open, session }) => {
  await open(at(session));
  await page.getByRole('button', { name: 'Export' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.locator('code')).toContainText('photic session export');
  await expect(dialog).toContainText('Pictures are not redacted');
  await dialog.getByLabel('None, only sizes and hashes').check();
  await expect(dialog.locator('code')).toContainText('none');
  const link = dialog.getByRole('link', { name: 'Export' });
  await expect(link).toHaveAttribute('href', /\/export\?pictures=none&text=redacted$/);
  const download = page.waitForEvent('download');
  await link.click();
  expect((await download).suggestedFilename()).toMatch(/\.html$/);
});

test('an address that does not exist says so', async ({ page, open, session }) => {
  await open('#/s/s_nothing');
  await expect(page.getByRole('alert')).toContainText('There is no such thing here');
  await open(`${at(session)}/turn/99999`);
  await expect(page.getByRole('alert')).toContainText('There is no such thing here');
  await open('#/elsewhere');
  await expect(page.getByRole('alert')).toBeVisible();
});
