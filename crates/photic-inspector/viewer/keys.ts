// The keyboard. Single keys do nothing in fields, and can be switched off.
import type { Rows } from './rows.ts';

const STORE = 'photic-single-keys';

export function singleKeys(): boolean {
  try {
    return localStorage.getItem(STORE) !== 'off';
  } catch {
    return true;
  }
}

export function setSingleKeys(on: boolean): void {
  try {
    localStorage.setItem(STORE, on ? 'on' : 'off');
  } catch {
    // A file opened from a disk may have no storage: then the choice holds as long as nothing is loaded again.
  }
}

const FIELDS = 'input,select,textarea,[contenteditable]';

/** The name of a key as views name it; null for keys that belong to a field, the browser or nobody. */
export function keyName(event: KeyboardEvent): string | null {
  if (event.isComposing || event.altKey || event.defaultPrevented) return null;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') return 'jump';
  if (event.ctrlKey || event.metaKey) return null;
  const field = (event.target as Element | null)?.closest?.(FIELDS);
  if (field && event.key !== 'Escape') return null;
  if (event.key.length === 1 && !singleKeys()) return null;
  const letter = event.key.length === 1 && event.key !== event.key.toLowerCase();
  if (event.shiftKey && (letter || event.key.startsWith('Arrow'))) return `Shift+${letter ? event.key.toUpperCase() : event.key}`;
  return event.key;
}

/** Moves the focus by rows: from the row that has it; the first time to row `start`. */
export function moveInRows(rows: () => Rows | null, count: () => number, start: () => number = () => 0): (by: number) => void {
  return (by) => {
    const focused = rows()?.focused() ?? null;
    const next = focused === null ? start() : focused + by;
    rows()?.focus(Math.max(0, Math.min(count() - 1, next)));
  };
}

/** Moves the focus by the elements of a list that are all in the document. */
export function moveInList(root: HTMLElement, selector: string): (by: number) => void {
  return (by) => {
    const all = [...root.querySelectorAll<HTMLElement>(selector)];
    const at = all.findIndex((element) => element.contains(document.activeElement));
    const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + by))];
    next?.focus();
    next?.scrollIntoView({ block: 'nearest' });
  };
}
