import { ExecError, execMethods, type MethodTable } from '../protocol/index.js';
import type { ClientKeep } from './kept-by.js';
import type { KeptProcess } from './kept-process.js';
import type { Share } from './shares.js';

/** By any name. */
const methods: MethodTable = execMethods;

/**
 * What the bearer of a share learns about the machine: nothing that distinguishes it from others. Clients would ask if this were
 * missing.
 */
export const UNKNOWN_MACHINE = { shell: { name: 'sh', path: '/bin/sh' } };

/** Clients that view by one share at a time. Its bearer must not fill the server. */
const MAX_VIEWERS = 128;

/** Throws if the limit on viewers has been reached. */
export function requireRoomToView(viewers: number): void {
  if (viewers >= MAX_VIEWERS)
    throw new ExecError('tooManySessions', `A share has room for ${MAX_VIEWERS} viewers at a time.`);
}

/** Throws unless the bearer of a share may do this. */
export function requireViewing(share: Share, method: string, params: unknown): void {
  if (!Object.hasOwn(methods, method) || methods[method]?.viewing !== 'process')
    throw new ExecError('viewOnly', 'A share can only view its process. Use the server’s token for more.');
  if (method === 'initialize' || method === 'process/list') return;
  const processId: unknown = Reflect.get(Object(params) as object, 'processId');
  // As if nothing else were there.
  if (typeof processId === 'string' && processId !== share.processId)
    throw new ExecError('processNotFound', 'unknown process id', { data: { processId } });
}

/** The one process that the bearer of a share sees. */
export function keptByShare(keep: ClientKeep, share: Share): ClientKeep {
  const nothing = (): never => {
    throw new ExecError('viewOnly', 'A share can only view its process.');
  };
  const isShared = (kept: KeptProcess | undefined): boolean => kept?.process === share.process;
  const find: ClientKeep['find'] = (id) => {
    const kept = keep.find(id);
    return isShared(kept) ? kept : undefined;
  };
  return {
    find,
    get: (processId) => {
      const kept = find(processId);
      if (kept) return kept;
      throw new ExecError('processNotFound', 'unknown process id', { data: { processId } });
    },
    all: () => keep.all().filter(isShared),
    ownerOf: () => undefined,
    start: nothing,
    startConfined: async () => nothing(),
  };
}
