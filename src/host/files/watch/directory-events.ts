import { watch } from 'node:fs';
import { nameOf } from '../../kernel/index.js';
import { countEvent } from './lost-events.js';

/** Something happened to an entry of a directory, or to the directory itself. */
export interface DirectoryEvent {
  /** Null: the system did not say which entry. */
  readonly name: Buffer | null;
  /** The system uses the directory's own name for news about itself, so this may or may not be an entry. */
  readonly maybeSelf: boolean;
  /** An entry came or went, as opposed to being written to. */
  readonly listChanged: boolean;
}

/** Reports what happens in one directory until closed. Throws when the directory cannot be watched. */
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
