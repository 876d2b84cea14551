// Jump: a turn, a picture, or words of the session.
import type { SearchHit, SearchPage, SessionPage } from './api.ts';
import { file, get } from './client.ts';
import { clear, h } from './dom.ts';
import { line, size } from './format.ts';
import { openDialog } from './dialogs.ts';
import { foreign, thumbnail } from './parts.ts';
import { go, to } from './route.ts';
import type { OpenSession } from './session.ts';

interface Target {
  label: string;
  text: string;
  more?: string;
  picture?: number | undefined;
  href: string;
}

const MAX_TARGETS = 40;

export function openJump(session: OpenSession | null): void {
  const input = h<HTMLInputElement>('input', { type: 'text', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'jump-list', 'aria-autocomplete': 'list', 'aria-label': session ? 'Jump to a turn, a picture or words' : 'Jump to a session', placeholder: session ? '7, #7, or words' : 'words of a title, a model, an id', autocomplete: 'off', spellcheck: 'false', maxlength: 200 });
  const list = h('ul', { id: 'jump-list', role: 'listbox', 'aria-label': 'Results' });
  const says = h('p.hidden', { role: 'status' });
  let targets: Target[] = [];
  let at = 0;
  let asked = 0;
  const opened = openDialog(session ? 'Jump' : 'Jump to a session', [input, list, says]);
  opened.dialog.classList.add('jump');

  const choose = (target: Target | undefined) => {
    if (!target) return;
    opened.close();
    go(target.href);
  };
  const mark = () => {
    [...list.children].forEach((item, index) => item.setAttribute('aria-selected', String(index === at)));
    const item = list.children[at];
    if (item) {
      input.setAttribute('aria-activedescendant', item.id);
      item.scrollIntoView({ block: 'nearest' });
    } else input.removeAttribute('aria-activedescendant');
  };
  const draw = (next: Target[]) => {
    targets = next.slice(0, MAX_TARGETS);
    at = 0;
    clear(list, targets.map((target, index) => h('li', { id: `jump-${index}`, role: 'option', 'aria-selected': 'false', on: { click: () => choose(target) } },
      target.picture !== undefined && session ? thumbnail(session, target.picture) : null,
      h('b', null, line(target.label, 60)), h('span.ellipsis', null, foreign(target.text, 140)), target.more ? h('span.dim.push', null, line(target.more, 40)) : null)));
    says.textContent = targets.length ? `${targets.length} results` : input.value.trim() ? 'No results' : '';
    list.hidden = targets.length === 0;
    mark();
  };

  async function search(): Promise<void> {
    const words = input.value.trim();
    const mine = (asked += 1);
    if (!session) {
      const page = await get<SessionPage>('/sessions', { limit: 40, q: words || undefined });
      if (mine === asked) draw(page.items.filter((item) => `${item.title} ${item.model ?? ''} ${item.id}`.toLowerCase().includes(words.toLowerCase())).map((item) => ({ label: line(item.title, 80) || item.id, text: item.model ?? '', more: item.id, href: to.timeline(item.id) })));
      return;
    }
    if (!words) return draw([]);
    if (file) return draw(inFile(session, words));
    try {
      const page = await get<SearchPage>(`${session.path}/search`, { q: words, limit: MAX_TARGETS });
      if (mine === asked) draw(page.items.map((hit) => target(session, hit)));
    } catch {
      if (mine === asked) draw(inFile(session, words));
    }
  }

  let timer = 0;
  input.addEventListener('input', () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => void search().catch(() => draw([])), 120);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      at = Math.max(0, Math.min(targets.length - 1, at + (event.key === 'ArrowDown' ? 1 : -1)));
      mark();
    } else if (event.key === 'Enter') {
      event.preventDefault();
      choose(targets[at] ?? direct(session, input.value.trim()));
    }
  });
  list.hidden = true;
  input.focus();
  if (!session) void search().catch(() => draw([]));
}

/** "7", "turn 7" and "#7" are known without asking. */
function direct(session: OpenSession | null, words: string): Target | undefined {
  const found = /^(#|turn\s*)?(\d+)$/i.exec(words);
  const number = Number(found?.[2]);
  if (!session || !found || !number) return undefined;
  const picture = found[1] === '#';
  if (number > (picture ? session.facts.pictures : session.total)) return undefined;
  return { label: picture ? `#${number}` : `Turn ${number}`, text: '', href: picture ? to.picture(session.id, number) : to.turn(session.id, number) };
}

function target(session: OpenSession, hit: SearchHit): Target {
  const row = hit.picture === undefined ? undefined : session.picture(hit.picture);
  return {
    label: hit.label, text: hit.text, picture: hit.kind === 'picture' ? hit.picture : undefined,
    more: hit.message !== undefined ? `message ${hit.message}` : row?.size ? size(row.size) : '',
    href: hit.kind === 'picture' && hit.picture !== undefined ? to.picture(session.id, hit.picture) : hit.turn !== undefined ? to.turn(session.id, hit.turn) : to.findings(session.id),
  };
}

function inFile(session: OpenSession, words: string): Target[] {
  const wanted = words.toLowerCase();
  const first = direct(session, words);
  const found: Target[] = first ? [first] : [];
  for (let turn = 1; turn <= session.total; turn += 1) {
    const row = session.row(turn);
    if (row && `${row.came} ${row.call ?? ''}`.toLowerCase().includes(wanted)) found.push({ label: `Turn ${turn}`, text: row.came, more: row.call ?? '', href: to.turn(session.id, turn) });
  }
  for (let picture = 1; picture <= session.facts.pictures; picture += 1) {
    const row = session.picture(picture);
    if (row && row.label.toLowerCase().includes(wanted)) found.push({ label: `#${picture}`, text: row.label, picture, more: row.size ? size(row.size) : '', href: to.picture(session.id, picture) });
  }
  return found;
}
