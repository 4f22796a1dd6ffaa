import type { Duplex } from 'node:stream';
import {
  type AttachOptions,
  type ConnectOptions,
  type ChangeSet,
  type ChangeSetInfo,
  type ChangesUpdate,
  endOf,
  entriesOf,
  EnvironmentHandle,
  type ExecProcess,
  exitFacts,
  type FileSystem,
  type HistoryEntry,
  type ListeningPort,
  noPorts,
  nothingKept,
  type OutputMatches,
  type OutputSearch,
  type PortsOptions,
  type PortWatch,
  type ProcessEnd,
  type ProcessSpec,
  type ProcessSummary,
  type SignalName,
} from '../contract/index.js';
import {
  type EnvironmentInfo,
  type ExecParams,
  type ExecResult,
  isExecError,
  KEPT_SESSION,
} from '../protocol/index.js';
import type { ExecClientOptions } from './connection/client-options.js';
import { ExecClient } from './connection/exec-client.js';
import { listChangeSets, RemoteChangeSet, watchChanges, withChangesId } from './changes/remote-change-set.js';
import { RemoteFileSystem } from './files/remote-file-system.js';
import { unsupported } from './connection/remote-errors.js';
import { RemoteStreams } from './ports/remote-streams.js';
import { watchRemotePorts } from './ports/remote-port-watch.js';
import { type PastOutput, type PastPart, pastOutput } from './process/past-output.js';
import { searchRemote } from './process/remote-lines.js';
import { attachProcess } from './process/attach-process.js';
import { readHistory } from './process/read-history.js';
import type { RemoteProcess } from './process/remote-process.js';
import { startProcess } from './process/start-process.js';
import { type ServerStatus, serverStatus, type UpgradeRequest, upgradeServer } from './server-upgrade.js';

/** A row in the list of all processes of a server. */
export interface ServerProcess extends ProcessSummary {
  /** Process ids are unique only within a session. */
  readonly sessionId: string;
}

/** Leave to view one process, without its token. */
export interface ProcessShare {
  readonly shareId: string;
  readonly processId: string;
  readonly expiresInMs: number;
}

/** A machine behind a connection to an exec server. */
export class RemoteEnvironment extends EnvironmentHandle {
  readonly id: string;
  readonly client: ExecClient;
  readonly files: FileSystem;
  readonly #processes = new Set<RemoteProcess>();
  #streams: RemoteStreams | undefined;
  #closing: Promise<void> | undefined;

  constructor({ id, client }: { id: string; client: ExecClient }) {
    super();
    this.id = id;
    this.client = client;
    this.files = new RemoteFileSystem(client);
  }

  /** Connects to a server and returns it as an environment. */
  static async connect(options: ExecClientOptions & { id: string }): Promise<RemoteEnvironment> {
    return new RemoteEnvironment({ id: options.id, client: await ExecClient.connect(options) });
  }

  /**
   * Like `connect`, but passes the environment to `onOpening` as soon as requests can be sent, right after the
   * handshake. Connecting may still fail, and those requests fail with it.
   *
   * @internal
   */
  static async connectEarly(
    options: Omit<ExecClientOptions, 'onOpening'> & {
      id: string;
      onOpening: (environment: RemoteEnvironment) => void;
    },
  ): Promise<RemoteEnvironment> {
    const onOpening = (): void => options.onOpening(environment);
    const { client, connected } = ExecClient.begin({ ...options, onOpening });
    const environment = new RemoteEnvironment({ id: options.id, client });
    await connected;
    return environment;
  }

  /** True if the connection has ended and will not be restored. */
  get lost(): boolean {
    return !this.client.usable;
  }

  watchConnection(listener: (connected: boolean) => void): () => void {
    return this.client.listen({ offline: () => listener(false), online: () => listener(true) });
  }

  async info(): Promise<EnvironmentInfo> {
    if (!this.client.introduced) await this.client.ready();
    return this.client.environmentInfo;
  }

  async start(spec: ProcessSpec): Promise<ExecProcess> {
    const process = await startProcess(this.client, withChangesId(spec));
    this.#forgetFinished();
    this.#processes.add(process);
    return process;
  }

  override async attach(processId: string, options: AttachOptions = {}): Promise<ExecProcess> {
    const process = await attachProcess(this.client, processId, options);
    this.#forgetFinished();
    this.#processes.add(process);
    return process;
  }

  /**
   * Attaches from the end, and reads separately what the server still has from before.
   *
   * @internal
   */
  async attachLate(
    processId: string,
    { mayPause, ...part }: Pick<AttachOptions, 'mayPause'> & PastPart = {},
  ): Promise<{ child: RemoteProcess; past: AsyncGenerator<PastOutput, void> }> {
    const pace = mayPause === undefined ? {} : { mayPause };
    const child = await attachProcess(this.client, processId, { ...pace, fromEnd: true });
    this.#processes.add(child);
    return { child, past: pastOutput(this.client, { processId, upTo: child.feed.base, ...part }) };
  }

  /**
   * Searches the output of a process of ours that this environment need not have started or attached to.
   *
   * @internal
   */
  async searchOutput(processId: string, request: OutputSearch): Promise<OutputMatches> {
    return await searchRemote(this.client, processId, request);
  }

  /**
   * What a process that the server no longer knows has left on disk; null if there is nothing.
   *
   * @internal
   */
  async storedOutput(
    processId: string,
    part: PastPart = {},
  ): Promise<AsyncGenerator<PastOutput, void> | null> {
    if (!this.client.serverCapabilities.spool) return null;
    try {
      await this.client.call('process/read', { processId, maxBytes: 1 });
    } catch (error) {
      if (isExecError(error, 'processNotFound')) return null;
      throw error;
    }
    return pastOutput(this.client, { processId, upTo: Number.POSITIVE_INFINITY, ...part });
  }

  /**
   * The history of a process that the server no longer knows, from disk.
   *
   * @internal
   */
  storedHistory(processId: string): AsyncGenerator<HistoryEntry, void> {
    return entriesOf((request) => readHistory(this.client, processId, request));
  }

  override async kept(): Promise<ServerProcess[]> {
    const rows = await this.listServer();
    if (!this.client.serverCapabilities.leases) throw nothingKept();
    return rows.filter(({ sessionId }) => sessionId === KEPT_SESSION);
  }

  override async waitFor(processId: string): Promise<ProcessEnd> {
    if (!this.client.introduced) await this.client.ready();
    if (!this.client.serverCapabilities.leases) throw nothingKept();
    try {
      const params = { processId };
      const timeoutMs = Number.POSITIVE_INFINITY;
      return endOf(exitFacts(await this.client.call('process/wait', params, { timeoutMs })));
    } catch (error) {
      if (!isExecError(error, 'connectionClosed') && !isExecError(error, 'contactLost')) throw error;
      return { kind: 'contactLost', error };
    }
  }

  /**
   * Makes a token whose bearer may view one kept process of ours and do nothing else, for `forMs` (default: a day). The
   * server cannot be asked for it again.
   */
  async share(
    processId: string,
    { forMs }: { forMs?: number } = {},
  ): Promise<ProcessShare & { readonly token: string }> {
    await this.#requireShares();
    return await this.client.call(
      'process/share',
      forMs === undefined ? { processId } : { processId, forMs },
    );
  }

  /** Our shares on this server. */
  async shares(): Promise<ProcessShare[]> {
    await this.#requireShares();
    return (await this.client.call('process/shares', null)).shares;
  }

  /** Ends a share at once, for those who are viewing as well. Returns false if there is none. */
  async revokeShare(shareId: string): Promise<boolean> {
    await this.#requireShares();
    return (await this.client.call('process/unshare', { shareId })).revoked;
  }

  /** Which server is running. Only for servers whose programs outlive them, as with `execwire serve --durable`. */
  serverStatus(): Promise<ServerStatus> {
    return serverStatus(this.client);
  }

  /**
   * Replaces the server by the installed version, or by one with other options; programs go on. Resolves with the number
   * of the new server right before that takes over. Rejects with `upgradeRefused` if it cannot; then nothing has changed.
   */
  upgrade(request: UpgradeRequest = {}): Promise<{ generation: number }> {
    return upgradeServer(this.client, request);
  }

  changes(changesId: string): ChangeSet {
    return new RemoteChangeSet(this.client, changesId);
  }

  async changeSets(): Promise<readonly ChangeSetInfo[]> {
    return await listChangeSets(this.client);
  }

  /**
   * Calls `listener` when a program that ran in a set of ours has ended. Returns an unsubscribe function.
   */
  watchChanges(listener: (update: ChangesUpdate) => void): () => void {
    return watchChanges(this.client, listener);
  }

  /** All processes of the session if the server lists them, otherwise the live ones started by this environment. */
  async list(): Promise<ProcessSummary[]> {
    if (!this.client.introduced) await this.client.ready();
    if (this.client.serverCapabilities.processList) {
      return (await this.client.call('process/list', null)).processes;
    }
    this.#forgetFinished();
    return [...this.#processes].map((process) => process.summary());
  }

  /**
   * The processes of all sessions on the server. Processes of other clients show only their program, without arguments
   * and details; so do those of other sessions on servers that do not offer `processDetails`.
   */
  async listServer(): Promise<ServerProcess[]> {
    const { processes } = await this.#listWithDetails();
    return processes.map((row) => ({ ...row, sessionId: row.sessionId ?? this.client.sessionId }));
  }

  /** Kills a process of any session on the server and everything it started. Returns false if there was none. */
  async terminateOnServer(process: {
    processId: string;
    sessionId: string;
    graceMs?: number;
  }): Promise<boolean> {
    // A server that ignores `sessionId` would terminate one of our own processes instead.
    if (!this.client.introduced) await this.client.ready();
    return (await this.#callServerView('process/terminate', process)).running;
  }

  override async ports({ scope }: PortsOptions = {}): Promise<ListeningPort[]> {
    await this.#requirePorts();
    return (await this.client.call('port/list', scope === undefined ? null : { scope })).ports;
  }

  override async watchPorts(options: PortsOptions = {}): Promise<PortWatch> {
    await this.#requirePorts();
    return await watchRemotePorts(this.client, options);
  }

  /** Sends a signal to a process of any session on the server. Finished processes are ignored. */
  async signalOnServer(process: { processId: string; sessionId: string; signal: SignalName }): Promise<void> {
    // A server that ignores `sessionId` would signal one of our own processes instead.
    if (!this.client.introduced) await this.client.ready();
    if (!this.client.serverCapabilities.serverSignals)
      throw unsupported('signals to the processes of other connections');
    await this.client.call('process/signal', process);
  }

  override async connect(port: number, options: ConnectOptions = {}): Promise<Duplex> {
    await this.#requirePorts();
    this.#streams ??= new RemoteStreams(this.client);
    return await this.#streams.connect(port, options);
  }

  close(): Promise<void> {
    this.#closing ??= this.#endAll().then(() => this.client.close());
    return this.#closing;
  }

  /**
   * Closes without waiting for the server to confirm, for programs that are about to exit.
   *
   * @internal
   */
  leave(): Promise<void> {
    this.#closing ??= this.#endAll().then(() => this.client.leave());
    return this.#closing;
  }

  /**
   * Ends running processes and waits for their last events. A server out of reach ends them when the session's lease
   * expires.
   */
  async #endAll(): Promise<void> {
    this.#forgetFinished();
    await Promise.allSettled([...this.#processes].map((process) => process[Symbol.asyncDispose]()));
  }

  async #requirePorts(): Promise<void> {
    if (!this.client.introduced) await this.client.ready();
    if (!this.client.serverCapabilities.ports) throw noPorts();
  }

  async #requireShares(): Promise<void> {
    if (!this.client.introduced) await this.client.ready();
    if (!this.client.serverCapabilities.shares) throw unsupported('shares');
  }

  async #listWithDetails(): Promise<ExecResult<'process/list'>> {
    const { introduced, serverCapabilities } = this.client;
    const plain = { scope: 'server' } as const;
    if (introduced && !serverCapabilities.processDetails)
      return await this.#callServerView('process/list', plain);
    try {
      return await this.#callServerView('process/list', { ...plain, details: true });
    } catch (error) {
      // Asked before its capabilities were known.
      if (!isExecError(error, 'invalidParams')) throw error;
      return await this.#callServerView('process/list', plain);
    }
  }

  /** Sent before the server's capabilities are known; the answer is ignored if the server does not offer this view. */
  async #callServerView<Name extends 'process/list' | 'process/terminate'>(
    method: Name,
    params: ExecParams<Name>,
  ): Promise<ExecResult<Name>> {
    const answer = this.client.isOpening ? this.client.call(method, params) : undefined;
    answer?.catch(() => undefined);
    if (!this.client.introduced) await this.client.ready();
    if (!this.client.serverCapabilities.serverProcesses)
      throw unsupported('a view of the processes of other connections');
    return await (answer ?? this.client.call(method, params));
  }

  #forgetFinished(): void {
    for (const process of this.#processes) if (!process.live) this.#processes.delete(process);
  }
}
