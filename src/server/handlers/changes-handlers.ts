import type { HeldChange } from '../../contract/index.js';
import type { OwnedChanges } from '../../host/index.js';
import { encodeBase64, type ExecMethodName, fileUri } from '../../protocol/index.js';
import type { Handlers } from './connection-context.js';
import { wirePath } from './wire-path.js';

type ChangesMethodName = Extract<ExecMethodName, `changes/${string}`>;

/** The `changes/*` methods: what a client's programs have changed under policies that hold changes. */
export function changesHandlers(changes: () => OwnedChanges): Handlers<ChangesMethodName> {
  return {
    'changes/sets': async () => ({
      sets: changes()
        .list()
        .map((set) => ({ ...set, roots: set.roots.map((path) => fileUri(path)) })),
    }),
    'changes/list': async ({ changesId, glob, limit, cursor }) => {
      const page = await changes()
        .get(changesId)
        .list({
          ...(glob == null ? {} : { glob }),
          ...(limit == null ? {} : { limit }),
          cursor: cursor ?? null,
        });
      return { ...page, changes: page.changes.map(onWire) };
    },
    'changes/read': async ({ changesId, path, side, offset, maxBytes }) => {
      const options = { side, offset: offset ?? 0, ...(maxBytes == null ? {} : { maxBytes }) };
      const { bytes, size, eof } = await changes().get(changesId).read(wirePath(path), options);
      return { dataBase64: encodeBase64(bytes), size, eof };
    },
    'changes/diff': async ({ changesId, paths, contextLines, maxBytes, cursor }) => {
      const page = await changes()
        .get(changesId)
        .diff({
          ...pathsOf(paths),
          ...(contextLines == null ? {} : { contextLines }),
          ...(maxBytes == null ? {} : { maxBytes }),
          cursor: cursor ?? null,
        });
      return { ...page, diffs: page.diffs.map((diff) => ({ ...diff, path: fileUri(diff.path) })) };
    },
    'changes/apply': async ({ changesId, paths, onConflict }) => {
      const options = { ...pathsOf(paths), onConflict: onConflict ?? 'refuse' };
      const { applied, conflicts } = await changes().get(changesId).apply(options);
      return { applied, conflicts: conflicts.map(onWire) };
    },
    'changes/discard': async ({ changesId }) => {
      await changes().get(changesId).discard();
      return {};
    },
  };
}

function onWire(change: HeldChange): HeldChange {
  return { ...change, path: fileUri(change.path) };
}

function pathsOf(paths: readonly string[] | null | undefined): { paths?: readonly string[] } {
  return paths == null ? {} : { paths: paths.map(wirePath) };
}
