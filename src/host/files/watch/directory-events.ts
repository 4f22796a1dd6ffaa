import { watch } from 'node:fs';
import { nameOf } from '../../kernel/index.js';
import { countEvent } from './lost-events.js';

/** Something happened to an entry of a directory, or to the directory itself. */
export interface DirectoryEvent {
  /** Null if the system did not say which entry. */
  readonly name: Buffer | null;
  /** The system reports changes to the directory itself under its own name, so this may or may not be an entry. */
  readonly maybeSelf: boolean;
  /** An entry was added or removed, rather than written to. */
  readonly listChanged: boolean;
}

/** Reports events in one directory until closed. Throws if it cannot be watched. */
export function watchDirectory(
  path: Buffer,
  handlers: { onEvent: (event: DirectoryEvent) => void; onError: (error: Error) => void },
): { close(): void } {
  const ownName = nameOf(path);
  const watcher = watch(path, { encoding: 'buffer' }, (type, name) => {
    countEvent();
    handlers.onEvent({
      name,
      maybeSelf: name === null || name.equals(ownName),
      listChanged: type === 'rename',
    });
  });
  watcher.on('error', handlers.onError);
  return watcher;
}
