import { test } from './fixtures.ts';
import { settled } from './fixtures.ts';
const S = '#/s/s_061yxp635hrv9cbq';
const VIEWS: [string, string][] = [['1-sessions', '#/'], ['2-timeline', S], ['3-turn', `${S}/turn/7`], ['4-wire', `${S}/turn/7/wire`], ['5-picture', `${S}/picture/7/7`], ['6-compare', `${S}/diff/12/13`], ['7-cost', `${S}/cost`], ['8-findings', `${S}/findings`]];
for (const scheme of ['light', 'dark'] as const) for (const [name, hash] of VIEWS) test(`${scheme} ${name}`, async ({ page, open }) => {
  await page.emulateMedia({ colorScheme: scheme });
  await open(hash);
  await settled(page);
  await page.waitForLoadState('networkidle').catch(() => {});
  await page.waitForTimeout(500);
  await page.screenshot({ path: `/tmp/iv/${name}-${scheme}.png` });
});
