import { abandonStart, type LocalProcessSpec } from '../host/index.js';
import { ExecError, type Lease, type Sandbox } from '../protocol/index.js';
import type { Keep } from './keep.js';
import type { KeptSpec } from './kept-room.js';
import type { KeptProcess } from './kept-process.js';

/** The kept processes of one client. */
export interface ClientKeep {
  find(processId: string): KeptProcess | undefined;
  /** Like `find`, but throws if there is none, or nothing can be kept here. */
  get(processId: string): KeptProcess;
  all(): KeptProcess[];
  /** Whose tree this is; undefined if it belongs to none of them. */
  ownerOf(treeId: number): string | null | undefined;
  start(spec: LocalProcessSpec, lease: Lease): KeptProcess;
  startConfined(spec: LocalProcessSpec, options: { lease: Lease; sandbox: Sandbox }): Promise<KeptProcess>;
}

/** The kept processes as one client sees them. A server that ends with its client has none. */
export function keptBy(keep: Keep, principal: string | undefined): ClientKeep {
  const whose = (): string => {
    if (principal !== undefined) return principal;
    throw new ExecError(
      'leasesUnavailable',
      'This server ends with its client, so nothing can outlive it. Use one started with `execwire serve`.',
    );
  };
  const whoStarts = (spec: LocalProcessSpec): string => {
    if (principal === undefined) abandonStart(spec);
    return whose();
  };
  const get = (processId: string): KeptProcess => {
    const kept = keep.find(whose(), processId);
    if (kept) return kept;
    throw new ExecError('processNotFound', 'unknown process id', { data: { processId } });
  };
  return {
    get,
    find: (processId) => (principal === undefined ? undefined : keep.find(principal, processId)),
    all: () => (principal === undefined ? [] : keep.all(principal)),
    ownerOf: (treeId) => (principal === undefined ? undefined : keep.ownerOf(principal, treeId)),
    start: (spec, lease) => keep.start(whoStarts(spec), named(spec), lease),
    startConfined: (spec, options) => keep.startConfined(whoStarts(spec), named(spec), options),
  };
}

function named(spec: LocalProcessSpec): KeptSpec {
  return { ...spec, processId: spec.processId ?? '' };
}
