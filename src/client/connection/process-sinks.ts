import { ExecError } from '../../protocol/index.js';
import type { Attachment } from '../../rpc/index.js';
import { readNotification, type WireEvent } from './wire-event.js';

/** Receives the events of one process and changes of its connection. */
export interface ProcessSink {
  receive(event: WireEvent): void;
  /** The connection is lost. Events until it is restored are not delivered. */
  interrupted(): void;
  /** The session is connected again. New events may already have arrived. */
  resumed(): void;
  /** The server has forgotten the session: no more events will arrive in it. */
  forgotten(error: ExecError): void;
  /** No more events will arrive. */
  lost(error: ExecError): void;
}

/** The processes of a session by id. An id is registered before its start is sent, because events may arrive first. */
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

  /** Delivers a notification to its process. Notifications for processes that have ended are ignored. */
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

  forgotten(error: ExecError): void {
    for (const sink of [...this.#sinks.values()]) sink.forgotten(error);
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
