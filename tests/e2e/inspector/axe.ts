// axe-core in the page: its script is given to a document once, and only what is violated comes back.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from '@playwright/test';

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Violation {
  id: string;
  nodes: { html: string; any: { message: string }[] }[];
}

/** What axe-core finds, in a line each. */
export async function violations(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(SOURCE);
  const found = await page.evaluate(async (tags) => {
    const { axe } = window as unknown as { axe: { run: (where: Document, options: unknown) => Promise<{ violations: Violation[] }> } };
    const { violations } = await axe.run(document, { runOnly: tags, resultTypes: ['violations'], iframes: false });
    return violations.map((one) => ({ id: one.id, nodes: one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.any[0]?.message ?? ''}`) }));
  }, TAGS);
  return found.map((one) => `${one.id}: ${one.nodes.join(' | ')}`);
}
