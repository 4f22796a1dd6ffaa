import type { HistoryPage, HistoryRequest } from '../../contract/index.js';
import type { LocalProcess } from '../../host/index.js';
import { encodeBase64, type ExecParsedParams, type ExecResult } from '../../protocol/index.js';
import type { LargeAnswer } from '../../rpc/index.js';
import type { StoredLog } from '../../spool/index.js';
import { outputAnswer } from './output-answer.js';

type Params = ExecParsedParams<'process/history'>;
type Result = ExecResult<'process/history'>;

/** The history of a process the session knows. */
export function history({ log }: LocalProcess, params: Params): LargeAnswer<Result> {
  const request = requestOf(params);
  const read = (): Result => onWire(log.history(request));
  return outputAnswer(read, {
    bytes: () => Math.min(params.maxBytes ?? Number.POSITIVE_INFINITY, log.totalBytes),
    due: params.waitMs ? log.historyNews(request) : undefined,
  });
}

/** The history of a process that is only on disk. Nothing new can come. */
export function storedHistory(log: StoredLog, params: Params): LargeAnswer<Result> {
  const read = (): Result => {
    try {
      return onWire(log.history(requestOf(params)));
    } finally {
      log.close();
    }
  };
  return outputAnswer(read, { bytes: () => params.maxBytes ?? Number.POSITIVE_INFINITY });
}

function requestOf({ position, maxBytes, waitMs }: Params): HistoryRequest {
  return {
    position: position ?? undefined,
    maxBytes: maxBytes ?? undefined,
    waitMs: waitMs ?? undefined,
  };
}

function onWire({ events, ...page }: HistoryPage): Result {
  return {
    ...page,
    events: events.map((event) => {
      if (event.type !== 'output') return event;
      const { bytes, ...rest } = event;
      return { ...rest, chunk: encodeBase64(bytes) };
    }),
  };
}
