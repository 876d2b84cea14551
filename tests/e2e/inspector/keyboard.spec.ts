// Each path without a pointer; where the focus is after every change of view.
import { expect, settled, test } from './fixtures.ts';

const focused = (page: import('@playwright/test').Page) => page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName || '');

test('from the list to a turn, its changes, its picture, and back', async ({ page, open, session }) => {
  test.skip(session.turns < 2 || session.pictures === 0, 'needs two turns and a picture');
  await open('#/');
  await page.keyboard.press('j');
  for (let at = 0; at < 40 && !(await page.evaluate((id) => document.activeElement?.getAttribute('href')?.includes(id), session.id)); at += 1) await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`#/s/${session.id}$`));
  await settled(page);
  expect(await focused(page)).toBe('main');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await expect(page.locator(':focus')).toHaveText('2');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/turn\/2$/);
  await settled(page);
  expect(await focused(page)).toBe('main');
  for (const [key, url] of [['w', /\/turn\/2\/wire$/], ['c', /\/turn\/2\/client$/], ['m', /\/turn\/2$/], ['[', /\/turn\/1$/], [']', /\/turn\/2$/]] as const) {
    await page.keyboard.press(key);
    await expect(page).toHaveURL(url);
    await settled(page);
  }
  await page.keyboard.press('p');
  await expect(page).toHaveURL(/\/picture\/\d+\/2$/);
  await settled(page);
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(new RegExp(`#/s/${session.id}$`));
  await settled(page);
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(/#\/$/);
});

test('number keys open the six views', async ({ page, open, session }) => {
  test.skip(session.turns < 2 || session.pictures === 0, 'needs two turns and a picture');
  await open(`#/s/${session.id}`);
  for (const [key, url] of [['2', /\/turn\/\d+$/], ['3', /\/picture\/\d+(\/\d+)?$/], ['4', /\/diff\/\d+\/\d+$/], ['5', /\/cost$/], ['6', /\/findings$/], ['1', new RegExp(`#/s/${session.id}$`)]] as const) {
    await page.keyboard.press(key);
    await expect(page).toHaveURL(url);
    await settled(page);
    expect(await focused(page)).toBe('main');
  }
});

test('two marks open a comparison', async ({ page, open, session }) => {
  test.skip(session.turns < 3, 'needs three turns');
  await open(`#/s/${session.id}`);
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await expect(page.locator('tr.marked')).toHaveCount(1);
  await expect(page.locator('#say')).toContainText('marked');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await expect(page).toHaveURL(/\/diff\/1\/3$/);
});

test('the loupe moves, zooms and finds its region', async ({ page, open, session }) => {
  test.skip(session.pictures === 0, 'no pictures');
  await open(`#/s/${session.id}/picture/${Math.min(7, session.pictures)}`);
  const x = page.getByLabel('x of the loupe');
  await expect(x).not.toHaveValue('');
  await page.locator('#main').focus();
  const before = Number(await x.inputValue());
  await page.keyboard.press('ArrowLeft');
  const left = Number(await x.inputValue());
  expect(left).toBeLessThan(before);
  await page.keyboard.press('Shift+ArrowRight');
  expect(Number(await x.inputValue())).toBeGreaterThan(left);
  const zoom = page.getByLabel('Zoom', { exact: true }).locator('output').or(page.locator('output'));
  const was = await zoom.first().textContent();
  await page.keyboard.press('+');
  await expect(zoom.first()).not.toHaveText(was ?? '');
  await page.keyboard.press('0');
  await page.keyboard.press('r');
});

test('single keys can be switched off, and are dead in fields', async ({ page, open, session }) => {
  await open(`#/s/${session.id}`);
  await page.keyboard.press('?');
  const box = page.getByLabel(/Single keys act/);
  await expect(box).toBeChecked();
  await box.uncheck();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.keyboard.press('5');
  await page.keyboard.press('e');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page).toHaveURL(new RegExp(`#/s/${session.id}$`));
  await page.getByRole('button', { name: 'Keyboard' }).click();
  await page.getByLabel(/Single keys act/).check();
  await page.keyboard.press('Escape');
  await page.keyboard.press('5');
  await expect(page).toHaveURL(/\/cost$/);
  await open('#/');
  await page.getByRole('searchbox').focus();
  await page.keyboard.type('?e5');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page.getByRole('searchbox')).toHaveValue('?e5');
});

test('dialogs keep the focus inside and give it back', async ({ page, open, session }) => {
  await open(`#/s/${session.id}`);
  const button = page.getByRole('button', { name: 'Keyboard' });
  await button.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await expect(dialog).toBeVisible();
  for (let at = 0; at < 6; at += 1) {
    await page.keyboard.press('Tab');
    const inside = await page.evaluate(() => document.activeElement === document.body || document.activeElement?.closest('dialog') !== null);
    expect(inside).toBe(true);
  }
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await expect(button).toBeFocused();
});

test('the focus is never below the fixed header', async ({ page, open, session }) => {
  await open(`#/s/${session.id}`);
  for (let at = 0; at < Math.min(30, session.turns); at += 1) await page.keyboard.press('j');
  for (let at = 0; at < Math.min(30, session.turns); at += 1) {
    await page.keyboard.press('k');
    const covered = await page.evaluate(() => {
      const box = document.activeElement?.getBoundingClientRect();
      const head = document.querySelector('thead th')?.getBoundingClientRect();
      return box && head ? head.bottom - box.top : 0;
    });
    expect(covered).toBeLessThanOrEqual(1);
  }
});

test('skip link, landmarks, one heading', async ({ page, open, session }) => {
  for (const hash of ['#/', `#/s/${session.id}`, `#/s/${session.id}/cost`, `#/s/${session.id}/findings`, `#/s/${session.id}/turn/1`]) {
    await open(hash);
    await expect(page.locator('h1')).toHaveCount(1);
    await expect(page.getByRole('main')).toHaveCount(1);
    await expect(page.getByRole('banner')).toHaveCount(1);
  }
  await page.locator('#skip').focus();
  await page.keyboard.press('Enter');
  expect(await focused(page)).toBe('main');
});
