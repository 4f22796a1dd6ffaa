import type { LocalProcess } from '../../host/index.js';
import type { PushPosition } from '../durable/records.js';
import { OutputPusher, type PusherOptions, type PushTarget } from '../push/output-pusher.js';

/** Pushes the output of a session's processes to its client, whichever connection that has at the moment. */
export class Pushers {
  readonly #options: Pick<PusherOptions, 'acknowledged' | 'windowBytes'>;
  readonly #pushers = new Map<string, OutputPusher>();
  #target: PushTarget | undefined;

  constructor(options: Pick<PusherOptions, 'acknowledged' | 'windowBytes'>) {
    this.#options = options;
  }

  /** From here on the output is kept for the client. Nothing is pushed before `begin`. */
  open(process: LocalProcess, from: Omit<PusherOptions, 'acknowledged' | 'windowBytes'> = {}): OutputPusher {
    return new OutputPusher(process, { ...this.#options, ...from });
  }

  begin(processId: string, pusher: OutputPusher): void {
    this.#pushers.set(processId, pusher);
    if (this.#target) pusher.begin(this.#target);
    else pusher.detach();
  }

  /** Like `begin`, in the next turn of the event loop, unless the process is forgotten or pushed anew by then. */
  beginSoon(processId: string, pusher: OutputPusher): void {
    this.#pushers.set(processId, pusher);
    setImmediate(() => {
      if (this.#pushers.get(processId) === pusher) this.begin(processId, pusher);
    });
  }

  attach(target: PushTarget): void {
    this.#target = target;
    for (const pusher of this.#pushers.values()) pusher.attach(target);
  }

  /** Continues on a connection from another server, which had sent this much of each process. */
  continueWith(target: PushTarget, positions: Readonly<Record<string, PushPosition>>): void {
    this.#target = target;
    for (const [processId, pusher] of this.#pushers) {
      const reached = positions[processId];
      if (reached) pusher.continueAt(target, reached);
      else pusher.attach(target);
    }
  }

  /** How far the client has got, by process. */
  positions(): Record<string, PushPosition> {
    return Object.fromEntries([...this.#pushers].map(([processId, pusher]) => [processId, pusher.progress]));
  }

  detach(): void {
    this.#target = undefined;
    for (const pusher of this.#pushers.values()) pusher.detach();
  }

  acknowledge(processId: string, seq: number): void {
    this.#pushers.get(processId)?.acknowledge(seq);
  }

  forget(processId: string): void {
    this.#pushers.get(processId)?.close();
    this.#pushers.delete(processId);
  }

  close(): void {
    for (const pusher of this.#pushers.values()) pusher.close();
    this.#pushers.clear();
  }
}
