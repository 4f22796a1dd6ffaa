import { ExecError, type ExecParsedParams } from '../protocol/index.js';

/** Policy questions about hosts name the process. Codex limits that id to this length. */
const MAX_ASKED_ID_BYTES = 256;

/**
 * Telling hosts apart takes a proxy, and this server has none. A start that relies on one is refused: a process with an
 * unsupervised network is worse than no process. `managedNetwork` alone requires nothing on Linux.
 */
export function refuseManagedNetwork(params: ExecParsedParams<'process/start'>): void {
  const { enforceManagedNetwork, networkProxy, processId } = params;
  if (!enforceManagedNetwork && networkProxy == null) return;
  if (networkProxy?.policyDecisionTimeoutMs != null && !isAddressable(processId))
    throw new ExecError(
      'invalidParams',
      `params.processId: 1 to ${MAX_ASKED_ID_BYTES} bytes are needed here`,
    );
  throw new ExecError(
    'sandboxUnavailable',
    'This server cannot manage the network of a process, so nothing was run. Start it without a network proxy and ' +
      'with `network: "restricted"` in its permissions.',
    { data: { reason: 'managedNetwork', hint: 'Switch the network proxy off, or restrict the network.' } },
  );
}

function isAddressable(processId: string): boolean {
  return processId !== '' && Buffer.byteLength(processId) <= MAX_ASKED_ID_BYTES;
}
