import type { RemoteEnvironment } from '../../client/index.js';
import type { HistoryEntry } from '../../contract/index.js';
import { ExecError, isExecError } from '../../protocol/errors.js';
import type { RecordingFormat } from '../../recording/index.js';
import { write } from '../terminal/print-output.js';
import { findKept } from './kept.js';

/** Prints what a process did as a recording. */
export async function exportLog(
  server: RemoteEnvironment,
  id: string,
  { format, follow }: { readonly format: RecordingFormat; readonly follow: boolean },
): Promise<void> {
  if (follow && !format.startsWith('asciicast'))
    throw new ExecError('invalidConfiguration', `--follow cannot be used with --format ${format}.`);
  const { historyCues, render } = await import('../../recording/index.js');
  const history = await recordedHistory(server, id, { follow });
  await printPieces(render(historyCues(history), format));
}

/** Prints text at the pace of its reader, until it cannot be written. */
export async function printPieces(pieces: AsyncIterable<string>): Promise<void> {
  for await (const piece of pieces) {
    const isRead = await write(process.stdout, piece).then(
      () => true,
      () => false,
    );
    if (!isRead) return;
  }
}

/** The history of a kept process, or of one that the server has forgotten. */
export async function recordedHistory(
  server: RemoteEnvironment,
  id: string,
  { follow }: { readonly follow: boolean },
): Promise<AsyncIterable<HistoryEntry>> {
  try {
    const { processId } = findKept(await server.kept(), id);
    const child = await server.attach(processId, { mayPause: false, fromEnd: true });
    return child.history({ follow });
  } catch (error) {
    if (!isExecError(error, 'processNotFound')) throw error;
    const stored = server.storedHistory(id);
    const first = await stored.next().catch((cause: unknown) => {
      throw isExecError(cause, 'processNotFound') ? error : cause;
    });
    return withFirst(first, stored);
  }
}

async function* withFirst(
  first: IteratorResult<HistoryEntry, void>,
  rest: AsyncGenerator<HistoryEntry, void>,
): AsyncGenerator<HistoryEntry, void> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}
