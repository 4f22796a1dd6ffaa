import { setMaxListeners } from 'node:events';
import { RemoteEnvironment } from '../client/index.js';
import type { Environment, ExecProcess, OutputStream, ProcessEnd, ProcessSpec } from '../contract/index.js';
import type { Fleet } from './fleet.js';

/** Machines a command runs on at a time. */
export const DEFAULT_MAX_PARALLEL = 64;
/** Unread events before the machines have to wait. */
const MAX_UNREAD = 256;

/** What happens on one of the machines. */
export type FanOutEvent =
  | { readonly machine: string; readonly type: 'started' }
  | {
      readonly machine: string;
      readonly type: 'output';
      readonly stream: OutputStream;
      readonly bytes: Uint8Array;
    }
  /** This many bytes of output were lost here. */
  | { readonly machine: string; readonly type: 'gap'; readonly lostBytes: number }
  /** The program has ended, or contact with it was lost. */
  | { readonly machine: string; readonly type: 'ended'; readonly end: ProcessEnd }
  /** It could not be started. */
  | { readonly machine: string; readonly type: 'failed'; readonly error: Error }
  /** It was not run, because another machine failed before. */
  | { readonly machine: string; readonly type: 'skipped' };

export interface FanOutOptions {
  /** What to run, or a function that starts it on a machine. */
  readonly run: ProcessSpec | ((environment: Environment) => Promise<ExecProcess>);
  /** Machines at a time. Default 64. */
  readonly maxParallel?: number;
  /** Start nothing more, and end what runs, once a machine has failed. Default false. */
  readonly failFast?: boolean;
  readonly signal?: AbortSignal;
  readonly clientName?: string;
}

/**
 * Runs a command on several machines. Output of one machine arrives in order; a slow reader slows the machines down instead of
 * using memory. A reader that stops early ends what still runs.
 */
export async function* fanOut(
  fleet: Fleet,
  machines: readonly string[],
  options: FanOutOptions,
): AsyncGenerator<FanOutEvent> {
  const { maxParallel = DEFAULT_MAX_PARALLEL, failFast = false, signal } = options;
  const over = new AbortController();
  const ended = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
  // One listener for each machine in use.
  setMaxListeners(0, ended);
  const queue = new EventQueue();
  const waiting = [...machines];
  const worker = async (): Promise<void> => {
    for (let machine = waiting.shift(); machine !== undefined; machine = waiting.shift()) {
      if (ended.aborted) await queue.push({ machine, type: 'skipped' });
      else if (!(await runOn(fleet, machine, { ...options, ended, queue })) && failFast) over.abort();
    }
  };
  const workers = Promise.all(Array.from({ length: Math.min(maxParallel, machines.length) }, worker)).finally(
    () => queue.close(),
  );
  try {
    yield* queue.read();
    await workers;
  } finally {
    over.abort();
    queue.close();
    await workers;
  }
}

/** Resolves to whether the command succeeded. */
async function runOn(
  fleet: Fleet,
  machine: string,
  options: FanOutOptions & { ended: AbortSignal; queue: EventQueue },
): Promise<boolean> {
  const { run, ended, queue, clientName = 'execwire fan-out' } = options;
  let environment: RemoteEnvironment | undefined;
  const stop = (): void => void environment?.close();
  try {
    const dial = () => fleet.dial(machine);
    environment = await RemoteEnvironment.connect({ id: machine, dial, resume: true, clientName });
    ended.addEventListener('abort', stop, { once: true });
    const child = await (typeof run === 'function' ? run(environment) : environment.start(run));
    await queue.push({ machine, type: 'started' });
    for await (const event of child.events()) {
      if (event.type === 'output')
        await queue.push({ machine, type: 'output', stream: event.stream, bytes: event.bytes });
      if (event.type === 'gap') await queue.push({ machine, type: 'gap', lostBytes: event.lostBytes });
    }
    const end = await child.wait();
    await queue.push({ machine, type: 'ended', end });
    return end.kind === 'exited' && end.exitCode === 0;
  } catch (error) {
    const reason = error instanceof Error ? error : new Error(String(error));
    await queue.push({ machine, type: 'failed', error: reason });
    return false;
  } finally {
    ended.removeEventListener('abort', stop);
    await environment?.close();
  }
}

/** Passes events on at the pace of the reader. */
class EventQueue {
  readonly #events: FanOutEvent[] = [];
  #wake = (): void => undefined;
  #room: (() => void)[] = [];
  #isClosed = false;

  async push(event: FanOutEvent): Promise<void> {
    if (this.#isClosed) return;
    this.#events.push(event);
    this.#wake();
    if (this.#events.length >= MAX_UNREAD) await new Promise<void>((resolve) => this.#room.push(resolve));
  }

  close(): void {
    this.#isClosed = true;
    this.#wake();
    for (const resume of this.#room.splice(0)) resume();
  }

  async *read(): AsyncGenerator<FanOutEvent> {
    for (;;) {
      const next = this.#events.shift();
      if (next) yield next;
      else if (this.#isClosed) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
      if (this.#events.length < MAX_UNREAD / 2) for (const resume of this.#room.splice(0)) resume();
    }
  }
}
