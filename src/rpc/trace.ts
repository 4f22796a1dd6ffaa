import { isExecError } from '../protocol/errors.js';

/** As W3C Trace Context has it: version, trace, the caller's part of it, flags. */
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/** The number of the trace a request belongs to; undefined if it names none that could be one. */
export function traceIdOf(trace: unknown): string | undefined {
  if (typeof trace !== 'object' || trace === null) return undefined;
  const parent: unknown = Reflect.get(trace, 'traceparent');
  const id = typeof parent === 'string' ? TRACEPARENT.exec(parent)?.[1] : undefined;
  return id === undefined || /^0+$/.test(id) ? undefined : id;
}

/** An unknown method may be any text. */
const MAX_METHOD_CHARACTERS = 100;

/** What is told of a request that is part of a trace. Never its parameters. */
export interface TraceLog {
  debug(details: Record<string, unknown>, message: string): void;
}

/** Runs a request and tells the log how it went, under the number of its trace. */
export function traced(
  { log, method, ...details }: { log: TraceLog; connection: string; method: string; trace: string },
  run: () => unknown,
): unknown {
  const startedAt = performance.now();
  const tell = (how: { code?: string }): void =>
    log.debug(
      {
        ...details,
        method: method.slice(0, MAX_METHOD_CHARACTERS),
        ...how,
        ms: Math.round(performance.now() - startedAt),
      },
      'request answered',
    );
  const failed = (error: unknown): never => {
    tell({ code: isExecError(error) ? error.code : 'internalError' });
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
      tell({});
      return result;
    }, failed);
  tell({});
  return outcome;
}
