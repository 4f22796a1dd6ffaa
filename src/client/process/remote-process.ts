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
import { type ExecResult, isExecError, type SandboxType } from '../../protocol/index.js';
import { Attachment } from './attachment.js';
import { ClientTimeout } from './client-timeout.js';
import type { ExecClient } from '../connection/exec-client.js';
import type { ProcessFeed } from './process-feed.js';
import { Contact } from './contact.js';
import { KeptInput } from './kept-input.js';
import { endInTime, detachProcess } from './detach-process.js';
import { openInput, type ProcessInput, type SessionInput } from './process-input.js';
import { readHistory } from './read-history.js';
import { RemoteControls } from './remote-controls.js';
import { readRemoteLines, searchRemote } from './remote-lines.js';
import { RemoteOutput } from './remote-output.js';
import { hasLease } from './start-params.js';

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
  readonly #output: RemoteOutput;
  readonly #input: ProcessInput;
  readonly #controls: RemoteControls;
  readonly #contact: Contact;
  readonly #keptInput: KeptInput | undefined;
  readonly #startedAtMs = Date.now();
  /** It continues without us. */
  readonly #isKept: boolean;
  readonly #attachment: Attachment;
  /**
   * The newest entry when we attached.
   *
   * @internal
   */
  joinedSeq = 0;
  #tty: boolean;
  #sandboxType: SandboxType = 'none';
  readonly #changesId: string | undefined;
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
    this.#changesId = spec.sandbox?.changes ? spec.sandbox.changesId : undefined;
    this.#attachment = new Attachment(client, processId, attach);
    this.#output = new RemoteOutput({
      client,
      processId,
      spec,
      isKept: this.#isKept,
      leavesGaps: this.#attachment.leavesGaps,
      lineChanged: () => this.#input.lineChanged(),
      rejoin: this.#isKept ? (afterSeq) => this.#rejoin(afterSeq) : undefined,
      onDone: (why) => this.#done(why),
    });
    this.feed = this.#output.feed;
    this.#contact = new Contact({ client, output: this.#output, isKept: this.#isKept });
    const open = (idPrefix = writePrefix): SessionInput => openInput(client, { processId, idPrefix });
    if (this.#isKept) {
      const inContact = (): Promise<void> => this.#contact.established();
      this.#keptInput = new KeptInput({ open, isAway: () => this.#contact.isAway, inContact });
    }
    this.#input = this.#keptInput ?? open();
    const { pipeStdin = false } = spec;
    this.#controls = new RemoteControls({ client, processId, input: this.#input, pipeStdin });
  }

  get tty(): boolean {
    return this.#tty;
  }

  /** The set that its changes are held in. */
  get changesId(): string | undefined {
    return this.#changesId;
  }

  get sandboxType(): SandboxType {
    return this.#sandboxType;
  }

  /** True until its output is closed or contact is lost. */
  get live(): boolean {
    return this.#output.live;
  }

  /** The server has confirmed the start. */
  started(sandboxType: SandboxType): void {
    this.#sandboxType = sandboxType;
    this.feed.started();
    const { timeoutMs } = this.#spec;
    const { startTimeout } = this.#client.serverCapabilities;
    if (timeoutMs === undefined || startTimeout || this.feed.log.exit) return;
    this.#timeout = new ClientTimeout({ timeoutMs, feed: this.feed, terminate: () => this.#kill({}) });
  }

  /** Call before the server is asked for a process it keeps. */
  attaching(): { confirmed(answer: ExecResult<'process/attach'>): void; failed(): void } {
    const confirmed = this.#attachment.expect();
    return {
      confirmed: (answer) => {
        const { tty, sandboxType = 'none', afterSeq, nextSeq } = answer;
        confirmed(answer);
        this.joinedSeq = nextSeq - 1;
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
    this.#contact.assert();
    const { afterSeq } = await this.#attachment.refresh();
    this.feed.skipTo(afterSeq);
    return this.screen;
  }

  watchSize(listener: (size: TerminalSize) => void): () => void {
    return this.#attachment.keyboard.watchSize(listener);
  }

  events(options: { afterSeq?: number } = {}): AsyncIterableIterator<ProcessEvent> {
    return this.#output.events(options.afterSeq);
  }

  async read(request: ReadRequest = {}): Promise<ReadResult> {
    return await this.#output.read(request);
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
    this.#contact.assert();
    return await this.#input.write(typeof data === 'string' ? new TextEncoder().encode(data) : data);
  }

  async closeStdin(): Promise<void> {
    this.#contact.assert();
    await this.#controls.closeStdin({ tty: this.tty });
  }

  async resize(size: TerminalSize): Promise<void> {
    if (this.#contact.isAway) await this.#contact.established();
    this.#contact.assert();
    await this.#controls.resize(size);
  }

  async inspect(): Promise<TerminalState | null> {
    return this.live ? await this.#controls.inspect() : null;
  }

  async signal(signal: SignalName): Promise<void> {
    if (this.#contact.isAway) await this.#contact.established();
    this.#contact.assert();
    await this.#controls.signal(signal);
  }

  async terminate(options: { graceMs?: number } = {}): Promise<boolean> {
    if (this.feed.log.closed) return false;
    if (this.#contact.isAway) await this.#contact.established();
    this.#contact.assert();
    return await this.#kill(options);
  }

  override async detach(): Promise<void> {
    if (!this.#isKept) return await super.detach();
    await detachProcess(this.#client, this);
  }

  async wait(): Promise<ProcessEnd> {
    this.#output.consumption.stopHolding();
    return await logEnd(this.feed.log);
  }

  /**
   * Ends the process if it is still running and waits for its last events. If contact is lost, ending it is up to the
   * server. Lets go of a process with a lease.
   */
  override async [Symbol.asyncDispose](): Promise<void> {
    this.#output.consumption.stopHolding();
    if (this.#isKept && this.#client.usable) return await this.detach();
    if (!this.live) return;
    const ended = this.terminate().then(() => logEnd(this.feed.log));
    await endInTime(ended).catch((error: unknown) => {
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

  /** Continues in a new session. Input not answered in the old one is not sent again. */
  async #rejoin(afterSeq: number): Promise<void> {
    this.#keptInput?.startAgain();
    await this.#attachment.rejoin(afterSeq);
    this.#output.consumption.acknowledgeAgain();
  }

  async #kill(options: { graceMs?: number }): Promise<boolean> {
    // The answer arrives behind unread output and must not wait for that to be read.
    this.#output.consumption.stopCounting();
    return await this.#controls.terminate(options);
  }

  #done(why: 'closed' | 'failed'): void {
    this.#timeout?.clear();
    this.#attachment.keyboard.end();
    this.#output.consumption.stopCounting();
    this.#input.close();
    this.#client.processes.remove(this.processId, this.feed);
    if (why === 'closed' || isExecError(this.feed.log.failure, 'contactLost')) return;
    if (this.#isKept) return;
    // The session is alive, but this process can no longer be trusted and must not keep running unattended.
    this.#client.call('process/terminate', { processId: this.processId }).catch(() => undefined);
  }
}
