import { holdFiles, machineUsage, noChanges, type OwnedChanges } from '../../host/index.js';
import type { ExecMethods } from '../../protocol/index.js';
import type { Handlers } from '../../rpc/index.js';
import type { ConnectionOptions } from '../connection-options.js';
import { environmentInfo, sandboxSummary } from '../environment-info.js';
import { keptBy } from '../kept-by.js';
import type { Session } from '../session.js';
import { keptByShare } from '../shared-view.js';
import type { ConnectionContext } from './connection-context.js';
import { changesHandlers } from './changes-handlers.js';
import { discoveryHandlers } from './discovery-handlers.js';
import { fileHandlers } from './files-handlers.js';
import { httpHandlers } from './http-handlers.js';
import { portHandlers } from '../ports/port-handlers.js';
import type { ProcessContext } from './process-context.js';
import { processHandlers } from './process-handlers.js';
import { upgradeHandlers } from './upgrade-handlers.js';

interface Attached {
  /** The session of the connection. Throws if it has none. */
  readonly session: () => Session;
  readonly context: ConnectionContext;
}

/** Everything a client can ask for once it has a session. */
export function sessionHandlers(
  options: ConnectionOptions,
  { session, context }: Attached,
): Omit<Handlers<ExecMethods>, 'initialize'> {
  const { garbage, changes } = options;
  const owned = (): OwnedChanges => {
    const found = session().changes;
    if (!found) throw noChanges();
    return found;
  };
  const files = options.files.withChanges(async (sandbox) => await holdFiles(owned(), sandbox));
  const processes = processContext(options, { session, context });
  return {
    'environment/info': async () => ({
      ...(await environmentInfo(options)),
      sandbox: await sandboxSummary(changes),
    }),
    'environment/status': () => ({ status: 'ready' }),
    'environment/usage': () => machineUsage(),
    ...upgradeHandlers(options.upgrades),
    ...processHandlers(processes),
    ...fileHandlers({ ...context, files, garbage }),
    ...discoveryHandlers({ files }),
    ...httpHandlers(context),
    ...changesHandlers(owned),
    ...portHandlers(processes, context),
  };
}

function processContext(options: ConnectionOptions, { session, context }: Attached): ProcessContext {
  const { sessions, principal, share, shares, spool, durable, peer, observe } = options;
  const keep = keptBy(sessions.keep, share?.owner ?? principal);
  return {
    session,
    sessions,
    keep: share ? keptByShare(keep, share) : keep,
    principal,
    shares,
    share,
    peer,
    observe,
    // What is on disk belongs to the owner.
    spool: share ? null : spool,
    durable,
    gone: context.signal,
  };
}
