import { go, route } from './router.js';
import { Store } from './store.js';
import { tell } from './toasts.js';

/** A recording that somebody has dropped on the page, until it is played. */
export const dropped = new Store<File | null>(null);

/** Plays recordings wherever they are dropped. Without this, the browser would leave the page for the file. */
export function takeRecordings(): () => void {
  const over = (event: DragEvent): void => event.preventDefault();
  const drop = (event: DragEvent): void => {
    // A view may have use for it.
    if (event.defaultPrevented) return;
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    if (route.value.view !== 'player' && !file.name.endsWith('.cast'))
      return tell('Recordings can be dropped here, and other files under Files.');
    dropped.set(file);
    go({ view: 'player' });
  };
  addEventListener('dragover', over);
  addEventListener('drop', drop);
  return () => {
    removeEventListener('dragover', over);
    removeEventListener('drop', drop);
  };
}
