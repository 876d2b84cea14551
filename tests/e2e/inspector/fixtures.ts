// What specs share: a page with the inspector, that fails the test if the page breaks a rule.
import { expect, test as base } from '@playwright/test';
import type { Page } from '@playwright/test';
import type { About, Session, SessionPage } from '../../../crates/photic-inspector/viewer/api.ts';
import { MockServer } from './server.ts';
import type { MockSession } from './model.ts';
import { others, story } from './story.ts';

/** Address of a running inspector, with its token. */
export const REAL = process.env['INSPECT_URL'];

export interface Watch {
  problems: string[];
  foreign: string[];
}

/** Collects what must not happen: errors, violations of the policy, requests to anywhere else. */
export async function watch(page: Page, origin: string): Promise<Watch> {
  const seen: Watch = { problems: [], foreign: [] };
  page.on('pageerror', (error) => seen.problems.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    seen.problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', () => seen.problems.push('popup'));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith('data:') && !url.startsWith('blob:')) seen.foreign.push(url);
  });
  await page.exposeFunction('photicProblem', (text: string) => seen.problems.push(text));
  await page.addInitScript(() => {
    const report = (window as unknown as { photicProblem: (text: string) => void }).photicProblem;
    document.addEventListener('securitypolicyviolation', (event) => report(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
    Object.defineProperty(window, 'photicHit', { set: (value: string) => report(`script: ${value}`) });
  });
  return seen;
}

interface Fixtures {
  /** Address of the page, without a fragment. */
  base: string;
  watched: Watch;
  /** Opens an address of a view and waits until it is there. */
  open: (hash: string) => Promise<void>;
  /** The session to look at: the longest one of a real record. */
  session: Session;
  api: <T>(path: string) => Promise<T>;
}

interface WorkerFixtures {
  mock: MockServer | null;
  mockBase: string;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  mock: [async ({}, use) => {
    if (REAL) return use(null);
    const server = new MockServer([story(), ...others()]);
    (server as unknown as { base: string }).base = await server.start();
    await use(server);
    await server.stop();
  }, { scope: 'worker' }],
  mockBase: [async ({ mock }, use) => {
    await use(mock ? (mock as unknown as { base: string }).base : REAL!.replace(/#.*/, ''));
  }, { scope: 'worker' }],
  base: async ({ mockBase }, use) => use(mockBase),
  watched: async ({ page, base }, use) => {
    const seen = await watch(page, new URL(base).origin);
    await use(seen);
    expect(seen.problems, 'nothing breaks the policy or throws').toEqual([]);
    expect(seen.foreign, 'no request to anywhere else').toEqual([]);
  },
  open: async ({ page, base, watched }, use) => {
    void watched;
    let entered = false;
    await use(async (hash) => {
      if (REAL && !entered) {
        await page.goto(REAL);
        await settled(page);
        entered = true;
      }
      if (page.url().startsWith(base)) await page.evaluate((to) => { location.hash = to; }, hash);
      else await page.goto(base + hash);
      await settled(page);
    });
  },
  api: async ({ page, base, open }, use) => {
    await open('#/');
    await use(async (path) => {
      const answer = await page.request.get(`${new URL(base).origin}/inspect/api/v1${path}`);
      expect(answer.ok(), `${path}: ${answer.status()}`).toBe(true);
      return answer.json();
    });
  },
  session: async ({ api }, use) => {
    const page = await api<SessionPage>('/sessions?limit=100');
    const wanted = process.env['INSPECT_SESSION'];
    const row = page.items.find((item) => item.id === wanted) ?? [...page.items].sort((a, b) => b.pictures * 1000 + b.turns - a.pictures * 1000 - a.turns)[0]!;
    await use(await api<Session>(`/sessions/${row.id}`));
  },
});

/** Waits until a view is in place and nothing is loading. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => document.getElementById('main')?.dataset['shows'] === location.hash);
  await expect(page.locator('.skeleton')).toHaveCount(0);
}

/** The page itself never scrolls sideways. */
export async function holds(page: Page): Promise<void> {
  const width = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth] as const);
  expect(width[0], 'the page has no sideways scrolling').toBeLessThanOrEqual(width[1]);
}

export type { About, MockSession };
export { expect };
