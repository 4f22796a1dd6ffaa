import { join } from 'node:path';
import type { ChangeSet } from '../contract/index.js';
import type { OwnedChanges } from '../host/index.js';
import { homeDirectory } from '../protocol/home-directory.js';

/** All programs of this user that use the machine without a server find the same kept sets. */
export const LOCAL_CLIENT = 'local';

export function defaultChangesDirectory({ XDG_STATE_HOME } = process.env): string {
  return join(XDG_STATE_HOME || join(homeDirectory(), '.local', 'state'), 'execwire', 'changes');
}

/** Looks the set up anew with every call: it may be made, or discarded, in between. */
export function localChangeSet(changes: OwnedChanges, changesId: string): ChangeSet {
  const set = (): ChangeSet => changes.get(changesId);
  return {
    changesId,
    list: async (options) => await set().list(options),
    read: async (path, options) => await set().read(path, options),
    diff: async (options) => await set().diff(options),
    apply: async (options) => await set().apply(options),
    discard: async () => await set().discard(),
  };
}
