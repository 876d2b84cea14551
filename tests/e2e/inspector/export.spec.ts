// An exported file opens from a disk, without a network, in every view.
import { readFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ExportData, Session } from '../../../crates/photic-inspector/viewer/api.ts';
import { expect, holds, settled, test, watch } from './fixtures.ts';
import { exportHtml } from './exported.ts';
import { story } from './story.ts';

/** A file that `photic session export --html` wrote; without it one is made here. */
const GIVEN = process.env['EXPORT_FILE'];

test('opens with the network off, in every view', async ({ page, context }) => {
  const path = GIVEN ?? join(mkdtempSync(join(tmpdir(), 'photic-export-')), 'session.html');
  if (!GIVEN) writeFileSync(path, exportHtml(story()));
  const text = readFileSync(path, 'utf8');
  const data = JSON.parse(/<script type="application\/json" id="photic-data">(.*?)<\/script>/s.exec(text)![1]!) as ExportData;
  const about = data.answers[`/sessions/${data.session}`] as Session | { $: number };
  const facts = ('$' in about ? data.pool[about.$] : about) as Session;
  await context.setOffline(true);
  const address = pathToFileURL(path).href;
  const seen = await watch(page, address);
  await page.goto(address);
  await settled(page);
  await expect(page).toHaveURL(new RegExp(`#/s/${data.session}$`));
  await expect(page.locator('table.timeline tbody tr.click').first()).toBeVisible();
  await expect(page.getByText('a file', { exact: true })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Export' })).toHaveCount(0);
  const [from, to] = data.options.turns ?? [1, facts.turns];
  const views: [hash: string, sign: string][] = [[`/turn/${to}`, 'h1'], [`/turn/${to}/client`, '.message.fresh'], [`/turn/${to}/wire`, '.separator'], ['/cost', '.padded'], ['/findings', '.filters'], ['', 'table.timeline']];
  if (facts.pictures > 0) views.push([`/picture/${facts.pictures}`, '.stage']);
  if (to > from) views.push([`/diff/${to - 1}/${to}`, 'table.compare']);
  for (const [hash, sign] of views) {
    await page.evaluate((where) => { location.hash = where; }, `#/s/${data.session}${hash}`);
    await settled(page);
    await expect(page.locator(sign).first(), hash).toBeVisible();
    await expect(page.getByRole('alert'), hash).toHaveCount(0);
    await holds(page);
  }
  await page.keyboard.press('/');
  await page.getByRole('combobox').fill(`turn ${to}`);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`/turn/${to}$`));
  await page.evaluate((where) => { location.hash = where; }, `#/s/${data.session}/turn/${to + 1}`);
  await settled(page);
  await expect(page.getByRole('alert')).toBeVisible();
  expect(seen.problems).toEqual([]);
  expect(seen.foreign).toEqual([]);
});
