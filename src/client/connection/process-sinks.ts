import { ExecError } from '../../protocol/index.js';
import type { Attachment } from '../../rpc/index.js';
import { readNotification, type WireEvent } from './wire-event.js';

/** Where the events of one process go, and how it hears of what happens to the connection. */
export interface ProcessSink {
  receive(event: WireEvent): void;
  /** The connection is gone; what happens until there is one again is not told. */
  interrupted(): void;
  /** The session has a connection again. New events may have come before this. */
  resumed(): void;
  /** Nothing will come any more. */
  lost(error: ExecError): void;
}

/** The processes of a session by id. An id is taken from before its start is sent: events may come first. */
export class ProcessSinks {
  readonly #sinks = new Map<string, ProcessSink>();

  add(processId: string, sink: ProcessSink): void {
    if (this.#sinks.has(processId)) {
      throw new ExecError('processIdInUse', 'A process with this id is running.', { data: { processId } });
    }
    this.#sinks.set(processId, sink);
  }

  remove(processId: string, sink: ProcessSink): void {
    if (this.#sinks.get(processId) === sink) this.#sinks.delete(processId);
  }

  /** Hands a notification to its process. Those of processes that are over are of no interest. */
  dispatch(method: string, params: unknown, attached?: Attachment): void {
    const sink = this.#sinks.get(processIdOf(params));
    if (!sink) return;
    try {
      const event = readNotification(method, params, attached);
      if (event) sink.receive(event);
    } catch (cause) {
      sink.lost(new ExecError('protocolViolation', `A ${method} message is not understood.`, { cause }));
    }
  }

  interrupted(): void {
    for (const sink of [...this.#sinks.values()]) sink.interrupted();
  }

  resumed(): void {
    for (const sink of [...this.#sinks.values()]) sink.resumed();
  }

  lost(error: ExecError): void {
    const sinks = [...this.#sinks.values()];
    this.#sinks.clear();
    for (const sink of sinks) sink.lost(error);
  }
}

function processIdOf(params: unknown): string {
  if (typeof params !== 'object' || params === null) return '';
  const id: unknown = Reflect.get(params, 'processId');
  return typeof id === 'string' ? id : '';
}
