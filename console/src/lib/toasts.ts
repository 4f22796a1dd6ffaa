import { messageOf } from './errors.js';
import { Store } from './store.js';

export interface Toast {
  readonly id: number;
  readonly kind: 'info' | 'error';
  readonly text: string;
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
}

const SHOWN_MS = 6_000;
const MAX_TOASTS = 4;
let newest = 0;

export const toasts = new Store<readonly Toast[]>([]);

export function tell(text: string, options: Partial<Pick<Toast, 'kind' | 'action'>> = {}): void {
  newest += 1;
  const id = newest;
  const { kind = 'info', action } = options;
  toasts.update((all) => [...all, { id, kind, text, action }].slice(-MAX_TOASTS));
  setTimeout(() => dismiss(id), action ? 2 * SHOWN_MS : SHOWN_MS);
}

export function dismiss(id: number): void {
  toasts.update((all) => all.filter((toast) => toast.id !== id));
}

/** Runs something and tells if it fails. */
export async function attempt(task: () => Promise<unknown>): Promise<boolean> {
  try {
    await task();
    return true;
  } catch (error) {
    tell(messageOf(error), { kind: 'error' });
    return false;
  }
}
