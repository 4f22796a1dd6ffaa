import type { Terminal } from '@xterm/xterm';
import { attempt } from '../lib/toasts.js';

/**
 * What is selected is copied with the usual keys, Ctrl-C or Ctrl-Shift-C. Without a selection, Ctrl-C is for the program. Returns
 * whether the event is none of the terminal's business.
 */
export function copiesSelection(terminal: Terminal, event: KeyboardEvent): boolean {
  if (event.key.toLowerCase() !== 'c' || !event.ctrlKey || event.altKey || event.metaKey) return false;
  if (!event.shiftKey && !terminal.hasSelection()) return false;
  if (event.type === 'keydown') {
    event.preventDefault();
    const text = terminal.getSelection();
    if (text !== '') void attempt(() => navigator.clipboard.writeText(text));
    terminal.clearSelection();
  }
  return true;
}

/**
 * Text that no key stands for, as from a picker of emoji. With its support for screen readers, the terminal leaves that out, since
 * it cannot tell it from the echo of keys.
 */
export function takeTextWithoutKeys(terminal: Terminal): void {
  const { textarea } = terminal;
  let isKeyDown = false;
  textarea?.addEventListener('keydown', () => (isKeyDown = true));
  textarea?.addEventListener('keyup', () => (isKeyDown = false));
  textarea?.addEventListener('input', (event) => {
    if (!(event instanceof InputEvent) || event.inputType !== 'insertText') return;
    if (!isKeyDown && !event.isComposing && event.data) terminal.input(event.data);
  });
}
