import { isExecError } from '../protocol/errors.js';

/** W3C Trace Context: version, trace id, parent id, flags. */
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/** The id of the trace a request belongs to; undefined if there is no valid one. */
export function traceIdOf(trace: unknown): string | undefined {
  if (typeof trace !== 'object' || trace === null) return undefined;
  const parent: unknown = Reflect.get(trace, 'traceparent');
  const id = typeof parent === 'string' ? TRACEPARENT.exec(parent)?.[1] : undefined;
  return id === undefined || /^0+$/.test(id) ? undefined : id;
}

/** An unknown method may be arbitrary text. */
const MAX_METHOD_CHARACTERS = 100;

/** Receives one entry per traced request. Never its parameters. */
export interface TraceLog {
  debug(details: Record<string, unknown>, message: string): void;
}

/** Runs a request and logs its outcome under its trace id. */
export function traced(
  { log, method, ...details }: { log: TraceLog; connection: string; method: string; trace: string },
  run: () => unknown,
): unknown {
  const startedAt = performance.now();
  const report = (outcome: { code?: string }): void =>
    log.debug(
      {
        ...details,
        method: method.slice(0, MAX_METHOD_CHARACTERS),
        ...outcome,
        ms: Math.round(performance.now() - startedAt),
      },
      'request answered',
    );
  const failed = (error: unknown): never => {
    report({ code: isExecError(error) ? error.code : 'internalError' });
    throw error;
  };
  let outcome: unknown;
  try {
    outcome = run();
  } catch (error) {
    return failed(error);
  }
  if (outcome instanceof Promise)
    return outcome.then((result: unknown) => {
      report({});
      return result;
    }, failed);
  report({});
  return outcome;
}
