import { join, resolve } from 'node:path';
import { hostCapabilities } from '../../host/index.js';
import { becomeKeeper, KeeperLink, lockFile, takeKeeperFacts } from '../../keeper/index.js';
import { ExecError, isExecError } from '../../protocol/errors.js';
import type { ServeOptions } from '../../server/index.js';
import { requirePrivateDirectory, writerOf } from '../../spool/index.js';
import { parseListenAddress } from '../../transport/index.js';
import { requireFit, successionOf } from './succession.js';

export interface DurableFlags {
  readonly durable?: string;
  readonly listen: string[];
  readonly spool?: string;
}

type DurableOptions = NonNullable<ServeOptions['durable']>;

/** A server whose programs outlive it. */
export interface DurableServer {
  /** Whether it is the first of its keeper. */
  readonly isFirst: boolean;
  /**
   * Call when nothing can go wrong any more but for what the server before has left. A successor waits here until that
   * server is gone.
   */
  takeOver(): DurableOptions;
  /** It cannot be used, and exits. */
  failed(error: unknown): void;
  /** It can be used. */
  ready(): void;
}

/**
 * Null without `--durable`. With it, the first call turns this process into the keeper, which starts a server that gets
 * here again.
 */
export function durableFromFlags(flags: DurableFlags): DurableServer | null {
  const { durable, listen } = flags;
  if (durable === undefined) return null;
  const directory = resolve(durable);
  const facts = takeKeeperFacts(process.env);
  requirePossible(flags);
  if (!facts)
    throw new ExecError(
      'invalidConfiguration',
      `The keeper of --durable cannot be started (${becomeKeeper()}).`,
    );
  const keeper = new KeeperLink(facts);
  const isFirst = facts.generation === 1;
  const { predecessor } = facts;
  return {
    isFirst,
    takeOver: () => {
      if (predecessor) {
        requireFit({ directory, listen }, facts);
        keeper.prepared();
      }
      keeper.inherit();
      takeDirectory(directory);
      return {
        directory,
        keeper,
        isFirst,
        passedSockets: facts.passedSockets,
        caretaker: writerOf(process.ppid),
        succession: successionOf(keeper, { directory, listen }),
      };
    },
    failed: (error) => {
      if (predecessor) keeper.unfit(error instanceof Error ? error.message : String(error));
    },
    ready: () => {
      keeper.listen();
      keeper.ready();
    },
  };
}

/** One keeper at a time: another one would continue what this one runs. */
function takeDirectory(directory: string): void {
  try {
    requirePrivateDirectory(directory);
  } catch (cause) {
    if (!isExecError(cause, 'spoolUnavailable')) throw cause;
    const message = 'The directory given with --durable must be one that only you can write to.';
    throw new ExecError('invalidConfiguration', message, { cause });
  }
  if (!lockFile(join(directory, 'lock')))
    throw new ExecError('invalidConfiguration', 'Another server uses the directory given with --durable.');
}

function requirePossible({ listen, spool }: DurableFlags): void {
  if (spool === 'off')
    throw new ExecError('invalidConfiguration', '--durable keeps output on disk. Remove --spool off.');
  if (listen.some((text) => parseListenAddress(text).kind === 'stdio'))
    throw new ExecError(
      'invalidConfiguration',
      'A client on stdio ends with its server. Use --durable with ws:// or unix:// addresses.',
    );
  const { backend, lineage } = hostCapabilities();
  if (backend !== 'posixSpawn' || lineage !== 'mark')
    throw new ExecError('invalidConfiguration', '--durable needs Linux with glibc. See `execwire doctor`.');
}
