import type { z } from 'zod';
import {
  type ExecMethodName,
  type ExecParams,
  type ExecResult,
  execMethods,
  isExecError,
  rpcNumberOf,
} from '../../src/protocol/index.js';
import { BytesResult, memorySource } from '../../src/rpc/bytes-result.js';
import type { ConnectionContext, Notify } from '../../src/server/handlers/connection-context.js';

/** What a client would see: the result, or the number of the error. */
export type Outcome<Name extends ExecMethodName> = ExecResult<Name> | number;

const INVALID_PARAMS = -32602;

type AnyHandler = (params: never) => Promise<unknown>;

/** Calls handlers as the router does: parameters are checked first, and the result must fit its schema. */
export function createCaller<Name extends ExecMethodName>(handlers: { readonly [Key in Name]: AnyHandler }) {
  return async <Method extends Name>(
    method: Method,
    params: ExecParams<Method>,
  ): Promise<Outcome<Method>> => {
    const declared: { params: z.ZodType; result: z.ZodType } = execMethods[method];
    const parsed = declared.params.safeParse(params);
    if (!parsed.success) return INVALID_PARAMS;
    try {
      const result = await handlers[method](parsed.data as never);
      return declared.result.parse(
        result instanceof BytesResult ? await plainResult(result) : result,
      ) as ExecResult<Method>;
    } catch (error) {
      if (isExecError(error)) return rpcNumberOf(error.code);
      throw error;
    }
  };
}

/** What a client makes of a result that carries bytes. */
async function plainResult(result: BytesResult): Promise<Record<string, unknown>> {
  const pieces: Buffer[] = [];
  const source = result.bytes instanceof Uint8Array ? memorySource(result.bytes) : result.bytes;
  const piece = new Uint8Array(1024);
  for (let count = await source.read(piece); count > 0; count = await source.read(piece))
    pieces.push(Buffer.from(piece.subarray(0, count)));
  await result.close();
  return { [result.member]: Buffer.concat(pieces).toString('base64'), ...result.rest };
}

export interface RecordingContext extends ConnectionContext, Disposable {
  readonly sent: { method: string; params: unknown }[];
  /** Resolves with the next notification that fits, also one already sent. */
  waitFor(fits: (message: { method: string; params: never }) => boolean): Promise<unknown>;
  /** What `notify` returns from now on. */
  hold: (() => Promise<void>) | null;
}

/** A connection that remembers what was sent. Disposing it ends the connection. */
export function recordingContext(): RecordingContext {
  const controller = new AbortController();
  const sent: { method: string; params: unknown }[] = [];
  let wake = (): void => undefined;
  const notify: Notify = (method, params) => {
    sent.push({ method, params });
    wake();
    return context.hold?.();
  };
  const context: RecordingContext = {
    notify,
    openStream: () => ({ notify, close: () => undefined }),
    owns: () => undefined,
    watchesMissing: () => undefined,
    unsentBytes: () => 0,
    signal: controller.signal,
    sent,
    hold: null,
    waitFor: async (fits) => {
      for (;;) {
        const found = sent.find((message) => fits(message as { method: string; params: never }));
        if (found !== undefined) return found.params;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    [Symbol.dispose]: () => controller.abort(),
  };
  return context;
}
