// A view is what fills the main part of the page.
import type { About, TurnRow } from './api.ts';
import type { OpenSession } from './session.ts';

export interface KeyHint {
  keys: string[];
  does: string;
}

export interface View {
  element: HTMLElement;
  /** For the title of the page. */
  title: string;
  /** Keys of this view, by `KeyboardEvent.key`; with Shift as `Shift+D`. */
  keys?: Record<string, (event: KeyboardEvent) => void>;
  hints?: KeyHint[];
  /** What stands at the right of the tabs. */
  context?: Node[];
  /** Rows came or changed. */
  turnsChanged?: (rows: TurnRow[]) => void;
  /** Choices or sums changed. */
  factsChanged?: () => void;
  /** Called after the view is in the document. */
  placed?: () => void;
  close?: () => void;
}

/** What every view of a session needs. */
export interface Context {
  about: About;
  session: OpenSession;
  main: HTMLElement;
  /** The turn that the other tabs open. */
  turn: number;
  /** Turn that was marked to be compared. */
  marked: number | null;
  say: (text: string) => void;
  /** Shows the route again, with fresh data. */
  reload: () => void;
}
