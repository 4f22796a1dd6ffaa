import { ExecError } from '../protocol/errors.js';
import type { RawId } from './message.js';
import { after } from '../protocol/max-timer.js';

/** How long a call may take. */
export interface CallDeadline {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

interface PendingCall {
  resolve(result: unknown): void;
  reject(error: ExecError): void;
}

/** Calls awaiting their answer, by id. */
export class PendingCalls {
  readonly #calls = new Map<RawId, PendingCall>();

  get size(): number {
    return this.#calls.size;
  }

  /** Rejects with `requestTimeout` or `aborted` if the time is up or the signal fires first. */
  wait(id: RawId, method: string, { timeoutMs, signal }: CallDeadline): Promise<unknown> {
    return new Promise<unknown>((resolve, reject) => {
      const cleanUp = (): void => {
        stop?.();
        signal?.removeEventListener('abort', abort);
        this.#calls.delete(id);
      };
      const fail = (error: ExecError): void => {
        cleanUp();
        reject(error);
      };
      const abort = (): void => fail(new ExecError('aborted', `${method} was given up.`));
      const late = (): void =>
        fail(new ExecError('requestTimeout', `No answer to ${method} within ${timeoutMs} ms.`));
      const stop = timeoutMs === undefined ? undefined : after(timeoutMs, late);
      signal?.addEventListener('abort', abort, { once: true });
      this.#calls.set(id, {
        resolve: (result) => {
          cleanUp();
          resolve(result);
        },
        reject: fail,
      });
    });
  }

  get(id: RawId): PendingCall | undefined {
    return this.#calls.get(id);
  }

  /** No more answers will arrive. */
  rejectAll(error: ExecError): void {
    for (const call of [...this.#calls.values()]) call.reject(error);
  }
}
