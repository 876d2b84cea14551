// Links to the turn before and after.
import { h, icon } from './dom.ts';
import type { Child } from './dom.ts';

export function steps(before: string | null, after: string | null, ...middle: Child[]): HTMLElement[] {
  return [step(before, 'left', 'Turn before'), h('span.nowrap', null, ...middle), step(after, 'right', 'Turn after')];
}

function step(href: string | null, name: string, label: string): HTMLElement {
  return href ? h('a.button.square', { href, 'aria-label': label }, icon(name)) : h('button.button.square', { type: 'button', disabled: true, 'aria-label': label }, icon(name));
}
