import { type AttachOptions, nothingKept } from '../../contract/index.js';
import type { ExecClient } from '../connection/exec-client.js';
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
  const process = new RemoteProcess({
    client,
    processId,
    spec: { argv: [], lease: 'kept' },
    mayPause: options.mayPause,
    writePrefix: `${typeableId()}-`,
  });
  // Registered before the request leaves: its output may arrive together with the answer.
  client.processes.add(processId, process.feed);
  try {
    const answer = await client.call(
      'process/attach',
      { processId, ...options, fromEnd: options.fromEnd ?? false },
      { sameSession: true },
    );
    process.attached(answer);
    return process;
  } catch (error) {
    client.processes.remove(processId, process.feed);
    throw error;
  }
}
