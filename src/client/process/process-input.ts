import type { WriteStatus } from '../../contract/index.js';
import type { ExecError } from '../../protocol/index.js';
import { LineWindow } from '../../rpc/index.js';
import { callWithBytes } from '../connection/bulk.js';
import type { ExecClient } from '../connection/exec-client.js';
import { WritePipeline } from './write-pipeline.js';
import { WriteQueue } from './write-queue.js';

/** Bytes in flight before anything is known about the line. */
const FIRST_WINDOW_BYTES = 256 * 1024;
/** How long input may queue on the line: small requests of the same connection wait behind it. */
const QUEUE_MS = 25;

/** The input of one process, in order. */
export interface ProcessInput {
  /** Resolves when the server has answered for these bytes. */
  write(bytes: Uint8Array): Promise<WriteStatus>;
  /** Runs a task in order behind the preceding writes. `after`: the last of those, if some are unanswered. */
  afterWrites(run: (after: string | undefined) => Promise<void>): Promise<void>;
  /** Sends what is waiting, so that whatever is sent next follows it. */
  flush(): void;
  lineChanged(): void;
  close(): void;
}

/** Input within one session. */
export interface SessionInput extends ProcessInput {
  /** Sends nothing more and fails what is waiting. False if everything was answered for. */
  abandon(error: ExecError): boolean;
}

/**
 * Several writes in flight or one at a time, depending on the server. Where a session may have had another handle on the
 * process, write ids need a prefix: the server takes those it knows for repetitions.
 */
export function openInput(
  client: ExecClient,
  { processId, idPrefix = '' }: { processId: string; idPrefix?: string | undefined },
): SessionInput {
  const { stdinWindow } = client.serverCapabilities;
  if (!stdinWindow) {
    return new WriteQueue(
      async ({ bytes, writeId }) => {
        const request = { params: { processId, writeId }, bytes };
        return (await callWithBytes(client, 'process/write', request)).status;
      },
      { idPrefix },
    );
  }
  const maxBytes = stdinWindow.windowBytes;
  return new WritePipeline({
    maxBytes,
    idPrefix,
    openWindow: () => {
      const first = Math.min(FIRST_WINDOW_BYTES, maxBytes);
      return new LineWindow(first, client.account, { maxBytes, queueMs: QUEUE_MS });
    },
    send: async ({ bytes, writeId, after }) => {
      const params = after === undefined ? { processId, writeId } : { processId, writeId, after };
      return (await callWithBytes(client, 'process/write', { params, bytes })).status;
    },
  });
}
