import { type AttachOptions, nothingKept } from '../../contract/index.js';
import type { ExecClient } from '../connection/exec-client.js';
import { unsupported } from '../connection/remote-errors.js';
import { attachParams } from './attachment.js';
import { RemoteProcess } from './remote-process.js';
import { typeableId } from './typeable-id.js';

/** Makes a process that the server keeps usable here. */
export async function attachProcess(
  client: ExecClient,
  processId: string,
  options: AttachOptions,
): Promise<RemoteProcess> {
  await client.ready();
  if (!client.serverCapabilities.leases) throw nothingKept();
  const { keyboard, tail, screen } = options;
  // A server that ignores `view` would let us type.
  if ((keyboard ?? tail ?? screen) !== undefined && !client.serverCapabilities.viewers)
    throw unsupported('screens and viewers');
  if (options.sessionId !== undefined && !client.serverCapabilities.sessionViewers)
    throw unsupported('a view of the processes of other sessions');
  const process = new RemoteProcess({
    client,
    processId,
    spec: { argv: [], lease: 'kept' },
    attach: options,
    writePrefix: `${typeableId()}-`,
  });
  // Registered before the request leaves: its output may arrive together with the answer.
  client.processes.add(processId, process.feed);
  const attaching = process.attaching();
  try {
    const answer = await client.call('process/attach', attachParams(processId, options), {
      sameSession: true,
    });
    attaching.confirmed(answer);
    return process;
  } catch (error) {
    client.processes.remove(processId, process.feed);
    attaching.failed();
    throw error;
  }
}
