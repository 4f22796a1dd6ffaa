import { ExecError } from '../protocol/errors.js';
import type { SandboxType } from '../protocol/index.js';
import {
  entriesOf,
  type HistoryEntry,
  type HistoryOptions,
  type HistoryPage,
  type HistoryRequest,
} from './history.js';
import type { LinesPage, LinesRequest, OutputMatches, OutputSearch } from './process-lines.js';
import type { ExecProcess, ReadRequest, ReadResult, WriteStatus } from './process.js';
import type { OutputStream, ProcessEnd, ProcessEvent, SignalName, TerminalSize } from './process-event.js';

/** Everything that can be derived from the events of a process, the same for every kind of machine. */
export abstract class ProcessHandle implements ExecProcess {
  abstract readonly processId: string;
  abstract readonly tty: boolean;
  abstract readonly sandboxType: SandboxType;

  abstract events(options?: { afterSeq?: number }): AsyncIterableIterator<ProcessEvent>;
  abstract read(request?: ReadRequest): Promise<ReadResult>;
  abstract search(request: OutputSearch): Promise<OutputMatches>;
  abstract readLines(request?: LinesRequest): Promise<LinesPage>;
  abstract write(data: Uint8Array | string): Promise<WriteStatus>;
  abstract closeStdin(): Promise<void>;
  abstract resize(size: TerminalSize): Promise<void>;
  abstract signal(signal: SignalName): Promise<void>;
  abstract terminate(options?: { graceMs?: number }): Promise<boolean>;
  abstract wait(): Promise<ProcessEnd>;

  /** A piece of its history. */
  protected async historyPage(_request: HistoryRequest): Promise<HistoryPage> {
    throw new ExecError('unsupported', 'No process history is kept here.');
  }

  history(options?: HistoryOptions): AsyncIterableIterator<HistoryEntry> {
    return entriesOf((request) => this.historyPage(request), options);
  }

  async detach(): Promise<void> {
    throw new ExecError(
      'unsupported',
      'This process ends with its environment. Start it with a `lease` on a server to detach from it.',
    );
  }

  get stdout(): ReadableStream<Uint8Array> {
    return this.#stream('stdout', 'pty');
  }

  get stderr(): ReadableStream<Uint8Array> {
    return this.#stream('stderr');
  }

  async text(): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const bytes of this.#outputOf('stdout', 'pty'))
      text += decoder.decode(bytes, { stream: true });
    return text + decoder.decode();
  }

  async *lines(): AsyncIterableIterator<string> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const bytes of this.#outputOf('stdout', 'pty')) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield withoutReturn(line);
    }
    rest += decoder.decode();
    if (rest !== '') yield withoutReturn(rest);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.terminate();
  }

  async *#outputOf(...wanted: OutputStream[]): AsyncIterableIterator<Uint8Array> {
    for await (const event of this.events()) {
      if (event.type === 'output' && wanted.includes(event.stream)) yield event.bytes;
    }
  }

  /** Pulls one chunk per read, so that a slow consumer slows the program down and loses nothing. */
  #stream(...wanted: OutputStream[]): ReadableStream<Uint8Array> {
    const output = this.#outputOf(...wanted);
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { done, value } = await output.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: async () => {
          await output.return?.();
        },
      },
      { highWaterMark: 0 },
    );
  }
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
