import type { HistoryPage, HistoryRequest, SignalName } from '../../contract/index.js';
import { decodeBase64 } from '../../protocol/base64.js';
import type { ExecClient } from '../connection/exec-client.js';
import { unsupported } from '../connection/remote-errors.js';

/** How long an answer may take beyond the wait that was asked for. */
const ANSWER_MS = 60_000;

/** Asks the server for a piece of the history of a process. */
export async function readHistory(
  client: ExecClient,
  processId: string,
  { position, maxBytes, waitMs = 0 }: HistoryRequest,
): Promise<HistoryPage> {
  if (!client.introduced) await client.ready();
  if (!client.serverCapabilities.history) throw unsupported('a history of what processes print');
  const { events, end, ...page } = await client.call(
    'process/history',
    {
      processId,
      ...(position === undefined ? {} : { position }),
      ...(maxBytes === undefined ? {} : { maxBytes }),
      ...(waitMs === 0 ? {} : { waitMs }),
    },
    { timeoutMs: waitMs + ANSWER_MS },
  );
  return {
    ...page,
    // Servers send names of signals here and nothing else.
    end: end && { ...end, signal: end.signal as SignalName | null },
    events: events.map((event) => {
      if (event.type !== 'output') return event;
      const { chunk, ...rest } = event;
      return { ...rest, bytes: decodeBase64(chunk, 'protocolViolation') };
    }),
  };
}
