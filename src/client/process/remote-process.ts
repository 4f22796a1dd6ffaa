import {
  type AttachOptions,
  type HistoryPage,
  type HistoryRequest,
  type LinesPage,
  type LinesRequest,
  logEnd,
  type OutputMatches,
  type ProcessEnd,
  type ProcessEvent,
  type ProcessKeyboard,
  ProcessHandle,
  type ProcessSpec,
  type ProcessSummary,
  type ReadRequest,
  type ReadResult,
  type OutputSearch,
  type SignalName,
  type TerminalScreen,
  type TerminalSize,
  type TerminalState,
  type WriteStatus,
} from '../../contract/index.js';
import {
  type ErrorCode,
  ExecError,
  type ExecResult,
  isExecError,
  type SandboxType,
  type ServerCapabilities,
} from '../../protocol/index.js';
import { withDeadline } from '../../transport/deadline.js';
import { Attachment } from './attachment.js';
import { ClientTimeout } from './client-timeout.js';
import { Consumption } from './consumption.js';
import type { ExecClient } from '../connection/exec-client.js';
import { ProcessFeed } from './process-feed.js';
import { unsupported } from '../connection/remote-errors.js';
import { KeptInput } from './kept-input.js';
import { openInput, type ProcessInput, type SessionInput } from './process-input.js';
import { readHistory } from './read-history.js';
import { readOnServer } from './read-on-server.js';
import { readRemoteLines, searchRemote } from './remote-lines.js';
import { hasLease } from './start-params.js';

/** The byte that the end-of-file key produces on a terminal. */
const END_OF_FILE = Uint8Array.of(0x04);
/** How long the last events of a process may take when it is disposed of. */
const DISPOSE_LIMIT_MS = 5_000;

/** The server lets go by itself when the session ends. */
const OUT_OF_REACH: readonly ErrorCode[] = ['contactLost', 'connectionClosed', 'requestTimeout'];

/** A process on a server, and the local copy of its log. */
export class RemoteProcess extends ProcessHandle {
  readonly processId: string;
  /**
   * Where the client delivers events of this process.
   *
   * @internal
   */
  readonly feed: ProcessFeed;
  readonly #client: ExecClient;
  readonly #spec: ProcessSpec;
  readonly #consumption: Consumption;
  readonly #input: ProcessInput;
  readonly #keptInput: KeptInput | undefined;
  readonly #startedAtMs = Date.now();
  /** It goes on without us. */
  readonly #isKept: boolean;
  readonly #attachment: Attachment;
  #tty: boolean;
  #sandboxType: SandboxType = 'none';
  #timeout: ClientTimeout | undefined;

  constructor({
    client,
    processId,
    spec,
    attach = {},
    writePrefix,
  }: {
    client: ExecClient;
    processId: string;
    spec: ProcessSpec;
    attach?: AttachOptions;
    writePrefix?: string;
  }) {
    super();
    this.processId = processId;
    this.#tty = spec.tty ?? false;
    this.#client = client;
    this.#spec = spec;
    this.#isKept = hasLease(spec);
    this.#attachment = new Attachment(client, processId, attach);
    this.feed = new ProcessFeed({
      read: (request) => client.call('process/read', { processId, ...request }),
      acknowledged: () => this.#capabilities.flowControl !== undefined,
      skips: this.#isKept || spec.onSlowReader === 'spool',
      leavesGaps: this.#attachment.leavesGaps,
      onAppended: (event) =>
        this.#consumption.arrived(event.seq, event.type === 'output' ? event.bytes.length : 0),
      onResumed: () => {
        this.#consumption.acknowledgeAgain();
        this.#input.lineChanged();
      },
      rejoin: this.#isKept ? (afterSeq) => this.#rejoin(afterSeq) : undefined,
      onDone: (why) => this.#done(why),
    });
    this.#consumption = new Consumption({
      log: this.feed.log,
      windowBytes: () => this.#capabilities.flowControl?.windowBytes,
      acknowledge: (seq) => client.notify('process/ack', { processId, seq }),
      unreadChanged: (bytes) => client.unreadBudget.add(bytes),
      overrun: () =>
        this.feed.lost(
          new ExecError('protocolViolation', 'The server sends more output than its window allows.'),
        ),
    });
    const open = (idPrefix = writePrefix): SessionInput => openInput(client, { processId, idPrefix });
    if (this.#isKept) {
      const inContact = (): Promise<void> => this.#inContact();
      this.#keptInput = new KeptInput({ open, isAway: () => this.#isAway, inContact });
    }
    this.#input = this.#keptInput ?? open();
  }

  /**
   * The capabilities of the server it was started on; on any other server contact would be lost. Unknown while its
   * start is sent before the handshake is answered.
   */
  get #capabilities(): ServerCapabilities {
    return this.#client.serverCapabilities;
  }

  get tty(): boolean {
    return this.#tty;
  }

  get sandboxType(): SandboxType {
    return this.#sandboxType;
  }

  /** True until its output is closed or contact is lost. */
  get live(): boolean {
    return !this.feed.log.closed && this.feed.log.failure === undefined;
  }

  /** The server has confirmed the start. */
  started(sandboxType: SandboxType): void {
    this.#sandboxType = sandboxType;
    this.feed.started();
    const { timeoutMs } = this.#spec;
    if (timeoutMs === undefined || this.#capabilities.startTimeout || this.feed.log.exit) return;
    this.#timeout = new ClientTimeout({ timeoutMs, feed: this.feed, terminate: () => this.#kill({}) });
  }

  /** Call before the server is asked for a process it keeps. */
  attaching(): { confirmed(answer: ExecResult<'process/attach'>): void; failed(): void } {
    const confirmed = this.#attachment.expect();
    return {
      confirmed: (answer) => {
        const { tty, sandboxType = 'none', afterSeq } = answer;
        confirmed(answer);
        this.#tty = tty;
        this.#sandboxType = sandboxType;
        this.feed.startAfter(afterSeq);
      },
      failed: () => this.#attachment.keyboard.end(),
    };
  }

  get screen(): TerminalScreen | null {
    return this.#attachment.screen;
  }

  get keyboard(): ProcessKeyboard {
    return this.#attachment.keyboard;
  }

  async refresh(): Promise<TerminalScreen | null> {
    this.#assertContact();
    const { afterSeq } = await this.#attachment.refresh();
    this.feed.skipTo(afterSeq);
    return this.screen;
  }

  watchSize(listener: (size: TerminalSize) => void): () => void {
    return this.#attachment.keyboard.watchSize(listener);
  }

  events(options: { afterSeq?: number } = {}): AsyncIterableIterator<ProcessEvent> {
    return this.#consumption.follow(options.afterSeq ?? this.feed.base);
  }

  async read({ afterSeq = 0, maxBytes, waitMs = 0, sinceMs }: ReadRequest = {}): Promise<ReadResult> {
    const { log } = this.feed;
    if (waitMs > 0) await log.news(afterSeq, waitMs);
    // Only the server knows when it came.
    if (sinceMs !== undefined)
      return await readOnServer(this.#client, this.processId, { afterSeq, maxBytes, sinceMs });
    const result = log.read(afterSeq, maxBytes);
    if (log.failure && result.chunks.length === 0) throw log.failure;
    const isIncomplete = (result.chunks[0]?.lostBytes ?? 0) > 0;
    return this.#spec.retain === 'disk' && isIncomplete
      ? await readOnServer(this.#client, this.processId, { afterSeq, maxBytes })
      : result;
  }

  protected override historyPage(request: HistoryRequest): Promise<HistoryPage> {
    return readHistory(this.#client, this.processId, request);
  }

  async search(request: OutputSearch): Promise<OutputMatches> {
    return await searchRemote(this.#client, this.processId, request);
  }

  async readLines(request: LinesRequest = {}): Promise<LinesPage> {
    return await readRemoteLines(this.#client, this.processId, request);
  }

  async write(data: Uint8Array | string): Promise<WriteStatus> {
    this.#assertContact();
    return await this.#input.write(typeof data === 'string' ? new TextEncoder().encode(data) : data);
  }

  async closeStdin(): Promise<void> {
    this.#assertContact();
    const { processId } = this;
    if (this.#capabilities.processCloseStdin) {
      await this.#input.afterWrites(async (after) => {
        await this.#client.call(
          'process/closeStdin',
          after === undefined ? { processId } : { processId, after },
        );
      });
    } else if (this.tty) {
      await this.#input.write(END_OF_FILE);
    } else if (this.#spec.pipeStdin) {
      throw unsupported('a way to close the input of a process');
    }
  }

  async resize(size: TerminalSize): Promise<void> {
    if (this.#isAway) await this.#inContact();
    this.#assertContact();
    if (!this.#capabilities.processResize) throw unsupported('a way to change the size of a terminal');
    this.#input.flush();
    await this.#client.call('process/resize', { processId: this.processId, size });
  }

  async inspect(): Promise<TerminalState | null> {
    if (!this.#capabilities.processInspect || !this.live) return null;
    return (await this.#client.call('process/inspect', { processId: this.processId })).state;
  }

  async signal(signal: SignalName): Promise<void> {
    if (this.#isAway) await this.#inContact();
    this.#assertContact();
    const byName = this.#capabilities.processSignals === true;
    if (!byName && signal !== 'SIGINT') throw unsupported(`${signal}, only SIGINT`);
    this.#input.flush();
    const { processId } = this;
    await this.#client.call('process/signal', { processId, signal: byName ? signal : 'interrupt' });
  }

  async terminate(options: { graceMs?: number } = {}): Promise<boolean> {
    if (this.feed.log.closed) return false;
    if (this.#isAway) await this.#inContact();
    this.#assertContact();
    return await this.#kill(options);
  }

  override async detach(): Promise<void> {
    if (!this.#isKept) return await super.detach();
    const { processId } = this;
    // Whoever still reads hears that there will be no more. If contact is lost, the server lets go when the session ends.
    const told = this.#client.call('process/detach', { processId }, { timeoutMs: DISPOSE_LIMIT_MS });
    this.feed.lost(new ExecError('aborted', 'This handle has let go of the process, which goes on.'));
    await told.catch((error: unknown) => {
      if (!OUT_OF_REACH.some((code) => isExecError(error, code))) throw error;
    });
  }

  async wait(): Promise<ProcessEnd> {
    this.#consumption.stopHolding();
    return await logEnd(this.feed.log);
  }

  /**
   * Ends the process if it is still running and waits for its last events. If contact is lost, ending it is up to the
   * server. Lets go of a process with a lease.
   */
  override async [Symbol.asyncDispose](): Promise<void> {
    this.#consumption.stopHolding();
    if (this.#isKept && this.#client.usable) return await this.detach();
    if (!this.live) return;
    const ended = this.terminate().then(() => logEnd(this.feed.log));
    await withDeadline(ended, {
      timeoutMs: DISPOSE_LIMIT_MS,
      what: 'Ending a process',
      late: () => new ExecError('requestTimeout', 'The end of the process was not confirmed in time.'),
    }).catch((error: unknown) => {
      if (this.live) throw error;
    });
  }

  /** A row for the process list, from what is known locally. */
  summary(): ProcessSummary {
    const { exit, closed } = this.feed.log;
    return {
      processId: this.processId,
      pid: null,
      argv: [...this.#spec.argv],
      tty: this.tty,
      startedAtMs: this.#startedAtMs,
      exited: exit !== undefined,
      exitCode: exit?.exitCode ?? null,
      closed,
    };
  }

  /** A process with a lease is found again when the client is back: until then nothing can be asked of it. */
  get #isAway(): boolean {
    return this.#isKept && (!this.#client.isOnline || this.feed.rejoining !== undefined);
  }

  async #inContact(): Promise<void> {
    // Why there is no connection is in the log.
    while (this.#isAway && this.live)
      await (this.feed.rejoining ?? this.#client.ready()).catch(() => undefined);
    this.#assertContact();
  }

  /** Goes on in a new session. What was typed and not answered in the old one is not typed again. */
  async #rejoin(afterSeq: number): Promise<void> {
    this.#keptInput?.startAgain();
    await this.#attachment.rejoin(afterSeq);
    this.#consumption.acknowledgeAgain();
  }

  async #kill({ graceMs }: { graceMs?: number }): Promise<boolean> {
    // The answer arrives behind unread output and must not wait for that to be read.
    this.#consumption.stopCounting();
    const { processId } = this;
    const polite = graceMs !== undefined && this.#capabilities.terminateGrace;
    const { running } = await this.#client.call(
      'process/terminate',
      polite ? { processId, graceMs } : { processId },
    );
    return running;
  }

  #done(why: 'closed' | 'failed'): void {
    this.#timeout?.clear();
    this.#attachment.keyboard.end();
    this.#consumption.stopCounting();
    this.#input.close();
    this.#client.processes.remove(this.processId, this.feed);
    if (why === 'closed' || isExecError(this.feed.log.failure, 'contactLost')) return;
    if (this.#isKept) return;
    // The session is alive, but this process can no longer be trusted and must not keep running unattended.
    this.#client.call('process/terminate', { processId: this.processId }).catch(() => undefined);
  }

  #assertContact(): void {
    const { failure } = this.feed.log;
    if (failure) throw failure;
  }
}
